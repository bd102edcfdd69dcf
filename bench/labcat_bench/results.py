"""Result files: JSON lines, appended one finished run at a time, so that a stopped benchmark goes on where it was."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

Record = dict[str, Any]


class ResultsFile:
    """`{"meta": …}` lines say which command, commit and machine produced the records that follow them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[str, Record] = {}
        self.metas: list[Record] = []
        if path.exists():
            self._load(path.read_text(encoding="utf-8"))

    def _load(self, text: str) -> None:
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a run that was killed while writing: its problem is run again
            if "meta" in entry:
                self.metas.append(entry["meta"])
            else:
                self.records[entry["key"]] = entry
        if text and not text.endswith("\n"):
            self._write("\n")

    def start(self, meta: Record) -> None:
        self.metas.append(meta)
        self._write(json.dumps({"meta": meta}) + "\n")

    def append(self, record: Record) -> None:
        self.records[record["key"]] = record
        self._write(json.dumps(record) + "\n")

    def _write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)

    @property
    def origins(self) -> list[Record]:
        """The latest session of each commit and machine that had a part in the results."""
        return list({(meta["commit"], meta["build"], meta["machine"]): meta for meta in self.metas}.values())

    @property
    def other_builds(self) -> list[str]:
        """Builds of LABCAT, other than this one, whose results the file holds."""
        return sorted({meta["build"] for meta in self.metas} - {build()})


def select(records: Iterable[Record], **fields: Any) -> list[Record]:
    """The records whose fields have these values."""
    return [r for r in records if all(r.get(name) == value for name, value in fields.items())]


def metadata(command: str) -> Record:
    return {
        "command": command,
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "build": build(),
        "machine": machine(),
        "python": platform.python_version(),
    }


@cache
def build() -> str:
    """A digest of LABCAT's native module, which tells two builds apart even where the version does not."""
    if importlib.util.find_spec("labcat") is None or importlib.util.find_spec("labcat._labcat") is None:
        return "none"
    spec = importlib.util.find_spec("labcat._labcat")
    assert spec is not None and spec.origin is not None
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:12]


@cache
def commit() -> str:
    """The commit of the source tree this package lies in, if it lies in one."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


@cache
def machine() -> str:
    return f"{_cpu()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
