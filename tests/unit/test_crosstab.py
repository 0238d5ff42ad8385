"""`crosstab`, in all its forms."""

from collections import Counter

import numpy as np
import pytest
from lopsided import ASKED, GIVEN3, RECORDED, WARNER
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, InvalidDesignError, MismatchError

V4 = sp.uniform(list("rstu"))
BOTH = sp.product({"x": ASKED, "y": V4})
# Lopsided, with a missing answer of each variable, and one row that lacks both.
X, Y, Z = [3, 12, 5, 15, 3, 15, 3, 10], [3, 3, 15, 12, 3, 15, 5, 6], [3, 5, 6, 6, 5, 3, 3, 3]


def cells(table):
    """People by tuple of codes, missing ones too."""
    parts = [part.tolist() for part in table.design.split(table.codes)]
    return {key: n for key, n in zip(zip(*parts), table.counts.tolist()) if n}


@pytest.fixture
def columns():
    return sp.SubsetData(X, ASKED), sp.SubsetData(Y, V4)


EXPECTED = dict(Counter(zip(X, Y)))


def test_two_columns(columns):
    table = sp.crosstab(*columns)
    assert isinstance(table, sp.JointCounts)
    assert cells(table) == EXPECTED
    assert table.names == ("x", "y")
    assert (table.n, table.n_missing) == (5, 3)
    assert repr(table) == ("<JointCounts of x (4) x y (4): n = 5, 4 distinct combinations of subsets, 3 incomplete>")


def test_two_columns_with_names(columns):
    assert sp.crosstab(*columns, names=["race", "income"]).names == ("race", "income")
    assert sp.crosstab(*columns, names=("race", "income")).design.by_name()["race"] is ASKED


def test_a_dict_of_columns(columns):
    table = sp.crosstab({"race": columns[0], "income": columns[1]})
    assert table.names == ("race", "income")
    assert cells(table) == EXPECTED
    assert sp.crosstab({"race": columns[0], "income": columns[1]}, names=["a", "b"]).names == ("a", "b")


def test_a_table_and_names():
    three = sp.SubsetTable([X, Y, Z], sp.product({"x": ASKED, "y": V4, "z": GIVEN3}))
    assert sp.crosstab(three).names == ("x", "y", "z")
    assert cells(sp.crosstab(three, "x", "y")) == EXPECTED
    chosen = sp.crosstab(three, "z", "x")
    assert chosen.names == ("z", "x")  # in the order that is asked for
    assert cells(chosen) == dict(Counter(zip(Z, X)))
    with pytest.raises(ArgumentError):
        sp.crosstab(three, "x", "x")
    with pytest.raises(ArgumentError):
        sp.crosstab(three, "y")
    with pytest.raises(CategoryError):
        sp.crosstab(three, "x", "income")


def test_rows_and_counts_of_a_product_design():
    three = sp.SubsetTable([X, Y, Z], sp.product({"x": ASKED, "y": V4, "z": GIVEN3}))
    rows = three.select(["x", "y", "z"])
    assert cells(sp.crosstab(rows)) == cells(sp.crosstab(three))
    assert cells(sp.crosstab(rows, "y", "x")) == dict(Counter(zip(Y, X)))
    assert cells(sp.crosstab(rows.counts(), "y", "x")) == dict(Counter(zip(Y, X)))
    counts = rows.counts()
    assert cells(sp.crosstab(counts)) == cells(sp.crosstab(three))
    assert cells(sp.crosstab(counts, "x", "y")) == EXPECTED
    plain = sp.SubsetCounts(counts.codes, counts.counts, counts.design)
    assert type(plain) is sp.SubsetCounts
    assert cells(sp.crosstab(plain, "x", "y")) == EXPECTED
    with pytest.raises(ArgumentError):
        sp.crosstab(counts, "x")


def test_codes_and_label_sets_with_designs():
    assert cells(sp.crosstab(X, np.array(Y), designs=[ASKED, V4])) == EXPECTED
    sets = [{"a", "b"}, {"c", "d"}, ("a", "c"), None, ["b", "a"], None, {"a", "b"}, {"b", "d"}]
    assert cells(sp.crosstab(sets, Y, designs=[ASKED, V4])) == EXPECTED
    assert cells(sp.crosstab({"x": sets, "y": Y}, designs=[ASKED, V4])) == EXPECTED
    half = sp.crosstab(sp.SubsetData(X, ASKED), Y, designs=[ASKED, V4])
    assert cells(half) == EXPECTED


def test_three_variables_and_more():
    table = sp.crosstab(X, Y, Z, designs=[ASKED, V4, GIVEN3])
    assert table.names == ("x", "y", "z")
    assert cells(table) == dict(Counter(zip(X, Y, Z)))
    five = sp.crosstab(*[list(X) for _ in range(5)], designs=[ASKED] * 5)
    assert five.names == ("x", "y", "z", "x4", "x5")


