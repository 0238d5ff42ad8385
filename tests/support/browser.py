"""A real Chromium for tests, driven by Playwright.

    @pytest.fixture(scope="module")
    def browser():
        with chromium() as held:
            yield held

    @pytest.fixture
    def context(browser, need):
        need(*PLAYWRIGHT)
        need(*CHROMIUM)
        with watched(browser, origin) as held:       # fails on console errors and strange requests
            yield held

One browser for the whole run of a process, and a context without storage and cookies for a test. Between modules the
browser stays open, with the empty contexts, and its event loop is put aside, so that `asyncio.run` works there.
"""

import asyncio
import atexit
import importlib.util
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

# The shell is Chromium without the window around its pages, which takes as much time as the pages themselves.
PATH = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
# Of a page unless a test says otherwise. Without motion there is less to draw.
MEDIA = {"media": "screen", "color_scheme": "light", "forced_colors": "none", "reduced_motion": "reduce"}
SETTINGS = {"viewport": {"width": 1280, "height": 720}, "reduced_motion": "reduce"}
NAMES = ("survey.test", "ask.example.org")  # of a server on this machine, as far as this browser knows
# Milliseconds for what happens at once unless the machine is busy.
PATIENCE = int(os.environ.get("BROWSER_PATIENCE", "60000"))
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # nothing is drawn by a process of its own
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=" + ", ".join(f"MAP {name} 127.0.0.1" for name in NAMES),
)

# What `need` of tests/conftest.py wants to know.
CHROMIUM = ("Chromium", PATH is not None, "apt-get install chromium-headless-shell")
PLAYWRIGHT = ("Playwright", importlib.util.find_spec("playwright") is not None, "pip install playwright")

AXE = ("axe", importlib.util.find_spec("axe_playwright_python") is not None, "pip install axe-playwright-python")
_WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]

