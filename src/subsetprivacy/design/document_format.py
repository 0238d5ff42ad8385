"""Write designs as JSON documents, and describe their keys as JSON Schema. The module `document` reads them back."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from attrs import field, frozen

from subsetprivacy._paths import local_path
from subsetprivacy.subsets import Categories

DOCUMENT_FORMAT = "subsetprivacy.design"
DOCUMENT_VERSION = 1
CODE = {"$ref": "#/$defs/code"}
PAIR_OR_MORE = {"$ref": "#/$defs/pair_or_more"}
WEIGHT = {"$ref": "#/$defs/weight"}
PART = {"$ref": "#/$defs/part"}
INNER = {"$ref": "#/$defs/inner"}


class Serializable:
    """A design that can be written as a document: its kind, its categories and its content."""

    kind: ClassVar[str]
    categories: Categories

    def content(self) -> dict[str, Any]:
        """Return the content of the JSON document apart from the categories."""
        raise NotImplementedError

    def document(self) -> dict[str, Any]:
        """Return the design as plain data, with its fingerprint."""
        body = self._body()
        return {**body, "fingerprint": fingerprint(body)}

    def _body(self) -> dict[str, Any]:
        return {
            "format": DOCUMENT_FORMAT,
            "version": DOCUMENT_VERSION,
            "kind": self.kind,
            **self.categories.content(),
            **self.content(),
        }

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the canonical document, in hexadecimal."""
        return fingerprint(self._body())

    def to_json(self) -> str:
        """Return the document as JSON text. Read it back with `design_from_json`."""
        return json.dumps(self.document(), ensure_ascii=False, indent=1)

    def save(self, path: str | Path) -> Path:
        """Write the document to a file and return its path."""
        target = local_path(path)
        target.write_text(self.to_json() + "\n", encoding="utf-8")
        return target


def fingerprint(body: dict[str, Any]) -> str:
    """Return the SHA-256 of a document without its fingerprint, in canonical form."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return sha256(text.encode("utf-8")).hexdigest()


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
