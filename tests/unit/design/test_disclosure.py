"""Which reports leave one value of a variable."""

from itertools import product as combinations

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, COVERED, TRIPLE

import subsetprivacy as sp
from subsetprivacy.design.disclosure import revealing_reports, values_left
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.errors import TooLargeError, UnknownDesignError
from subsetprivacy.incidence import DenseRows


def by_hand(design):
    """{variable: for each report whether its members share one value of it}."""
    joint = design.categories
    codes = design.support()[0]
    out = {}
    for k, name in enumerate(joint.names):
        held = design.contains(codes[:, None], np.arange(design.p))
        values = np.array([labels[k] for labels in joint.labels])
        out[name] = np.array([len(set(values[row].tolist())) == 1 for row in held])
    return out


@every_case(
    "design",
    [
        sp.uniform(sp.JointCategories({"s": ["f", "m"], "t": ["u", "v"]})),
        sp.uniform(sp.JointCategories({"s": ["f", "m"], "t": ["u", "v", "w"]})),
        sp.hadamard(sp.JointCategories({"s": ["f", "m"], "t": ["u", "v", "w"], "r": [0, 1]})),
        sp.fixed_size(sp.JointCategories({"s": ["f", "m", "x"], "t": ["u", "v"]}), 2),
        TRIPLE,
    ],
    ids=["2x2", "2x3", "2x3x2", "pairs of 3x2", "product"],
)
def test_what_is_revealed_is_what_all_members_share(design):
    result = revealing_reports(design)
    expected = by_hand(design)
    assert set(result) == set(expected)
    for name in expected:
        np.testing.assert_array_equal(result[name], expected[name])


def test_two_binary_variables_reveal_each_in_a_third():
    design = sp.uniform(sp.JointCategories({"s": ["f", "m"], "t": ["u", "v"]}))
    rows, mu = design.support_incidence, design.support()[1]
    for w in ([0.25] * 4, [0.1, 0.2, 0.3, 0.4]):
        law = mu * rows.inner(np.array(w))
        shown = revealing_reports(design)
        assert law[shown["s"]].sum() == pytest.approx(1 / 3)
        assert law[shown["t"]].sum() == pytest.approx(1 / 3)
        assert not (shown["s"] & shown["t"]).any()


def test_one_variable_is_the_value():
    assert not revealing_reports(ASKED)["the value"].any()
    assert revealing_reports(sp.nonprivate(list("abc")))["the value"].all()
    assert revealing_reports(uniform_with_bit(["no", "yes"]))["the value"].sum() == 2


def test_rows_that_are_not_zero_and_one_count_what_is_possible():
    joint = sp.JointCategories({"s": [0, 1], "t": [0, 1, 2]})
    M = np.zeros((8, 6))
    for row, (i, k, m) in zip(M, combinations([0, 0.25], [0, 0.5], [0, 1e-3])):
        row[[0, 2, 5]] = i, k, m
    left = values_left(DenseRows(M), joint)
    assert left["s"].tolist() == [len({0} if (M[r, 0] or M[r, 2]) else set()) + bool(M[r, 5]) for r in range(8)]
    assert left["t"].tolist() == [bool(M[r, 0]) + bool(M[r, 2] or M[r, 5]) for r in range(8)]


def test_dummies_hide_from_whoever_does_not_know():
    assert not revealing_reports(COVERED)["the value"].any()


def test_what_cannot_be_listed_is_refused():
    with pytest.raises(TooLargeError):
        revealing_reports(sp.uniform(range(30)))
    with pytest.raises(UnknownDesignError):
        revealing_reports(sp.design.coarse(list("abcd")))
