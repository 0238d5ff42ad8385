import numpy as np
import pyarrow as pa
import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from subsetprivacy.errors import CategoryError
from subsetprivacy.subsets import Categories, bits, is_missing, sizes

COLOURS = Categories(["black", "red", "green", "blue"])


# Labels -----------------------------------------------------------------------------------------


@every_case(
    ("labels", "argument"),
    [
        ("abcd", "categories"),
        (b"abcd", "categories"),
        ({"a", "b", "c", "d"}, "categories"),
        (frozenset("abcd"), "categories"),
        ({"a": 1, "b": 2}, "categories"),
        (4, "categories"),
        (None, "categories"),
        ([], "categories"),
        (["a", None, "c", "d"], "categories"),
        (["a", "b", float("nan"), "d"], "categories"),
        (np.array([1.0, np.nan]), "categories"),
        (["a", "b", ["c"], "d"], "categories"),
        (["a", "b", {"c": 1}, "d"], "categories"),
        (np.eye(3), "categories"),
        (["a", "b", "a", "b", "c"], "categories"),
        ([1, 2, True], "categories"),  # 1 == True: one dictionary key
    ],
)
def test_unusable_labels_are_refused(labels, argument):
    with refused(CategoryError, argument):
        Categories(labels)


@pytest.mark.parametrize("name", ["NA", "NaT"])
def test_missing_values_of_pandas_are_no_labels(name):
    pd = pytest.importorskip("pandas")
    with pytest.raises(CategoryError):
        Categories(["a", getattr(pd, name), "c"])


