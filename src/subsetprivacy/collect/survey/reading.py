"""Read a survey file in TOML, YAML or JSON, and report every problem with its line."""

from collections.abc import Callable
from pathlib import Path

from subsetprivacy._paths import local_path
from subsetprivacy.collect.survey.checking import check
from subsetprivacy.collect.survey.definition import SurveyDefinition
from subsetprivacy.collect.survey.line_numbers import LocatedData, UnreadableError
from subsetprivacy.collect.survey.problems import SurveyError, SurveyProblem
from subsetprivacy.errors import ArgumentError, MissingDependencyError
from subsetprivacy.frames.file_errors import file_error, file_error_from
from subsetprivacy.messages.for_general import INSTALL
from subsetprivacy.messages.for_surveys import SAVE_IN_UTF8

__all__ = ["FORMATS", "MOST_BYTES", "SurveyError", "SurveyProblem", "format_of", "load_survey", "read_survey"]

FORMATS = ("toml", "yaml", "json")
MOST_BYTES = 256 * 1024
_SUFFIXES = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}


def read_survey(source: str | bytes, format: str) -> SurveyDefinition:
    r"""Read a survey from text.

    Parameters
    ----------
    source
        The text, or its bytes in UTF-8.
    format
        "toml", "yaml" or "json".

    Raises
    ------
    SurveyError
        With all problems of the text, each with its line.

    Examples
    --------
    >>> text = 'title = "Habits"\n[[variables]]\nid = "tea"\nquestion = "Tea?"\noptions = ["no", "yes"]\n'
    >>> survey = read_survey(text, "toml")
    >>> survey.study, survey.variables[0].design.kind
    ('habits', 'artificial_bit')
    >>> read_survey(text.replace("id", "idd"), "toml")
    Traceback (most recent call last):
    ...
    subsetprivacy.collect.survey.problems.SurveyError: a survey must have no problem; this one has 2 problems.
    line 2, variable 1: must have `id`; it is missing.
    line 3, variable 1, idd: must be a known key; got "idd". Hint: `id`?
    """
    try:
        marked = _reader_of(format)(_decoded(source))
    except UnreadableError as error:
        raise SurveyError([SurveyProblem(error.line, "the file", error.message, advice=error.advice)]) from None
    return check(marked)


def load_survey(path: str | Path) -> SurveyDefinition:
    """Read a survey from a file. The file extension determines the format.

    Raises
    ------
    SurveyError
        As in `read_survey`.
    DataFileError
        If the file cannot be read, or its extension is unknown.
    """
    name = format_of(path)
    try:
        with local_path(path).open("rb") as file:
            return read_survey(file.read(MOST_BYTES + 1), name)
    except OSError as error:
        raise file_error_from(path, error) from None


def format_of(path: str | Path) -> str:
    """Return the format of a file by its extension.

    Raises
    ------
    DataFileError
        If the extension is unknown.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise file_error(path, f"must end in one of {', '.join(_SUFFIXES)} to be a survey")
    return _SUFFIXES[suffix]


def _decoded(source: str | bytes) -> str:
    try:
        encoded = source.encode() if isinstance(source, str) else source
    except UnicodeEncodeError as error:
        raise UnreadableError(str(source).count("\n", 0, error.start) + 1, _NO_UTF8, SAVE_IN_UTF8) from None
    if len(encoded) > MOST_BYTES:
        raise UnreadableError(None, f"must have at most {MOST_BYTES >> 10} kB; it has more.")
    try:
        return encoded.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(encoded.count(b"\n", 0, error.start) + 1, _NO_UTF8, SAVE_IN_UTF8) from None


_NO_UTF8 = "must be text in UTF-8; it has other bytes."


def _reader_of(format: str) -> Callable[[str], LocatedData]:
    """Return the reader of a format, imported when it is needed."""
    if format == "toml":
        from subsetprivacy.collect.survey.toml_reader import read_toml

        return read_toml
    if format == "json":
        from subsetprivacy.collect.survey.json_reader import read_json

        return read_json
    if format == "yaml":
        try:
            from subsetprivacy.collect.survey.yaml_reader import read_yaml
        except ImportError:
            raise MissingDependencyError("YAML needs PyYAML.", INSTALL(extra="serve")) from None
        return read_yaml
    raise ArgumentError(f"`format` must be one of {', '.join(FORMATS)}; got {format!r}.")
