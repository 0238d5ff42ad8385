"""The keys of each kind of design document apart from the categories, as JSON Schema."""

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

CODE = {"$ref": "#/$defs/code"}
PAIR_OR_MORE = {"$ref": "#/$defs/pair_or_more"}
WEIGHT = {"$ref": "#/$defs/weight"}
PART = {"$ref": "#/$defs/part"}
INNER = {"$ref": "#/$defs/inner"}


@frozen
class Keys:
    """The keys of one kind of design.

    Attributes
    ----------
    properties
        The JSON Schema of each key, with its description.
    required
        The required keys.
    categories
        The smallest and the largest number of categories; None if the other keys decide.
    conditions
        Further conditions on the part of the document that names the kind.
    document
        Further conditions on a document whose outermost design is of this kind.
    """

    properties: Mapping[str, Any] = field(factory=dict)
    required: tuple[str, ...] = ()
    categories: tuple[int, int] | None = None
    conditions: Mapping[str, Any] = field(factory=dict)
    document: Mapping[str, Any] = field(factory=dict)


def weighted(description: str, code: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of pairs of a code and its weight."""
    pair = {"type": "array", "prefixItems": [code, WEIGHT], "items": False, "minItems": 2}
    return {"description": description, "type": "array", "minItems": 1, "items": pair}


def whole(description: str, least: int, most: int | None = None) -> dict[str, Any]:
    """Return the schema of a whole number."""
    ends = {"minimum": least} if most is None else {"minimum": least, "maximum": most}
    return {"description": description, "type": "integer", **ends}


def parts(description: str, key: str, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a list of designs, each with one additional key."""
    item = {**PART, "properties": {key: value}, "required": [key], "unevaluatedProperties": False}
    return {"description": description, "type": "array", "minItems": 1, "items": item}


def fraction(description: str, pattern: str, most: float) -> dict[str, Any]:
    """Return the schema of a number above 0 and below `most`, as text or as a number."""
    plain = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": most}
    return {"description": description, "oneOf": [{"type": "string", "pattern": pattern}, plain]}
