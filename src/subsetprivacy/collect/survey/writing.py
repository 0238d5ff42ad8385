"""Write a survey as a readable file: TOML, YAML or JSON."""

import json
from typing import Any

from subsetprivacy.collect.survey.definition import SurveyDefinition
from subsetprivacy.collect.survey.documents import survey_document
from subsetprivacy.collect.survey.reading import FORMATS
from subsetprivacy.errors import ArgumentError, MissingDependencyError
from subsetprivacy.messages.for_general import INSTALL

_WIDTH = 100


def write_survey(survey: SurveyDefinition, format: str) -> str:
    """Return a survey as the text of a file. `read_survey` reads the same survey from it.

    Parameters
    ----------
    survey
        The survey.
    format
        "toml", "yaml" or "json".
    """
    document = _without_defaults(survey_document(survey))
    if format == "toml":
        from subsetprivacy.collect.survey.toml_writer import toml_text

        return toml_text(document)
    if format == "yaml":
        try:
            from subsetprivacy.collect.survey.yaml_writer import yaml_text
        except ImportError:
            raise MissingDependencyError("YAML needs PyYAML.", INSTALL(extra="serve")) from None
        return yaml_text(document)
    if format == "json":
        return _json_text(document, "") + "\n"
    raise ArgumentError(f"`format` must be one of {', '.join(FORMATS)}; got {format!r}.")


def _without_defaults(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without empty texts, empty links, and labels that equal the id."""
    kept = {key: value for key, value in document.items() if value not in ("", [])}
    kept["variables"] = [
        {key: value for key, value in variable.items() if value != "" and (key != "label" or value != variable["id"])}
        for variable in document["variables"]
    ]
    return kept


def _json_text(value: Any, indent: str) -> str:
    """Return JSON. What fits on a line is on one line."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, list):
        parts = [_json_text(item, inner) for item in value]
    else:
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {_json_text(item, inner)}" for key, item in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return f"{opening}\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}{closing}"
