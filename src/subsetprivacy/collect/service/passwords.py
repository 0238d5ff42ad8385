"""Passwords and other secrets: which are valid, and how they are stored."""

import re
import secrets
from base64 import b64encode
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from argon2.low_level import ARGON2_VERSION

from subsetprivacy.errors import SubsetPrivacyError

LEAST_PASSWORD, MOST_PASSWORD = 12, 1024
INVITATION_DAYS = 7
_INVITED = "invited"
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,62}")


class AccountError(SubsetPrivacyError):
    """An account, a password or a token that cannot be made, changed or removed."""


def new_secret() -> str:
    """Return 32 random bytes as text: for a session, a token, an invitation, or the set-up link."""
    return secrets.token_urlsafe(32)


def mark(kind: str, secret: str) -> bytes:
    """Return the hash of a secret. The hash of one kind of secret is not valid for another kind."""
    return sha256(f"subsetprivacy {kind} v1\0{secret}".encode()).digest()


def today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


def plain_name(name: str) -> str:
    """Return a name as it is stored, or "" if it is not valid."""
    name = name.strip().lower()
    return name if _NAME.fullmatch(name) else ""


def read_name(name: str) -> str:
    """Return the name of an account to be made.

    Raises
    ------
    AccountError
        If it is not valid.
    """
    if not (plain := plain_name(name)):
        raise AccountError(
            "A name must have 1 to 63 characters: letters a to z, digits, and after the first also . _ @ + -."
        )
    return plain


def read_password(password: str) -> str:
    """Return a password to be set.

    Raises
    ------
    AccountError
        If it is too short or too long.
    """
    if not LEAST_PASSWORD <= len(password) <= MOST_PASSWORD:
        raise AccountError(f"A password must have at least {LEAST_PASSWORD} characters, and at most {MOST_PASSWORD}.")
    return normalize("NFC", password)


@cache
def _hasher() -> PasswordHasher:
    return PasswordHasher()


def dummy_hash() -> str:
    """Return a hash that no password matches, so that unknown names take as long as known ones.

    It is random bytes in the form of a hash. Hashing a password instead would cost each of the first requests a slow
    hash.
    """
    hasher = _hasher()
    effort = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, digest = (_base64(secrets.token_bytes(size)) for size in (hasher.salt_len, hasher.hash_len))
    return f"$argon2id$v={ARGON2_VERSION}${effort}${salt}${digest}"


def _base64(content: bytes) -> str:
    return b64encode(content).decode().rstrip("=")


def hash_password(password: str) -> str:
    """Return the argon2id hash of a password."""
    return _hasher().hash(normalize("NFC", password))


def is_password(kept: str, password: str) -> bool:
    """Tell whether a password matches a hash."""
    try:
        return _hasher().verify(kept, normalize("NFC", password[:MOST_PASSWORD]))
    except (Argon2Error, InvalidHashError):
        return False


def is_outdated(kept: str) -> bool:
    """Tell whether a hash was made with weaker settings than today's."""
    return _hasher().check_needs_rehash(kept)


def invitation(secret: str) -> str:
    """Return what is stored instead of a password until the invitation is accepted."""
    last = today() + timedelta(days=INVITATION_DAYS)
    return f"{_INVITED} {last.isoformat()} {mark('invitation', secret).hex()}"


def is_invitation(kept: str) -> bool:
    """Tell whether an invitation is stored instead of a password."""
    return kept.startswith(f"{_INVITED} ")


def fits_invitation(kept: str, secret: str) -> bool:
    """Tell whether a secret belongs to an invitation that has not expired."""
    if not is_invitation(kept):
        return False
    _, last, digest = kept.split(" ")
    return compare_digest(digest, mark("invitation", secret).hex()) and today().isoformat() <= last
