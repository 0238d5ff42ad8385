"""`subsetprivacy compare`: differences of shares between tables, or between groups of one table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import ContrastMethod, Form, Missing, WeightsKind
from subsetprivacy._words import group_text
from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.estimate import category_cells, category_columns
from subsetprivacy.cli.labels import merge, read_merges, with_merged
from subsetprivacy.cli.named_tables import NamedSample, check_different, is_bare, tables
from subsetprivacy.cli.results import Presented, check_output, outputs
from subsetprivacy.cli.sampling_options import SamplingOptions, groups_of, rows_of
from subsetprivacy.cli.sampling_options import drawn as drawn_options
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import csv_text, echo_table

METHODS: tuple[ContrastMethod, ...] = get_args(ContrastMethod)
MOST_LISTED = 6


@click.command(short_help="Compare shares between samples or groups.")
@tables
@options.columns
@click.option(
    "--by", multiple=True, metavar="COLUMN", help="Compare the groups in this column of one TABLE. May be repeated."
)
@click.option("--baseline", metavar="NAME", help="The sample or group that is subtracted from all others.")
@merge
@options.level
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="How to compute intervals and p-values.",
)
@options.weighted
@drawn_options()
@options.design
@options.form
@options.missing
@outputs
@sets(estimates="the samples", other="the second sample")
def compare(
    tables: tuple[NamedSample, ...],
    columns: tuple[str, ...],
    by: tuple[str, ...],
    baseline: str | None,
    merges: tuple[str, ...],
    level: float,
    method: ContrastMethod,
    weights: str | None,
    weights_kind: WeightsKind | None,
    drawn: SamplingOptions,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Compare the distribution of a column between samples: two or more TABLEs, or groups within one.

    A TABLE is named after its file, without the ending, unless you write NAME=TABLE. The samples must be of different
    people. Estimates are by maximum likelihood.

    A difference is the share in the sample named first minus the share in the one named later. Groups come in the
    order that "subsetprivacy estimate --by" prints. With --baseline, a difference is another sample minus the
    baseline.

    \b
    Examples:
      subsetprivacy compare 2025.parquet 2024.parquet --column answer
      subsetprivacy compare after=b.csv before=a.csv --column answer=answer.design.json
      subsetprivacy compare private.parquet --column race --by region --baseline north
      subsetprivacy compare new.csv old.csv --merge often=weekly,daily -o change.png
    """
    _check(tables, by, baseline)
    for sample in tables:
        options.check_no_overlap(sample.table, output)
    options.check_weights(weights, weights_kind)
    ending = check_output(output, format, as_json)
    groups = read_merges(merges)
    settings = {"weights": weights, "weights_kind": weights_kind, "missing": missing}
    opened = _Opened(columns, design, form, settings, drawn)
    fits = with_merged(opened.groups(tables[0], by) if by else opened.samples(tables), groups)
    _check_categories(fits)
    comparison = _compared(fits, _baseline(baseline, list(fits), by))
    shown: dict[str, Any] = {"level": level, "method": method}
    Presented(
        facts=lambda: comparison.to_dict(**shown),
        csv=lambda: _csv(comparison, shown),
        picture=lambda: comparison.plot(**shown),
        echo=lambda: echo_table(comparison.summary(**shown)),
    ).give(output, ending, force=force, as_json=as_json)


def _check(samples: Sequence[NamedSample], by: tuple[str, ...], baseline: str | None) -> None:
    """Raise if the arguments leave nothing to compare."""
    if by and len(samples) > 1:
        raise click.UsageError("--by compares groups within one TABLE; give one TABLE, or leave --by out")
    if not by and len(samples) == 1:
        raise click.UsageError("give two or more TABLEs, or --by COLUMN to compare the groups of one")
    check_different(samples)
    names = [sample.name for sample in samples]
    if not by and baseline is not None and baseline not in names:
        raise click.BadParameter(f"must be one of {', '.join(names)}", param_hint="--baseline")


