"""A design as a versioned JSON document: written by `Design.to_json`, read back here."""

import json
from pathlib import Path
from typing import Any

from subsetprivacy.design.base import DOCUMENT_FORMAT, DOCUMENT_VERSION, Design, fingerprint
from subsetprivacy.design.coarse import coarse
from subsetprivacy.design.conditional import conditional, fully_private, nonprivate
from subsetprivacy.design.independent import independent, uniform
from subsetprivacy.design.mixture import Mixture
from subsetprivacy.errors import DesignDocumentError, SubsetPrivacyError


def design_from_json(text: str | bytes) -> Design:
    """Read a design from the text that `Design.to_json` wrote.

    Raises
    ------
    DesignDocumentError
        If the text is no such document, is of a newer version, was altered
        after it was written, or describes no valid design.

    Examples
    --------
    >>> design = uniform(["a", "b", "c", "d"])
    >>> design_from_json(design.to_json()) == design
    True
    """
    try:
        document = json.loads(text, parse_constant=_refuse)
    except (TypeError, ValueError):
        raise DesignDocumentError("a design document must be JSON text; got something else.") from None
    if not isinstance(document, dict) or document.get("format") != DOCUMENT_FORMAT:
        raise DesignDocumentError(f'a design document must be an object with "format": "{DOCUMENT_FORMAT}".')
    if document.get("version") != DOCUMENT_VERSION:
        raise DesignDocumentError(
            f"a design document must be of version {DOCUMENT_VERSION}; got {document.get('version')!r}. "
            "Hint: a newer version of the package may read it."
        )
    body = {key: value for key, value in document.items() if key != "fingerprint"}
    stated = document.get("fingerprint")
    if stated is not None and stated != fingerprint(body):
        raise DesignDocumentError(
            "a design document must match its fingerprint; this one was altered after it was written."
        )
    try:
        return _build(body["categories"], body)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DesignDocumentError(f"a design document must be complete; this one lacks or misuses {error}.") from None
    except SubsetPrivacyError as error:
        raise DesignDocumentError(f"a design document must describe a valid design: {error}") from error


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _build(categories: list[Any], part: dict[str, Any]) -> Design:
    kind = part["kind"]
    if kind == "uniform":
        return uniform(categories)
    if kind == "independent":
        return independent(categories, _weights(part["questions"]))
    if kind == "conditional":
        return conditional(categories, _weights(part["subsets"]))
    if kind == "nonprivate":
        return nonprivate(categories)
    if kind == "fully_private":
        return fully_private(categories)
    if kind == "coarse":
        return coarse(categories)
    if kind == "mixture":
        parts = part["components"]
        return Mixture.of([_build(categories, inner) for inner in parts], [_amount(inner["share"]) for inner in parts])
    raise DesignDocumentError(f"a design document must name a kind that this version knows; got {kind!r}.")


def _weights(pairs: list[list[Any]]) -> dict[int, float]:
    weights: dict[int, float] = {}
    for code, weight in pairs:
        if not isinstance(code, int) or isinstance(code, bool) or code in weights:
            raise DesignDocumentError("a design document must list each subset once, by its integer code.")
        weights[code] = _amount(weight)
    return weights


def _amount(value: Any) -> float:
    """Read a weight: text, as we write it, since every language writes a number in its own way; or a number."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise DesignDocumentError("a design document must give its weights as numbers; got other text.") from None


def load_design(path: str | Path) -> Design:
    """Read a design from a JSON file."""
    source = Path(path)
    if not source.is_file():
        raise DesignDocumentError(f"`path` must be a file; got {str(source)!r}, which does not exist.")
    return design_from_json(source.read_bytes())
