"""Show what a design document contains, and check that it is fit for use."""

import sys
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy.cli.documents import read_design, save_document
from subsetprivacy.cli.files import STANDARD_OUTPUT, name_of
from subsetprivacy.cli.options import as_json, document, document_output
from subsetprivacy.cli.show import echo_error, echo_json, say

if TYPE_CHECKING:
    from subsetprivacy.errors import SubsetPrivacyError


@click.command(short_help="Show what a design document contains.")
@click.argument("path", type=document)
@as_json
def show(path: Path, as_json: bool) -> None:
    """Read the design document PATH, check it, and describe it.

    \b
    Example:
      subsetprivacy design show urn.design.json
    """
    facts = _facts(read_design(path))
    if as_json:
        echo_json(facts)
        return
    shown = {**facts, "S": f"{log2(facts['S']):.4g} (log2 of S = {facts['S']:.4g})"}
    for name, value in shown.items():
        click.echo(f"{_NAMES.get(name, name.replace('_', ' ')):30}{_text(value)}")


def _facts(read: Any) -> dict[str, Any]:
    return {
        "kind": read.maker,
        "categories": list(read.categories),
        "fingerprint": read.fingerprint,
        "subset_private": read.is_subset_private,
        "identifiable": read.is_identifiable,
        "yes_no_questions": read.is_independent,
        "smallest_set": read.smallest_set,
        "S": read.S,
    }


@click.command(short_help="Check that a design is valid, private and identifiable.")
@click.argument("path", type=document)
@as_json
def check(path: Path, as_json: bool) -> None:
    """Check that the design document PATH is valid, unaltered, private and identifiable.

    If it is not, the exit code is 1 and the reasons are on standard error.

    \b
    Example:
      subsetprivacy design check urn.design.json
    """
    read = read_design(path)  # raises if it is no document, or was altered
    problems = _problems(read)
    if as_json:
        sentences = [problem.message for problem in problems]
        echo_json({"ok": not problems, "problems": sentences, "fingerprint": read.fingerprint})
    elif not problems:
        fit = "valid, unaltered, private and identifiable" if _is_sealed(path) else "valid, private and identifiable"
        say(
            f"{name_of(path)} is {fit}: {read.maker} design, {read.p} categories, fingerprint {read.fingerprint[:16]}…."
        )
        if not _is_sealed(path):
            say("It has no fingerprint, so changes to it cannot be detected.")
    for problem in problems:
        echo_error(problem, name_of(path))
    sys.exit(1 if problems else 0)


def _problems(read: Any) -> "list[SubsetPrivacyError]":
    """Return an error for each reason why a design is unfit."""
    from subsetprivacy.design.disclosure import revealing_reports
    from subsetprivacy.errors import InvalidDesignError, NotIdentifiableError

    problems: list[SubsetPrivacyError] = []
    bare = read.exposed
    if not read.is_subset_private:
        problems.append(InvalidDesignError("not private: a single value can be reported."))
    elif bare.enumerable:
        shown = [name for name, rows in revealing_reports(bare).items() if rows.any()]
        if shown:
            problems.append(InvalidDesignError(f"not private: some reports reveal {', '.join(shown)} exactly."))
    if not read.is_identifiable:
        why = "not identifiable: the distribution cannot be estimated from its reports."
        problems.append(NotIdentifiableError(why))
    return problems


def _is_sealed(path: Path) -> bool:
    import json

    document = json.loads(path.read_bytes())
    return "fingerprint" in (
        document if "columns" not in document else next(iter(document["columns"].values()))["design"]
    )


@click.command(short_help="Print the JSON Schema of design documents.")
@document_output("Write the schema to this .json file instead of printing it.")
def schema(output: Path | None) -> None:
    """Print the JSON Schema of design documents, for editors and other programming languages.

    \b
    Example:
      subsetprivacy design schema -o design.schema.json
    """
    from subsetprivacy.design.schema import schema_text

    text = schema_text()
    if output is None or output == STANDARD_OUTPUT:
        click.echo(text, nl=False)
    else:
        save_document(text, output)
        say(f"Wrote {output}.")


_NAMES = {
    "yes_no_questions": "yes/no questions",
    "S": "maximal leakage (bits)",
    "smallest_set": "smallest reportable set",
}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(label) for label in value[:48]) + (", …" if len(value) > 48 else "")
    return str(value)