def test_designs_of_every_kind():
    told = [3, 4, 5, 11, 1]  # codes of a recorded partition; 1 is missing
    equal = [9, 6, 9, 6, 9]
    table = sp.crosstab(told, equal, designs=[RECORDED, WARNER], names=["group", "secret"])
    assert cells(table) == {(3, 9): 1, (4, 6): 1, (5, 9): 1, (11, 6): 1, (1, 9): 1}
    assert (table.n, table.n_missing) == (4, 1)


# Groups and weights -------------------------------------------------------------------------------------------------


def test_a_table_for_each_group(columns):
    by = ["n", "s", "n", "n", None, "s", "s", "n"]
    tables = sp.crosstab(*columns, by=by)
    assert list(tables) == ["n", "s", None]
    for group, table in tables.items():
        assert isinstance(table, sp.JointCounts)
        assert cells(table) == dict(Counter((x, y) for x, y, g in zip(X, Y, by) if g == group))


def test_frequency_weights_repeat_rows(columns):
    times = [2, 0, 1, 3, 1, 1, 4, 1]
    table = sp.crosstab(*columns, weights=times, weights_kind="frequency")
    expected = Counter()
    for x, y, n in zip(X, Y, times):
        expected[x, y] += n
    assert cells(table) == {key: n for key, n in expected.items() if n}
    assert table.squares is None
    assert (table.n, table.n_missing) == (8, 5)


def test_sampling_weights_keep_sums_and_squares(columns):
    weights = np.array([0.5, 1, 2, 1, 1.5, 1, 0.25, 3])
    table = sp.crosstab(*columns, weights=weights, weights_kind="sampling")
    whole = [k for k in range(8) if X[k] != 15 and Y[k] != 15]
    assert table.n == pytest.approx(weights[whole].sum() ** 2 / (weights[whole] ** 2).sum())
    assert cells(table)[3, 3] == pytest.approx(2.0)
    at = {key: k for k, key in enumerate(zip(*(part.tolist() for part in table.design.split(table.codes))))}
    assert table.squares[at[3, 3]] == pytest.approx(0.5**2 + 1.5**2)
    alone = table.margin("x", complete=True)
    assert alone.squares is not None
    assert alone.n == pytest.approx(table.n)
    assert str(table).startswith("Reported subsets, x by y, weighted, effective n = ")


def test_weights_by_group(columns):
    tables = sp.crosstab(*columns, by=["n", "s"] * 4, weights=np.arange(1, 9), weights_kind="frequency")
    assert tables["n"].counts.sum() == 1 + 3 + 5 + 7
    assert tables["s"].counts.sum() == 2 + 4 + 6 + 8


# Joined variables ---------------------------------------------------------------------------------------------------


def test_joined_variables_are_one_side_of_the_table():
    pair = sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]})
    both = sp.product({"pair": pair, "y": V4})
    W = np.outer(np.arange(1, 7) / 21, [0.1, 0.2, 0.3, 0.4]).ravel()
    table = sp.simulate(both, W, 3000, seed=1)
    assert table.names == ("sex x view", "y")
    assert table.margin("sex x view").n == 3000
    result = sp.independence_test(table, permutations=9, seed=1)
    assert result.df == 5 * 3
    assert result.hypothesis == "sex x view and y are independent"
    with refused(ArgumentError, "name"):
        table.margin("sex")
    values = list(pair.categories) * 5
    columns = sp.privatize(values, pair, seed=1), sp.privatize(list("rstuu") * 6, V4, seed=2)
    assert sp.crosstab(*columns).names == ("sex x view", "y")


# Refusals -----------------------------------------------------------------------------------------------------------


def test_what_is_no_table(columns):
    x, y = columns
    with pytest.raises(ArgumentError, match="two or more columns of subsets, or a table of them; got nothing"):
        sp.crosstab()
    with pytest.raises(ArgumentError, match=r"two or more columns with a subset per person.*got SubsetData\. Hint"):
        sp.crosstab(x)
    with refused(ArgumentError, "data"):
        sp.crosstab(x.counts(), y.counts())
    with refused(ArgumentError, "data"):
        sp.crosstab(x, "y")
    with pytest.raises(MismatchError, match="columns must have the same length, a row per person; got 3 and 8 rows"):
        sp.crosstab(x, sp.SubsetData(Y[:3], V4))
    for one, lacking in ((X, "x, y"), (x, "y")):
        with pytest.raises(ArgumentError, match=f"got none for {lacking}. Hint: designs="):
            sp.crosstab(one, Y)
    with refused(ArgumentError, "designs"):
        sp.crosstab(X, Y, designs=[ASKED])
    with refused(ArgumentError, "designs"):
        sp.crosstab(X, Y, designs=ASKED)
    with refused(MismatchError, "design"):
        sp.crosstab(x, Y, designs=[V4, V4])


