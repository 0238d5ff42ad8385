"""`subsetprivacy audit`: measure what a design or a published table reveals."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy._choices import Form, Missing
from subsetprivacy.cli import options
from subsetprivacy.cli.count import counts_of
from subsetprivacy.cli.documents import read_design
from subsetprivacy.cli.files import FORMATS
from subsetprivacy.cli.options import FilePath, numbers
from subsetprivacy.cli.show import echo_json, echo_table, say


@click.command(short_help="Measure what a design or a table reveals.")
@click.argument("path", type=FilePath(exists=True, path_type=Path, stdin=".csv", by_format=True))
@options.input_format((*FORMATS, "json"), FORMATS[0])
@click.option(
    "--w",
    "w",
    metavar="SHARES",
    multiple=True,
    help="The distribution in category order, e.g. 0.01,0.1,0.2,0.69. For several variables, repeat it as "
    "NAME=0.1,0.9. By default uniform for a design, and estimated for a table.",
)
@click.option("--prior", metavar="SHARES", help="The distribution that the attacker believes in, written as for --w.")
@click.option(
    "--given",
    type=FilePath(exists=True, path_type=Path, stdin=".csv"),
    help="A file of probabilities given covariates: one column per category, one row per person. Adds what the "
    "covariates and the subset reveal together.",
)
@options.any_columns
@options.level
@options.design
@options.form
@options.missing
@options.as_json
def audit(
    path: Path,
    w: tuple[str, ...],
    prior: str | None,
    given: Path | None,
    columns: tuple[str, ...],
    level: float,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    as_json: bool,
) -> None:
    """Measure what PATH reveals: a design document, or a table of subsets.

    The audit of a design assumes that all categories are equally common, unless --w gives the distribution. With
    several columns, it covers each column and the total for one person. With --given, it also covers what covariates
    reveal, and a design is audited at the average of the given probabilities.

    \b
    Examples:
      subsetprivacy audit urn.design.json
      subsetprivacy audit urn.design.json --w 0.01,0.1,0.2,0.69
      subsetprivacy audit both.design.json --w sex=0.5,0.5 --w race=0.1,0.2,0.3,0.4
      subsetprivacy audit private.parquet --column race
      subsetprivacy audit urn.design.json --given probabilities.csv
    """
    from subsetprivacy.auditing import audit as run

    belief = None if prior is None else numbers(prior, "--prior")
    shares = _distribution(w) if w else None
    if path.suffix == ".json":
        what = _read_design(path, (columns, design, form))
        if shares is None and given is None:
            shares = even(what)
            say("Audited at the uniform distribution. Use --w for another.", err=True)
    else:
        release, names = options.open_release(path, columns, design, form, every=True)
        if given is not None and len(names) > 1:
            raise click.UsageError("--given is for a single column; name it with --column")
        what = counts_of(release, names, {"missing": missing})
    report = run(what, shares, prior=belief, level=level, given=_read_given(given, what))
    if as_json:
        echo_json(report.to_dict())
    else:
        echo_table(report.summary())


def _read_given(path: Path | None, what: Any) -> Any:
    """Return the probabilities in a file, ordered like the categories of a design or of counts."""
    from subsetprivacy.frames.probabilities import read_probabilities

    return None if path is None else read_probabilities(path, what.categories)


def _read_design(path: Path, of_tables: tuple[Any, ...]) -> Any:
    if any(of_tables):
        raise click.UsageError("--column, --design and --form are for tables; PATH is a design document")
    return read_design(path)


def even(design: Any) -> Any:
    """Return the uniform distribution on the categories of a design, or on each of its variables."""
    parts = design.by_name() if hasattr(design, "by_name") else {}
    if any(hasattr(part.categories, "parts") for part in parts.values()) or not parts:
        return [1 / design.p] * design.p
    return {name: [1 / part.p] * part.p for name, part in parts.items()}


def _distribution(given: tuple[str, ...]) -> Any:
    """Return one distribution, or one per named variable."""
    if len(given) == 1 and "=" not in given[0]:
        return numbers(given[0], "--w")
    named = [part.partition("=") for part in given]
    if not all(equals for _, equals, _ in named):
        raise click.BadParameter("must be NAME=0.1,0.9 for each of several variables", param_hint="--w")
    return {name: numbers(text, "--w") for name, _, text in named}
