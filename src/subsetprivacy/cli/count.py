"""`subsetprivacy count`: how many people reported each subset."""

from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from subsetprivacy._choices import Form, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.files import FORMATS, STANDARD_OUTPUT, TABLES, ending_of, target
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.show import csv_text, echo_groups, echo_json, say, write_text

MOST_SHOWN = 24
NOT_TOO_WIDE = 100


@click.command(short_help="Count the subsets in a table.")
@options.table
@options.columns
@options.grouped
@options.design
@options.form
@options.missing
@options.output(
    "Write all counts, with the design, to this file instead of printing them: .csv, .csv.gz, .csv.zst, .parquet, "
    ".arrow. With --by, a plain CSV file. - is standard output."
)
@options.output_format(FORMATS)
@options.force
@options.as_json
def count(
    table: Path,
    columns: tuple[str, ...],
    by: tuple[str, ...],
    weights: str | None,
    weights_kind: WeightsKind | None,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Count the subsets in a column of TABLE, or how often the subsets of several columns occur together.

    \b
    Examples:
      subsetprivacy count private.parquet --column race
      subsetprivacy count private.parquet --column race --column sex_income -o counts.csv
    """
    options.check_no_overlap(table, output)
    options.check_weights(weights, weights_kind)
    options.check_one_result(output, format, as_json)
    if by and output is not None and not ending_of(output, TABLES, format).startswith(".csv"):
        raise click.UsageError(
            "--output must end in .csv, .csv.gz or .csv.zst with --by: counts in groups are plain CSV"
        )
    release, names = options.open_release(table, columns, design, form)
    settings = {"by": options.groups(by, names), "weights": weights, "weights_kind": weights_kind, "missing": missing}
    counted = counts_of(release, names, settings)
    parts = list(counted.items()) if by else [(None, counted)]
    if as_json:
        counts = [plain(part, names) for _, part in parts]
        echo_json(
            [{"group": group, **entry} for (group, _), entry in zip(parts, counts, strict=True)] if by else counts[0]
        )
    if output is not None:
        _write(parts, names, by, output, format, force)
        if output != STANDARD_OUTPUT:
            say(f"Wrote {output}.", err=as_json)
    elif not as_json:
        echo_groups([(group, _summary(part, names)) for group, part in parts], by)


def counts_of(release: Any, names: tuple[str, ...], settings: dict[str, Any]) -> Any:
    """Return the counts of one column, or of several together."""
    with ProgressLine("rows") as progress:
        if len(names) == 1:
            return release.count(names[0], progress=progress, **settings)
        return release.crosstab(*names, progress=progress, **settings)


def plain(counts: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return counts as plain data, with an entry for each observed subset or combination."""
    entries = []
    for codes, amount in _entries(counts, names):
        subsets = [list(design.members(code)) for design, code in zip(_designs(counts, names), codes, strict=True)]
        entries.append({"codes": list(codes), "subsets": subsets, "n": amount})
    return {"columns": list(names), "n": counts.n, "n_missing": counts.n_missing, "counts": entries}


def _designs(counts: Any, names: tuple[str, ...]) -> list[Any]:
    return [counts.design] if len(names) == 1 else list(counts.design.factors)


def _entries(counts: Any, names: tuple[str, ...], at: Any = slice(None)) -> list[tuple[tuple[int, ...], Any]]:
    """Return the codes and the count of each observed combination, of all or of those at some positions."""
    codes, amounts = counts.codes[at], counts.counts[at]
    parts = [codes] if len(names) == 1 else counts.design.split(codes)
    kept = amounts > 0
    return list(zip(zip(*(part[kept].tolist() for part in parts), strict=True), amounts[kept].tolist(), strict=True))


def _texts(counts: Any, names: tuple[str, ...], at: Any = slice(None)) -> list[tuple[tuple[str, ...], Any]]:
    """Return the subsets as text, as CSV files have them, and the count; of all or of some."""
    from subsetprivacy.design.text import has_text_form, text_of

    def text(design: Any, code: int) -> str:
        return text_of(code, design) if has_text_form(design) else str(design.format(code))

    designs = _designs(counts, names)
    return [
        (tuple(text(design, code) for design, code in zip(designs, codes, strict=True)), amount)
        for codes, amount in _entries(counts, names, at)
    ]


def _write(
    parts: list[Any], names: tuple[str, ...], by: tuple[str, ...], output: Path, format: str | None, force: bool
) -> None:
    """Write counts with their design, so that they can be read back; counts in groups are plain CSV."""
    if not by and (output != STANDARD_OUTPUT or format not in (None, "csv")):
        from subsetprivacy.frames.writing import write_counts

        with target(output, f".{format}") as path:
            write_counts(parts[0][1], path, name=names[0], overwrite=force)
        return
    lines = []
    for group, part in parts:
        group_cells = () if not by else group if isinstance(group, tuple) else (group,)
        lines += [(*group_cells, *texts, amount) for texts, amount in _texts(part, names)]
    with target(output, f".{format or 'csv'}") as path:
        write_text(csv_text([*by, *names, "count"], lines), path, force=force)


def _summary(counts: Any, names: tuple[str, ...]) -> Any:
    """Return the subsets, the most frequent first; for two columns the cross table, if it is not too wide."""
    from subsetprivacy.tables import Table, number

    if len(names) > 1:
        crossed = counts.summary()
        if len(str(crossed).splitlines()[1]) <= max(get_terminal_size().columns, NOT_TOO_WIDE):
            return crossed
    rows = sorted(_texts(counts, names, counts.informative), key=lambda row: -row[1])
    shown = tuple((*texts, f"{amount:.0f}", number(amount / counts.total)) for texts, amount in rows[:MOST_SHOWN])
    notes = []
    if len(rows) > MOST_SHOWN:
        notes.append(f"The {MOST_SHOWN} most frequent of {len(rows)}. -o counts.csv writes all.")
    if counts.n_missing:
        what = "Rows" if counts.squares is None else "Weight of rows"
        notes.append(
            f"{what} that say nothing, or lack an answer: {counts.n_missing:.0f}. They are left out of the shares."
        )
    amount = "n" if counts.squares is None else "weight"
    return Table(f"Subsets of {' and '.join(names)}, {counts.n_text}", (*names, amount, "share"), shown, tuple(notes))
