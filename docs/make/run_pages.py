"""Runs the code of the tutorials and how-to pages, each page in a directory of its own; keeps what it prints and the pictures it writes.

    python docs/make/run_pages.py [PAGE…]

A block with a title is a file that is written. The other Python blocks of a page are one program; `sh` blocks are run where they
stand. A `console` block is shown and not run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DOCS = Path(__file__).parents[1]
WORK = DOCS.parent / "target" / "site-work"
BLOCK = re.compile(r"^```(\w*)(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
MARK = "\x1eend of block\x1e"
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "MPLBACKEND": "Agg",
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
}


def run(page: Path) -> list[str]:
    """What each block of the page printed; raises with the page's name where one fails."""
    place = WORK / "pages" / page.stem
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    blocks = [match.groups() for match in BLOCK.finditer(page.read_text())]
    printed, program, of_program = [""] * len(blocks), [], []
    for number, (language, info, code) in enumerate(blocks):
        title = TITLE.search(info)
        if title:
            (place / title[1]).write_text(code)
        elif language == "python":
            program.append(code)
            of_program.append(number)
        elif language == "sh":
            printed[number] = called(page, ["bash", "-euo", "pipefail", "-c", code], place)
    if program:
        script = place / "page.py"
        script.write_text("".join(f"{code}\nif __name__ == '__main__': print({MARK!r}, flush=True)\n" for code in program))
        output = called(page, [sys.executable, "-W", "error::DeprecationWarning:__main__", script.name], place).split(MARK)
        for number, text in zip(of_program, output):
            printed[number] = text.strip("\n")
    for picture in [*place.glob("*.png"), *place.glob("*.gif")]:
        shutil.copy(picture, WORK / "pictures" / picture.name)
    return printed


def called(page: Path, command: list[str], place: Path) -> str:
    ended = subprocess.run(command, cwd=place, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)
    if ended.returncode != 0:
        raise SystemExit(f"{page.relative_to(DOCS.parent)} failed:\n{ended.stdout}{ended.stderr}")
    return ended.stdout.rstrip("\n")


def main() -> None:
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    pages = pages or sorted([*DOCS.glob("tutorials/*.md"), *DOCS.glob("how-to/*.md")])
    (WORK / "pictures").mkdir(parents=True, exist_ok=True)
    recorded = WORK / "outputs.json"
    outputs = json.loads(recorded.read_text()) if recorded.exists() else {}

    def timed(page: Path) -> tuple[str, list[str], float]:
        started = time.perf_counter()
        return page.relative_to(DOCS).as_posix(), run(page), time.perf_counter() - started

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for uri, printed, seconds in pool.map(timed, pages):
            outputs[uri] = printed
            print(f"{uri}: {len(printed)} blocks, {seconds:.1f} s")
    recorded.write_text(json.dumps(outputs))


if __name__ == "__main__":
    main()
