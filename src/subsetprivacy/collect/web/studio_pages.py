"""The studio's pages: templates that escape every value, and the files they load."""

from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from subsetprivacy._words import plural
from subsetprivacy.collect.web.refusals import RefusalError
from subsetprivacy.presenting.words import words_of

SAMPLE: ContextVar[str | None] = ContextVar(
    "SAMPLE", default=None
)  # on the sample site, the address at which to answer
_LOOPBACK = ("localhost", "::1")
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("subsetprivacy.collect.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(
        asset=asset, count_of=count_of, whole=words_of("en").whole, is_local=is_local, sample=SAMPLE.get
    )
    return made


def count_of(amount: float, one: str, many: str) -> str:
    """Return a number with the singular or plural word."""
    return f"{words_of('en').whole(amount)} {plural(amount, one, many)}"


def is_local(address: str) -> bool:
    """Tell whether an address takes everyone to their own computer.

    Examples
    --------
    >>> is_local("http://127.0.0.1:8000/s/x"), is_local("http://[::1]"), is_local("https://ask.example.org")
    (True, True, False)
    """
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    return host in _LOOPBACK or host.startswith("127.") or host.endswith(".localhost")


def render(
    template: str, /, *, status: int = 200, headers: Mapping[str, str] | None = None, person: Any = None, **values: Any
) -> Response:
    """Return a page.

    Parameters
    ----------
    template
        The template file.
    person
        The signed-in user, who determines the menu.
    **values
        What the template shows. Text is escaped. Only `Html` is inserted as it is.
    """
    text = _environment().get_template(template).render(person=person, status=status, **values)
    return Response(text, status, headers, media_type="text/html")


@cache
def _static() -> dict[str, bytes]:
    own = files("subsetprivacy.collect.web").joinpath("static", "studio").iterdir()
    resources = [*own, files("subsetprivacy.presenting").joinpath("findings.css")]
    return {file.name: file.read_bytes() for file in resources if file.name.rpartition(".")[2] in _TYPES}


@cache
def _version() -> str:
    """Return a text that changes with any of the files, so that browsers may cache them forever."""
    return sha256(b"\0".join(name.encode() + b"\0" + text for name, text in sorted(_static().items()))).hexdigest()[:16]


def asset(name: str) -> str:
    """Return the address of a script, a style sheet or a picture."""
    return f"/static/studio/{_version()}/{name}"


def static_router() -> APIRouter:
    """Return the route of the studio's own files."""
    router = APIRouter()

    @router.get("/static/studio/{version}/{name}", include_in_schema=False)
    async def static(version: str, name: str) -> Response:
        if version != _version() or name not in _static():
            raise RefusalError(404)
        return Response(_static()[name], media_type=_TYPES[name.rpartition(".")[2]])

    return router
