"""A fit to data on the page: data, model and residuals at the best point, and the parameters with their standard errors."""

import pytest


def test_data_model_and_residuals_are_drawn(page):
    page.open("fitted")
    fit = page.data["fit"]
    captions = [figure.text.split("\n")[0] for figure in page.all("#fit-charts figcaption")]
    assert captions == ["Data and model: concentration", "Residuals: concentration", "Residuals"]
    first = "#fit-charts figure:nth-child(1)"
    assert page.marks(f"{first} .dots") == len(fit["series"][0]["data"])
    assert page.marks(f"{first} .noise") == len(fit["series"][0]["error"])
    line = page.js(f"return document.querySelector('{first} .best-line').getAttribute('d')")
    assert line.count("L") == len(fit["series"][0]["model"]) - 1
    assert page.marks("#fit-charts figure:nth-child(2) .dots") == len(fit["series"][0]["residuals"])
    assert "time" in page.text(first) and "row" in page.text("#fit-charts figure:nth-child(3)")
    # A residual above zero lies above the line of zero.
    place = page.js("""const chart = document.querySelector("#fit-charts figure:nth-child(3)");
        const dots = chart.querySelector(".dots").getAttribute("d").split("M").slice(1).map((mark) => Number(mark.replace("h0", "").split(" ")[1]));
        return [dots, Number(chart.querySelector(".width").getAttribute("d").split(" ")[1].split("H")[0])]""")
    assert [level < place[1] for level in place[0]] == [True, False, True]


def test_parameters_have_their_standard_errors(page):
    page.open("fitted")
    shown = page.text("#fit-parameters")
    best = page.data["evaluations"][page.data["best"]]["x"]
    amplitude = shown.split("amplitude")[1].split("rate")[0]
    value, error = amplitude.split("±")
    assert float(value) == pytest.approx(best[0], rel=1e-6) and float(error) == 0.041
    assert "±" not in shown.split("rate")[1]
    assert "43 residuals at evaluation" in page.text("#fit-note") and "1.02" in page.text("#fit-note")


def test_other_studies_have_no_such_panel(page):
    page.open("rosenbrock")
    assert not page.find("#fit").is_displayed()
