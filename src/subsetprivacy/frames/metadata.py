"""`TableMetadata`: the document stored with a data file, with the designs and forms of its columns."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from attrs import frozen

from subsetprivacy._choices import Form, WeightsKind
from subsetprivacy.design import Design, design_from_json
from subsetprivacy.engines.counters import TABLE_FORMAT
from subsetprivacy.engines.imputed import is_imputed_document
from subsetprivacy.errors import DataFileError, DesignDocumentError, MismatchError
from subsetprivacy.frames.data_file import DataFile
from subsetprivacy.frames.file_errors import reading
from subsetprivacy.frames.files import KEY, sidecar_of
from subsetprivacy.messages.for_analyses import IMPUTED_ROWS
from subsetprivacy.messages.for_files import GIVE_DESIGNS_OF_COLUMNS, TAKE_A_NEWER_PACKAGE

FORMAT = TABLE_FORMAT
VERSION = 1
FORMS: tuple[Form, ...] = get_args(Form)
WEIGHT_KINDS: tuple[WeightsKind, ...] = get_args(WeightsKind)


@frozen
class WeightsColumn:
    """The column of weights or counts of rows."""

    column: str
    kind: WeightsKind


@frozen
class TableMetadata:
    """The designs, forms and weights of a data file.

    Attributes
    ----------
    designs
        The designs, by column.
    forms
        "labels" or "codes", by column; a column may be missing if its form is not known.
    weights
        The weights of a file of counts.
    """

    designs: dict[str, Design]
    forms: dict[str, str]
    weights: WeightsColumn | None = None

    def to_json(self, *, indent: int | None = None, job: Mapping[str, Any] | None = None) -> str:
        """Return the document; `job` is the mark of the run that wrote the file.

        Raises
        ------
        DesignDocumentError
            If labels cannot be written as JSON.
        """
        columns = {
            name: {"form": self.forms[name], "design": design.document()} for name, design in self.designs.items()
        }
        document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "columns": columns}
        if self.weights is not None:
            document["weights"] = {"column": self.weights.column, "kind": self.weights.kind}
        if job is not None:
            document["job"] = dict(job)
        return json.dumps(document, ensure_ascii=False, indent=indent)


def codes_document(designs: Mapping[str, Design]) -> str:
    """Return the document of columns of codes, as text."""
    return TableMetadata(dict(designs), dict.fromkeys(designs, "codes")).to_json()


def metadata_from_json(text: str | bytes, where: str) -> TableMetadata:
    """Read the document of a data file; unknown keys are ignored.

    Parameters
    ----------
    text
        The document.
    where
        Where it was found, for messages.

    Raises
    ------
    DesignDocumentError
        If it is no such document, is of a newer version, or a design in it was altered.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if is_imputed_document(document):
        raise DesignDocumentError(
            f"{where} must describe people's subsets; it says that the values are imputed, which are guesses of a "
            f"model.",
            IMPUTED_ROWS,
        )
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DesignDocumentError(f'{where} must be an object with "format": "{FORMAT}"; it is something else.')
    if document.get("version") != VERSION:
        raise DesignDocumentError(f"{where} must be of version {VERSION}; it is of another.", TAKE_A_NEWER_PACKAGE)
    columns = document.get("columns")
    if not isinstance(columns, dict) or not columns:
        raise DesignDocumentError(f"{where} must say which columns hold subsets; it names none.")
    parts = {name: _column(part, f"{where}, column {name!r},") for name, part in columns.items()}
    designs = {name: design for name, (design, _) in parts.items()}
    forms = {name: form for name, (_, form) in parts.items()}
    return TableMetadata(designs, forms, _weights(document.get("weights"), where))