class _Opened:
    """Tables that are opened and estimated with the same options."""

    def __init__(
        self,
        columns: tuple[str, ...],
        design: Path | None,
        form: Form | None,
        settings: dict[str, Any],
        drawn: SamplingOptions,
    ) -> None:
        self._designs = options.read_designs(columns, design)  # once: a document may be on standard input
        self._columns = options.column_names(columns)
        self._form: Form | None = form
        self._settings = settings
        self._drawn = drawn

    def _rows(self, release: Any, names: tuple[str, ...]) -> Any:
        """Return the subset of each row, and the sampling."""
        settings = self._settings
        kept = (settings["weights"], settings["weights_kind"], settings["missing"])
        return rows_of(release, names, self._drawn, *kept)

    def _single(self, release: Any) -> Any:
        settings = self._settings
        return self._drawn.single(settings["weights"], settings["weights_kind"], release.file.names())

    def _fitted(self, release: Any, names: tuple[str, ...]) -> Any:
        from subsetprivacy.estimation.dispatch import estimate

        single = self._single(release)
        if not self._drawn.given or single is not None:
            return estimate(counts_of(release, names, self._settings), sampling=single)
        data, sampling = self._rows(release, names)
        return estimate(data, sampling=sampling)

    def _open(self, sample: NamedSample, form: Form | None) -> tuple[Any, tuple[str, ...]]:
        return options.open_with(sample.table, self._designs, self._columns, form)

    def samples(self, samples: Sequence[NamedSample]) -> dict[Any, Any]:
        """Return the estimate of each table."""
        from subsetprivacy.errors import SubsetPrivacyError

        bare = [sample for sample in samples if is_bare(sample.table)]
        fits = {}
        for sample in samples:
            # Tables that include their designs may be compared with one that does not, which needs --form.
            form = None if bare and sample not in bare else self._form
            release, names = self._open(sample, form)
            try:
                fits[sample.name] = self._fitted(release, names)
            except SubsetPrivacyError as error:
                raise type(error)(f"{sample.name}: {error.message}", error.advice) from error
        return fits

    def groups(self, sample: NamedSample, by: tuple[str, ...]) -> dict[Any, Any]:
        """Return the estimate of each group of one table."""
        from subsetprivacy.errors import ArgumentError
        from subsetprivacy.estimation.dispatch import estimate, estimate_many

        release, names = self._open(sample, self._form)
        hidden = [name for name in by if name in release.names and name not in names]
        if hidden:
            raise click.UsageError(f"--by must name columns that were published unchanged; {hidden[0]} holds subsets")
        single = self._single(release)
        if self._drawn.given and single is None:
            options.groups(by, names)
            data, sampling = self._rows(release, names)
            parts = groups_of(release, by, len(data))
            return {group: estimate(data, sampling=sampling.within(inside)) for group, inside in parts.items()}
        counted = counts_of(release, names, {"by": options.groups(by, names), **self._settings})
        if len(counted) < 2:
            raise ArgumentError(f"the groups of --by must be two or more; got {len(counted)}.")
        return dict(estimate_many(counted, sampling=single).items())


def _check_categories(fits: Mapping[Any, Any]) -> None:
    """Raise, naming both, if two samples have different categories."""
    from subsetprivacy.errors import MismatchError
    from subsetprivacy.messages.for_estimates import COLLAPSE_FIRST
    from subsetprivacy.tables import label_text

    first, *others = fits.items()
    for name, fit in others:
        for (has, mine), (lacks, theirs) in ((first, (name, fit)), ((name, fit), first)):
            extra = [label_text(label) for label in mine.categories if label not in set(theirs.categories)]
            if extra:
                listed = ", ".join(extra[:MOST_LISTED]) + (", …" if len(extra) > MOST_LISTED else "")
                raise MismatchError(
                    f"the samples must have the same categories; {group_text(has)} has {listed}, {group_text(lacks)} "
                    "does not.",
                    COLLAPSE_FIRST,
                )


def _baseline(given: str | None, names: list[Any], by: tuple[str, ...]) -> Any:
    """Return the sample or group of that name; a group by several columns is written A,B."""
    if given is None:
        return None
    wanted = [part.strip() for part in given.split(",")]
    for name in names:
        parts = [group_text(part) for part in name] if isinstance(name, tuple) else [group_text(name)]
        if name is not None and (group_text(name) == given or parts == wanted):
            return name
    form = "" if len(by) < 2 else f", written {','.join(column.upper() for column in by)}"
    raise click.BadParameter(f"must be one of the {len(names)} groups of --by{form}", param_hint="--baseline")


def _compared(fits: dict[Any, Any], baseline: Any) -> Any:
    """Return the difference of two samples, or the comparison of more."""
    from subsetprivacy.data import only_known
    from subsetprivacy.estimation.comparison import compare as run

    if len(only_known(fits)) == len(fits) == 2:
        first, second = fits if baseline is None else sorted(fits, key=lambda name: name == baseline)
        return fits[first].difference(fits[second], names=(group_text(first), group_text(second)))
    return run(fits, baseline=baseline)


_NUMBERS = ("estimate", "se", "lower", "upper", "level", "pvalue", "adjusted_pvalue")


def _csv(comparison: Any, shown: dict[str, Any]) -> str:
    """Return a row for each pair of samples and category."""
    variables = category_columns(comparison.categories)
    columns = _columns(comparison.to_dict(**shown))
    names = [name for name in _NUMBERS if name in columns]
    cells = zip(*(columns[name] for name in ("group", "against", "category", *names)), strict=True)
    lines = [
        (_group(first), _group(second), *category_cells(label, variables), *numbers)
        for first, second, label, *numbers in cells
    ]
    return csv_text(["group", "against", *variables, *names], lines)


def _columns(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a difference or a comparison as columns of equal length."""
    if "differences" in facts:
        return facts["differences"]
    rows = len(facts["categories"])
    first, second = facts["names"]
    repeated = {"group": [first] * rows, "against": [second] * rows, "level": [facts["level"]] * rows}
    return {**facts, **repeated, "category": facts["categories"]}


def _group(name: Any) -> str:
    return group_text(tuple(name) if isinstance(name, list) else name)
