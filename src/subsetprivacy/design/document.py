"""Read designs from the versioned JSON documents that `Design.to_json` writes."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from attrs import evolve

from subsetprivacy._checks import check_count
from subsetprivacy._paths import local_path
from subsetprivacy.design.base import Design
from subsetprivacy.design.coarse import Coarse, coarse
from subsetprivacy.design.conditional import (
    Conditional,
    FullyPrivate,
    NonPrivate,
    conditional,
    fully_private,
    nonprivate,
)
from subsetprivacy.design.covered import Covered, covered
from subsetprivacy.design.document_format import DOCUMENT_FORMAT, DOCUMENT_VERSION, fingerprint
from subsetprivacy.design.exchangeable import FixedSize, fixed_size
from subsetprivacy.design.hadamard import Hadamard, with_columns
from subsetprivacy.design.independent import Independent, Uniform, independent, uniform
from subsetprivacy.design.mixture import Mixture
from subsetprivacy.design.partition import EvenPartition, ListedPartition, partition
from subsetprivacy.design.product import Product, product
from subsetprivacy.design.secret_bit import ArtificialBit, uniform_with_bit, warner
from subsetprivacy.design.small import Singles, singles
from subsetprivacy.errors import DesignDocumentError, SubsetPrivacyError
from subsetprivacy.messages.for_designs import DOCUMENT_OF_A_TABLE, READ_BY_A_NEWER_VERSION
from subsetprivacy.subsets import Categories
from subsetprivacy.variables import JointCategories


def design_from_json(text: str | bytes) -> Design:
    """Read a design from the text that `Design.to_json` wrote.

    Parameters
    ----------
    text
        The JSON text, as a string or as UTF-8 bytes.

    Raises
    ------
    DesignDocumentError
        If the text is not such a document, has a newer version, was altered
        after it was written, or does not describe a valid design.

    Examples
    --------
    >>> design = uniform(["a", "b", "c", "d"])
    >>> design_from_json(design.to_json()) == design
    True
    """
    try:
        document = json.loads(text, parse_constant=_refuse)
        json.dumps(document, ensure_ascii=False).encode()  # "\ud800" alone is JSON, but not text in any encoding
    except UnicodeEncodeError:
        raise DesignDocumentError(
            "a design document must contain complete characters; got half of a surrogate pair."
        ) from None
    except (TypeError, ValueError, RecursionError):
        raise DesignDocumentError("a design document must be JSON text; got something else.") from None
    if not isinstance(document, dict) or document.get("format") != DOCUMENT_FORMAT:
        table = isinstance(document, dict) and "columns" in document
        raise DesignDocumentError(
            f'a design document must be an object with "format": "{DOCUMENT_FORMAT}".',
            DOCUMENT_OF_A_TABLE if table else None,
        )
    if document.get("version") != DOCUMENT_VERSION:
        raise DesignDocumentError(
            f"a design document must be of version {DOCUMENT_VERSION}; got {document.get('version')!r}.",
            READ_BY_A_NEWER_VERSION,
        )
    body = {key: value for key, value in document.items() if key != "fingerprint"}
    stated = document.get("fingerprint")
    if stated is not None and stated != fingerprint(body):
        raise DesignDocumentError(
            "a design document must match its fingerprint; this one was altered after it was written."
        )
    try:
        return _build(_read_categories(body), body)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise DesignDocumentError(f"a design document must be complete; this one lacks or misuses {error}.") from None
    except SubsetPrivacyError as error:
        message = f"a design document must describe a valid design: {error.message}"
        raise DesignDocumentError(message, error.advice) from error
    except (ValueError, OverflowError):
        raise DesignDocumentError(
            "a design document must have numbers where they are required; got other values."
        ) from None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _build(categories: Categories, part: dict[str, Any]) -> Design:
    kind = part["kind"]
    if kind not in _BUILDERS:
        raise DesignDocumentError(
            f"a design document must name a kind of design that this version knows; got {kind!r}."
        )
    return _BUILDERS[kind](categories, part)


def _mixture(categories: Categories, part: dict[str, Any]) -> Design:
    parts = part["components"]
    return Mixture.of([_build(categories, inner) for inner in parts], [_amount(inner["share"]) for inner in parts])


def _partition(categories: Categories, part: dict[str, Any]) -> Design:
    return partition(categories, part["groups"], partitions=part.get("partitions"), record=part["recorded"])


def _bit(categories: Categories, part: dict[str, Any]) -> Design:
    if part["asked"] == "equal":
        return warner(categories, _amount(part["q"]), reveals=True)
    return {"uniform": uniform_with_bit}[part["asked"]](categories, _amount(part["q"]))


def _covered(categories: Categories, part: dict[str, Any]) -> Design:
    made = covered(_build(categories, part["base"]), _amount(part["floor"]), reveals=True)
    if "people" not in part:
        return made
    people, dummies = check_count(part["people"], "people"), check_count(part["dummies"], "dummies")
    if dummies < made.dummies_for(people):
        raise DesignDocumentError(f"`dummies` must be at least {made.dummies_for(people)} to keep the floor.")
    return evolve(made, people=people, dummies=dummies)


def _product(categories: Categories, part: dict[str, Any]) -> Design:
    if not isinstance(categories, JointCategories):
        raise DesignDocumentError("a product must list its variables.")
    left = iter(zip(categories.names, categories.parts, strict=True))
    factors: dict[Any, Design] = {}
    for inner in part["factors"]:
        variables = dict(islice(left, inner["variables"]))
        names = tuple(variables)
        factors[names if len(names) > 1 else names[0]] = _build(
            JointCategories(variables) if len(names) > 1 else variables[names[0]], inner
        )
    if next(left, None) is not None:
        raise DesignDocumentError("a product must have factors for all of its variables.")
    return product(factors)


Builder = Callable[[Categories, dict[str, Any]], Design]
_BUILDERS: dict[str, Builder] = {}
_CLASSES: dict[str, tuple[type[Design], ...]] = {}


def register(build: Builder, *classes: type[Design]) -> None:
    """Register a kind of design, so that its documents can be read back.

    Parameters
    ----------
    build
        A function of the categories, and of the document or the part of it that names the kind. It returns the design.
    classes
        The class of the kind, or several if the document decides between them.
    """
    _BUILDERS[classes[0].kind] = build
    _CLASSES[classes[0].kind] = classes


def kinds() -> dict[str, tuple[type[Design], ...]]:
    """Return every kind of design that a document can name, with its classes."""
    return dict(_CLASSES)


def name_of_kind(kind: str) -> str:
    """Return the readable name of a kind of design.

    Examples
    --------
    >>> name_of_kind("artificial_bit"), name_of_kind("fixed_size")
    ('randomized response', 'fixed size')
    """
    return _CLASSES[kind][0].name if kind in _CLASSES else kind.replace("_", " ")


def _read_categories(body: dict[str, Any]) -> Categories:
    if "variables" not in body:
        return Categories(body["categories"])
    return JointCategories({part["name"]: Categories(part["categories"]) for part in body["variables"]})


def _weights(pairs: list[list[Any]]) -> dict[int, float]:
    weights: dict[int, float] = {}
    for code, weight in pairs:
        if not isinstance(code, int) or isinstance(code, bool) or code in weights:
            raise DesignDocumentError("a design document must list each subset once, by its integer code.")
        weights[code] = _amount(weight)
    return weights


def _amount(value: Any) -> float:
    """Read a weight, a number or text. We write text, because languages write numbers differently."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        raise DesignDocumentError("a design document must give its weights as numbers; got other text.") from None


