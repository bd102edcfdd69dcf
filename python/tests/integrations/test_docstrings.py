"""The examples in the integrations' docstrings."""

from __future__ import annotations

import doctest

import labcat.integrations.optuna


def test_the_examples_in_the_docstrings_run():
    result = doctest.testmod(labcat.integrations.optuna)
    assert result.attempted > 0
    assert result.failed == 0
