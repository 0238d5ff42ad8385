"""The JSON Schema of design documents, for editors and other languages. Each kind of design defines its keys."""

import json
from typing import Any

from subsetprivacy.design.document import kinds
from subsetprivacy.design.document_format import DOCUMENT_FORMAT, DOCUMENT_VERSION, Keys
from subsetprivacy.subsets import MAX_CATEGORIES

_LARGEST = (1 << MAX_CATEGORIES) - 1
_LABELS = {"$ref": "#/$defs/labels"}
_HEAD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:subsetprivacy:design:1",
    "title": "A subsetprivacy design document, version 1",
    "description": "How random subsets that contain a person's value are drawn. The package checks the rest when it "
    "reads the document: that weights sum to one, that codes fit the number of categories and that the fingerprint "
    "matches.",
    "type": "object",
}
_VARIABLE = {
    "type": "object",
    "properties": {
        "name": {"description": "The name of the variable.", "type": "string", "minLength": 1},
        "categories": _LABELS,
    },
    "required": ["name", "categories"],
    "additionalProperties": False,
}
_PROPERTIES = {
    "format": {"description": "The type of the document.", "const": DOCUMENT_FORMAT},
    "version": {"description": "The version. Readers refuse any other.", "const": DOCUMENT_VERSION},
    "categories": {**_LABELS, "description": "The labels of the one variable, in order."},
    "variables": {
        "description": "Instead of categories: several variables, in order. Their combinations are the categories, "
        "the last variable fastest.",
        "type": "array",
        "minItems": 1,
        "items": _VARIABLE,
    },
    "fingerprint": {
        "description": "SHA-256, hexadecimal, of the document without this key, written with sorted keys, no spaces, "
        "UTF-8.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
    },
}
_SHARED = {
    "labels": {
        "type": "array",
        "minItems": 1,
        "uniqueItems": True,
        "items": {"type": ["string", "number", "boolean"]},
    },
    "code": {
        "description": "A subset: bit j is set when category j, counted from 0, is a member.",
        "type": "integer",
        "minimum": 0,
        "maximum": _LARGEST,
    },
    "pair_or_more": {
        "description": "A subset of two members or more.",
        "type": "integer",
        "minimum": 3,
        "maximum": _LARGEST,
    },
    "weight": {
        "description": "A nonnegative number, as a number or as text (the shortest that reads back the same).",
        "oneOf": [
            {"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"},
            {"type": "number", "minimum": 0},
        ],
    },
    "inner": {"$ref": "#/$defs/part", "unevaluatedProperties": False},
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a design document as plain data."""
    keys = {kind: classes[0].keys for kind, classes in kinds().items()}
    part = {
        "description": "A kind of design and its keys apart from the categories.",
        "type": "object",
        "properties": {"kind": {"description": "The kind of design.", "enum": list(keys)}},
        "required": ["kind"],
        "allOf": [_if_kind(kind, _part(each)) for kind, each in keys.items() if each.properties],
    }
    whole = [_if_kind(kind, _document(each)) for kind, each in keys.items() if each.categories or each.document]
    return {
        **_HEAD,
        "properties": _PROPERTIES,
        "required": ["format", "version", "kind"],
        "oneOf": [{"required": ["categories"]}, {"required": ["variables"]}],
        "allOf": [{"$ref": "#/$defs/part"}, *whole],
        "unevaluatedProperties": False,
        "$defs": {**_SHARED, "part": part},
    }


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) of a design document.

    It contains the keys, types and ranges of every kind. `design_from_json`
    checks the rest: sums of weights, the range of codes for the number of
    categories, and the fingerprint.
    """
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _if_kind(kind: str, then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": then}


def _part(keys: Keys) -> dict[str, Any]:
    return {"properties": dict(keys.properties), "required": list(keys.required), **keys.conditions}


def _document(keys: Keys) -> dict[str, Any]:
    if keys.categories is None:
        return dict(keys.document)
    least, most = keys.categories
    return {"properties": {"categories": {"minItems": least, "maxItems": most}}, **keys.document}
