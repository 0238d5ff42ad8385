"""Equations without a solution, bad input, and what no message may say."""

import json
import warnings

import numpy as np
import predictor_people as made
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    CodeError,
    MismatchError,
    NoDataError,
    NotIdentifiableError,
    NotUniqueWarning,
    SmallCountWarning,
    UnknownDesignError,
)
from subsetprivacy.messages import NoteKind
from subsetprivacy.predictors.layout import ModelLayout
from subsetprivacy.predictors.outcome import fit_outcome
from subsetprivacy.subsets import Categories

DESIGN = sp.uniform(list("abcd"))
SECRET = 98765.4321


def rare(n=600, seed=3):
    """Return people of whom hardly anyone is d, and no one of those has outcome 1."""
    rng = np.random.default_rng(seed)
    x = np.where(np.arange(n) < 4, 3, rng.integers(0, 3, n))
    y = ((rng.random(n) < 0.5) & (x != 3)).astype(float)
    V = np.column_stack([np.ones(n), rng.standard_normal(n), rng.integers(0, 2, n)])
    return y, V, sp.privatize(np.array(list("abcd"))[x], DESIGN, seed=seed).codes, DESIGN


def without_solution():
    """Return the first fit whose corrected equations have no solution, and the warnings of making it."""
    for seed in range(40):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = made.fit("logit", made=rare(seed=seed), labels="abcd")
        if not fit.fit.solved:
            return fit, [each.category for each in caught]
    raise AssertionError("every sample had a solution")


def test_a_category_that_leaves_no_solution_is_named():
    fit, caught = without_solution()
    assert NotUniqueWarning in caught
    assert fit.fit.unsolved == ("x[d]",)
    assert np.isnan(fit.coef).all()
    assert np.isnan(fit.se).all()
    note = next(note for note in fit.notes if note.kind == NoteKind.NOT_UNIQUE)
    assert "x[d]" in note.text
    assert "family='linear'" in str(note)
    assert fit.to_dict()["coefficients"][0]["estimate"] is None
    assert "x[d]" in str(fit.summary())
    assert "likelihood compared" not in str(fit.summary())
    assert fit.to_dict()["specification"]["pvalue"] is None
    assert "No test of x: the corrected equations have no solution." in str(fit.test("x").summary())


def good(**changed):
    y, V, codes, design, _ = made.people("linear", 300, labels="abcd", design=DESIGN)
    return {"y": y, "V": V, "codes": codes, "design": design, "layout": made.layout("abcd"), **changed}


def run(data, **more):
    return fit_outcome("income", data["y"], data["V"], data["codes"], data["design"], data["layout"], starts=1, **more)


def changed(array, row, value):
    out = np.array(array, copy=True)
    out[row] = value
    return out


