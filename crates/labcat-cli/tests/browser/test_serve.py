"""`labcat serve`: the pages live while studies run, several studies compared, nothing to be changed."""

import contextlib
import gzip
import http.client
import json
import os
import re
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from conftest import PATIENCE, Page, drain
from selenium.webdriver.common.keys import Keys

LABCAT = os.environ["LABCAT"]
STUDY = """[study]
name = "{name}"
direction = "{direction}"
budget = {budget}
[[parameter]]
name = "x"
low = -5
high = 10
[[parameter]]
name = "y"
low = -5
high = 10
[objective]
shell = true
command = "{command}"
max_consecutive_failures = 0
"""
GATED = "until [ -e go-$(({id} / 10)) ]; do sleep 0.05; done; [ {id} != 3 ] && echo $(({id} * {id} - 40 * {id} + 500))"
"""Ten evaluations, then it waits for `Site.go_on`; the fourth fails."""


class Site:
    """A directory of studies and the server that shows them."""

    def __init__(self, directory):
        self.directory = directory
        self.processes = []

    def study(self, file, *, name=None, direction="minimize", budget=40, command=GATED):
        (self.directory / file).write_text(STUDY.format(name=name or file, direction=direction, budget=budget, command=command))

    def start(self, *arguments, **options):
        process = subprocess.Popen([LABCAT, *arguments], cwd=self.directory, text=True, stderr=subprocess.DEVNULL, **options)
        self.processes.append(process)
        return process

    def serve(self, *studies):
        server = self.start("serve", *studies, "--port", "0", stdout=subprocess.PIPE)
        self.url = re.match(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())[0]
        return self

    def go_on(self, *tens):
        for ten in tens:
            (self.directory / f"go-{ten}").touch()

    def run(self, study):
        return self.start("run", study, stdout=subprocess.DEVNULL)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.communicate(timeout=PATIENCE)


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    yield site
    site.close()


def quiet(driver, url):
    """No word on the console, and no request to anybody else."""
    requests = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in requests if event["method"] == "Network.requestWillBeSent"]
    assert [entry["message"] for entry in driver.get_log("browser")] == []
    assert urls and [address for address in urls if not address.startswith((url, "data:", "chrome:"))] == []


@pytest.fixture
def live(driver):
    drain(driver)
    yield Page(driver)
    driver.get("about:blank")


def facts(page):
    return page.text("#facts")


def told(page):
    return int(re.search(r"Evaluations(\d+)", facts(page))[1])


def test_a_page_follows_its_study(live, site):
    site.study("gated.toml", name="a slow one")
    site.serve("gated.toml")
    live.visit(f"{site.url}study/0")
    assert "No evaluation yet" in live.text("#best-card") and live.text("#badge") == "live"
    site.go_on(0)
    site.run("gated.toml")
    live.until(lambda: live.visible("#convergence") and told(live) == 10)
    assert live.text("#badge") == "live, running" and "Staterunning" in facts(live)
    assert live.marks("#convergence-chart .dots") == 9 and live.marks("#convergence-chart .crosses") == 1
    # What the reader has chosen stays chosen while the page is drawn anew.
    live.type("#filter", "id < 4")
    live.find("#filter").send_keys(Keys.TAB)
    live.js("document.activeElement.blur()")
    live.click("#table th[data-column='value'] button")
    live.js("document.activeElement.blur(); window.scrollTo(0, 600)")
    site.go_on(1)
    live.until(lambda: told(live) == 20)
    assert live.find("#filter").get_property("value") == "id < 4" and sorted(live.column("id")) == ["0", "1", "2", "3"]
    assert live.find("#table th[data-column='value']").get_attribute("aria-sort") == "ascending"
    assert live.js("return window.scrollY") == 600
    live.screenshot("serve-study")
    site.go_on(2, 3)
    live.until(lambda: told(live) == 40 and live.text("#badge") == "live")
    assert "stopped: budget" in facts(live)
    quiet(live.driver, site.url)


