"""`write_release`, `write_counts`: write subsets to a file, with their designs."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from subsetprivacy._choices import Form
from subsetprivacy._types import IntArray
from subsetprivacy.counting import counts_of_groups
from subsetprivacy.data import SubsetCounts, SubsetData, SubsetTable
from subsetprivacy.design import Design, Product, require_design
from subsetprivacy.engines import arrow_batches, count_column, is_lazy, is_table, refuse_counts
from subsetprivacy.engines.arrow import tally_batches
from subsetprivacy.engines.imputed import imputed_columns, refuse_imputed
from subsetprivacy.engines.kinds import plain_table
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError
from subsetprivacy.frames.metadata import WeightsColumn
from subsetprivacy.frames.output import open_output
from subsetprivacy.frames.release import Release
from subsetprivacy.messages.for_files import PRIVATIZE_VALUES_FIRST, WRITE_COUNTS_OF_DATA, WRITE_ROWS_WITH_WEIGHTS

__all__ = ["open_output", "write_counts", "write_release"]

_ROWS = 1 << 20


def write_release(
    data: Any,
    path: str | Path,
    designs: Mapping[str, Design] | None = None,
    *,
    form: Form | None = None,
    keep: Iterable[str] = (),
    overwrite: bool = False,
) -> Release:
    """Write subsets to a file, with their designs.

    Parameters
    ----------
    data
        `SubsetData`, a `SubsetTable`, or a table of codes in memory (pandas, Polars, PyArrow). Rows keep their order,
        which must not identify people.
    path
        ``.csv``, ``.csv.gz``, ``.csv.zst``, ``.parquet``, ``.pq``, ``.arrow``, ``.feather`` or ``.ipc``.
    designs
        ``{column: design}``. Required for a table, whose other columns are not written. For `SubsetData` it names the
        column, by default with the name of the data, or "value".
    form
        For CSV: ``"labels"`` joined by a bar, or ``"codes"``. The default is labels if the codes of a design are sets
        of labels, which holds up to 48 categories. Other formats store codes.
    keep
        Columns of a table to write unchanged. They are not protected.
    overwrite
        Whether to replace an existing file.

    Returns
    -------
    Release
        The written file, ready to be counted.

    Raises
    ------
    CodeError
        If a code is not a code of its design. The message gives the column, the first row and the count.
    DataFileError
        If the file exists or cannot be written. No partial file remains.

    Notes
    -----
    The file is written under another name and renamed when it is complete. The designs are stored next to it in
    ``private.csv.design.json``, and in Parquet and Arrow files also under the key ``subset_privacy``.
    """
    if isinstance(data, SubsetData):
        columns, known = _of_data(data, designs)
    elif isinstance(data, SubsetTable):
        columns, known = _of_product(data.design, data.columns, designs)
    else:
        return _write_table(data, path, designs, form, tuple(keep), overwrite)
    if tuple(keep):
        raise ArgumentError("`keep` must be left out for subsets alone; it names columns of a table.")
    return _write(columns, path, known, form, overwrite)


def write_counts(
    counts: SubsetCounts, path: str | Path, *, name: str = "value", form: Form | None = None, overwrite: bool = False
) -> Release:
    """Write counts of subsets to a file: one row per distinct subset, with its count in the column `count`.

    The column is called `count_` if a column of subsets is called `count`.

    Parameters
    ----------
    counts
        The counts of one variable, or of several (from `crosstab`), which get a column each.
    path, form, overwrite
        As in `write_release`.
    name
        The column of subsets, if there is one variable.

    Raises
    ------
    ArgumentError
        If the counts are sums of sampling weights, because a file of counts cannot represent them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.publish import privatize
    >>> data = privatize(["a", "b", "d"] * 100, uniform(list("abcd")), seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     release = write_counts(data.counts(), Path(folder) / "counts.csv", name="letter")
    ...     release.rows, release.count().n == data.counts().n
    (6, True)
    """
    if not isinstance(counts, SubsetCounts):
        raise ArgumentError(f"`counts` must be SubsetCounts; got {type(counts).__name__}.", WRITE_COUNTS_OF_DATA)
    if counts.squares is not None:
        raise ArgumentError("`counts` must be of people, not of sampling weights.", WRITE_ROWS_WITH_WEIGHTS)
    design = counts.design
    columns, known = (
        _of_product(design.product, design.product.split(counts.codes), None)
        if design.product is not None
        else ({name: counts.codes}, {name: design})
    )
    count = count_column(columns)
    weights = WeightsColumn(count, "frequency")
    return _write({**columns, count: counts.counts}, path, known, form, overwrite, weights)


def _of_data(data: SubsetData, designs: Mapping[str, Design] | None) -> tuple[dict[str, IntArray], dict[str, Design]]:
    several = data.design.product
    if designs is None and several is not None:
        return _of_product(several, several.split(data.codes), None)
    if designs is not None and (not isinstance(designs, Mapping) or len(designs) != 1):
        raise ArgumentError("`designs` must be {name: design} for one column of subsets.")
    name, design = next(iter(designs.items())) if designs is not None else (data.name or "value", data.design)
    if design != data.design:
        raise MismatchError("`designs` must hold the design of the data, data.design; got another one.")
    return {name: data.codes}, {name: data.design}


def _of_product(
    design: Product, columns: Iterable[IntArray], designs: Mapping[str, Design] | None
) -> tuple[dict[str, IntArray], dict[str, Design]]:
    known = design.by_name()
    if designs is not None and dict(designs) != known:
        raise MismatchError(f"`designs` must be left out, or be those of the table, {', '.join(known)}; got others.")
    return dict(zip(known, columns, strict=True)), known


def _write(
    columns: Mapping[str, Any],
    path: str | Path,
    designs: dict[str, Design],
    form: Form | None,
    overwrite: bool,
    weights: WeightsColumn | None = None,
) -> Release:
    import pyarrow as pa

    table = pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
    kept = [table.schema.field(name) for name in columns if name not in designs]
    with open_output(path, designs, form=form, overwrite=overwrite) as output:
        output.begin(designs, kept, weights)
        for start in range(0, len(table), _ROWS):
            output.write(table.slice(start, _ROWS))
    return output.release()


# Tables of codes ----------------------------------------------------------------------------------


def _write_table(
    data: Any,
    path: str | Path,
    designs: Mapping[str, Design] | None,
    form: Form | None,
    keep: tuple[str, ...],
    overwrite: bool,
) -> Release:
    if not is_table(data) or is_lazy(data):
        raise ArgumentError(
            f"`data` must be SubsetData, a SubsetTable or a table in memory; got {type(data).__name__}.",
            PRIVATIZE_VALUES_FIRST,
        )
    if not isinstance(designs, Mapping) or not designs:
        raise ArgumentError("`designs` must be {column: design} for a table of codes.")
    known = {str(name): require_design(design) for name, design in designs.items()}
    table = plain_table(data)
    refuse_imputed(imputed_columns(table), [*known, *keep], "`data`")
    refuse_counts(table, known, keep)
    _check_codes(table, known)
    with open_output(path, known, form=form, overwrite=overwrite) as output:
        batches = arrow_batches(table, [*known, *keep], _ROWS)
        output.begin(known, _kept_fields(table, keep))
        for batch in batches:
            output.write(batch)
    return output.release()


def _check_codes(table: Any, designs: dict[str, Design]) -> None:
    """Raise if some cell is not a code of its design; all rows are checked before any is written."""
    for name, design in designs.items():
        groups = tally_batches(arrow_batches(table, [name]), [name], bits=[design.code_bits])
        if groups.keys[0].kind == "text":
            raise CodeError(f"column {name} must hold codes, which are integers; got text.")
        counts_of_groups(groups, {name: design})


def _kept_fields(table: Any, keep: tuple[str, ...]) -> list[Any]:
    """Return the Arrow fields of kept columns, from the first rows."""
    if not keep:
        return []
    import pyarrow as pa

    first = next(iter(arrow_batches(table, list(keep), _ROWS)), None)
    return list(pa.schema([(name, pa.null()) for name in keep]) if first is None else first.schema)
