"""`crosstab`: count how often subsets of several variables occur together (`sec_2D`)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from subsetprivacy._checks import check_same_index, shown
from subsetprivacy._choices import Missing, WeightsKind
from subsetprivacy._types import ArrayLike, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.counting import count, count_columns, read_column
from subsetprivacy.counting.tables import needs_rows, rows_of, used_columns
from subsetprivacy.data import GroupedCounts, JointCounts, SubsetCounts, SubsetData, SubsetTable, as_joint
from subsetprivacy.data.joint import picked
from subsetprivacy.design import Design, Product, product, require_design
from subsetprivacy.engines import check_columns, is_table, refuse_counts
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_data import (
    A_DESIGN_EACH,
    COUNT_TOGETHER,
    COVERED_AS_IT_IS,
    CROSSTAB_OF_NAMES,
    NAME_AT_LEAST_TWO,
)
from subsetprivacy.subsets import name_of

_COINCIDENCE = 20  # rows that two draws may have in common by chance


@overload
def crosstab(
    *data: Any,
    names: Sequence[str] | None = ...,
    designs: Sequence[Design] | Mapping[str, Design] | None = ...,
    by: None = ...,
    weights: ArrayLike | str | None = ...,
    weights_kind: WeightsKind | None = ...,
    missing: Missing | None = ...,
) -> JointCounts: ...
@overload
def crosstab(
    *data: Any,
    names: Sequence[str] | None = ...,
    designs: Sequence[Design] | Mapping[str, Design] | None = ...,
    by: Iterable[Label] | str | Sequence[str],
    weights: ArrayLike | str | None = ...,
    weights_kind: WeightsKind | None = ...,
    missing: Missing | None = ...,
) -> GroupedCounts[JointCounts]: ...
def crosstab(
    *data: Any,
    names: Sequence[str] | None = None,
    designs: Sequence[Design] | Mapping[str, Design] | None = None,
    by: Iterable[Label] | str | Sequence[str] | None = None,
    weights: ArrayLike | str | None = None,
    weights_kind: WeightsKind | None = None,
    missing: Missing | None = None,
) -> JointCounts | GroupedCounts[JointCounts]:
    """Count how often subsets of two or more variables were reported together.

    Parameters
    ----------
    *data
        One of the following. Two or more columns with a subset per person,
        each drawn separately: `SubsetData`, or with `designs` anything that
        `count` accepts. A dict ``{name: column}``. A table of any library and
        the names of its columns, which its engine groups as in `count`. A
        `SubsetTable`, or rows or counts of a product design, and the names of
        the variables to count, by default all.
    names
        The names of the variables. By default those of the columns, such as of a pandas series or of what `privatize`
        made of one, else x, y, z.
    designs
        The designs of columns that do not include them, in order or by name.
    by
        A group label per person, or for a table the name of a column or a
        list of names. The result is then a `GroupedCounts`,
        a dict with a table per group, for `conditional_independence_test`.
        The groups are ordered as in `count`.
    weights, weights_kind, missing
        A weight per person (for a table, the name of a column), the kind of
        weight, and the treatment of missing entries, as in `count`.

    Raises
    ------
    MismatchError
        If the columns have different lengths.
    ArgumentError
        If there are fewer than two variables, or if they are ambiguous.

    Notes
    -----
    A row without an answer to one of the variables counts as missing
    (`n_missing`). Tests and joint estimates leave it out.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.publish import privatize
    >>> race = privatize(list("abcd") * 50, uniform(list("abcd")), seed=1)
    >>> income = privatize(list("rrst") * 50, uniform(list("rstu")), seed=2)
    >>> crosstab(race, income, names=["race", "income"])
    <JointCounts of race (4) x income (4): n = 200, 28 distinct combinations of subsets, 0 incomplete>
    """
    reports = _whole(data)
    if reports is not None and (names is not None or designs is not None):
        raise ArgumentError("`names` and `designs` must be left out for data that already have them.")
    if isinstance(reports, SubsetCounts):
        if by is not None or weights is not None:
            raise ArgumentError("`by` and `weights` must be left out for counts, which have no rows of people.")
        return _joint(reports)
    if reports is None and is_table(data[0]) and not any(isinstance(part, (SubsetData, SubsetCounts)) for part in data):
        wanted = _of_frame(data[0], data[1:], names)
        if weights is None:
            refuse_counts(data[0], wanted, used_columns(by))
        given = _designs(designs, (None,) * len(wanted), wanted)
        if not needs_rows(data[0], list(wanted), by, weights):
            chosen = {name: require_design(design) for name, design in zip(wanted, given, strict=True)}
            options: Any = {"by": by, "weights": weights, "weights_kind": weights_kind, "missing": missing}
            return _as_joint(count_columns(data[0], chosen, **options))
        columns, by, weights = rows_of(data[0], list(wanted), by, weights)
        check_same_index({wanted[0]: columns[0], "by": by, "weights": weights})
        reports = _columns(tuple(columns), wanted, given, missing or "error")
    elif reports is None:
        for part in data if weights is None else ():
            refuse_counts(part, part if isinstance(part, Mapping) else ())
        reports = _columns(data, names, designs, missing, {"by": by, "weights": weights})
    return _as_joint(count(reports, by=by, weights=weights, weights_kind=weights_kind))


def _as_joint(counted: SubsetCounts | GroupedCounts[SubsetCounts]) -> JointCounts | GroupedCounts[JointCounts]:
    """Return counts, or the counts of each group, as joint counts."""
    if isinstance(counted, SubsetCounts):
        return _joint(counted)
    by_group = {group: _joint(part) for group, part in counted.items()}
    return GroupedCounts(by_group, counted.by, ordered=counted.ordered)


def _whole(data: tuple[Any, ...]) -> SubsetTable | SubsetData | SubsetCounts | None:
    """Return data that already contain all variables, or the named ones of them; None if columns are given."""
    if not data:
        raise ArgumentError("`data` must be two or more columns of subsets, or a table of them; got nothing.")
    first, rest = data[0], data[1:]
    if not all(isinstance(name, str) for name in rest):
        return None
    if isinstance(first, SubsetTable):
        return _picked(first.design, first.columns, rest)
    if isinstance(first, (SubsetData, SubsetCounts)):
        if first.design.covered is not None:
            raise ArgumentError(
                "`data` must not contain dummy rows: a dummy row is a dummy in every variable, so the columns depend "
                "on each other.",
                COVERED_AS_IT_IS,
            )
        product = first.design.product
        if product is None:
            return None
        if isinstance(first, SubsetCounts):
            return _joint(first).margin(*rest) if rest else first
        return _picked(product, product.split(first.codes), rest)
    return None


def _picked(design: Product, columns: Sequence[IntArray], names: Sequence[str]) -> SubsetData:
    """Return the subsets of the named variables, in that order, by default all. Joined variables stay together."""
    axes: list[int] = []
    for name in names or [" x ".join(inner) for inner in design.named()]:
        matching = [k for k, inner in enumerate(design.named()) if name in (*inner, " x ".join(inner))]
        if not matching:
            design.categories.axis(name)  # refuses an unknown name
        axes += matching
    if len(set(axes)) < len(axes):
        raise ArgumentError("each variable must be named once; got one twice, or two that share a code.")
    return SubsetData.trusted(*picked(design, columns, axes))


def _columns(
    data: tuple[Any, ...], names: Any, designs: Any, missing: Missing | None, beside: Mapping[str, Any] | None = None
) -> SubsetTable:
    if len(data) == 1 and isinstance(data[0], Mapping):
        names, data = tuple(data[0]) if names is None else names, tuple(data[0].values())
    if len(data) < 2 or any(isinstance(column, (str, SubsetCounts)) for column in data):
        raise ArgumentError(
            "`data` must be two or more columns with a subset per person, or rows or counts of a product design; got "
            f"{', '.join(type(column).__name__ for column in data)}.",
            COUNT_TOGETHER,
        )
    wanted = _names(data, names)
    given = _designs(designs, data, wanted)
    check_same_index({**dict(zip(wanted, data, strict=True)), **(beside or {})})
    read = [read_column(column, design, missing=missing) for column, design in zip(data, given, strict=True)]
    lengths = sorted({len(codes) for codes, _ in read})
    if len(lengths) > 1:
        raise MismatchError(
            f"columns must have the same length, a row per person; got {lengths[0]} and {counted(lengths[-1], 'row')}."
        )
    if lengths[0] > _COINCIDENCE and any(
        first[1] == second[1] and np.array_equal(first[0], second[0])
        for k, first in enumerate(read)
        for second in read[:k]
    ):
        raise ArgumentError("columns must be drawn separately for each variable; got the same one twice.")
    both = product(dict(zip(wanted, (design for _, design in read), strict=True)))
    return SubsetTable(tuple(codes for codes, _ in read), both)


def _of_frame(frame: Any, columns: tuple[Any, ...], names: Any) -> tuple[str, ...]:
    """Return the names of the columns to count."""
    if names is not None:
        raise ArgumentError("`names` must be left out for columns of a data frame, which have names.")
    strange = [name for name in columns if not isinstance(name, (str, int))]
    if strange:  # it may be a column of data, so it is not printed
        raise ArgumentError(
            f"columns of a data frame must be given by their names; got {shown(strange[0])}.", CROSSTAB_OF_NAMES
        )
    wanted = tuple(str(name) for name in columns)
    check_columns(frame, wanted)
    if len(wanted) < 2:
        raise ArgumentError("two or more columns of the data frame must be named; got fewer.")
    return _names(wanted, wanted)


def _designs(designs: Any, columns: tuple[Any, ...], names: tuple[str, ...]) -> tuple[Design | None, ...]:
    """Return a design for each column, or None for a column that includes its design."""
    if designs is None:
        designs = {}
    if isinstance(designs, Mapping):
        given = tuple(designs.get(name) for name in names)
    elif isinstance(designs, Design) or not isinstance(designs, Sequence) or len(designs) != len(columns):
        raise ArgumentError(f"`designs` must have {len(columns)} entries, one for each column.")
    else:
        given = tuple(designs)
    bare = [
        name
        for name, column, design in zip(names, columns, given, strict=True)
        if design is None and not isinstance(column, SubsetData)
    ]
    if bare:
        raise ArgumentError(
            f"a column of subsets must come with its design; got none for {', '.join(bare)}.", A_DESIGN_EACH
        )
    return given


def _joint(counts: SubsetCounts) -> JointCounts:
    joint = as_joint(counts)
    if not isinstance(joint, JointCounts):
        raise ArgumentError(
            f"a table must have two or more variables; got one, under a {counts.design.maker} design.",
            NAME_AT_LEAST_TWO,
        )
    return joint


def _names(columns: Sequence[Any], names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the given names, or those of the columns; x, y, z, x4, … for columns without a name."""
    if names is None:
        plain = tuple("xyz"[k] if k < 3 else f"x{k + 1}" for k in range(len(columns)))
        own = tuple(name_of(column) or name for column, name in zip(columns, plain, strict=True))
        return own if len(set(own)) == len(own) else plain
    wanted = tuple(names)
    if isinstance(names, str) or len(wanted) != len(columns) or not all(isinstance(name, str) for name in wanted):
        raise ArgumentError(
            f"`names` must be {counted(len(columns), 'name')}, one for each column; got "
            f"{counted(len(wanted), 'entry', 'entries')}."
        )
    if len(set(wanted)) < len(wanted):
        raise ArgumentError(f"`names` must be different; got {', '.join(wanted)}.")
    return wanted
