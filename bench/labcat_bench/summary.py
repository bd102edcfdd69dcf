"""What a command has to show: tables, sentences and figures, printed, filed as Markdown, and gathered by `report`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .results import Record


@dataclass(frozen=True)
class Table:
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    left: int = 1  # columns of words, the rest of numbers

    def markdown(self) -> str:
        widths = [max(len(row[i]) for row in (self.header, *self.rows)) for i in range(len(self.header))]

        def line(cells: Sequence[str]) -> str:
            placed = enumerate(zip(cells, widths, strict=True))
            padded = [c.ljust(w) if i < self.left else c.rjust(w) for i, (c, w) in placed]
            return "| " + " | ".join(padded) + " |"

        rules = ["-" * (w + 2) if i < self.left else "-" * (w + 1) + ":" for i, w in enumerate(widths)]
        rule = "|" + "|".join(rules) + "|"
        lines = [f"### {self.title}", "", line(self.header), rule, *map(line, self.rows)]
        return "\n".join(lines + (["", self.note] if self.note else []))


@dataclass(frozen=True)
class Text:
    text: str

    def markdown(self) -> str:
        return self.text


@dataclass(frozen=True)
class Figure:
    title: str
    file: str  # without its ending: there is an `.svg` and a `.png`

    def markdown(self) -> str:
        return f"![{self.title}]({self.file}.svg)"


Block = Table | Text | Figure
KINDS: dict[str, type] = {kind.__name__: kind for kind in (Table, Text, Figure)}


@dataclass
class Summary:
    title: str
    metas: Sequence[Record]
    blocks: list[Block] = field(default_factory=list)

    def markdown(self, *, figures: bool = True) -> str:
        shown = [block for block in self.blocks if figures or not isinstance(block, Figure)]
        return "\n\n".join([f"## {self.title}", self.provenance(), *(block.markdown() for block in shown)]) + "\n"

    def provenance(self) -> str:
        """Which commands, commits and machines the results come from."""
        lines = [f"`{m['command']}` (commit {m['commit']}, {m['started'][:10]}, {m['machine']})" for m in self.metas]
        return "\n".join(dict.fromkeys(lines))

    def save(self, folder: Path) -> None:
        blocks = [{"kind": type(block).__name__, **asdict(block)} for block in self.blocks]
        entry = {"title": self.title, "metas": list(self.metas), "blocks": blocks}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "summary.json").write_text(json.dumps(entry, indent=1, ensure_ascii=False), encoding="utf-8")
        (folder / "summary.md").write_text(self.markdown(), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Summary:
        entry: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        blocks = [KINDS[block.pop("kind")](**block) for block in entry["blocks"]]
        return cls(entry["title"], entry["metas"], blocks)
