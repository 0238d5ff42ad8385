"""`read_release`: open a file of subsets and its designs."""

from collections.abc import Mapping
from pathlib import Path

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Form
from subsetprivacy._paths import local_path
from subsetprivacy.design import Design, require_design
from subsetprivacy.design.text import has_text_form, looks_like_codes, text_of
from subsetprivacy.errors import ArgumentError, DataFileError
from subsetprivacy.frames.data_file import DataFile, check_present
from subsetprivacy.frames.files import format_of
from subsetprivacy.frames.metadata import FORMS, TableMetadata, agreed, documents_of
from subsetprivacy.frames.release import Release
from subsetprivacy.messages.for_files import SAY_THE_FORM


def read_release(
    path: str | Path, designs: Mapping[str, Design] | Design | None = None, *, form: Form | None = None
) -> Release:
    r"""Open a file of subsets without loading it.

    Parameters
    ----------
    path
        A CSV file (``.csv``, ``.csv.gz``, ``.csv.zst``), a Parquet file
        (``.parquet``, ``.pq``), an Arrow file (``.arrow``, ``.feather``, ``.ipc``), or a
        folder of Parquet files.
    designs
        ``{column: design}``, or the design of the only column. By default they are read from the key
        ``subset_privacy`` of a Parquet or Arrow file and from the design document next to the file. All of them must
        agree.
    form
        How columns of text write subsets, if no design document specifies it: as ``"labels"`` joined by a bar, or as
        ``"codes"``. The default is labels. You must set `form` if some label looks like a number.

    Returns
    -------
    Release

    Raises
    ------
    DataFileError
        If the file cannot be read, a column does not exist, or no design is known.
    MismatchError
        If two designs of a column disagree. The message gives both fingerprints.
    DesignDocumentError
        If a design document of the file was altered.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from subsetprivacy.design import uniform
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("letter\na|b\nb|c\na|b\n")
    ...     read_release(path, {"letter": uniform(list("abcd"))}).count("letter").subset_shares()
    {'a|b': 0.666..., 'b|c': 0.333...}
    """
    place = local_path(path).absolute()  # the working directory may change; links are not resolved
    file = DataFile(place, format_of(place))
    documents = documents_of(file)
    given = _given(designs, file, documents)
    stored = agreed(given, documents, place)
    check_present(file, list(given))
    existing = file.names(list(stored.designs))
    present = {name: design for name, design in stored.designs.items() if name in existing}
    if not present:
        raise DataFileError(
            f"the file {str(place)!r} must have the columns that its document names, {', '.join(stored.designs)}; it "
            "has none of them."
        )
    if stored.weights is not None:
        check_present(file, [stored.weights.column])
    metadata = TableMetadata(present, _forms(file, present, stored.forms, form), stored.weights)
    return Release(file, metadata, has_document=bool(documents))


def _given(
    designs: Mapping[str, Design] | Design | None, file: DataFile, documents: list[tuple[str, TableMetadata]]
) -> dict[str, Design]:
    if designs is None:
        return {}
    if isinstance(designs, Mapping):
        return {str(name): require_design(design) for name, design in designs.items()}
    design = require_design(designs)
    names = list(documents[0][1].designs) if documents else file.names()
    if len(names) != 1:
        raise ArgumentError(f"`designs` must be {{column: design}} for {len(names)} columns; got one design.")
    return {names[0]: design}


def _forms(file: DataFile, designs: dict[str, Design], known: Mapping[str, str], form: Form | None) -> dict[str, str]:
    """Return the form of each column: from the document, the argument, or the labels."""
    given = None if form is None else check_choice(form, FORMS, "form")
    return {name: _form(file, design, name, known.get(name), given) for name, design in designs.items()}


def _form(file: DataFile, design: Design, name: str, known: str | None, given: str | None) -> str:
    if known is not None and given is not None and known != given:
        raise ArgumentError(f"`form` must be left out: the document says that column {name!r} holds {known}.")
    chosen = known or given
    if not file.is_text(name):
        return "codes"
    if chosen is None and not has_text_form(design):
        return "codes"
    if chosen is None and looks_like_codes(design):
        raise ArgumentError(f"`form` must be said for column {name!r}, whose labels look like codes.", SAY_THE_FORM)
    if chosen == "labels":
        text_of(design.missing_code, design)  # raises with the reason be
    return chosen or "labels"
