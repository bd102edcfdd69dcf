"""The table of evaluations: sorted, filtered, paged."""

import pytest


def numbers(texts):
    return [float(text) for text in texts if text != "–"]


def test_rows_are_in_the_order_of_their_numbers(page):
    page.open("rosenbrock")
    assert page.column("id") == [str(k) for k in range(50)]
    for name, of in [("value", lambda e: e["value"]), ("x", lambda e: e["x"][0]), ("y", lambda e: e["x"][1])]:
        told = [of(evaluation) for evaluation in page.data["evaluations"][:50] if of(evaluation) is not None]
        assert numbers(page.column(name)) == pytest.approx(told, rel=1e-5)


def test_sorting(page):
    page.open("rosenbrock")
    head = "#table th[data-column='value']"
    page.click(f"{head} button")
    assert page.find(head).get_attribute("aria-sort") == "ascending"
    assert numbers(page.column("value")) == pytest.approx(sorted(page.values())[:50], rel=1e-5)
    assert page.column("id")[0] == str(page.data["evaluations"][page.data["best"]]["id"])
    page.click(f"{head} button")
    assert page.find(head).get_attribute("aria-sort") == "descending"
    assert numbers(page.column("value")) == pytest.approx(sorted(page.values(), reverse=True)[:50], rel=1e-5)
    page.click("#next")
    page.click("#next")
    missing = len(page.failed())
    assert page.column("value")[-missing:] == ["–"] * missing, "what has no value comes last"
    page.click("#table th[data-column='status'] button")
    assert page.column("status") == sorted(evaluation["status"] for evaluation in page.data["evaluations"])[:50]
    assert page.find(head).get_attribute("aria-sort") == "none"


def test_paging(page):
    page.open("large")
    assert page.text("#rows") == "1–50 of 5,000" and not page.find("#previous").is_enabled()
    page.click("#next")
    assert page.text("#rows") == "51–100 of 5,000" and page.column("id")[0] == "50"
    page.click("#previous")
    assert page.column("id")[0] == "0"


@pytest.mark.parametrize("text, meant", [
    ("x > 1", lambda e: e["x"][0] > 1),
    ("x>=1 y<2", lambda e: e["x"][0] >= 1 and e["x"][1] < 2),
    ("value <= 1.5", lambda e: e["value"] is not None and e["value"] <= 1.5),
    ("id = 17", lambda e: e["id"] == 17),
    ("status=timeout", lambda e: e["status"] == "timeout"),
    ("status=failed exit", lambda e: e["message"] == "exit status 1"),
    ("FloatingPointError", lambda e: "FloatingPointError" in e["stderr"]),
    ("nothing-says-this", lambda e: False),
])
def test_filtering(page, text, meant):
    page.open("rosenbrock")
    page.type("#filter", text)
    expected = [str(evaluation["id"]) for evaluation in page.data["evaluations"] if meant(evaluation)]
    assert page.column("id") == expected[:50]
    assert ("none" if not expected else f"of {len(expected)} (150 in all)") in page.text("#rows")
    assert page.text("#filter-problem") == ""
    assert page.marks("#parallel-chart .lines.muted") == 150 - len(expected)


def test_a_wrong_filter_says_what_is_wrong(page):
    page.open("rosenbrock")
    page.type("#filter", "z > 1")
    assert page.text("#filter-problem") == "There is no column “z”; there are: id, value, status, x, y, seconds."
    assert len(page.column("id")) == 50
    page.type("#filter", "x > many")
    assert page.text("#filter-problem") == "“many” is not a number to compare x with."


def test_status_can_be_chosen(page):
    page.open("rosenbrock")
    page.js("const choice = document.getElementById('status'); choice.value = 'failed'; choice.dispatchEvent(new Event('change'))")
    count = sum(evaluation["status"] == "failed" for evaluation in page.data["evaluations"])
    assert page.column("status") == ["failed"] * count and count > 1
    page.type("#filter", "x > 1")
    both = sum(evaluation["status"] == "failed" and evaluation["x"][0] > 1 for evaluation in page.data["evaluations"])
    assert len(page.column("status")) == both


def test_rows_show_what_the_program_said(page):
    page.open("rosenbrock")
    page.click("#table tbody tr:nth-child(2) button")
    assert page.text("#table td.detail pre") == page.data["evaluations"][1]["stdout"]
    assert page.find("#output-1").get_attribute("aria-expanded") == "true"
    page.click("#output-1")
    assert page.all("#table td.detail") == []
