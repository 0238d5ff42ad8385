import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Coarse
from subsetprivacy.design.text import texts_of
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, InvalidDesignError, MismatchError

UNIFORM = sp.uniform(ABCD)
SETS = [{"a", "b"}, ("d", "c"), None, ["b", "a"], frozenset("ad"), {"a", "b", "c", "d"}]
CODES = [3, 12, 15, 3, 9, 15]


def table(counts):
    return dict(zip(counts.codes.tolist(), counts.counts.tolist()))


def same(one, two):
    squares = [None if c.squares is None else c.squares.tolist() for c in (one, two)]
    return table(one) == table(two) and one.design == two.design and squares[0] == squares[1]


# What may be counted ----------------------------------------------------------------------------


def test_label_sets_with_and_without_a_design():
    known = sp.count(SETS, design=UNIFORM)
    assert table(known) == {3: 2, 9: 1, 12: 1, 15: 2}
    assert known.design is UNIFORM
    unknown = sp.count([*SETS, {"a"}, {"b", "c", "d"}], categories=ABCD)
    assert table(unknown) == {1: 1, 3: 2, 9: 1, 12: 1, 14: 1, 15: 2}
    assert isinstance(unknown.design, Coarse)
    assert (unknown.n, unknown.n_missing) == (6, 2)


def test_data_codes_and_sets_count_alike():
    data = sp.SubsetData(CODES, UNIFORM)
    assert same(sp.count(data), sp.count(SETS, design=UNIFORM))
    assert same(sp.count(data), data.counts())
    assert same(sp.count(data, design=sp.uniform(ABCD)), data.counts())


def columns():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    lists = [None if s is None else sorted(s) for s in SETS]
    equal = [["a", "b"], ["c", "d"]] * 2  # lists of one length may come back as a matrix
    return {
        "tuple of codes": (tuple(CODES), CODES),
        "numpy": (np.array(CODES), CODES),
        "numpy uint8": (np.array(CODES, np.uint8), CODES),
        "numpy object": (np.array(SETS, object), CODES),
        "pandas": (pd.Series(CODES, index=range(10, 16)), CODES),
        "pandas Int64": (pd.Series(CODES, dtype="Int64"), CODES),
        "pandas sets": (pd.Series(SETS), CODES),
        "polars": (pl.Series(CODES), CODES),
        "polars lists": (pl.Series(lists), CODES),
        "polars lists, equal": (pl.Series(equal), [3, 12, 3, 12]),
        "arrow": (pa.array(CODES), CODES),
        "arrow uint16": (pa.array(CODES, pa.uint16()), CODES),
        "arrow chunked": (pa.chunked_array([CODES[:2], CODES[2:]]), CODES),
        "arrow lists": (pa.array(lists), CODES),
        "arrow lists, chunked": (pa.chunked_array([lists[:3], lists[3:]]), CODES),
        "generator": ((code for code in CODES), CODES),
        "generator of sets": ((s for s in SETS), CODES),
    }


def test_every_kind_of_column():
    for kind, (column, codes) in columns().items():
        assert same(sp.count(column, design=UNIFORM), sp.SubsetData(codes, UNIFORM).counts()), kind


def test_nobody():
    for nobody in ([], np.array([]), ()):
        assert sp.count(nobody, design=UNIFORM).n == 0
        assert sp.count(nobody, design=sp.uniform(range(30))).n == 0


def test_integer_labels_are_not_codes_inside_a_set():
    counts = sp.count([{0, 1}, {2, 3}], design=sp.uniform(range(4)))
    assert table(counts) == {3: 1, 12: 1}


