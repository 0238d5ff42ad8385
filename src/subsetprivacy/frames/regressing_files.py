"""Regression from files: rows are loaded if the model matrix fits in memory, and otherwise read for every sum."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from subsetprivacy._choices import WeightsKind
from subsetprivacy._types import AnyArray, FloatArray
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, MismatchError, TooLargeError
from subsetprivacy.frames.covariates import Covariates, LabelColumn
from subsetprivacy.frames.data_file import check_present
from subsetprivacy.frames.encoded_stream import EncodedStream, common_design, stored_weights
from subsetprivacy.frames.file_covariates import FileCovariates
from subsetprivacy.frames.formula_terms import (
    named_variables,
    private_predictors,
    read_terms,
    response_variables,
    split_formula,
)
from subsetprivacy.frames.formulas import encoder_of_terms, encoder_of_used
from subsetprivacy.frames.outcome_people import (
    OutcomeData,
    PredictorPeople,
    PrivateColumn,
    check_outcome_options,
    outcome_people,
)
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.regression_people import MOST_HELD, People, PeopleInMemory, RegressArguments, StreamedPeople
from subsetprivacy.frames.release import Release
from subsetprivacy.frames.streamed_blocks import StreamedBlocks
from subsetprivacy.messages.for_regression import DESIGN_OF_THE_RESPONSE, LOAD_OR_SAMPLE
from subsetprivacy.regression.inputs import used_rows
from subsetprivacy.regression.problem import CovariateColumns, require_response
from subsetprivacy.sampling import Sampling

_BYTES = 8  # of a number


def is_files(data: Any) -> bool:
    """Return whether data are a release, a path, or several of them."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(each, (Release, str, Path)) for each in data)
    return isinstance(data, (Release, str, Path))


def no_private_name(known: Mapping[str, Design]) -> ArgumentError:
    """Return the error for a formula without a private column."""
    return ArgumentError(
        f"`formula` must have a column of subsets, as its response or as a term; got none of {', '.join(known)}.",
        DESIGN_OF_THE_RESPONSE,
    )


def people_of_files(formula: str, data: Any, designs: Any, arguments: RegressArguments) -> People | PredictorPeople:
    """Read the data of files, in memory or streamed.

    Parameters
    ----------
    formula
        As in `regress`.
    data
        A release, a path, or several, whose rows are concatenated.
    designs
        Designs for paths without them.
    arguments
        The arguments of `regress`. If `stream` is None, rows are loaded if the model matrix takes at most one GiB.
    """
    releases = _opened(formula, data, designs)
    known = {name: design for release in releases for name, design in release.designs.items()}
    response, right = split_formula(formula, known)
    predictors = private_predictors(right, known)
    if response not in known and not predictors:
        names = releases[0].file.names()
        check_present(releases[0].file, [*read_terms(right).variables, *response_variables(response, names)])
        raise no_private_name(known)
    arguments.check_columns(known)
    if predictors:
        private = (*predictors, response) if response in known else predictors
        return _outcome_of_files(right, releases, response, predictors, private, arguments)
    if arguments.stream:
        arguments.check_streamable()
    if arguments.sampling is not None:
        return _of_sample(right, releases, response, arguments)
    stream = EncodedStream(
        releases,
        formula,
        weights=arguments.weights if isinstance(arguments.weights, str) else None,
        weights_kind=arguments.weights_kind if isinstance(arguments.weights, str) else None,
        offset=arguments.offset if isinstance(arguments.offset, str) else None,
        missing=arguments.missing,
        in_memory=arguments.stream is not True and (arguments.stream is False or _needs_loading(formula, releases)),
        leave_out=arguments.named,
    )
    require_response(stream.design)
    columns = CovariateColumns.of(stream.encoder)
    if arguments.stream is False or (arguments.stream is None and _fits(stream)):
        return _loaded(stream, releases, columns, arguments)
    arguments.check_streamable()
    blocks = StreamedBlocks(
        stream, left_out=columns.intercept if arguments.ordinal else None, progress=arguments.progress
    )
    return StreamedPeople(stream.response, blocks, blocks.tally, columns, stream.weights_kind)