@every_case("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_no_list_of_labels(library):
    # Iterating over a frame gives its column names, which would pass as labels.
    frames = pytest.importorskip(library)
    frame = frames.table({"x": ["a"]}) if library == "pyarrow" else frames.DataFrame({"x": ["a"]})
    with pytest.raises(CategoryError):
        Categories(frame)


def test_labels_keep_order_and_type():
    assert Categories(["b", "a", "c"]).labels == ("b", "a", "c")
    mixed = Categories([1, "1", 2.5, ("x", 1)])
    assert [type(label) for label in mixed] == [int, str, float, tuple]
    assert Categories(iter("abc")).labels == ("a", "b", "c")


@pytest.mark.parametrize("make", [np.array, lambda x: pytest.importorskip("pyarrow").array(x)], ids=["numpy", "arrow"])
def test_labels_of_other_libraries_become_plain(make):
    # A wrapped scalar would be written differently to JSON, and an Arrow one equals nothing but itself.
    assert [type(label) for label in Categories(make(["a", "b"]))] == [str, str]
    assert [type(label) for label in Categories(make([3, 5]))] == [int, int]


def test_index_names_the_categories():
    assert COLOURS.index("green") == 2
    with pytest.raises(CategoryError):
        COLOURS.index("white")
    with pytest.raises(CategoryError):
        COLOURS.index(["red"])


def test_preview_is_short():
    assert Categories(range(20)).preview(3) == "0, 1, 2, …"
    assert Categories(range(3)).preview(3) == "0, 1, 2"


# Codes ------------------------------------------------------------------------------------------


def test_code_is_the_bit_mask():
    assert [COLOURS.code([label]) for label in COLOURS] == [1, 2, 4, 8]
    assert COLOURS.code([]) == 0
    assert COLOURS.code(COLOURS) == COLOURS.full == 15


def test_order_of_members_never_shows():
    # A peer leaked the value as the first element of its set.
    assert COLOURS.code(["blue", "red"]) == COLOURS.code(("red", "blue")) == COLOURS.code({"blue", "red"}) == 10
    assert COLOURS.members(10) == ("red", "blue")


@given(st.integers(1, 48), st.data())
def test_code_and_members_are_inverse(p, data):
    categories = Categories(range(p))
    code = data.draw(st.integers(0, categories.full))
    assert categories.code(categories.members(code)) == code
    assert categories.full < 1 << 48


@every_case(
    ("members", "argument"),
    [
        ("red", None),
        (b"red", None),
        (3, None),
        (None, None),
        (["red", "white"], "label"),
        (["red", "blue", "red"], None),
    ],
)
def test_unusable_subsets_are_refused(members, argument):
    with refused(CategoryError, argument):
        COLOURS.code(members)


@every_case(
    ("labels", "one", "two"),
    [
        ([1, "1", 2], [1, 2], ["1", 2]),
        (["a|b", "a", "b"], ["a|b"], ["a", "b"]),
        ([1, 1.5, "1.5"], [1, 1.5], [1, "1.5"]),
    ],
)
def test_different_subsets_have_different_texts(labels, one, two):
    # Texts are the keys of `subset_shares`: a clash would lose people.
    categories = Categories(labels)
    assert categories.format(categories.code(one)) != categories.format(categories.code(two))


def test_format_joins_plain_labels():
    assert COLOURS.format(10) == "red|blue"
    assert COLOURS.format(0) == ""
    assert Categories([1, 2, 3]).format(5) == "1|3"


@every_case("p", [1, 3, 8, 9, 48])
def test_bits_and_sizes_agree_with_python(p):
    full = (1 << p) - 1
    codes = np.array(sorted({0, 1, full, full // 3, full & 0b1011}))
    rows = bits(codes, p)
    assert rows.shape == (len(codes), p)
    assert rows.tolist() == [[float(c >> j & 1) for j in range(p)] for c in codes.tolist()]
    assert sizes(codes).tolist() == [c.bit_count() for c in codes.tolist()]


# Positions of values ----------------------------------------------------------------------------


def test_positions_tell_unknown_from_missing():
    x, missing = COLOURS.positions(["red", "white", None, float("nan"), ["red"], "blue"])
    assert x.tolist() == [1, -1, -1, -1, -1, 3]
    assert missing.tolist() == [False, False, True, True, False, False]


def test_positions_without_missing_values_have_no_mask():
    x, missing = COLOURS.positions(["red", "white"])
    assert x.tolist() == [1, -1]
    assert missing is None


@every_case("dtype", ["i1", "u1", "i4", "u8", "i8"])
def test_integer_labels_in_order_are_positions(dtype):
    # A fast path without a dictionary; what lies outside must not wrap around or index from the end.
    values = np.array([3, 0, 4, 2, 100], dtype)
    x, missing = Categories(range(4)).positions(values)
    assert x.tolist() == [3, 0, -1, 2, -1]
    assert missing is None


def test_extreme_integers_are_unknown():
    signed = np.array([-1, np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    unsigned = np.array([2**64 - 1, 2**63, 1], np.uint64)
    assert Categories(range(4)).positions(signed)[0].tolist() == [-1, -1, -1]
    assert Categories(range(4)).positions(unsigned)[0].tolist() == [-1, -1, 1]


def test_integer_labels_in_another_order_are_looked_up():
    x, _ = Categories([0, 2, 1, 3]).positions(np.array([0, 1, 2, 3]))
    assert x.tolist() == [0, 2, 1, 3]


def test_text_and_numbers_are_different_labels():
    x, _ = Categories(["0", "1", "2", "3"]).positions([1, "1"])
    assert x.tolist() == [-1, 1]
    x, _ = Categories(range(4)).positions(np.array(["1", "2"]))
    assert x.tolist() == [-1, -1]


def test_floats_match_integer_labels():
    x, missing = Categories(range(4)).positions(np.array([1.0, 3.0, 1.5, np.nan]))
    assert x.tolist() == [1, 3, -1, -1]
    assert missing.tolist() == [False, False, False, True]


def test_what_lies_under_a_mask_is_missing():
    # The masked array's data still hold a value: it must not be published.
    values = np.ma.array([0, 1, 2], mask=[False, True, False])
    x, missing = Categories(range(4)).positions(values)
    assert x.tolist() == [0, -1, 2]
    assert missing.tolist() == [False, True, False]


@every_case(
    ("values", "argument"),
    [
        ("red", "values"),
        (b"red", "values"),
        ({"red", "blue"}, "values"),
        ({0: "red"}, "values"),
        (3, "values"),
        (None, "values"),
        (np.array([["red"], ["blue"]]), "values"),
        (np.array(3), "values"),
    ],
)
def test_what_is_no_column_is_refused(values, argument):
    with refused(CategoryError, argument):
        COLOURS.positions(values)


@every_case(("value", "expected"), [(None, True), (np.nan, True), (np.float32("nan"), True), (0, False)])
def test_is_missing(value, expected):
    assert is_missing(value) is expected


def test_is_missing_knows_pandas():
    pd = pytest.importorskip("pandas")
    assert is_missing(pd.NA)
    assert is_missing(pd.NaT)
    assert not is_missing(pd.Timestamp("2020-01-01"))


def test_the_keys_of_a_dict_have_an_order():
    assert Categories({"z": 0, "a": 1}.keys()).labels == ("z", "a")


@every_case("labels", [[0, 1, 2, 3], [3, 0, 2, 1], [10, -5, 7, 1 << 40]])
@every_case("kind", ["int8", "int64", "uint16", "uint64", "arrow", "arrow with a gap"])
def test_whole_numbers_are_looked_up_by_their_value(labels, kind):
    categories = Categories(labels)
    values = [label for label in labels * 3 if 0 <= label < 100] + [99]
    column = values if kind.startswith("arrow") else np.array(values, kind)
    if kind.startswith("arrow"):
        column = pa.chunked_array([values, [None]] if "gap" in kind else [values])
    x, absent = categories.positions(column)
    expected = [labels.index(value) if value in labels else -1 for value in values]
    assert x.tolist()[: len(values)] == expected
    assert (absent is None) == ("gap" not in kind)
