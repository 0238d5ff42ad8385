"""Say what a design gives away."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli.show import echo_json, echo_table


@click.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--w",
    "w",
    required=True,
    multiple=True,
    help="The distribution, e.g. 0.01,0.1,0.2,0.69, in category order; of several variables NAME=0.1,0.9 for each.",
)
@click.option("--prior", help="What the attacker believes the distribution to be, in the same form.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def audit(path: Path, w: tuple[str, ...], prior: str | None, as_json: bool) -> None:
    """Say what the design document PATH gives away at the distribution W.

    \b
    Examples:
      subsetprivacy audit urn.design.json --w 0.01,0.1,0.2,0.69
      subsetprivacy audit both.design.json --w sex=0.5,0.5 --w race=0.1,0.2,0.3,0.4
    """
    from subsetprivacy.auditing import audit as run
    from subsetprivacy.design import load_design

    report = run(load_design(path), _distribution(w), prior=None if prior is None else numbers(prior, "--prior"))
    if as_json:
        echo_json(report.to_dict())
    else:
        echo_table(report.summary())


def _distribution(given: tuple[str, ...]) -> Any:
    """Return one distribution, or one for each named variable."""
    if len(given) == 1 and "=" not in given[0]:
        return numbers(given[0], "--w")
    named = [part.partition("=") for part in given]
    if not all(equals for _, equals, _ in named):
        raise click.BadParameter("must be NAME=0.1,0.9 for each of several variables", param_hint="--w")
    return {name: numbers(text, "--w") for name, _, text in named}


def numbers(text: str, option: str) -> list[float]:
    """Read numbers joined by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter("must be numbers joined by commas, like 0.2,0.3,0.5", param_hint=option) from None