def _of_sample(right: str, releases: Sequence[Release], response: str, arguments: RegressArguments) -> PeopleInMemory:
    """Load the data of files whose sampling is given, in which rows that are not used may be incomplete."""
    design = common_design(releases, response)
    require_response(design)
    offset = arguments.offset if isinstance(arguments.offset, str) else None
    kept = [name for name in releases[0].kept if name not in (response, *arguments.named)]
    terms = read_terms(right, kept)
    seen = list(dict.fromkeys([*terms.variables, *([] if offset is None else [offset])]))
    _check_size(releases, len(seen) + 1, arguments)
    sampling = _sampling(releases, arguments)
    used = used_rows(None, sampling, sum(release.rows for release in releases))
    loaded = FileCovariates(releases, seen, terms.coded_columns, used).loaded()
    covariates = Covariates({name: loaded.columns[name] for name in terms.variables}, loaded.rows)
    encoder = encoder_of_used(terms, covariates, used, encoder_of_terms)
    filled = covariates.within(used)
    return PeopleInMemory(
        response,
        np.concatenate([release.codes(response, missing=arguments.missing) for release in releases]),
        design,
        encoder.encode(filled),
        CovariateColumns.of(encoder),
        filled,
        offset=arguments.offset if offset is None else numbers_in(loaded, offset),
        sampling=sampling,
    )


def _sampling(releases: Sequence[Release], arguments: RegressArguments) -> Sampling | None:
    """Return the sampling with its columns."""
    if arguments.sampling is None:
        return None
    return arguments.sampling.of({name: _cells(releases, name) for name in arguments.sampling.columns})


def _check_size(releases: Sequence[Release], columns: int, arguments: RegressArguments) -> None:
    """Raise if rows take more memory than is used without being asked to."""
    rows = sum(release.rows for release in releases)
    if arguments.stream is None and rows * columns * _BYTES > MOST_HELD:
        raise TooLargeError(
            f"rows of files with a private predictor or a sampling must take at most one GiB, because they are loaded "
            f"into memory; got {rows:,} rows of {columns} columns.",
            LOAD_OR_SAMPLE,
        )


def _outcome_of_files(
    right: str,
    releases: Sequence[Release],
    response: str,
    predictors: Sequence[str],
    private_names: Sequence[str],
    arguments: RegressArguments,
) -> PredictorPeople:
    """Load the data of files with private predictors."""
    check_outcome_options(arguments)
    designs = {name: common_design(releases, name) for name in private_names}
    weights, kind = common_weights(releases, arguments)
    numbers = [name for name in (weights, arguments.offset) if isinstance(name, str)]
    explained = response_variables(response, releases[0].file.names())
    left_out = {*explained, *numbers, *arguments.named}
    if arguments.weights is None:
        for release in releases:
            named = named_variables(right, release.kept, release.names)
            release._refuse_counts([*named, *explained, *arguments.named])
    terms = read_terms(right, [name for name in releases[0].kept if name not in left_out])
    seen = [name for name in dict.fromkeys([*terms.variables, *explained, *numbers]) if name not in designs]
    _check_size(releases, len(seen) + len(designs), arguments)
    sampling = _sampling(releases, arguments)
    weighted = used_rows(None, sampling, sum(release.rows for release in releases))
    files = FileCovariates(releases, seen, terms.coded_columns, weighted)
    loaded = files.loaded()
    private = {
        name: PrivateColumn(
            name, np.concatenate([each.codes(name, missing=arguments.missing) for each in releases]), own
        )
        for name, own in designs.items()
    }
    given = {name: numbers_in(loaded, name) for name in numbers}
    used = {name: loaded.columns[name] for name in seen if name in (*terms.variables, *explained)}
    return outcome_people(
        OutcomeData(
            response,
            terms,
            tuple(private[name] for name in predictors),
            Covariates(used, loaded.rows),
            private.get(response),
            weights=given[weights] if isinstance(weights, str) else weights,
            weights_kind=kind,
            clusters=_cells(releases, arguments.clusters)
            if isinstance(arguments.clusters, str)
            else arguments.clusters,
            offset=given[arguments.offset] if isinstance(arguments.offset, str) else arguments.offset,
            sampling=sampling,
            place=files.place,
        ),
        arguments,
    )


