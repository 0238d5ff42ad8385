"""The coin that the respondent and the server flip together, so that neither chooses the question.

The respondent's browser commits to a secret number; the server answers with a share that its key and the
commitment fix; the question follows from both. The browser cannot draw again, because the key is secret and the
first commitment of a code is kept; the server cannot choose, because it answers before it sees the number. The
key's own commitment stands in the manifest, and the key is published when the study is over.
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
    # Not `hmac.digest`: it lets other threads run for a microsecond of work, and then waits for them.
    return hmac.new(key, message, sha256).digest()


def commit(secret: bytes) -> bytes:
    """Return the commitment to the respondent's number."""
    return sha256(_named("commit") + secret).digest()


def share(key: bytes, ticket: bytes, commitment: bytes) -> bytes:
    """Return the server's share of the coin flip."""
    return _keyed(key, _named("share") + ticket + commitment)


def seed(server_share: bytes, secret: bytes) -> bytes:
    """Return the seed of the draws, which both shares fix."""
    return sha256(_named("seed") + server_share + secret).digest()


def commit_key(key: bytes) -> bytes:
    """Return the commitment to the server's key, for the manifest."""
    return sha256(_named("key") + key).digest()


def wrap(secret: bytes, half: bytes, commitment: bytes) -> bytes:
    """Return the number hidden under the second half of a code, or the number back from that.

    The half stays in the address bar: the server keeps the wrapped number for a second device and cannot read it.
    The commitment to the number makes each pad anew: the number of one wave is opened with the answers, and would
    otherwise open that of another.
    """
    pad = _keyed(half, _named("wrap") + commitment)
    return bytes(a ^ b for a, b in zip(secret, pad, strict=True))


def open_ticket(device_seed: bytes, fingerprint: bytes) -> bytes:
    """Return the ticket of a browser in open mode: the same for a second try, so that it counts once."""
    return _keyed(device_seed, _named("ticket") + fingerprint)


def ticket_mark(survey: str, ticket: bytes) -> bytes:
    """Return what the store keeps of a ticket."""
    return sha256(_named("mark") + survey.encode() + b"\0" + ticket).digest()


def code_text(ticket: bytes, half: bytes) -> str:
    """Return a one-time code as it stands in a link."""
    return b32encode(ticket + half).decode().lower()


def read_code(text: str) -> tuple[bytes, bytes]:
    """Return the ticket and the half of a code.

    Raises
    ------
    ValueError
        If the text is no code.
    """
    parts = (
        b32decode(text.upper()) if text.isascii() else b""
    )  # other alphabets have letters whose capital is one of ours
    if len(parts) != TICKET_BYTES + HALF_BYTES:
        raise ValueError("a code must have 32 letters and digits")
    return parts[:TICKET_BYTES], parts[TICKET_BYTES:]
