"""Several columns of subsets, one row per person."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, RECORDED, WARNER
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, CodeError, MismatchError, NotPrivateWarning

Y = sp.uniform(list("rstu"))
BOTH = sp.product({"x": ASKED, "y": Y})
MANY = sp.product({"pair": sp.join({"s": [0, 1], "t": [0, 1]}), "g": RECORDED, "w": WARNER, "x": ASKED})


def drawn(n=2000, missing=False, seed=1):
    rng = np.random.default_rng(seed)
    x = [ABCD[j] for j in rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])]
    y = ["rstu"[j] for j in rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])]
    if missing:
        x[::10] = [None] * len(x[::10])
        y[::15] = [None] * len(y[::15])
    return sp.privatize({"x": x, "y": y}, BOTH, missing="full", seed=seed)


def test_columns_in_the_order_of_the_rows():
    table = drawn()
    assert isinstance(table, sp.SubsetTable)
    assert len(table) == 2000
    assert table.names == ("x", "y")
    assert repr(table) == "<SubsetTable: 2,000 people, <product design of x (4) x y (4)>>"
    assert table["x"].design is ASKED
    assert table["x"].codes.tolist() == table.columns[0].tolist()
    assert table["y"].design == Y


def test_joint_counts_are_those_of_distinct_rows():
    table = drawn()
    counts = table.counts()
    rows, times = np.unique(np.column_stack(table.columns), axis=0, return_counts=True)
    assert [part.tolist() for part in counts.design.split(counts.codes)] == [rows[:, 0].tolist(), rows[:, 1].tolist()]
    assert counts.counts.tolist() == times.tolist()
    assert table.counts("y", "x").codes.tolist() == counts.codes.tolist()
    alone = table.counts("x")
    assert alone.counts.tolist() == np.unique(table.columns[0], return_counts=True)[1].tolist()


def test_a_missing_variable_takes_the_row_out_of_the_joint_and_not_out_of_the_other():
    table = drawn(missing=True)
    x_gone, y_gone = 200, 134
    either = len(set(range(0, 2000, 10)) | set(range(0, 2000, 15)))
    joint = table.counts()
    assert (joint.n, joint.n_missing) == (2000 - either, either)
    assert (table.counts("x").n, table.counts("x").n_missing) == (2000 - x_gone, x_gone)
    assert (table.counts("y").n, table.counts("y").n_missing) == (2000 - y_gone, y_gone)
    fit = sp.estimate(joint)
    assert (fit.n, fit.n_missing) == (2000 - either, either)
    kept = np.flatnonzero((table.columns[0] != 15) & (table.columns[1] != 15))
    whole = sp.SubsetTable([column[kept] for column in table.columns], BOTH)
    assert sp.estimate(whole).w == pytest.approx(fit.w, abs=1e-9)
    bounds = fit.interval(method="bootstrap", replications=20, seed=1)
    assert bounds.shape == (16, 2)


def test_joined_variables_share_a_column():
    n = 300
    values = {"s": [0, 1] * 150, "t": [1] * n, "g": list("abc") * 100, "w": ["no"] * n, "x": ["d"] * n}
    table = sp.privatize(values, MANY, seed=1)
    assert table.names == ("s", "t", "g", "w", "x")
    assert len(table.columns) == 4
    assert table["t"].codes.tolist() == table["s"].codes.tolist() == table.columns[0].tolist()
    at = 2 * np.array(values["s"]) + 1
    assert (table.columns[0] >> at & 1).all()
    assert RECORDED.contains(table.columns[1], np.tile([0, 1, 2], 100)).all()
    assert (table.columns[3] >> 3 & 1).all()
    assert table.counts("s", "w").design.categories.names == ("s", "t", "w")


def test_rows_of_tuples_and_columns_are_the_same():
    rows = [("a", "r"), ("b", "s"), ("d", "u")] * 20
    columns = {"y": [row[1] for row in rows], "x": [row[0] for row in rows]}
    one, two = sp.privatize(rows, BOTH, seed=1), sp.privatize(columns, BOTH, seed=1)
    assert [c.tolist() for c in one.columns] == [c.tolist() for c in two.columns]


def test_the_variables_are_drawn_apart():
    # The same value in both, the same design in both: the subsets must not be the same.
    twice = sp.product({"one": Y, "two": Y})
    table = sp.privatize({"one": ["r"] * 4000, "two": ["r"] * 4000}, twice, seed=1)
    assert (table.columns[0] == table.columns[1]).mean() == pytest.approx(1 / 3, abs=0.04)


@every_case(
    ("values", "message"),
    [
        ({"x": ["a", "secret"], "y": ["r", "s"]}, "x: .*first in row 1"),
        ({"x": ["a", "b"], "y": ["r", "secret"]}, "y: .*first in row 1"),
        ({"x": ["a", None], "y": ["r", "s"]}, "x: .*got 1 missing, first in row 1"),
        ({"x": ["a"]}, "got none for y"),
    ],
)
def test_errors_name_the_variable_and_never_a_value(values, message):
    with pytest.raises(CategoryError, match=message) as caught:
        sp.privatize(values, BOTH)
    assert "secret" not in str(caught.value)


def test_a_wrong_value_of_joined_variables_is_not_shown():
    values = {"s": [0, 1], "t": [1, 7777], "g": ["a", "b"], "w": ["no", "no"], "x": ["d", "d"]}
    with pytest.raises(CategoryError, match=r"s, t: .*first in row 1") as caught:
        sp.privatize(values, MANY)
    assert "7777" not in str(caught.value)


def test_a_variable_that_is_not_private_is_warned_of():
    naked = sp.product({"x": sp.nonprivate(ABCD), "y": Y})
    with pytest.warns(NotPrivateWarning):
        sp.privatize({"x": ["a"], "y": ["r"]}, naked)


@every_case(
    ("columns", "error", "message"),
    [
        ([[3], [5], [3]], MismatchError, "`columns` .*got 3"),
        ([[3, 5], [5]], MismatchError, "`columns` .*got different lengths"),
        ([[3, 7], [5, 3]], CodeError, "x: `codes` .*first in row 1"),
        ([[3, 3], [5, 0]], CodeError, "y: `codes` .*first in row 1"),
        ([[3.5], [5]], CodeError, "`codes` .*got dtype float64"),
    ],
)
def test_columns_are_checked(columns, error, message):
    with pytest.raises(error, match=message):
        sp.SubsetTable(columns, BOTH)


def test_a_table_needs_a_product():
    with refused(CodeError, "design"):
        sp.SubsetTable([[3]], ASKED)


def test_columns_are_private_and_locked():
    mine = np.array([3, 5])
    table = sp.SubsetTable([mine, [3, 3]], BOTH)
    mine[0] = 12
    assert table.columns[0].tolist() == [3, 5]
    for one in (table, drawn(10)):
        with pytest.raises(ValueError, match="read-only"):
            one.columns[0][0] = 3


def test_an_unknown_variable_is_refused():
    for ask in (lambda t: t["z"], lambda t: t.counts("x", "z"), lambda t: t.select(["z"])):
        with refused(CategoryError, "name"):
            ask(drawn(10))


def test_nobody():
    table = sp.privatize({"x": [], "y": []}, BOTH)
    assert len(table) == 0
    assert table.counts().n == 0


def test_margins_of_the_joint_are_those_of_the_single_variables():
    # All subsets of both designs have two of four members: moments of the joint have the margins of the moments.
    table = drawn(5000)
    joint = sp.estimate(table.counts(), "mom")
    for name in ("x", "y"):
        alone = sp.estimate(table.counts(name), "mom")
        assert joint.margin(name).w == pytest.approx(alone.w, abs=1e-12)
        assert joint.margin(name).se == pytest.approx(alone.se, rel=1e-9)
        best = sp.estimate(table.counts()).margin(name)
        assert np.abs(best.w - sp.estimate(table.counts(name)).w).max() < 0.5 * alone.se.max()
