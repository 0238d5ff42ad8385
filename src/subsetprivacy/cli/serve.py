"""Serve surveys: the respondents' pages, the studio and the API."""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from subsetprivacy.cli.db import address, database, require_extra, said, sqlite_file
from subsetprivacy.cli.show import echo_warning

if TYPE_CHECKING:
    from fastapi import FastAPI
    from sqlalchemy import Engine

_NEEDED = ("sqlalchemy", "alembic", "fastapi", "uvicorn", "httptools", "jinja2", "argon2")
_LOOPBACK = ("127.", "::1", "localhost")
_ANYWHERE = ("0.0.0.0", "::")
_LINKS = 3  # of respondents, that a demonstration prints


@click.command(short_help="Serve surveys, with a studio for their results.")
@database
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="The port; 0 for any.")
@click.option("--base-url", metavar="URL", help="The address that people reach it by, such as https://ask.example.org.")
@click.option(
    "--https-behind-proxy",
    "--secure",
    "secure",
    is_flag=True,
    help="People reach it by https, through a proxy of yours. An https --base-url says so, too.",
)
@click.option("--demo", is_flag=True, help="Serve a sample with simulated respondents, kept nowhere.")
def serve(db: str, host: str, port: int, base_url: str | None, secure: bool, demo: bool) -> None:
    """Serve surveys: pages for respondents, a studio for you.

    At the first start it prints a link that makes your account, once. Everything is
    kept in one SQLite file or a PostgreSQL database. Nothing is asked of any other
    server, and nothing of a request is ever logged.

    \b
    Examples:
      subsetprivacy serve --demo
      subsetprivacy serve
      subsetprivacy serve --db postgresql://surveys@localhost/surveys \\
        --port 8080 --base-url https://ask.example.org
    """
    if demo and click.get_current_context().get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--demo keeps nothing, so it takes no --db")
    base_url = None if base_url is None else _read_base_url(base_url)
    secure = secure or (base_url or "").startswith("https://")
    require_extra(*_NEEDED, *(["psycopg"] if sqlite_file(db) is None else []))
    from subsetprivacy.collect.web.serving import bind, run

    with ExitStack() as stack:
        taken = stack.enter_context(bind(host, port))
        base = base_url or _address_of(host, taken.getsockname()[1])
        _warn_of_plain_http(host, base, secure)
        reached = base if base_url or host not in _ANYWHERE else None
        app, lines = stack.enter_context(
            _demonstration(base, reached, secure) if demo else _own(db, base, reached, secure)
        )
        run(app, taken, lambda: click.echo("\n".join([*lines, "Stop with Ctrl-C."])))


@contextmanager
def _own(db: str, base: str, reached: str | None, secure: bool) -> "Iterator[tuple[FastAPI, list[str]]]":
    """Give the application over the user's database, and what to print."""
    from subsetprivacy.collect.service.accounts import needs_setup
    from subsetprivacy.collect.web.app import create_app

    with _opened(db) as engine:
        token = secrets.token_urlsafe(24) if needs_setup(engine) else None
        lines = [f"Database  {said(db)}", f"Studio    {base}/studio"]
        if token is not None:
            lines.append(f"Set up    {base}/studio/setup#{token}  (makes your account, works once)")
        yield create_app(engine, setup_token=token, secure=secure, base_url=reached), lines


@contextmanager
def _demonstration(base: str, reached: str | None, secure: bool) -> "Iterator[tuple[FastAPI, list[str]]]":
    """Give the application over a sample that is gone afterwards, and what to print."""
    from subsetprivacy.collect.service.accounts import set_up
    from subsetprivacy.collect.service.demonstration import demonstrate
    from subsetprivacy.collect.web.app import create_app
    from subsetprivacy.collect.web.demonstrating import add_welcome

    with TemporaryDirectory(prefix="subsetprivacy-demo-") as folder, _opened(str(Path(folder) / "demo.db")) as engine:
        click.echo("Simulating respondents …")
        made, password = demonstrate(engine), secrets.token_urlsafe(12)
        app = create_app(engine, secure=secure, base_url=reached)
        inside = add_welcome(app, set_up(engine, "demo", password))
        yield (
            app,
            [
                f"Studio    {base}{inside}  (signs you in, works once)",
                f"          {base}/studio  (name demo, password {password})",
                *(f"Respond   {base}/s/{made.work.id}#{code}  (a code of its own)" for code in made.codes[:_LINKS]),
                f"          {base}/s/{made.lunch.id}  (for everybody)",
                "This is a sample: all of it is gone when it stops.",
            ],
        )


@contextmanager
def _opened(db: str) -> "Iterator[Engine]":
    from subsetprivacy.collect.storage.guarding import only_server
    from subsetprivacy.collect.storage.opening import open_store

    path = sqlite_file(db)
    with ExitStack() as stack:
        if path is not None and path.absolute().parent.is_dir():
            stack.enter_context(only_server(path))
        engine = open_store(address(db))
        stack.callback(engine.dispose)
        yield engine


def _read_base_url(text: str) -> str:
    parts = urlsplit(text)
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or parts.path.strip("/")
        or parts.query
        or parts.fragment
    ):
        raise click.BadParameter("must be like https://ask.example.org, without a path", param_hint="--base-url")
    return f"{parts.scheme}://{parts.netloc}"


def _address_of(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in _ANYWHERE else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"


def _warn_of_plain_http(host: str, base: str, secure: bool) -> None:
    beyond = [name for name in (host, str(urlsplit(base).hostname)) if not name.startswith(_LOOPBACK)]
    if secure or not beyond:
        return
    echo_warning(
        f"{beyond[0]} is reached by plain http: whoever is on the way can read what people send, take over their "
        "codes and change the page that is meant to protect them. Hint: put a proxy with https before it and say "
        "--base-url https://…; listen on 127.0.0.1."
    )
