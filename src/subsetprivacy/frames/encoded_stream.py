"""`EncodedStream`: model matrix and codes of files that do not fit in memory, in batches."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from subsetprivacy._choices import Form, Missing, WeightsKind
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.frames.covariates import Covariates, LabelColumn
from subsetprivacy.frames.encoder import Encoder
from subsetprivacy.frames.file_covariates import FileCovariates, needs_all_rows
from subsetprivacy.frames.formula_terms import named_variables, read_terms, refuse_predictors, split_formula
from subsetprivacy.frames.formulas import TableOfCovariates, encoder_of_terms
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.release import Release


class EncodedBatch(NamedTuple):
    """A batch of rows: model matrix (m, d), codes of the response (m,), and weights and offset (m,) or None."""

    X: FloatArray
    codes: IntArray
    weights: FloatArray | None
    offset: FloatArray | None


class EncodedStream:
    r"""Stream the rows of files as model matrix and codes, in constant memory.

    Parameters
    ----------
    source
        A `Release`, the path of a file that `read_release` opens, or several, whose rows are concatenated.
    formula
        As in ``"race ~ age + C(sex)"``; the response is a column of subsets.
    designs
        For paths: ``{column: design}``, or the design of the response; by default as stored with the file.
    weights, weights_kind
        A column of weights and their kind, as in `count`. A file of counts includes its own.
    offset
        A column of numbers.
    missing
        How to treat an empty cell of the response: ``"error"`` (default) or ``"full"``, a missing answer.
    form
        As in `read_release`, for paths.
    in_memory
        Whether to load the covariates, but not the matrix, to allow terms that need all rows, such as ``center(age)``.
    leave_out
        Further columns that a dot in the formula excludes.

    Attributes
    ----------
    response, design
        The column of subsets, and its design.
    encoder
        The encoder of the matrix; its `columns` are the column names.
    rows
        The number of rows.
    counts
        The counts of the response, with weights.
    weights_kind
        The kind of weights; None without weights.

    Raises
    ------
    ArgumentError
        If a term needs all rows at once, as ``center(age)`` does, a private column is not the response, covariates
        are missing or infinite, or weights are invalid.
    CodeError
        If a cell of the response is not a subset of the design.
    DataFileError
        If a file cannot be read, or a column does not exist.
    MismatchError
        If files have different designs.

    Notes
    -----
    It reads the files once for the response and once for the covariates, to check all cells and to learn the levels,
    and then once per iteration. Rows come in the order of the files, at most 65,536 at a time, and fewer if the
    matrix is wide. The batches equal the result of `formula_matrix` for the same rows in memory, to the last bit.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from subsetprivacy.design import uniform
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "private.csv"
    ...     _ = path.write_text("letter,age\na|b,39\nb|c,50\n")
    ...     stream = EncodedStream(path, "letter ~ age", uniform(list("abcd")))
    ...     [(batch.X.tolist(), batch.codes.tolist()) for batch in stream]
    [([[1.0, 39.0], [1.0, 50.0]], [3, 6])]
    """

    def __init__(
        self,
        source: Release | str | Path | Sequence[Release | str | Path],
        formula: str,
        designs: Mapping[str, Design] | Design | None = None,
        *,
        weights: str | None = None,
        weights_kind: WeightsKind | None = None,
        offset: str | None = None,
        missing: Missing | None = None,
        form: Form | None = None,
        in_memory: bool = False,
        leave_out: Sequence[str] = (),
    ) -> None:
        if isinstance(designs, Design):
            designs = {split_formula(formula)[0]: designs}
        self._releases = _opened(source, designs, form)
        private = {name: None for release in self._releases for name in release.designs}
        self.response, right = split_formula(formula, private)
        refuse_predictors(right, private)
        self.design = common_design(self._releases, self.response)
        self._weights, self.weights_kind = _weights(self._releases, weights, weights_kind)
        self._offset = offset
        extra = [name for name in (self._weights, self._offset) if name is not None]
        terms = read_terms(right, [name for name in self._releases[0].kept if name not in (*extra, *leave_out)])
        for factor in terms.factors:
            if factor.remembers and not in_memory:  # before reading anything
                raise needs_all_rows(factor.text)
        _check_private(private, {"weights": weights, "offset": offset})
        if weights is None:
            for release in self._releases:
                release._refuse_counts([*named_variables(right, release.kept, release.names), *extra, *leave_out])
        asked = ([self.response], None, (weights, weights_kind), missing, None)
        self.counts: SubsetCounts = sum(release._counted(*asked) for release in self._releases)
        names = list(dict.fromkeys([*terms.variables, *extra]))
        self._covariates = FileCovariates(self._releases, names, terms.coded_columns)
        for name in extra:
            if self._covariates.facts[name].levels is not None:
                raise ArgumentError(f"column {name} must hold numbers; got text.")
        self._held = self._covariates.loaded() if in_memory else None
        rows = self._covariates if self._held is None else TableOfCovariates(self._held)
        self.encoder: Encoder = encoder_of_terms(terms, rows)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._covariates.rows

    def __repr__(self) -> str:
        return f"<EncodedStream: {self.response} ~ {self.encoder.formula}, {self.rows} rows>"

    def __iter__(self) -> Iterator[EncodedBatch]:
        """Read the files, and yield batches of rows."""
        for codes, part in self._parts(self.encoder.rows_at_once):
            X = self.encoder.encode(part, self._covariates.place)
            yield EncodedBatch(X, codes, _numbers(part, self._weights), _numbers(part, self._offset))

    def _parts(self, size: int) -> Iterator[tuple[IntArray, Covariates]]:
        names = self._covariates.names if self._held is None else ()
        for batch, part in self._covariates.read(names, self.response, size):
            codes = batch.column(self.response).cast("int64").fill_null(self.design.missing_code)
            loaded = self._held
            yield codes.to_numpy(), part if loaded is None else loaded.between(part.first, part.first + part.rows)

    def load(self) -> Covariates:
        """Load the covariates, but not the matrix, unless loaded already, and return them."""
        if self._held is None:
            self._held = self._covariates.loaded()
        return self._held

    def informative_rows(self) -> int:
        """Read the files, and return the number of rows with an informative subset and a positive weight."""
        rows = 0
        for batch, part in self._covariates.read(() if self._weights is None else (self._weights,), self.response):
            codes = batch.column(self.response).cast("int64").fill_null(self.design.missing_code).to_numpy()
            informative = ~self.design.is_missing(codes)
            weights = _numbers(part, self._weights)
            rows += int(np.count_nonzero(informative if weights is None else informative & (weights > 0)))
        return rows

    def arrays(self) -> EncodedBatch:
        """Return all rows at once, for files that fit in memory."""
        X = np.empty((self.rows, len(self.encoder.columns)))
        codes = np.empty(self.rows, np.int64)
        weights = None if self._weights is None else np.empty(self.rows)
        offset = None if self._offset is None else np.empty(self.rows)
        start = 0
        for batch in self:
            part = slice(start, start + len(batch.codes))
            X[part], codes[part] = batch.X, batch.codes
            if weights is not None:
                weights[part] = batch.weights
            if offset is not None:
                offset[part] = batch.offset
            start = part.stop
        return EncodedBatch(X, codes, weights, offset)


def _opened(source: Any, designs: Any, form: Form | None) -> tuple[Release, ...]:
    listed = [source] if isinstance(source, (Release, str, Path)) else list(source)
    if not listed:
        raise ArgumentError("`source` must be a file, or several; got none.")
    return tuple(each if isinstance(each, Release) else read_release(each, designs, form=form) for each in listed)


def common_design(releases: Sequence[Release], response: str) -> Design:
    """Return the common design of a column in all files."""
    for release in releases:
        if response not in release.designs:
            raise ArgumentError(
                f"the response must be a column of subsets of {release.file.where}, {', '.join(release.names)}; got "
                f"{response}."
            )
    designs = [release.designs[response] for release in releases]
    if any(other != designs[0] for other in designs):
        raise MismatchError(f"files must have the same design of column {response}; got different ones.")
    return designs[0]


def _weights(releases: Sequence[Release], column: str | None, kind: Any) -> tuple[str | None, WeightsKind | None]:
    return (column, kind) if column is not None else stored_weights(releases)


def stored_weights(releases: Sequence[Release]) -> tuple[str | None, WeightsKind | None]:
    """Return the stored column of weights of files of counts, and the kind of weights."""
    stored = [release.stored.weights for release in releases]
    if any(other != stored[0] for other in stored):
        raise MismatchError("files must have the same column of weights, or none; got different ones.")
    return (None, None) if stored[0] is None else (stored[0].column, stored[0].kind)


def _check_private(private: Mapping[str, None], columns: Mapping[str, str | None]) -> None:
    for what, column in columns.items():
        if column in private:
            raise ArgumentError(f"`{what}` must be a column of numbers; got {column}, which is private.")


def _numbers(part: Covariates, name: str | None) -> FloatArray | None:
    if name is None:
        return None
    column = part.columns[name]
    assert not isinstance(column, LabelColumn)
    return np.asarray(column.part(0, part.rows), np.float64)