@every_case(
    ("data", "error", "told"),
    [
        ("ab", CodeError, "got str"),
        ({frozenset("ab")}, CodeError, "got set. Hint: .*people who reported the same"),
        (frozenset({frozenset("ab")}), CodeError, "got frozenset"),
        ({3: 10}, CodeError, "got dict"),
        (5, CodeError, "got int"),
        (None, CodeError, "got NoneType"),
        (["ab", "cd"], CodeError, "got 2 texts.*first in row 0: it has a label that is not a cat"),
        ([{"a", "b"}, "cd"], CodeError, "got 1 text.*first in row 1: it has a label that is"),
        ([b"a|b"], CodeError, "got bytes in row 0"),
        ([{"a", "b"}, 12], CodeError, "got int in row 1"),
        ([{"a", "b"}, set()], CodeError, "not be empty; row 1 is"),
        ([{"a", "b"}, {"a", "zzz"}], CategoryError, "got a label that is not a category in row 1"),
        ([("a", "b", "a")], CategoryError, "got a label twice in row 0"),
        ([{"a", "b"}, {"a", "b", "c"}], CodeError, "the uniform design.*first in row 1"),
        ([3, 5, 0], CodeError, r"first in row 2 \(0, the empty set\)"),
        ([3, 5, 1], CodeError, "the uniform design.*first in row 2"),
        ([3, 2**40], CodeError, r"first in row 1 \(outside the categories\)"),
        ([3, -1], CodeError, r"first in row 1 \(outside the categories\)"),
        ([3.5, 5.0], CodeError, "got dtype float64"),
        (np.array([3.5, np.nan]), CodeError, "got dtype float64 with others, first in row 0"),
        (np.array([[3, 5]]), CodeError, "one-dimensional"),
        (np.array(["ab"]), CodeError, "got 1 text.*first in row 0"),
        (np.array([b"ab"]), CodeError, "got bytes"),
        (np.ma.array([3, 5], mask=[False, True]), CodeError, "got 1 masked entry"),
        (np.ma.array([3.0, 5.0], mask=[False, True]), CodeError, "got 1 masked entry"),
        (np.array([3.0, np.inf]), CodeError, "got dtype float64 with others, first in row 1"),
        (np.array([3.0, 1e300]), CodeError, "got dtype float64 with others, first in row 1"),
    ],
)
def test_what_cannot_be_counted(data, error, told):
    with pytest.raises(error, match=told):
        sp.count(data, design=UNIFORM)