def bad_inputs():
    data = good()
    y, V, codes = data["y"], data["V"], data["codes"]
    infinite = V.copy()
    infinite[4, 1] = np.inf
    twice = V.copy()
    twice[:, 2] = 2 * twice[:, 1]
    yield "nan outcome", {"y": changed(y, 7, np.nan)}, {}, ArgumentError, "1 row that is not, first in row 7"
    yield "not 0 or 1", {"y": changed((y > 0) * 1.0, 9, SECRET)}, {"family": "logit"}, ArgumentError, "in row 9"
    yield "not a count", {"y": changed(np.ones(300), 2, -1.0)}, {"family": "poisson"}, ArgumentError, "a count"
    yield "one outcome", {"y": np.ones(300)}, {}, NoDataError, "must vary"
    yield "short outcome", {"y": y[:-1]}, {}, MismatchError, "299 and 300 rows for 300 people"
    yield "infinite column", {"V": infinite}, {}, ArgumentError, "must be finite"
    yield "combination", {"V": twice}, {}, ArgumentError, "got u"
    yield "bad code", {"codes": changed(codes, 5, 16)}, {}, CodeError, "row 5"
    yield "nobody", {"codes": np.full(300, DESIGN.missing_code)}, {}, NoDataError, "one informative subset"
    yield "cells", {"layout": made.layout("abc")}, {}, MismatchError, "4 categories of the design; got 3"
    yield "family", {}, {"family": "gamma"}, ArgumentError, "`family` must be"
    yield "method", {}, {"method": "em"}, ArgumentError, "`method` must be"
    yield "one cluster", {}, {"clusters": np.zeros(300)}, ArgumentError, "at least two"
    yield "weights alone", {}, {"weights": np.ones(300)}, ArgumentError, "weights_kind"
    both = {"sampling": sp.Sampling(np.ones(300)), "clusters": np.arange(300)}
    yield "two samplings", {}, both, ArgumentError, "`weights` and `clusters` must be left out with `sampling`"
    yield "short sampling", {}, {"sampling": sp.Sampling(np.ones(9))}, MismatchError, "got 9"
    yield "offset", {}, {"offset": changed(np.ones(300), 3, np.nan)}, ArgumentError, "row 3"
    few = {"y": y[:3], "V": V[:3], "codes": codes[:3]}
    yield "few", few, {}, ArgumentError, r"at least as many people|must not be 0 or combinations"
    private = {"y": codes}
    more = {"response_design": DESIGN}
    yield "linear private", private, {**more, "family": "linear"}, ArgumentError, "'logit' for a private outcome"
    yield "baseline", private, {**more, "family": "logit", "baseline": "z"}, CategoryError, "got another label"


BAD = list(bad_inputs())


@every_case(("given", "more", "error", "match"), [each[1:] for each in BAD], ids=[each[0] for each in BAD])
def test_bad_input_is_refused(given, more, error, match):
    with pytest.raises(error, match=match) as caught:
        run(good(**given), **more)
    assert "98765" not in str(caught.value)


def test_designs_that_cannot_be_used():
    data = good()
    unknown = coarse(list("abcd"))
    with pytest.raises(UnknownDesignError):
        run({**data, "design": unknown})
    fit = run({**data, "design": unknown}, method="ml")
    known = run(data, method="ml")
    assert fit.coef == pytest.approx(known.coef, abs=1e-5)  # the likelihood needs rows only
    assert any(note.kind == NoteKind.UNKNOWN_DESIGN for note in fit.notes)
    assert np.isnan(fit.specification.pvalue[0])
    blind = sp.conditional(list("abcd"), {("a", "b"): 1.0, ("c", "d"): 1.0})
    with pytest.raises(NotIdentifiableError):
        run({**data, "design": blind, "codes": np.where(data["codes"] & 1, 0b0011, 0b1100)})


def test_few_people_warn():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made.fit("linear", made=made.people("linear", 60, labels="abcd", design=DESIGN), labels="abcd")
    assert any(each.category is SmallCountWarning and "Few people" in str(each.message) for each in caught)


def test_a_layout_refuses_what_is_not_one():
    with pytest.raises(ArgumentError, match="must have a row for each of 2 cells"):
        ModelLayout(("a",), {}, np.ones((3, 1)), np.array([0]), {"x": Categories(["p", "q"])}, {"x": "p"}, ("V",), 0)
    with refused(ArgumentError, "seen"):
        ModelLayout(("a",), {}, np.ones((2, 1)), np.array([4]), {"x": Categories(["p", "q"])}, {"x": "p"}, ("V",), 0)
    with pytest.raises(CategoryError, match="1 others, first in row 1") as caught:
        made.layout().positions({"x": ["a", "secret", "b"]})
    assert "secret" not in str(caught.value)
    with refused(CategoryError, "baseline"):
        made.layout(baseline="z")


def test_nothing_of_a_person_is_in_results():
    y, V, codes, design, _ = made.people("linear", labels="abcd", design=DESIGN)
    y, V = y.copy(), V.copy()
    y[3], V[5, 1] = SECRET, 12.3456789
    fit = made.fit("linear", made=(y, V, codes, design), labels="abcd")
    written = json.dumps(fit.to_dict()) + repr(fit) + str(fit.summary()) + repr(fit.problem) + repr(fit.fit)
    assert "98765.4321" not in written
    assert "12.3456789" not in written
