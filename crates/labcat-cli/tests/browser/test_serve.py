"""`labcat serve`: the pages live while studies run, several studies compared, nothing to be changed."""

import contextlib
import http.client
import json
import os
import re
import subprocess
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
