"""What may be privatized, from which library, and what errors never say."""

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, GIVEN, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Mixture
from subsetprivacy.errors import ArgumentError, CategoryError, NotPrivateWarning, TooLargeError, UnknownDesignError

VALUES = ["b", "a", "d", "c", "b", "b"]
HOLES = ["b", None, "d", "c", None, "b"]
NUMBERS = [1, 0, 3, 2, 1, 1]
INTEGERS = sp.uniform(range(4))


def pandas(values, dtype=None):
    return pytest.importorskip("pandas").Series(values, dtype=dtype)


def polars(values, dtype=None):
    pl = pytest.importorskip("polars")
    return pl.Series("x", values, dtype=getattr(pl, dtype) if dtype else None, strict=False)


def arrow(values):
    return pytest.importorskip("pyarrow").array(values)


def chunked(values, encode=False):
    pa = pytest.importorskip("pyarrow")
    parts = [pa.array(values[:3], pa.string()), pa.array(values[3:], pa.string())]
    return pa.chunked_array([part.dictionary_encode() if encode else part for part in parts])


def dictionary(values, index="int8"):
    pa = pytest.importorskip("pyarrow")
    return pa.array(values).cast(pa.dictionary(getattr(pa, index)(), pa.string()))


TEXT = {
    "tuple": tuple,
    "generator": iter,
    "numpy str": np.array,
    "numpy object": lambda v: np.array(v, object),
    "pandas": pandas,
    "pandas object": lambda v: pandas(v, "object"),
    "pandas category": lambda v: pandas(v, "category"),
    "pandas string": lambda v: pandas(v, "string"),
    "pandas Categorical": lambda v: pytest.importorskip("pandas").Categorical(v, categories=["d", "c", "b", "a", "q"]),
    "pandas Index": lambda v: pytest.importorskip("pandas").Index(v),
    "polars": polars,
    "polars Categorical": lambda v: polars(v, "Categorical"),
    "arrow": arrow,
    "arrow chunked": chunked,
    "arrow dictionary": dictionary,
    "arrow dictionary, unsigned": lambda v: dictionary(v, "uint32"),
    "arrow dictionary, chunked": lambda v: chunked(v, encode=True),
    "polars Categorical to arrow": lambda v: polars(v, "Categorical").to_arrow(),
}
CANNOT_MISS = {"numpy str"}


@every_case("kind", TEXT)
def test_every_kind_of_column_gives_the_same_subsets(kind):
    # The same seed: equal codes mean that every value was understood, in its row.
    expected = sp.privatize(VALUES, ASKED, seed=1).codes.tolist()
    assert sp.privatize(TEXT[kind](VALUES), ASKED, seed=1).codes.tolist() == expected


@every_case("kind", sorted(TEXT.keys() - CANNOT_MISS))
def test_missing_values_of_every_kind_become_full_sets(kind):
    data = sp.privatize(TEXT[kind](HOLES), ASKED, seed=1, missing="full")
    kept = sp.privatize([v for v in HOLES if v], ASKED, seed=1).codes.tolist()
    assert data.codes.tolist() == [kept[0], 15, kept[1], kept[2], 15, kept[3]]
    with pytest.raises(CategoryError, match=r"got 2 missing, first in row 1 .*Hint: missing="):
        sp.privatize(TEXT[kind](HOLES), ASKED)


@every_case("kind", TEXT)
def test_unknown_values_of_every_kind_are_refused(kind):
    # Category q is known to one of these columns, and unknown to the design.
    with pytest.raises(CategoryError, match="got 2 values that are not, first in row 3"):
        sp.privatize(TEXT[kind](["b", "a", "d", "q", "q"]), ASKED)


WHOLE = {
    "list": list,
    "numpy int64": np.array,
    "numpy uint8": lambda v: np.array(v, np.uint8),
    "numpy float": lambda v: np.array(v, np.float64),
    "numpy object": lambda v: np.array(v, object),
    "pandas": pandas,
    "pandas Int64": lambda v: pandas(v, "Int64"),
    "pandas category": lambda v: pandas(v, "category"),
    "polars": polars,
    "arrow": arrow,
}