def test_several_studies_are_listed_and_compared(live, site):
    quick = "echo $(({id} * {id} - 8 * {id} + 30))"
    site.study("one.toml", name="one <b>bold</b>", budget=12, command=quick)
    site.study("two.toml", name="two", budget=20, command="echo $((400 - {id}))")
    site.study("up.toml", name="up", direction="maximize", budget=5, command=quick)
    site.study("later.toml", name="later", budget=30)
    for file in ("one.toml", "two.toml", "up.toml"):
        subprocess.run([LABCAT, "run", file], cwd=site.directory, check=True, capture_output=True)
    site.serve("one.toml", "two.db", "up.toml", "later.toml")
    live.visit(site.url)
    cells = live.js("return [...document.querySelectorAll('#studies tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert [row[0] for row in cells] == ["one <b>bold</b> minimize", "two minimize", "up maximize", "later minimize"]
    assert [row[1] for row in cells] == ["stopped: budget"] * 3 + ["not begun"]
    assert [row[2] for row in cells] == ["12 of 12", "20 of 20", "5 of 5", "0 of 30"]
    assert [row[4] for row in cells] == ["14", "381", "30", "–"] and [row[5] for row in cells] == ["4", "19", "0", "–"]
    drawn = "return [...document.querySelectorAll('.compared')].map((line) => Number(line.dataset.number))"
    assert live.js(drawn) == [0, 1], "what is minimised is compared with what is minimised"
    live.click("tr[data-number='2'] input")
    assert live.js(drawn) == [0, 1, 2]
    live.click("tr[data-number='1'] input")
    assert live.js(drawn) == [0, 2]
    live.js("document.activeElement.blur()")
    site.go_on(0)
    site.run("later.toml")
    row = "return document.querySelector(\"tr[data-number='3']\").textContent"
    live.until(lambda: "running" in live.js(row) and 3 in live.js(drawn))
    assert live.js(drawn) == [0, 2, 3], "the reader's choice is kept"
    assert live.text("h1") == "4 studies, 1 running"
    live.screenshot("serve-compare")
    assert live.overflow() == 0
    live.click("#studies a[href='/study/1']")
    live.until(lambda: live.text("h1") == "two")
    live.click(".brand a")
    live.until(lambda: live.text("h1").startswith("4 studies"))
    quiet(live.driver, site.url)


def test_a_server_that_has_gone_is_said(live, site):
    site.study("one.toml", budget=3, command="echo {id}")
    subprocess.run([LABCAT, "run", "one.toml"], cwd=site.directory, check=True, capture_output=True)
    site.serve("one.toml")
    for address, shown in [("study/0", "#table"), ("", "#studies a")]:
        live.visit(site.url + address)
        live.until(lambda shown=shown: live.visible(shown))
    site.processes[-1].terminate()
    live.until(lambda: "no answer" in live.text("#badge"))
    assert live.visible("#studies a"), "what was known stays on the page"


def ask(site, method="GET", path="/", host=None):
    address = site.url.removeprefix("http://").rstrip("/")
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, path, headers={"Host": host or address})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()


def test_nothing_can_be_changed_and_nobody_else_is_answered(site):
    site.study("one.toml", name="secret", budget=3, command="echo {id}")
    subprocess.run([LABCAT, "run", "one.toml"], cwd=site.directory, check=True, capture_output=True)
    files = {path: path.read_bytes() for path in site.directory.iterdir() if path.suffix in (".toml", ".db")}
    site.serve("one.toml")
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert ask(site, method, "/study/0")[0] == 405
    for path in ("/study/1", "/study/-1", "/study/x", "/study/0/../../etc/passwd", "/one.toml", "/study/0/data/more", "/%2e%2e"):
        assert ask(site, path=path)[0] == 404, path
    for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "10.0.0.1"):
        status, _, text = ask(site, path="/study/0", host=host)
        assert status == 403 and "secret" not in text, host
    for host in ("localhost", "localhost:1234", "[::1]:80", "127.0.0.1"):
        assert ask(site, path="/study/0", host=host)[0] == 200, host
    status, headers, _ = ask(site)
    assert headers["Cache-Control"] == "no-store" and headers["X-Frame-Options"] == "DENY" and headers["X-Content-Type-Options"] == "nosniff"
    revision = json.loads(ask(site, path="/study/0/data")[2])["revision"]
    assert ask(site, path=f"/study/0/data?known={revision}")[0] == 204
    assert {path: path.read_bytes() for path in files} == files


