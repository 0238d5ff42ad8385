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

One browser for a module, a fresh context (no storage, no cookies) for a test. While a browser is open its thread has
a running event loop, so it is closed at the end of the module: `asyncio.run` works again in the next one.
"""

import importlib.util
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATH = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# What `need` of tests/conftest.py wants to know.
CHROMIUM = ("Chromium", PATH is not None, "apt-get install chromium")
PLAYWRIGHT = ("Playwright", importlib.util.find_spec("playwright") is not None, "pip install playwright")

AXE = ("axe", importlib.util.find_spec("axe_playwright_python") is not None, "pip install axe-playwright-python")
_WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]

# What the page's own policy forbids is seen by the page alone: an evaluated script would pass by the policy.
_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI}`));
"""


@contextmanager
def chromium(*arguments: str) -> Iterator[Any]:
    """Start a browser and close it; gives None where there is none, for `need` to say so."""
    if not (CHROMIUM[1] and PLAYWRIGHT[1]):
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PATH, args=[*ARGUMENTS, *arguments])
        try:
            yield browser
        finally:
            browser.close()


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

    def __init__(self, context: Any) -> None:
        self.context = context
        self.errors: list[str] = []
        self.requests: list[tuple[str, str, bytes | None]] = []
        context.add_init_script(_REPORT_VIOLATIONS)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("request", lambda made: self.requests.append((made.method, made.url, made.post_data_buffer)))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def page(self) -> Any:
        """Return a new page."""
        page = self.context.new_page()
        page.set_default_timeout(10_000)
        return page

    def check(self, origin: str, tolerated: tuple[str, ...] = ()) -> None:
        """Fail if a page has complained, or a request has gone to anywhere but the origin."""
        strange = [url for _, url, _ in self.requests if not url.startswith(f"{origin}/")]
        assert not strange, f"requests to elsewhere: {strange}"
        complaints = [text for text in self.errors if not any(part in text for part in tolerated)]
        assert not complaints, f"the browser complained: {complaints}"

    def posts(self, ending: str) -> list[bytes]:
        """Return the bodies that were posted to addresses with this ending."""
        return [body or b"" for method, url, body in self.requests if method == "POST" and url.endswith(ending)]


@contextmanager
def watched(browser: Any, origin: str, *, tolerated: tuple[str, ...] = (), **settings: Any) -> Iterator[Watched]:
    """Open a fresh context; at its end no page may have complained, and every request must have gone to the origin.

    Parameters
    ----------
    browser
        The browser.
    origin
        Where all requests must go.
    tolerated
        Parts of complaints that the test brings about itself, such as "status of 503".
    settings
        What `new_context` of Playwright takes: viewport, color_scheme, …
    """
    context = browser.new_context(**settings)
    held = Watched(context)
    try:
        yield held
    finally:
        context.close()
    held.check(origin, tolerated)


def violations(page: Any) -> list[str]:
    """Return what axe finds on a page against WCAG 2.2, levels A and AA: the rule and the elements."""
    if not page.evaluate("'axe' in window"):
        from axe_playwright_python.base import AXE_SCRIPT

        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(
        "tags => axe.run({ runOnly: tags, resultTypes: ['violations'] }).then(({ violations }) => violations)", _WCAG
    )
    return [f"{rule['id']}: {node['html']} ({node['failureSummary']})" for rule in found for node in rule["nodes"]]


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
        until = time.monotonic() + 10
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        assert server.started, "the server did not start"
        try:
            yield f"http://{host}:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
