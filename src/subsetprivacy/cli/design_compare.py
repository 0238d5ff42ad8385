"""`subsetprivacy design compare`: a table of several designs."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy._words import counted
from subsetprivacy.cli.audit import even
from subsetprivacy.cli.documents import read_design
from subsetprivacy.cli.files import name_of
from subsetprivacy.cli.options import as_json, document, numbers
from subsetprivacy.cli.show import echo_json, echo_table


@click.command(short_help="Compare what designs reveal and cost.")
@click.argument("paths", type=document, nargs=-1, required=True, metavar="PATH PATH...")
@click.option(
    "--w", "w", metavar="SHARES", help="The distribution in category order, e.g. 0.01,0.1,0.2,0.69. [default: uniform]"
)
@as_json
def compare(paths: tuple[Path, ...], w: str | None, as_json: bool) -> None:
    """Compare what the design documents PATH reveal, and what they cost.

    \b
    Example:
      subsetprivacy design compare urn.design.json safe.design.json --w 0.01,0.1,0.2,0.69
    """
    from subsetprivacy.auditing import audit

    if len(paths) < 2:
        raise click.UsageError("give two or more design documents")
    shares = None if w is None else numbers(w, "--w")
    facts = []
    for path in paths:
        design = read_design(path)
        report = audit(design, even(design) if shares is None else shares)
        facts.append({"path": name_of(path), "fingerprint": design.fingerprint, **report.to_dict()})
    if as_json:
        echo_json(facts)
    else:
        echo_table(_table(facts, "the even distribution" if w is None else "the given distribution"))


_COLUMNS = {
    "mi_leakage": "MI",
    "maximal_leakage": "max. leak",
    "size_leakage": "size",
    "prediction_leakage": "guess",
    "smallest_set": "smallest",
    "largest_posterior": "posterior",
    "cost": "price",
}


def _table(designs: list[dict[str, Any]], where: str) -> Any:
    from subsetprivacy.tables import Table, number

    def cell(value: Any) -> str:
        return "-" if value is None else str(value) if isinstance(value, int) else number(value)

    useless = [design["path"] for design in designs if not design["identifiable"]]
    rows = tuple((design["path"], design["design"], *(cell(design.get(key)) for key in _COLUMNS)) for design in designs)
    notes = [
        "MI: mutual information in bits, on average.",
        "max. leak: maximal leakage in bits, whatever the distribution.",
        "size: the share of people that a report rules out, on average, if it can rule someone out.",
        "guess: how often the best guess is right.",
        "smallest: the fewest values that a report leaves possible.",
        "posterior: the largest probability of a value given a report.",
        "price: how many times as many people you need as when asking directly.",
        *(f"Revealed exactly: {line}." for line in _revealed(designs)),
        *(f"{path} is not identifiable: nothing can be estimated from it." for path in useless),
    ]
    if len({tuple(map(str, design["categories"])) for design in designs}) > 1:
        notes.append("The designs are of different categories.")
    return Table(
        f"{counted(len(designs), 'design')} at {where}",
        ("design", "kind", *_COLUMNS.values()),
        rows,
        tuple(notes),
        text_columns=2,
    )


def _revealed(designs: list[dict[str, Any]]) -> list[str]:
    return [
        f"{name}, in {share:.1%} of the rows of {design['path']}"
        for design in designs
        for name, share in design["reveals"].items()
        if share > 0
    ]
