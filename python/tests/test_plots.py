"""Pictures."""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pytest

import labcat
from labcat import plots

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def far_end(rotation, **options):
    """The run of the paper's figure, from the far end of the valley."""
    return labcat.minimize(
        rosenbrock,
        [(-2.5, 2.5), (-1.5, 5)],
        x0=[-2, 4],
        budget=150,
        target=1e-3,
        rng=1,
        preset="paper",
        rotation=rotation,
        **options,
    )


def outlines(ax):
    """Corners of the trust regions that are drawn, shape (n, 5, 2)."""
    (drawn,) = [c for c in ax.collections if type(c).__name__ == "LineCollection"]
    return np.array([path.vertices for path in drawn.get_paths()])


def sides(outline):
    return np.diff(outline, axis=0)


def test_the_paths_of_the_rosenbrock_figure():
    without, rotated = far_end(False), far_end(True)
    assert rotated.message == "the target 0.001 is reached"
    assert rotated.nfev < without.nfev
    for result in (without, rotated):
        ax = plots.path(result, rosenbrock, resolution=20)
        boxes = outlines(ax)
        assert len(boxes) == sum(region is not None for region in result.history.trust_region)
        assert len(boxes) > 50
        for box in boxes:
            a, b, c, d = sides(box)
            np.testing.assert_allclose(a, -c, atol=1e-9)
            np.testing.assert_allclose(b, -d, atol=1e-9)
    axis_parallel = [
        np.isclose(sides(box), 0).any(axis=1).all() for box in outlines(plots.path(without))
    ]
    assert all(axis_parallel)
    tilted = [not np.isclose(sides(box), 0).any() for box in outlines(plots.path(rotated))]
    assert all(tilted)


def test_each_point_lies_in_the_region_it_was_searched_for_in():
    history = far_end(True).history
    assert history.trust_region[:5] == [None] * 5  # the initial design
    for x, region in zip(history.x[5:], history.trust_region[5:]):
        along_axes = np.linalg.solve(region.half_axes.T, x - region.centre)
        assert np.abs(along_axes).max() <= 1 + 1e-9


