"""The figures of the public pages are those of the records that they link to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import labcat

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "benchmarks" / "records" / "2026-11-18" / "one-model.md"
PAIR = re.compile(r"\.\d{3}/\.\d{3}")


def rows(page: Path) -> list[list[str]]:
    """The cells of every row of the tables of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def measured(dimension: int) -> str:
    """AUC / Solved of `default` on COCO's `bbob`, as the record has it."""
    (after,) = [row[2] for row in rows(RECORD) if re.fullmatch(rf"`--dims {dimension} --instances \S+`", row[0])]
    return after


@pytest.mark.parametrize("page, dimensions", [
    ("README.md", [[2, 5, 20]]),
    ("docs/explanation/results.md", [[2, 3, 5, 10, 20], [2, 5]]),
])
def test_figures_of_bbob_are_those_of_the_record(page, dimensions):
    path = ROOT / page
    shown = [PAIR.findall(" ".join(row)) for row in rows(path) if re.match(r"\*\*labcat", row[0]) and PAIR.search(" ".join(row))]
    assert shown == [[measured(d) for d in table] for table in dimensions]
    assert "benchmarks/records/2026-11-18/one-model.md" in path.read_text(encoding="utf-8")


def test_the_guide_says_how_many_evaluations_its_workers_take():
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL) if "def evaluations(n)" in block]
    names = {"__name__": "guide", "labcat": labcat}
    exec(code, names)
    said = re.search(r"^It prints ([\d, and]+) evaluations", guide, re.MULTILINE)
    assert [names["evaluations"](n) for n in (1, 2, 5, 10)] == [int(n) for n in re.findall(r"\d+", said[1])]


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90
