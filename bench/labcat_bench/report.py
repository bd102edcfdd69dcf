"""The `report` command: one HTML page, without links to anything outside it, from the summaries at hand."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from .summary import Block, Figure, Summary, Table

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; } h3 { font-size: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #e4e4e4; white-space: nowrap; }
.words { text-align: left; white-space: normal; min-width: 8rem; }
tr:hover td { background: #f6f6f0; }
pre { background: #f5f5f2; padding: .6rem .8rem; white-space: pre-wrap; font-size: .8rem; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; } figcaption, .note { color: #555; font-size: .85rem; }
nav ul { padding: 0; } nav li { display: inline-block; margin-right: 1.2rem; }
"""


class NoResults(ValueError):
    """Nothing to report."""


def find_summaries(folder: Path) -> list[Path]:
    """The folders below this one that hold a summary."""
    found = sorted(path.parent for path in folder.rglob("summary.json"))
    if not found:
        raise NoResults(f"no results in {folder}: run another command first, for instance `coco` or `synthetic`")
    return found


def page(folders: Sequence[Path]) -> str:
    summaries = [(folder, Summary.load(folder)) for folder in folders]
    links = "".join(f'<li><a href="#s{i}">{escape(s.title)}</a></li>' for i, (_, s) in enumerate(summaries))
    sections = "".join(section(f"s{i}", folder, summary) for i, (folder, summary) in enumerate(summaries))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>labcat benchmark</title><style>{STYLE}</style></head>\n"
        f"<body><h1>labcat benchmark</h1><nav><ul>{links}</ul></nav>{sections}</body></html>\n"
    )


def section(anchor: str, folder: Path, summary: Summary) -> str:
    blocks = "\n".join(block_html(folder, block) for block in summary.blocks)
    commands = escape(summary.provenance().replace("`", ""))
    return f'<section id="{anchor}"><h2>{escape(summary.title)}</h2><pre>{commands}</pre>\n{blocks}</section>\n'


def block_html(folder: Path, block: Block) -> str:
    if isinstance(block, Table):
        return table_html(block)
    if isinstance(block, Figure):
        picture = base64.b64encode((folder / f"{block.file}.svg").read_bytes()).decode("ascii")
        title = escape(block.title)
        return (
            f'<figure><img alt="{title}" src="data:image/svg+xml;base64,{picture}">'
            f"<figcaption>{title}</figcaption></figure>"
        )
    return "".join(f"<p>{inline(line.removeprefix('- '))}</p>" for line in block.text.splitlines() if line)


def table_html(table: Table) -> str:
    header = cells_html("th", table.header, table.left)
    rows = "".join(f"<tr>{cells_html('td', row, table.left)}</tr>" for row in table.rows)
    note = f'<p class="note">{inline(table.note)}</p>' if table.note else ""
    return (
        f"<h3>{inline(table.title)}</h3>"
        f'<div class="scroll"><table><thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table></div>{note}'
    )


def cells_html(tag: str, cells: Sequence[str], left: int) -> str:
    opened = [f'<{tag} class="words">' if i < left else f"<{tag}>" for i in range(len(cells))]
    return "".join(f"{start}{inline(cell)}</{tag}>" for start, cell in zip(opened, cells, strict=True))


def inline(text: str) -> str:
    """Escaped, with `code` and *emphasis* of Markdown."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", text)
