"""`subsetprivacy plan`: how many people each design needs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli.categories import FILE, LISTED, declared
from subsetprivacy.cli.options import numbers
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import echo_json, echo_table


@click.command(short_help="Compute how many people each design needs.")
@click.argument("labels", nargs=-1)
@LISTED
@FILE
@click.option("--n-categories", "number", type=int, help="The number of categories, if you have no labels yet.")
@click.option(
    "--margin",
    type=float,
    help="The largest half-width of the intervals; 0.02 is ±2 percentage points. [default: 0.02 without --people]",
)
@click.option(
    "--relative", type=float, help="The half-width relative to the share, e.g. 0.2, instead of --margin. Needs --w."
)
@click.option("--category", metavar="LABEL", help="Require the margin only for the share of this category.")
@click.option("--people", type=int, help="The number of people. The command then computes the margin.")
@click.option("--groups", "number_of_groups", type=int, help="Plan to compare this many groups of equal size.")
@click.option(
    "--group", "groups", metavar="NAME=SHARE", multiple=True, help="Plan to compare groups with these shares."
)
@click.option(
    "--subgroup", "subgroups", metavar="NAME=SHARE", multiple=True, help="Require the margin in each of these groups."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence level.")
@click.option(
    "--floor",
    type=float,
    help="Consider only designs with dummy rows, in which every report could have come from at least this share of the "
    "rows.",
)
@click.option("--maximal-leakage", type=float, help="The largest maximal leakage of the recommended design, in bits.")
@click.option(
    "--w", "w", metavar="SHARES", help="The distribution to plan for, e.g. 0.01,0.1,0.2,0.69. [default: the worst case]"
)
@click.option("--publish", is_flag=True, help="Also consider designs for publishing values that you hold.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for other programs.")
@sets(n="--people")
def plan(
    labels: tuple[str, ...],
    listed: str | None,
    file: Path | None,
    number: int | None,
    margin: float | None,
    relative: float | None,
    category: str | None,
    people: int | None,
    number_of_groups: int | None,
    groups: tuple[str, ...],
    subgroups: tuple[str, ...],
    level: float,
    floor: float | None,
    maximal_leakage: float | None,
    w: str | None,
    publish: bool,
    as_json: bool,
) -> None:
    """Compute how many people each design needs for the categories LABELS, and recommend one.

    \b
    Examples:
      subsetprivacy plan black red green blue --margin 0.02
      subsetprivacy plan --categories black,red,green,blue --people 3000
      subsetprivacy plan --n-categories 9 --people 3000
      subsetprivacy plan never once often daily --category daily --margin 0.03
      subsetprivacy plan never once often daily --w 0.6,0.2,0.1,0.1 --relative 0.2
      subsetprivacy plan never once often daily --groups 2 --margin 0.05
      subsetprivacy plan never once often daily --subgroup young=0.2 --subgroup old=0.8
    """
    from subsetprivacy.planning import plan as run

    if sum([bool(labels), listed is not None, file is not None, number is not None]) != 1:
        raise click.UsageError("give the categories once: as LABELS, or with --categories, --file or --n-categories")
    if number_of_groups is not None and groups:
        raise click.UsageError("give either --groups or --group")
    made = run(
        declared(labels, listed, file) if number is None else number,
        margin,
        level,
        floor,
        None if w is None else numbers(w, "--w"),
        n=people,
        # Without labels the categories are numbers.
        category=int(category) if number is not None and category is not None and _is_number(category) else category,
        relative=relative,
        groups=_shares(groups, "--group") or number_of_groups,
        subgroups=_shares(subgroups, "--subgroup"),
        maximal_leakage=maximal_leakage,
        mode="publish" if publish else "ask",
    )
    if as_json:
        echo_json(made.to_dict())
    else:
        echo_table(made.summary())


def _is_number(text: str) -> bool:
    return text.strip().isdecimal()


def _shares(entries: Sequence[str], option: str) -> dict[str, Any] | None:
    """Return the share of each group by name, or None if none is given."""
    shares: dict[str, float] = {}
    for entry in entries:
        name, sign, share = entry.rpartition("=")
        try:
            if not sign or not name:
                raise ValueError
            value = float(share)
        except ValueError:
            raise click.UsageError(f"{option} must be NAME=SHARE, such as young=0.2; got {entry!r}") from None
        if name in shares:
            raise click.UsageError(f"{option} must name each group once; got {name!r} twice")
        shares[name] = value
    return shares or None
