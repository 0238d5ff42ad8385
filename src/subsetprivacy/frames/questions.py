"""`count_questions` and `read_questions`: how questions were asked and answered."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from subsetprivacy._choices import QuestionKind
from subsetprivacy.counting.questions import QuestionColumns, count_question_columns
from subsetprivacy.data import QuestionCounts
from subsetprivacy.data.questions import UNKNOWN, question_kind
from subsetprivacy.design import Design
from subsetprivacy.engines import is_table, tally_batches
from subsetprivacy.errors import ArgumentError, SubsetPrivacyError
from subsetprivacy.frames.data_file import ColumnSelection, DataFile, check_present, read_batches
from subsetprivacy.frames.file_errors import file_error, naming_file, reading
from subsetprivacy.frames.files import format_of
from subsetprivacy.messages.for_files import EXPORT_OF_A_SURVEY
from subsetprivacy.tables import plain_header

_HEADER = ("variable", "partition", "shown", "answer", "n")


def count_questions(
    data: Any,
    *,
    answer: str,
    design: Design,
    shown: str | Sequence[str] | None = None,
    weight: str | None = None,
    kind: QuestionKind | None = None,
) -> QuestionCounts:
    """Count how questions were asked and answered.

    Parameters
    ----------
    data
        A table of pandas, Polars (eager or lazy), PyArrow, DuckDB, PySpark, Dask or Ibis, which is grouped by its own
        engine. Or the path of a CSV, Parquet or Arrow file, or of a folder of Parquet files, which is streamed.
    answer
        The column of answers. For yes/no questions: the words yes, no and skipped; or True and False; or 0 for yes, 1
        for no and -1 for a skip. For questions with groups: the chosen position, from 0, or -1. For a secret bit:
        same and different, or 0 and 1. An empty cell is a skip.
    design
        The design from which the questions are drawn.
    shown
        The column with the set in the question: labels joined by a bar, or codes. For questions with groups, a list
        of columns, one for each group, with empty cells where the group was not recorded; or none.
    weight
        A column with the number of people in each row, as in a table of counts.
    kind
        How the question was asked, if the design does not determine it; see `QuestionCounts`.

    Raises
    ------
    CodeError
        If a cell is not a question or answer of the design. The message gives the column, the count and the first
        row, never the cell.
    DataFileError
        If a file cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> from subsetprivacy.design import uniform
    >>> table = pd.DataFrame({"asked": ["a|b", "c|d", "a|b", "b|d"], "said": ["yes", "no", "skipped", "yes"]})
    >>> questions = count_questions(table, shown="asked", answer="said", design=uniform(list("abcd")))
    >>> questions.asked, questions.skipped, questions.counts().n
    (4, 1, 3)
    """
    columns = QuestionColumns.of(design, shown, answer, weight, kind)
    if isinstance(data, (str, PathLike)):
        return _of_file(Path(data), columns)
    if is_table(data):
        return count_question_columns(data, columns)
    raise ArgumentError(f"`data` must be a table or the path of a file; got {type(data).__name__}.")


def _of_file(path: Path, columns: QuestionColumns) -> QuestionCounts:
    file = DataFile(path, format_of(path))
    check_present(file, columns.columns)
    batches = read_batches(file, ColumnSelection({}, {}, tuple(columns.keys), columns.weight))
    groups = tally_batches(batches, columns.keys, columns.weight, bits=columns.bits, whole=True)
    with naming_file(file.where):
        return columns.read(groups, file.place)


# The export of a survey ---------------------------------------------------------------------------


def read_questions(path: str | PathLike[str], designs: Mapping[str, Design]) -> dict[str, QuestionCounts]:
    """Read how the questions of a survey were asked and answered, from `framings.csv` of its export.

    Parameters
    ----------
    path
        The file.
    designs
        The design of each variable, for example ``read_release(file).designs`` of the exported counts. Variables
        without a design are left out.

    Returns
    -------
    dict
        `QuestionCounts` by variable, in the order of `designs`.

    Raises
    ------
    DataFileError
        If it is no such file. The message gives the problem and the first line, never its content.
    """
    place = Path(path)
    lines: dict[str, list[tuple[int, list[str]]]] = {name: [] for name in designs}
    with reading(place), place.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        if tuple(next(rows, ()))[: len(_HEADER)] != _HEADER:
            raise file_error(place, f"must have the columns {', '.join(_HEADER)}; it has others", EXPORT_OF_A_SURVEY)
        for number, row in enumerate(rows, 2):
            if len(row) < len(_HEADER):
                raise file_error(place, f"must have {len(_HEADER)} columns in every line; line {number} has fewer")
            if (name := plain_header(row[0])) in lines:
                lines[name].append((number, row))
    return {name: _questions(place, name, designs[name], some) for name, some in lines.items()}


def _questions(path: Path, name: str, design: Design, lines: list[tuple[int, list[str]]]) -> QuestionCounts:
    kind = question_kind(design)
    width = {"yes_no": 1, "groups": design.options or 0}.get(kind, 0)
    shown = np.zeros((len(lines), width), np.int64)
    answers, n = np.zeros(len(lines), np.int64), np.zeros(len(lines), np.int64)
    for k, (number, row) in enumerate(lines):
        try:
            shown[k] = list(_shown(row[1], row[2], kind, design, width))
            answers[k], n[k] = int(row[3]), int(row[4])
        except (ValueError, OverflowError):
            raise file_error(path, f"must hold questions in every line; line {number} holds none") from None
    try:
        return QuestionCounts(design, shown, answers=answers, n=n)
    except SubsetPrivacyError as error:
        # Without a line number: lines of other variables are in between.
        what = error.message.partition(";")[0]
        raise file_error(path, f"must be of the given designs; for {name!r} {what}", error.advice) from None


def _shown(partition: str, side: str, kind: str, design: Design, width: int) -> Iterator[int]:
    """Yield the codes of the shown sets, from the numbers of a line."""
    if kind == "yes_no":
        code = int(partition)
        yield code if int(side) == 0 else int(design.complement(code))
    elif kind == "groups":
        yield from map(int, partition.split(",")) if partition else [UNKNOWN] * width
    elif partition:
        raise ValueError("no question shows anything")
