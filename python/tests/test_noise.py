"""Noise: given, told or found out, and the recommendation."""

import json
import pickle

import numpy as np
import pytest

import labcat


def bowl(x):
    return float(((x - 0.7) ** 2).sum())


def noisy(seed, sigma=1.0):
    luck = np.random.default_rng(seed)
    return lambda x: bowl(x) + sigma * luck.normal()


@pytest.mark.parametrize("noise", ["auto", 1.0])
def test_the_result_is_the_recommendation(noise):
    result = labcat.minimize(noisy(1), [(-5, 5)] * 2, budget=100, rng=1, noise=noise)
    found = result.recommended
    assert (result.x == found.x).all() and result.fun == found.mean
    assert bowl(result.x) < 0.5 and abs(found.mean - bowl(found.x)) < 3 * found.std
    assert result.best.value < found.mean - 0.5, "the luckiest draw"
    assert found.params == {"x0": found.x[0], "x1": found.x[1]}
    assert 0.5 < result.optimizer.noise < 2
    assert "recommended" in result._repr_html_()


def test_without_noise_the_best_point_is_recommended():
    result = labcat.minimize(bowl, [(-5, 5)] * 2, budget=40, rng=1, noise="auto")
    assert (result.recommended.x == result.best.x).all()
    assert (result.fun, result.recommended.std, result.optimizer.noise) == (result.best.value, 0.0, 0.0)
    assert "recommended" not in result._repr_html_()


def test_maximising():
    gain = noisy(2)
    result = labcat.maximize(lambda x: -gain(x), [(-5, 5)] * 2, budget=100, rng=1, noise=1.0)
    assert bowl(result.x) < 0.5 and result.best.value > result.fun


def test_the_noise_of_each_value():
    optimizer = labcat.Optimizer({"a": (-5, 5), "b": (-5, 5)}, noise="auto", rng=1)
    luck = np.random.default_rng(3)
    for n in range(60):
        trial = optimizer.ask()
        std = 0.05 if n % 2 else 5.0
        optimizer.tell(trial, bowl(trial.x) + std * luck.normal(), std=std)
    optimizer.tell(x={"a": 1, "b": 2}, value=3.0, std=0.25)
    optimizer.revise(0, bowl(optimizer.history.x[0]), std=0.5)
    assert optimizer.history.std.tolist()[:3] == [0.5, 0.05, 5.0]
    assert optimizer.history.std[-1] == 0.25
    found = optimizer.recommended
    assert bowl(found.x) < 0.2 and list(found.params) == ["a", "b"]
    copy = pickle.loads(pickle.dumps(optimizer))
    assert (copy.recommended.mean, copy.recommended.std) == (found.mean, found.std)
    assert (copy.ask().x == optimizer.ask().x).all()


@pytest.mark.parametrize("std", [-1, float("nan"), float("inf"), "much", [1, 2]])
def test_what_is_no_standard_deviation(std):
    optimizer = labcat.Optimizer([(0, 1)], rng=1)
    trial = optimizer.ask()
    with pytest.raises(labcat.InvalidError, match="std"):
        optimizer.tell(trial, 1.0, std=std)
    optimizer.tell(trial, 1.0, std=0)


@pytest.mark.parametrize("noise", ["Auto", "0.5", -1, float("nan"), [1]])
def test_what_is_no_noise(noise):
    with pytest.raises(labcat.InvalidError, match="noise.*auto, none, or a number of at least 0"):
        labcat.Optimizer([(0, 1)], noise=noise)


def test_noise_is_an_option_and_part_of_the_state():
    assert labcat.Optimizer([(0, 1)], noise=None).config["noise"] == "none"
    optimizer = labcat.Optimizer([(0, 1)], noise=np.float64(0.5))
    assert labcat.Optimizer.from_json(optimizer.to_json()).config["noise"] == 0.5
    assert labcat.SWITCHES["noise"].type == 'Literal["auto", "none"] | float'
    assert json.loads(optimizer.to_json())["config"]["noise"] == 0.5


def test_a_target_is_met_by_the_posterior():
    lucky = labcat.minimize(noisy(4), [(-5, 5)] * 2, budget=120, target=-1.0, rng=1, noise="none")
    assert lucky.message == "the target -1.0 is reached"
    honest = labcat.minimize(noisy(4), [(-5, 5)] * 2, budget=120, target=-1.0, rng=1, noise=1.0)
    assert not honest.success
