"""Researchers, their sessions and tokens, and the log of what they did. Secrets are stored only as hashes."""

from attrs import frozen
from sqlalchemy import Connection, Table, delete, func, insert, select, text, update

from subsetprivacy.collect.storage.schema import account, api_token, browser, deed, session

_accounts = select(account.c.name, account.c.password, account.c.role)
_tokens = select(api_token.c.mark, api_token.c.name, api_token.c.role, api_token.c.made_by, api_token.c.made_day)


@frozen
class Account:
    """A researcher.

    Attributes
    ----------
    password
        The argon2id hash of the password, or for an invited person the hash of the invitation.
    role
        "owner" or "analyst".
    """

    name: str
    password: str
    role: str


@frozen
class Token:
    """What the store knows about a token for programs, without the token itself.

    Attributes
    ----------
    mark
        The hash of the token.
    """

    mark: bytes
    name: str
    role: str
    made_by: str
    made_day: str


@frozen
class AuditEntry:
    """An entry of the log: something a researcher did."""

    day: str
    actor: str
    act: str


def lock_accounts(connection: Connection) -> None:
    """Lock the accounts until the transaction ends. On SQLite every writer has this lock anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE account IN EXCLUSIVE MODE"))


def read_accounts(connection: Connection) -> list[Account]:
    """Return all accounts by name."""
    return [Account(*row) for row in connection.execute(_accounts.order_by(account.c.name))]


def read_account(connection: Connection, name: str) -> Account | None:
    """Return the account with this name, if there is one."""
    row = connection.execute(_accounts.where(account.c.name == name)).one_or_none()
    return None if row is None else Account(*row)


def count_accounts(connection: Connection) -> int:
    """Return how many accounts there are."""
    return connection.scalar(select(func.count()).select_from(account)) or 0


def add_account(connection: Connection, made: Account) -> None:
    """Add an account. Its name must be free."""
    connection.execute(insert(account).values(name=made.name, password=made.password, role=made.role))


def set_password(connection: Connection, name: str, password: str) -> None:
    """Replace the hash of a password, end all sessions of the account, and forget its browsers."""
    connection.execute(update(account).where(account.c.name == name).values(password=password))
    end_sessions(connection, name)


def rehash_password(connection: Connection, name: str, old: str, new: str) -> None:
    """Replace the hash of the same password, unless it was changed in between."""
    unchanged = (account.c.name == name) & (account.c.password == old)
    connection.execute(update(account).where(unchanged).values(password=new))


def remove_account(connection: Connection, name: str) -> None:
    """Remove an account with its sessions and the tokens it made."""
    end_sessions(connection, name)
    connection.execute(delete(api_token).where(api_token.c.made_by == name))
    connection.execute(delete(account).where(account.c.name == name))


def add_session(connection: Connection, mark: bytes, name: str, last_day: str, most: int) -> None:
    """Begin a session that ends after its last day, and keep only the newest sessions of its account."""
    _add_newest(connection, session, mark, name, last_day, most)


def read_session(connection: Connection, mark: bytes, today: str) -> Account | None:
    """Return the account of this session, if it has not ended."""
    joined = _accounts.join(session, session.c.account == account.c.name)
    row = connection.execute(joined.where(session.c.mark == mark, session.c.last_day >= today)).one_or_none()
    return None if row is None else Account(*row)


def read_owners_sessions(connection: Connection, today: str) -> list[bytes]:
    """Return the marks of all sessions of owners that have not ended."""
    joined = select(session.c.mark).join(account, session.c.account == account.c.name)
    rows = connection.execute(joined.where(account.c.role == "owner", session.c.last_day >= today))
    return [bytes(mark) for (mark,) in rows]


def add_browser(connection: Connection, mark: bytes, name: str, last_day: str, most: int) -> None:
    """Remember a browser of an account until a day, and keep only the newest browsers of the account."""
    _add_newest(connection, browser, mark, name, last_day, most)


def _add_newest(connection: Connection, table: Table, mark: bytes, name: str, last_day: str, most: int) -> None:
    connection.execute(insert(table).values(mark=mark, account=name, last_day=last_day))
    rows = connection.execute(select(table.c.last_day, table.c.mark).where(table.c.account == name)).all()
    oldest = sorted((bytes(other) == mark, last, bytes(other)) for last, other in rows)
    for _, _, surplus in oldest[: max(len(oldest) - most, 0)]:
        connection.execute(delete(table).where(table.c.mark == surplus))


def keep_browser(connection: Connection, mark: bytes, name: str, last_day: str) -> bool:
    """Remember a known browser for longer. Return whether it is known to the account."""
    known = (browser.c.mark == mark) & (browser.c.account == name)
    return connection.execute(update(browser).where(known).values(last_day=last_day)).rowcount > 0


def is_browser(connection: Connection, mark: bytes, name: str, today: str) -> bool:
    """Tell whether a browser is known to an account."""
    known = (browser.c.mark == mark) & (browser.c.account == name) & (browser.c.last_day >= today)
    return connection.scalar(select(func.count()).select_from(browser).where(known)) == 1


def read_browsers(connection: Connection, today: str) -> tuple[frozenset[str], frozenset[bytes]]:
    """Return the names of accounts with known browsers, and the marks of these."""
    rows = connection.execute(select(browser.c.account, browser.c.mark).where(browser.c.last_day >= today)).all()
    return frozenset(name for name, _ in rows), frozenset(bytes(mark) for _, mark in rows)


def end_session(connection: Connection, mark: bytes) -> None:
    """End a session."""
    connection.execute(delete(session).where(session.c.mark == mark))


def end_sessions(connection: Connection, name: str) -> None:
    """End all sessions of an account, and forget the browsers known to it."""
    for table in (session, browser):
        connection.execute(delete(table).where(table.c.account == name))


def forget_old_sessions(connection: Connection, today: str) -> None:
    """Remove sessions and browsers whose last day has passed."""
    for table in (session, browser):
        connection.execute(delete(table).where(table.c.last_day < today))


def add_token(connection: Connection, made: Token) -> None:
    """Add a token for programs."""
    connection.execute(
        insert(api_token).values(
            mark=made.mark, name=made.name, role=made.role, made_by=made.made_by, made_day=made.made_day
        )
    )


def read_tokens(connection: Connection) -> list[Token]:
    """Return all tokens by name."""
    rows = connection.execute(_tokens.order_by(api_token.c.name, api_token.c.mark))
    return [Token(bytes(mark), *rest) for mark, *rest in rows]


def read_token(connection: Connection, mark: bytes) -> Token | None:
    """Return the token with this hash, if there is one."""
    row = connection.execute(_tokens.where(api_token.c.mark == mark)).one_or_none()
    return None if row is None else Token(mark, *row[1:])


def remove_token(connection: Connection, mark: bytes) -> bool:
    """Remove a token. Return whether there was one."""
    return connection.execute(delete(api_token).where(api_token.c.mark == mark)).rowcount > 0


def add_audit_entry(connection: Connection, done: AuditEntry) -> None:
    """Record what a researcher did, by day."""
    connection.execute(insert(deed).values(day=done.day, actor=done.actor, act=done.act))


def read_audit_entries(connection: Connection, most: int) -> list[AuditEntry]:
    """Return the last entries of the log, newest first."""
    columns = (deed.c.day, deed.c.actor, deed.c.act)
    return [AuditEntry(*row) for row in connection.execute(select(*columns).order_by(deed.c.no.desc()).limit(most))]
