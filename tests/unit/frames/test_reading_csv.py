"""CSV files as streams of text: nothing is lost silently, and every trouble has its line."""

import csv
import gc
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.csv_reader import csv_batches, csv_columns, line_of
from subsetprivacy.messages.for_files import LOOK_FOR_A_HEADER


@pytest.fixture
def written(tmp_path):
    def write(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def rows_of(path, columns=None, **options):
    return [row for batch in csv_batches(path, columns, **options) for row in zip(*batch.to_pydict().values())]


def test_columns_come_in_the_order_asked_for(written):
    path = written("a,b,c\n1,2,3\n4,5,6\n")
    assert rows_of(path, ["c", "a"]) == [("3", "1"), ("6", "4")]
    assert csv_columns(path) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("a,b\n1,2\n3,4", [("1", "2"), ("3", "4")]),
        ("a,b\r\n1,2\r\n", [("1", "2")]),
        ("a,b\r1,2\r", [("1", "2")]),
        ('\ufeff"a",b\n1,2\n', [("1", "2")]),
        ('a,b\n"x\n\ny",2\n', [("x\n\ny", "2")]),
        ('a,b\n"x""y",","\n', [('x"y', ",")]),
        ('a,b\n5",2\n', [('5"', "2")]),
        ("a,b\n1,2\n\n3,4\n\n", [("1", "2"), ("3", "4")]),
        ('a,b\n,""\nNA,null\n', [(None, None), ("NA", "null")]),
        ("a,b\n 1,2 \n", [(" 1", "2 ")]),
        ("a,b\n", []),
        ("a,b", []),
        ("\na,b\n1,2\n", [("1", "2")]),
        ("\r\n\r\na,b\r\n1,2\r\n", [("1", "2")]),
        ("\r\r\ra,b\r1,2\r", [("1", "2")]),
        ('\ufeff\n\n"a",b\n1,2\n\n3,4', [("1", "2"), ("3", "4")]),
        ('\na,"b"\n1,"x\n2"\n3,4\n', [("1", "x\n2"), ("3", "4")]),
        ("\n\na,b\n\n", []),
        ('a,b\n1,"2"', [("1", "2")]),
        ('a,b\n1,"2""', None),
        ('a,b\n1,"2"""', [("1", '2"')]),
        ('a,b\n1,"2"x', [("1", "2x")]),
        ('a,b\n1,2"', [("1", '2"')]),
    ],
)
def test_what_is_a_cell(written, content, rows):
    if rows is None:
        with pytest.raises(DataFileError, match="line 2 is not closed"):
            rows_of(written(content), ["a", "b"])
        return
    assert rows_of(written(content), ["a", "b"]) == rows


def test_a_blank_line_is_an_empty_cell_where_there_is_one_column(written):
    assert rows_of(written("a\n1\n\n2\n"), ["a"]) == [("1",), (None,), ("2",)]
    assert rows_of(written("a\n\n\n"), ["a"]) == [(None,), (None,)]
    assert rows_of(written("a\n"), ["a"]) == []


def test_blank_lines_before_the_header_are_nobody_but_are_lines(written):
    path = written("\n\r\na\n1\n\n2\n")
    assert rows_of(path, ["a"]) == [("1",), (None,), ("2",)]
    assert [line_of(path, row) for row in (0, 1, 2)] == [4, 5, 6]
    pair = written("\n\na,b\n1,2\n\n3,4\n", "pair.csv")
    assert [line_of(pair, row) for row in (0, 1)] == [4, 6]
    with pytest.raises(DataFileError, match="1 row does not, first in line 5"):
        rows_of(written("\n\na,b\n1,2\n3\n"), ["a"])
    with pytest.raises(DataFileError, match=r"UTF-8; line 4 is not"):
        rows_of(written("\n\na,b\n\xe9,2\n".encode("latin-1")), ["a"])


def test_packed_files(written):
    path = written(gzip.compress(b"a,b\n1,2\n"), "people.csv.gz")
    assert rows_of(path, ["b"]) == [("2",)]
    cut = written(gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:40], "cut.csv.gz")
    with pytest.raises(DataFileError):
        rows_of(cut, ["b"])


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_told_by_the_header(written, separator):
    path = written(f"a{separator}b,c\n1{separator}2,5\n")
    assert rows_of(path, ["b,c"]) == [("2,5",)]
    plain = written(f"a{separator}b\n1,5{separator}2\n", "plain.csv")
    assert rows_of(plain, ["a"]) == [("1,5",)]
    assert csv_columns(plain) == ("a", "b")


def test_a_comma_wins_where_the_header_has_the_columns(written):
    assert rows_of(written("a,b;c\n1,2;3\n"), ["a", "b;c"]) == [("1", "2;3")]


def test_headers_that_were_made_safe_have_their_own_names_again(written):
    assert rows_of(written("'=a,b\n1,2\n"), ["=a"]) == [("1",)]


