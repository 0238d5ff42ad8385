"""Regression from files: their rows are loaded where the model matrix fits in memory, otherwise read for every sum."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from subsetprivacy._types import AnyArray
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.frames.encoded_stream import EncodedStream
from subsetprivacy.frames.formula_terms import read_terms, split_formula
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.regression_people import MOST_HELD, Asked, HeldPeople, People, StreamedPeople
from subsetprivacy.frames.release import Release
from subsetprivacy.frames.streamed_blocks import StreamedBlocks
from subsetprivacy.frames.streams import check_present
from subsetprivacy.regression.problem import Columns, require_response

_BYTES = 8  # of a number


def is_files(data: Any) -> bool:
    """Tell whether data are a release, a path, or several of them."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(each, (Release, str, Path)) for each in data)
    return isinstance(data, (Release, str, Path))


def people_of_files(formula: str, data: Any, designs: Any, asked: Asked) -> People:
    """Return the people of files, in memory or in a stream.

    Parameters
    ----------
    formula
        As in `regress`.
    data
        A release, a path, or several whose rows follow each other.
    designs
        For paths that do not know their designs.
    asked
        What was asked for. Where it does not say whether to stream, rows are loaded if the model matrix takes at most
        one GiB.
    """
    releases = _opened(formula, data, designs)
    known = {name: design for release in releases for name, design in release.designs.items()}
    asked.check_columns(known)
    if asked.stream:
        asked.check_streamable()
    stream = EncodedStream(
        releases,
        formula,
        weights=asked.weights if isinstance(asked.weights, str) else None,
        weights_kind=asked.weights_kind if isinstance(asked.weights, str) else None,
        offset=asked.offset if isinstance(asked.offset, str) else None,
        missing=asked.missing,
        in_memory=asked.stream is not True and (asked.stream is False or _needs_loading(formula, releases)),
        leave_out=asked.named,
    )
    require_response(stream.design)
    columns = Columns.of(stream.encoder)
    if asked.stream is False or (asked.stream is None and _fits(stream)):
        return _loaded(stream, releases, columns, asked)
    asked.check_streamable()
    blocks = StreamedBlocks(stream, left_out=columns.intercept if asked.ordinal else None, progress=asked.progress)
    return StreamedPeople(stream.response, blocks, blocks.tally, columns, stream.weights_kind)


def _opened(formula: str, data: Any, designs: Any) -> tuple[Release, ...]:
    if isinstance(designs, Design):
        designs = {split_formula(formula)[0]: designs}
    listed = data if isinstance(data, (list, tuple)) else [data]
    for each in listed:
        if isinstance(each, Release):
            _check_own(each, designs)
    return tuple(each if isinstance(each, Release) else read_release(each, designs) for each in listed)


def _check_own(release: Release, designs: Mapping[str, Design] | None) -> None:
    """Raise if other designs are given than those a release has."""
    for name, design in (designs or {}).items():
        if name in release.designs and release.designs[name] != design:
            raise MismatchError(f"`designs` must agree with those of the release; got another design of column {name}.")


def _needs_loading(formula: str, releases: Sequence[Release]) -> bool:
    """Tell whether a term needs all rows, and their covariates can be loaded."""
    private = {name for release in releases for name in release.designs}
    terms = read_terms(split_formula(formula, dict.fromkeys(private))[1], list(releases[0].kept))
    if not any(factor.remembers for factor in terms.factors):
        return False
    return sum(release.rows for release in releases) * len(terms.variables) * _BYTES <= MOST_HELD


def _fits(stream: EncodedStream) -> bool:
    return stream.rows * len(stream.encoder.columns) * _BYTES <= MOST_HELD


def _loaded(stream: EncodedStream, releases: Sequence[Release], columns: Columns, asked: Asked) -> HeldPeople:
    """Return the people with all their rows in memory."""
    table = stream.load()
    rows = stream.arrays()
    clusters = _cells(releases, asked.clusters) if isinstance(asked.clusters, str) else asked.clusters
    given = asked.weights is not None and not isinstance(asked.weights, str)
    return HeldPeople(
        stream.response,
        rows.codes,
        stream.design,
        rows.X,
        columns,
        table,
        weights=asked.weights if given else rows.weights,
        weights_kind=asked.weights_kind if given else stream.weights_kind,
        clusters=clusters,
        offset=rows.offset if asked.offset is None or isinstance(asked.offset, str) else asked.offset,
    )


def _cells(releases: Sequence[Release], name: str) -> AnyArray:
    """Return the cells of a column as they are."""
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
