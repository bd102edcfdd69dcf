"""Another Python interpreter, whose build of LABCAT is compared with this one's by the same harness.

The process is this file run as a program. It imports `labcat` from its own environment, which needs numpy and COCO too,
and the harness from this folder; it is given pickled runs, one to a line, and answers with records.
"""

from __future__ import annotations

import base64
import functools
import importlib
import importlib.util
import json
import os
import pickle
import signal
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .runner import Run

HERE = Path(__file__).resolve().parent


class BadInterpreter(ValueError):
    """An interpreter that cannot run the harness."""


class Interpreter:
    """A process of another interpreter, which ends with this one."""

    def __init__(self, python: str) -> None:
        self.python = python
        try:
            self._process = subprocess.Popen(
                [python, str(HERE / "foreign.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise BadInterpreter(f"{python} cannot be started: {error}") from error
        self._end = weakref.finalize(self, end, self._process)  # or at exit
        hello = self._answer()
        if "build" not in hello:
            self._end()
            raise BadInterpreter(
                f"{python}: {hello['error']}: it needs labcat-opt, of any version, and coco-experiment"
            )
        self.build = str(hello["build"])

    def execute(self, run: Run) -> dict[str, Any]:
        here = replace(run, algorithm=replace(run.algorithm, python=""))
        assert self._process.stdin is not None
        self._process.stdin.write(base64.b64encode(pickle.dumps(here)).decode() + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        if "error" in answer:
            raise RuntimeError(f"{self.python}: {answer['error']}")
        return answer

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self._end()
            raise BadInterpreter(f"{self.python} ended with status {status}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@functools.cache
def interpreter(python: str) -> Interpreter:
    """The process for this interpreter: one for each process of ours."""
    return Interpreter(python)


def serve() -> None:
    """Answer until there is no more to read."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a package prints is no answer

    def answer(entry: dict[str, Any]) -> None:
        print(json.dumps(entry), file=answers, flush=True)

    try:
        adopt_harness()
        runner = importlib.import_module("labcat_bench.runner")
        importlib.import_module("labcat_bench.coco_problems").import_cocoex()
        build = importlib.import_module("labcat_bench.results").build()
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        return
    answer({"build": build})
    for line in sys.stdin:
        try:
            answer(runner.execute(pickle.loads(base64.b64decode(line))))
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})


def adopt_harness() -> None:
    """Make this folder the `labcat_bench` beside the `labcat` that is installed here."""
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != HERE]
    importlib.import_module("labcat")
    place = [str(HERE)]
    spec = importlib.util.spec_from_file_location(
        "labcat_bench", HERE / "__init__.py", submodule_search_locations=place
    )
    assert spec is not None and spec.loader is not None
    sys.modules["labcat_bench"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    serve()
