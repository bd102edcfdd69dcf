"""What a notebook shows, in a real kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = {
    "run": """
import labcat

def fun(x):
    if x[0] > 0.5:
        raise ArithmeticError("too <b>hot</b>")
    return float((x[0] - 0.3) ** 2 + x[1] ** 2)

result = labcat.minimize(fun, [(-1, 1)] * 2, budget=40, rng=1, on_error="fail", progress=True)
""",
    "plot": "result.plot()",
    "result": "result",
    "optimizer": "result.optimizer",
    "fresh": "labcat.Optimizer([(0, 1)])",
    "parallel": """
scale = 2.0

def bowl(x):
    return scale * float(x @ x)

labcat.minimize(bowl, [(-1, 1)] * 2, budget=6, rng=1, workers=2).nfev
""",
}


@pytest.fixture(scope="module")
def outputs():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in CELLS.values()]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MPLBACKEND", raising=False)  # a notebook has one of its own
        NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells)}


def html(outputs):
    [output] = outputs
    return output.data["text/html"]


def test_the_progress_is_one_bar_that_is_redrawn(outputs):
    shown = html(outputs["run"])
    assert '<progress value="40" max="40"' in shown and "40/40 evaluations, best " in shown


def test_a_plot_is_shown_once(outputs):
    images = [output for output in outputs["plot"] if "image/png" in output.get("data", {})]
    assert len(images) == 1 == len(outputs["plot"])


def test_a_result_is_shown_as_a_table_with_its_failures(outputs):
    shown = html(outputs["result"])
    assert "the budget of 40 evaluations is used up" in shown and "<svg" in shown
    assert "× ArithmeticError: too &lt;b&gt;hot&lt;/b&gt;" in shown and "<b>hot" not in shown
    assert "x0 = 0.3" in shown


def test_an_optimizer_is_shown_as_a_table(outputs):
    assert "ended (budget)" in html(outputs["optimizer"])
    assert "0 points pending" in html(outputs["fresh"]) and "<svg" not in html(outputs["fresh"])


def test_functions_of_a_notebook_run_in_worker_processes(outputs):
    assert outputs["parallel"][-1].data["text/plain"] == "6"
