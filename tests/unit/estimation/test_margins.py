"""The shares of one of several variables."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN3, TRIPLE
from problems import exact_shares, quietly, rising
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, BoundaryWarning, CategoryError
from subsetprivacy.messages import NoteKind

BOTH = sp.product({"x": ASKED, "y": GIVEN3})
W = rising(12)
FIT = sp.estimate(sp.simulate(BOTH, W, 20_000, seed=1))


def test_margins_add_up_the_joint_shares():
    table = FIT.table()
    assert table.shape == (4, 3)
    assert FIT.margin("x").w == pytest.approx(table.sum(axis=1))
    assert FIT.margin("y").w == pytest.approx(table.sum(axis=0))
    assert FIT.margin("x", "y").w == pytest.approx(table.ravel())
    assert FIT.margin("y", "x").w == pytest.approx(table.T.ravel())
    assert FIT.margin("y", "x").categories.names == ("y", "x")
    assert FIT.margin("x").categories == ASKED.categories


def test_margins_of_three_variables():
    fit = sp.estimate(sp.simulate(TRIPLE, rising(24), 50_000, seed=1))
    table = fit.table()
    assert table.shape == (4, 3, 2)
    assert fit.margin("z").w == pytest.approx(table.sum(axis=(0, 1)))
    assert fit.margin("z", "x").w == pytest.approx(table.sum(axis=1).T.ravel())


def test_errors_of_margins_are_those_of_the_sums():
    margin = FIT.margin("y")
    fold = np.array([[float(k % 3 == j) for k in range(12)] for j in range(3)])
    cov = fold @ FIT.cov @ fold.T
    assert margin.cov == pytest.approx(cov)
    assert margin.se == pytest.approx(np.sqrt(np.diag(cov)))
    by_contrast = FIT.contrast({combination: 1.0 for combination in FIT.categories if combination[1] == "y"})
    assert margin.w[1] == pytest.approx(by_contrast.value)
    assert margin.se[1] == pytest.approx(by_contrast.se)


@every_case("method", ["mle", "mom", "em"])
def test_expected_counts_have_the_margins_of_the_single_variables(method):
    joint = sp.estimate(exact_shares(BOTH, W), method)
    table = W.reshape(4, 3)
    for name, design, w in (("x", ASKED, table.sum(axis=1)), ("y", GIVEN3, table.sum(axis=0))):
        alone = sp.estimate(exact_shares(design, w), method)
        assert joint.margin(name).w == pytest.approx(alone.w, abs=1e-5)


COVERED = sp.covered(sp.product({"x": ASKED, "y": sp.uniform(range(4))}), 0.1)
JOINED = sp.join({"s": ["f", "m"], "v": ["no", "so", "yes"]})


@every_case(
    ("design", "shape", "name", "axis"),
    [(BOTH, (4, 3), "x", 1), (BOTH, (4, 3), "y", 0), (JOINED, (2, 3), "v", 0), (COVERED, (4, 4), "x", 1)],
    ids=["first", "second", "joined", "covered"],
)
def test_margins_are_right_as_far_as_they_claim_to_know(design, shape, name, axis):
    w = rising(design.p)
    margin = sp.estimate(sp.simulate(design, w, 50_000, seed=2)).margin(name)
    assert np.abs((margin.w - w.reshape(shape).sum(axis=axis)) / margin.se).max() < 4.5


def test_intervals_contrasts_and_frames():
    margin = FIT.margin("x")
    bounds = margin.interval(0.9, method="wald")
    assert bounds == pytest.approx(
        np.column_stack([margin.w - 1.6448536 * margin.se, margin.w + 1.6448536 * margin.se])
    )
    # The default follows the likelihood: near Wald's in a large sample, and not the same.
    default = margin.interval(0.9)
    assert default == pytest.approx(margin.interval(0.9, method="adjusted"), abs=1e-12)
    gap = np.abs(default - bounds) / margin.se[:, None]
    assert 1e-4 < gap.max() < 0.05
    contrast = margin.contrast({"a": 1, "d": -1})
    spread = margin.cov
    assert contrast.se == pytest.approx(np.sqrt(spread[0, 0] + spread[3, 3] - 2 * spread[0, 3]))
    frame = margin.to_frame()
    assert list(frame.columns) == ["category", "estimate", "se", "lower", "upper", "level", "interval"]
    assert frame["category"].tolist() == ["a", "b", "c", "d"]
    assert frame["estimate"].to_numpy() == pytest.approx(margin.w)
    text = str(margin.summary())
    assert text.startswith("Estimated shares of x, maximum likelihood, n = ")
    assert "lower 95%" in text
    assert repr(margin).startswith("<Margin of x: a ")
    assert margin.plot(reference=W.reshape(4, 3).sum(axis=1)) is not None


def test_bounds_are_cut_only_where_the_method_stays_in_the_simplex():
    counts = sp.simulate(BOTH, np.r_[np.zeros(3), np.full(9, 1 / 9)], 400, seed=3)
    with quietly():
        moments, best = sp.estimate(counts, "mom").margin("x"), sp.estimate(counts).margin("x")
        assert not moments.in_simplex
        assert moments.interval()[0, 0] < 0
        assert best.interval().min() == 0


def test_doubts_of_the_joint_estimate_are_those_of_the_margin():
    counts = sp.simulate(BOTH, np.r_[np.zeros(3), np.full(9, 1 / 9)], 4000, seed=3)
    with quietly():
        fit = sp.estimate(counts)
    assert fit.on_boundary
    for ask in (
        lambda m: m.se,
        lambda m: m.cov,
        lambda m: m.interval(method="wald"),
        lambda m: m.contrast([1, 0, 0, 0], method="wald"),
    ):
        with pytest.warns(BoundaryWarning, match="is 0"):
            ask(fit.margin("x"))
    margin = fit.margin("x")
    margin.interval()  # that of the likelihood does not warn
    margin.contrast([1, 0, 0, 0])
    assert [(note.kind, note.text) for note in margin.notes] == [(note.kind, note.text) for note in fit.notes]
    assert NoteKind.BOUNDARY in [note.kind for note in margin.notes]
    assert all(note.advice is None for note in margin.notes)
    assert margin.summary().notes[-len(margin.notes) :] == margin.notes


def test_a_projected_estimate_has_margins_too():
    counts = sp.simulate(BOTH, W, 500, seed=5)
    fit = sp.estimate(counts, "mom").projected()
    margin = fit.margin("y")
    assert margin.w.sum() == pytest.approx(1)
    with quietly():
        assert margin.se == pytest.approx(sp.estimate(counts, "mom").margin("y").se)


def test_arrays_are_locked():
    for shares in (FIT, FIT.margin("x")):
        with pytest.raises(ValueError, match="read-only"):
            shares.w[0] = 1


def test_what_has_no_margin():
    with refused(CategoryError, "name"):
        FIT.margin("z")
    with refused(ArgumentError, "names"):
        FIT.margin()
    alone = sp.estimate(sp.simulate(ASKED, [0.1, 0.2, 0.3, 0.4], 500, seed=1))
    with refused(ArgumentError, "margin"):
        alone.margin("x")
    assert alone.table().shape == (4,)


def test_a_variable_twice_is_refused():
    with pytest.raises((ArgumentError, CategoryError), match="must contain each variable once; got x, x"):
        FIT.margin("x", "x")


def test_a_joint_share_without_information_spoils_only_its_own_margin():
    pair = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
    with quietly():
        fit = sp.estimate(sp.simulate(pair, np.full(16, 1 / 16), 30, seed=4))
        assert not np.isfinite(fit.se).all()
        margin = fit.margin("x")
        assert not np.isnan(margin.se).any()
        for k, label in enumerate("abcd"):
            alone = fit.contrast(np.kron(np.eye(4)[k], np.ones(4))).se
            assert margin.se[k] == pytest.approx(alone), label


def test_margins_of_a_joint_too_large_for_a_matrix():
    joint = sp.join({"a": range(100), "b": range(100)}, design=sp.hadamard)
    fit = sp.estimate(sp.simulate(joint, np.full(10_000, 1e-4), 20_000, seed=1), "mom")
    margin = fit.margin("a")
    assert "Margin of a" in repr(margin)
    with quietly():
        assert margin.se[0] == pytest.approx(fit.contrast(np.kron(np.eye(100)[0], np.ones(100))).se)
        assert margin.contrast({0: 1, 1: -1}).se > 0
    assert np.abs((margin.w - 0.01) / margin._se).max() < 4.5
