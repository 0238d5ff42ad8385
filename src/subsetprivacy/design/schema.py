"""The JSON Schema of design documents, for editors and for other languages."""

from pathlib import Path


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) of a design document, as the file in the package holds it.

    It knows the keys, types and ranges of every kind. `design_from_json`
    checks the rest: sums of weights, codes against the number of
    categories, the fingerprint.
    """
    return Path(__file__).with_name("design.schema.json").read_text(encoding="utf-8")
