"""What a respondent's browser loads: one page for everyone, and the frozen survey."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256, sha384
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from attrs import frozen
from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.responses import JSONResponse, RedirectResponse, Response

from subsetprivacy.collect.survey.manifest import Manifest, is_survey_id

LANGUAGES = ("en", "de", "ar")
STATE_HEADER = "Survey-State"
_HERE = Path(__file__).parent
_STATIC = "/static/respond"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml"}
# Modules, each after what it imports. They are served as one file without imports.
_SCRIPTS = (
    *("hash.js", "words.js", "drawing.js", "coin.js", "store.js", "server.js", "answers.js", "element.js"),
    *("meaning.js", "keys.js", "question.js", "practice.js", "view.js", "main.js"),
)
# Parts of one style sheet. Later parts override earlier ones.
_STYLES = ("base.css", "parts.css", "buttons.css", "settings.css")
_IMPORT = re.compile(rb'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)
_UNKNOWN = {"status": "unknown survey"}


class SurveyReader(Protocol):
    """What the page needs from a collector."""

    def manifest(self, survey_id: str) -> Manifest | None:
        """Return the manifest of a survey, or None."""

    def is_open(self, survey_id: str) -> bool | None:
        """Tell whether a survey still takes answers. None if it was deleted."""

    def key(self, survey_id: str) -> str | None:
        """Return the key of the study in hexadecimal once it is published."""


@frozen
class RespondentPage:
    """The respondent's page and all it loads.

    Attributes
    ----------
    html
        The page, the same bytes for everyone and every survey. It contains the hash of each file it loads, so its own
        hash covers all of them.
    folder
        The folder under which the files are served. It changes with any of them, so browsers may cache them forever.
    files
        The files by name.
    """

    html: bytes
    folder: str
    files: Mapping[str, bytes]


def page_bytes() -> bytes:
    """Return the respondents' page, for the studio's preview and for comparing it with what a server sends."""
    return _page().html


@cache
def _page() -> RespondentPage:
    static = _HERE / "static" / "respond"
    files = {
        "icon.svg": (static / "icon.svg").read_bytes(),
        "respond.css": b"".join((static / name).read_bytes() for name in _STYLES),
        "respond.js": b"".join(_IMPORT.sub(b"", (static / name).read_bytes()) for name in _SCRIPTS),
    }
    files |= {f"{language}.json": (_HERE / "languages" / f"{language}.json").read_bytes() for language in LANGUAGES}
    together = sha256(b"".join(sha256(name.encode() + b"\0" + files[name]).digest() for name in sorted(files)))
    folder = together.hexdigest()[:16]
    html = (static / "page.html").read_text(encoding="utf-8")
    for place, text in {
        "links": _links(files, folder),
        "noscript": _in_all_languages(files, "page.noscript"),
        "unreachable": _in_all_languages(files, "page.unreachable"),
    }.items():
        html = html.replace(f"{{{place}}}", text)
    return RespondentPage(html.encode(), folder, files)


def _links(files: Mapping[str, bytes], folder: str) -> str:
    def checked(name: str) -> tuple[str, str]:
        return f"{_STATIC}/{folder}/{name}", f"sha384-{b64encode(sha384(files[name]).digest()).decode()}"

    lines = [f'<link rel="icon" href="{checked("icon.svg")[0]}">']
    lines.append('<link rel="stylesheet" href="{}" integrity="{}">'.format(*checked("respond.css")))
    lines += [  # the script fetches these files and checks their integrity
        '<meta name="language-{}" content="{} {}">'.format(language, *checked(f"{language}.json"))
        for language in LANGUAGES
    ]
    lines.append('<script type="module" src="{}" integrity="{}"></script>'.format(*checked("respond.js")))
    return "\n".join(lines)


def _in_all_languages(files: Mapping[str, bytes], key: str) -> str:
    lines = []
    for language in LANGUAGES:
        words = json.loads(files[f"{language}.json"])
        lines.append(f'<p lang="{language}" dir="{words["direction"]}">{words[key]}</p>')
    return "\n".join(lines)


def respond_router(collector: SurveyReader) -> APIRouter:
    """Return the routes for the page, its files, the manifest and the key. `SubmissionMiddleware` takes what it sends.

    Parameters
    ----------
    collector
        The collector of answers. A header of the manifest says whether the survey still takes answers, so that no one
        answers a closed survey in vain.
    """
    router = APIRouter(tags=["respondents"])
    page = _page()

    @router.get("/s/{survey_id}", include_in_schema=False)
    async def get_page(survey_id: str) -> Response:
        if survey_id != survey_id.lower() and is_survey_id(survey_id.lower()):
            return _to_page(survey_id)  # some scanners of printed codes write capital letters
        return _fresh(Response(page.html, media_type="text/html"))

    @router.get("/s/{survey_id}/", include_in_schema=False)
    async def get_page_with_slash(survey_id: str) -> Response:
        return _to_page(survey_id)

    @router.get(f"{_STATIC}/{{folder}}/{{name}}", include_in_schema=False)
    async def get_file(folder: str, name: str) -> Response:
        if folder != page.folder or name not in page.files:
            return Response(status_code=404)
        kept = {"Cache-Control": "public, max-age=31536000, immutable"}
        return Response(page.files[name], media_type=_TYPES[Path(name).suffix], headers=kept)

    @router.get("/s/{survey_id}/manifest", responses=_documented(200, 404, 503))
    def get_manifest(survey_id: str) -> Response:
        return _read(lambda: _manifest_response(collector, survey_id))

    @router.get("/s/{survey_id}/key", responses=_documented(200, 404, 503))
    def get_key(survey_id: str) -> Response:
        def respond() -> Response:
            key = collector.key(survey_id)
            return _answer(404, {"status": "not published"}) if key is None else _answer(200, {"key": key})

        return _read(respond)

    return router


def _to_page(survey_id: str) -> Response:
    """Redirect a browser to the usual address of the page. The browser keeps the part after the "#"."""
    return _fresh(RedirectResponse(f"/s/{quote(survey_id.lower(), safe='')}", 307))


_WORDS = {200: "As asked.", 404: "Unknown survey, or not published.", 503: "Busy: try again."}


def _documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    schema = {"application/json": {"schema": {"type": "object"}}}
    return {status: {"description": _WORDS[status], "content": schema} for status in statuses}


def _fresh(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    return response


def _answer(status: int, document: dict[str, Any]) -> Response:
    return _fresh(JSONResponse(document, status))


def _busy() -> Response:
    response = _answer(503, {"status": "busy"})
    response.headers["Retry-After"] = "1"
    return response


def _read(respond: Any) -> Response:
    try:
        return respond()
    except (SQLAlchemyError, OSError):  # not logged, because the text of an error may contain the request
        return _busy()


def _manifest_response(collector: SurveyReader, survey_id: str) -> Response:
    manifest = collector.manifest(survey_id)
    is_open = None if manifest is None else collector.is_open(survey_id)
    if manifest is None or is_open is None:
        return _answer(404, _UNKNOWN)
    response = _fresh(Response(manifest.text, media_type="application/json"))
    response.headers[STATE_HEADER] = "open" if is_open else "closed"
    return response
