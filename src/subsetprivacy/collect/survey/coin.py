"""The coin that the respondent and the server flip together, so that neither chooses the question.

The respondent's browser commits to a secret number. The server replies with a share that its key and the commitment
determine. Both together determine the question. The browser cannot draw again, because the key is secret and the server
keeps the first commitment of a code. The server cannot choose, because it replies before it sees the number. The
manifest contains a commitment to the key, and the key is published when the study is over.
"""

import hmac
from base64 import b32decode, b32encode
from hashlib import sha256

TICKET_BYTES = 10
SECRET_BYTES = 32
HALF_BYTES = 10


def _named(name: str) -> bytes:
    return f"subsetprivacy {name} v1\0".encode()


def _keyed(key: bytes, message: bytes) -> bytes:
    # Not `hmac.digest`, which lets other threads run for a microsecond of work and then waits for them.
    return hmac.new(key, message, sha256).digest()


def commit(secret: bytes) -> bytes:
    """Return the commitment to the respondent's number."""
    return sha256(_named("commit") + secret).digest()


def share(key: bytes, ticket: bytes, commitment: bytes) -> bytes:
    """Return the server's share of the coin flip."""
    return _keyed(key, _named("share") + ticket + commitment)


def seed(server_share: bytes, secret: bytes) -> bytes:
    """Return the seed of the draws, which both shares determine."""
    return sha256(_named("seed") + server_share + secret).digest()


def commit_key(key: bytes) -> bytes:
    """Return the commitment to the server's key, for the manifest."""
    return sha256(_named("key") + key).digest()


def wrap(secret: bytes, half: bytes, commitment: bytes) -> bytes:
    """Return the number encrypted with the second half of a code, or decrypt it.

    The half stays in the address bar. The server keeps the wrapped number for a second device and cannot read it. The
    commitment to the number makes each pad different. Otherwise the number of one wave, which is opened with the
    answers, would reveal that of another.
    """
    pad = _keyed(half, _named("wrap") + commitment)
    return bytes(a ^ b for a, b in zip(secret, pad, strict=True))


def open_ticket(device_seed: bytes, fingerprint: bytes) -> bytes:
    """Return the ticket of a browser in open mode. It is the same for a second attempt, so that it counts once."""
    return _keyed(device_seed, _named("ticket") + fingerprint)


def ticket_mark(survey: str, ticket: bytes) -> bytes:
    """Return the hash of a ticket, which the store keeps."""
    return sha256(_named("mark") + survey.encode() + b"\0" + ticket).digest()


def code_text(ticket: bytes, half: bytes) -> str:
    """Return a one-time code as it appears in a link."""
    return b32encode(ticket + half).decode().lower()


def read_code(text: str) -> tuple[bytes, bytes]:
    """Return the ticket and the half of a code.

    Raises
    ------
    ValueError
        If the text is not a code.
    """
    parts = (
        b32decode(text.upper()) if text.isascii() else b""
    )  # other alphabets have letters whose capital is one of ours
    if len(parts) != TICKET_BYTES + HALF_BYTES:
        raise ValueError("a code must have 32 letters and digits")
    return parts[:TICKET_BYTES], parts[TICKET_BYTES:]
