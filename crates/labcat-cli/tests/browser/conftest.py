"""A headless chromium, and the report pages of the sample studies opened in it.

The pages are written by the example `report_page`; `scripts/test-browser` runs both.
"""

import base64
import contextlib
import json
import os
import shutil
import time
from pathlib import Path

import psutil
import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    ElementClickInterceptedException,
    JavascriptException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver.chrome.service import Service

PAGES = Path(os.environ["LABCAT_REPORT_PAGES"])
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --disable-dev-shm-usage --no-first-run --disable-sync
    --disable-background-networking --disable-component-update""".split()
PATIENCE = 120  # seconds until something that must happen counts as not happening, on the slowest machine


class Page:
    """The page that is open, and what a reader does with it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, name, *, width=1200, dark=False, media=""):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        calm = {"name": "prefers-reduced-motion", "value": "reduce"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme, calm]})
        self.visit((PAGES / f"{name}.html").as_uri(), width, mobile=width < 500)
        self.data = json.loads(self.js("return document.getElementById('data').textContent"))
        return self

    def visit(self, url, width=1200, *, mobile=False):
        """Opens an address and waits until all of it is there: some drivers return while a large page is still being read."""
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": mobile}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        self.js("window.isLeft = true")
        self.driver.get(url)
        self.until(lambda: self.js("return !window.isLeft && document.readyState === 'complete'"))

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def patiently(self, action):
        """Does something, again if a live page was drawn anew between looking and doing."""
        self.until(lambda: [action()])

    def click(self, selector):
        scroll = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
        self.patiently(lambda: (self.js(scroll, self.find(selector)), self.find(selector).click()))

    def text(self, selector):
        return self.js("return document.querySelector(arguments[0]).textContent", selector)

    def visible(self, selector):
        return self.find(selector).is_displayed()

    def marks(self, selector):
        """How many marks the paths hold: each mark begins with a move to its place."""
        return self.js("""return [...document.querySelectorAll(arguments[0])]
            .reduce((sum, path) => sum + (path.getAttribute("d").match(/M/g) ?? []).length, 0)""", selector)

    def type(self, selector, text):
        """Puts the text in the place of what the box holds, as a keyboard does, and any character: `send_keys` may refuse an emoji."""
        self.js("arguments[0].focus(); arguments[0].select()", self.find(selector))
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})

    def column(self, name):
        """The texts of a column of the table, as far as the rows are shown."""
        return self.js("""
            const heads = [...document.querySelectorAll("#table th")].map((head) => head.dataset.column);
            const at = heads.indexOf(arguments[0]);
            return [...document.querySelectorAll("#table tbody tr[data-index]")].map((row) => row.cells[at].textContent)""", name)

    def overflow(self):
        return self.js("return document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not self._holds(condition):
            assert time.monotonic() < end, "what was waited for did not happen"
            time.sleep(0.02)

    @staticmethod
    def _holds(condition):
        try:
            return condition()
        except (ElementClickInterceptedException, JavascriptException, NoSuchElementException, StaleElementReferenceException):
            return False  # not there yet, or drawn anew meanwhile

    def processor_seconds(self):
        """What the browser has computed so far; unlike a clock it does not run faster for a busy machine."""
        seconds = 0
        for process in psutil.Process(self.driver.service.process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                seconds += process.cpu_times().user + process.cpu_times().system
        return seconds

    def screenshot(self, name):
        size = self.js("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        image = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (PAGES / f"{name}.png").write_bytes(base64.b64decode(image["data"]))

    def failed(self):
        return [k for k, evaluation in enumerate(self.data["evaluations"]) if evaluation["value"] is None]

    def values(self):
        return [evaluation["value"] for evaluation in self.data["evaluations"] if evaluation["value"] is not None]


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ["BROWSER"]
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def page(driver):
    """A page to open. Whatever a test does with it: no word on the console, and no request but for the file itself."""
    drain(driver)
    yield Page(driver)
    messages, addresses = drain(driver)
    assert messages == []
    assert [address for address in addresses if not address.startswith(PAGES.as_uri())] == []
    assert addresses, "the requests were not watched"


def drain(driver):
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    requests = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    ours = [request["request"]["url"] for request in requests if request["documentURL"].startswith(PAGES.as_uri())]
    return [entry["message"] for entry in driver.get_log("browser")], [url for url in ours if not url.startswith("data:")]
