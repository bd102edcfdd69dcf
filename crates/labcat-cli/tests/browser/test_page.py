"""What every page must be: complete, quiet, readable on a phone, in the dark, on paper and without a mouse."""

import base64

import pytest
from selenium.webdriver.common.keys import Keys

SAMPLES = ["rosenbrock", "training", "empty", "failures", "large", "awkward", "single", "narrow", "many", "gaps", "tight", "constrained", "astray", "fitted"]


@pytest.mark.parametrize("width", [375, 768, 1200])
@pytest.mark.parametrize("name", SAMPLES)
def test_fits_its_window(page, name, width):
    page.open(name, width=width)
    assert page.overflow() == 0
    assert page.text("h1") == page.data["name"]
    assert page.driver.title == f"{page.data['name']} · labcat"
    if name in ("rosenbrock", "training", "constrained", "astray"):
        page.screenshot(f"{name}-{width}")


@pytest.mark.parametrize("name, sections", [
    ("rosenbrock", "best convergence relevance parameters parallel region region-map widths restarts failures evaluations"),
    ("training", "best convergence relevance parameters parallel region widths failures evaluations"),
    ("noisy", "best convergence relevance expected parameters parallel region region-map widths failures evaluations"),
    ("empty", "best"),
    ("failures", "best parallel failures evaluations"),
    ("single", "best convergence parameters evaluations"),
    ("fitted", "best convergence fit relevance parameters parallel region region-map widths failures evaluations"),
])
def test_shows_what_there_is_to_show(page, name, sections):
    page.open(name)
    if name == "noisy" and page.data["restarts"]:  # a real search, which may have had one
        sections = sections.replace("failures", "restarts failures")
    every = "best convergence fit relevance expected parameters parallel region region-map widths restarts failures evaluations".split()
    assert [section for section in every if page.visible(f"#{section}")] == sections.split()


def test_says_that_nothing_happened_yet(page):
    assert "No evaluation yet" in page.open("empty").text("#best-card")
    assert "No evaluation succeeded" in page.open("failures").text("#best-card")


def test_shows_the_best_point_and_copies_it(page):
    page.open("training")
    best = page.data["evaluations"][page.data["best"]]
    assert best["value"] == max(page.values())
    assert float(page.text("#best-card .value")) == pytest.approx(best["value"], rel=1e-7)
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    page.click("#copy")
    page.until(lambda: page.text("#copy") == "Copied")
    copied = page.driver.execute_async_script("const done = arguments[0]; navigator.clipboard.readText().then(done, done)")
    names = [parameter["name"] for parameter in page.data["parameters"]]
    assert page.js("return JSON.parse(arguments[0])", copied) == dict(zip(names, best["x"]))


def test_facts(page):
    page.open("rosenbrock")
    failed = len(page.failed())
    assert failed > 0
    facts = page.text("#facts")
    assert f"Evaluations150 of 150Failures{failed} " in facts and "stopped: budget" in facts
    assert page.text("#about").startswith("minimise over 2 parameters · preset default · seed 7")
    assert "seed 18446744073709551615" in page.open("large").text("#about")


def test_awkward_text_stays_text(page):
    page.open("awkward")
    names = [parameter["name"] for parameter in page.data["parameters"]]
    assert page.js("return [...document.querySelectorAll('#best-card dt')].map((name) => name.textContent)") == names
    assert page.all("main script, main img, main b, nav script") == []
    assert page.text("#failures pre").startswith("<!-- <script> \u2028 \\u003c @@data@@ 🐈")
    page.type("#filter", '"température 🌡️" > 1e5')
    expected = sum(evaluation["x"][2] > 1e5 for evaluation in page.data["evaluations"])
    assert 0 < expected < 24 and len(page.column("id")) == expected


def test_failures_show_what_the_program_said(page):
    page.open("failures")
    count = len(page.failed())
    assert count == 60 and len(page.all("#failures details")) == 25
    assert "FloatingPointError" in page.text("#failures details[open]")
    page.click("#failures-more")
    page.click("#failures-more")
    assert len(page.all("#failures details")) == count
    assert not page.visible("#failures-more")
    said = page.js("return [...document.querySelectorAll('#failures details')].map((entry) => entry.textContent)")
    for text, evaluation in zip(said, page.data["evaluations"]):
        assert text.startswith(f"Evaluation {evaluation['id']}: {evaluation['status']}")
        assert evaluation["stdout"] in text and evaluation["stderr"] in text


