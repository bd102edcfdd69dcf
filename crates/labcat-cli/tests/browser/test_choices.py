"""Categories, integers, booleans and parameters that do not always apply."""

SOLVERS = ["lu", "qr", "conjugate gradients"]


def test_choices_have_axes_of_labels(page):
    page.open("choices")
    assert [parameter["labels"] for parameter in page.data["parameters"]] == [SOLVERS, [], [], ["false", "true"]]
    ticks = page.js("return [...document.querySelectorAll('#parallel-chart .label-tick')].map((tick) => tick.textContent)")
    assert ticks[0] == "lu" and ticks[1] == "qr" and ticks[2].startswith("conj") and ticks[3:] == ["false", "true"]
    texts = "return [...document.querySelectorAll(arguments[0])].map((text) => text.textContent)"
    for k, labels in ((1, ["lu", "qr"]), (4, ["false", "true"])):
        shown = page.js(texts, f"#parameters-charts figure:nth-child({k}) text.across")
        assert shown[: len(labels)] == labels and not any(text[0].isdigit() for text in shown), shown
    assert page.overflow() == 0
    page.screenshot("choices")


def test_marks_of_a_choice_stand_at_its_labels(page):
    page.open("choices")
    places = page.js("""return document.querySelector("#parameters-charts figure:nth-child(1) .dots").closest("svg")
        .querySelectorAll(".dots").values().toArray().flatMap((dots) => dots.getAttribute("d").split("M").slice(1))
        .map((mark) => Number(mark.split(" ")[0]))""")
    assert len(set(places)) == 3


def test_lines_leave_out_what_does_not_apply(page):
    page.open("choices")
    applies = [evaluation["x"][1] is not None for evaluation in page.data["evaluations"]]
    assert 0 < sum(applies) < len(applies)
    assert page.marks("#parallel-chart .lines") == len(applies)
    good = sum(evaluation["x"][1] is not None and evaluation["value"] is not None for evaluation in page.data["evaluations"])
    assert page.marks("#parameters-charts figure:nth-child(2) .dots") == good
    charts = page.js("return ['parallel', 'parameters', 'region'].map((id) => document.getElementById(id).innerHTML).join()")
    assert charts and "NaN" not in charts


def test_the_table_has_the_labels(page):
    page.open("choices")
    assert set(page.column("solver")) <= set(SOLVERS)
    assert {"false", "true"} >= set(page.column("reorder"))
    best = page.data["evaluations"][page.data["best"]]
    assert SOLVERS[int(best["x"][0])] == "qr"
    page.type("#filter", "solver=qr")
    page.until(lambda: set(page.column("solver")) == {"qr"})


def test_half_widths_of_what_the_region_bounds(page):
    page.open("choices")
    assert len(page.all("#widths-chart .width:not(.mean)")) == 2
