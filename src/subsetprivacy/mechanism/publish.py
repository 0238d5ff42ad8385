"""The publisher's side: replace known values by subsets that contain them."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, get_args, overload

import numpy as np

from subsetprivacy._checks import check_choice, check_same_index
from subsetprivacy._choices import Missing
from subsetprivacy._types import IntArray, RandomSource, Seed
from subsetprivacy.data import SubsetData, SubsetTable
from subsetprivacy.design import Design, Product, require_design
from subsetprivacy.engines.imputed import imputed_columns, named_as_imputed, refuse_imputed
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError, NotPrivateWarning, UnknownDesignError
from subsetprivacy.mechanism.ids import Ids, read_ids
from subsetprivacy.mechanism.keyed import check_key, keyed_source
from subsetprivacy.mechanism.publisher import Publisher, ValueProblems
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.mechanism.shuffle import shuffled
from subsetprivacy.messages.for_data import DRAW_ONCE, PASS_A_KEY, PUBLISH_ONCE, TABLE_OF_DESIGNS
from subsetprivacy.subsets import library_of, name_of
from subsetprivacy.variables import JointCategories

__all__ = ["Publisher", "ValueProblems", "privatize", "warn_if_revealing"]


@overload
def privatize(
    values: Any,
    design: Product,
    *,
    missing: Missing = ...,
    key: bytes | None = ...,
    ids: Any = ...,
    variable: str | None = ...,
    seed: Seed | RandomSource | None = ...,
) -> SubsetTable: ...
@overload
def privatize(
    values: Any,
    design: Design,
    *,
    missing: Missing = ...,
    key: bytes | None = ...,
    ids: Any = ...,
    variable: str | None = ...,
    seed: Seed | RandomSource | None = ...,
) -> SubsetData: ...
def privatize(
    values: Any,
    design: Design,
    *,
    missing: Missing = "error",
    key: bytes | None = None,
    ids: Any = None,
    variable: str | None = None,
    seed: Seed | RandomSource | None = None,
) -> SubsetData | SubsetTable:
    r"""Replace every value with a random subset that contains it.

    Parameters
    ----------
    values
        One value per person: a list, NumPy array, pandas or Polars series,
        or Arrow array. For a product or a joined design, a data frame or a
        dict of columns.
    design
        The design with which subsets are drawn.
    missing
        ``"error"`` refuses missing values. ``"full"`` stores the full set,
        which is left out of the estimates. It reveals nothing about a value,
        but it shows that the value is missing, unless the design itself
        draws full sets.
    key, ids, variable
        A secret key of 16 to 64 bytes, with a distinct id per row (text or
        whole number) and the name of the variable. The draw then depends only
        on these and the value. Publishing again, in any order, gives the same
        person with the same value the same subset. Anyone who has the key and
        guesses an id can repeat the draw, so keep the key as safe as the
        values. A product uses the names of its variables. Covered designs
        accept no key, because their dummy rows would be drawn again.
    seed
        For experiments only: a number, or a NumPy Generator or SeedSequence.
        Anyone who has the seed can repeat the draw, so the output is then
        **not private**. By default the randomness is cryptographic.

    Returns
    -------
    SubsetData
        One code per person, in the order of `values`. A covered design adds
        the dummy rows and returns all rows in random order. A pandas or
        Polars series gives its name. For a product, a `SubsetTable` with a
        column of codes per factor.

    Raises
    ------
    CategoryError
        If a value is missing or is not a category of the design. The message
        has the number of such rows and the first one, never the value.
    ArgumentError
        If an id is missing, repeated, or neither text nor a whole number, or if the values are marked as imputed.

    Warns
    -----
    NotPrivateWarning
        If the design reports single values, as `nonprivate` does, or if the name of the column indicates imputed
        values.

    Notes
    -----
    :math:`P(A=a \mid X=j) = \mu_a 1\{j \in a\}` (`cond_design`). Calling this function twice for
    the same people gives each of them two subsets, which together can reveal
    the value. Publish once, or with a key.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> colors = uniform(["black", "red", "green", "blue"])
    >>> privatize(["red", "blue", "red"], colors, seed=1).labels()
    [('red', 'blue'), ('black', 'blue'), ('black', 'red')]
    """
    check_choice(missing, get_args(Missing), "missing")
    _refuse_tables(values, design)
    if not require_design(design).is_known:
        raise UnknownDesignError("`design` must specify how subsets are drawn; got an unknown design.")
    warn_if_revealing(design, stacklevel=3)
    _refuse_imputed(values, design)
    check_same_index({"values": values, "ids": ids})
    source_of = _sources(design, key, ids, variable, seed)
    if design.product is not None:
        return _privatize_table(values, design.product, missing, source_of)
    publisher = Publisher(design, missing=missing)
    codes, reports, source = _draw(values, publisher, variable or _joint_name(design), source_of)
    name = variable or name_of(values)
    if design.covered is None:
        return SubsetData.trusted(codes, design, name)
    realized, dummies = publisher.dummies(reports, source)
    together = np.concatenate([codes, *dummies])
    return SubsetData.trusted(together[shuffled(len(together), source)], realized, name)


def warn_if_revealing(design: Design, *, stacklevel: int = 2) -> None:
    """Warn if a design reports single values.

    Parameters
    ----------
    design
        Any design.
    stacklevel
        The line that the warning points to: 2 for the caller of this function, 3 for the caller of that one.
    """
    text = revealing_design(design)
    if text:
        warnings.warn(NotPrivateWarning(text), stacklevel=stacklevel)


def revealing_design(design: Design) -> str:
    """Return the warning that a design reports single values, or an empty text if it does not."""
    if design.reveals_silently:
        return f"a {design.maker} design reports single values: what is published is not private."
    return ""


def _refuse_tables(values: Any, design: Any) -> None:
    """Raise for a table of designs, or for data that are not in memory, which other functions privatize."""
    if isinstance(design, Mapping):
        raise ArgumentError(f"`design` must be a design; got {type(design).__name__}.", TABLE_OF_DESIGNS)
    library, kind = library_of(values), type(values).__name__
    lazy = library in _ENGINES or kind == "LazyFrame" or (library == "pyarrow" and kind.endswith("Dataset"))
    if lazy:
        raise CategoryError(
            f"`values` must be a column in memory; got a {library} {kind}, which would be drawn again at every use.",
            DRAW_ONCE,
        )


def _refuse_imputed(values: Any, design: Design) -> None:
    """Raise if values are marked as imputed. Warn if only their name indicates it, since Polars has no marks."""
    several = design.categories.names if isinstance(design.categories, JointCategories) else None
    marked = imputed_columns(values)
    refuse_imputed(marked, marked if several is None else several, "`values`")
    if not marked and named_as_imputed(values):
        warnings.warn(
            NotPrivateWarning("the name of the values says that they are imputed: guesses of a model, not answers."),
            stacklevel=3,
        )


_ENGINES = {"pyspark", "dask", "dask_expr", "duckdb", "_duckdb", "ibis"}

# A function of the name of a variable and its number of rows that returns the source of its bits.
_SourceOf = Callable[[str, int], RandomSource]


def _sources(design: Design, key: Any, ids: Any, variable: Any, seed: Any) -> _SourceOf:
    """Return a function that gives the source of the bits of each variable."""
    if key is None:
        if ids is not None or variable is not None:
            raise ArgumentError("`ids` and `variable` must come with a `key`; got none.", PASS_A_KEY)
        source = random_source(seed)
        return lambda name, rows: source
    if seed is not None:
        raise ArgumentError("only one of `key` and `seed` must be given; got both.")
    if design.covered is not None:
        raise ArgumentError("a covered design must be drawn without a `key`; got one.", PUBLISH_ONCE)
    if design.product is not None and variable is not None:
        raise ArgumentError("`variable` must not be given for a product, whose variables have names; got one.")
    check_key(key)
    if ids is None:
        raise ArgumentError("`key` must come with `ids`, one for each row; got none.")
    known_ids = read_ids(ids)
    return lambda name, rows: _keyed(key, known_ids, name, rows)


def _keyed(key: bytes, ids: Ids, name: str, rows: int) -> RandomSource:
    if len(ids) != rows:
        raise MismatchError(f"`ids` must contain one id per value; got {len(ids)} for {rows} values.")
    return keyed_source(key, ids, name)


def _joint_name(design: Design) -> str:
    """Return the joint name of the variables of a design, empty for a single variable."""
    return " x ".join(design.categories.names) if isinstance(design.categories, JointCategories) else ""


def _privatize_table(values: Any, design: Product, missing: Missing, source_of: _SourceOf) -> SubsetTable:
    """Draw the column of each factor separately. All columns keep the order of the rows."""
    columns = dict(zip(design.categories.names, design.categories.columns(values), strict=True))
    drawn = []
    for names, factor in design.named().items():
        column = columns[names[0]] if len(names) == 1 else {name: columns[name] for name in names}
        try:
            codes, _, _ = _draw(column, Publisher(factor, missing=missing), " x ".join(names), source_of)
        except CategoryError as error:
            raise CategoryError(f"{', '.join(names)}: {error.message}", error.advice) from None
        drawn.append(codes)
    return SubsetTable.trusted(tuple(drawn), design)


def _draw(values: Any, publisher: Publisher, name: str, source_of: _SourceOf) -> tuple[IntArray, int, RandomSource]:
    """Return the codes, the number of reports among them, and the source of their bits."""
    x, absent = publisher.look_up(values)
    publisher.require_fit(x, absent)
    source = source_of(name, len(x))
    reports = len(x) - (0 if absent is None else int(absent.sum()))
    return publisher.draw(x, absent, source), reports, source
