"""The charts show the data: as many marks as evaluations, and each where it belongs."""

import collections
import json
import re

import pytest
from conftest import PAGES
from selenium.webdriver import ActionChains


@pytest.mark.parametrize("name", ["rosenbrock", "training", "large", "awkward", "single"])
def test_as_many_marks_as_evaluations(page, name):
    page.open(name)
    good, bad = len(page.values()), len(page.failed())
    assert page.marks("#convergence-chart .dots") == good
    assert page.marks("#convergence-chart .crosses") == bad
    assert page.marks("#convergence-chart .best-line") == 1
    assert len(page.all("#convergence-chart .restart")) == len(page.data["restarts"])
    hosts = len(page.all("#parameters-charts .chart"))
    assert hosts == len(page.data["parameters"])
    for k in range(1, hosts + 1):
        chart = f"#parameters-charts figure:nth-child({k})"
        assert page.marks(f"{chart} .dots") == good
        assert page.marks(f"{chart} .crosses") == bad
    if hosts > 1:
        assert page.marks("#parallel-chart .lines") == good + bad
        assert page.marks("#parallel-chart .lines.failed") == bad
        assert len(page.all("#parallel-chart .grip")) == hosts + (0 if page.find("[value=log]").is_selected() and min(page.values()) <= 0 else 1)


def test_only_failures_still_have_lines(page):
    page.open("failures")
    assert page.marks("#parallel-chart .lines.failed") == 60
    assert page.marks("#parallel-chart .lines") == 60


def test_marks_stand_where_the_values_are(page):
    page.open("rosenbrock")
    places = page.js("""return document.querySelector("#convergence-chart .dots").getAttribute("d").split("M").slice(1)
        .map((mark) => mark.replace("h0", "").split(" ").map(Number))""")
    values = page.values()
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    by_height = sorted(range(len(values)), key=lambda k: -places[k][1])
    by_value = sorted(range(len(values)), key=lambda k: values[k])
    assert max(abs(places[a][1] - places[b][1]) for a, b in zip(by_height, by_value)) <= 0.1
    best = page.js("return document.querySelector('#convergence-chart .best-dot').getBBox().y")
    assert best == pytest.approx(max(y for _, y in places) - 6, abs=0.2)


def test_the_best_so_far_only_improves(page):
    page.open("training")
    page.click("#value-scale label:first-of-type")
    levels = page.js("""return [...document.querySelector("#convergence-chart .best-line").getAttribute("d").matchAll(/V([0-9.]+)/g)]
        .map(([, level]) => Number(level))""")
    assert len(levels) > 3 and levels == sorted(levels, reverse=True)  # upwards on the page: a maximum


def test_log_scale_can_be_switched(page):
    page.open("rosenbrock")
    assert page.find("[value=log]").is_selected()
    labels = "return [...document.querySelectorAll('#convergence-chart text')].map((label) => label.textContent)"
    assert "10⁴" in page.js(labels)
    page.click("#value-scale label:first-of-type")
    assert "10⁴" not in page.js(labels) and "400000" in page.js(labels)
    assert page.marks("#convergence-chart .dots") == len(page.values())
    page.open("training")
    assert page.find("[value=log]").is_selected() and "distance to the best value" in page.js(labels)
    assert not page.open("awkward").visible("#value-scale"), "a constant has no log scale"


def test_relevance_bars(page):
    page.open("training")
    shares = page.js("return [...document.querySelectorAll('#relevance-bars .share')].map((share) => parseFloat(share.textContent))")
    assert shares == pytest.approx([100 * share for share in sorted(page.data["relevance"], reverse=True)], abs=0.5)
    widths = page.js("return [...document.querySelectorAll('#relevance-bars .bar')].map((bar) => bar.getBoundingClientRect().width)")
    assert widths == sorted(widths, reverse=True) and widths[0] > 0


def test_what_is_expected_and_how_sure_it_is(page):
    page.open("noisy")
    assert [text.split(" ± ")[1] for text in page.js("return [...document.querySelectorAll('#relevance-bars .share')].map((share) => share.textContent)")] == ["6%", "5%"]
    assert len(page.all("#parameters-charts .expected")) == len(page.all("#parameters-charts .expected-band")) == 2
    cells = page.js("return [...document.querySelectorAll('#expected-chart .cells')].map((step) => (step.getAttribute('d').match(/Z/g) ?? []).length)")
    assert sum(cells) == 31 * 31 and max(cells) - min(cells) < 31 * 31 // 4
    # The line around what may be as good lies around the recommended point, and not around all of the map.
    line, star, whole = (page.js(f"return document.querySelector('#expected-chart {name}').getBoundingClientRect()") for name in (".may-be", ".best-dot", ".fill-0"))
    assert line["left"] < star["left"] and star["right"] < line["right"] and line["top"] < star["top"] and star["bottom"] < line["bottom"]
    assert line["width"] < 0.5 * whole["width"]
    page.screenshot("expected")


