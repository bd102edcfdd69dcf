"""`labcat_bench.compare` on a toy function."""

import pytest

import labcat_bench
from labcat_bench.comparison import FunctionReference
from labcat_bench.objective import ObjectiveError

BOUNDS = [(-2.0, 2.0), (-1.0, 3.0)]


def bowl(x):
    return float((x[0] - 0.5) ** 2 + 3 * (x[1] - 1.2) ** 2) + 7.0


def test_table_test_and_curves(tmp_path):
    found = labcat_bench.compare(bowl, BOUNDS, 40, ["labcat", "random", "bobyqa"], repeats=8)
    values = found.final_values
    assert {name: len(v) for name, v in values.items()} == {"LABCAT (default)": 8, "random": 8, "BOBYQA": 8}
    assert all(v >= 7.0 for v in values["random"])
    assert max(values["LABCAT (default)"]) < min(values["random"])
    rows = {line.split("|")[1].strip(): line for line in str(found).splitlines() if line.startswith("| ")}
    assert "| + " in rows["random"].replace("    +", " +").replace("   +", " +")
    assert "0.05/2 = 0.025" in str(found)
    assert len(found.figure().axes[0].lines) == 3
    found.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"compare.png", "compare.svg", "summary.json", "summary.md"}


def test_a_known_minimum_gives_regrets():
    found = labcat_bench.compare(bowl, BOUNDS, 60, ["labcat"], repeats=2, minimum=7.0)
    assert all(0 <= v < 1e-6 for v in found.final_values["LABCAT (default)"])
    assert "regret" in str(found)


def test_finished_repeats_are_kept(tmp_path):
    calls = []

    def counted(x):
        calls.append(1)
        return bowl(x)

    path = tmp_path / "results.jsonl"
    labcat_bench.compare(counted, BOUNDS, 10, ["random"], repeats=3, results=path)
    assert len(calls) == 30
    labcat_bench.compare(counted, BOUNDS, 10, ["random"], repeats=5, results=path)
    assert len(calls) == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BOUNDS, 0), "at least 1, not 0"),
        (([(1.0, 1.0)], 5), "low < high"),
        ((BOUNDS, 5, ["nothing"]), "unknown peer 'nothing'"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        labcat_bench.compare(bowl, *arguments)


def test_an_objective_that_raises_reaches_the_user():
    def broken(x):
        raise RuntimeError("no licence left")

    with pytest.raises(ObjectiveError, match="no licence left") as caught:
        labcat_bench.compare(broken, BOUNDS, 5, ["random"], repeats=1)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_functions_by_reference(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def f(x):\n    return x[0] + 1\n")
    mine = FunctionReference(f"{file}:f")
    assert mine([2.0]) == 3.0
    before = mine.digest
    file.write_text("def f(x):\n    return x[0] + 2\n")
    assert mine.digest != before
    assert FunctionReference("math:fsum")([1.0, 2.0]) == 3.0
    assert FunctionReference("sphere")([1.0, 2.0]) == 5.0
    for wrong in ("nothing", f"{file}:g", "no_such_module:f", f"{tmp_path}/none.py:f"):
        with pytest.raises(ValueError, match=r"unknown function|cannot load"):
            FunctionReference(wrong)
