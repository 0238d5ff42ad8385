"""A private category, regressed on columns that were published as they are."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from subsetprivacy._choices import CoefficientInterval, Family, Form, Missing, RegressionMethod, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.audience import sets
from subsetprivacy.cli.documents import read_design
from subsetprivacy.cli.estimate import category_cells, category_columns
from subsetprivacy.cli.labels import by_text
from subsetprivacy.cli.options import FilePath
from subsetprivacy.cli.progress import Progress
from subsetprivacy.cli.results import PICTURES, Presented, check_output, outputs
from subsetprivacy.cli.show import csv_text, echo_table

if TYPE_CHECKING:
    from subsetprivacy.frames.release import Release
    from subsetprivacy.regression.result import Regression

FAMILIES: tuple[Family, ...] = get_args(Family)
METHODS: tuple[RegressionMethod, ...] = get_args(RegressionMethod)
INTERVALS: tuple[CoefficientInterval, ...] = get_args(CoefficientInterval)


def penalty(name: str, help: str) -> Callable[[options.Command], options.Command]:
    """Return the option of a penalty: a number of at least 0, or the word cv."""

    def read(ctx: click.Context, param: click.Parameter, value: str) -> Any:
        try:
            return value if value == "cv" else float(value)
        except ValueError:
            raise click.BadParameter("must be a number of at least 0, or cv") from None

    return click.option(name, metavar="X|cv", default="0", callback=read, help=help)


@click.command(short_help="Regress a private category on covariates.")
@options.table
@click.argument("formula")
@click.option("--family", type=click.Choice(FAMILIES), default="logit", show_default=True, help="The model.")
@click.option("--method", type=click.Choice(METHODS), default="ml", show_default=True, help="The estimator.")
@click.option(
    "--baseline", metavar="LABEL", help="The category that others are compared with. [default: the most frequent]"
)
@options.level
@click.option("--interval", type=click.Choice(INTERVALS), default="auto", show_default=True, help="The intervals.")
@options.weighted
@click.option("--clusters", metavar="COLUMN", help="The cluster of each row, for standard errors of clusters.")
@click.option("--offset", metavar="COLUMN", help="A number that is added to the linear predictors of each row.")
@click.option("--shrink", is_flag=True, help="Add a few pseudo-people, so that every estimate is finite.")
@penalty("--ridge", "A penalty on the squares of coefficients; cv chooses it by cross-validation.")
@penalty("--lasso", "A penalty on the sizes of coefficients; cv chooses it by cross-validation.")
@click.option("--test", "test", is_flag=True, help="Test each term, instead of showing coefficients.")
@click.option("--effects", is_flag=True, help="Show average marginal effects on the shares, instead of coefficients.")
@click.option(
    "--predict",
    type=FilePath(exists=True, path_type=Path, stdin=".csv"),
    help="Show the shares at the covariates of this file, instead of coefficients.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read TABLE again for every step, in constant memory; or hold it in memory. [default: what fits is held]",
)
@click.option("--design", "design", type=options.document, help="The design document, if TABLE does not bring it.")
@options.form
@options.missing
@outputs
@sets(data="TABLE", designs="--design", source="TABLE", method="--method")
def regress(
    table: Path,
    formula: str,
    family: Family,
    method: RegressionMethod,
    baseline: str | None,
    level: float,
    interval: CoefficientInterval,
    weights: str | None,
    weights_kind: WeightsKind | None,
    clusters: str | None,
    offset: str | None,
    shrink: bool,
    ridge: Any,
    lasso: Any,
    test: bool,
    effects: bool,
    predict: Path | None,
    stream: bool | None,
    design: Path | None,
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Regress a private column of TABLE on other columns by FORMULA, such as "race ~ age + sex".

    The left side of FORMULA is the column of subsets. Text and C(column) on its right side are
    categories, the first of which is the reference; a:b and a*b are interactions.

    \b
    Examples:
      subsetprivacy regress private.parquet "race ~ age + sex"
      subsetprivacy regress private.csv "race ~ age" --design race.design.json --json
      subsetprivacy regress private.parquet "race ~ age + sex" --test
      subsetprivacy regress private.parquet "race ~ age * sex" --interval robust -o coef.csv
      subsetprivacy regress private.parquet "race ~ age + sex" --predict new.csv -o shares.png
    """
    from subsetprivacy.frames.regressing import regress as run

    ending = check_output(output, format, as_json)
    _check(interval, method, test=test, effects=effects, predict=predict, stream=stream, ending=ending)
    options.check_weights(weights, weights_kind)
    for given in filter(None, (table, predict)):
        options.check_apart(given, output)
    release = _opened(table, formula, design, form)
    with Progress("rows") as progress:
        fit = run(
            formula,
            release,
            family=family,
            method=method,
            baseline=_baseline(release, formula, baseline),
            weights=weights,
            weights_kind=weights_kind,
            clusters=clusters,
            offset=offset,
            shrink=shrink,
            ridge=ridge,
            lasso=lasso,
            missing=missing,
            stream=False if effects and stream is None else stream,
            progress=progress,
        )
        found = _found(fit, level, interval, test=test, effects=effects, predict=predict)
        _make(found, output, ending, as_json)  # now, since a stream is read for it
    found.give(output, ending, force=force, as_json=as_json)


