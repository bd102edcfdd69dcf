"""Constraints on the page: what violates one is told apart, and is never the best."""

import pytest


def feasible(page):
    return [e for e in page.data["evaluations"] if e["value"] is not None and all(excess <= 0 for excess in e["constraints"])]


def infeasible(page):
    return [e for e in page.data["evaluations"] if e["value"] is not None and any(excess > 0 for excess in e["constraints"])]


def test_marks_tell_what_violates_a_constraint(page):
    page.open("constrained")
    good, bad, without = len(feasible(page)), len(infeasible(page)), len(page.failed())
    assert min(good, bad, without) > 2
    for chart in ["#convergence-chart", "#parameters-charts figure:nth-child(1)"]:
        assert page.marks(f"{chart} .dots") == good
        assert page.marks(f"{chart} .infeasible") == bad
        assert page.marks(f"{chart} .crosses") == without
    assert page.marks("#parallel-chart .lines.infeasible") == bad
    assert page.marks("#parallel-chart .lines") == good + bad + without
    page.js("const last = document.getElementById('step'); last.value = last.max; last.dispatchEvent(new Event('input'))")
    assert page.marks("#map-chart .infeasible") > 0
    assert "violates a constraint" in page.text("#convergence-legend")
    assert page.text("#limits") == "Constraints: x + y <= 3, kept by every suggestion · mass <= 1.5, measured · mass >= 0.01, measured"


def test_the_best_is_the_best_that_meets_the_constraints(page):
    page.open("constrained")
    best = page.data["evaluations"][page.data["best"]]
    assert best["value"] == min(e["value"] for e in feasible(page))
    assert best["value"] > min(page.values())
    assert float(page.text("#best-card .value")) == pytest.approx(best["value"], rel=1e-7)
    assert f"Lowest value of {len(feasible(page))} feasible evaluations, at evaluation {best['id']}" in page.text("#best-card")
    assert f"Feasible{len(feasible(page))} of {len(page.data['evaluations'])}" in page.text("#facts")
    broken = [k for k in page.failed() if not page.data["evaluations"][k]["constraints"]]
    assert 0 < len(broken) < len(page.failed()) and f"Failures{len(broken)} " in page.text("#facts")
    lowest = page.js("""const line = document.querySelector("#convergence-chart .best-line").getAttribute("d");
        return Math.max(...[...line.matchAll(/V([0-9.]+)/g)].map(([, level]) => Number(level)))""")
    dots = page.js("""return document.querySelector("#convergence-chart .dots").getAttribute("d").split("M").slice(1)
        .map((mark) => Number(mark.replace("h0", "").split(" ")[1]))""")
    assert lowest == pytest.approx(max(dots), abs=0.2)


def test_the_table_shows_and_filters_feasibility(page):
    page.open("constrained")
    assert set(page.column("feasible")) == {"yes", "no", ""}
    page.type("#filter", "status!=ok")
    assert set(page.column("feasible")) == {"no", ""}  # without a value where a limit is violated; failed
    page.type("#filter", "feasible=yes")
    assert page.text("#rows").endswith(f"of {len(feasible(page))} ({len(page.data['evaluations'])} in all)")
    assert set(page.column("feasible")) == {"yes"}
    assert all(float(text) <= 0 for text in page.column("mass <= 1.5"))
    page.type("#filter", '"mass <= 1.5" > 0')
    assert set(page.column("feasible")) == {"no"}


def test_without_a_feasible_evaluation_the_least_violated_is_shown(page):
    page.open("astray")
    least = page.data["evaluations"][page.data["best"]]
    card = page.text("#best-card")
    assert "No evaluation satisfies the constraints yet" in card
    assert f"at evaluation {least['id']}: mass <= 1.5 by " in card
    assert page.visible("#convergence") and page.marks("#convergence-chart .infeasible") == len(infeasible(page))
    assert not page.all("#convergence-chart .best-line") and not page.all("#convergence-chart .best-dot")
    assert page.marks("#convergence-chart .dots") == 0
    assert "best so far" not in page.text("#convergence-legend")
