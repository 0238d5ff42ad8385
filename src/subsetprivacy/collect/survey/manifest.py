"""The frozen survey: its questions and rules, with a fingerprint that is part of its link."""

import json
import re
import secrets
from base64 import b32encode
from functools import cached_property
from hashlib import sha256
from typing import Any

from attrs import field, frozen

from subsetprivacy.collect.survey.coin import commit_key
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.rules import asking
from subsetprivacy.design import Design, design_from_json
from subsetprivacy.errors import MismatchError
from subsetprivacy.messages.for_files import TAKE_A_NEWER_PACKAGE

FORMAT = "subsetprivacy.survey"
VERSION = 1
ID_LETTERS = 26  # 130 bits: no one can make two surveys with the same id
_ID = re.compile(rf"[a-z2-7]{{{ID_LETTERS}}}")


@frozen(slots=False, eq=False)
class Manifest:
    """A published survey. `freeze` makes it, and `read_manifest` reads it.

    Attributes
    ----------
    text
        The canonical JSON, byte for byte as it is served.
    document
        The same as plain data.
    fingerprint
        The SHA-256 of the text, in hexadecimal.
    id
        The name of the survey in its link: the first letters of the fingerprint in base 32. The respondents' page
        compares the two, so no one can put other questions behind the same link.
    """

    text: bytes
    document: dict[str, Any] = field(repr=False)
    fingerprint: str
    id: str

    @property
    def mode(self) -> str:
        """Who can answer: "code" or "open"."""
        return str(self.document["mode"])

    @property
    def batch(self) -> int:
        """The fewest people in a release."""
        return int(self.document["batch"])

    @property
    def study(self) -> str:
        """The study, whose waves share questions."""
        return str(self.document["study"])

    @property
    def title(self) -> str:
        """The title of the survey."""
        return str(self.document["title"])

    @property
    def variables(self) -> list[dict[str, Any]]:
        """The entries of the variables."""
        listed: list[dict[str, Any]] = self.document["variables"]
        return listed

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of the variables."""
        return frozenset(variable["id"] for variable in self.variables)

    @cached_property
    def listed(self) -> tuple[frozenset[frozenset[int]], ...]:
        """For each variable, the questions that its rule lists, if any, as unordered sets of sides."""
        return tuple(frozenset(map(frozenset, variable["draw"].get("questions", ()))) for variable in self.variables)

    @cached_property
    def designs(self) -> dict[str, Design]:
        """The design of each variable, by its id."""
        return {variable["id"]: design_from_json(json.dumps(variable["design"])) for variable in self.variables}

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the variables whose answers are kept together."""
        place = {variable["id"]: k for k, variable in enumerate(self.variables)}
        return tuple(tuple(place[name] for name in group) for group in self.document["groups"])


def freeze(survey: SurveyDefinition, key: bytes | None = None, *, nonce: str | None = None) -> Manifest:
    """Freeze a survey. It does not change after that.

    Parameters
    ----------
    survey
        The survey.
    key
        The server's key of the study, in code mode. The manifest contains its commitment.
    nonce
        A text that distinguishes two publications of the same survey. By default random.
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "nonce": secrets.token_hex(8) if nonce is None else nonce,
        **survey.settings,
        "key_commitment": None if key is None else commit_key(key).hex(),
        "groups": [list(group) for group in survey.groups],
        "variables": [_frozen_variable(variable) for variable in survey.variables],
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return read_manifest(text.encode())


def _frozen_variable(variable: VariableDefinition) -> dict[str, Any]:
    kind, rule = asking(variable.design)
    return {
        **variable.words,
        "guess": None if variable.guess is None else list(variable.guess),
        "kind": kind,
        "draw": rule,
        "design": variable.design.document(),
    }


def read_manifest(text: bytes) -> Manifest:
    """Return the manifest from its canonical text.

    Raises
    ------
    MismatchError
        If the text is not a manifest, or has a newer version.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or (document.get("format"), document.get("version")) != (FORMAT, VERSION):
        raise MismatchError(f"a manifest must have the format {FORMAT} and version {VERSION}.", TAKE_A_NEWER_PACKAGE)
    digest = sha256(text)
    return Manifest(text, document, digest.hexdigest(), b32encode(digest.digest()).decode().lower()[:ID_LETTERS])


def is_survey_id(text: str) -> bool:
    """Tell whether a text has the form of a survey id. Others need no database query."""
    return _ID.fullmatch(text) is not None
