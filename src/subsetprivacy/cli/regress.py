"""`subsetprivacy regress`: regressions with a private response or private terms."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from subsetprivacy._choices import CoefficientInterval, Family, Form, Missing, RegressionMethod, WeightsKind
from subsetprivacy.cli import options
from subsetprivacy.cli.documents import read_design, read_document
from subsetprivacy.cli.estimate import category_cells, category_columns
from subsetprivacy.cli.labels import by_text, read_merges
from subsetprivacy.cli.options import FilePath
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.results import PICTURES, Presented, check_output, outputs
from subsetprivacy.cli.sampling_options import SamplingOptions
from subsetprivacy.cli.sampling_options import drawn as drawn_options
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import csv_text, echo_table

if TYPE_CHECKING:
    from subsetprivacy.frames.release import Release

FAMILIES: tuple[Family, ...] = get_args(Family)
METHODS: tuple[RegressionMethod, ...] = get_args(RegressionMethod)
INTERVALS: tuple[CoefficientInterval, ...] = get_args(CoefficientInterval)


def penalty(name: str, help: str) -> Callable[[options.Command], options.Command]:
    """Return the option for a penalty: a number of at least 0, or the word cv."""

    def read(ctx: click.Context, param: click.Parameter, value: str) -> Any:
        try:
            return value if value == "cv" else float(value)
        except ValueError:
            raise click.BadParameter("must be a number of at least 0, or cv") from None

    return click.option(name, metavar="X|cv", default="0", callback=read, help=help)


def _documents(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str | None, Path]:
    """Return the design documents of --design by column; the key is None if no column was named."""
    documents: dict[str | None, Path] = {}
    for text in given:
        name, equals, path = text.rpartition("=")
        alone = not equals or not name or Path(text).is_file()
        column = None if alone else name
        if column in documents:
            raise click.BadParameter("must be given once for each column, as COLUMN=FILE", ctx, param)
        documents[column] = options.document.convert(text if alone else path, param, ctx)
    return documents


@click.command(short_help="Fit a regression with a private response or predictors.")
@options.table
@click.argument("formula")
@click.option(
    "--family",
    type=click.Choice(FAMILIES),
    help="The model. [default: logit for categories and for two levels, linear for other numbers]",
)
@click.option(
    "--method",
    type=click.Choice(METHODS),
    help="The estimator. [default: corrected; for a private response ml if that has no solution or with a penalty]",
)
@click.option(
    "--baseline",
    "baselines",
    metavar="[COLUMN=]LABEL",
    multiple=True,
    help="The category that others are compared with, in a private column or in a response with two levels. May be "
    "repeated. [default: the most frequent]",
)
@click.option(
    "--merge",
    "merges",
    multiple=True,
    metavar="[COLUMN:]NAME=LABEL,LABEL",
    help="Merge categories of a private term under a new name. May be repeated. Put a label that contains a comma "
    "in quotes.",
)
@options.level
@click.option(
    "--interval", type=click.Choice(INTERVALS), default="auto", show_default=True, help="How to compute intervals."
)
@options.weighted
@click.option("--clusters", metavar="COLUMN", help="The cluster of each row, for cluster-robust standard errors.")
@drawn_options(clusters=False)
@click.option("--offset", metavar="COLUMN", help="A column of numbers to add to the linear predictors.")
@click.option("--shrink", is_flag=True, help="Add a few pseudo-observations, so that every estimate is finite.")
@penalty("--ridge", "A penalty on the squares of coefficients. cv chooses it by cross-validation.")
@penalty("--lasso", "A penalty on the absolute values of coefficients. cv chooses it by cross-validation.")
@click.option("--test", "test", is_flag=True, help="Test each term instead of showing coefficients.")
@click.option("--effects", is_flag=True, help="Show average marginal effects instead of coefficients.")
@click.option(
    "--adjusted",
    metavar="COLUMN",
    help="Show the mean response if everyone had each value of COLUMN, all else unchanged, instead of coefficients.",
)
@click.option(
    "--predict",
    type=FilePath(exists=True, path_type=Path, stdin=".csv"),
    help="Predict the response for the rows of this file, instead of showing coefficients. The file contains labels "
    "of private predictors.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read TABLE again for every step, in constant memory, or load it. [default: load what fits in memory]",
)
@click.option(
    "--design",
    "designs",
    metavar="[COLUMN=]FILE",
    multiple=True,
    callback=_documents,
    help="The design document of a column (default: the response), if TABLE does not include it. May be repeated.",
)
@options.form
@options.missing
@outputs
@sets(data="TABLE", designs="--design", source="TABLE", method="--method", baseline="--baseline", variable="--adjusted")
def regress(
    table: Path,
    formula: str,
    family: Family | None,
    method: RegressionMethod | None,
    baselines: tuple[str, ...],
    merges: tuple[str, ...],
    level: float,
    interval: CoefficientInterval,
    weights: str | None,
    weights_kind: WeightsKind | None,
    clusters: str | None,
    drawn: SamplingOptions,
    offset: str | None,
    shrink: bool,
    ridge: Any,
    lasso: Any,
    test: bool,
    effects: bool,
    adjusted: str | None,
    predict: Path | None,
    stream: bool | None,
    designs: dict[str | None, Path],
    form: Form | None,
    missing: Missing,
    output: Path | None,
    format: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit a regression to TABLE by FORMULA, such as "race ~ age + sex" or "income ~ age + race".

    A column of subsets can be the response (left side), a term on the right side, alone or in interactions, or both.
    Text and C(column) on the right side are categories, and the first is the reference. a:b and a*b are interactions.

    \b
    Examples:
      subsetprivacy regress private.parquet "race ~ age + sex"
      subsetprivacy regress private.parquet "income ~ age + race" --baseline race=White
      subsetprivacy regress private.parquet "employed ~ age * race" --family logit -o forest.png
      subsetprivacy regress private.parquet "employed ~ race" --merge "other=Eskimo,Other"
      subsetprivacy regress private.csv "income ~ race" --design race=race.design.json --json
      subsetprivacy regress private.parquet "race ~ age + sex" --test
      subsetprivacy regress private.parquet "income ~ age + race" --adjusted race -o means.png
      subsetprivacy regress private.parquet "race ~ age + sex" --predict new.csv -o shares.csv
    """
    from subsetprivacy.frames.formula_terms import formulaic
    from subsetprivacy.frames.regressing import regress as run

    formulaic()  # missing libraries are reported before files are opened
    ending = check_output(output, format, as_json)
    shown = {"--test": test, "--effects": effects, "--adjusted": adjusted, "--predict": predict}
    _check([name for name, given in shown.items() if given], interval, method, stream=stream, ending=ending)
    options.check_weights(weights, weights_kind)
    for given in filter(None, (table, predict)):
        options.check_no_overlap(given, output)
    release = _opened(table, formula, designs, form)
    sampling = None
    if drawn.given:
        sampling = replace(drawn, clusters=clusters).sampling(weights, weights_kind, release.file.names())
        weights, weights_kind, clusters = None, None, None
    with ProgressLine("rows") as progress, _of_which_column(designs):
        fit = run(
            formula,
            release,
            family=family,
            method=method,
            baseline=_baseline(release, formula, baselines, read_merges(merges)),
            merge=_merge(release, formula, read_merges(merges)),
            weights=weights,
            weights_kind=weights_kind,
            clusters=clusters,
            offset=offset,
            sampling=sampling,
            shrink=shrink,
            ridge=ridge,
            lasso=lasso,
            missing=missing,
            stream=False if (effects or adjusted) and stream is None else stream,
            progress=progress,
        )
        presented = _presented(fit, level, interval, test=test, effects=effects, adjusted=adjusted, predict=predict)
        _make(presented, output, ending, as_json)  # now, since a stream is read for it
    presented.give(output, ending, force=force, as_json=as_json)


