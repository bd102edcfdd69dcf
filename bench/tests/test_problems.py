"""Problems: the paper's functions, COCO's suites, the budget."""

import math

import numpy as np
import pytest

from labcat_bench.coco_problems import CocoProblem, Noise, View, best_point, coco_minimum, coco_problems, coco_suite
from labcat_bench.functions import PAPER
from labcat_bench.objective import BudgetSpent, Objective, ObjectiveError
from labcat_bench.problems import SyntheticProblem
from labcat_bench.suites import REFUSED, SUITES, UnknownProblem


@pytest.mark.parametrize("function", PAPER.values(), ids=lambda f: f.name)
def test_minimisers_give_the_minimum_and_nothing_lies_below(function):
    for point in function.minimisers:
        assert function.value(point) == pytest.approx(function.minimum, abs=1e-12)
        assert all(low <= v <= high for v, (low, high) in zip(point, function.bounds, strict=True))
    low, high = np.array(function.bounds).T
    points = np.random.default_rng(0).uniform(low, high, (2000, 2))
    assert min(map(function.value, points)) >= function.minimum


def test_branin_is_known_to_full_precision():
    assert PAPER["branin"].minimum == pytest.approx(0.39788735772973834, abs=1e-16)  # 10 / (8 π)


@pytest.mark.parametrize("function", PAPER.values(), ids=lambda f: f.name)
def test_a_shifted_optimum_stays_inside_and_differs_by_run(function):
    low, high = np.array(function.bounds).T
    values = set()
    for run in range(5):
        with SyntheticProblem(function.name, run, shifted=True).open(10_000) as objective:
            values.add(objective(low))
            grid = np.random.default_rng(run).uniform(low, high, (3000, 2))
            least = min(map(objective, grid))
            with SyntheticProblem(function.name, run).open(10_000) as plain:
                typical = np.median([plain(x) for x in grid])
            assert function.minimum <= least < function.minimum + 0.05 * (typical - function.minimum)
    assert len(values) == 5


@pytest.mark.parametrize("suite", REFUSED)
def test_suites_the_core_cannot_do_are_refused(suite):
    with pytest.raises(UnknownProblem, match=r"cannot be run: .*LABCAT.*Allowed: bbob"):
        coco_problems(suite, [5], [1], [1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing", [2], [1], [1]), "unknown suite 'nothing'"),
        (("bbob", [4], [1], [1]), "dimension 4 .* Allowed: 2, 3, 5, 10, 20, 40"),
        (("bbob", [2], [25], [1]), "function 25 .* Allowed: 1-24"),
        (("bbob", [2], [1], [0]), "instance 0"),
        (("bbob-noisy", [2], [116], [1]), "function 116 .* cannot be scored: COCO does not give"),
        (("bbob-mixint", [2], [1], [1]), "dimension 2 .* Allowed: 5, 10"),
        (("bbob-mixint", [5], [1], [1], None, View(offset=0.0)), "as given"),
        (("bbob", [2], [1], [1], None, View(offset=0.0), Noise("gaussian", 0.1)), "as given"),
    ],
)
def test_unknown_problems_are_named(arguments, message):
    with pytest.raises(UnknownProblem, match=message):
        coco_problems(*arguments)


@pytest.mark.parametrize("suite", [name for name, suite in SUITES.items() if suite.kind != "noisy"])
def test_the_twin_knows_the_minimum(suite):
    dim = SUITES[suite].dims[0]
    for function in SUITES[suite].functions:
        problem = coco_suite(suite, dim, 3).get_problem_by_function_dimension_instance(function, dim, 3)
        best = best_point(problem)
        assert problem(best) == pytest.approx(coco_minimum(suite, function, dim, 3), abs=1e-9)
        if problem.number_of_constraints:
            assert problem.constraint(best).max() <= 0
        problem.free()


def test_opening_a_problem_evaluates_nothing():
    with CocoProblem("bbob", 5, 1, 2).open(10) as objective:
        assert objective.evaluations == 0
        assert objective._fun.evaluations == 0
        objective([0.0, 0.0])
        assert objective._fun.evaluations == 1


def test_largescale_says_what_it_costs():
    with pytest.warns(UserWarning, match="cube"):
        (problem,) = coco_problems("bbob-largescale", [40], [1], [1])
    with problem.open(3) as objective:
        assert objective.dim == 40
        assert objective(np.zeros(40)) > objective.f_opt


def test_the_budget_is_a_wall():
    objective = Objective(lambda x: float(x[0]), [0], [1], budget=2)
    objective([0.5]), objective([0.75])
    with pytest.raises(BudgetSpent):
        objective([0.25])
    assert (objective.evaluations, objective.best, objective.remaining) == (2, 0.5, 0)


def test_improvements_are_recorded_and_nothing_else():
    values = iter([3.0, math.nan, 5.0, 2.0, math.inf, 1.0 - 1e-16])
    objective = Objective(lambda x: next(values), [0], [1], budget=6, f_opt=1.0)
    for _ in range(6):
        objective([0.5])
    assert objective.trace == [(1, 2.0), (4, 1.0), (6, 0.0)]


def test_an_objective_that_raises_says_so():
    objective = Objective(lambda x: 1 / 0, [0], [1], budget=2)
    with pytest.raises(ObjectiveError, match="ZeroDivisionError") as caught:
        objective([0.5])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
