"""The Optuna sampler in one process."""

from __future__ import annotations

import math
import pickle
import statistics
import time
import warnings
from collections import Counter

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)
from optuna.trial import TrialState

import labcat
from labcat.integrations.optuna import LabcatSampler, recommended_trial


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


# What asks for independent sampling, has parameters or ranges that change, or several objectives.
FALLS_BACK = {
    "test_float",
    "test_int",
    "test_categorical",
    "test_multi_objective_sample_independent",
}


class TestOptunasOwnTests(
    BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase
):
    @pytest.fixture
    def sampler(self):
        return LabcatSampler

    @pytest.fixture(autouse=True)
    def no_fallback(self, request):
        """Integers and categories are optimised like reals: no word of independent sampling."""
        message = "parameter '.*' is sampled independently"
        with warnings.catch_warnings():
            falls_back = request.node.originalname in FALLS_BACK
            warnings.filterwarnings("ignore" if falls_back else "error", message)
            yield


def rosenbrock(trial):
    x, y = (trial.suggest_float(name, -5, 10) for name in "xy")
    return 100 * (y - x**2) ** 2 + (1 - x) ** 2


def run_of(trial):
    return trial.system_attrs.get("labcat", {"run": 0})["run"]


def points(trials):
    return [tuple(trial.params.values()) for trial in trials]


def test_it_optimises():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(rosenbrock, n_trials=150)
    assert study.best_value < 1e-6
    assert len(set(points(study.trials))) == 150


def test_one_process_gives_the_run_of_the_optimizer_with_its_restarts():
    study = optuna.create_study(sampler=LabcatSampler(seed=1, tolerance=1e-3))
    study.optimize(rosenbrock, n_trials=250)
    optimizer = labcat.Optimizer([(-5, 10)] * 2, rng=np.random.SeedSequence((1, 1)), tolerance=1e-3)
    optimizer.enqueue(points(study.trials)[0])
    for trial in study.trials:
        asked = optimizer.ask()
        assert tuple(asked.x) == (trial.params["x"], trial.params["y"])
        assert run_of(trial) == len(optimizer.restarts)
        optimizer.tell(asked, trial.value)
    assert len(optimizer.restarts) >= 2
    mirrored = study.sampler._followers[study]._mirror._optimizer
    assert mirrored.config["restarts"] and mirrored.config["restart_design"] == 2  # it may explore


def test_a_seed_makes_a_study_repeatable():
    def run(seed):
        study = optuna.create_study(sampler=LabcatSampler(seed=seed))
        study.optimize(rosenbrock, n_trials=12)
        return points(study.trials)

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_the_direction_is_the_studys():
    study = optuna.create_study(direction="maximize", sampler=LabcatSampler(seed=1))
    study.optimize(lambda trial: 3 - (trial.suggest_float("x", -5, 5) - 1) ** 2, n_trials=30)
    assert study.best_value == pytest.approx(3, abs=1e-6)


def test_a_logarithmic_parameter_is_searched_by_its_logarithm():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))

    def objective(trial):
        rate = trial.suggest_float("rate", 1e-8, 1, log=True)
        return (math.log10(rate) + 5) ** 2

    study.optimize(objective, n_trials=30)
    assert study.best_params["rate"] == pytest.approx(1e-5, rel=1e-2)