def _check(
    shown: list[str],
    interval: CoefficientInterval,
    method: RegressionMethod | None,
    *,
    stream: bool | None,
    ending: str,
) -> None:
    """Raise if options exclude each other."""
    if len(shown) > 1:
        raise click.UsageError(f"{' and '.join(shown)} each replace the coefficients; give only one of them")
    if shown and interval != "auto":
        raise click.UsageError(f"--interval is for coefficients, which {shown[0]} does not show; leave one of them out")
    if shown == ["--test"] and ending in PICTURES:
        raise click.UsageError("--test has no picture; write .csv or .json")
    if shown in (["--effects"], ["--adjusted"]) and stream:
        raise click.UsageError(f"{shown[0]} needs all rows in memory; leave --stream out")
    if interval == "profile" and method == "corrected":
        raise click.UsageError("--interval profile needs --method ml; corrected scores have robust intervals")


@contextmanager
def _of_which_column(documents: dict[str | None, Path]) -> Iterator[None]:
    """Advise how to name the column of a design, if the response is no column of its subsets."""
    from subsetprivacy.errors import CodeError
    from subsetprivacy.messages.for_files import DESIGN_OF_WHICH_COLUMN

    try:
        yield
    except CodeError as error:
        if None not in documents:
            raise
        raise CodeError(error.message, DESIGN_OF_WHICH_COLUMN) from None


def _opened(table: Path, formula: str, documents: dict[str | None, Path], form: Form | None) -> "Release":
    from subsetprivacy.frames.formula_terms import split_formula
    from subsetprivacy.frames.reading import read_release

    designs: dict[str, Any] = {}
    for column, path in documents.items():
        document = read_document(path) if column is None else read_design(path, column)
        designs |= document if isinstance(document, dict) else {column or split_formula(formula)[0]: document}
    return read_release(table, designs or None, form=form)


