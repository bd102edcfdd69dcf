"""Checks that the manual's tables list the keys that the program takes in a study, and no others."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

MANUAL = Path(__file__).parents[1] / "cli.md"
PARAMETERS = {"real": "", "integer": "", "categorical": 'choices = ["a", "b"]\n', "boolean": "", "fixed": "value = 1\n"}


def taken(table: str, kind: str = "") -> set[str]:
    """The keys of a table, as the message about an unknown one lists them."""
    more = f'type = "{kind}"\n{PARAMETERS[kind]}' if kind else ""
    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "study.toml"
        study.write_text(f"{table}\n{more}nonsense = 1\n")
        said = subprocess.run([sys.executable, "-m", "labcat", "check", study], capture_output=True, text=True).stderr
    listed = re.search(rf"the keys of {re.escape(table)} are (.*)", said)
    if listed is None:
        raise SystemExit(f"labcat check does not list the keys of {table}:\n{said}")
    return set(listed[1].split(", "))


def documented(table: str) -> set[str]:
    heading = re.escape(f"### `{table}`")
    section = re.search(rf"^{heading}.*?(?=^##)", MANUAL.read_text(), re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| (`[^|]*?) \|", section[0], re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def main() -> None:
    expected = {table: taken(table) for table in ("[study]", "[objective]")}
    expected["[[parameter]]"] = set().union(*(taken("[[parameter]]", kind) for kind in PARAMETERS))
    wrong = [
        f"{table}: the program takes {sorted(keys)}, docs/cli.md lists {sorted(documented(table))}"
        for table, keys in expected.items()
        if keys != documented(table)
    ]
    print({table: len(keys) for table, keys in expected.items()})
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
