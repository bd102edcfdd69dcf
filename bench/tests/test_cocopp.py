"""COCO's own data and post-processing see the same runs as our scorer.

cocopp keeps evaluations for a grid of targets only, five to a decade, and `DataSet.detEvals` answers for the next grid
value below the one asked. The targets of the measure lie on a grid of 25 to a decade. So the two are compared on
both: with cocopp's grid refined to 25 they must agree as they are, and with its own grid once our targets are taken
down to it.
"""

import math

import pytest

from labcat_bench.algorithms import algorithm
from labcat_bench.coco import plan
from labcat_bench.coco_problems import coco_problems
from labcat_bench.results import ResultsFile
from labcat_bench.runner import run_all
from labcat_bench.scoring import evaluations_to_targets, targets

FUNCTIONS, DIMS, INSTANCES = [1, 5, 8, 15, 21], [2, 3], [1, 2, 3]


@pytest.fixture(scope="module", params=["labcat-paper", "random", "bobyqa"])
def observed(request, tmp_path_factory):
    """Records of an algorithm, and the folder of what COCO's logger wrote meanwhile."""
    path = tmp_path_factory.mktemp("observed")
    problems = coco_problems("bbob", DIMS, FUNCTIONS, INSTANCES, observer=str(path / "exdata"))
    runs = plan([algorithm(request.param)], problems, seed=1)
    records = run_all(runs, ResultsFile(path / "results.jsonl"), show_progress=False)
    (folder,) = (path / "exdata").iterdir()
    return {(r["f"], r["d"], r["i"]): r for r in records}, folder


def grid_below(target, points):
    """The largest 10^(k / points) that is not above the target."""
    return 10 ** (math.floor(math.log10(target) * points + 1e-6) / points)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("points", [25, 5])
def test_evaluations_to_targets_agree_with_cocopp(observed, monkeypatch, points):
    import cocopp
    from cocopp import testbedsettings

    monkeypatch.setitem(testbedsettings.GECCOBBOBTestbed.settings, "number_of_points", points)
    monkeypatch.setattr(testbedsettings, "current_testbed", None)  # made anew from these settings
    records, folder = observed
    data = cocopp.load(str(folder))
    assert {(ds.funcId, ds.dim) for ds in data} == {(f, d) for f in FUNCTIONS for d in DIMS}
    reached = 0
    for ds in data:
        assert sorted(ds.instancenumbers) == INSTANCES
        wanted = targets("bbob", ds.funcId, ds.dim)
        asked = wanted if points == 25 else [grid_below(t, points) for t in wanted]
        theirs = ds.detEvals(wanted)  # target → instance
        for column, instance in enumerate(ds.instancenumbers):
            record = records[ds.funcId, ds.dim, instance]
            mine = evaluations_to_targets(record["trace"], asked)
            assert list(mine) == [math.inf if math.isnan(row[column]) else row[column] for row in theirs]
            assert ds.maxevals[column] <= record["evaluations"] == 200 * ds.dim  # cocopp stops counting at 1e-8
            reached += sum(map(math.isfinite, mine))
    assert reached > 300
