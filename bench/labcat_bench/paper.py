"""Figures printed in the LABCAT paper (Visser, van Daalen, Schoeman), for comparison with ours.

Tables `tab:synth_var_1` and `tab:synth_var_2`: 50 runs of 150 evaluations on the 2-D functions; mean and standard
deviation of the final regret, the mark of the rank-sum test, mean and standard deviation of the seconds per run.
"""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    regret: float
    regret_std: float
    mark: str
    seconds: float
    seconds_std: float


FUNCTIONS = ("sphere", "quartic", "booth", "rosenbrock", "branin", "levy")
COMPARISONS = 8

_ROWS = {
    "LABCAT": (
        (5.68e-17, 7.44e-17, "", 0.055, 0.011),
        (2.79e-22, 6.40e-22, "", 0.055, 0.007),
        (9.98e-16, 1.28e-15, "", 0.055, 0.012),
        (1.08e-10, 1.36e-10, "", 0.056, 0.011),
        (1.71e-11, 3.02e-11, "", 0.091, 0.046),
        (1.26e-01, 5.95e-01, "", 0.061, 0.018),
    ),
    "BADS": (
        (3.80e-09, 1.20e-08, "+", 5.448, 0.704),
        (1.20e-08, 5.29e-08, "+", 4.890, 0.758),
        (4.88e-06, 2.25e-05, "+", 6.868, 0.801),
        (6.86e-04, 9.92e-04, "+", 6.807, 0.647),
        (4.57e-07, 1.27e-06, "+", 5.182, 0.795),
        (4.25e-07, 1.76e-06, "+", 4.983, 0.861),
    ),
    "BO": (
        (1.36e-05, 1.93e-05, "+", 21.507, 0.779),
        (1.52e-08, 1.81e-08, "+", 24.213, 0.933),
        (4.87e-05, 5.48e-05, "+", 24.271, 1.119),
        (2.76e-01, 3.22e-01, "+", 35.238, 1.950),
        (3.08e-05, 2.71e-05, "+", 25.093, 1.075),
        (3.47e-05, 3.67e-05, "+", 24.546, 1.232),
    ),
    "random": (
        (1.32e-01, 1.18e-01, "+", 0.010, 0.005),
        (5.38e-04, 1.15e-03, "+", 0.009, 0.002),
        (2.62e00, 1.92e00, "+", 0.010, 0.005),
        (4.04e00, 4.85e00, "+", 0.017, 0.004),
        (4.14e-01, 4.12e-01, "+", 0.010, 0.003),
        (2.01e-01, 2.02e-01, "+", 0.010, 0.004),
    ),
    "SRSM": (
        (2.14e-02, 1.50e-01, "+", 34.696, 2.249),
        (9.17e-10, 5.90e-09, "+", 29.548, 0.916),
        (5.77e-05, 7.77e-05, "+", 37.755, 1.628),
        (3.43e00, 4.12e00, "+", 32.168, 2.477),
        (2.39e-05, 3.93e-05, "+", 36.125, 1.802),
        (2.40e-05, 1.02e-04, "+", 35.992, 2.253),
    ),
    "TREGO": (
        (1.73e-03, 2.80e-03, "+", 111.496, 2.323),
        (3.82e-04, 1.91e-03, "+", 111.667, 8.665),
        (6.23e-02, 1.30e-01, "+", 109.807, 1.846),
        (1.25e00, 1.33e00, "+", 110.343, 2.684),
        (4.50e-03, 1.29e-02, "+", 110.813, 2.427),
        (2.83e-03, 3.46e-03, "+", 110.802, 2.280),
    ),
    "TRLBO": (
        (1.34e-04, 3.37e-04, "+", 1.408, 0.067),
        (1.90e-04, 5.24e-04, "+", 1.427, 0.110),
        (2.64e-02, 5.75e-02, "+", 1.326, 0.073),
        (1.68e00, 3.05e00, "+", 1.318, 0.062),
        (8.52e-03, 4.03e-02, "+", 1.407, 0.077),
        (2.13e-01, 6.32e-01, "+", 1.393, 0.057),
    ),
    "TuRBO-1": (
        (3.36e-04, 3.18e-04, "+", 1.407, 0.124),
        (8.94e-09, 5.47e-08, "+", 1.474, 0.102),
        (4.67e-03, 1.13e-02, "+", 1.446, 0.134),
        (2.35e00, 3.27e00, "+", 1.417, 0.120),
        (1.58e-03, 2.23e-03, "+", 1.445, 0.137),
        (1.05e-03, 3.97e-03, "+", 1.499, 0.204),
    ),
    "TuRBO-5": (
        (1.22e-03, 1.27e-03, "+", 4.019, 0.442),
        (4.40e-06, 6.09e-06, "+", 4.138, 0.339),
        (3.36e-02, 3.63e-02, "+", 4.005, 0.392),
        (1.65e00, 1.46e00, "+", 4.144, 0.254),
        (9.21e-03, 1.11e-02, "+", 3.983, 0.353),
        (9.13e-03, 1.61e-02, "+", 3.328, 0.536),
    ),
}

# algorithm of the paper → function → what is printed
PRINTED: dict[str, dict[str, Printed]] = {
    name: {function: Printed(*cells) for function, cells in zip(FUNCTIONS, row, strict=True)}
    for name, row in _ROWS.items()
}

# Our label → the paper's name of the same algorithm. Its TuRBO takes 1.4 s, the time of 15 fits and not of 145.
SAME_ALGORITHM = {
    "LABCAT (paper)": "LABCAT",
    "BADS": "BADS",
    "BO": "BO",
    "random": "random",
    "SRSM": "SRSM",
    "TREGO (trieste)": "TREGO",
    "TuRBO-1 (batches of 10)": "TuRBO-1",
    "TuRBO-5 (batches of 10)": "TuRBO-5",
}
