"""Access to the studio: accounts with a password, sessions, tokens for programs, and a log of what was done.

The database stores every secret as a hash: argon2id for passwords, SHA-256 for sessions, tokens and invitations,
which are 32 random bytes. The functions that hash a password take about a tenth of a second and 64 MB, so the web
package runs few of them at a time.
"""

import hmac
import re
from datetime import timedelta
from unicodedata import normalize

from attrs import field, frozen
from sqlalchemy import Connection, Engine

from subsetprivacy.collect.service import passwords
from subsetprivacy.collect.service.passwords import AccountError, mark, new_secret, today
from subsetprivacy.collect.storage import accounts as storage
from subsetprivacy.collect.storage.accounts import Account, AuditEntry, Token
from subsetprivacy.collect.storage.opening import reading, writing

OWNER, ANALYST = ROLES = ("owner", "analyst")
SESSION_DAYS = 14
MOST_SESSIONS = 64  # per account; a browser that signs in again leaves its old session behind
TOKEN_START = "sp_"
_NO_INVITATION = "This invitation does not work. It was used, has expired, or belongs to another name."
_TOKEN_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,64}")
_LONGEST_NAME_SENT = 256  # characters, before letters and their marks are put together


@frozen
class StudioUser:
    """The person or program that acts: an account, or a token with its role."""

    name: str
    role: str

    @property
    def is_owner(self) -> bool:
        """Whether this user may do everything."""
        return self.role == OWNER


# Accounts --------------------------------------------------------------------------------------


def needs_setup(engine: Engine) -> bool:
    """Tell whether there is no account yet."""
    with reading(engine) as connection:
        return storage.count_accounts(connection) == 0


def set_up(engine: Engine, name: str, password: str) -> StudioUser:
    """Create the first account, which is an owner.

    Raises
    ------
    AccountError
        If there is one already, or the name or password is not valid.
    """
    made = Account(passwords.read_name(name), passwords.hash_password(passwords.read_password(password)), OWNER)
    with writing(engine) as connection:
        storage.lock_accounts(connection)
        if storage.count_accounts(connection):
            raise AccountError("There is already an account. The set-up link works once. Sign in instead.")
        storage.add_account(connection, made)
        _record(connection, made.name, "set up the studio")
    return StudioUser(made.name, made.role)


@frozen
class Claim:
    """A sign-in attempt: the user with that name, if any, and the hash that the password must match.

    A name that does not exist also has a hash, so that checking it takes as long as checking a wrong password.
    """

    person: StudioUser | None
    kept: str = field(repr=False)


def read_claim(engine: Engine, name: str) -> Claim:
    """Return what to check a password for this name against, without hashing."""
    with reading(engine) as connection:
        account = storage.read_account(connection, passwords.plain_name(name))
    if account is None or passwords.is_invitation(account.password):
        return Claim(None, passwords.dummy_hash())
    return Claim(StudioUser(account.name, account.role), account.password)


def renew_hash(engine: Engine, claim: Claim, password: str) -> None:
    """Replace the stored hash of a correct password if it was made with weaker settings."""
    if claim.person is not None and passwords.is_outdated(claim.kept):
        with writing(engine) as connection:
            storage.rehash_password(connection, claim.person.name, claim.kept, passwords.hash_password(password))


def check_password(engine: Engine, name: str, password: str) -> StudioUser | None:
    """Return the user with this name and password, or None."""
    claim = read_claim(engine, name)
    if not passwords.is_password(claim.kept, password):
        return None
    renew_hash(engine, claim, password)
    return claim.person


def change_password(engine: Engine, person: StudioUser, old: str, new: str) -> None:
    """Change the user's own password and end all sessions of the account.

    Raises
    ------
    AccountError
        If the old password is wrong or the new one is not valid.
    """
    if check_password(engine, person.name, old) is None:
        raise AccountError("The current password is wrong.")
    made = passwords.hash_password(passwords.read_password(new))
    with writing(engine) as connection:
        storage.set_password(connection, person.name, made)
        _record(connection, person.name, "changed the password")