@every_case("kind", WHOLE)
def test_integer_labels_of_every_kind(kind):
    expected = sp.privatize(VALUES, sp.uniform(ABCD), seed=1).codes.tolist()
    assert sp.privatize(WHOLE[kind](NUMBERS), INTEGERS, seed=1).codes.tolist() == expected


@every_case("kind", ["numpy float", "pandas", "pandas Int64", "pandas category", "polars", "arrow"])
def test_integer_labels_with_missing_values(kind):
    values = [1, None, 3] if kind != "numpy float" else [1, np.nan, 3]
    codes = sp.privatize(WHOLE[kind](values), INTEGERS, seed=1, missing="full").codes
    assert codes[1] == 15
    assert (codes[[0, 2]] >> np.array([1, 3]) & 1).all()


@every_case("kind", WHOLE)
def test_integers_out_of_range_are_refused(kind):
    with pytest.raises(CategoryError, match="got 1 value that is not, first in row 2"):
        sp.privatize(WHOLE[kind]([1, 0, 4, 3]), INTEGERS)
    if kind != "numpy uint8":  # a negative number does not count from the end
        with pytest.raises(CategoryError, match="got 1 value that is not, first in row 1"):
            sp.privatize(WHOLE[kind]([1, -1, 3]), INTEGERS)


def test_masked_values_are_missing():
    values = np.ma.array([1, 0, 3], mask=[False, True, False])
    with pytest.raises(CategoryError, match="got 1 missing, first in row 1"):
        sp.privatize(values, INTEGERS)
    assert sp.privatize(values, INTEGERS, missing="full").codes[1] == 15


@every_case("empty", [[], (), np.array([]), np.array([], int), np.array([], object)], ids=repr)
@every_case("design", [ASKED, GIVEN, INTEGERS], ids=lambda d: d.kind)
def test_nobody_gives_no_subsets(empty, design):
    data = sp.privatize(empty, design)
    assert len(data) == 0
    assert data.codes.dtype == np.int64


def test_empty_columns_of_other_libraries():
    for column in (pandas([], "object"), pandas([], "category"), polars([]), arrow([]), chunked([])):
        assert len(sp.privatize(column, ASKED)) == 0


def test_everybody_missing():
    assert sp.privatize([None, None], ASKED, missing="full").codes.tolist() == [15, 15]
    assert sp.privatize(arrow([None, None]), ASKED, missing="full").codes.tolist() == [15, 15]


def test_the_callers_values_are_left_alone():
    values = np.array([0, 1, 2, 3])
    data = sp.privatize(values, INTEGERS, seed=1)
    before = data.codes.tolist()
    values[:] = 0
    assert values.flags.writeable
    assert data.codes.tolist() == before
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0] = 1


# What is no column ------------------------------------------------------------------------------


def frames():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"cat": VALUES}  # pandas offers a column by this name as an attribute, as it does its accessor
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]


@every_case("k", range(3), ids=["pandas", "polars", "arrow"])
def test_a_data_frame_is_no_column(k):
    with pytest.raises(CategoryError):
        sp.privatize(frames()[k], ASKED)


def lazy_tables():
    frame = pytest.importorskip("pandas").DataFrame({"x": VALUES})
    yield pytest.importorskip("polars").LazyFrame({"x": VALUES}), "polars LazyFrame"
    yield pytest.importorskip("pyarrow.dataset").dataset(pytest.importorskip("pyarrow").table(frame)), "pyarrow"
    yield pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2), "dask"
    yield pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)["x"], "dask"
    yield pytest.importorskip("duckdb").from_arrow(pytest.importorskip("pyarrow").table(frame)), "duckdb"
    yield pytest.importorskip("ibis").memtable(frame), "ibis Table"
    yield pytest.importorskip("narwhals").from_native(frame).lazy(), "narwhals LazyFrame"


@pytest.mark.filterwarnings("ignore:.*infer_string")  # dask tells pandas what pandas does anyhow
@pytest.mark.parametrize("design", [ASKED, sp.product({"x": ASKED, "y": GIVEN})], ids=lambda d: d.kind)
def test_what_is_not_in_memory_is_sent_elsewhere(design):
    # Drawn anew at every use, the subsets of one person would intersect.
    for table, name in lazy_tables():
        with pytest.raises(CategoryError, match=rf"; got a _?{name}.* Hint: sp.privatize_table\("):
            sp.privatize(table, design)


