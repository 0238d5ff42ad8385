"""The mark of imputed values, which are guesses of a model and must not be mistaken for people's own.

Pandas tables carry it in `attrs`, PyArrow tables and files in their metadata. Polars tables have no place for it, so
imputed columns also have a suffix.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from subsetprivacy.engines.kinds import _engine, plain_table
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_analyses import PRIVATIZE_ANSWERS

SUFFIX = "_imputed"
MARK = "subset_privacy"  # the metadata key of files of this package
PANDAS = "PANDAS_ATTRS"  # the metadata key from which pandas fills `attrs`
IMPUTED_FORMAT = "subset privacy imputations"


def imputed_document(columns: Mapping[str, Mapping[str, Any]], *, imputations: int, model: str) -> dict[str, Any]:
    """Return the document of imputed values, for programs and for people who do not know this package.

    Parameters
    ----------
    columns
        The variable and the categories of each imputed column, by name.
    imputations
        The number of imputed sets.
    model
        The model of the values, in words.
    """
    return {
        "format": IMPUTED_FORMAT,
        "version": 1,
        "imputed": True,
        "statement": (
            f"The values in {', '.join(columns)} are imputed. A model drew them at random, given the subset that each "
            "person reported. They are guesses, not people's values, and no row says anything reliable about a person. "
            "Analyze each of the sets and pool the results; do not publish or link single rows."
        ),
        "columns": {name: dict(facts) for name, facts in columns.items()},
        "imputations": imputations,
        "model": model,
    }


def marked(table: Any, document: Mapping[str, Any]) -> Any:
    """Return a table with its document, if its library supports it."""
    engine = _engine(table)
    if engine == "pandas":
        table.attrs[MARK] = dict(document)
    elif engine == "pyarrow":
        return table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata(document)})
    return table


def metadata(document: Mapping[str, Any]) -> dict[str, str]:
    """Return a document as schema metadata; pandas reads it back into `attrs`."""
    return {
        MARK: json.dumps(document, ensure_ascii=False),
        PANDAS: json.dumps({MARK: document}, ensure_ascii=False),
    }


def is_imputed_document(document: Any) -> bool:
    """Return whether a document marks imputed values."""
    return isinstance(document, Mapping) and document.get("format") == IMPUTED_FORMAT


def imputed_columns(table: Any) -> tuple[str, ...]:
    """Return the names of the columns of a table, or of a single column, that are marked as imputed."""
    names = _named(document_of(table))
    if not names or _engine(table) is not None:
        return names
    name = str(getattr(table, "name", None))  # every column keeps the mark of its table
    return (name,) if name in names else ()


def document_of(table: Any) -> Any:
    """Return the document that PyArrow and pandas keep with a table, and pandas with each column; None if none."""
    table = plain_table(table)
    if _engine(table) in ("pyarrow", "pyarrow-dataset"):
        metadata = table.schema.metadata
        return _parsed(metadata.get(MARK.encode())) if metadata else None
    attributes = getattr(table, "attrs", None)
    return attributes.get(MARK) if isinstance(attributes, Mapping) else None


def columns_of_metadata(metadata: Any) -> tuple[str, ...]:
    """Return the columns marked as imputed in the metadata of an Arrow schema."""
    return _named(_parsed(metadata.get(MARK.encode()))) if isinstance(metadata, Mapping) else ()


def _named(document: Any) -> tuple[str, ...]:
    return tuple(map(str, document.get("columns", ()))) if is_imputed_document(document) else ()


def _parsed(text: str | bytes | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None


def named_as_imputed(column: Any) -> bool:
    """Return whether the name of a column has the suffix of imputed values."""
    name = getattr(column, "name", None)
    return isinstance(name, str) and name.endswith(SUFFIX)


def refuse_imputed(imputed: Iterable[str], names: Iterable[str], what: str) -> None:
    """Raise if some of the used columns are marked as imputed.

    Parameters
    ----------
    imputed
        The marked columns.
    names
        The used columns.
    what
        The data that must be people's own values, for the message.

    Raises
    ------
    ArgumentError
        If so. The message names them.
    """
    known = set(imputed)
    refused = [name for name in names if name in known]
    if refused:
        names_found = f"{', '.join(refused)} {'is' if len(refused) == 1 else 'are'}"
        raise ArgumentError(
            f"{what} must be people's own values; {names_found} imputed: guesses of a model.", PRIVATIZE_ANSWERS
        )
