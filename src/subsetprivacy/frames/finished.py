"""Whether an output was written by the same job: told by a mark in the document beside it.

The mark is published with the data, so it must tell nothing about them. What is
written in the values, or how long they are, is not recognized by it: a digest of
the content could be tried for every value of a person. It is a slow digest, with
a random salt, of names, sizes and times of the files, of designs and options.
"""

import json
from hashlib import pbkdf2_hmac
from hmac import compare_digest
from pathlib import Path
from secrets import token_hex
from typing import Any

from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.files import sidecar_of
from subsetprivacy.messages.for_files import REPLACE_OUTPUT

_ROUNDS = 200_000


def mark(job: dict[str, Any], size: int) -> dict[str, Any]:
    """Return what is stored of a job.

    Parameters
    ----------
    job
        What the run does, in plain data.
    size
        Of the file that it has written, in bytes.
    """
    salt = token_hex(16)
    return {"salt": salt, "digest": _digest(job, salt), "bytes": size}


def check_same(output: Path, job: dict[str, Any]) -> None:
    """Raise unless an output that exists was written by this job.

    Raises
    ------
    DataFileError
        If it was not, or that cannot be told.
    """
    if not _is_same(output, job):
        raise DataFileError(
            f"the file {str(output)!r} must not exist yet, or come from the same job: the same table, unchanged since, "
            "the same designs and options; it does not.",
            REPLACE_OUTPUT,
        )


def _is_same(output: Path, job: dict[str, Any]) -> bool:
    try:
        found = json.loads(sidecar_of(output).read_bytes())["job"]
        salt, digest, size = str(found["salt"]), str(found["digest"]), found["bytes"]
        return size == output.stat().st_size and compare_digest(digest, _digest(job, salt))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _digest(job: dict[str, Any], salt: str) -> str:
    text = json.dumps(job, sort_keys=True).encode()
    return pbkdf2_hmac("sha256", text, salt.encode(), _ROUNDS, 32).hex()