def test_names_that_do_not_fit(columns):
    for names in (["race"], "xy", ["race", 3], ["race", "race"]):
        with refused(ArgumentError, "names"):
            sp.crosstab(*columns, names=names)
    with refused(ArgumentError, "names"):
        sp.crosstab(sp.SubsetTable([X, Y], BOTH), names=["a", "b"])


def test_dummy_rows_tie_columns_together():
    covered = sp.covered(BOTH, 0.05)
    rows = sp.privatize({"x": list("abcd") * 10, "y": list("rstu") * 10}, covered, seed=1)
    for arguments in ((rows,), (rows, "x", "y"), (rows.counts(),)):
        with pytest.raises(ArgumentError, match="`data` must not contain dummy rows"):
            sp.crosstab(*arguments)
    one = sp.privatize(list("abcd") * 10, sp.covered(ASKED, 0.1), seed=1)
    with pytest.raises(InvalidDesignError, match="dummy rows must cover all variables together"):
        sp.crosstab(one, sp.SubsetData(one.codes[::-1], one.design))


def test_groups_and_weights_belong_to_people(columns):
    counts = sp.crosstab(*columns)
    with refused(ArgumentError, "by"):
        sp.crosstab(counts, by=["a"])
    with refused(ArgumentError, "by"):
        sp.crosstab(counts, weights=[1], weights_kind="sampling")
    with refused(ArgumentError, "weights_kind"):
        sp.crosstab(*columns, weights=np.ones(8))
    with refused(MismatchError, "weights"):
        sp.crosstab(*columns, weights=np.ones(7), weights_kind="sampling")
    with refused(MismatchError, "by"):
        sp.crosstab(*columns, by=["a"] * 7)


def test_no_message_shows_what_a_person_reported():
    with pytest.raises(CodeError) as caught:
        sp.crosstab([3, 12, 11], Y[:3], designs=[ASKED, V4])
    assert "11" not in str(caught.value)
    with pytest.raises(CategoryError, match="not a category in row 1") as caught:
        sp.crosstab([{"a", "b"}, {"secret"}], Y[:2], designs=[ASKED, V4])
    assert "secret" not in str(caught.value)


# What people bring ------------------------------------------------------------------------------------------------


def test_designs_by_name():
    table = sp.crosstab({"race": X, "income": Y}, designs={"income": V4, "race": ASKED})
    assert cells(table) == EXPECTED
    assert table.names == ("race", "income")
    brought = sp.crosstab({"race": sp.SubsetData(X, ASKED), "income": Y}, designs={"income": V4})
    assert cells(brought) == EXPECTED
    with pytest.raises(ArgumentError, match="must come with its design; got none for income"):
        sp.crosstab({"race": X, "income": Y}, designs={"race": ASKED})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_and_names_of_its_columns(library):
    frame = pytest.importorskip(library).DataFrame({"race": X, "income": Y, "name": ["secret"] * len(X)})
    table = sp.crosstab(frame, "race", "income", designs=[ASKED, V4])
    assert cells(table) == EXPECTED
    assert table.names == ("race", "income")
    of_columns = sp.crosstab(frame["race"], frame["income"], designs=[ASKED, V4])
    assert cells(of_columns) == EXPECTED
    assert of_columns.names == ("race", "income")
    with pytest.raises(ArgumentError, match="must be in the table; got no column region"):
        sp.crosstab(frame, "race", "region", designs=[ASKED, V4])
    with refused(ArgumentError, "names"):
        sp.crosstab(frame, "race", "income", designs=[ASKED, V4], names=["u", "v"])
    with pytest.raises(ArgumentError, match="two or more columns of the data frame must be named; got fewer"):
        sp.crosstab(frame, "race", designs=[ASKED])


def test_a_data_frame_whose_columns_are_numbers():
    frame = pytest.importorskip("pandas").DataFrame({0: X, 1: Y})
    assert cells(sp.crosstab(frame, 0, 1, designs=[ASKED, V4])) == EXPECTED


def test_the_same_column_twice_is_no_second_draw():
    codes = X * 3
    with pytest.raises(ArgumentError):
        sp.crosstab(codes, list(codes), designs=[ASKED, ASKED])
    assert sp.crosstab(codes, codes, designs=[ASKED, sp.uniform(list("abcd"))]).n  # another design, by chance the same


def test_a_column_in_the_place_of_a_name_is_not_printed():
    frame = pytest.importorskip("pandas").DataFrame({"race": X, "income": Y})
    for column in (["secret"] * len(X), frame["race"]):
        with pytest.raises(ArgumentError) as caught:
            sp.crosstab(frame, "race", column, designs=[ASKED, V4])
        assert "secret" not in str(caught.value)
