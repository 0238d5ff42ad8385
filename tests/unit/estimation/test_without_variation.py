"""Moments of samples in which all reports agree: their error is unknown, and not zero."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, GIVEN, RECORDED

import subsetprivacy as sp
from subsetprivacy.errors import NotIdentifiableError
from subsetprivacy.messages import NoteKind

# Few people, as here, are warned of in any case.
pytestmark = [
    pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SmallCountWarning"),
    pytest.mark.filterwarnings("ignore::subsetprivacy.errors.BoundaryWarning"),
]

U4 = sp.uniform(list("abcd"))
WARNER = sp.warner(["no", "yes"], q=0.25)

ONE_SUBSET = {
    "alike": (U4, "mom"),
    "closed form": (U4, "mom-uniform"),
    "lopsided": (ASKED, "mom"),
    "given": (GIVEN, "mom"),
    "hadamard, many": (sp.hadamard(range(5000)), "mom"),
    "secret bit": (WARNER, "mom"),
    "secret bit, given the question": (WARNER, "mom-conditional"),
    "two variables": (sp.product({"x": U4, "y": sp.uniform(list("rstu"))}), "mom"),
    "two variables, closed form": (sp.product({"x": U4, "y": sp.uniform(list("rstu"))}), "mom-uniform"),
}


def agreeing(design, n=50):
    """All people report the same subset."""
    drawn = sp.simulate(design, np.full(design.categories.p, 1 / design.categories.p), 1, seed=1)
    return sp.SubsetCounts(drawn.observed_codes[:1], [n], design)


@every_case("name", ONE_SUBSET)
def test_one_distinct_subset_leaves_the_error_unknown(name):
    design, method = ONE_SUBSET[name]
    fit = sp.estimate(agreeing(design), method)
    assert np.isfinite(fit.w).all()
    assert np.isinf(fit.se).all()
    lower, upper = fit.interval().T
    assert (upper - lower > 0.99).all()
    assert fit.contrast({design.categories.labels[0]: 1}).se == np.inf
    assert NoteKind.UNKNOWN_ERRORS in [note.kind for note in fit.notes]
    assert "Unknown errors" in str(fit.summary())


def test_one_person_is_one_subset():
    assert np.isinf(sp.estimate(agreeing(U4, n=1), "mom").se).all()


def test_weighted_people_who_agree():
    counts = sp.count(np.full(40, 3), design=U4, weights=np.linspace(0.5, 2, 40), weights_kind="sampling")
    assert np.isinf(sp.estimate(counts, "mom").se).all()


def test_answers_that_all_name_one_category_do_not_vary_given_the_questions():
    # Three questions, and every answer holds a: moments given the questions are sure of it, from three people.
    counts = sp.SubsetCounts([3, 5, 9], [1, 1, 1], U4)
    fit = sp.estimate(counts, "mom-conditional")
    assert fit.w == pytest.approx([1, 0, 0, 0], abs=1e-9)
    assert np.isinf(fit.se).all()
    assert np.isfinite(sp.estimate(counts, "mom").se).all()  # subsets do vary


def test_recorded_groups_that_all_name_one_category():
    a = RECORDED.categories.labels[0]
    codes = RECORDED.support()[0]
    inside = np.array([code for code in codes if a in RECORDED.members(int(code))])
    fit = sp.estimate(sp.SubsetCounts(inside, np.full(len(inside), 5), RECORDED), "mom-conditional")
    assert np.isinf(fit.se).all()


def test_a_projected_estimate_keeps_what_is_unknown():
    fit = sp.estimate(agreeing(U4), "mom").projected()
    assert np.isinf(fit.se).all()


def test_where_reports_vary_nothing_changes():
    fit = sp.estimate(sp.SubsetCounts([3, 12], [49, 1], U4), "mom")
    assert (fit.se > 0).any()
    assert np.isfinite(fit.se).all()
    with pytest.raises(NotIdentifiableError):
        sp.estimate(sp.SubsetCounts([3, 12], [49, 1], U4), "mom-conditional")