def numbers_in(covariates: Covariates, name: str) -> FloatArray:
    """Return a column of numbers.

    Raises
    ------
    ArgumentError
        If it contains text.
    """
    column = covariates.columns[name]
    if isinstance(column, LabelColumn):
        raise ArgumentError(f"column {name} must hold numbers; got text.")
    return np.asarray(column.part(0, covariates.rows), np.float64)


def common_weights(releases: Sequence[Release], arguments: RegressArguments) -> tuple[Any, WeightsKind | None]:
    """Return the given weights, or the stored column of weights."""
    if arguments.weights is not None or arguments.sampling is not None:
        return arguments.weights, arguments.weights_kind
    return stored_weights(releases)


def _opened(formula: str, data: Any, designs: Any) -> tuple[Release, ...]:
    if isinstance(designs, Design):
        designs = {split_formula(formula)[0]: designs}
    listed = data if isinstance(data, (list, tuple)) else [data]
    for each in listed:
        if isinstance(each, Release):
            _check_own(each, designs)
    return tuple(each if isinstance(each, Release) else read_release(each, designs) for each in listed)


def _check_own(release: Release, designs: Mapping[str, Design] | None) -> None:
    """Raise if given designs differ from those of the release."""
    for name, design in (designs or {}).items():
        if name in release.designs and release.designs[name] != design:
            raise MismatchError(f"`designs` must agree with those of the release; got another design of column {name}.")


def _needs_loading(formula: str, releases: Sequence[Release]) -> bool:
    """Return whether a term needs all rows and the covariates fit in memory."""
    private = {name for release in releases for name in release.designs}
    terms = read_terms(split_formula(formula, dict.fromkeys(private))[1], list(releases[0].kept))
    if not any(factor.remembers for factor in terms.factors):
        return False
    return sum(release.rows for release in releases) * len(terms.variables) * _BYTES <= MOST_HELD


def _fits(stream: EncodedStream) -> bool:
    return stream.rows * len(stream.encoder.columns) * _BYTES <= MOST_HELD


def _loaded(
    stream: EncodedStream, releases: Sequence[Release], columns: CovariateColumns, arguments: RegressArguments
) -> PeopleInMemory:
    """Load all rows into memory."""
    table = stream.load()
    rows = stream.arrays()
    clusters = _cells(releases, arguments.clusters) if isinstance(arguments.clusters, str) else arguments.clusters
    given = arguments.weights is not None and not isinstance(arguments.weights, str)
    return PeopleInMemory(
        stream.response,
        rows.codes,
        stream.design,
        rows.X,
        columns,
        table,
        weights=arguments.weights if given else rows.weights,
        weights_kind=arguments.weights_kind if given else stream.weights_kind,
        clusters=clusters,
        offset=rows.offset if arguments.offset is None or isinstance(arguments.offset, str) else arguments.offset,
    )


def _cells(releases: Sequence[Release], name: str) -> AnyArray:
    """Return the cells of a column."""
    cells: list[Any] = []
    for release in releases:
        check_present(release.file, [name])
        for batch in release.file.batches([name]):
            cells += batch.column(name).to_pylist()
    out = np.empty(len(cells), object)
    out[:] = cells
    try:
        return np.array(cells) if None not in cells else out
    except ValueError:
        raise ArgumentError(f"column {name} must hold numbers or text to name clusters; got something else.") from None