def _column(part: Any, where: str) -> tuple[Design, str]:
    if not isinstance(part, dict) or part.get("form") not in FORMS or not isinstance(part.get("design"), dict):
        raise DesignDocumentError(f"{where} must say its form, one of {', '.join(FORMS)}, and its design; it does not.")
    try:
        return design_from_json(json.dumps(part["design"])), part["form"]
    except DesignDocumentError as error:
        raise DesignDocumentError(f"{where} {error.message}", error.advice) from None


def _weights(part: Any, where: str) -> WeightsColumn | None:
    if part is None:
        return None
    if not isinstance(part, dict) or not isinstance(part.get("column"), str) or part.get("kind") not in WEIGHT_KINDS:
        raise DesignDocumentError(f"{where} must name the column of weights and their kind; it does not.")
    return WeightsColumn(part["column"], part["kind"])


# Where documents are found ------------------------------------------------------------------------


def documents_of(file: DataFile) -> list[tuple[str, TableMetadata]]:
    """Return the documents of a file and where each was found, in order of precedence."""
    documents = [(where, metadata_from_json(text, where)) for where, text in _keys(file)]
    beside = sidecar_of(file.path)
    if beside.is_file():
        with reading(beside):
            text = beside.read_bytes()
        documents.append((str(beside), metadata_from_json(text, str(beside))))
    return documents


def _keys(file: DataFile) -> list[tuple[str, str | bytes]]:
    if file.kind == "csv":
        return _in_cells(file)
    texts: dict[bytes, str] = {}
    for part, keys in file.facts.keys.items():
        text = keys.get(KEY.encode())
        if text is not None:
            texts.setdefault(text, f"the key {KEY} of {str(part)!r}")  # most files of a folder say the same
    return [(where, text) for text, where in texts.items()]


def _in_cells(file: DataFile) -> list[tuple[str, str | bytes]]:
    """Return the document in a CSV file's extra column: one cell, in any row."""
    if FORMAT not in file.headers.fitting([FORMAT]).names:
        return []
    cells = (text for batch in file.batches([FORMAT]) for text in batch.column(0).drop_null().to_pylist())
    return [(f"the column {FORMAT!r} of {str(file.path)!r}", text) for text in dict.fromkeys(cells)]


def agreed(given: Mapping[str, Design], documents: list[tuple[str, TableMetadata]], path: Path) -> TableMetadata:
    """Combine given and found metadata of a file, and check that they agree.

    Raises
    ------
    MismatchError
        If two of them disagree. The message gives the fingerprints and where each was found.
    DataFileError
        If there is no metadata.
    """
    designs, forms, origins = dict(given), dict[str, str](), dict.fromkeys(given, "the argument `designs`")
    for where, stored in documents:
        for name, design in stored.designs.items():
            if name in designs:
                designs[name] = _agreed_design(designs[name], design, name, (origins[name], where))
            else:
                designs[name], origins[name] = design, where
            if forms.setdefault(name, stored.forms[name]) != stored.forms[name]:
                raise MismatchError(
                    f"the forms of column {name!r} must agree; {where} says another than the one before."
                )
    if not designs:
        raise DataFileError(
            f"the file {str(path)!r} must come with the designs of its columns; none was found.",
            GIVE_DESIGNS_OF_COLUMNS(document=repr(sidecar_of(path).name), key=KEY),
        )
    weights = [stored.weights for _, stored in documents if stored.weights is not None]
    if any(other != weights[0] for other in weights):
        raise MismatchError(f"the documents of the file {str(path)!r} must name the same weights; they do not.")
    return TableMetadata(designs, forms, weights[0] if weights else None)


def _agreed_design(first: Design, second: Design, name: str, where: tuple[str, str]) -> Design:
    """Return the design if both are equal, or the realized one of a covered design; otherwise raise."""
    if second.planned() == first:
        return second
    if first == second:
        return first
    raise MismatchError(
        f"the designs of column {name!r} must agree; got fingerprint {first.fingerprint[:16]} in {where[0]} and "
        f"{second.fingerprint[:16]} in {where[1]}, and one of them does not belong to this file."
    )
