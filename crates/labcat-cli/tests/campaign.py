"""Attacks on `labcat` that go on for long: kills, restored backups, full disks, stalled readers.

    python3 crates/labcat-cli/tests/campaign.py LABCAT [kills|restore|disks|serve] [N] [--seed S]

LABCAT is the program. Without a name all four are run, each on a small scale; N sets the scale of one: 200 kills, 20 restored backups,
100 full disks, 50 stalled readers of a study of 20,000 evaluations. Ends non-zero if anything was lost, told twice, told to the wrong
point, or did not end.

Full disks are tmpfs of a random size where this process may mount them (as root); elsewhere a limit of the size of files stands in for them,
which is said.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import typing
from pathlib import Path

PARAMETERS = '[[parameter]]\nname = "x"\nlow = -5\nhigh = 10\n[[parameter]]\nname = "y"\nlow = -5\nhigh = 10\n'
LIMIT = 60  # seconds after which a process that should have ended hangs


def study(budget, workers, seed, labcat, printed=0):
    """A study whose command notes that it started, prints `printed` bytes, and gives the value of its point. Those of many workers end at
    different times, so that results are always waiting."""
    noise = f"printf '%0{printed}d\\\\n' 0; " if printed else ""
    noise += "sleep 0.1$(({id} * 7 % 10)); " if workers > 4 else ""
    script = f"echo {{id}} {{x}} {{y}} >> $NOTES; {noise}exec {labcat} functions sphere {{x}} {{y}}"
    general = f"[study]\nbudget = {budget}\nworkers = {workers}\nseed = {seed}\n"
    return f'{general}{PARAMETERS}[objective]\nshell = true\ncommand = "{script}"\nkeep_output = "64 KiB"\n'


def sphere(x):
    return sum(value * value for value in x)


def told(journal):
    """What a journal holds, in order; it must be whole, without gaps, each evaluation once and with the value of its own point."""
    with contextlib.closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",), journal
        if not db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'trial'").fetchone()[0]:
            return []
        rows = db.execute("SELECT told, id, x, value, status FROM trial WHERE told IS NOT NULL ORDER BY told").fetchall()
    assert [row[0] for row in rows] == list(range(len(rows))), "the order has a gap"
    assert len({row[1] for row in rows}) == len(rows), "an evaluation was told twice"
    for _, number, x, value, status in rows:
        assert status == "ok", (number, status)
        expected = sphere(json.loads(x))
        assert abs(value - expected) <= 1e-12 * max(1, expected), f"evaluation {number} has the value of another point"
    return [row[1:] for row in rows]


def announced(events):
    """The evaluations that were announced, in whole lines."""
    numbers = set()
    for line in events.read_text().splitlines() if events.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):
            event = json.loads(line)
            if event.get("event") == "evaluation":
                numbers.add(event["id"])
    return numbers


class Disk:
    """A directory with little room: a tmpfs, or where that cannot be mounted a limit of the size of files."""

    mounts: typing.ClassVar[list] = []

    def __init__(self, directory, kilobytes):
        self.directory, self.kilobytes = directory, kilobytes
        directory.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(directory)]
        self.mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
        self.mounts.append(self)

    def grow(self, kilobytes):
        self.kilobytes = kilobytes
        if self.mounted:
            subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", str(self.directory)], check=True)

    def limit(self):
        """What is done in a process before its program starts."""
        if not self.mounted:
            size = self.kilobytes * 1024 // 3  # the log, the journal and the rest
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def close(self):
        self.mounts.remove(self)
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.directory)], check=True)

    def __str__(self):
        return "tmpfs" if self.mounted else "limits of file sizes (a tmpfs cannot be mounted here)"


class Campaign:
    def __init__(self, labcat, place, seed):
        self.labcat, self.place, self.random = labcat, place, random.Random(seed)

    def start(self, directory, *arguments, stdout=subprocess.DEVNULL, disk=None):
        notes = self.place / f"{directory.name}.notes"
        environment = {**os.environ, "NOTES": str(notes)}
        return subprocess.Popen(
            [self.labcat, *arguments], cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=stdout,
            stderr=subprocess.PIPE, text=True, preexec_fn=disk.limit if disk else None)

    def run(self, directory, *arguments, disk=None):
        process = self.start(directory, *arguments, stdout=subprocess.PIPE, disk=disk)
        return process, *self.ended(process)

    @staticmethod
    def ended(process):
        try:
            return process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError("a process did not end") from None

    # ---- kills

    def kills(self, number):
        counts = {}
        kinds = ["run", "run of 4", "worker", "run, full disk", "worker, full disk"]
        for kind, share in zip(kinds, shares(number, len(kinds)), strict=True):
            counts[kind] = self.kill_study(kind, share)
        total = sum(counts.values())
        print(f"kills: {total} ({', '.join(f'{kind} {count}' for kind, count in counts.items())}): "
              "nothing lost, told twice or told to the wrong point")

    def kill_study(self, kind, wanted):
        kills = 0
        while kills < wanted:
            kills += self.kill_one(kind, wanted - kills, self.random.randrange(10**6))
        return kills

    def kill_one(self, kind, wanted, seed):
        """Kills the processes of one study until it is done or there were enough kills; gives their number."""
        full = "full" in kind
        directory = self.place / f"kills-{seed}"
        disk = Disk(directory, self.random.randrange(300, 900)) if full else None
        if not full:
            directory.mkdir()
        budget = 40
        command = "worker" if kind.startswith("worker") else "run"
        processes = 3 if command == "worker" else 1
        (directory / "s.toml").write_text(study(budget, 4 if "4" in kind else 1, seed, self.labcat, 15000 if full else 0))
        kills, before, rounds = 0, [], 0
        events = self.place / f"{directory.name}.events"
        while kills < wanted and len(before) < budget:
            rounds += 1
            assert rounds < 400, "the study does not get on"
            with events.open("a") as output:
                started = [self.start(directory, command, "s.toml", "--json", stdout=output, disk=disk) for _ in range(processes)]
                time.sleep(self.random.random() ** 1.5 * 0.25)
                for process in started:
                    kills += process.poll() is None
                    process.kill()
                    process.stderr.read()
                    process.wait()
            if full and rounds % 4 == 0:
                disk.grow(disk.kilobytes + 200)
            before = self.check(directory, before, events)
        if full:
            disk.grow(100_000)
        process, _, said = self.run(directory, "run", "s.toml")
        assert process.returncode == 0, said
        assert len(self.check(directory, before, events)) == budget
        repeated = len((self.place / f"{directory.name}.notes").read_text().splitlines()) - budget
        assert repeated <= (kills + rounds) * 4, f"{repeated} evaluations were repeated after {kills} kills"
        if full:
            disk.close()
        return kills

    def check(self, directory, before, events):
        if not (directory / "s.db").exists():
            assert not before
            return []
        copy = self.place / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for ending in ("", "-wal"):
            if (directory / f"s.db{ending}").exists():
                shutil.copy(directory / f"s.db{ending}", copy / f"s.db{ending}")
        after = told_of_copy(copy / "s.db")
        assert after[:len(before)] == before, "what was told is gone or has changed"
        lost = announced(events) - {row[0] for row in after}
        assert not lost, f"evaluations {lost} were announced and are gone"
        return after

    # ---- restored backups

    def restore(self, number):
        for attempt in range(number):
            directory = self.place / f"restore-{attempt}"
            directory.mkdir()
            (directory / "s.toml").write_text(study(1000, 1, attempt, self.labcat))
            run = self.start(directory, "run", "s.toml")
            self.until(lambda directory=directory: len(told_live(directory)) > 5)
            time.sleep(self.random.random())
            process, out, said = self.run(directory, "backup", "s.toml", "b.db")
            assert process.returncode == 0, said
            saved = told(directory / "b.db")
            assert f"{len(saved)} evaluation" in out
            time.sleep(self.random.random())
            if attempt % 3 == 2:  # the journal is deleted, and what was rescued is put back
                (directory / "s.db").unlink()
                self.ended(run)
                saved, name = told(directory / "s.rescued-1.db"), "s.rescued-1.db"
            else:
                run.kill()
                self.ended(run)
                name = "b.db"
            by_hand = attempt % 2 == 1
            if by_hand:
                shutil.copy(directory / name, directory / "s.db")
            else:
                process, _, said = self.run(directory, "restore", "s.toml", name)
                assert process.returncode == 0, said
            process, _, said = self.run(directory, "run", "s.toml", "--budget", str(len(saved) + 5))
            assert process.returncode == 0, said
            now = told(directory / "s.db")
            assert (len(now), now[:len(saved)]) == (len(saved) + 5, saved), "what was restored is not what was saved"
        print(f"restore: {number} of {number}, {(number + 1) // 2} by `labcat restore`, {number // 2} copied by hand, "
              f"{number // 3} of them rescued journals")

    def until(self, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "waited too long"
            time.sleep(0.02)

    # ---- full disks

    def disks(self, number):
        kept, kind, slowest = 0, "", 0.0
        for attempt in range(number):
            directory = self.place / f"disk-{attempt}"
            # Also such as are filled after more than a second: by then what was committed is brought into the journal's file.
            disk = Disk(directory, self.random.randrange(150, 12_000))
            kind = str(disk)
            workers = self.random.choice([1, 4, 16])
            (directory / "s.toml").write_text(study(1000, workers, attempt, self.labcat, 20_000))
            began = time.monotonic()
            process, _, said = self.run(directory, "run", "s.toml", disk=disk)
            slowest = max(slowest, time.monotonic() - began)
            assert process.returncode == 1, (process.returncode, said)
            measured, files = announced_values(said), len(list(directory.glob("s.db-evaluation-*")))
            kept += files
            notes = self.place / f"{directory.name}.notes"
            started = len(notes.read_text().splitlines()) if notes.exists() else 0
            disk.grow(100_000)
            # As much as was started before the disk was full: what ended is not evaluated again, only what was running then.
            process, _, said = self.run(directory, "run", "s.toml", "--budget", str(max(started, 1)))
            assert process.returncode == 0, said
            now = {row[0] for row in told(directory / "s.db")}
            assert len(now) >= started and measured <= now, (started, len(now), measured - now)
            again = len(notes.read_text().splitlines()) - started
            assert again <= workers, f"{again} evaluations of {workers} workers were repeated, {files} were kept"
            disk.close()
        print(f"disks: {number} full disks by {kind}: each run ended, the slowest after {slowest:.1f} s; {kept} results were kept in files "
              "and stored later")

    # ---- stalled readers

    def serve(self, clients, evaluations):
        directory = self.place / "serve"
        directory.mkdir()
        (directory / "s.toml").write_text(study(evaluations + 200, 1, 1, self.labcat))
        points = ((self.random.uniform(-5, 10), self.random.uniform(-5, 10)) for _ in range(evaluations))
        rows = "".join(f"{x!r},{y!r},{sphere((x, y))!r}\n" for x, y in points)
        (directory / "known.csv").write_text("x,y,value\n" + rows)
        process = self.start(directory, "import", "s.toml", "known.csv", stdout=subprocess.PIPE)
        _, said = process.communicate(timeout=600)
        assert process.returncode == 0, said
        server = self.start(directory, "serve", "s.toml", "--port", "0", stdout=subprocess.PIPE)
        stalled = []
        try:
            port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
            whole = get(port, "/study/0")
            carried = re.search(rb'id="data">(.*?)</script>', whole.body, re.DOTALL)[1]
            known = json.loads(carried)
            for _ in range(clients):
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.connect(("127.0.0.1", port))
                client.sendall(b"GET /study/0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                stalled.append(client)
            slowest = 0.0
            end = time.monotonic() + 6
            while time.monotonic() < end:
                began = time.monotonic()
                assert json.loads(get(port, "/studies").body)[0]["evaluations"] == evaluations
                slowest = max(slowest, time.monotonic() - began)
                time.sleep(0.05)
            process, _, said = self.run(directory, "run", "s.toml", "--budget", str(evaluations + 20))
            assert process.returncode == 0, said
            query = f"known={known['revision']}&evaluations={known['history'][0]}&trust_regions={known['history'][1]}"
            news = get(port, f"/study/0/data?{query}")
            fresh = json.loads(news.body)
            assert fresh["since"]["evaluations"] == evaluations and len(fresh["evaluations"]) == 20
        finally:
            for client in stalled:
                client.close()
            server.terminate()
            server.communicate(timeout=LIMIT)
        assert slowest < 1, f"/studies took {slowest:.2f} s"
        print(f"serve: {clients} stalled readers of {evaluations} evaluations: /studies within {slowest * 1000:.0f} ms; the page is {len(whole.body):,} bytes, "
              f"{whole.sent:,} as sent; an update with 20 new evaluations is {len(news.body):,} bytes, {news.sent:,} as sent")


class Answer:
    def __init__(self, answer):
        sent = answer.read()
        self.sent = len(sent)
        self.body = gzip.decompress(sent) if answer.getheader("Content-Encoding") == "gzip" else sent


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Accept-Encoding": "gzip, deflate"})
        return Answer(connection.getresponse())


def told_of_copy(journal):
    """What a copy of a journal and its log holds. SQLite takes the log in when it opens the copy for writing."""
    with contextlib.closing(sqlite3.connect(journal)) as db:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return told(journal)


def told_live(directory):
    try:
        return told(directory / "s.db")
    except sqlite3.OperationalError:
        return []


def announced_values(said):
    """The evaluations that a run without --json has announced on standard error."""
    return {int(number) for number in re.findall(r"^(\d+): [-+.\de]+ at ", said, re.MULTILINE)}


def shares(number, parts):
    return [number // parts + (k < number % parts) for k in range(parts)]


SMALL = {"kills": 15, "restore": 3, "disks": 4, "serve": 50}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labcat")
    parser.add_argument("name", nargs="?", choices=SMALL)
    parser.add_argument("number", nargs="?", type=int)
    parser.add_argument("--seed", type=int, default=20261118)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for name in [arguments.name] if arguments.name else SMALL:
        with tempfile.TemporaryDirectory(prefix="labcat-campaign-", ignore_cleanup_errors=True) as place:
            campaign = Campaign(str(Path(arguments.labcat).resolve()), Path(place), arguments.seed)
            number = arguments.number or SMALL[name]
            try:
                if name == "serve":
                    campaign.serve(number, 20_000 if arguments.number else 2_000)
                else:
                    getattr(campaign, name)(number)
            finally:
                for disk in list(Disk.mounts):
                    disk.close()


if __name__ == "__main__":
    main()
