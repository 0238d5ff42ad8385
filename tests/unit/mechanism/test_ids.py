"""What is an id, from which library, and what errors never say."""

import numpy as np
import pyarrow as pa
import pytest
from every_case import every_case
from refusals import refused

from subsetprivacy.errors import ArgumentError
from subsetprivacy.mechanism.ids import IdProblems, Ids, read_ids, scan_ids

NUMBERS = [5, -3, 12345678901234567]
TEXTS = ["5", "-3", "12345678901234567"]


class Name(str):
    """Text that shows itself as something else, as enumerations do."""

    def __str__(self):
        return "Name.FIVE"


def library(name):
    return pytest.importorskip(name)


WHOLE = {
    "list": list,
    "generator": iter,
    "numpy": np.array,
    "numpy objects": lambda v: np.array(v, object),
    "NumPy numbers in a list": lambda v: [np.int64(number) for number in v],
    "pandas": lambda v: library("pandas").Series(v),
    "pandas Int64": lambda v: library("pandas").Series(v, dtype="Int64"),
    "pandas Index": lambda v: library("pandas").Index(v),
    "polars": lambda v: library("polars").Series(v),
    "arrow": lambda v: library("pyarrow").array(v),
    "arrow chunked": lambda v: library("pyarrow").chunked_array([v[:1], v[1:]]),
}
TEXT = {
    "list": list,
    "numpy": np.array,
    "numpy objects": lambda v: np.array(v, object),
    "pandas": lambda v: library("pandas").Series(v),
    "pandas category": lambda v: library("pandas").Series(v, dtype="category"),
    "pandas string": lambda v: library("pandas").Series(v, dtype="string"),
    "polars": lambda v: library("polars").Series(v),
    "polars Categorical": lambda v: library("polars").Series(v, dtype=library("polars").Categorical),
    "arrow": lambda v: library("pyarrow").array(v),
    "arrow dictionary": lambda v: library("pyarrow").array(v).dictionary_encode(),
}


@every_case("kind", WHOLE)
def test_whole_numbers_are_their_decimal_text(kind):
    assert read_ids(WHOLE[kind](NUMBERS)).texts == [text.encode() for text in TEXTS]


@every_case("kind", TEXT)
def test_text_is_itself(kind):
    assert read_ids(TEXT[kind](["5", "é ", ""])).texts == [b"5", "é ".encode(), b""]


def test_numbers_and_text_may_be_mixed():
    mixed = [5, "x", np.uint64((1 << 64) - 1), Name(5), np.str_("y"), 1 << 70]
    assert read_ids(mixed).texts == [b"5", b"x", b"18446744073709551615", b"5", b"y", b"1180591620717411303424"]


def test_half_a_character_is_text_too():
    one, two = read_ids(["\ud800", "\ud801"]).texts
    assert one != two


@every_case("empty", [[], np.array([], object), np.array([])])
def test_nobody_has_no_ids(empty):
    assert len(read_ids(empty)) == 0
    assert repr(read_ids(["secret"])) == "<1 ids>"


HOLES = {
    "list": lambda: ["secret", None, "b", None],
    "NaN": lambda: ["secret", float("nan"), "b", np.nan],
    "masked": lambda: np.ma.array([987, 1, 2, 3], mask=[False, True, False, True]),
    "pandas": lambda: library("pandas").Series([987, None, 3, None]),
    "pandas Int64": lambda: library("pandas").Series([987, None, 3, None], dtype="Int64"),
    "polars": lambda: library("polars").Series([987, None, 3, None]),
    "arrow": lambda: library("pyarrow").array([987, None, 3, None]),
}


@every_case("kind", HOLES)
def test_missing_ids_are_counted_and_never_shown(kind):
    with pytest.raises(ArgumentError, match="got 2 missing, first in row 1") as e:
        read_ids(HOLES[kind]())
    assert "secret" not in str(e.value)
    assert "987" not in str(e.value)


@every_case(
    ("ids", "count", "first", "kind"),
    [
        ([1, 2.5, 3.0], 2, 1, "float"),
        (np.array([1.0, 987.0]), 2, 0, "float"),
        (["a", True], 1, 1, "bool"),
        (np.array([True, False]), 2, 0, "bool"),
        (["a", b"secret", ("secret",)], 2, 1, "bytes"),
    ],
)
def test_other_types_are_counted_and_never_shown(ids, count, first, kind):
    message = f"text or whole numbers; got {count} others?, first in row {first} .counted from 0., of type {kind}"
    with pytest.raises(ArgumentError, match=message) as caught:
        read_ids(ids)
    assert ("read the column as text" in str(caught.value)) == (kind == "float")
    assert "secret" not in str(caught.value)
    assert "987" not in str(caught.value)


def test_callers_may_have_the_numbers_instead():
    assert scan_ids(["a", None, 2.5]) == IdProblems("missing", 1, 1)
    assert scan_ids(["a", 2.5]) == IdProblems("type", 1, 1, "float")
    assert isinstance(scan_ids(["a", 2]), Ids)


def test_repeated_ids_are_counted_and_never_shown():
    ids = read_ids(["secret", "b", 7, "secret", "7", "secret"])
    assert ids.repeated == IdProblems("repeated", 3, 3)
    with pytest.raises(ArgumentError, match="distinct; got 3 rows that repeat an earlier id, first in row 3") as caught:
        ids.require_distinct()
    assert "secret" not in str(caught.value)
    assert read_ids(["a", "A", "a "]).repeated is None


@every_case(
    ("ids", "argument"),
    [
        ("secret", "ids"),
        (987, "ids"),
        ({"secret": 1}, "ids"),
        ({"secret"}, "ids"),
        (np.array([["secret"]]), "ids"),
    ],
)
def test_what_is_no_column_is_refused(ids, argument):
    with refused(ArgumentError, argument) as caught:
        read_ids(ids)
    assert "secret" not in str(caught.value)


def test_a_data_frame_is_no_column_of_ids():
    with refused(ArgumentError, "ids"):
        read_ids(library("pandas").DataFrame({"id": [1]}))


@every_case("unit", ["s", "ms", "us", "ns"])
def test_times_are_no_ids_whatever_their_unit(unit):
    column = pa.array([1, 2], pa.timestamp(unit))
    with pytest.raises(ArgumentError, match="must be text or whole numbers; got 2 others"):
        read_ids(column)
