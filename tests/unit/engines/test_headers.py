"""Whether the names of a table are names, or the values of a person: only names are shown in messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import subsetprivacy as sp
from subsetprivacy import engines
from subsetprivacy.engines.headers import judge_header, judge_table, no_such_column
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.messages.for_files import TAKE_A_SIMILAR_COLUMN, TAKE_ONE_OF_ITS_COLUMNS

RACES = ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]
ADULT = [["39", "State-gov", "White"], ["50", "Private", "Black"], ["38", "Private", "White"]] * 10


def test_a_header_over_numbers_or_over_few_values_is_one():
    assert judge_header(["age", "work", "race"], list(zip(*ADULT, strict=True))) == "names"
    assert judge_header(["race"], [["White", "Black"] * 4]) == "names"
    assert judge_header(["", "race"], [["0", "1"], ["White", "Black"]]) == "names"  # an index that pandas has written


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["39", "White"], None),
        (["-1.5e3"], None),
        (["2020-01-31"], None),
        (["12:30", "x"], None),
        (["Private", "Private"], None),
        (["Private", "Private.1"], None),  # as pandas tells them apart
        (["White"], [["Black", " White"]]),
        (["White", "age"], [["Black", "White"], ["39", "50"]]),  # one that is a value is enough
    ],
)
def test_values_are_known_as_such(names, columns):
    assert judge_header(names, columns) == "values"


def test_a_category_is_no_name():
    columns = [["Black", "Other"] * 10]
    assert judge_header(["White"], columns) == "names"
    assert judge_header(["White"], columns, RACES) == "values"


@pytest.mark.parametrize("columns", [None, [[]], [["Smith"]], [["Smith", "Miller", "Jones"] * 2 + ["Blake", "Brown"]]])
def test_what_cannot_be_told_is_unknown(columns):
    assert judge_header(["Black"], columns) == "unknown"


def test_columns_that_pandas_has_numbered_are_no_values():
    frame = pd.DataFrame(ADULT)
    assert judge_table(frame) == "names"
    with pytest.raises(ArgumentError, match=r"got no column race among its 3 columns\. Hint: it has '0', '1', '2'\."):
        engines.check_columns(frame, ["race"])


def test_at_most_twelve_names_are_listed():
    _, advice = no_such_column("race", [f"item{k}" for k in range(40)], "the table", "names")
    assert advice.advice is TAKE_ONE_OF_ITS_COLUMNS
    assert advice.values["names"].endswith("'item10', 'item11' and 28 more")


def test_several_names_that_are_alike():
    _, advice = no_such_column("incme", ["income2", "income", "age"], "the table", "names")
    assert advice == TAKE_A_SIMILAR_COLUMN(names="'income' or 'income2'")


def requests(way, path, frame):
    """Ask for columns that are not there, each of the ways there are."""
    design = sp.uniform(RACES)
    ways = {
        "privatize a file": lambda name: sp.privatize_table(path, {name: design}, path.with_name("out.csv")),
        "privatize a frame": lambda name: sp.privatize_table(frame, {name: design}),
        "read a release": lambda name: sp.read_release(path, {name: design}),
        "count a frame": lambda name: sp.count(frame, name, design=design),
        "cross a frame": lambda name: sp.crosstab(frame, name, "more", designs=[design, design]),
        "a lazy frame": lambda name: sp.count(pl.from_pandas(frame).lazy(), name, design=design),
    }
    return ways[way]


WAYS = ["privatize a file", "privatize a frame", "read a release", "count a frame", "cross a frame", "a lazy frame"]


@pytest.mark.parametrize("way", WAYS)
def test_a_mistyped_column_is_answered_by_the_closest(tmp_path, way):
    drawn = np.random.default_rng(1).choice(RACES, 60).tolist()
    frame = pd.DataFrame({"race": drawn, "age": range(60)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    for name in ("Race", "rcae", "races"):
        told = f"no column {name} among its 2 columns.*did you mean 'race'"
        with pytest.raises((ArgumentError, DataFileError), match=told):
            requests(way, tmp_path / "people.csv", frame)(name)


@pytest.mark.parametrize("way", WAYS)
def test_no_way_shows_a_cell_of_a_file_without_a_header(tmp_path, way):
    drawn = ["Black", *np.random.default_rng(1).choice(RACES, 60).tolist()]
    path = tmp_path / "people.csv"
    path.write_text("".join(f"{race},Smith {k}\n" for k, race in enumerate(drawn)), encoding="utf-8")
    frame = pd.read_csv(path)  # takes the first person for the names
    for name in ("black", "Blac", "race"):
        told = f"no column {name} among its 2 columns.* not shown, because"
        with pytest.raises((ArgumentError, DataFileError), match=told) as c:
            requests(way, path, frame)(name)
        assert "Black" not in str(c.value)
        assert "Smith" not in str(c.value)


def test_a_rare_first_person_is_not_taken_for_a_header():
    # The first line is a person: a name, as in every row, and a value that no one else has.
    people = [f"person {k}" for k in range(200)]
    assert judge_header(["Ann Lee", "Inuit"], [people, ["White", "Black"] * 100]) == "unknown"
    assert judge_header(["sex", "race"], [["F", "M"] * 100, ["White", "Black"] * 100]) == "names"