def load_design(path: str | Path) -> Design:
    """Read a design from a JSON file.

    Parameters
    ----------
    path
        A file that `Design.save` wrote.

    Raises
    ------
    DesignDocumentError
        As in `design_from_json`, or if the file does not exist. The message names the file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = uniform(["a", "b", "c", "d"]).save(Path(folder) / "letters.json")
    ...     load_design(path)
    <uniform design on 4 categories: 'a', 'b', 'c', 'd'>
    """
    file = local_path(path)
    if not file.is_file():
        raise DesignDocumentError(f"the file {str(file)!r} must exist; it does not.")
    try:
        return design_from_json(file.read_bytes())
    except DesignDocumentError as error:
        raise DesignDocumentError(f"{file}: {error.message}", error.advice) from error.__cause__


register(lambda categories, _: uniform(categories), Uniform)
register(lambda categories, part: independent(categories, _weights(part["questions"])), Independent)
register(lambda categories, part: conditional(categories, _weights(part["subsets"])), Conditional)
register(lambda categories, part: fixed_size(categories, part["size"]), FixedSize)
register(_partition, EvenPartition, ListedPartition)
register(lambda categories, part: with_columns(categories, part["size"], part["columns"]), Hadamard)
register(_bit, ArtificialBit)
register(_covered, Covered)
register(_product, Product)
register(_mixture, Mixture)
register(lambda categories, _: nonprivate(categories), NonPrivate)
register(lambda categories, _: fully_private(categories), FullyPrivate)
register(lambda categories, _: singles(categories), Singles)
register(lambda categories, _: coarse(categories), Coarse)
