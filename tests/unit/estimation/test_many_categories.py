"""Estimates where no p x p matrix is made, checked against the matrix where there is one."""

import numpy as np
import pytest
from every_case import every_case
from problems import quietly

import subsetprivacy as sp
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation import mle as mle_module
from subsetprivacy.estimation.fisher import _by_gradients
from subsetprivacy.estimation.likelihood import _of_regular, observed_information, tangent_inverse
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.presenting import SHOWN, largest
from subsetprivacy.messages import NoteKind


def falling(p):
    w = 1 / np.arange(1, p + 1)
    return w / w.sum()


@every_case(
    "design",
    [
        sp.uniform(range(6)),
        sp.fixed_size(range(7), 3),
        sp.partition(range(8), 3),
        *(sp.hadamard(p) for p in (6, 40, 60, 200)),
    ],
)
@every_case("weighted", [False, True])
def test_moments_of_alike_pairs_are_those_of_the_matrix(design, weighted):
    counts = sp.simulate(design, falling(design.p), 5000, seed=1)
    if weighted:
        rng = np.random.default_rng(2)
        weights = rng.uniform(0.5, 3, len(counts.codes)) * counts.counts
        counts = sp.SubsetCounts(counts.codes, weights, design, squares=weights**2 / counts.counts.clip(1))
    fit = sp.estimate(counts, "mom")
    inverse = np.linalg.inv(design.support_incidence.gram(design.support()[1]))  # by listing, not by the closed form
    rows, f = counts.incidence.inner(np.eye(design.p)).T, counts.shares
    assert fit.w == pytest.approx(inverse @ (f @ rows), abs=1e-12)
    residual = rows - f @ rows
    squares = counts.squares if weighted else counts.counts
    covariance = inverse @ ((residual.T * (squares / counts.total**2)) @ residual) @ inverse
    with quietly():
        assert fit.se == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-9)
        assert fit.cov == pytest.approx(covariance, abs=1e-12)
        c = np.random.default_rng(3).normal(size=design.p)
        assert fit.contrast(c).se == pytest.approx(float(np.sqrt(c @ covariance @ c)), rel=1e-9)


def test_a_single_error_by_gradients_is_that_of_the_matrix():
    counts = sp.simulate(sp.hadamard(range(100)), falling(100), 50_000, seed=4)
    fit = sp.estimate(counts)
    c = np.zeros(100)
    c[[0, 7]] = 1, -1
    assert _by_gradients(fit, c) == pytest.approx(float(c @ fit._cov @ c), rel=1e-6)


def test_the_quick_inverse_is_that_of_the_eigenvectors():
    counts = sp.simulate(sp.hadamard(range(150)), np.full(150, 1 / 150), 200_000, seed=5)
    J = observed_information(counts.incidence, counts.shares, np.full(150, 1 / 150))
    quick = _of_regular(J)
    B, _ = np.linalg.qr(np.vstack([np.eye(149), -np.ones(149)]))
    assert quick == pytest.approx(B @ np.linalg.inv(B.T @ J @ B) @ B.T, rel=1e-8, abs=1e-12)
    assert tangent_inverse(J) == pytest.approx(quick)
    J[:, 3] = J[3, :] = 0
    assert _of_regular(J) is None  # left to the eigenvectors, which say what is lost


@pytest.mark.parametrize("p", [70, 200])
def test_steps_without_a_matrix_reach_the_maximum_of_newton(p):
    counts = sp.simulate(sp.hadamard(range(p)), falling(p), 20_000, seed=6)
    fit = sp.estimate(counts)
    best = newton(counts.incidence, counts.shares)
    assert fit.gap <= 1e-9
    assert fit.w == pytest.approx(best.w, abs=2e-5)
    assert fit.loglik / fit.n >= counts.shares @ np.log(counts.incidence.inner(best.w)) - 1e-9


def test_newton_goes_on_where_the_steps_stop_short(monkeypatch):
    counts = sp.simulate(sp.hadamard(range(70)), falling(70), 20_000, seed=6)
    calls = []
    monkeypatch.setattr(mle_module, "newton", lambda *args, **options: calls.append(1) or newton(*args, **options))
    with quietly():
        fit = sp.estimate(counts, start=np.eye(70)[69], max_iter=1)  # ten short steps from a far corner
    assert calls
    assert fit.gap < 1e-3


def test_five_thousand_categories_have_no_matrix():
    p = 5000
    counts = sp.simulate(sp.hadamard(p), falling(p), 100_000, seed=7)
    moments = sp.estimate(counts, "mom")
    assert np.abs((moments.w - falling(p)) / moments.se).max() < 5
    assert moments.contrast({0: 1}).se == pytest.approx(moments.se[0])
    with quietly():
        assert moments.projected().se[0] == moments.se[0]
    fit = sp.estimate(counts)
    assert fit.converged
    with quietly():
        assert fit.contrast({0: 1}).se == pytest.approx(moments.se[0], rel=0.1)
        for broken in (lambda: fit.se, lambda: fit.cov, lambda: moments.cov):
            with pytest.raises(TooLargeError, match=r"at most 4096 rows; got 5000 categories. Hint: contrast"):
                broken()
    text = str(fit.summary())
    assert "The 30 largest of 5000 categories" in text
    assert "method='mom' gives all of them" in text
    assert len(fit.to_frame()) == p
    assert "30 largest of 5,000" in fit.plot().get_title().replace("\n", " ")
    with pytest.raises(TooLargeError):
        fit.interval(method="profile")


def test_of_equal_shares_the_first_are_shown():
    """Which ones a sort that is not stable would take depends on the processor."""
    w = np.full(5000, 0.0002)
    assert list(largest(w)) == list(range(SHOWN))
    w[4000] = 0.0003
    assert list(largest(w)) == [*range(SHOWN - 1), 4000]


@every_case(("method", "limit"), [("one-step", 1024), ("conic", 512), ("mom-conditional", 4096)], ids=lambda x: str(x))
def test_methods_that_need_a_matrix_say_how_many_they_take(method, limit):
    counts = sp.simulate(sp.hadamard(5000), falling(5000), 1000, seed=8)
    with pytest.raises(TooLargeError, match=rf"at most {limit}.*got 5000.*Hint: method="):
        sp.estimate(counts, method)


def test_uniqueness_is_certain_only_if_every_question_was_asked():
    design = sp.hadamard(2000)
    few = sp.estimate(sp.simulate(design, falling(2000), 1000, seed=9))
    assert [note.kind for note in few.remarks] == [NoteKind.UNIQUENESS_UNCHECKED]
    many = sp.estimate(sp.simulate(design, falling(2000), 60_000, seed=9))
    assert not many.remarks


def test_where_nothing_is_known_an_error_along_a_direction_is_infinite():
    # Forty people cannot tell five thousand categories apart.
    fit = sp.estimate(sp.simulate(sp.hadamard(5000), falling(5000), 40, seed=10))
    with quietly():
        assert fit.contrast({0: 1, 17: -1}).se == np.inf


def test_an_audit_of_very_many_categories_has_no_intervals():
    report = sp.audit(sp.simulate(sp.hadamard(5000), falling(5000), 2000, seed=11))
    assert "No intervals: there are more than 4096 categories." in str(report.summary())
    assert "mi_leakage_lower" not in report.to_dict()