def test_only_this_machine_is_answered_unless_told_otherwise(site):
    site.study("one.toml", budget=3)
    site.serve("one.toml")
    port = int(site.url.rstrip("/").rsplit(":", 1)[1])
    table = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    listening = [line.split()[1] for line in table.splitlines() if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]
    assert listening == [f"0100007F:{port:04X}"]
    taken = subprocess.run([LABCAT, "serve", "one.toml", "--port", str(port)], cwd=site.directory, capture_output=True, text=True)
    assert taken.returncode == 1 and "--port 0 takes any" in taken.stderr
    everybody = site.start("serve", "one.toml", "--port", "0", "--address", "0.0.0.0", stdout=subprocess.PIPE)
    port = int(re.search(r":(\d+)/", everybody.stdout.readline())[1])
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/studies", timeout=PATIENCE) as answer:
        assert json.load(answer)[0]["name"] == "one.toml"
    absent = subprocess.run([LABCAT, "serve", "absent.toml"], cwd=site.directory, capture_output=True, text=True)
    assert absent.returncode == 2 and "there is no study absent.toml" in absent.stderr


def test_the_list_can_be_read_on_a_phone(live, site):
    name = "yield of the second series in the spring"
    site.study("one.toml", name=name, budget=12, command="echo $(({id} * {id} + 5))")
    site.study("later.toml", name="later", budget=30)
    subprocess.run([LABCAT, "run", "one.toml"], cwd=site.directory, check=True, capture_output=True)
    site.serve("one.toml", "later.toml")
    for width in (390, 1280):
        live.visit(site.url, width)
        live.screenshot(f"serve-list-{width}")
        assert live.overflow() == 0
        box = "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return [box.width, box.height]"
        cell = live.js(box, "#studies td")
        assert cell[0] >= 200, "the name has room"
        # Every figure is on the screen, under or beside its heading.
        right = live.js("return Math.max(...[...document.querySelectorAll('#studies td')].map((cell) => cell.getBoundingClientRect().right))")
        assert right <= width
    headings = live.js("return [...document.querySelectorAll('#studies tbody tr:first-child td')].map((cell) => cell.dataset.heading ?? 'study')")
    assert headings == live.js("return [...document.querySelectorAll('#studies th')].map((head) => head.textContent)")


def test_no_tile_of_facts_is_empty(live, site):
    command = "echo '{{\\\"value\\\": {id}, \\\"mass\\\": {id}}}'"
    for file, constraint in (("five.toml", ""), ("six.toml", 'constraint = "mass <= 50"\n')):
        site.study(file, budget=6, command=command)
        text = (site.directory / file).read_text()
        (site.directory / file).write_text(text.replace("[study]\n", f"[study]\n{constraint}"))
        subprocess.run([LABCAT, "run", file], cwd=site.directory, check=True, capture_output=True)
    site.serve("five.toml", "six.toml")
    for width in (390, 700, 1280):
        for number, tiles in ((0, 5), (1, 6)):
            live.visit(f"{site.url}study/{number}", width)
            live.until(lambda tiles=tiles: len(live.all("#facts div")) == tiles)
            rows = live.js("""
                const inside = document.querySelector("#facts").clientWidth, rows = new Map();
                for (const tile of document.querySelectorAll("#facts div")) {
                  const box = tile.getBoundingClientRect();
                  rows.set(Math.round(box.top), (rows.get(Math.round(box.top)) ?? 0) + box.width + 1);
                }
                return [...rows.values()].map((width) => Math.abs(width - 1 - inside))""")
            assert max(rows) < 2, (width, number, rows)
            live.screenshot(f"serve-facts-{number}-{width}")


