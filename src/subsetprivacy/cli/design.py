"""Make and look at design documents."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli.show import echo_json


@click.group()
def design() -> None:
    """Make a design document, or look at one."""


@design.command()
@click.argument("labels", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write here instead of printing.")
def uniform(labels: tuple[str, ...], output: Path | None) -> None:
    """Make a uniform design for the categories LABELS.

    \b
    Example:
      subsetprivacy design uniform black red green blue -o urn.design.json
    """
    from subsetprivacy import design as designs

    made = designs.uniform(labels)
    if output is None:
        click.echo(made.to_json())
    else:
        made.save(output)
        click.echo(f"Wrote {output} (fingerprint {made.fingerprint[:16]}…).")


@design.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def show(path: Path, as_json: bool) -> None:
    """Read the design document PATH, check it, and say what it is.

    \b
    Example:
      subsetprivacy design show urn.design.json
    """
    from subsetprivacy import design as designs

    read = designs.load_design(path)
    facts = {
        "kind": read.kind,
        "categories": list(read.categories),
        "fingerprint": read.fingerprint,
        "subset_private": read.is_subset_private,
        "identifiable": read.is_identifiable,
        "yes_no_questions": read.is_independent,
        "smallest_set": read.smallest_set,
        "S": read.S,
    }
    if as_json:
        echo_json(facts)
        return
    for name, value in facts.items():
        click.echo(f"{_NAMES.get(name, name.replace('_', ' ')):30}{_text(value)}")


_NAMES = {
    "yes_no_questions": "yes/no questions",
    "S": "S, the sum of all mu",
    "smallest_set": "smallest reportable set",
}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(str(label) for label in value) if isinstance(value, list) else str(value)
