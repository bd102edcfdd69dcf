"""What `mkdocs build` does beside Markdown: pages made by code, printed results, links to files of the repository."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path, PurePosixPath

from generated import PAGES
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
WORK = ROOT / "target" / "site-work"
OUTSIDE = "repository"
"""Where files of the repository that pages link to are found in the site."""
PICTURES = {".png", ".gif", ".svg"}
LINK = re.compile(r"(?<=\]\()(?!#|[a-z]+:)([^)#\s]+)(#[^)\s]*)?(?=\))")
BEGINS = re.compile(r"\s*(- |\d+\. |\|)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
"""A picture, the only thing of its line."""
INCLUDE = re.compile(r"^--8<-- (\S+)$", re.MULTILINE)
"""A file of the repository, inside a block of code."""


def on_files(files, config):
    for uri, text in {"index.md": (ROOT / "README.md").read_text(), **{uri: make() for uri, make in PAGES.items()}}.items():
        files.append(File.generated(config, uri, content=text))
    for picture in sorted((WORK / "pictures").iterdir()):
        files.append(File.generated(config, f"pictures/{picture.name}", abs_src_path=str(picture)))
    waiting = [file for file in files if file.src_uri.endswith(".md")]
    while waiting:
        file = waiting.pop()
        for path in linked(file.content_string, repository_path(file.src_uri)):
            uri = site_uri(path)
            if not is_of_site(path) and path != "README.md" and uri not in files.src_uris:
                files.append(outside(config, path, uri))
                if uri.endswith(".md"):
                    waiting.append(files.src_uris[uri])
    return files


def on_page_markdown(markdown, page, **_):
    here = repository_path(page.file.src_uri)
    if here == "README.md":
        page.meta["hide"] = ["navigation"]

    def relative(match):
        path = resolved(match[1], here)
        if not (ROOT / path).exists():
            return match[0]
        return os.path.relpath(site_uri(path), PurePosixPath(page.file.src_uri).parent) + (match[2] or "")

    for fault in unseparated(markdown):
        raise PluginError(f"{here}: a blank line is missing before {fault!r}")
    markdown = with_outputs(outside_code(markdown, lambda line: opened(LINK.sub(relative, line))), page.file.src_uri)
    return INCLUDE.sub(lambda match: (ROOT / match[1]).read_text().rstrip(), markdown)


def opened(line: str) -> str:
    """A picture that has a line of its own opens in its full size, which narrow screens do not show."""
    picture = PICTURE.fullmatch(line)
    return line if picture is None else f"[{line}]({picture[1]})"


def unseparated(markdown: str) -> list[str]:
    """Lines that begin a list or a table and follow a paragraph at once: Python-Markdown makes them part of it."""
    found, before = [], []

    def look(line):
        begins = BEGINS.match(line)
        if begins and before[-1:] and before[-1].strip() and not BEGINS.match(before[-1]) and not before[-1].startswith(("  ", "#", "<")):
            found.append(line)
        before.append(line)
        return line

    outside_code(markdown, look)
    return found


def repository_path(uri: str) -> str:
    """The file of the repository that a page shows."""
    if uri == "index.md":
        return "README.md"
    return uri.removeprefix(f"{OUTSIDE}/") if uri.startswith(f"{OUTSIDE}/") else f"docs/{uri}"


def site_uri(path: str) -> str:
    if path == "README.md":
        return "index.md"
    if is_of_site(path):
        return path.removeprefix("docs/")
    uri = f"{OUTSIDE}/{path.lstrip('.')}"
    return uri if Path(path).suffix in {".md", *PICTURES} else f"{uri}.md"


def is_of_site(path: str) -> bool:
    return path.startswith("docs/") and not path.startswith("docs/make")


def resolved(link: str, here: str) -> str:
    return os.path.normpath(PurePosixPath(here).parent / link)


def linked(text: str, here: str) -> list[str]:
    """The paths of the repository that a page links to."""
    found = []
    outside_code(text, lambda line: found.extend(match[1] for match in LINK.finditer(line)) or line)
    paths = [resolved(link, here) for link in found]
    return [path for path in paths if (ROOT / path).exists()]


def outside_code(text: str, change) -> str:
    """Applies `change` to the lines that are not code."""
    code, lines = False, []
    for line in text.splitlines():
        code ^= line.startswith("```")
        lines.append(line if code else change(line))
    return "\n".join(lines) + "\n"


def outside(config, path: str, uri: str) -> File:
    """A file of the repository as a page, a directory as a list of its files."""
    source = ROOT / path
    if source.suffix in {".md", *PICTURES}:
        return File.generated(config, uri, abs_src_path=str(source))
    if source.is_dir():
        names = sorted(file.relative_to(source).as_posix() for file in source.rglob("*") if file.is_file())
        lines = [f"- [{name}]({source.name}/{name})" for name in names if "__pycache__" not in name]
    else:
        language = {".py": "python", ".toml": "toml", ".rs": "rust", ".yml": "yaml"}.get(source.suffix, "text")
        lines = [f"````{language}", source.read_text().rstrip(), "````"]
    return File.generated(config, uri, content="\n".join([f"# {path}", "", *lines, ""]))


def with_outputs(markdown: str, uri: str) -> str:
    """Adds to each block that was run what it printed."""
    recorded = WORK / "outputs.json"
    printed = json.loads(recorded.read_text()).get(uri) if recorded.exists() else None
    if printed is None:
        return markdown
    lines, number, inside = [], -1, False
    for line in markdown.splitlines():
        lines.append(line)
        if not line.startswith("```"):
            continue
        inside = not inside
        if inside:
            number += 1
        elif printed[number]:
            lines += ["", '<div class="output" markdown>', "", "```text", printed[number], "```", "", "</div>", ""]
    return "\n".join(lines) + "\n"