def test_the_line_around_what_may_be_as_good_is_closed_at_the_edge_of_the_map(page):
    page.open("noisy")
    page.data["map"]["std"] = [[1e6 if k % 2 else std for std in row] for k, row in enumerate(page.data["map"]["std"])]
    text, data = (PAGES / "noisy.html").read_text(), json.dumps(page.data).replace("<", "\\u003c")
    changed, found = re.subn(r'(<script[^>]* id="data"[^>]*>).*?(</script>)', lambda part: part[1] + data + part[2], text, flags=re.DOTALL)
    assert found == 1
    (PAGES / "uncertain.html").write_text(changed)
    page.open("uncertain")
    ends = collections.Counter()
    for x, y, way, to in re.findall(r"M(\S+) ([^HV]+)([HV])([^M]+)", page.js("return document.querySelector('#expected-chart .may-be').getAttribute('d')")):
        ends.update([(float(x), float(y)), (float(to), float(y)) if way == "H" else (float(x), float(to))])
    assert ends and all(count % 2 == 0 for count in ends.values())


def test_half_widths_break_at_restarts(page):
    page.open("rosenbrock")
    assert len(page.all("#widths-chart .width:not(.mean)")) == 2
    assert len(page.data["restarts"]) == 1
    assert page.marks("#widths-chart .width.mean") == 2
    points = page.js("return document.querySelector('#widths-chart .mean').getAttribute('d').match(/[ML]/g).length")
    assert points == len(page.data["trust_regions"])
    assert len(page.all("#restarts-list li")) == 1 and page.data["restarts"][0]["cause"] in page.text("#restarts-list")


def test_curves_stay_in_their_frame(page):
    page.open("gaps")
    for curve in ("#widths-chart .width.mean", "#convergence-chart .best-line"):
        inside = page.js("""const [line, axis] = [document.querySelector(arguments[0]), document.querySelector(arguments[0]).closest("svg").querySelector(".axis")];
            return line.getBBox().x >= axis.getBBox().x && line.getBBox().x + line.getBBox().width <= axis.getBBox().x + axis.getBBox().width""", curve)
        assert inside, curve


def test_boxes_can_be_stepped_and_played(page):
    page.open("rosenbrock")
    steps = len(page.data["trust_regions"])
    box = "return document.querySelector('#map-chart .box').getAttribute('d')"
    seen = [page.js(box)]
    assert page.text("#step-text").startswith(f"Step 1 of {steps}, after 5 evaluations")
    assert not page.find("#step-back").is_enabled()
    for number in (2, 3, 4):
        page.click("#step-on")
        seen.append(page.js(box))
        known = page.data["trust_regions"][number - 1]["at_evaluation"]
        assert page.text("#step-text").startswith(f"Step {number} of {steps}, after {known} evaluations")
        failed = sum(k < known for k in page.failed())
        assert page.marks("#map-chart .dots") == known - failed and page.marks("#map-chart .crosses") == failed
        assert len(page.all("#map-chart .trail")) == number - 1
    assert len(set(seen)) == 4 and all(path.count("L") == 3 for path in seen)
    page.click("#step-back")
    assert page.js(box) == seen[2]
    page.js("""window.watcher = new MutationObserver(() => {
        if (document.getElementById("step").value < 7) return;
        watcher.disconnect();
        window.whilePlaying = document.getElementById("play").textContent;
        document.getElementById("play").click();
    });
    watcher.observe(document.getElementById("step-text"), { childList: true, characterData: true, subtree: true })""")
    page.click("#play")
    page.until(lambda: page.js("return window.whilePlaying") == "Pause" and page.text("#play") == "Play")
    assert int(page.find("#step").get_property("value")) == 7 < steps - 1
    page.js("const slider = document.getElementById('step'); slider.value = slider.max; slider.dispatchEvent(new Event('input'))")
    assert page.text("#step-text").startswith(f"Step {steps} of {steps}")
    assert not page.find("#step-on").is_enabled()


