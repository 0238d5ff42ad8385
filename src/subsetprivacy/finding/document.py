"""Result classes as plain data for JSON, and the JSON Schema of the same classes.

A class lists what is written in `DOCUMENT`: names of fields or properties. By default it is all fields of an attrs
class. The text and the schema are both made from this list, so they always agree.
"""

import json
from collections.abc import Hashable, Mapping
from enum import Enum
from math import floor, isfinite, log10
from numbers import Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from attrs import fields, has

from subsetprivacy.messages import Note

FIGURES = 8  # further digits may differ between processors
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NULL = {"type": "null"}
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    NoneType: _NULL,
    # Unknown and non-finite values are null.
    float: {"type": ["number", "null"]},
}


def field_names(kind: type) -> tuple[str, ...]:
    """Return the names that are written for a class, in order."""
    chosen = getattr(kind, "DOCUMENT", None)
    return tuple(attribute.name for attribute in fields(kind)) if chosen is None else chosen


def plain(value: Any) -> Any:
    """Return classes, arrays and numbers as plain data. Numbers have eight digits, and non-finite ones are None."""
    if value is None or isinstance(value, (bool, str, int)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        return [plain(part) for part in value.tolist()]
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if has(type(value)):
        return {name: plain(getattr(value, name)) for name in field_names(type(value))}
    return rounded(float(value)) if isinstance(value, Real) else str(value)  # labels may be dates


def rounded(value: float) -> float | None:
    """Return a number with as many digits as all processors agree on, or None if it is not finite."""
    if not isfinite(value):
        return None
    return 0.0 if value == 0 else round(value, FIGURES - 1 - floor(log10(abs(value))))


def document_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON, the same text for the same data."""
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


# Schema ---------------------------------------------------------------------------------------


def schema_of(kind: type, title: str, *, inline: bool = False, **constants: Any) -> dict[str, Any]:
    """Return the JSON Schema of what `plain` makes of a class.

    Parameters
    ----------
    kind
        The class.
    title
        The title of the document.
    inline
        Whether classes are written out wherever they occur, for documents without definitions.
    **constants
        Further keys of the whole document that always have this value.
    """
    known: dict[str, Any] | None = None if inline else {}
    whole = _object_schema(kind, known)
    fixed = {name: {"const": value} for name, value in constants.items()}
    whole["properties"] = {**fixed, **whole["properties"]}
    whole["required"] = sorted(whole["properties"])
    if known is None:
        return {"title": title, **whole}
    return {"$schema": DIALECT, "title": title, **whole, "$defs": dict(sorted(known.items()))}


def _object_schema(kind: type, known: dict[str, Any] | None) -> dict[str, Any]:
    names = field_names(kind)
    return {
        "type": "object",
        "description": (kind.__doc__ or "").strip().partition("\n")[0],
        "properties": {name: _schema(_type_of(kind, name), known) for name in names},
        "required": sorted(names),
        "additionalProperties": False,
    }


def _type_of(kind: type, name: str) -> Any:
    """Return the type of a field, or what a property returns."""
    member = getattr(kind, name, None)
    getter = getattr(member, "fget", None) or getattr(member, "func", None)
    return get_type_hints(kind, include_extras=True)[name] if getter is None else get_type_hints(getter)["return"]


def _schema(kind: Any, known: dict[str, Any] | None) -> dict[str, Any]:
    if kind in (Any, Hashable):  # a label may be a text, a number or a list of them
        return {}
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:  # an array of two dimensions
        return {"type": "array", "items": _schema(inner[0], known)}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(part, known) for part in inner]}
    if origin is np.ndarray:
        return {"type": "array", "items": dict(_PLAIN[float])}
    if origin in (tuple, list):
        return _list_schema(inner, known)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], known)}
    return _named_schema(kind, known)


def _list_schema(inner: tuple[Any, ...], known: dict[str, Any] | None) -> dict[str, Any]:
    if (len(inner) == 2 and inner[1] is Ellipsis) or len(inner) == 1:
        return {"type": "array", "items": _schema(inner[0], known)}
    places, length = [_schema(part, known) for part in inner], {"minItems": len(inner), "maxItems": len(inner)}
    if all(place == places[0] for place in places):  # not every reader of schemas supports `prefixItems`
        return {"type": "array", "items": places[0], **length}
    return {"type": "array", "prefixItems": places, **length}


def _named_schema(kind: type, known: dict[str, Any] | None) -> dict[str, Any]:
    if known is None:
        return dict(_NOTE) if kind is Note else _object_schema(kind, None)
    name = kind.__name__
    if name not in known:
        known[name] = {}  # a class may hold itself
        known[name] = dict(_NOTE) if kind is Note else _object_schema(kind, known)
    return {"$ref": f"#/$defs/{name}"}


_ADVICE = {
    "type": "object",
    "description": "What to do: a name for programs, what is put into it, and the sentence for users of the library.",
    "properties": {"name": {"type": "string"}, "values": {"type": "object"}, "text": {"type": "string"}},
    "required": ["name", "text", "values"],
    "additionalProperties": False,
}
_NOTE = {
    "type": "object",
    "description": "A caveat: what it is about, the finding, and what to do about it.",
    "properties": {
        "kind": {"type": "string"},
        "text": {"type": "string"},
        "advice": {"anyOf": [_ADVICE, _NULL]},
    },
    "required": ["advice", "kind", "text"],
    "additionalProperties": False,
}
