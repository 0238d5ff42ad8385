"""The whole application as a server of its own: on a free port, over a temporary SQLite file, with people signed in.

`Site` is started and stopped by the tests that need it, once for many of them; `Client` is a browser without a
browser: it keeps cookies, and says as a browser does where a request comes from.
"""

import http.client
import json
import random
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from typing import Any
from urllib.parse import urlencode

import uvicorn
from argon2 import PasswordHasher
from attrs import define, field, frozen

from subsetprivacy.collect.service import accounts, passwords, publishing
from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.respondents import Habits, Respondent, answer_all
from subsetprivacy.collect.storage.opening import open_store
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.web.app import create_app

PASSWORD = "correct horse battery staple"
OWNER, ANALYST = StudioUser("olga", "owner"), StudioUser("anna", "analyst")

SMALL = """\
title = "Small survey"
study = "small"
mode = "open"
batch = 10
introduction = "A few words."
contact = "The office"

[[variables]]
id = "colour"
label = "Colour"
question = "Which colour do you like best?"
options = ["black", "red", "green", "blue", "white"]

[[variables]]
id = "day"
label = "Day"
question = "On which day were you born?"
options = ["Monday", "Tuesday", "Wednesday", "Thursday"]

[[variables]]
id = "smokes"
label = "Smokes"
question = "Do you smoke?"
options = ["yes", "no"]

[[links]]
variables = ["colour", "day"]
"""
# The same with codes.
CODES = SMALL.replace('mode = "open"', 'mode = "code"').replace('study = "small"', 'study = "coded"')


@contextmanager
def light_hashes() -> Iterator[None]:
    """Hash passwords with little effort: for tests that are not about that."""
    hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    before = passwords._hasher
    passwords._hasher = lambda: hasher
    try:
        yield
    finally:
        passwords._hasher = before


@frozen
class Reply:
    """What a server answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@define
class Client:
    """Sends requests to a site, with the cookies it was given."""

    port: int
    cookies: dict[str, str] = field(factory=dict)
    token: str | None = None

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Send one request; headers that are None are left out."""
        sent: dict[str, str | None] = {"Sec-Fetch-Site": "same-origin"}
        if self.cookies and path.startswith("/studio"):
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        sent |= dict(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)
        try:
            connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
            answer = connection.getresponse()
            reply = Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()
        for line in reply.all("set-cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        return reply

    def get(self, path: str, **headers: str) -> Reply:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, form: Mapping[str, Any] | None = None, headers: Mapping[str, Any] | None = None) -> Reply:
        """Send a form."""
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.request("POST", path, urlencode(form or {}).encode(), {**kind, **(headers or {})})

    def fields(self, page: str, action: str | None = None) -> dict[str, str]:
        """Return the hidden fields and the texts of a form on a page; its action is the page, if no other is named."""
        found = re.search(rf'<form[^>]* action="{action or page}"[^>]*>(.*?)</form>', self.get(page).text, re.DOTALL)
        assert found is not None, f"no form for {action or page}"
        held = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', found[1])
        held += re.findall(r'<textarea[^>]* name="([^"]*)"[^>]*>\n?([^<]*)</textarea>', found[1])
        return {name: unescape(value) for name, value in held}

    def submit(self, page: str, form: Mapping[str, Any] | None = None, action: str | None = None) -> Reply:
        """Open a page and send its form, with some fields filled in."""
        return self.post(action or page, {**self.fields(page, action), **(form or {})})

    def send(self, method: str, path: str, document: Any, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a JSON document."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return self.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})


class Site:
    """A server in a thread of its own.

    Parameters
    ----------
    file
        The SQLite file.
    people
        Whether there are an owner and an analyst already.
    **settings
        For `create_app`.
    """

    def __init__(self, file: Any, *, people: bool = True, **settings: Any) -> None:
        self.engine = open_store(file if "://" in str(file) else f"sqlite:///{file}")
        if people:
            make_people(self.engine)
        self.app = create_app(self.engine, **settings)
        config = uvicorn.Config(
            self.app,
            port=0,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self.port = 0

    def start(self) -> "Site":
        """Start, and wait until it answers."""
        self._thread.start()
        until = time.monotonic() + 100
        while not self._server.started:
            if time.monotonic() > until or not self._thread.is_alive():
                raise RuntimeError("the server does not start")
            time.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        return self

    def stop(self) -> None:
        """Stop, and close the database."""
        self._server.should_exit = True
        self._thread.join(100)
        self.engine.dispose()

    def __enter__(self) -> "Site":
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def nobody(self) -> Client:
        """Somebody who is not signed in."""
        return Client(self.port)

    def signed_in(self, person: StudioUser = OWNER) -> Client:
        """Return a client with a session."""
        cookie = self.app.state.studio.cookie(f"127.0.0.1:{self.port}")
        return Client(self.port, {cookie: accounts.begin_session(self.engine, person)})

    def with_token(self, role: str = "owner") -> Client:
        """Return a client with a token and no session."""
        return Client(self.port, token=accounts.make_token(self.engine, OWNER, f"for {role}", role))

    def publish(self, text: str = SMALL, format: str = "toml") -> Manifest:
        """Save a draft and publish it."""
        return publishing.publish(self.engine, publishing.save_draft(self.engine, text, format).id)

    def fill(self, manifest: Manifest, n: int, *, seed: int = 1, habits: Habits | None = None) -> None:
        """Let simulated people answer."""
        fill(self.engine, manifest, n, seed=seed, habits=habits)


def make_people(engine: Any) -> None:
    """Make an owner and an analyst with `PASSWORD`."""
    with light_hashes():
        _make_people(engine)


def _make_people(engine: Any) -> None:
    accounts.set_up(engine, OWNER.name, PASSWORD)
    accounts.accept(engine, ANALYST.name, accounts.invite(engine, OWNER, ANALYST.name, ANALYST.role), PASSWORD)


def fill(engine: Any, manifest: Manifest, n: int, *, seed: int = 1, habits: Habits | None = None) -> None:
    """Let n simulated people answer a survey, without a server."""
    rng = random.Random(seed)
    codes: list[str | None] = [None] * n
    if manifest.mode == "code":
        codes = list(publishing.make_codes(engine, manifest.id, n))
    people = []
    for code in codes:
        values = {
            held["id"]: min(int(rng.random() ** 2 * len(held["options"])), len(held["options"]) - 1)
            for held in manifest.variables
        }
        people.append(Respondent(values, code=code, habits=habits or Habits(skips=0.03), rng=rng))
    answer_all(engine, manifest, people)


def routes_of(app: Any) -> list[tuple[str, str]]:
    """Return every route of an application as method and path."""
    from fastapi.routing import iter_route_contexts

    return sorted((method, held.path) for held in iter_route_contexts(app.routes) for method in held.methods)