def test_regions_are_known_with_workers_and_only_with_two_parameters(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        result = far_end(True, workers=pool)
    assert sum(region is not None for region in result.history.trust_region) > 20
    cubic = labcat.minimize(lambda x: float(x @ x), [(-1, 1)] * 3, budget=20, rng=1)
    assert cubic.history.trust_region == [None] * 20


def test_convergence():
    result = far_end(True)
    ax = plots.convergence(result)
    best = {line.get_label(): line for line in ax.lines}["best so far"]
    np.testing.assert_array_equal(best.get_ydata(), result.history.best)
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel() == "evaluations"


def test_convergence_with_noise_shows_the_recommendation():
    luck = np.random.default_rng(3)
    result = labcat.minimize(lambda x: (x**2).sum() + luck.normal(), [(-5, 5)] * 2, budget=40, rng=1, noise="auto")
    assert result.optimizer.noise > 0
    ax = plots.convergence(result)
    labels = {line.get_label(): line for line in ax.lines}
    assert "best so far" not in labels
    assert set(labels["recommended, ± 2 standard deviations"].get_ydata()) == {result.recommended.mean}
    distance = plots.convergence(result, minimum=0)
    (level,) = [line for line in distance.lines if line.get_label() == "recommended"]
    assert set(level.get_ydata()) == {abs(result.recommended.mean)}


def test_convergence_of_a_run_with_failures_restarts_and_negative_values():
    def fun(x):
        return np.nan if x[0] < -0.5 else (x[0] - 0.3) ** 2 - 1

    result = labcat.minimize(fun, [(-1, 1)], budget=100, rng=1, tolerance=1e-9)
    assert result.restarts
    ax = plots.convergence(result)
    labels = [line.get_label() for line in ax.lines]
    failed = {line.get_label(): line for line in ax.lines}["failed"]
    np.testing.assert_array_equal(failed.get_xdata(), 1 + np.flatnonzero(result.history.failed))
    assert len(failed.get_xdata()) > 0
    assert labels.count("restart") == 1
    assert len(labels) == 3 + len(result.restarts)
    assert ax.get_yscale() == "linear"
    distance = plots.convergence(result, minimum=-1)
    assert distance.get_yscale() == "log"
    assert min(distance.lines[1].get_ydata()) == result.fun + 1


def test_relevance():
    space = labcat.Space(strong=(-1, 1), weak=(-1, 1), none=(-1, 1))
    result = labcat.minimize(
        lambda strong, weak, none: strong**2 + 0.01 * weak**2,
        space,
        budget=60,
        rng=1,
        restarts=False,
    )
    ax = plots.relevance(result)
    shares = [bar.get_width() for bar in ax.patches]
    assert sum(shares) == pytest.approx(1)
    assert shares[0] > shares[1] > shares[2]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["strong", "weak", "none"]


def test_relevance_without_a_model_says_so():
    result = labcat.minimize(rosenbrock, [(-5, 10)] * 2, budget=2, rng=1)
    assert [text.get_text() for text in plots.relevance(result).texts] == ["no model yet"]
    assert len(outlines(plots.path(result))) == 0


def test_the_path_has_the_scales_and_names_of_the_parameters():
    space = labcat.Space(rate=labcat.Real(1e-6, 1, scale="log"), momentum=(0, 1))

    def loss(rate, momentum):
        return (np.log10(rate) + 3) ** 2 + momentum

    result = labcat.minimize(loss, space, budget=20, rng=1)
    ax = plots.path(result, lambda x: loss(*x), resolution=10)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rate", "momentum")
    assert ax.get_xlim() == pytest.approx((1e-6, 1))


def test_contours_of_a_maximum_and_of_a_constant():
    result = labcat.maximize(lambda x: -rosenbrock(x), [(-2, 2)] * 2, budget=20, rng=1)
    for fun in (lambda x: -rosenbrock(x), lambda x: 1.0, lambda x: np.nan if x[0] < 0 else x[1]):
        plots.path(result, fun, resolution=10)


def test_plot_draws_an_overview(tmp_path):
    result = far_end(True)
    figure = result.plot(rosenbrock)
    assert len(figure.axes) == 3
    figure.savefig(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    one = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=10, rng=1)
    assert one.plot().axes[2].get_xlabel() == "x0"
    three = labcat.minimize(lambda x: x @ x, [(-1, 2)] * 3, budget=10, rng=1)
    assert [tick.get_text() for tick in three.plot().axes[2].get_xticklabels()] == ["x0", "x1", "x2", "value"]


def test_axes_can_be_given():
    result = far_end(True)
    _, axes = plt.subplots(1, 3)
    assert plots.convergence(result, ax=axes[0]) is axes[0]
    assert plots.relevance(result, ax=axes[1]) is axes[1]
    assert plots.path(result, ax=axes[2]) is axes[2]
    assert len(plt.get_fignums()) == 1


def test_a_path_needs_two_parameters():
    result = labcat.minimize(lambda x: float(x @ x), [(-1, 1)] * 3, budget=10, rng=1)
    with pytest.raises(labcat.InvalidError, match="2 parameters, not for 3"):
        plots.path(result)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    result = labcat.minimize(lambda x: x[0] ** 2, [(-1, 2)], budget=10, rng=1)
    with pytest.raises(labcat.LabcatError, match=r"pip install matplotlib, or .*\.\[plots\]"):
        result.plot()


def test_what_violates_a_constraint_is_hollow():
    def simulate(x):
        return rosenbrock(x), [x[0] + x[1] - 1]

    result = labcat.minimize(simulate, [(-2, 2)] * 2, constraints=1, budget=30, rng=1)
    violates = ~result.history.feasible
    assert 0 < violates.sum() < 30
    for ax in (plots.convergence(result), plots.path(result)):
        (hollow,) = [drawn for drawn in ax.lines if drawn.get_label() == "violates a constraint"]
        assert hollow.get_fillstyle() == "none"
        assert len(hollow.get_xdata()) == violates.sum()
    (dots,) = [drawn for drawn in plots.convergence(result).lines if drawn.get_label() == "evaluation"]
    assert len(dots.get_xdata()) == (~violates).sum()


LABELS = ["adam", "sgd", "lbfgs"]
KINDS = {
    "real": labcat.Real(-2, 3),
    "log": labcat.Real(1e-4, 1, "log"),
    "integer": labcat.Integer(1, 9),
    "step": labcat.Integer(0, 10, step=5),
    "category": labcat.Categorical(LABELS),
    "boolean": labcat.Boolean(),
    "fixed": labcat.Fixed("lu"),
}
PAIRS = [(a, b) for i, a in enumerate(KINDS) for b in list(KINDS)[i:] if (a, b) != ("fixed", "fixed")]


def value_of(params):
    """Something to minimise over parameters of any kind."""
    total = 0.0
    for i, value in enumerate(params.values()):
        number = LABELS.index(value) if value in LABELS else 0.0 if isinstance(value, str) else float(value)
        total += (i + 1) * abs(number - 0.6) ** 2
    return total


def drawn(*axes):
    """Whether all of it can be rendered."""
    for figure in {ax.get_figure() for ax in axes}:
        figure.canvas.draw()


def check_every_plot(result):
    drawn(*result.plot().axes)
    names = result.history.names
    axes = plots.slices(result)
    assert [ax.get_xlabel() for ax in axes] == names
    drawn(*axes, plots.parallel(result), plots.convergence(result), plots.relevance(result))
    if len(names) > 1:
        ax = plots.contours(result, names[:2])
        assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(names[:2])
        drawn(ax)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("first, second", PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_every_plot_of_every_pair_of_kinds(first, second):
    space = labcat.Space(a=KINDS[first], b=KINDS[second])
    check_every_plot(labcat.minimize(lambda a, b: value_of({"a": a, "b": b}), space, budget=14, rng=1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_every_plot_of_all_kinds_with_conditions_failures_and_constraints(direction):
    conditional = {
        "momentum": labcat.Real(0, 1, when={"category": "sgd"}),
        "decay": labcat.Real(1e-4, 1, "log", when={"boolean": True}),
    }
    space = labcat.Space({**KINDS, **conditional})

    def fun(params):
        if params["integer"] == 7:
            raise RuntimeError("seven")
        return value_of(params), [params["real"] - 1]

    optimise = getattr(labcat, direction)
    check_every_plot(optimise(fun, space, constraints=1, budget=40, rng=1, on_error="fail"))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("budget", [1, 2, 5])
def test_every_plot_of_a_run_that_has_hardly_begun(budget):
    space = labcat.Space(a=KINDS["real"], b=KINDS["category"])
    check_every_plot(labcat.minimize(lambda a, b: value_of({"a": a, "b": b}), space, budget=budget, rng=1))
    check_every_plot(
        labcat.minimize(lambda a, b: float("nan"), space, budget=budget, rng=1, max_first_failures=None)
    )


@pytest.mark.parametrize("budget", [25, 40, 150])  # converged, and restarted
def test_a_slice_follows_the_function(budget):
    result = labcat.minimize(lambda x: (x[0] - 1) ** 2 + (x[1] + 2) ** 2, [(-5, 5)] * 2, budget=budget, rng=1)
    ax = plots.slices(result, ["x1"])[0]
    (line,) = [line for line in ax.lines if line.get_linestyle() == "-"]
    x, y = line.get_data()
    true = (x + 2) ** 2
    assert np.corrcoef(np.argsort(np.argsort(y)), np.argsort(np.argsort(true)))[0, 1] > 0.7
    assert abs(x[np.argmin(y)] + 2) < 0.6


def test_slices_and_contours_say_what_is_predicted_and_how_sure_that_is():
    rng = np.random.default_rng(1)

    def fun(x):
        return (x[0] - 1) ** 2 + (x[1] + 2) ** 2 + rng.normal()

    result = labcat.minimize(fun, [(-5, 5)] * 2, noise="auto", budget=60, rng=1)
    ax = plots.slices(result, ["x1"])[0]
    (line,) = [line for line in ax.lines if line.get_linestyle() == "-"]
    x, y = line.get_data()
    mean, std = result.optimizer.predict(np.column_stack([np.full(len(x), result.x[0]), x]))
    np.testing.assert_array_equal(y, mean)
    (band,) = [drawn for drawn in ax.collections if drawn.get_alpha() == 0.15]
    corners = band.get_paths()[0].vertices[:, 1]
    assert corners.min() == pytest.approx((mean - 2 * std).min()) and corners.max() == pytest.approx((mean + 2 * std).max())
    # The line of the contours holds the true optimum, and not all of the box.
    (near,) = [drawn for drawn in plots.contours(result).collections if len(drawn.get_paths()) == 1 and drawn.get_zorder() == 2]
    (outline,) = near.get_paths()
    assert outline.contains_point((1, -2)) and not outline.contains_point((-4, 4))


def test_parallel_coordinates_have_gaps_where_a_condition_does_not_hold():
    space = labcat.Space(kind=["a", "b"], x=labcat.Real(0, 1, when={"kind": "b"}), y=(0, 1))
    result = labcat.minimize(lambda kind, y, x=0.5: y + x, space, budget=12, rng=1)
    lines, bridges = (drawn.get_segments() for drawn in plots.parallel(result).collections)
    count = sum(np.isnan(line).any() or len(line) < 4 for line in lines)
    assert count == sum("x" not in evaluation.params for evaluation in result.history) > 0
    # Each gap is bridged, from kind to y.
    assert len(bridges) == count and all(bridge[:, 0].tolist() == [0, 2] for bridge in bridges)


def test_contours_have_dots_where_both_parameters_apply():
    space = labcat.Space(kind=["a", "b"], x=labcat.Real(0, 1, when={"kind": "b"}), y=(0, 1))
    result = labcat.minimize(lambda kind, y, x=0.5: y + x - (kind == "a"), space, budget=12, rng=1)
    assert result.params["kind"] == "a"
    dots, *star = plots.contours(result, ["x", "y"]).lines
    assert len(dots.get_xdata()) == sum("x" in evaluation.params for evaluation in result.history) > 0
    assert not star
    assert len(plots.contours(result, ["kind", "y"]).lines) == 2


@pytest.mark.parametrize(
    "draw, named",
    [
        (lambda r: plots.slices(r, ["speed"]), "allowed: some of x0, x1"),
        (lambda r: plots.slices(r, []), "allowed: some of x0, x1"),
        (lambda r: plots.slices(r, axes=[plt.gca()]), "2 parameters are drawn into as many axes, not into 1"),
        (lambda r: plots.contours(r, ["x0"]), "2 parameters, not for 1"),
    ],
)
def test_what_cannot_be_drawn_is_named(draw, named):
    result = labcat.minimize(lambda x: x @ x, [(-1, 2)] * 2, budget=6, rng=1)
    with pytest.raises(labcat.InvalidError, match=named):
        draw(result)


def fitted(d=3, **options):
    t = np.linspace(0, 3, 30)
    data = sum(np.cos(k * t) for k in range(d)) + 0.1 * np.random.default_rng(1).standard_normal(30)

    def residuals(p):
        return sum(p[k] * np.cos(k * t) for k in range(d)) - data

    return labcat.least_squares(residuals, [(-3, 3)] * d, x0=[0] * d, budget=12 * d, rng=1, **options), t, data


def all_axes(figure):
    return [ax for part in figure.subfigs for ax in part.axes]


def test_the_picture_of_a_fit(tmp_path):
    result, t, data = fitted()
    figure = result.plot(data, at=t)
    upper, lower, *pairs = all_axes(figure)
    drawn, modelled = upper.lines
    assert np.array_equal(drawn.get_ydata(), data)
    assert np.allclose(modelled.get_ydata(), data + result.fun)
    assert np.array_equal(lower.lines[1].get_ydata(), result.fun)
    ellipses = [ax.lines[0] for ax in pairs if ax.lines]
    assert len(ellipses) == 3
    # With 27 degrees of freedom the ellipse reaches √(2 F(2, 27)) = √(2 · 3.354) standard errors.
    reach = np.max(np.abs(ellipses[0].get_xdata() - result.x[0])) / result.stderr[0]
    assert reach == pytest.approx(np.sqrt(2 * 3.354), rel=1e-3)
    figure.savefig(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 10_000


def test_pictures_of_fits_of_other_kinds():
    one, t, data = fitted(1)
    *_, interval = all_axes(plots.fit(one))
    assert "95 % confidence" in interval.get_xlabel()
    both = np.tile(t, 2)
    twice = labcat.least_squares(lambda p: np.tile(p[0] - data, 2), [(-3, 3)], x0=[0], budget=10, rng=1)
    upper = all_axes(twice.plot(np.tile(data, 2), at=both, model=np.full(60, twice.x[0])))[0]
    assert len(upper.lines) == 3  # the data, and a line for each series
    none = labcat.least_squares(lambda p: p - 1, [(-3, 3)] * 2, budget=3, rng=1)
    assert [text.get_text() for text in all_axes(none.plot())[-1].texts] == ["no standard errors"]
    with pytest.raises(labcat.InvalidError, match="data has 3 numbers: there are 30 residuals"):
        one.plot([1, 2, 3])


def test_regions_of_a_logarithmic_parameter_lie_around_their_centre():
    space = labcat.Space(a=labcat.Real(1e-4, 1e3, "log"), b=(0, 5))
    result = labcat.minimize(lambda p: np.log10(p["a"]) ** 2 + (p["b"] - 1) ** 2, space, budget=30, rng=1)
    boxes = outlines(plots.path(result))
    regions = [region for region in result.history.trust_region if region is not None]
    assert len(boxes) == len(regions) and (boxes[:, :, 0] > 0).all()
    for box, region in zip(boxes, regions):
        corners = np.log(box[:4, 0])
        assert corners.mean() == pytest.approx(np.log(region.centre[0]), abs=1e-9)


def test_a_best_value_of_zero_is_shown_where_values_span_orders():
    result = labcat.minimize(lambda x: float(abs(x[0] - 1) ** 3 if abs(x[0] - 1) > 1e-4 else 0), [(-3, 3)], budget=40, rng=1)
    assert result.fun == 0
    (ax,) = plots.slices(result)
    (star,) = [line for line in ax.lines if line.get_marker() == "*"]
    assert ax.get_yscale() == "log" and star.get_transform().transform((1.0, 0.0))[1] == pytest.approx(ax.bbox.y0)


def test_every_plot_of_steps_and_fixed_values():
    space = labcat.Space(dose=labcat.Real(0, 0.5, step=0.1), c=labcat.Real(0.25, 0.25), x=(0, 1))
    result = labcat.minimize(lambda p: (p["dose"] - 0.2) ** 2 + p["x"] + p["c"], space, budget=25, rng=1)
    for plot in (plots.overview, plots.convergence, plots.relevance, plots.slices, plots.contours, plots.parallel):
        plot(result)
