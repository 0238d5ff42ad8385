"""Responses that are seen: which family they call for, which level is modeled, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.frames.covariates import covariates_of
from subsetprivacy.frames.outcomes import observed_outcome


def outcome(column, family=None, baseline=None):
    return observed_outcome(covariates_of({"y": column}), "y", family, baseline)


@pytest.mark.parametrize(
    ("column", "family", "levels", "y"),
    [
        ([1.5, 2.0, 3.0], "linear", None, [1.5, 2, 3]),
        ([0, 1, 2, 5], "linear", None, [0, 1, 2, 5]),
        ([0, 1, 1], "logit", (0, 1), [0, 1, 1]),
        ([0.0, 1.0, 1.0], "logit", (0, 1), [0, 1, 1]),
        ([True, False], "logit", (False, True), [1, 0]),
        (["no", "yes", "no"], "logit", ("no", "yes"), [0, 1, 0]),
        (pd.Categorical(["b", "a"], ["b", "a"]), "logit", ("b", "a"), [0, 1]),
        ([1, 2, 2], "linear", None, [1, 2, 2]),
    ],
)
def test_the_family_that_a_column_calls_for(column, family, levels, y):
    result = outcome(column)
    assert (result.family, result.levels, result.chosen) == (family, levels, True)
    assert result.y.tolist() == y


@pytest.mark.parametrize(
    ("column", "family", "y"),
    [
        ([1, 2, 2], "logit", [0, 1, 1]),
        ([0, 1, 1], "linear", [0, 1, 1]),
        ([0, 1, 1], "poisson", [0, 1, 1]),
        ([0, 4, 1], "poisson", [0, 4, 1]),
        (["no", "yes"], "linear", [0, 1]),
    ],
)
def test_another_family_can_be_asked_for(column, family, y):
    result = outcome(column, family)
    assert (result.family, result.y.tolist(), result.chosen) == (family, y, False)


def test_what_was_chosen_is_told():
    assert outcome([1.5, 2.0]).notes == ()
    assert outcome([0, 1], "logit").notes == ()
    told = outcome([0, 1]).notes
    assert told[0].kind == "outcome"
    assert told[0].text == "y is 1 or 0; modeled is the log odds of 1."
    assert outcome([True, False]).notes[0].text == "y is True or False; modeled is the log odds of True."
    assert outcome(["no", "yes"]).notes[0].text == "y is yes or no; modeled is the log odds of yes."
    assert "baseline={'y': 'yes'} models no instead" in str(outcome(["no", "yes"]).notes[0])
    assert outcome(["no", "yes"], "linear").notes[0].text.endswith("the share of yes.")


def test_a_baseline_is_the_level_that_is_not_modeled():
    assert outcome(["no", "yes"], baseline="yes").y.tolist() == [1, 0]
    assert outcome(["no", "yes"], baseline="yes").levels == ("yes", "no")
    assert outcome(["no", "yes"], baseline="no").y.tolist() == [0, 1]
    with refused(CategoryError, "baseline") as caught:
        outcome(["no", "yes"], baseline="SECRET")
    assert "its levels are no, yes" in str(caught.value)
    with refused(ArgumentError, "baseline"):
        outcome([1.5, 2.5], baseline=1.5)


@pytest.mark.parametrize(
    ("column", "family", "told"),
    [
        ([1.0, np.nan, np.nan], None, "column y must have a value in every row; got 2 missing values, first in row 1"),
        ([1.0, 3.0, np.inf], None, "column y must be finite in every row; got 1 infinite value, first in row 2"),
        (["a", None, "b"], None, "column y must have a value in every row; got 1 missing value, first in row 1"),
        (["a", "b", "SECRET"], None, "y must be numbers, or have two levels; got 3 levels"),
        (["SECRET", "SECRET"], None, "y must vary; got the same value"),
        ([987654, 987654], None, "y must vary; got the same value"),
        ([True, True], None, "y must vary; got the same value"),
        ([1, 2, 987654], "logit", "must have two levels for a logit; got other numbers"),
        ([1, -987654, 3], "poisson", "must be counts for a Poisson model, at least 0; got 1 below, first in row 1"),
        ([1, 2, 3], "ordinal", "`family` must be one of"),
    ],
)
def test_what_is_refused_never_shows_a_cell(column, family, told):
    with pytest.raises(ArgumentError, match=told) as caught:
        outcome(column, family)
    assert "SECRET" not in str(caught.value)
    assert "987654" not in str(caught.value)