def test_reasons_of_failures_stand_under_their_own_name(page):
    page.open("failures")
    reasons = [evaluation["message"] for evaluation in page.data["evaluations"]]
    listed = page.js("return [...document.querySelectorAll('#failures-reasons li')].map((entry) => entry.textContent)")
    common = sorted(set(reasons), key=lambda reason: -reasons.count(reason))
    assert listed == [f"{reasons.count(reason)} × {reason}" for reason in common] and len(common) == 2
    entry = "#failures details[open] "
    assert page.text(f"{entry}h4") == "Why it failed" and page.text(f"{entry}.reason") == reasons[0]
    errors = page.js("return [...document.querySelectorAll('#failures pre')].map((text) => text.textContent)")
    assert all(reason not in text for reason in common for text in errors), "a reason is not what the program said"
    page.click("#table tbody tr:first-child button")
    assert page.text("#table .reason") == reasons[0]


def test_evaluations_have_one_number_everywhere(page):
    page.open("gaps")
    ids = [evaluation["id"] for evaluation in page.data["evaluations"]]
    assert ids[:3] == [102, 100, 106] and ids != sorted(ids)
    best = page.data["evaluations"][page.data["best"]]
    assert f"at evaluation {best['id']}" in page.text("#best-card")
    assert page.column("id") == [str(number) for number in ids[:50]] or page.column("id") == [str(n) for n in sorted(ids)[:50]]
    # The restart stands between the evaluations that were told before and after it.
    at = page.data["restarts"][0]["at_evaluation"]
    before = max(ids[:at])
    assert page.text("#restarts-list").startswith(f"after evaluation {before}: ")
    assert page.text("#convergence-chart .restart title").startswith(f"Restart after evaluation {before}: ")
    places = page.js("""
        const at = (element) => Number(element.getAttribute("x1"));
        const ticks = [...document.querySelectorAll("#convergence-chart text")].filter((text) => text.getAttribute("text-anchor") === "middle")
            .map((text) => [Number(text.textContent), Number(text.getAttribute("x"))]);
        return { ticks, restart: at(document.querySelector("#convergence-chart .restart")) }""")
    (low, left), (high, right) = places["ticks"][0], places["ticks"][-1]
    assert left + (before + 0.5 - low) / (high - low) * (right - left) == pytest.approx(places["restart"], abs=1)
    chart = page.find("#convergence svg[role]")
    page.js("arguments[0].focus()", chart)
    chart.send_keys(Keys.ARROW_RIGHT)
    assert page.text("#live").startswith("Evaluation 102: ") and "evaluation 102" in page.text("#tip")
    x = page.js("return [...document.querySelector('#convergence-chart .best-line').getAttribute('d').matchAll(/[MH]([0-9.]+)/g)].map(([, x]) => Number(x))")
    assert x == sorted(x), "the best so far goes from left to right"


def test_many_parameters_are_no_wall_before_the_first_chart(page):
    page.open("many")
    top = page.js("return document.querySelector('#convergence').getBoundingClientRect().top + window.scrollY")
    assert top < 900, f"the first chart begins at {top} pixels"
    assert len(page.all("#best-card > div > dl dd")) == 12 and not page.find("#best-rest").get_property("open")
    page.click("#best-rest summary")
    names = page.js("return [...document.querySelectorAll('#best-card dt')].map((name) => name.textContent)")
    assert names == [parameter["name"] for parameter in page.data["parameters"]]
    assert len(page.all("#relevance-bars li")) == 12
    page.click("#relevance-more")
    assert len(page.all("#relevance-bars li")) == 60
    page.screenshot("many-1200")


@pytest.mark.parametrize("width", [1200, 375])
@pytest.mark.parametrize("name", ["many", "training", "awkward", "large", "narrow", "tight"])
def test_ticks_of_small_charts_can_be_read(page, name, width):
    page.open(name, width=width)
    charts = page.js("""
        return [...document.querySelectorAll("#parameters-charts svg[role]")].map((chart) => {
            const labels = [...chart.querySelectorAll("text.up, text.across")];
            const box = (text) => text.getBoundingClientRect();
            const frame = chart.getBoundingClientRect();
            const texts = (kind) => [...chart.querySelectorAll(`text.${kind}`)].map((text) => text.textContent);
            const apart = (a, b) => box(a).right + 2 < box(b).left || box(b).right + 2 < box(a).left
                || box(a).bottom <= box(b).top + 3 || box(b).bottom <= box(a).top + 3;
            return {
                across: texts("across"), up: texts("up"), apart: labels.every((a) => labels.every((b) => a === b || apart(a, b))),
                inside: labels.every((text) => box(text).left >= frame.left - 1 && box(text).right <= frame.right + 1),
                share: chart.querySelector(".gridline").getBoundingClientRect().width / frame.width,
            };
        })""")
    assert len(charts) == len(page.data["parameters"])
    for chart, parameter in zip(charts, page.data["parameters"]):
        ends = [number(label) for label in chart["across"][:2]]
        assert ends == pytest.approx([parameter["low"], parameter["high"]], rel=1e-3, abs=1e-15), "both ends of the range are there"
        for labels in (chart["across"], chart["up"]):
            assert len(labels) >= 2 and len(set(labels)) == len(labels) and max(map(len, labels)) <= 8, chart
        assert chart["apart"] and chart["inside"] and chart["share"] > 0.7, chart


