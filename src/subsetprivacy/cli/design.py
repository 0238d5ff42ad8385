"""Make and look at design documents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from subsetprivacy.cli.show import echo_json

_document = click.Path(exists=True, dir_okay=False, path_type=Path)


def _output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that says where a document goes."""
    where = click.Path(dir_okay=False, path_type=Path)
    return click.option("-o", "--output", type=where, help="Write here instead of printing.")(command)


def _categories(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the ways to give the categories: as words, or as lines of a file."""
    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    named = click.option("--file", "file", type=file, help="Read the categories from here, one a line.")(command)
    return click.argument("labels", nargs=-1)(named)


def _read(labels: tuple[str, ...], file: Path | None) -> list[str]:
    if bool(labels) == (file is not None):
        raise click.UsageError("give either LABELS or --file")
    return list(labels) if file is None else file.read_text(encoding="utf-8").splitlines()


def _write(made: Any, output: Path | None) -> None:
    if output is None:
        click.echo(made.to_json())
    else:
        made.save(output)
        click.echo(f"Wrote {output} (fingerprint {made.fingerprint[:16]}…).")


@click.group()
def design() -> None:
    """Make a design document, or look at one."""


@design.command()
@_categories
@_output
def uniform(labels: tuple[str, ...], file: Path | None, output: Path | None) -> None:
    """Make a uniform design for the categories LABELS: any yes/no question, four to 48 categories.

    \b
    Example:
      subsetprivacy design uniform black red green blue -o urn.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.uniform(_read(labels, file)), output)


@design.command()
@_categories
@click.option("--groups", type=int, default=2, show_default=True, help="How many groups a question has.")
@_output
def partition(labels: tuple[str, ...], file: Path | None, groups: int, output: Path | None) -> None:
    """Make a design that asks which of several groups holds the answer.

    \b
    Example:
      subsetprivacy design partition a b c d e f --groups 3 -o groups.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.partition(_read(labels, file), groups), output)


@design.command()
@_categories
@click.option("--questions", type=int, help="How many, one less than a power of two; by default the fewest.")
@_output
def hadamard(labels: tuple[str, ...], file: Path | None, questions: int | None, output: Path | None) -> None:
    """Make a design with few yes/no questions for many categories.

    \b
    Example:
      subsetprivacy design hadamard --file towns.txt -o towns.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.hadamard(_read(labels, file), questions), output)


@design.command("fixed-size")
@_categories
@click.option("--size", type=int, required=True, help="How many categories every report has.")
@_output
def fixed_size(labels: tuple[str, ...], file: Path | None, size: int, output: Path | None) -> None:
    """Make a design that reports the value among a fixed number of categories; for publishers, and for three.

    \b
    Example:
      subsetprivacy design fixed-size never once often --size 2 -o pair.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.fixed_size(_read(labels, file), size), output)


@design.command()
@click.argument("labels", nargs=2, required=True)
@click.option("--q", type=float, default=0.25, show_default=True, help="The probability that the secret bit is 1.")
@_output
def warner(labels: tuple[str, str], q: float, output: Path | None) -> None:
    """Make the safe design for two categories: the question is whether the answer equals a secret bit.

    \b
    Example:
      subsetprivacy design warner no yes --q 0.25 -o yesno.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.warner(labels, q), output)


@design.command()
@click.argument("path", type=_document)
@click.option("--floor", type=float, required=True, help="The least share of rows that could have sent a report.")
@_output
def covered(path: Path, floor: float, output: Path | None) -> None:
    """Cover the design document PATH by dummy rows.

    \b
    Example:
      subsetprivacy design covered urn.design.json --floor 0.1 -o safe.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.covered(designs.load_design(path), floor), output)


@design.command()
@click.argument("variables", nargs=-1, required=True, metavar="NAME=PATH...")
@_output
def product(variables: tuple[str, ...], output: Path | None) -> None:
    """Combine the design documents of several variables, given as NAME=PATH.

    \b
    Example:
      subsetprivacy design product race=race.design.json income=income.design.json -o both.design.json
    """
    from subsetprivacy import design as designs

    parts = {}
    for variable in variables:
        name, equals, path = variable.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"must be NAME=PATH, got {variable!r}", param_hint="NAME=PATH")
        parts[name] = designs.load_design(path)
    _write(designs.product(parts), output)


@design.command()
@click.argument("path", type=_document)
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


@design.command()
@_output
def schema(output: Path | None) -> None:
    """Print the JSON Schema of design documents, for editors and other languages.

    \b
    Example:
      subsetprivacy design schema -o design.schema.json
    """
    from subsetprivacy.design.schema import schema_text

    text = schema_text()
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(f"Wrote {output}.")


_NAMES = {
    "yes_no_questions": "yes/no questions",
    "S": "S, the sum of all mu",
    "smallest_set": "smallest reportable set",
}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(label) for label in value[:48]) + (", …" if len(value) > 48 else "")
    return str(value)