def invite(engine: Engine, actor: StudioUser, name: str, role: str) -> str:
    """Create an account without a password, and return the invitation that lets its holder set one.

    Raises
    ------
    AccountError
        If the name is taken or not valid.
    """
    if role not in ROLES:
        raise AccountError("The role must be owner or analyst.")
    secret, name = new_secret(), passwords.read_name(name)
    with writing(engine) as connection:
        storage.lock_accounts(connection)
        if storage.read_account(connection, name) is not None:
            raise AccountError("There is already an account with this name.")
        storage.add_account(connection, Account(name, passwords.invitation(secret), role))
        _record(connection, actor.name, f"invited {name} as {role}")
    return secret


def invite_again(engine: Engine, actor: StudioUser, name: str) -> str:
    """Remove the password of an account, and return an invitation to set a new one.

    Raises
    ------
    AccountError
        If there is no such account, or it is the user's own.
    """
    secret, name = new_secret(), passwords.plain_name(name)
    with writing(engine) as connection:
        storage.lock_accounts(connection)
        if storage.read_account(connection, name) is None:
            raise AccountError("There is no account with this name.")
        if name == actor.name:
            raise AccountError("Change your own password on your account page.")
        storage.set_password(connection, name, passwords.invitation(secret))
        _record(connection, actor.name, f"made a new invitation for {name}")
    return secret


def is_invited(engine: Engine, name: str, secret: str) -> bool:
    """Tell whether an invitation to this account is valid, without a slow hash: no one can guess 32 random bytes."""
    with reading(engine) as connection:
        account = storage.read_account(connection, passwords.plain_name(name))
    return account is not None and passwords.fits_invitation(account.password, secret)


def accept(engine: Engine, name: str, secret: str, password: str) -> StudioUser:
    """Set the password of an account by its invitation, once.

    Raises
    ------
    AccountError
        If the invitation is wrong or has expired, or the password is not valid.
    """
    name = passwords.plain_name(name)
    if not is_invited(engine, name, secret):  # before the slow hash
        raise AccountError(_NO_INVITATION)
    made = passwords.hash_password(passwords.read_password(password))
    with writing(engine) as connection:
        storage.lock_accounts(connection)
        account = storage.read_account(connection, name)
        if account is None or not passwords.fits_invitation(account.password, secret):
            raise AccountError(_NO_INVITATION)
        storage.set_password(connection, account.name, made)
        _record(connection, account.name, "accepted the invitation")
    return StudioUser(account.name, account.role)


def remove(engine: Engine, actor: StudioUser, name: str) -> None:
    """Remove an account, with its sessions and the tokens it made.

    Raises
    ------
    AccountError
        If there is no such account, or no other owner with a password would remain.
    """
    with writing(engine) as connection:
        storage.lock_accounts(connection)
        existing = storage.read_accounts(connection)
        if name not in {account.name for account in existing}:
            raise AccountError("There is no account with this name.")
        if not any(
            account.role == OWNER and not passwords.is_invitation(account.password) and account.name != name
            for account in existing
        ):
            raise AccountError("The last owner cannot be removed. Invite another owner first.")
        storage.remove_account(connection, name)
        _record(connection, actor.name, f"removed the account {name}")


def accounts(engine: Engine) -> list[tuple[StudioUser, bool]]:
    """Return all users, and whether each still has to accept the invitation."""
    with reading(engine) as connection:
        return [
            (StudioUser(account.name, account.role), passwords.is_invitation(account.password))
            for account in storage.read_accounts(connection)
        ]


# Sessions and tokens ---------------------------------------------------------------------------


