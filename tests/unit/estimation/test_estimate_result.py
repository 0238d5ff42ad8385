"""The one result: projections, tables, frames, JSON and pictures."""

import json
import sys

import numpy as np
import pytest
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from problems import lopsided, quietly
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, DistributionError, MissingDependencyError
from subsetprivacy.estimation.simplex import lifted, project

W = np.array([0.1, 0.2, 0.3, 0.4])
KEYS = [
    "categories",
    "estimate",
    "se",
    "lower",
    "upper",
    "interval",
    "level",
    "simultaneous",
    "n",
    "n_missing",
    "method",
    "loglik",
    "gap",
    "iterations",
    "converged",
    "notes",
]


@pytest.fixture(scope="module")
def fit():
    return sp.estimate(sp.simulate(lopsided(), W, 4000, seed=1))


@pytest.fixture(scope="module")
def outside():
    """A moment estimate with a negative entry."""
    fit = sp.estimate(sp.simulate(sp.uniform(range(6)), [0.01, 0.01, 0.08, 0.2, 0.3, 0.4], 60, seed=3), "mom")
    assert fit.w.min() < 0
    return fit


# Projections --------------------------------------------------------------------------------------

REALS = st.floats(-3, 3, allow_nan=False)


@given(st.lists(REALS, min_size=2, max_size=7))
@settings(max_examples=200, deadline=None)
def test_projection_is_the_nearest_distribution(y):
    y = np.array(y)
    x = project(y)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1)
    # Nearest in a convex set: no corner of it lies at an acute angle from x, seen towards y.
    corners = np.eye(len(y))
    assert ((corners - x) @ (y - x)).max() <= 1e-9
    assert project(x) == pytest.approx(x, abs=1e-12)


@given(st.lists(REALS, min_size=2, max_size=7), st.lists(st.floats(0.2, 5), min_size=7, max_size=7))
def test_weighted_projection_is_the_nearest_distribution(y, h):
    y, h = np.array(y), np.array(h[: len(y)])
    x = project(y, h)
    assert x.min() >= 0
    assert x.sum() == pytest.approx(1)
    corners = np.eye(len(y))
    assert ((corners - x) @ (h * (y - x))).max() <= 1e-9


def test_lifted_keeps_off_the_boundary():
    w = lifted(np.array([-0.2, 0.0, 0.5, 0.7]), 0.01)
    assert w.sum() == pytest.approx(1)
    assert w[0] == w[1] == pytest.approx(0.01 / 1.22)
    assert w[3] / w[2] == pytest.approx(1.4)


def test_a_moment_estimate_outside_says_so(outside):
    assert np.isnan(outside.loglik)
    assert np.isnan(outside.gap)
    assert outside.on_boundary == ()
    assert "outside the simplex. Hint: projected() gives a distribution." in str(outside.summary())
    with pytest.raises(DistributionError):
        sp.audit(outside.counts.design, outside.w)


def test_projected_is_named_and_once_is_enough(outside):
    moved = outside.projected()
    assert moved.w == pytest.approx(project(outside.w))
    assert moved.method == "mom, projected"
    assert moved.projected() is moved
    assert np.isfinite(moved.loglik)
    assert moved.gap > 0
    assert "Standard errors are those before the projection" in str(moved.summary())
    with quietly():
        assert np.array_equal(moved.cov, outside.cov)
        assert moved.interval().min() >= 0
    assert outside.w.min() < 0  # the raw, unbiased value is kept
    assert np.isfinite(sp.audit(moved.counts.design, moved.w).to_dict()["mi_leakage"])


def test_an_estimate_in_the_simplex_is_its_own_projection(fit):
    assert fit.projected() is fit


# Output -------------------------------------------------------------------------------------------


def test_to_dict_has_stable_keys_and_is_json(fit):
    facts = fit.to_dict(0.9)
    assert list(facts) == KEYS
    again = json.loads(json.dumps(facts, allow_nan=False))
    assert again == facts
    assert facts["level"] == 0.9
    assert facts["estimate"] == pytest.approx(list(fit.w))
    bounds = fit.interval(0.9)
    assert facts["lower"] == pytest.approx(list(bounds[:, 0]))
    assert facts["upper"] == pytest.approx(list(bounds[:, 1]))
    assert facts["n"] == 4000
    assert facts["loglik"] == pytest.approx(fit.counts.n_a @ np.log(fit.counts.incidence.inner(fit.w)))


def test_to_dict_of_every_method_has_the_same_keys(outside):
    assert list(outside.to_dict()) == KEYS
    json.dumps(outside.to_dict())


def test_to_frame_has_the_numbers(fit):
    bounds = fit.interval(0.9)
    numbers = ["estimate", "se", "lower", "upper"]
    names = ["category", *numbers, "level", "interval"]
    expected = np.column_stack([fit.w, fit.se, bounds])
    pandas = fit.to_frame(0.9)
    assert list(pandas.columns) == names
    assert list(pandas["interval"]) == ["adjusted"] * 4
    assert list(pandas["category"]) == list("abcd")
    assert list(pandas["level"]) == [0.9] * 4
    assert pandas[numbers].to_numpy() == pytest.approx(expected)


