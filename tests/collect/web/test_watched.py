"""The watcher of all browser tests: it hears what fails, and no request that ended because its page was left."""

import re

import pytest
from browser import CHROMIUM, PLAYWRIGHT, served, watched
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

APP = Starlette(routes=[Route("/", lambda _: HTMLResponse('<!doctype html><link rel="icon" href="data:,">'))])


@pytest.fixture(scope="module")
def origin():
    with served(APP) as address:
        yield address


def visit(browser, origin, script):
    with watched(browser, origin, fresh=True) as held:
        page = held.page()
        page.goto(origin)
        page.evaluate(script)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            "fetch('/?', {integrity: 'sha256-' + btoa('x'.repeat(32))}).catch(() => null)",
            "Failed to find a valid digest",
        ),
        ("fetch('/missing').catch(() => null)", "status of 404"),
        ("fetch('http://127.0.0.1:1/').catch(() => null)", "requests to elsewhere"),
        ("console.error('Fetch API cannot load /en.json. It is gone.')", "It is gone"),
        ("console.warn('deprecated')", "deprecated"),
        ("new Promise((go) => setTimeout(go, 0, setTimeout(() => missing(), 0)))", "missing is not defined"),
    ],
)
def test_what_fails_is_heard(need, browser, origin, script, complaint):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    with pytest.raises(AssertionError, match=re.escape(complaint)):
        visit(browser, origin, script)


def test_a_page_that_was_left_is_no_complaint(need, browser, origin):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    visit(browser, origin, "console.error('Fetch API cannot load http://127.0.0.1/en.json. ')")
