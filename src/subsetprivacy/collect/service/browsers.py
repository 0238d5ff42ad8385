"""Browsers that somebody has signed in with before: the tries of strangers neither slow them nor keep them out.

Such a browser has a secret in a cookie. It opens nothing: with it, too, the password is asked for. Its hash, which
holds for one account only, is kept with the account until the password is changed.
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
    """What was kept of all known browsers a moment ago: it tells a made-up secret without the database.

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
    """Tell whether the account of this name was signed in to by the browser that has this secret."""
    if not secret:
        return False
    with reading(engine) as connection:
        return storage.is_browser(connection, _mark(name, secret), name, today().isoformat())


def known_marks(engine: Engine) -> KnownMarks:
    """Return what is kept of all known browsers."""
    with reading(engine) as connection:
        return KnownMarks(*storage.read_browsers(connection, today().isoformat()))


def remember(engine: Engine, person: StudioUser, secret: str) -> str:
    """Remember the browser in which somebody has signed in, and return its secret: a new one if it was not known."""
    last = (today() + timedelta(days=BROWSER_DAYS)).isoformat()
    with writing(engine) as connection:
        if not storage.keep_browser(connection, _mark(person.name, secret), person.name, last):
            secret = new_secret()
            storage.add_browser(connection, _mark(person.name, secret), person.name, last, MOST_BROWSERS)
    return secret


def _mark(name: str, secret: str) -> bytes:
    return mark("browser", f"{name}\0{secret}")
