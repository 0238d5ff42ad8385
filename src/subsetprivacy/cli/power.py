"""`subsetprivacy power`: sample sizes for an effect in a regression, or between means of private groups."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from subsetprivacy._choices import OutcomeFamily, RegressionMethod, ResponseFamily
from subsetprivacy.cli import options
from subsetprivacy.cli.documents import read_design
from subsetprivacy.cli.options import numbers
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import echo_json, echo_table

Command = Callable[..., Any]


@click.group(short_help="Compute how many people you need to find an effect.")
def power() -> None:
    """Compute how many people you need to find an effect, or the power of a given sample.

    DESIGN is a design document, and --w gives the shares of its categories. Give --target to get the number of
    people, or --people to get the power.

    \b
    Example:
      subsetprivacy power means race.design.json --w 0.6,0.2,0.15,0.05 \\
        --group Black --group White --difference 5 --sd 15 --target 0.8
    """


def _shared(command: Command) -> Command:
    """Add the common options: the design, the shares, people or power, the level."""
    for option in (
        click.option(
            "--alpha",
            type=float,
            default=0.05,
            show_default=True,
            help="The level of the two-sided z test.",
        ),
        click.option(
            "--target", type=float, help="The power you want, e.g. 0.8. The command then computes the number of people."
        ),
        click.option("--people", type=int, help="The number of people. The command then computes the power."),
        click.option(
            "--w", "w", metavar="SHARES", required=True, help="The shares of the categories, e.g. 0.5,0.2,0.2,0.1."
        ),
        click.argument("design", type=options.document),
    ):
        command = option(command)
    return sets(n="--people")(command)


_CATEGORY = click.option("--category", metavar="LABEL", help="The category whose effect you want to find.")
_METHOD = click.option(
    "--method",
    type=click.Choice(get_args(RegressionMethod)),
    default="corrected",
    show_default=True,
    help="The method you will fit with.",
)
_BASELINE = click.option(
    "--baseline", metavar="LABEL", help="The category to compare it with. [default: the most frequent other one]"
)


@power.command(short_help="Find that a private category depends on a covariate.")
@_shared
@_CATEGORY
@_BASELINE
@click.option(
    "--odds-ratio", type=float, required=True, help="The factor by which the odds change when the covariate rises by 1."
)
@click.option("--spread", type=float, default=1.0, show_default=True, help="The standard deviation of the covariate.")
@click.option(
    "--share", type=float, help="For a covariate of 0 and 1, the share of people with 1, instead of --spread."
)
@click.option(
    "--family", type=click.Choice(get_args(ResponseFamily)), default="logit", show_default=True, help="The model."
)
@_METHOD
@options.as_json
@sets(label="LABEL")
def response(
    design: Path,
    w: str,
    people: int | None,
    target: float | None,
    alpha: float,
    as_json: bool,
    category: str | None,
    baseline: str | None,
    odds_ratio: float,
    spread: float,
    share: float | None,
    family: ResponseFamily,
    method: RegressionMethod,
) -> None:
    """Compute how many people you need to find that a private category depends on a covariate.

    \b
    Examples:
      subsetprivacy power response habit.design.json --w 0.5,0.2,0.2,0.1 \\
        --category daily --odds-ratio 1.5 --target 0.8
      subsetprivacy power response habit.design.json --w 0.5,0.2,0.2,0.1 \\
        --family ordinal --odds-ratio 1.3 --share 0.4 --people 2000
    """
    from subsetprivacy.planning import response_power

    known = read_design(design)
    made = response_power(
        known,
        numbers(w, "--w"),
        people,
        odds_ratio=odds_ratio,
        category=_label(category, known),
        baseline=_label(baseline, known),
        spread=spread,
        share=share,
        family=family,
        method=method,
        alpha=alpha,
        target=target,
    )
    _show(made, as_json)


@power.command(short_help="Find that an outcome depends on a private category.")
@_shared
@_CATEGORY
@_BASELINE
@click.option(
    "--family", type=click.Choice(get_args(OutcomeFamily)), default="linear", show_default=True, help="The model."
)
@click.option("--difference", type=float, help="The difference of the means, for --family linear.")
@click.option("--odds-ratio", type=float, help="The ratio of the odds, for --family logit.")
@click.option("--rate-ratio", type=float, help="The ratio of the means, for --family poisson.")
@click.option("--sd", type=float, default=1.0, show_default=True, help="The standard deviation of a linear outcome.")
@click.option("--mean", type=float, help="The mean outcome of the baseline. [default: 0.5 for logit, 1 for poisson]")
@_METHOD
@options.as_json
@sets(label="LABEL")
def predictor(
    design: Path,
    w: str,
    people: int | None,
    target: float | None,
    alpha: float,
    as_json: bool,
    category: str | None,
    baseline: str | None,
    family: OutcomeFamily,
    difference: float | None,
    odds_ratio: float | None,
    rate_ratio: float | None,
    sd: float,
    mean: float | None,
    method: RegressionMethod,
) -> None:
    """Compute how many people you need to find that an outcome depends on a private category.

    \b
    Examples:
      subsetprivacy power predictor race.design.json --w 0.6,0.2,0.15,0.05 \\
        --category Black --difference 5 --sd 15 --target 0.8
      subsetprivacy power predictor race.design.json --w 0.6,0.2,0.15,0.05 \\
        --category Black --family logit --odds-ratio 1.8 --mean 0.2 --people 5000
    """
    from subsetprivacy.planning import predictor_power

    known = read_design(design)
    made = predictor_power(
        known,
        numbers(w, "--w"),
        people,
        category=_label(category, known),
        baseline=_label(baseline, known),
        family=family,
        difference=difference,
        odds_ratio=odds_ratio,
        rate_ratio=rate_ratio,
        sd=sd,
        mean=mean,
        method=method,
        alpha=alpha,
        target=target,
    )
    _show(made, as_json)


@power.command(short_help="Find a difference between the means of two private groups.")
@_shared
@click.option("--group", "groups", metavar="LABEL", multiple=True, help="A group to compare. Give it twice.")
@click.option(
    "--difference", type=float, required=True, help="The mean of the first group minus the mean of the second."
)
@click.option("--sd", type=float, default=1.0, show_default=True, help="The standard deviation within the groups.")
@options.as_json
@sets(label="--group")
def means(
    design: Path,
    w: str,
    people: int | None,
    target: float | None,
    alpha: float,
    as_json: bool,
    groups: tuple[str, ...],
    difference: float,
    sd: float,
) -> None:
    """Compute how many people you need to find that the means of two private groups differ.

    \b
    Example:
      subsetprivacy power means race.design.json --w 0.6,0.2,0.15,0.05 \\
        --group Black --group White --difference 5 --sd 15 --target 0.8
    """
    from subsetprivacy.planning import means_power

    known = read_design(design)
    pair: Any = tuple(_label(group, known) for group in groups)
    made = means_power(
        known, numbers(w, "--w"), people, groups=pair, difference=difference, sd=sd, alpha=alpha, target=target
    )
    _show(made, as_json)


def _label(text: str | None, design: Any) -> Any:
    """Return the label with this text; labels of a document may be numbers."""
    return next((label for label in design.categories.labels if str(label) == text), text)


def _show(made: Any, as_json: bool) -> None:
    if as_json:
        echo_json(made.to_dict())
    else:
        echo_table(made.summary())
