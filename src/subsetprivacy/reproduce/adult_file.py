"""Count a user's copy of the Adult data, and check it against the file that the paper analyzes (`sec_exp`)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from attrs import frozen

from subsetprivacy._paths import local_path
from subsetprivacy._types import IntArray
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.examples import ADULT_CASES, SEX_INCOME, Adult, adult
from subsetprivacy.messages.for_files import (
    NAME_ADULT_COLUMNS,
    TAKE_ADULT_DATA,
    TAKE_ADULT_DATA_UNSORTED,
    UNPACK_ADULT_DATA,
)

Labels = tuple[str, str, str]

FIELDS = 15
PLACES = (8, 9, 14)  # of race, sex and income in the UCI file, which has no header
NAMES = (("race",), ("sex", "gender"), ("income", "class"))
WHOLE = 48_842
OTHER_FILES = {  # by their rows
    30_162: "the copy without the rows with missing values",
    16_281: "the test part, adult.test",
    WHOLE: "the file of both parts",
    45_222: "the file of both parts without the rows with missing values",
    15_060: "the test part without the rows with missing values",
}
_RACES = {race: i for i, race in enumerate(adult.races)}
_INCOMES = {"<=50K": "low", ">50K": "high"}
_PAIRS = {pair: i for i, pair in enumerate(SEX_INCOME)}


@frozen
class AdultColumns:
    """The number of fields of a line, and the positions of race, sex and income."""

    fields: int
    race: int
    sex: int
    income: int


def read_adult(path: str | Path) -> Adult:
    """Count race, sex and income in a copy of the UCI file ``adult.data``.

    Parameters
    ----------
    path
        The file as published by UCI (no header, 15 fields per line), or a CSV file whose header names the columns
        race, sex (or gender) and income.

    Returns
    -------
    Adult
        Its 20 counts and the races of rows 12 to 15.

    Raises
    ------
    ArgumentError
        If it is not readable text, or a line has too few or too many fields.
    CategoryError
        If a label of race, sex or income is unknown.
    MismatchError
        If it is not the paper's file, that is, if its rows, counts or cases differ.

    Notes
    -----
    Messages contain line numbers and counts, never the content of a line.
    """
    place: dict[Labels, tuple[int, int]] = {}
    tally: dict[Labels, int] = {}
    cases: list[str] = []
    for total, (line, labels) in enumerate(islice(_people(local_path(path)), WHOLE + 1)):  # no part has more
        if labels not in place:
            place[labels], tally[labels] = _cell(labels, line), 0
        if total in ADULT_CASES:
            cases.append(adult.races[place[labels][0]])
        tally[labels] += 1
    _require_rows(sum(tally.values()))
    cells = np.zeros((len(_RACES), len(_PAIRS)), np.int64)
    for labels, people in tally.items():  # the same label with and without blanks
        cells[place[labels]] += people
    _require_counts(cells)
    counts = Adult(tuple(tuple(row) for row in cells.tolist()), tuple(cases))
    if counts.cases != ADULT_CASES:
        wrong = sum(counts.cases[row] != race for row, race in ADULT_CASES.items())
        raise MismatchError(
            f"`adult` must have the rows in the order of the UCI file; got {wrong} of the rows 12 to 15, counted from "
            "0, with another race than in the paper, while all counts agree.",
            TAKE_ADULT_DATA_UNSORTED,
        )
    return counts


def _people(path: Path) -> Iterator[tuple[int, Labels]]:
    """Yield the line number and the three labels of each person."""
    lines = _lines(path)
    try:
        number, first = next(lines)
    except StopIteration:
        raise MismatchError("`adult` must be the file adult.data; got a file without rows.") from None
    layout, headed = _layout(first, number)
    race, sex, income = layout.race, layout.sex, layout.income
    if not headed:
        yield number, (first[race], first[sex], first[income])
    for number, fields in lines:
        if len(fields) != layout.fields:
            raise ArgumentError(
                f"`adult` must have {layout.fields} fields in each line; got {len(fields)} in line {number}."
            )
        yield number, (fields[race], fields[sex], fields[income])


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not blank, each with its number from 1 and its fields."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            for fields in reader:
                blank = not fields or (len(fields) == 1 and not fields[0].strip())
                if not blank and not fields[0].startswith("|"):  # the first line of adult.test
                    yield reader.line_num, fields
    except OSError as error:
        raise ArgumentError(f"`adult` must be a file that can be read; got {error.strerror or 'an error'}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise ArgumentError(
            "`adult` must be a text file of fields between commas; got something else.", UNPACK_ADULT_DATA
        ) from None


def _layout(first: Sequence[str], line: int) -> tuple[AdultColumns, bool]:
    """Return the positions of the variables, and whether the first line is a header."""
    heads = [field.strip().lower() for field in first]
    if "race" in heads:
        places = [[i for i, head in enumerate(heads) if head in names] for names in NAMES]
        if any(len(positions) != 1 for positions in places):
            raise ArgumentError(
                "`adult` must have one column each of race, sex or gender, and income in its header; got "
                f"{', '.join(str(len(positions)) for positions in places)}."
            )
        return AdultColumns(len(heads), *(positions[0] for positions in places)), True
    if len(first) != FIELDS:
        raise ArgumentError(
            f"`adult` must have {FIELDS} fields between commas in each line; got {len(first)} in line {line}.",
            NAME_ADULT_COLUMNS,
        )
    return AdultColumns(FIELDS, *PLACES), False


def _cell(labels: Labels, line: int) -> tuple[int, int]:
    """Return the position of a person in the table of counts."""
    race, sex, income = (label.strip() for label in labels)
    income = _INCOMES.get(income.removesuffix("."), "")
    for name, right in (
        ("race", race in _RACES),
        ("sex", sex in {pair[0] for pair in _PAIRS}),
        ("income", bool(income)),
    ):
        if not right:
            raise CategoryError(
                f"`adult` must have the labels of the UCI file; got an unknown one of {name} in line {line}."
            )
    return _RACES[race], _PAIRS[sex, income]


def _require_rows(total: int) -> None:
    wanted = int(adult.race_counts.sum())
    if total != wanted:
        got = f"more than {WHOLE:,}" if total > WHOLE else f"{total:,}"
        which = f", as many as {OTHER_FILES[total]} has" if total in OTHER_FILES else ""
        raise MismatchError(
            f"`adult` must have {wanted:,} rows, as the training file of the paper; got {got}{which}.", TAKE_ADULT_DATA
        )


def _require_counts(cells: IntArray) -> None:
    """Compare the margins, then the joint table, and name the first that differs."""
    right = np.array(adult.cells)
    margins = {
        "race": cells.sum(axis=1) - right.sum(axis=1),
        "sex": (cells - right).sum(axis=0).reshape(2, 2).sum(axis=1),
        "income": (cells - right).sum(axis=0).reshape(2, 2).sum(axis=0),
        "sex by income": (cells - right).sum(axis=0),
        "race by sex by income": cells - right,
    }
    for name, away in margins.items():
        if away.any():
            raise MismatchError(
                f"`adult` must have the counts of the paper's file; got other counts of {name}: "
                f"{int(np.abs(away).sum()) // 2} rows would have to change."
            )
