"""`subsetprivacy serve`: run the survey server with the respondents' pages, the studio and the API."""

import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from subsetprivacy.cli.db import address, database, describe_database, require_extra, sqlite_file
from subsetprivacy.cli.show import echo_warning, is_quiet, say

if TYPE_CHECKING:
    from fastapi import FastAPI
    from sqlalchemy import Engine

_NEEDED = ("sqlalchemy", "alembic", "fastapi", "uvicorn", "httptools", "jinja2", "argon2")
_LOOPBACK = ("127.", "::1", "localhost")
_ANYWHERE = ("0.0.0.0", "::")
_HERE_ONLY = (
    "Only this computer can reach the server, and links made now work on this computer only. For other people, start\n"
    "it with --base-url https://… (its public address), or for a trial in your network with --host 0.0.0.0."
)
_AS_OPENED = (
    "Links begin with the address at which you open the studio. 127.0.0.1 works on this computer only.\n"
    "With --base-url https://… they begin with that address."
)


@click.command(short_help="Run the survey server, with a studio for results.")
@database
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on. 0.0.0.0 listens on all addresses."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port. 0 takes any free port."
)
@click.option("--base-url", metavar="URL", help="The public address of the server, such as https://ask.example.org.")
@click.option(
    "--https-behind-proxy",
    "--secure",
    "secure",
    is_flag=True,
    help="The server is behind your own https proxy. An https --base-url implies this.",
)
@click.option(
    "--demo",
    is_flag=True,
    help="Serve two sample surveys with simulated respondents. Everything is deleted when the server stops.",
)
def serve(db: str, host: str, port: int, base_url: str | None, secure: bool, demo: bool) -> None:
    """Run the survey server: pages for respondents, and a studio for you.

    At the first start it prints a link that creates your account and works once. All data are stored in one SQLite
    file or a PostgreSQL database. The server contacts no other server and never logs any part of a request.

    Links for respondents begin with --base-url. Without it they begin with the address at which you open the studio,
    and 127.0.0.1 works on this computer only.

    \b
    Examples:
      subsetprivacy serve --demo
      subsetprivacy serve
      subsetprivacy serve --db postgresql://surveys@localhost/surveys \\
        --port 8080 --base-url https://ask.example.org
    """
    if demo and click.get_current_context().get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--demo stores nothing, so it takes no --db")
    base_url = None if base_url is None else _read_base_url(base_url)
    secure = secure or (base_url or "").startswith("https://")
    require_extra(*_NEEDED, *(["psycopg"] if sqlite_file(db) is None and not demo else []))
    from subsetprivacy.collect.web.serving import bind, run

    with ExitStack() as stack:
        taken = stack.enter_context(bind(host, port))
        base = base_url or _address_of(host, taken.getsockname()[1])
        _warn_of_plain_http(host, base, secure)
        # The public address is known if it was given or listened on; otherwise each request tells it.
        reached = base if base_url or not host.startswith((*_LOOPBACK, *_ANYWHERE)) else None
        app, lines = stack.enter_context(
            _demonstration(base, reached, secure) if demo else _own(db, host, base, reached, secure)
        )
        shown = [line for line in lines if line.startswith("Set up")] if is_quiet() else [*lines, "Stop with Ctrl-C."]
        run(app, taken, lambda: click.echo("\n".join(shown), nl=bool(shown)))


@contextmanager
def _own(db: str, host: str, base: str, reached: str | None, secure: bool) -> "Iterator[tuple[FastAPI, list[str]]]":
    """Yield the application on the user's database, and the lines to print."""
    from subsetprivacy.collect.service.accounts import needs_setup
    from subsetprivacy.collect.web.app import create_app

    with _opened(db) as engine:
        token = secrets.token_urlsafe(24) if needs_setup(engine) else None
        lines = [f"Database  {describe_database(db)}", f"Studio    {base}/studio"]
        if token is not None:
            lines.append(f"Set up    {base}/studio/setup#{token}  (creates your account, works once)")
        if reached is None:
            lines.append(_HERE_ONLY if host.startswith(_LOOPBACK) else _AS_OPENED)
        yield create_app(engine, setup_token=token, secure=secure, base_url=reached), lines


@contextmanager
def _demonstration(base: str, reached: str | None, secure: bool) -> "Iterator[tuple[FastAPI, list[str]]]":
    """Yield the application on a temporary sample, and the lines to print."""
    from subsetprivacy.collect.service.accounts import set_up
    from subsetprivacy.collect.service.demonstration import demonstrate
    from subsetprivacy.collect.web.app import create_app
    from subsetprivacy.collect.web.sample_site import add_sample

    with TemporaryDirectory(prefix="subsetprivacy-demo-") as folder, _opened(str(Path(folder) / "demo.db")) as engine:
        say("Simulating respondents …")
        made = demonstrate(engine)
        app = create_app(engine, secure=secure, base_url=reached)
        inside, respond = add_sample(app, set_up(engine, "demo", secrets.token_urlsafe(24)), made)
        yield (
            app,
            [
                f"Results   {base}{inside}  (signs you in)",
                f"Respond   {base}{respond}  (answer as one of the people)",
                "This is a sample with simulated people. Everything is deleted when the server stops.",
            ],
        )


@contextmanager
def _opened(db: str) -> "Iterator[Engine]":
    from subsetprivacy.collect.storage.opening import open_store
    from subsetprivacy.collect.storage.server_lock import only_server

    path = sqlite_file(db)
    with ExitStack() as stack:
        if path is not None and path.absolute().parent.is_dir():
            stack.enter_context(only_server(path))
        engine = open_store(address(db))
        stack.callback(engine.dispose)
        yield engine


_HOST = re.compile(r"""(\[[0-9a-f:.]+\]|[^\s/\\@:\[\]<>"'`^{|}#?%\x00-\x1f]+)(:[0-9]{1,5})?""", re.IGNORECASE)


def _read_base_url(text: str) -> str:
    """Return the address without a trailing slash; errors do not show the address."""

    def refused(condition: str) -> click.BadParameter:
        return click.BadParameter(f"{condition}, as in https://ask.example.org", param_hint="--base-url")

    try:
        parts = urlsplit(text)
    except ValueError:
        raise refused("must be an address") from None
    if "@" in text:
        raise refused("must contain no user name and no password: it is printed, and appears in every link")
    if parts.scheme not in {"http", "https"}:
        raise refused("must begin with https:// or http://")
    if parts.path.strip("/") or "?" in text or "#" in text:
        raise refused("must end after the host or the port, without a path, a query or a fragment")
    if not _HOST.fullmatch(parts.netloc) or text.strip() != text or any(character < " " for character in text):
        raise refused("must name a host, and a port at most")
    return f"{parts.scheme}://{parts.netloc}"


def _address_of(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in _ANYWHERE else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"


def _warn_of_plain_http(host: str, base: str, secure: bool) -> None:
    beyond = [name for name in (host, str(urlsplit(base).hostname)) if not name.startswith(_LOOPBACK)]
    if secure or not beyond:
        return
    from subsetprivacy.errors import NotPrivateWarning
    from subsetprivacy.messages.for_surveys import HTTPS_PROXY

    echo_warning(
        NotPrivateWarning(
            f"{beyond[0]} is reached by plain http: anyone on the network path can read what people send, take over "
            f"their codes and change the page that is meant to protect them.",
            HTTPS_PROXY,
        )
    )
