"""Options that merge categories, or give each a number."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click

from subsetprivacy.cli.categories import split_words
from subsetprivacy.cli.options import Command, numbers
from subsetprivacy.cli.shell_wording import sets

Name = TypeVar("Name")


def merge(command: Command) -> Command:
    """Add the option that merges categories."""
    option = click.option(
        "--merge",
        "merges",
        multiple=True,
        metavar="NAME=LABEL,LABEL",
        help="Merge categories under a new name. May be repeated. Put a label that contains a comma in quotes.",
    )
    return sets(groups="--merge")(option(command))


def read_merges(given: Sequence[str]) -> dict[str, list[str]]:
    """Return the new names and the labels that each merges.

    Raises
    ------
    click.UsageError
        If one is not NAME=LABEL,LABEL, or a name is given twice.
    """
    merges: dict[str, list[str]] = {}
    for text in given:
        name, equals, labels = (part.strip() for part in text.partition("="))
        if not (name and equals and labels):
            raise click.BadParameter(f"must be NAME=LABEL,LABEL; got {text!r}", param_hint="--merge")
        if name in merges:
            raise click.UsageError(f"--merge uses the name {name} twice; list all its labels in one --merge")
        merges[name] = split_words(labels, "--merge")
    return merges


def with_merged(fits: Mapping[Name, Any], merges: Mapping[str, Sequence[str]]) -> dict[Name, Any]:
    """Return the shares of merged categories.

    Samples need not have the same categories. In each sample, the labels it has are merged.

    Raises
    ------
    CategoryError
        If a label is in no sample.
    """
    from subsetprivacy.errors import CategoryError

    known = {name: by_text(fit.categories) for name, fit in fits.items()}
    for label in (label for labels in merges.values() for label in labels):
        if not any(label in texts for texts in known.values()):
            shown = next(iter(fits.values())).categories.preview()
            raise CategoryError(f"`groups` must name categories, of {shown}; got {label!r}.")
    merged = {}
    for sample, fit in fits.items():
        texts = known[sample]
        present = {name: [label for label in labels if label in texts] for name, labels in merges.items()}
        groups = {
            texts.get(name, name): [texts[label] for label in labels] for name, labels in present.items() if labels
        }
        merged[sample] = fit.collapse(groups) if groups else fit
    return merged


def by_text(labels: Iterable[Any]) -> dict[str, Any]:
    """Return labels by their text; labels of several variables are joined by &."""
    from subsetprivacy.tables import label_text

    ordered = sorted(labels, key=lambda label: isinstance(label, str))  # of "1" and 1, take the text
    return {label_text(label): label for label in ordered}


def read_numbers(text: str, option: str) -> dict[str, float] | list[float]:
    """Read numbers by label, LABEL=0.2,LABEL=0.8, or numbers alone in the order of the labels.

    Raises
    ------
    click.UsageError
        If it is neither, or a label is given twice.
    """
    if "=" not in text:
        return numbers(text, option)
    by_label: dict[str, float] = {}
    for word in split_words(text, option):
        label, equals, value = (part.strip() for part in word.rpartition("="))
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not (equals and label):
            raise click.BadParameter(
                f"must be LABEL=NUMBER,LABEL=NUMBER; got {word!r}. If a label contains a comma, put it and its "
                f"number in quotes",
                param_hint=option,
            )
        if label in by_label:
            raise click.BadParameter(f"must name every label once; got {label!r} twice", param_hint=option)
        by_label[label] = number
    return by_label


def named_as(labels: Iterable[Any], given: dict[str, float] | list[float]) -> dict[Any, float] | list[float]:
    """Return numbers by label instead of by its text; unknown texts stay as they are."""
    if isinstance(given, list):
        return given
    texts = by_text(labels)
    return {texts.get(word, word): number for word, number in given.items()}