# What the page's own policy forbids is seen by the page alone: an evaluated script would pass by the policy.
_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI}`));
"""


# Chromium's words, without a reason, for a request that ended because its page was left: the preview is loaded again
# after each save. A request that fails is told with its reason, or as "Failed to load resource".
_LEFT = re.compile(r"Fetch API cannot load \S+\. ?")


@contextmanager
def chromium() -> Iterator[Any]:
    """Give the browser, started at the first call; gives None where there is none, for `need` to say so."""
    if not (CHROMIUM[1] and PLAYWRIGHT[1]):
        yield None
        return
    browser = _started()
    # Playwright marks its loop as the running one of this thread for as long as it is open.
    asyncio._set_running_loop(browser._loop)
    try:
        yield browser
    finally:
        idle = [held.context for some in _idle.values() for held in some]
        for context in browser.contexts:
            if context not in idle:
                context.close()
        asyncio._set_running_loop(None)


@cache
def _started() -> Any:
    from playwright.sync_api import sync_playwright

    driver = sync_playwright().start()
    browser = driver.chromium.launch(executable_path=PATH, args=ARGUMENTS, timeout=180_000)
    atexit.register(_end, driver, browser)
    return browser


def _end(driver: Any, browser: Any) -> None:
    asyncio._set_running_loop(browser._loop)
    browser.close()
    driver.stop()


class Watched:
    """A context whose errors and requests are written down.

    Attributes
    ----------
    context
        The context of Playwright.
    errors
        What the console and the pages complained about, policy violations among it.
    requests
        Every request as (method, address, body or None).
    """

    def __init__(self, context: Any, settings: dict[str, Any]) -> None:
        self.context = context
        self._settings = settings
        self.errors: list[str] = []
        self.requests: list[tuple[str, str, bytes | None]] = []
        context.add_init_script(_REPORT_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("request", lambda made: self.requests.append((made.method, made.url, made.post_data_buffer)))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and not _LEFT.fullmatch(message.text):
            self.errors.append(message.text)

    def page(self) -> Any:
        """Return a new page."""
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE)
        return page

    def empty(self) -> None:
        """Leave one blank page, and nothing that a page has stored or a test has set."""
        first, *others = self.context.pages or [self.page()]
        for page in others:
            page.close()
        first.unroute_all()
        self.context.unroute_all()
        self.context.set_offline(False)
        first.set_viewport_size(self._settings["viewport"])
        first.emulate_media(**{name: self._settings.get(name, usual) for name, usual in MEDIA.items()})
        session = self.context.new_cdp_session(first)
        blank(first)
        for origin in {"/".join(url.split("/")[:3]) for _, url, _ in self.requests}:
            session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        session.detach()
        self.context.clear_cookies()

    def check(self, origin: str, tolerated: tuple[str, ...] = ()) -> None:
        """Fail if a page has complained, or a request has gone to anywhere but the origin."""
        strange = [url for _, url, _ in self.requests if not url.startswith(f"{origin}/")]
        assert not strange, f"requests to elsewhere: {strange}"
        complaints = [text for text in self.errors if not any(part in text for part in tolerated)]
        assert not complaints, f"the browser complained: {complaints}"

    def posts(self, ending: str) -> list[bytes]:
        """Return the bodies that were posted to addresses with this ending."""
        return [body or b"" for method, url, body in self.requests if method == "POST" and url.endswith(ending)]


_BLANK = '<!doctype html><link rel="icon" href="data:,">'  # or the browser would ask for an icon


def blank(page: Any) -> None:
    """Leave a page for an empty one of the same origin; for `about:blank` the browser would change the process."""
    if not page.url.startswith("http") or page.url.endswith("/blank"):
        return
    headers = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
    page.route("**/blank", lambda route: route.fulfill(body=_BLANK, content_type="text/html", headers=headers))
    page.goto("/".join(page.url.split("/")[:3]) + "/blank")
    page.unroute("**/blank")


_idle: dict[str, list[Watched]] = {}  # contexts by their settings, empty again


@contextmanager
def watched(
    browser: Any, origin: str, *, tolerated: tuple[str, ...] = (), fresh: bool = False, **settings: Any
) -> Iterator[Watched]:
    """Open an empty context; at its end no page may have complained, and every request must have gone to the origin.

    To make a context takes the most time, so those with the same settings take turns in one, emptied for each.

    Parameters
    ----------
    browser
        The browser.
    origin
        Where all requests must go.
    tolerated
        Parts of complaints that the test brings about itself, such as "status of 503".
    fresh
        Whether the context is for this test alone: for one that adds a script to its pages, or listens to them.
    settings
        What `new_context` of Playwright takes: viewport, color_scheme, …
    """
    idle = [] if fresh else _idle.setdefault(repr(sorted(settings.items())), [])
    settings = SETTINGS | settings
    held = idle.pop() if idle else Watched(browser.new_context(**settings), settings)
    try:
        yield held
        if fresh:
            held.context.close()
        else:
            held.empty()
        held.check(origin, tolerated)
    except BaseException:
        held.context.close()  # whatever state it is in
        raise
    if not fresh:
        held.errors.clear()
        held.requests.clear()
        idle.append(held)


def violations(page: Any) -> list[str]:
    """Return what axe finds on a page against WCAG 2.2, levels A and AA: the rule and the elements."""
    return [f"{rule['id']}: {node['html']} ({node['failureSummary']})" for rule in axe(page) for node in rule["nodes"]]


def axe(page: Any) -> list[dict[str, Any]]:
    """Return the rules of WCAG 2.2, levels A and AA, that axe finds violated on a page."""
    if not page.evaluate("'axe' in window"):
        from axe_playwright_python.base import AXE_SCRIPT

        page.evaluate(AXE_SCRIPT)
    run = "tags => axe.run({ runOnly: tags, resultTypes: ['violations'] }).then(({ violations }) => violations)"
    found: list[dict[str, Any]] = page.evaluate(run, _WCAG)
    return found


@contextmanager
def served(app: Any, host: str = "127.0.0.1", lifespan: str = "off") -> Iterator[str]:
    """Serve an application on a free port of this machine, in a thread, and give its origin."""
    import uvicorn

    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, 0))
        settings = {"log_level": "critical", "access_log": False, "timeout_graceful_shutdown": 1}
        server = uvicorn.Server(uvicorn.Config(app, lifespan=lifespan, **settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started, "the server did not start"
        try:
            yield f"http://{host}:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
