"""Browsers that have signed in before. Attempts by strangers neither slow them down nor lock them out.

Such a browser has a secret in a cookie. The secret alone gives no access, because the studio still asks for the
password. Its hash is valid for one account only, and is stored with the account until the password changes.
"""

from datetime import timedelta

from attrs import frozen
from sqlalchemy import Engine

from subsetprivacy.collect.service.accounts import StudioUser
from subsetprivacy.collect.service.passwords import mark, new_secret, today
from subsetprivacy.collect.storage import accounts as storage
from subsetprivacy.collect.storage.opening import reading, writing

BROWSER_DAYS = 400  # browsers keep no cookie for longer
MOST_BROWSERS = 16  # of one account


@frozen
class KnownMarks:
    """The hashes of all known browsers a moment ago. They detect an invented secret without the database.

    Parameters
    ----------
    names
        Of the accounts that have any.
    marks
        Of the browsers.
    """

    names: frozenset[str]
    marks: frozenset[bytes]

    def has(self, secret: str) -> bool:
        """Tell whether this is the secret of a browser that is known to any account."""
        return any(_mark(name, secret) in self.marks for name in self.names)


def is_known(engine: Engine, name: str, secret: str) -> bool:
    """Tell whether the browser with this secret has signed in to the account with this name."""
    if not secret:
        return False
    with reading(engine) as connection:
        return storage.is_browser(connection, _mark(name, secret), name, today().isoformat())


def known_marks(engine: Engine) -> KnownMarks:
    """Return the hashes of all known browsers."""
    with reading(engine) as connection:
        return KnownMarks(*storage.read_browsers(connection, today().isoformat()))


def remember(engine: Engine, person: StudioUser, secret: str) -> str:
    """Remember the browser that has signed in, and return its secret: a new one if the browser was not known."""
    last = (today() + timedelta(days=BROWSER_DAYS)).isoformat()
    with writing(engine) as connection:
        if not storage.keep_browser(connection, _mark(person.name, secret), person.name, last):
            secret = new_secret()
            storage.add_browser(connection, _mark(person.name, secret), person.name, last, MOST_BROWSERS)
    return secret


def _mark(name: str, secret: str) -> bytes:
    return mark("browser", f"{name}\0{secret}")