@every_case("engine", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named(fit, engine, monkeypatch):
    monkeypatch.setitem(sys.modules, engine, None)
    with pytest.raises(MissingDependencyError, match=f"Hint: pip install {engine}"):
        fit.to_frame(engine=engine)


def test_summary_reads_like_a_table(fit):
    text = str(fit.summary(0.9))
    lines = text.splitlines()
    assert lines[0] == "Estimated shares, maximum likelihood, n = 4,000"
    assert lines[2].split("  ")[0] == "category"
    assert "lower 90%" in lines[2]
    assert f"{fit.w[0]:.4f}" in lines[4]
    # Moments given the questions are the maximum here, and no step was needed; EM needs several.
    assert lines[-2] == f"log-likelihood {fit.loglik:.6g}, the maximum"
    assert lines[-1] == "Intervals by method 'adjusted': profile likelihood, corrected near 0 and 1."
    assert "per person below the maximum after" in str(sp.estimate(fit.counts, "em").summary())


def test_labels_are_text_and_never_markup():
    design = sp.uniform(["<b>", "a & b", "'quoted'", "plain"])
    fit = sp.estimate(sp.simulate(design, W, 1000, seed=1))
    html = fit._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "a &amp; b" in html
    assert "<b>" in str(fit.summary())


def test_missing_people_are_counted_in_the_title():
    design = lopsided()
    counts = sp.simulate(design, W, 500, seed=1) + sp.SubsetCounts([15], [7], design)
    assert sp.estimate(counts).summary().title.endswith("n = 500, 7 people missing and left out")


def test_repr_is_short_however_many_categories(fit):
    assert repr(fit).startswith(f"<Estimate by mle, n = 4,000: a {fit.w[0]:.4f} (se {fit.se[0]:.4f})")
    many = sp.estimate(sp.simulate(sp.uniform(range(20)), np.full(20, 0.05), 3000, seed=1))
    assert repr(many).endswith(", …>")
    assert len(repr(many)) < 250


# Pictures -----------------------------------------------------------------------------------------


def test_plot_shows_the_reference_by_label(fit):
    ax = fit.plot(reference=dict(zip("dcba", W[::-1], strict=True)))
    order = np.argsort(-fit.w)  # the largest share is on top
    assert [text.get_text() for text in ax.get_yticklabels()] == ["abcd"[j] for j in order]
    assert any(len(line.get_xdata()) == len(W) and np.allclose(line.get_xdata(), W[order]) for line in ax.lines)


def test_plot_keeps_the_order_of_labels_that_are_ranges_or_if_asked(fit):
    ranges = sp.estimate(sp.simulate(sp.uniform(["under 20", "20 to 39", "40 to 59", "over 60"]), W, 500, seed=1))
    labels = [text.get_text() for text in ranges.plot().get_yticklabels()]
    assert labels == ["under 20", "20 to 39", "40 to 59", "over 60"]
    assert [text.get_text() for text in fit.plot(sort=False).get_yticklabels()] == list("abcd")
    shares = [line.get_xdata() for line in ranges.plot(sort=True).lines if line.get_label().startswith("maximum")]
    np.testing.assert_array_equal(shares[0], np.sort(ranges.w)[::-1])


def test_plot_draws_on_given_axes_and_other_intervals(fit):
    from matplotlib import pyplot as plt

    ax = plt.subplots()[1]
    assert fit.plot(ax=ax, method="profile", level=0.8) is ax
    assert "80% interval" in ax.get_xlabel()


def test_plot_of_a_boundary_estimate_does_not_warn():
    fit = sp.estimate(sp.simulate(sp.uniform(range(5)), [0, 0.2, 0.2, 0.2, 0.4], 100, seed=5))
    assert fit.on_boundary
    assert isinstance(fit.plot(), Axes)


def test_plots_that_cannot_be(fit, outside):
    with refused(ArgumentError, "kind"):
        fit.plot(kind="pie")
    with refused(ArgumentError, "reference"):
        fit.plot(kind="difference")
    with refused(ArgumentError, "kind"):
        outside.plot(kind="convergence")
    with refused(DistributionError, "reference"):
        fit.plot(reference=[0.1, 0.1, 0.1, 0.1])


def test_only_a_summary_with_wald_intervals_advises_others():
    counts = sp.count([{"a", "b"}] * 30 + [{"b", "c"}] * 30 + [{"a"}] * 20 + [{"b"}] * 40, categories=list("abc"))
    with quietly():
        fit = sp.estimate(counts)
        assert fit.on_boundary
        assert "interval(method='auto')" in str(fit.summary(method="wald"))
        assert "interval(method=" not in str(fit.summary())
        assert "interval(method=" not in str(fit.summary(method="profile"))