def _check(
    interval: CoefficientInterval,
    method: RegressionMethod,
    *,
    test: bool,
    effects: bool,
    predict: Path | None,
    stream: bool | None,
    ending: str,
) -> None:
    """Raise if options do not go together."""
    shown = [name for name, given in (("--test", test), ("--effects", effects), ("--predict", predict)) if given]
    if len(shown) > 1:
        raise click.UsageError(f"{' and '.join(shown)} each show something instead of coefficients; give one of them")
    if shown and interval != "auto":
        raise click.UsageError(f"--interval is of coefficients, which {shown[0]} does not show; leave one of them out")
    if test and ending in PICTURES:
        raise click.UsageError("--test has no picture; write .csv or .json")
    if effects and stream:
        raise click.UsageError("--effects needs all rows in memory; leave --stream out")
    if interval == "profile" and method == "corrected":
        raise click.UsageError("--interval profile needs --method ml; corrected scores have robust intervals")


def _opened(table: Path, formula: str, design: Path | None, form: Form | None) -> "Release":
    from subsetprivacy.frames.formula_terms import split_formula
    from subsetprivacy.frames.reading import read_release

    response = split_formula(formula)[0]
    return read_release(table, None if design is None else {response: read_design(design, response)}, form=form)


def _baseline(release: "Release", formula: str, text: str | None) -> Any:
    """Return the category that a text names."""
    from subsetprivacy.frames.formula_terms import split_formula

    own = release.designs.get(split_formula(formula)[0])
    if text is None or own is None:  # what is wrong with the formula is told by whoever reads it
        return None
    known = by_text(own.categories)
    if text not in known:
        raise click.BadParameter(f"must be one of {own.categories.preview()}", param_hint="--baseline")
    return known[text]


def _found(
    fit: "Regression", level: float, interval: CoefficientInterval, *, test: bool, effects: bool, predict: Path | None
) -> Presented:
    """Return what was asked for, in its forms, each made once."""
    result: Any = fit
    shown: dict[str, Any] = {"level": level}
    if test:
        result, shown = fit.test(), {}
    elif effects:
        result = fit.effects()
    elif predict is not None:
        result = _predicted(fit, predict)
    else:
        shown["method"] = interval
    columns = cache(lambda: result._columns(**shown))
    table = cache(lambda: result.summary(**shown))
    return Presented(
        facts=cache(lambda: _facts(result, columns(), **shown)),
        csv=cache(lambda: _csv(columns(), fit.categories)),
        picture=cache(lambda: result.plot(**shown)),
        echo=_Echo(table),
    )


class _Echo:
    """Prints a table, which can be made before."""

    def __init__(self, table: Callable[[], Any]) -> None:
        self.table = table

    def __call__(self) -> None:
        echo_table(self.table())


def _make(found: Presented, output: Path | None, ending: str, as_json: bool) -> None:
    """Make the forms of a result that are to be given."""
    if as_json or ending == ".json":
        found.facts()
    if output is None and not as_json and isinstance(found.echo, _Echo):
        found.echo.table()
    if ending in PICTURES:
        found.picture()
    elif output is not None and ending != ".json":
        found.csv()


def _predicted(fit: "Regression", path: Path) -> Any:
    """Return the shares at the covariates of a file."""
    from subsetprivacy.frames.file_covariates import read_covariates

    encoder: Any = fit.columns.encoder
    return fit.predict(read_covariates(path, encoder.variables, encoder.levels))


def _facts(result: Any, columns: dict[str, Any], **shown: Any) -> Any:
    """Return the numbers for JSON, with the intervals that were asked for."""
    facts = result.to_dict()
    if "method" in shown:
        rows = zip(*columns.values(), strict=True)
        facts["coefficients"] = [dict(zip(columns, row, strict=True)) for row in rows]
        return facts | {"interval": shown["method"], "level": shown["level"]}
    if "level" in shown:
        lower, upper = (result.interval(**shown)[..., k].tolist() for k in (0, 1))
        return facts | {"lower": lower, "upper": upper, **shown}
    return facts


def _csv(columns: dict[str, Any], categories: Any) -> str:
    """Return the columns as CSV, a column for each of several variables in the place of the category."""
    if "category" not in columns:
        return csv_text(list(columns), zip(*columns.values(), strict=True))
    variables = category_columns(categories)
    before = list(columns)[: list(columns).index("category")]
    after = list(columns)[len(before) + 1 :]
    rows = zip(*(columns[name] for name in (*before, "category", *after)), strict=True)
    k = len(before)
    cells = ((*row[:k], *_cells(row[k], variables), *row[k + 1 :]) for row in rows)
    return csv_text([*before, *variables, *after], cells)


def _cells(label: Any, variables: tuple[str, ...]) -> tuple[Any, ...]:
    if len(variables) > 1 and not isinstance(label, (list, tuple)):  # a cut point, or slopes of all categories
        return (label, *[""] * (len(variables) - 1))
    return category_cells(label, variables)
