"""Seeds and options."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest
from objectives import BOX

import labcat


def test_seeds():
    first = labcat.Optimizer(BOX, rng=7).ask().x
    assert np.array_equal(labcat.Optimizer(BOX, rng=np.uint64(7)).ask().x, first)
    assert np.array_equal(labcat.Optimizer(BOX, seed=7).ask().x, first)
    assert labcat.Optimizer(BOX, rng=2**64 - 1).seed == 2**64 - 1
    sequence = np.random.SeedSequence(5)
    assert labcat.Optimizer(BOX, rng=sequence).seed == labcat.Optimizer(BOX, rng=sequence).seed
    one, two = (labcat.Optimizer(BOX, rng=np.random.default_rng(5)).seed for _ in range(2))
    assert one == two
    generator = np.random.default_rng(5)
    assert labcat.Optimizer(BOX, rng=generator).seed != labcat.Optimizer(BOX, rng=generator).seed
    fresh = labcat.Optimizer(BOX)
    assert fresh.seed != labcat.Optimizer(BOX).seed
    assert np.array_equal(labcat.Optimizer(BOX, rng=fresh.seed).ask(20)[19].x, fresh.ask(20)[19].x)


@pytest.mark.parametrize("rng", [-1, 2**64, 1.5, "1", np.random.RandomState(1), [1]])
def test_other_seeds_are_refused(rng):
    with pytest.raises(labcat.InvalidError, match="rng is"):
        labcat.Optimizer(BOX, rng=rng)


def test_seed_and_rng_together_are_refused():
    with pytest.raises(labcat.InvalidError, match="give one"):
        labcat.Optimizer(BOX, rng=1, seed=1)


def test_options_reach_the_core():
    optimizer = labcat.Optimizer(
        BOX,
        rng=1,
        preset="paper",
        beta=0.5,
        cache_factor=20,
        prior_sigma=None,
        rotation=False,
        newton_steps=np.int64(10),
        initial_points=8,
        candidates=33,
        restarts=False,
        budget=77,
        target=-1.5,
        tolerance=np.float64(1e-7),
    )
    config = optimizer.config
    expected = {
        "preset": "paper",
        "beta": 0.5,
        "cache_factor": 20.0,
        "prior_sigma": None,
        "rotation": False,
        "newton_steps": 10,
        "initial_points": 8,
        "candidates": 33,
        "restarts": False,
        "budget": 77,
        "target": -1.5,
        "tolerance": 1e-7,
        "direction": "minimize",
        "seed": 1,
    }
    assert {name: config[name] for name in expected} == expected


def test_whole_floats_are_integers():
    assert labcat.Optimizer(BOX, budget=1e3).config["budget"] == 1000
    assert labcat.Optimizer(BOX, budget=np.float64(50)).config["budget"] == 50
    assert labcat.Optimizer(BOX, beta=1.0).config["beta"] == 1.0


def test_the_typed_options_are_the_options():
    """scripts/python-switches writes them."""
    root = Path(__file__).parents[2]
    script = SourceFileLoader("python_switches", str(root / "scripts" / "python-switches"))
    spec = importlib.util.spec_from_loader("python_switches", script)
    module = importlib.util.module_from_spec(spec)
    script.exec_module(module)
    assert module.written() == (root / "python" / "labcat" / "_switches.py").read_text()


def test_every_option_is_described():
    assert {"beta", "budget", "rotation", "seed"} <= set(labcat.SWITCHES)
    assert all(switch.help and switch.allowed for switch in labcat.SWITCHES.values())


@pytest.mark.parametrize(
    "switches, named",
    [
        ({"betta": 1}, "unknown option 'betta': did you mean 'beta'"),
        ({"budget": "5"}, "budget.*'5'.*integer"),
        ({"time_limit": 1}, "time_limit"),
        ({"beta": -1}, "beta"),
        ({"beta": "wide"}, "wide"),
        ({"beta": float("nan")}, "beta"),
        ({"rotation": 2}, "rotation"),
        ({"budget": 0}, "budget"),
        ({"budget": 1.5}, "budget"),
        ({"budget": -3}, "budget"),
        ({"newton_steps": [1]}, "newton_steps"),
        ({"preset": "best"}, "best.*default"),
        ({"direction": "up"}, "up.*maximize"),
    ],
)
def test_wrong_options_are_errors_that_name_them(switches, named):
    with pytest.raises(labcat.InvalidError, match=named) as caught:
        labcat.Optimizer(BOX, rng=1, **switches)
    assert isinstance(caught.value, ValueError)


def test_an_unknown_option_is_also_a_type_error():
    with pytest.raises(TypeError):
        labcat.Optimizer(BOX, betta=1)
