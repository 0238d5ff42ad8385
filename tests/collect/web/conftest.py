"""Loaded for the tests of pages and the API: the studio's owner, a browser, and passwords that are hashed quickly."""

import pytest
from browser import CHROMIUM, PLAYWRIGHT, chromium
from sites import OWNER, light_hashes
from visits import visits


@pytest.fixture(scope="module", autouse=True)
def _light():
    with light_hashes():
        yield


@pytest.fixture(scope="module")
def owner(site):
    """An owner who is signed in to the site of a module."""
    return site.signed_in(OWNER)


@pytest.fixture(scope="module")
def browser():
    with chromium() as held:
        yield held


@pytest.fixture
def visit(need, browser, site):
    """Open pages of the site of a module in a real browser, as the owner."""
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    with visits(browser, site) as open_page:
        yield open_page
