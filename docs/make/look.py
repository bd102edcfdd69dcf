"""Opens every page of the built site in a browser: narrow and wide, light and dark. Leaves screenshots of them.

    python docs/make/look.py target/site target/site-looks

A fault is a page that scrolls sideways, a picture that is not shown, something fetched from elsewhere, an error of a script.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from selenium import webdriver

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
MEASURE = """
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const broken = [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src);
    const foreign = performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith('data:'));
    return {wide, broken, foreign, back: getComputedStyle(document.body).backgroundColor};
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ["BROWSER"]
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "SEVERE"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(os.environ["DRIVER"]))


def look(driver: webdriver.Chrome, address: str, name: str, pictures: Path) -> list[str]:
    """The faults of one page. Files of the repository are looked at once, the pages of the site in every way."""
    of_site = not name.startswith("repository")
    found, backs = [], set()
    for scheme in SCHEMES if of_site else SCHEMES[:1]:
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        for width in WIDTHS if of_site else WIDTHS[:1]:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            if width == WIDTHS[0]:
                driver.get(address)
            facts = settled(driver)
            found += [f"{name}, {width} px, {scheme}: {fault}" for fault in faults(facts)]
            backs.add(facts["back"])
            if of_site and (scheme == "light" or width == WIDTHS[1]):
                driver.save_screenshot(str(pictures / f"{name.replace('/', '-') or 'home'}-{width}-{scheme}.png"))
    if of_site and len(backs) != len(SCHEMES):
        found.append(f"{name}: light and dark have the same background")
    return found + [f"{name}: {entry['message']}" for entry in driver.get_log("browser")]


def settled(driver: webdriver.Chrome) -> dict:
    """What a page shows once nothing is wrong with it; after thirty seconds, what it shows then."""
    until = time.monotonic() + 30
    while faults(facts := driver.execute_script(MEASURE)) and time.monotonic() < until:
        time.sleep(0.05)
    return facts


def faults(facts: dict) -> list[str]:
    wide = [f"{facts['wide']} px too wide"] if facts["wide"] > 0 else []
    missing = [f"{picture} is not shown" for picture in facts["broken"]]
    return wide + missing + [f"{other} is fetched from elsewhere" for other in facts["foreign"]]


def main() -> None:
    site, pictures = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    pictures.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names = sorted(path.parent.relative_to(site).as_posix() for path in site.rglob("index.html") if site / "rust" not in path.parents)
    driver, found = browser(), []
    try:
        for name in names:
            found += look(driver, f"http://127.0.0.1:{server.server_port}/{name}/", name.removeprefix("."), pictures)
    finally:
        driver.quit()
        server.shutdown()
    print(f"{len(names)} pages, {len(WIDTHS)} widths, {len(SCHEMES)} schemes")
    if found or len(names) < 30:
        sys.exit("\n".join(found) or "there are too few pages")


if __name__ == "__main__":
    main()
