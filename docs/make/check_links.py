"""Checks every link and picture of the built site: the file is there, and so is the place in it.

    python docs/make/check_links.py target/site
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value and name in ("id", "name"):
                self.places.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def faults(site: Path) -> list[str]:
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html") if site / "rust" not in path.parents}
    found, seen = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") and path.name != "404.html":
                if parts.path.endswith((".js", ".css", ".png", ".woff2")):
                    found.append(f"{path}: {link} is fetched from elsewhere")
                continue
            if parts.scheme or path.name == "404.html":
                continue
            seen += 1
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{path}: {link} leads nowhere")
            elif target in pages and unquote(parts.fragment) not in pages[target].places and parts.fragment != "__codelineno":
                found.append(f"{path}: {link} has no such place")
    print(f"{seen} links of {len(pages)} pages")
    return found if seen else ["there are no links"]


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]).resolve())
    sys.exit("\n".join(wrong) if wrong else 0)