def _merge(release: "Release", formula: str, given: Mapping[str, Sequence[str]]) -> Any:
    """Return the merged categories by private term; without a term, they belong to the only one."""
    from subsetprivacy.frames.formula_terms import private_predictors, split_formula

    if not given:
        return None
    own = private_predictors(split_formula(formula, release.designs)[1], release.designs)
    merged: dict[str, dict[str, list[Any]]] = {}
    for text, labels in given.items():
        column, colon, name = text.partition(":")
        if not colon or column not in own:
            if len(own) != 1:
                raise click.BadParameter(
                    f"must be COLUMN:NAME=LABEL,LABEL; the private terms are {', '.join(own) or 'none'}",
                    param_hint="--merge",
                )
            column, name = own[0], text
        merged.setdefault(column, {})[name] = [_label(release, column, label, "--merge") for label in labels]
    return merged


def _baseline(release: "Release", formula: str, given: tuple[str, ...], merges: Mapping[str, Sequence[str]]) -> Any:
    """Return categories by column; without a column, they belong to the response or the only private term."""
    from subsetprivacy.frames.formula_terms import private_predictors, split_formula

    if not given:
        return None
    response, right = split_formula(formula, release.designs)
    own = [response] if response in release.designs else list(private_predictors(right, release.designs))
    baselines: dict[str, Any] = {}
    for text in given:
        name, equals, label = text.partition("=")
        if equals and name in release.kept and name != response:
            raise click.BadParameter(
                f"must be of the response or a private column; {name} is neither", param_hint="--baseline"
            )
        if not equals or name not in (*release.designs, response):
            if len(own) != 1:
                raise click.BadParameter(
                    f"must be COLUMN=LABEL; the private columns are {', '.join(own) or 'none'}",
                    param_hint="--baseline",
                )
            name, label = own[0], text
        if name in baselines:
            raise click.BadParameter(f"must be given once for {name}", param_hint="--baseline")
        merged = label in merges or f"{name}:{label}" in merges
        baselines[name] = label if merged else _label(release, name, label, "--baseline")
    return baselines


def _label(release: "Release", name: str, text: str, option: str) -> Any:
    """Return the category with this text; for a seen column, the text or its number."""
    if name not in release.designs:
        return {"true": True, "false": False, "0": 0, "1": 1}.get(text.lower(), text)
    categories = release.designs[name].categories
    known = by_text(categories)
    if text not in known:
        raise click.BadParameter(f"must be one of {categories.preview()} for {name}", param_hint=option)
    return known[text]


def _presented(
    fit: Any,
    level: float,
    interval: CoefficientInterval,
    *,
    test: bool,
    effects: bool,
    adjusted: str | None,
    predict: Path | None,
) -> Presented:
    """Return the requested result in all output forms, each made once."""
    result: Any = fit
    shown: dict[str, Any] = {"level": level}
    if test:
        result, shown = fit.test(), {}
    elif effects:
        result = fit.effects()
    elif adjusted is not None:
        result = fit.adjusted(adjusted)
    elif predict is not None:
        result = _predicted(fit, predict)
    else:
        shown["method"] = interval
    columns = cache(lambda: result._columns(**shown))
    table = cache(lambda: result.summary(**shown))
    return Presented(
        facts=cache(lambda: _facts(result, columns(), **shown)),
        csv=cache(lambda: _csv(columns(), getattr(fit, "categories", None))),
        picture=cache(lambda: result.plot(**shown)),
        echo=_Echo(table),
    )


class _Echo:
    """A table to print, which can be made in advance."""

    def __init__(self, table: Callable[[], Any]) -> None:
        self.table = table

    def __call__(self) -> None:
        echo_table(self.table())


def _make(presented: Presented, output: Path | None, ending: str, as_json: bool) -> None:
    """Make the requested forms of a result."""
    if as_json or ending == ".json":
        presented.facts()
    if output is None and not as_json and isinstance(presented.echo, _Echo):
        presented.echo.table()
    if ending in PICTURES:
        presented.picture()
    elif output is not None and ending != ".json":
        presented.csv()


def _predicted(fit: Any, path: Path) -> Any:
    """Predict the response for the rows of a file."""
    from subsetprivacy.frames.file_covariates import read_covariates

    if not hasattr(fit, "layout"):
        encoder = fit.columns.encoder
        return fit.predict(read_covariates(path, encoder.variables, encoder.levels))
    encoder = fit.layout.encoder
    return fit.predict(read_covariates(path, [*encoder.variables, *encoder.names], [*encoder.levels, *encoder.names]))


def _facts(result: Any, columns: dict[str, Any], **shown: Any) -> Any:
    """Return the numbers for JSON, with the requested intervals."""
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
    """Return the columns as CSV, with one column per variable instead of the category."""
    if "category" not in columns or categories is None:
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
