"""Labels joined by a bar are read by one reader, wherever they are: lists, arrays, series, tables, files."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from engines import CONSTRUCTORS
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.errors import CodeError

ABCD = list("abcd")
U4 = sp.uniform(ABCD)
PLAIN = ["a|b", "d|c", "a|b", "b|d"]
SPACED = ["a | b", " d|c ", "a |b", "b|  d"]
CODES = {3: 2, 12: 1, 10: 1}


def table(counts):
    return dict(zip(counts.codes.tolist(), counts.counts.tolist(), strict=True))


COLUMNS = {
    "list": list,
    "tuple": tuple,
    "generator": iter,
    "numpy text": np.array,
    "numpy objects": lambda texts: np.array(texts, object),
    "pandas": pd.Series,
    "pandas string": lambda texts: pd.Series(texts, dtype="string"),
    "pandas arrow": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "polars": pl.Series,
    "polars categories": lambda texts: pl.Series(texts, dtype=pl.Categorical),
    "polars enum": lambda texts: pl.Series(texts, dtype=pl.Enum(sorted(set(texts)))),
    "arrow": pa.array,
    "arrow large": lambda texts: pa.array(texts, pa.large_string()),
    "arrow dictionary": lambda texts: pa.array(texts).dictionary_encode(),
    "arrow chunks": lambda texts: pa.chunked_array([texts[:1], texts[1:]]),
}
GAPS = [name for name in COLUMNS if name not in ("numpy text", "polars enum")]


@every_case("kind", COLUMNS)
@every_case("texts", [PLAIN, SPACED], ids=["plain", "spaced"])
def test_a_column_of_texts_is_counted(kind, texts):
    assert table(sp.count(COLUMNS[kind](texts), design=U4)) == CODES


@every_case("kind", GAPS)
def test_gaps_among_texts_are_missing(kind):
    counts = sp.count(COLUMNS[kind](["a|b", None, "c|d"]), design=U4)
    assert (counts.n, counts.n_missing) == (2, 1)


@pytest.mark.parametrize("engine", list(CONSTRUCTORS))
def test_a_column_of_a_table_is_read_alike(engine, tmp_path):
    made = CONSTRUCTORS[engine][0]({"x": SPACED}, tmp_path)
    assert table(sp.count(made, "x", design=U4)) == CODES


def test_a_file_is_read_alike(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("x\n" + "\n".join(SPACED) + "\n")
    assert table(sp.read_release(path, {"x": U4}).count("x")) == CODES
    U4.save(tmp_path / "u4.json")
    told = CliRunner().invoke(main, ["count", str(path), "--design", str(tmp_path / "u4.json"), "--json"])
    assert told.exit_code == 0, told.output
    assert {tuple(row["codes"]): row["n"] for row in json.loads(told.output)["counts"]} == {(3,): 2, (10,): 1, (12,): 1}


def test_crosstab_reads_texts_too():
    y = ["a|c", "b|d", "a|d", "b|c"]
    plain = sp.crosstab(PLAIN, y, designs=[U4, U4])
    assert table(sp.crosstab(pd.Series(SPACED), y, designs=[U4, U4])) == table(plain)
    assert plain.n == 4


def test_texts_and_collections_may_be_mixed():
    assert table(sp.count(["a|b", {"c", "d"}, None], categories=ABCD)) == {3: 1, 12: 1, 15: 1}


def test_a_design_of_numbers_reads_them_as_labels():
    assert table(sp.count(["1|2", "3 | 4"], design=sp.uniform([1, 2, 3, 4]))) == {3: 1, 12: 1}


SECRET = "zebra"


@every_case(
    ("text", "cause"),
    [
        (SECRET, "it has a label that is not a category"),
        (f"a|{SECRET}", "it has a label that is not a category"),
        ("a|b|a", "it has a label twice"),
        ("a||b", "a label is missing before, between or after its bars"),
        ("a|b|", "a label is missing before, between or after its bars"),
        ("  ", "it is empty"),
        ("A|B", "it has a label with different upper and lower case"),
        ("a, b", "its labels are joined by ',', not by a bar"),
        ("a;b", "its labels are joined by ';', not by a bar"),
    ],
)
def test_the_cause_is_named_and_the_text_is_not(text, cause):
    hint = "Hint: a subset is written like 'a|b'; is this the design the data were collected with?"
    for data, named in (
        (["a|b", text, text], {}),
        (pd.Series(["a|b", text, text]), {}),
        (pd.DataFrame({"x": ["a|b", text, text]}), {"column": "x"}),
    ):
        with pytest.raises(CodeError) as caught:
            sp.count(data, design=U4, **named)
        assert str(caught.value).endswith(f"first in row 1: {cause}. {hint}")
        assert SECRET not in str(caught.value)


def test_where_labels_differ_by_spaces_only_spaces_count():
    design = sp.uniform(["a", " a", "b", "c"])
    assert table(sp.count(["a|b", " a|b"], design=design)) == {5: 1, 6: 1}
    with pytest.raises(CodeError):
        sp.count(["a | b"], design=design)
    only_space = sp.uniform([" ", "a", "b", "c"])
    assert table(sp.count([" |a"], design=only_space)) == {3: 1}


def test_labels_with_spaces_of_their_own_are_read_with_and_without():
    design = sp.uniform([" White", "Black ", "Other", "N/A"])
    assert table(sp.count([" White|Black ", "White|Black", "White | Black"], design=design)) == {3: 3}


def test_a_design_that_numbers_its_subsets_says_so():
    with pytest.raises(CodeError):
        sp.count(["0|1"], design=sp.hadamard(100))
