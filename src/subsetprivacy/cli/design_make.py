"""A command for each kind of design."""

from pathlib import Path
from typing import Any

import click

from subsetprivacy._choices import Route
from subsetprivacy.cli.categories import categories, split_words
from subsetprivacy.cli.documents import echo_written, read_design, save_document
from subsetprivacy.cli.files import STANDARD_OUTPUT
from subsetprivacy.cli.options import document, document_output
from subsetprivacy.cli.shell_wording import sets

_output = document_output("Write the document to this .json file instead of printing it.")


def _write(made: Any, output: Path | None) -> None:
    if output is None or output == STANDARD_OUTPUT:
        click.echo(made.to_json())
    else:
        save_document(made.to_json() + "\n", output)
        echo_written(made, output)


@click.command(short_help="Ask any yes/no question, for 4 to 48 categories.")
@categories
@_output
def uniform(labels: list[Any], output: Path | None) -> None:
    """Make a uniform design for the categories LABELS: it asks any yes/no question, for 4 to 48 categories.

    \b
    Examples:
      subsetprivacy design uniform black red green blue -o urn.design.json
      subsetprivacy design uniform --categories black,red,green,blue -o urn.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.uniform(labels), output)


@click.command(short_help="Ask which of several groups contains the answer.")
@categories
@click.option("--groups", type=int, default=2, show_default=True, help="The number of groups in a question.")
@_output
def partition(labels: list[Any], groups: int, output: Path | None) -> None:
    """Make a design that asks which of several groups contains the answer.

    \b
    Example:
      subsetprivacy design partition a b c d e f --groups 3 -o groups.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.partition(labels, groups), output)


@click.command(short_help="Ask one of a few yes/no questions about many categories.")
@categories
@click.option(
    "--questions", type=int, help="The number of questions, one less than a power of two. [default: the fewest]"
)
@_output
def hadamard(labels: list[Any], questions: int | None, output: Path | None) -> None:
    """Make a design with a few fixed yes/no questions, for many categories.

    \b
    Example:
      subsetprivacy design hadamard --file towns.txt -o towns.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.hadamard(labels, questions), output)


@click.command("fixed-size", short_help="Report the value among a fixed number of categories.")
@categories
@click.option("--size", type=int, required=True, help="The number of categories in every report.")
@_output
@sets(k="--size")
def fixed_size(labels: list[Any], size: int, output: Path | None) -> None:
    """Make a design that reports the value among a fixed number of categories.

    Use it to publish values that you hold, or for three categories.

    \b
    Example:
      subsetprivacy design fixed-size never once often --size 2 -o pair.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.fixed_size(labels, size), output)


@click.command(short_help="Ask a safe question about two categories.")
@categories
@click.option("--q", type=float, default=0.25, show_default=True, help="The probability that the secret bit is 1.")
@click.option("--reveals", is_flag=True, help="Allow a bit that almost reveals the answer.")
@_output
def warner(labels: list[Any], q: float, reveals: bool, output: Path | None) -> None:
    """Make the safe design for two categories: it asks whether the answer equals a secret bit.

    \b
    Example:
      subsetprivacy design warner no yes --q 0.25 -o yesno.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.warner(labels, q, reveals=reveals), output)


@click.command(short_help="Make the recommended design for two or three categories.")
@categories
@click.option(
    "--route",
    type=click.Choice(["warner", "pair", "bit", "dummies"]),
    help="The kind of design. [default: the safe one, warner for two categories and pair for three]",
)
@click.option("--q", type=float, help="The probability that the secret bit is 1.")
@click.option("--floor", type=float, help="The share of rows per dummy category, for --route dummies.")
@click.option("--reveals", is_flag=True, help="Allow a design in which some rows reveal the value.")
@_output
def small(
    labels: list[Any], route: Route | None, q: float | None, floor: float | None, reveals: bool, output: Path | None
) -> None:
    """Make the recommended design for two or three categories.

    \b
    Example:
      subsetprivacy design small never once often -o habit.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.small(labels, route, q=q, floor=floor, reveals=reveals), output)


@click.command(short_help="Join several small variables into one.")
@click.argument("variables", nargs=-1, required=True, metavar="NAME=A,B...")
@click.option("--together", type=int, help="Join this many variables at a time, and ask about each bundle separately.")
@click.option("--reveals", is_flag=True, help="Allow questions whose answer reveals one of the variables.")
@_output
@sets(parts="NAME=A,B", variables="NAME=A,B")
def join(variables: tuple[str, ...], together: int | None, reveals: bool, output: Path | None) -> None:
    """Join small variables, written NAME=A,B,…, into one whose categories are their combinations.

    `privatize` then reads the columns NAME and writes one column for all of them.

    \b
    Example:
      subsetprivacy design join sex=Female,Male income=low,high -o sex_income.design.json
    """
    from subsetprivacy import design as designs

    parts = {name: split_words(words, name) for name, words in _pairs(variables, "NAME=A,B").items()}
    _write(designs.join(parts, together=together, reveals=reveals), output)


@click.command(short_help="Combine the designs of several variables.")
@click.argument("variables", nargs=-1, required=True, metavar="NAME=PATH...")
@_output
@sets(designs="NAME=PATH")
def product(variables: tuple[str, ...], output: Path | None) -> None:
    """Combine the design documents of several variables, written NAME=PATH.

    \b
    Example:
      subsetprivacy design product race=race.design.json income=income.design.json \\
        -o both.design.json
    """
    from subsetprivacy import design as designs

    parts = {name: read_design(path, name) for name, path in _pairs(variables, "NAME=PATH").items()}
    _write(designs.product(parts), output)


def _pairs(given: tuple[str, ...], form: str) -> dict[str, str]:
    """Split NAME=REST at the first equals sign; each name once."""
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"must be {form}, got {text!r}", param_hint=form)
        if name in pairs:
            raise click.BadParameter(f"must name each variable once; got {name!r} twice", param_hint=form)
        pairs[name] = rest
    return pairs


@click.command(short_help="Protect a design with dummy rows.")
@click.argument("path", type=document)
@click.option("--floor", type=float, required=True, help="The smallest share of rows that could have sent each report.")
@click.option("--reveals", is_flag=True, help="Allow a design that reports single values.")
@_output
@sets(design="PATH")
def covered(path: Path, floor: float, reveals: bool, output: Path | None) -> None:
    """Add dummy rows to the design document PATH, so that every report has a minimum coverage.

    \b
    Example:
      subsetprivacy design covered urn.design.json --floor 0.1 -o safe.design.json
    """
    from subsetprivacy import design as designs

    _write(designs.covered(read_design(path), floor, reveals=reveals), output)