def warm_study(n, seed=2, **options):
    """A study of random trials, and a sampler that has seen none of them."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    study.optimize(rosenbrock, n_trials=n)
    study.sampler = LabcatSampler(seed=seed, **options)
    return study


def test_it_continues_from_the_trials_it_finds():
    study = warm_study(200)
    before = study.best_value
    study.optimize(rosenbrock, n_trials=40)
    assert study.best_value < 1e-3 * before
    assert len(set(points(study.trials))) == 240


def test_a_new_sampler_for_each_trial_still_optimises():
    study = optuna.create_study()
    for _ in range(120):
        study.sampler = LabcatSampler(seed=1)
        study.optimize(rosenbrock, n_trials=1)
    assert study.best_value < 1e-6
    assert len(set(points(study.trials))) == 120


def test_running_trials_of_others_are_pending():
    study = warm_study(20)
    storage = study._storage
    others = [
        optuna.load_study(
            study_name=study.study_name, storage=storage, sampler=LabcatSampler(seed=2)
        )
        for _ in range(2)
    ]
    asked = []
    for i in range(8):
        trial = others[i % 2].ask()
        asked.append(tuple(trial.suggest_float(name, -5, 10) for name in "xy"))
        known = others[i % 2].sampler._followers[others[i % 2]]._mirror._optimizer.pending
        assert {tuple(t.x) for t in known} == set(asked)
    assert len(set(asked)) == 8


def test_a_running_trial_is_known_before_it_uses_its_parameters():
    study = warm_study(20)
    first = study.ask()
    first.suggest_float("x", -5, 10)  # y comes later
    other = optuna.load_study(
        study_name=study.study_name, storage=study._storage, sampler=LabcatSampler(seed=2)
    )
    other.ask().suggest_float("x", -5, 10)
    pending = [tuple(t.x) for t in other.sampler._followers[other]._mirror._optimizer.pending]
    assert (first.params["x"], first.suggest_float("y", -5, 10)) == pending[0]


def test_a_point_moved_by_the_user_is_told_where_it_was_evaluated():
    study = warm_study(10)
    study.enqueue_trial({"x": 1.0, "y": 1.0})
    study.optimize(rosenbrock, n_trials=2)
    told = study.sampler._followers[study]._mirror._optimizer
    assert tuple(told.best.x) == (1.0, 1.0)
    assert told.n_evaluations == 11  # the newest is told when the next is asked
    assert len(told.pending) == 1


@pytest.mark.parametrize("ending", ["nan", "exception", "pruned", "inf"])
def test_failures_teach_where_not_to_go(ending):
    def objective(trial):
        value = rosenbrock(trial)
        if trial.params["x"] < 0:
            if ending == "exception":
                raise ArithmeticError
            if ending == "pruned":
                trial.report(0.0, 1)
                raise optuna.TrialPruned
            return math.nan if ending == "nan" else math.inf
        return value

    study = optuna.create_study(sampler=LabcatSampler(seed=3))
    study.optimize(objective, n_trials=80, catch=ArithmeticError)
    assert study.best_value < 1e-2
    ended = [trial for trial in study.trials if trial.params["x"] < 0]
    assert 0 < len(ended) < 40


def test_a_study_in_which_everything_fails_goes_on():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(lambda trial: math.nan * trial.suggest_float("x", 0, 1), n_trials=20)
    assert len(set(points(study.trials))) == 20


def test_steps_give_points_of_the_grid_each_once():
    def objective(trial):
        x = trial.suggest_float("x", -1, 1, step=0.25)
        y = trial.suggest_float("y", 0, 10.2, step=0.1)
        return (x - 0.5) ** 2 + (y - 7.3) ** 2

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(objective, n_trials=60)
    for trial in study.trials:
        assert (trial.params["x"] / 0.25).is_integer()
        assert trial.params["y"] == pytest.approx(round(trial.params["y"], 1), abs=1e-9)
    assert len({(p[0], round(p[1], 1)) for p in points(study.trials)}) == 60
    assert study.best_value == pytest.approx(0, abs=1e-9)


def test_a_grid_that_is_used_up_does_not_end_the_study():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1, step=0.2), n_trials=25)
    assert len(study.trials) == 25
    assert study.best_value == 0


def test_local_runs_follow_each_other_in_all_processes():
    study = optuna.create_study(sampler=LabcatSampler(seed=1, tolerance=1e-6))
    study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=100)
    newest = run_of(study.trials[-1])
    assert newest >= 1
    assert [run_of(t) for t in study.trials] == sorted(run_of(t) for t in study.trials)
    other = optuna.load_study(
        study_name=study.study_name, storage=study._storage, sampler=LabcatSampler(seed=2)
    )
    trial = other.ask()
    trial.suggest_float("x", -1, 1)
    assert run_of(other.trials[-1]) == newest
    told = other.sampler._followers[other]._mirror._optimizer
    assert told.n_evaluations == 100
    assert len(told.restarts) == newest
    assert told.history.run.tolist() == [run_of(t) for t in study.trials[:-1]]


def test_a_new_sampler_for_each_trial_gets_beyond_the_design_of_a_restart():
    """It must neither restart for ever nor repeat the design for ever."""
    study = optuna.create_study()
    for i in range(140):
        study.sampler = LabcatSampler(seed=i, tolerance=1e-4)
        study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=1)
    runs = Counter(map(run_of, study.trials))
    assert len(runs) >= 3
    for run in range(1, max(runs)):
        values = [trial.value for trial in study.trials if run_of(trial) == run]
        assert min(values) < 1e-3 and len(values) < 60


def random_fallbacks(study, objective, n):
    """Which parameters were drawn at random, by trial."""
    drawn = []
    plain = study.sampler._independently
    study.sampler._independently = lambda s, trial, name, d: drawn.append((trial.number, name)) or plain(s, trial, name, d)
    study.optimize(objective, n_trials=n)
    return drawn


@pytest.mark.filterwarnings("error")
def test_a_range_that_changes_all_the_time_is_optimised():
    def objective(trial):
        other = trial.suggest_float("other", 0, 1 + trial.number)
        return (trial.suggest_float("x", -5, 5) - 1) ** 2 + (other - 0.5) ** 2

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    assert random_fallbacks(study, objective, 25) == [(0, "other"), (0, "x")]
    assert study.best_value < 0.05


@pytest.mark.filterwarnings("error")
def test_a_narrowed_range_is_optimised_with_what_is_known_of_it():
    def objective(low, high):
        def value(trial):
            x, y = trial.suggest_float("x", low, high), trial.suggest_float("y", -5, 5)
            return (x - 1) ** 2 + (x + y) ** 2

        return value

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(objective(-5, 5), n_trials=15)
    assert random_fallbacks(study, objective(0.5, 2), 8) == []
    assert all(0.5 <= trial.params["x"] <= 2 for trial in study.trials[15:])
    assert study.best_value < 1e-3
    mirror = study.sampler._followers[study]._mirror
    inside = sum(0.5 <= trial.params["x"] <= 2 for trial in study.trials)
    assert mirror._optimizer.n_evaluations == inside - 1  # the newest is told when the next is asked


def conditional(trial):
    kernel = trial.suggest_categorical("kernel", ["linear", "rbf", "poly"])
    c = trial.suggest_float("C", 1e-3, 1e3, log=True)
    value = abs(math.log10(c) - 1) + {"linear": 1.0, "rbf": 0.0, "poly": 0.5}[kernel]
    if kernel != "linear":
        value += abs(math.log10(trial.suggest_float("gamma", 1e-4, 1, log=True)) + 2)
    if kernel == "poly":
        value += 0.1 * trial.suggest_int("degree", 2, 5)
    return value


@pytest.mark.filterwarnings("error")
def test_conditional_parameters_are_optimised_under_their_conditions():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    drawn = random_fallbacks(study, conditional, 60)
    assert len(drawn) <= 6 and Counter(name for _, name in drawn).most_common(1)[0][1] <= 2, drawn
    known = study.sampler._followers[study].search_space()
    assert known.conditions["gamma"] == ("kernel", frozenset({"rbf", "poly"}))
    assert known.conditions["degree"] == ("kernel", frozenset({"poly"}))
    assert study.best_params["kernel"] == "rbf" and study.best_value < 0.05


def test_the_sampler_is_as_good_as_labcats_own_conditions():
    space = labcat.Space(
        kernel=["linear", "rbf", "poly"],
        C=labcat.Real(1e-3, 1e3, "log"),
        gamma=labcat.Real(1e-4, 1, "log", when={"kernel": ["rbf", "poly"]}),
        degree=labcat.Integer(2, 5, when={"kernel": "poly"}),
    )

    def native(params):
        return conditional(optuna.trial.FixedTrial(params))

    own, sampled = [], []
    for seed in range(10):
        own.append(labcat.minimize(native, space, budget=30, rng=seed).fun)
        study = optuna.create_study(sampler=LabcatSampler(seed=seed))
        study.optimize(conditional, n_trials=30)
        sampled.append(study.best_value)
    assert statistics.median(sampled) < statistics.median(own) + 0.2, (own, sampled)


def test_an_integer_tells_how_many_parameters_there_are():
    def objective(trial):
        layers = trial.suggest_int("layers", 1, 4)
        return sum((trial.suggest_float(f"width{i}", 0, 1) - 0.3) ** 2 for i in range(layers)) + 0.1 * abs(layers - 3)

    study = optuna.create_study(sampler=LabcatSampler(seed=2))
    study.optimize(objective, n_trials=60)
    conditions = study.sampler._followers[study].search_space().conditions
    assert conditions["width1"] == ("layers", frozenset({2, 3, 4}))
    assert conditions["width3"] == ("layers", frozenset({4}))
    assert study.best_value < 0.05


def test_a_parameter_that_comes_and_goes_for_no_reason_is_still_optimised():
    def objective(trial):
        x = trial.suggest_float("x", -5, 5)
        y = trial.suggest_float("y", -5, 5) if trial.number % 3 else 0.5
        return (x - 1) ** 2 + (y - 2) ** 2

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    assert random_fallbacks(study, objective, 45) == [(0, "x"), (1, "y")]
    assert study.best_value < 0.5


def test_constraints_that_a_trial_sets_are_met():
    def objective(trial):
        x, y = trial.suggest_float("x", -2, 2), trial.suggest_float("y", -2, 2)
        trial.set_constraint("line", x + y - 1)
        return (x - 1) ** 2 + (y - 1.2) ** 2

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(objective, n_trials=30)
    met = [t.value for t in study.trials if t.params["x"] + t.params["y"] <= 1]
    assert min(met) == pytest.approx(0.72, abs=1e-2)


@pytest.mark.filterwarnings("error")
def test_integers_are_optimised_with_reals():
    def objective(trial):
        n = trial.suggest_int("n", 1, 100)
        assert type(n) is int
        return (n - 37) ** 2 + (trial.suggest_float("y", -10, 10) + 1) ** 2

    errors = []
    for seed in range(8):
        study = optuna.create_study(sampler=LabcatSampler(seed=seed))
        study.optimize(objective, n_trials=40)
        assert len(set(points(study.trials))) == 40
        errors.append(study.best_value)
    assert sum(error < 1e-5 for error in errors) >= 7, errors


@pytest.mark.filterwarnings("error")
def test_categories_and_steps_are_optimised_and_never_come_twice():
    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b", None, 3.5])
        n = trial.suggest_int("n", 0, 6, step=2)
        x = trial.suggest_float("x", 0, 1, step=0.25)
        return {"a": 2, "b": 0, None: 5, 3.5: 1}[kind] + (n - 4) ** 2 + (x - 0.75) ** 2

    study = optuna.create_study(sampler=LabcatSampler(seed=3))
    study.optimize(objective, n_trials=80)
    assert study.best_params == {"kind": "b", "n": 4, "x": 0.75}
    assert len(set(points(study.trials))) == 80, "each of the 80 configurations once"
    study.optimize(objective, n_trials=3)  # all are used up: any of them again


def test_the_independent_sampler_can_be_chosen():
    class Seven(optuna.samplers.RandomSampler):
        def sample_independent(self, study, trial, name, distribution):
            return 7

    study = optuna.create_study(
        directions=["minimize"] * 2,
        sampler=LabcatSampler(independent_sampler=Seven(), warn_independent_sampling=False),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.optimize(lambda t: (t.suggest_float("n", 0, 10), t.suggest_float("x", 6, 8)), n_trials=5)
    assert {trial.params["n"] for trial in study.trials} == {7}


def test_several_objectives_are_sampled_independently_with_a_warning():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=LabcatSampler(seed=1))
    with pytest.warns(UserWarning, match="one objective"):
        study.optimize(lambda t: (t.suggest_float("x", 0, 1), t.params["x"] - 1), n_trials=5)
    assert len(set(points(study.trials))) == 5


def test_constraints_are_met():
    def objective(trial):
        x, y = trial.suggest_float("x", -2, 2), trial.suggest_float("y", -2, 2)
        trial.set_user_attr("line", x + y - 1)
        return (x - 1) ** 2 + (y - 1.2) ** 2

    sampler = LabcatSampler(seed=1, constraints_func=lambda trial: [trial.user_attrs["line"]])
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=40)
    feasible = [t.value for t in study.trials if t.user_attrs["line"] <= 0]
    assert min(feasible) < 0.72 + 1e-4


def test_constraints_are_met_with_integers_and_categories():
    def objective(trial):
        n, x = trial.suggest_int("n", 0, 20), trial.suggest_float("x", 0, 2)
        kind = trial.suggest_categorical("kind", ["a", "b", "c"])
        trial.set_user_attr("room", n + 4 * x - 6)
        return 0.25 * (n - 4) ** 2 + {"a": 1, "b": 0, "c": 0.5}[kind] + 13 * (x - 1) ** 2

    sampler = LabcatSampler(seed=1, constraints_func=lambda trial: [trial.user_attrs["room"]])
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=80)
    feasible = [t.value for t in study.trials if t.user_attrs["room"] <= 0]
    assert min(feasible) < 1.0 + 1e-2


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_recommended_trial_is_not_the_luckiest(direction):
    sign = 1 if direction == "minimize" else -1

    def bowl(trial):
        return sum((trial.params[name] - 0.7) ** 2 for name in "xy")

    lucky, recommended = [], []
    for seed in range(6):
        draw = np.random.default_rng(seed)

        def objective(trial):
            for name in "xy":
                trial.suggest_float(name, -5, 5)
            return sign * (bowl(trial) + draw.normal())  # noqa: B023

        study = optuna.create_study(sampler=LabcatSampler(seed=seed, noise="auto"), direction=direction)
        study.optimize(objective, n_trials=80)
        found = recommended_trial(study, noise=1.0)
        assert found.number < 80 and found.params == study.trials[found.number].params
        lucky.append(bowl(study.best_trial))
        recommended.append(bowl(found))
    assert statistics.median(recommended) < 0.5 * statistics.median(lucky)


def test_the_recommended_trial_of_a_finite_space_that_is_used_up():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(lambda trial: trial.suggest_int("n", 0, 3), n_trials=6)
    assert recommended_trial(study, noise=1.0).params["n"] in range(4)


def test_without_noise_the_recommended_trial_is_the_best():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(rosenbrock, n_trials=30)
    assert recommended_trial(study) == study.best_trial
    assert recommended_trial(study, noise="none") == study.best_trial


def test_reseeding_and_pickling():
    study = warm_study(20)
    copied = pickle.loads(pickle.dumps(study.sampler))
    reseeded = pickle.loads(pickle.dumps(study.sampler))
    reseeded.reseed_rng()
    suggested = []
    for sampler in (study.sampler, copied, reseeded):
        again = optuna.create_study(sampler=sampler)
        again.add_trials(study.trials)
        trial = again.ask()
        suggested.append(tuple(trial.suggest_float(name, -5, 10) for name in "xy"))
    assert suggested[0] == suggested[1] != suggested[2]


def test_threads_share_a_study():
    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(rosenbrock, n_trials=80, n_jobs=4)
    assert len(set(points(study.trials))) == 80
    assert study.best_value < 1


@pytest.mark.parametrize("name", ["budget", "target", "restarts", "direction"])
def test_what_the_study_decides_is_no_option(name):
    with pytest.raises(labcat.InvalidError, match=name):
        LabcatSampler(**{name: 1})


def test_options_reach_the_optimizer():
    with pytest.raises(labcat.UnknownSwitchError, match="colour"):
        LabcatSampler(colour=1)
    study = warm_study(10, preset="paper", beta=0.3)
    study.optimize(rosenbrock, n_trials=1)
    config = study.sampler._followers[study]._mirror._optimizer.config
    assert (config["preset"], config["beta"]) == ("paper", 0.3)


def test_asking_at_a_thousand_trials_costs_little_more_than_at_fifty():
    """Were all trials told again for each new one, it would cost twenty times as much."""
    names = [f"x{i}" for i in range(5)]
    distributions = {name: FloatDistribution(-5.0, 10.0) for name in names}

    def seconds(known):
        points = np.random.default_rng(1).uniform(-5, 10, (known, 5))
        study = optuna.create_study(sampler=LabcatSampler(seed=1))
        study.add_trials(
            optuna.create_trial(params=dict(zip(names, x)), distributions=distributions, value=sum((v - 1) ** 2 for v in x))
            for x in points.tolist()
        )
        asks = []
        for _ in range(21):
            start = time.process_time()  # other work on the machine does not count
            trial = study.ask(distributions)
            asks.append(time.process_time() - start)
            study.tell(trial, sum((v - 1) ** 2 for v in trial.params.values()))
        assert study.trials[-1].state == TrialState.COMPLETE
        return statistics.median(asks)

    few, many = seconds(50), seconds(1000)
    print(f"\nasking at 50 trials: {few * 1e3:.2f} ms; at 1,000: {many * 1e3:.2f} ms")
    assert many <= 5 * few


@pytest.mark.parametrize("radius", [None, 0.25, {"x": 0.25, "y": 0.25}])
def test_the_first_enqueued_trial_is_where_the_search_begins(radius):
    study = optuna.create_study(sampler=LabcatSampler(seed=1, radius=radius))
    study.enqueue_trial({"x": 3.0, "y": -2.0})
    study.optimize(lambda trial: trial.suggest_float("x", -5, 5) ** 2 + trial.suggest_float("y", -5, 5) ** 2, n_trials=3)
    points = np.array([[trial.params["x"], trial.params["y"]] for trial in study.trials])
    moved = np.abs(points - [3, -2])
    assert np.allclose(np.sort(moved[1:].max(axis=1)), 0.25 if radius is not None else 0.5)
    assert np.allclose(moved[1:].min(axis=1), 0)
    with pytest.raises(labcat.InvalidError, match="radius is -1"):
        LabcatSampler(radius=-1)


def test_a_parameter_beside_an_integer_of_a_huge_range():
    def objective(trial):
        n = trial.suggest_int("n", 1, 10**9)
        return n / 1e9 + (trial.suggest_float("y", 0, 1) if n > 1000 else 0)

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    for n in (5, 500):  # a threshold on n tells which trials have the other
        study.enqueue_trial({"n": n})
    study.optimize(objective, n_trials=20)  # does not list all integers
    assert study.best_value < 1e-6


def test_integers_that_no_float_holds():
    def objective(trial):
        seed = trial.suggest_int("seed", -(10**18), 10**18 - 2, step=3)
        time = trial.suggest_float("time", 0, 1e18, step=0.5)
        return abs(seed - 3e17) / 1e18 + abs(time - 2e17) / 1e18

    study = optuna.create_study(sampler=LabcatSampler(seed=1))
    study.optimize(objective, n_trials=40)
    assert all(isinstance(trial.params["seed"], int) for trial in study.trials)
    assert study.best_value < 0.1