@every_case("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame_is_no_column(library):
    # Its columns would pass for people where they hold distinct labels.
    frames = pytest.importorskip(library)
    make = frames.table if library == "pyarrow" else frames.DataFrame
    with pytest.raises(CodeError):
        sp.count(make({"x": ["a", "b"]}), design=UNIFORM)


@every_case("rows", [[{"a", "secret"}], [{"a", "b"}, ["secret"]], [("secret", "secret")], [["a", ["secret"]]]])
def test_count_never_echoes_a_label(rows):
    with pytest.raises(CategoryError, match=r"not a category in row [01]") as caught:
        sp.count(rows, categories=ABCD)
    assert "secret" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None  # it would name the label


def test_either_a_design_or_categories():
    with refused(ArgumentError, "design"):
        sp.count([3, 5])
    with refused(ArgumentError, "design"):
        sp.count([3, 5], design=UNIFORM, categories=["d", "c", "b", "a"])
    with refused(ArgumentError, "design"):
        sp.count([3, 5], design=ABCD)


def test_data_bring_their_design():
    data = sp.SubsetData(CODES, UNIFORM)
    with refused(MismatchError, "design"):
        sp.count(data, design=ASKED)
    with refused(ArgumentError, "data"):
        sp.count(data.counts())


def test_categories_of_others_are_checked():
    with pytest.raises(CategoryError):
        sp.count([{"a"}], categories="abcd")
    with pytest.raises(InvalidDesignError):
        sp.count([{1, 69}], categories=range(70))
    assert sp.count([{1, 47}], categories=range(48)).codes.tolist() == [2 + 2**47]
    with pytest.raises(InvalidDesignError):
        sp.count([{"a"}], categories=["a"])


# Groups -----------------------------------------------------------------------------------------


def test_groups_come_in_ascending_order():
    groups = sp.count(CODES, design=UNIFORM, by=["y", "x", "y", "x", "y", "z"])
    assert list(groups) == ["x", "y", "z"]
    assert [table(c) for c in groups.values()] == [{3: 1, 12: 1}, {3: 1, 9: 1, 15: 1}, {15: 1}]
    assert same(sum(groups.values()), sp.count(CODES, design=UNIFORM))


@every_case("kind", ["list", "tuple", "numpy", "pandas", "pandas category", "polars", "arrow", "iterator"])
def test_groups_of_every_kind(kind):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    make = {
        "list": list,
        "tuple": tuple,
        "numpy": np.array,
        "pandas": pd.Series,
        "pandas category": lambda v: pd.Series(v, dtype="category"),
        "polars": pl.Series,
        "arrow": pa.array,
        "iterator": iter,
    }[kind]
    groups = sp.count([3, 3, 12], design=UNIFORM, by=make([7, 8, 7]))
    assert [(key, type(key)) for key in groups] == [(7, int), (8, int)]
    assert table(groups[7]) == {3: 1, 12: 1}


def test_missing_groups_are_one_group():
    # No two NaN are equal.
    groups = sp.count([3, 3, 12, 5], design=UNIFORM, by=[float("nan"), "x", np.nan, None])
    assert list(groups) == ["x", None]
    assert table(groups[None]) == {3: 1, 5: 1, 12: 1}


def test_groups_with_weights():
    groups = sp.count([3, 3, 12], design=UNIFORM, by=list("xyx"), weights=[2, 3, 4], weights_kind="frequency")
    assert [table(c) for c in groups.values()] == [{3: 2, 12: 4}, {3: 3}]


def test_errors_in_groups_name_the_row_of_the_whole():
    with pytest.raises(CodeError, match="first in row 3"):
        sp.count([3, 3, 5, 1], design=UNIFORM, by=list("xxyy"))


@every_case(
    ("by", "error", "argument"),
    [
        (["x"], MismatchError, "by"),
        ("xyz", ArgumentError, "by"),
        ({"x", "y", "z"}, ArgumentError, "by"),
        ({"x": 1, "y": 2, "z": 3}, ArgumentError, "by"),
        (3, ArgumentError, "by"),
        (["x", ["y"], "z"], ArgumentError, "by"),
    ],
)
def test_groups_are_checked(by, error, argument):
    with refused(error, argument):
        sp.count([3, 3, 12], design=UNIFORM, by=by)


# Weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", [UNIFORM, sp.uniform(range(30))], ids=["cells", "sorting"])
def test_a_frequency_weight_is_the_row_repeated(design):
    codes, weights = np.array([3, 12, 3, 5, design.categories.full]), np.array([2, 3, 1, 0, 4])
    weighted = sp.count(codes, design=design, weights=weights, weights_kind="frequency")
    assert same(weighted, sp.count(np.repeat(codes, weights), design=design))
    assert weighted.counts.dtype == np.int64
    assert (weighted.n, weighted.n_missing) == (6, 4)


def test_frequency_weights_of_sets():
    counts = sp.count([{"a", "b"}, None], design=UNIFORM, weights=[2.0, 3.0], weights_kind="frequency")
    assert table(counts) == {3: 2, 15: 3}


@pytest.mark.parametrize("design", [UNIFORM, sp.uniform(range(30))], ids=["cells", "sorting"])
def test_sampling_weights_keep_sums_and_squares(design):
    codes = [3, 12, 3, design.categories.full]
    counts = sp.count(codes, design=design, weights=[0.5, 1.5, 2.0, 3.0], weights_kind="sampling")
    assert table(counts) == {3: 2.5, 12: 1.5, design.categories.full: 3}
    assert counts.squares.tolist() == [4.25, 2.25, 9]
    assert counts.n == 4**2 / 6.5  # Kish, without the missing
    assert counts.n_missing == 3


def test_equal_sampling_weights_lose_nobody():
    counts = sp.count([3, 12, 3, 5], design=UNIFORM, weights=[2.5] * 4, weights_kind="sampling")
    assert counts.n == pytest.approx(4)


@every_case(
    ("weights", "kind", "error", "told"),
    [
        ([1, 2], "frequency", MismatchError, r"`weights`.*got shape \(2,\) for 3 people"),
        ([[1, 2, 3]], "frequency", MismatchError, r"`weights`.*got shape \(1, 3\) for 3 people"),
        ([1, 2, 0.5], "frequency", ArgumentError, "whole.*got 1 weight .*first in row 2"),
        ([1, -1, 1], "frequency", ArgumentError, "whole.*got 1 weight .*first in row 1"),
        ([1, np.nan, 1], "frequency", ArgumentError, "whole.*got 1 weight .*first in row 1"),
        ([1, np.inf, 1], "sampling", ArgumentError, "finite.*got 1 weight .*first in row 1"),
        ([1, -0.5, -1], "sampling", ArgumentError, "finite.*got 2 weights .*first in row 1"),
        (["x", "y", "z"], "sampling", ArgumentError, "`weights` must be numbers"),
        ([1, 1, 1], "survey", ArgumentError, "`weights_kind` .*frequency, sampling; got 'survey'"),
    ],
)
def test_weights_are_checked(weights, kind, error, told):
    with pytest.raises(error, match=told):
        sp.count([3, 12, 3], design=UNIFORM, weights=weights, weights_kind=kind)


def test_counts_share_nothing_with_the_caller():
    codes, weights = np.array([3, 12]), np.array([1.5, 2.5])
    counts = sp.count(codes, design=UNIFORM, weights=weights, weights_kind="sampling")
    codes[:], weights[:] = 5, 0
    assert table(counts) == {3: 1.5, 12: 2.5}
    assert codes.flags.writeable
    assert weights.flags.writeable
    assert sp.count([{"a"}], categories=ABCD).design == UNKNOWN


def test_the_kind_of_weights_must_be_said():
    # Survey weights taken for frequencies would make people out of nothing.
    with refused(ArgumentError, "weights_kind"):
        sp.count([3, 12, 3], design=UNIFORM, weights=[200, 300, 150])


def test_gaps_among_codes_are_missing_answers():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for column in ([3, None, 5], pd.Series([3, None, 5], dtype="Int64"), pl.Series([3, None, 5])):
        assert table(sp.count(column, design=UNIFORM)) == {3: 1, 5: 1, 15: 1}


def test_errors_about_codes_do_not_show_how_large_one_was():
    with pytest.raises(CodeError) as caught:
        sp.count([3, 5, 1990], design=UNIFORM)
    assert caught.value.__context__ is None
    assert "199" not in str(caught.value)


@every_case("column", [np.array([3.0, np.nan, 5.0]), [3.0, None, 5.0], [3.0, float("nan"), 5]])
def test_codes_with_gaps_that_a_file_turned_into_floats(column):
    counts = sp.count(column, design=UNIFORM)
    assert (counts.n, counts.n_missing) == (2, 1)
    assert counts.observed_codes.tolist() == [3, 5]


def test_texts_of_numbered_subsets_are_read_in_a_column_as_in_a_table():
    design = sp.warner(["no", "yes"])
    codes = sp.privatize(["no", "yes"] * 20, design, seed=1).codes
    texts = [*texts_of(codes, design), None]
    column = sp.count(texts, design=design)
    table = sp.count(pd.DataFrame({"x": texts}), "x", design=design, missing="full")
    assert column.to_dict() == table.to_dict()
    assert (column.n, column.n_missing) == (40, 1)
    assert sp.count([None, None], design=design).n_missing == 2
    with pytest.raises(CodeError):
        sp.count([{"no"}, {"yes"}], design=design)
    with pytest.raises(CodeError):
        sp.count(["no", "perhaps"], design=design)
