"""Write designs as JSON documents. The module `document` reads them back."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from subsetprivacy._paths import local_path
from subsetprivacy.subsets import Categories

DOCUMENT_FORMAT = "subsetprivacy.design"
DOCUMENT_VERSION = 1


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
