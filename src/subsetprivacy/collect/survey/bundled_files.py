"""Files that are part of the package: the example survey and the JSON Schema."""

from pathlib import Path

_HERE = Path(__file__).parent


def example_text(format: str) -> str:
    """Return the example survey with comments, as TOML, YAML or JSON (which has no comments)."""
    return (_HERE / f"example.{format}").read_text(encoding="utf-8")


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) of a survey file, for editors and other languages.

    It covers the keys, types and lengths. `read_survey` checks the rest.
    """
    return (_HERE / "survey.schema.json").read_text(encoding="utf-8")
