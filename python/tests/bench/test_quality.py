"""What the preset `default` reaches on a small part of `bbob`, so that no change makes it worse unnoticed.

Seven seeds of the first version lay at .563 to .580 and .919 to .939. The floors are below their means by about four standard
deviations; without rotation it was .535 and .819, with `cache_factor=20` or `prior_sigma=None` .551 and .904.
"""

import numpy as np

from labcat.bench.algorithms import labcat_algorithm
from labcat.bench.coco_problems import coco_problems
from labcat.bench.runner import Run, execute
from labcat.bench.scoring import run_score, runtimes_of

FUNCTIONS = [1, 2, 5, 6, 8, 10, 11, 12, 13, 14, 15, 20, 21]
FACTOR = 100
AUC, SOLVED = 0.548, 0.905


def quality(**switches):
    algorithm = labcat_algorithm("default", **switches)
    problems = coco_problems("bbob", [2, 5], FUNCTIONS, [1, 2, 3])
    records = [execute(Run(algorithm, problem, FACTOR * problem.dim, 1)) for problem in problems]
    return np.mean([run_score(runtimes_of(record), FACTOR) for record in records], axis=0)


def test_the_default_preset_keeps_its_quality():
    auc, solved = quality()
    assert auc > AUC and solved > SOLVED, (auc, solved)


def test_the_floor_notices_a_part_that_is_missing():
    auc, solved = quality(rotation=False)
    assert auc < AUC and solved < SOLVED, (auc, solved)
