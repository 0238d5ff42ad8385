"""Log-linear models of several columns of subsets."""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

from subsetprivacy._choices import Form, Missing, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.categories import split_words
from subsetprivacy.cli.labels import by_text
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.results import PICTURES, Presented, check_output, outputs
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import csv_text, echo_table

_SHOWN = ("--test", "--compare", "--shares", "--odds")


@click.command(short_help="Fit a log-linear model to several private columns.")
@options.table
@click.argument("model")
@click.option("--test", "test", is_flag=True, help="Test each bracket of MODEL instead of showing parameters.")
@click.option("--compare", "smaller", metavar="MODEL", help="Test this smaller model against MODEL.")
@click.option("--shares", metavar="A,B", help="Show the fitted joint shares of these columns.")
@click.option("--given", metavar="C,D", help="With --shares: condition on the categories of these columns.")
@click.option("--odds", metavar="A,B", help="Show the conditional odds ratios of two columns.")
@click.option(
    "--where",
    multiple=True,
    metavar="NAME=LABEL",
    help="With --odds: fix the category of another column, if the odds ratio depends on it.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="NAME=LABEL",
    help="The category of a column that the others are compared with. [default: the most frequent]",
)
@click.option(
    "--known",
    type=options.document,
    help='A JSON file of known margins: {"race": {"White": 0.8, "Black": 0.2}}.',
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=0,
    help="With --test or --compare: compute p-values from this many simulated tables. [default: chi-square]",
)
@click.option("--seed", type=click.IntRange(min=0), help="The seed of the simulated tables, to repeat a run.")
@options.level
@options.column_option("A column of subsets and its design document, if TABLE does not include it.")
@options.weighted
@options.form
@options.missing
@outputs
@sets(counts="TABLE", data="TABLE", model="MODEL", known="--known", baseline="--baseline", given="--where")
def loglinear(
    table: Path,
    model: str,
    test: bool,
    smaller: str | None,
    shares: str | None,
    given: str | None,
    odds: str | None,
    where: tuple[str, ...],
    baselines: tuple[str, ...],
    known: Path | None,
    bootstrap: int,
    seed: int | None,
    level: float,
    columns: tuple[str, ...],
    weights: str | None,
    weights_kind: WeightsKind | None,
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit a log-linear MODEL, such as "[race sex][sex income]", to the columns of TABLE.

    Columns in the same brackets may depend on each other. Put names with spaces in quotes. Columns that were
    published unchanged may be in the model. MODEL may also be saturated, "all pairs" or independence.

    \b
    Examples:
      subsetprivacy loglinear private.parquet "[race sex][sex income]"
      subsetprivacy loglinear private.parquet "all pairs" --test
      subsetprivacy loglinear private.parquet "all pairs" --compare "[race sex][sex income]"
      subsetprivacy loglinear private.parquet "all pairs" --shares income --given race
      subsetprivacy loglinear counts.parquet "[race income]" --odds race,income --json
    """
    ending = check_output(output, format, as_json)
    _check((test, smaller, shares, odds), given, where, bootstrap, ending)
    options.check_weights(weights, weights_kind)
    options.check_no_overlap(table, output)
    settings = {"weights": weights, "weights_kind": weights_kind, "missing": missing}
    counts = _counted(table, columns, form, model, settings)
    from subsetprivacy.contingency import loglinear as run

    margins = None if known is None else _margins(known, counts)
    fit = run(counts, model, known=margins, baseline=_labels(baselines, counts, "--baseline") or None)
    result: Any = fit
    shown: dict[str, Any] = {"level": level}
    if test:
        result, shown = fit.test(bootstrap=bootstrap, seed=seed), {}
    elif smaller is not None:
        other = run(counts, _of_all(smaller, counts), known=margins)
        result, shown = fit.compare(other, bootstrap=bootstrap, seed=seed), {}
    elif shares is not None:
        result = fit.shares(*split_words(shares, "--shares"), given=split_words(given, "--given") if given else ())
    elif odds is not None:
        result = fit.odds_ratios(*_two(odds), given=_labels(where, counts, "--where"))
    _presented(result, shown).give(output, ending, force=force, as_json=as_json)


def _check(shown: tuple[Any, ...], given: str | None, where: tuple[str, ...], bootstrap: int, ending: str) -> None:
    """Raise if options exclude each other."""
    chosen = [name for name, value in zip(_SHOWN, shown, strict=True) if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} each replace the parameters; give only one of them")
    tests = chosen in (["--test"], ["--compare"])
    if given is not None and chosen != ["--shares"]:
        raise click.UsageError("--given is for --shares")
    if where and chosen != ["--odds"]:
        raise click.UsageError("--where is for --odds")
    if bootstrap and not tests:
        raise click.UsageError("--bootstrap is for --test and --compare")
    if tests and ending in PICTURES:
        raise click.UsageError(f"{chosen[0]} has no picture; write .csv or .json")


def _counted(table: Path, columns: tuple[str, ...], form: Form | None, model: str, settings: dict[str, Any]) -> Any:
    """Return the joint counts of the columns that the model names."""
    from subsetprivacy.contingency.sources import counts_for
    from subsetprivacy.frames.reading import read_release

    release = read_release(table, options.read_designs(columns, None), form=form)
    with ProgressLine("rows") as progress:
        return counts_for(release, model, progress=progress, **settings)


def _of_all(model: str, counts: Any) -> Any:
    """Return the generators of a smaller model; a word such as independence refers to the columns of the table."""
    from subsetprivacy.contingency.generators import read_generators

    return read_generators(model, counts.categories.names)


def _two(text: str) -> tuple[str, str]:
    words = split_words(text, "--odds")
    if len(words) != 2:
        raise click.BadParameter("must be two columns, joined by a comma", param_hint="--odds")
    return words[0], words[1]


def _labels(given: tuple[str, ...], counts: Any, option: str) -> dict[str, Any]:
    """Return the categories that NAME=LABEL name."""
    labels = {}
    for text in given:
        name, equals, label = (part.strip() for part in text.partition("="))
        if not (name and equals and label):
            raise click.BadParameter(f"must be NAME=LABEL; got {text!r}", param_hint=option)
        if name not in counts.categories.names:
            raise click.BadParameter(f"must name one of {', '.join(counts.categories.names)}", param_hint=option)
        part = counts.categories.parts[counts.categories.names.index(name)]
        known = by_text(part)
        if label not in known:
            raise click.BadParameter(f"must be one of {part.preview()} for {name}", param_hint=option)
        labels[name] = known[label]
    return labels


def _margins(path: Path, counts: Any) -> dict[Any, Any]:
    """Read known margins from a JSON file: labels by column, those of several columns joined by a bar."""
    from subsetprivacy.errors import DataFileError

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataFileError(f"{path}: must be a JSON object of margins; it cannot be read as one.") from None
    if not isinstance(content, dict) or not all(isinstance(shares, dict) for shares in content.values()):
        raise DataFileError(f"{path}: must map columns to the shares of their categories; it does not.")
    return {_joined(name): _by_label(_joined(name), shares, counts) for name, shares in content.items()}


def _joined(name: str) -> Any:
    parts = tuple(part.strip() for part in name.split("|"))
    return parts if len(parts) > 1 else parts[0]


def _by_label(names: Any, shares: dict[str, Any], counts: Any) -> dict[Any, Any]:
    """Return shares by label instead of by its text in the file."""
    several = isinstance(names, tuple)
    known = []
    for name in names if several else (names,):
        if name not in counts.categories.names:
            return dict(shares)  # the library says what is wrong
        known.append(by_text(counts.categories.parts[counts.categories.names.index(name)]))
    out = {}
    for text, share in shares.items():
        parts = [part.strip() for part in text.split("|")] if several else [text]
        label = tuple(texts.get(part, part) for texts, part in zip(known, parts, strict=False))
        out[label if several else label[0]] = share
    return out


def _presented(result: Any, shown: dict[str, Any]) -> Presented:
    """Return a result in all output forms."""
    return Presented(
        facts=cache(partial(_facts, result, shown)),
        csv=lambda: _csv(result._columns(**shown)),
        picture=lambda: result.plot(**shown),
        echo=lambda: echo_table(result.summary(**shown)),
    )


def _facts(result: Any, shown: dict[str, Any]) -> Any:
    """Return the numbers for JSON, with the requested intervals."""
    if "level" not in shown:
        return result.to_dict()
    if not hasattr(result, "goodness_of_fit"):
        return result.to_dict(**shown)
    columns = result._columns(**shown)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return result.to_dict() | {"parameters": rows, **shown}


def _csv(columns: dict[str, Any]) -> str:
    return csv_text(list(columns), zip(*columns.values(), strict=True))