def number(label):
    """The number that a tick's label says: 0.5, 1e-12 or 10⁻⁴."""
    if set(label) & set("⁰¹²³⁴⁵⁶⁷⁸⁹"):
        return 10.0 ** int(label[2:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    return float(label)


def test_values_that_hardly_differ_are_counted_from_what_they_have_in_common(page):
    page.open("tight")
    assert page.text("#parameters-charts svg text:not(.up):not(.across):not([text-anchor])").startswith("value − 100000")


def luminance(colour):
    channels = [int(channel) / 255 for channel in colour[colour.index("(") + 1:-1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page, selector, background):
    front, back = (luminance(page.js("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", *of))
                   for of in [(selector, "color"), (background, "backgroundColor")])
    return (max(front, back) + 0.05) / (min(front, back) + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast_in_light_and_dark(page, dark):
    page.open("rosenbrock", dark=dark)
    ground = luminance(page.js("return getComputedStyle(document.body).backgroundColor"))
    assert ground < 0.02 if dark else ground > 0.9
    pairs = [("h1", "body"), (".about", "body"), (".brand", "body"), (".note", "#region"), (".best .value", ".best"),
             (".best .label", ".best"), ("td .status", "#evaluations"), (".toggle input:checked + span",) * 2, ("#play",) * 2]
    assert {pair[0]: contrast(page, *pair) for pair in pairs if contrast(page, *pair) < 4.5} == {}
    marks = page.js("return getComputedStyle(document.querySelector('#convergence .dots')).stroke")
    assert (luminance(marks) > ground) == dark
    if dark:
        page.screenshot("rosenbrock-dark")


def test_paper_is_white_also_for_readers_in_the_dark(page):
    page.open("rosenbrock", dark=True, media="print")
    assert luminance(page.js("return getComputedStyle(document.body).color")) < 0.1
    assert not page.visible("nav") and not page.visible(".player")
    assert page.visible("#convergence svg") and page.visible("#table")
    printed = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF") and len(printed) > 20_000


def test_every_control_and_chart_has_a_name(page):
    for name in SAMPLES:
        nameless = page.open(name).js("""
            const named = (node) => node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim();
            return [...document.querySelectorAll("button, input, select, svg[role], [role=region]")].filter((node) => !node.closest("[hidden]"))
                .filter((node) => !named(node) && !node.getAttribute("aria-labelledby")).map((node) => node.outerHTML)""")
        assert nameless == []
        assert page.js("const ids = [...document.querySelectorAll('[id]')].map((n) => n.id); return ids.length - new Set(ids).size") == 0


def test_works_without_a_mouse(page):
    page.open("rosenbrock")
    chart = page.find("#convergence svg[role]")
    page.js("arguments[0].focus()", chart)
    chart.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.text("#live").startswith("Evaluation 2: ")
    assert page.visible("#tip") and "evaluation 2" in page.text("#tip")
    chart.send_keys(Keys.END)
    assert page.text("#live").startswith("Evaluation 149: ")
    chart.send_keys(Keys.ESCAPE)
    assert not page.visible("#tip")
    head = page.find("#table th[data-column='value'] button")
    page.js("arguments[0].focus()", head)
    head.send_keys(Keys.ENTER)
    assert page.find("#table th[data-column='value']").get_attribute("aria-sort") == "ascending"
    slider = page.find("#step")
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert page.text("#step-text").startswith("Step 3 of")


def test_thousands_of_evaluations_open_quickly(page):
    before = page.open("empty").processor_seconds()
    page.open("large")
    assert len(page.data["evaluations"]) == 5000
    opened = page.processor_seconds()
    assert 0 < opened - before < 5
    page.js("""document.querySelector("#table th[data-column=value] button").click();
        const filter = document.getElementById("filter");
        filter.value = "x0 > 1"; filter.dispatchEvent(new Event("input"));
        document.querySelector("#value-scale input:not(:checked)").click()""")
    assert page.processor_seconds() - opened < 3