def test_a_design_for_each_column_is_sent_elsewhere():
    with refused(ArgumentError, "design"):
        sp.privatize({"x": VALUES}, {"x": ASKED})


@every_case(
    ("values", "got"),
    [
        ("secret", "a single string"),
        ({"secret": 1}, "a dict"),
        ({"secret"}, "a set"),
        (7654321, "int"),
        ([["secret"], ["secret"]], "2 values that are not, first in row 0"),
        (np.array([["secret"]]), r"shape \(1, 1\)"),
    ],
)
def test_what_is_no_column_is_refused(values, got):
    with pytest.raises(CategoryError, match=f"; got {got}") as caught:
        sp.privatize(values, ASKED)
    assert_silent(caught.value, "secret", "7654321")


def test_an_arrow_column_of_lists_is_refused():
    with pytest.raises(CategoryError):
        sp.privatize(arrow([["secret"]]), ASKED)
    with pytest.raises(CategoryError):
        sp.privatize(pytest.importorskip("pyarrow").scalar("secret"), ASKED)


# Errors never tell a value ------------------------------------------------------------------------


def assert_silent(error, *secrets):
    """No secret in the error, nor in anything that a traceback or a logger would show with it."""
    seen = error
    while seen is not None:
        for secret in secrets:
            assert secret not in f"{seen!s} {seen!r}"
        seen = seen.__cause__ or seen.__context__


@every_case("kind", ["list", *sorted(TEXT.keys() - {"pandas Categorical"})])
def test_privatize_never_echoes_a_value(kind):
    values = TEXT.get(kind, list)(["a", "b", "secret"])
    with pytest.raises(CategoryError, match="got 1 value that is not, first in row 2") as caught:
        sp.privatize(values, ASKED)
    assert_silent(caught.value, "secret")


@every_case("values", [[1, 0, 98765], np.array([1, 0, 98765]), np.array([1.0, 0.0, 98765.0])], ids=repr)
def test_privatize_never_echoes_a_number(values):
    with pytest.raises(CategoryError, match="got 1 value that is not, first in row 2") as caught:
        sp.privatize(values, INTEGERS)
    assert_silent(caught.value, "98765")


def test_an_unhashable_value_is_unknown_and_stays_unsaid():
    with pytest.raises(CategoryError, match="got 1 value that is not, first in row 1") as caught:
        sp.privatize(["a", {"name": "secret"}], ASKED)
    assert_silent(caught.value, "secret")


# Arguments --------------------------------------------------------------------------------------


def test_missing_has_two_choices():
    with refused(ArgumentError, "missing"):
        sp.privatize(VALUES, ASKED, missing="drop")


def test_the_design_must_say_how_to_draw():
    with pytest.raises(UnknownDesignError):
        sp.privatize(VALUES, UNKNOWN)


@every_case("design", [VALUES, None, "uniform"])
def test_the_design_must_be_one(design):
    with refused(ArgumentError, "design"):
        sp.privatize(VALUES, design)


def test_a_large_mixture_that_is_not_asked_cannot_be_drawn():
    halves = sp.conditional(range(30), {tuple(range(15)): 1.0, tuple(range(15, 30)): 1.0})
    mixed = Mixture.of([sp.uniform(range(30)), halves], [1, 1])
    with pytest.raises(TooLargeError):
        sp.privatize([0], mixed)


@pytest.mark.parametrize("design", [sp.nonprivate(ABCD), Mixture.of([ASKED, sp.nonprivate(ABCD)], [9, 1])])
def test_a_design_that_reports_values_warns(design):
    with pytest.warns(NotPrivateWarning, match=design.kind) as caught:
        sp.privatize(VALUES, design)
    assert caught[0].filename == __file__


def test_a_seed_that_also_made_the_values_does_not_tie_them_to_the_questions():
    # From one stream the questions would follow the values, and the estimate would be far off.
    w = np.array([0.1, 0.2, 0.3, 0.4])
    x = np.random.default_rng(1).choice(4, 20_000, p=w)
    fit = sp.estimate(sp.privatize(np.array(list("abcd"))[x], ASKED, seed=1))
    assert np.abs(fit.w - w).max() < 0.03