TROUBLES = {
    "too few and too many cells": (
        "a,b\n1,2\n3\n4,5,6\n7,8\n",
        r"2 cells in every row.*2 rows do not, first in line 3",
    ),
    "lines, not rows, are counted": ('a,b\n1,"x\n\ny"\n\n3\n', r"1 row does not, first in line 6"),
    "a quote that swallows the rest": ('a,b\n1,2\n"3,4\n5,6\n', r"line 3 is not closed"),
    "a quote in a column that nobody reads": ('a,b\n1,2\n3,"4\n5,6\n', r"line 3 is not closed"),
    "two quotes that swallow what is between": ('a,b\n1,2\n3,"4\n5,6\n7,"8\n', r"line 3 is not closed"),
    "a quote that is open at the end": ('a,b\n1,2\n3,"4', r"line 3 is not closed"),
    "a quote that is open at the end of the last line": ('a,b\n1,2\n3,"4\n', r"line 3 is not closed"),
    "a quote that is open at the end, and one that is none": ('a,b\n5",2\n3,"4', r"line 3 is not closed"),
    "a quote that is open at the end of many lines": ('a,b\n1,"2"\n' + "1,2\n" * 9 + '"3', r"line 12 is not closed"),
    "a quote that is open in the header": ('a,"b\n1,2\n', r"line 1 is not closed"),
    "a quote that is open in the only line": ('a,"b', r"line 1 is not closed"),
    "latin letters": ("a,b\n1,2\n\xe9,4\n".encode("latin-1"), r"UTF-8; line 3 is not"),
    "a latin header": ("\xe9,a\n1,2\n".encode("latin-1"), r"UTF-8; its header is not"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), r"it is in UTF-16"),
    "UTF-16 without a mark": ("a,b\n1,2\n".encode("utf-16-le"), r"it is in UTF-16"),
    "nothing": ("", r"it is empty"),
    "only line breaks": ("\n\n", r"it is empty"),
    "another header": ("age,b\n1,2\n", r"got no column a among its 2 columns\."),
    "a column twice": ("a,b,a\n1,2,3\n", r"must have one column 'a'; its header has 2"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_troubles_are_named_by_their_line(written, name):
    content, said = TROUBLES[name]
    with pytest.raises(DataFileError, match=said):
        rows_of(written(content), ["a"])


def test_the_closest_columns_are_listed(written):
    path = written("Income,salary\n1,2\n3,4\n")
    for wanted in ("income", "Incom"):
        with pytest.raises(DataFileError) as caught:
            rows_of(path, [wanted])
        assert "salary" not in str(caught.value)
    with pytest.raises(DataFileError):
        rows_of(path, ["age"])


HEADERLESS = {
    "a category again below": "Black,yes\n" + "White,no\nBlack,yes\n" * 5,
    "numbers": "39,Black\n" + "50,White\n38,Other\n" * 5,
    "the same twice": "no,Black,no\nyes,White,yes\n",
    "a list of names": "Black\nWhite\nGreen\n",
    "one line": "Black,Smith\n",
    "rare values among frequent ones": "Black\n" + "Jones\nSmith\nBlake\n" * 2 + "Blair\nWhite\n",
}


@pytest.mark.parametrize("name", HEADERLESS)
@pytest.mark.parametrize("wanted", ["black", "Blac", "race"])
def test_no_cell_of_a_file_without_a_header_is_shown(written, name, wanted):
    told = "Its first line is not shown, because without a header it could be a person's values"
    with pytest.raises(DataFileError, match=told) as caught:
        rows_of(written(HEADERLESS[name]), [wanted])
    assert "Black" not in str(caught.value)
    assert caught.value.advice == LOOK_FOR_A_HEADER()


def test_a_column_twice_is_no_matter_where_it_is_not_read(written):
    assert rows_of(written("a,b,a\n1,2,3\n"), ["b"]) == [("2",)]


def test_memory_is_bounded_by_the_block_whatever_the_quotes(written):
    with pytest.raises(DataFileError, match="line 2 is not closed"):
        rows_of(written('a,b\n"' + "x,y\n" * 500), ["a"], block=256)


@pytest.mark.parametrize("block", [16, 17, 23, 64, 999])
def test_the_last_line_is_known_whatever_the_block(written, block):
    rows = '1,"2"\n' * 100
    assert len(rows_of(written(f'a,b\n{rows}3,"4"'), ["a"], block=block)) == 101
    with pytest.raises(DataFileError, match="line 102 is not closed"):
        rows_of(written(f'a,b\n{rows}3,"4'), ["a"], block=block)
    with pytest.raises(DataFileError, match="line 102 is not closed"):
        rows_of(written(f'a,b\n{rows}3"x,"4\n'), ["a"], block=block)


def test_rows_are_the_same_whatever_the_block(written):
    path = written("a,b\n" + "".join(f'{k},"x\n{k}"\n' for k in range(200)))
    assert rows_of(path, ["b", "a"], block=64) == rows_of(path, ["b", "a"])
    assert [line_of(path, row) for row in (0, 1, 199)] == [2, 4, 400]


cells = st.text(alphabet="ab,;\"\n\r\té'=", max_size=6)


@given(st.lists(st.tuples(cells, cells), max_size=8))
@settings(max_examples=60, deadline=None)
def test_what_the_csv_module_writes_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("a", "b"), *rows])
    assert rows_of(path, ["a", "b"]) == [tuple(cell or None for cell in row) for row in rows]


def test_a_stream_that_is_left_early_is_let_go_of(tmp_path):
    """Arrow reads ahead in a thread of its own, which must not call back when Python has ended."""
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "value\n" * 50_000)
    batches = csv_batches(path, ["x"], block=1 << 12)
    next(batches)
    batches.close()
    assert not [held for held in gc.get_objects() if type(held).__name__ == "_Lent"]