def test_boxes_have_their_corners_and_a_close_up(page):
    page.open("rosenbrock")
    page.js("const slider = document.getElementById('step'); slider.value = 55; slider.dispatchEvent(new Event('input'))")
    size = "const { width, height } = document.querySelector(arguments[0]).getBBox(); return Math.max(width, height)"
    assert page.js(size, "#map-chart .box") < 15 and page.js(size, "#close-chart .box") > 80
    corners = page.data["trust_regions"][55]["corners"]
    drawn = page.js("""return document.querySelector("#map-chart .box").getAttribute("d").slice(1, -1).split("L")
        .map((corner) => corner.split(" ").map(Number))""")
    scale = page.js("""const plot = document.querySelector("#map-clip rect"), of = (name) => Number(plot.getAttribute(name));
        return { left: of("x") + 6, right: of("x") + of("width") - 6, top: of("y") + 6, bottom: of("y") + of("height") - 6 }""")
    for (x, y), (px, py) in zip(corners, drawn):
        assert px == pytest.approx(scale["left"] + (x + 5) / 15 * (scale["right"] - scale["left"]), abs=0.2)
        assert py == pytest.approx(scale["bottom"] - (y + 5) / 15 * (scale["bottom"] - scale["top"]), abs=0.2)


def test_a_very_narrow_box_is_measured_from_its_centre(page):
    page.open("narrow")
    labels = "return [...document.querySelectorAll('#close-chart text')].map((label) => label.textContent)"
    assert "gap, from the centre" in page.js(labels) and "load" in page.js(labels)
    width = page.js("return document.querySelector('#close-chart .box').getBBox().width")
    assert 60 < width < 400
    page.js("const slider = document.getElementById('step'); slider.value = slider.max; slider.dispatchEvent(new Event('input'))")
    assert "NaN" not in page.js("return document.getElementById('region').innerHTML")


def test_pointing_at_a_mark_tells_what_it_is(page):
    page.open("rosenbrock")
    chart = page.find("#convergence svg[role]")
    page.js("arguments[0].scrollIntoView({block: 'center'})", chart)
    place = page.js("""const { x, y, width, height } = document.querySelector("#convergence-chart .best-dot").getBoundingClientRect();
        return [Math.round(x + width / 2), Math.round(y + height / 2)]""")
    actions = ActionChains(page.driver)
    actions.w3c_actions.pointer_action.move_to_location(*place)
    actions.perform()
    best = page.data["evaluations"][page.data["best"]]["id"]
    assert page.visible("#tip") and f"evaluation {best}" in page.text("#tip")
    marked = page.js("return [...document.querySelectorAll('.halo')].filter((halo) => halo.getAttribute('d')).map((halo) => halo.closest('.chart').id)")
    assert "convergence-chart" in marked and "parallel-chart" in marked and len(marked) >= 4
    actions.click().perform()
    page.find("#tip button").click()
    assert page.column("id")[best % 50] == str(best)
    assert page.js("return document.activeElement.dataset.index") == str(best)
    assert "converged after" in page.text("#table td.detail")


def test_a_brush_filters_lines_and_table(page):
    page.open("training")
    grip = page.find("#parallel-chart .grip")
    page.js("arguments[0].scrollIntoView({block: 'center'})", grip)
    ActionChains(page.driver).move_to_element_with_offset(grip, 0, -20).click_and_hold().move_by_offset(0, 60).release().perform()
    text = page.find("#filter").get_property("value")
    low, high = (float(part.split("=")[1]) for part in text.split(" "))
    assert text.startswith("learning_rate>=") and low < high
    inside = [evaluation for evaluation in page.data["evaluations"] if low <= evaluation["x"][0] <= high]
    assert 0 < len(inside) < 300
    assert page.text("#rows").endswith(f"of {len(inside)} (300 in all)")
    assert page.marks("#parallel-chart .lines.muted") == 300 - len(inside)
    assert page.marks("#parallel-chart .lines") == 300
    page.click("#parallel-clear")
    assert page.find("#filter").get_property("value") == "" and page.marks("#parallel-chart .lines.muted") == 0


def test_charts_follow_the_width_of_the_window(page):
    page.open("rosenbrock")
    wide = page.js("return document.querySelector('#convergence-chart svg').viewBox.baseVal.width")
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 500, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    page.until(lambda: page.js("return document.querySelector('#convergence-chart svg').viewBox.baseVal.width") < 500 < wide)
    assert page.overflow() == 0