def test_the_list_shows_what_is_recommended_under_noise(live, site):
    draw = "awk 'BEGIN {{{{ srand({id} + 1); rand(); print ({x}-1)^2 + ({y}-1)^2 + 2 * rand() - 1 }}}}'"
    site.study("noisy.toml", budget=30, command=draw.replace("{{{{", "{{").replace("}}}}", "}}"))
    with (site.directory / "noisy.toml").open("a") as file:
        file.write('[optimizer]\nnoise = 0.6\n')
    subprocess.run([LABCAT, "run", "noisy.toml"], cwd=site.directory, check=True, capture_output=True)
    best = json.loads(subprocess.run([LABCAT, "best", "noisy.toml", "--json"], cwd=site.directory, check=True, capture_output=True).stdout)
    site.serve("noisy.toml")
    (row,) = json.loads(ask(site, path="/studies")[2])
    assert (row["value"], row["std"], row["at"], row["best_so_far"]) == (best["recommended"]["mean"], best["recommended"]["std"], None, [])
    assert best["draw"]["value"] < row["value"]
    live.visit(site.url)
    assert "±" in live.text("tr[data-number='0']") and not live.visible("#comparison")


def test_an_update_carries_only_what_is_new_and_is_compressed(live, site):
    site.study("one.toml", budget=400, command="echo $(({id} % 17))")
    subprocess.run([LABCAT, "run", "one.toml", "--budget", "300"], cwd=site.directory, check=True, capture_output=True)
    site.serve("one.toml")
    live.visit(f"{site.url}study/0")
    live.until(lambda: told(live) == 300)
    known = json.loads(live.js("return document.getElementById('data').textContent"))
    subprocess.run([LABCAT, "run", "one.toml", "--budget", "310"], cwd=site.directory, check=True, capture_output=True)
    query = f"known={known['revision']}&evaluations={known['history'][0]}&trust_regions={known['history'][1]}"
    whole = json.loads(ask(site, path="/study/0/data")[2])
    news = ask(site, path=f"/study/0/data?{query}")[2]
    fresh = json.loads(news)
    assert fresh["since"] == {"evaluations": 300, "trust_regions": len(known["trust_regions"])} and len(fresh["evaluations"]) == 10
    assert known["evaluations"] + fresh["evaluations"] == whole["evaluations"] and len(whole["evaluations"]) == 310
    assert known["trust_regions"] + fresh["trust_regions"] == whole["trust_regions"]
    request = urllib.request.Request(f"{site.url}study/0/data?{query}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        sent = answer.read()
        assert answer.headers["Content-Encoding"] == "gzip" and len(sent) < len(news) / 2 and gzip.decompress(sent).decode() == news
    # The page has put the parts together.
    live.until(lambda: told(live) == 310)
    assert live.marks("#convergence-chart .dots") == 310
    # A value that is corrected is not left as it was: everything is sent again.
    subprocess.run([LABCAT, "correct", "one.toml", "5", "-7"], cwd=site.directory, check=True, capture_output=True)
    assert json.loads(ask(site, path=f"/study/0/data?{query}")[2])["since"]["evaluations"] == 0
    live.until(lambda: "-7" in live.text("#best-card"))
    quiet(live.driver, site.url)


def test_readers_that_stall_stall_nobody_else(site):
    site.study("one.toml", budget=3000, command="echo {id}")
    rows = "".join(f"{-5 + k / 1000},{k % 7},{k}\n" for k in range(3000))
    (site.directory / "known.csv").write_text("x,y,value\n" + rows)
    subprocess.run([LABCAT, "import", "one.toml", "known.csv"], cwd=site.directory, check=True, capture_output=True)
    site.serve("one.toml")
    ask(site, path="/study/0")
    address = site.url.removeprefix("http://").rstrip("/")
    stalled = []
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", int(address.rsplit(":", 1)[1])))
            client.sendall(f"GET /study/0 HTTP/1.1\r\nHost: {address}\r\n\r\n".encode())
            stalled.append(client)
        for _ in range(10):
            began = time.monotonic()
            assert json.loads(ask(site, path="/studies")[2])[0]["evaluations"] == 3000
            assert time.monotonic() - began < 9, "a stalled reader is given ten seconds"