def begin_session(engine: Engine, person: StudioUser) -> str:
    """Begin a session and return its secret, for the cookie."""
    secret, now = new_secret(), today()
    with writing(engine) as connection:
        storage.forget_old_sessions(connection, now.isoformat())
        last = now + timedelta(days=SESSION_DAYS)
        storage.add_session(connection, mark("session", secret), person.name, last.isoformat(), MOST_SESSIONS)
    return secret


def person_of_session(engine: Engine, secret: str) -> StudioUser | None:
    """Return the user of this session, if it has not ended."""
    with reading(engine) as connection:
        account = storage.read_session(connection, mark("session", secret), today().isoformat())
    return None if account is None else StudioUser(account.name, account.role)


def end_session(engine: Engine, secret: str) -> None:
    """End a session."""
    with writing(engine) as connection:
        storage.end_session(connection, mark("session", secret))


def preview_pass(secret: str, draft_id: str) -> str:
    """Return a pass that opens the preview of a draft without a cookie, as long as the owner's session lasts."""
    return _pass(mark("session", secret), draft_id)


def is_preview_pass(engine: Engine, given: str, draft_id: str) -> bool:
    """Tell whether a text is a `preview_pass` of a session that has not ended."""
    with reading(engine) as connection:
        marks = storage.read_owners_sessions(connection, today().isoformat())
    return any(hmac.compare_digest(_pass(session_mark, draft_id).encode(), given.encode()) for session_mark in marks)


def _pass(session_mark: bytes, draft_id: str) -> str:
    return hmac.digest(session_mark, f"subsetprivacy preview v1\0{draft_id}".encode(), "sha256").hex()[:32]


def make_token(engine: Engine, actor: StudioUser, name: str, role: str) -> str:
    """Create a token for programs and return it. It is shown only once.

    Raises
    ------
    AccountError
        If the name or role is not valid.
    """
    if role not in ROLES:
        raise AccountError("The role must be owner or analyst.")
    name = normalize("NFC", name.strip()) if len(name) <= _LONGEST_NAME_SENT else ""
    if not _TOKEN_NAME.fullmatch(name):
        raise AccountError("The name of a token must have 1 to 64 characters.")
    secret = TOKEN_START + new_secret()
    with writing(engine) as connection:
        storage.add_token(connection, Token(mark("token", secret), name, role, actor.name, today().isoformat()))
        _record(connection, actor.name, f"made the token “{name}” for an {role}")
    return secret


def tokens(engine: Engine) -> list[Token]:
    """Return what the store knows about all tokens."""
    with reading(engine) as connection:
        return storage.read_tokens(connection)


def revoke_token(engine: Engine, actor: StudioUser, token_mark: str) -> bool:
    """Revoke a token by the hexadecimal text of its mark, and return whether it existed."""
    try:
        mark_bytes = bytes.fromhex(token_mark)
    except ValueError:
        return False
    with writing(engine) as connection:
        known = storage.read_token(connection, mark_bytes)
        if known is None:
            return False
        storage.remove_token(connection, mark_bytes)
        _record(connection, actor.name, f"revoked the token “{known.name}”")
    return True


def person_of_token(engine: Engine, secret: str) -> StudioUser | None:
    """Return the user that acts with this token, if it is known."""
    if not secret.startswith(TOKEN_START):
        return None
    with reading(engine) as connection:
        token = storage.read_token(connection, mark("token", secret))
    return None if token is None else StudioUser(f"token {token.name}"[:64], token.role)


# What was done ---------------------------------------------------------------------------------


def record(engine: Engine, person: StudioUser, act: str) -> None:
    """Record what a user did, by day."""
    with writing(engine) as connection:
        _record(connection, person.name, act)


def activity(engine: Engine, most: int = 100) -> list[AuditEntry]:
    """Return the last entries of the log, newest first."""
    with reading(engine) as connection:
        return storage.read_audit_entries(connection, most)


def _record(connection: Connection, actor: str, act: str) -> None:
    storage.add_audit_entry(connection, AuditEntry(today().isoformat(), actor, act))
