"""Options and identity of a run: whether an existing output was written by the same job.

The mark of a job is published with the data, so it must reveal nothing about them. It does not depend on the content of
the values, because someone could try out a digest of the content for every value of a person. It is a slow digest, with
a random salt, of names, sizes and times of the files, of designs and of options.
"""

import json
from hashlib import pbkdf2_hmac
from hmac import compare_digest
from pathlib import Path
from secrets import token_hex
from typing import Any

from attrs import frozen

from subsetprivacy._choices import Form, IfExists
from subsetprivacy.errors import DataFileError
from subsetprivacy.frames.files import sidecar_of
from subsetprivacy.frames.kernel import Kernel
from subsetprivacy.frames.table_reader import TableReader
from subsetprivacy.messages.for_files import REPLACE_OUTPUT

_ROUNDS = 200_000


@frozen
class RunOptions:
    """The options of a run.

    Attributes
    ----------
    keep_order
        Whether to keep the order of the rows; otherwise they are shuffled.
    form
        "codes" or "labels"; None is the default of the format.
    if_exists
        "error", "overwrite", or "same", which leaves an output of the same job unchanged.
    """

    keep_order: bool = False
    form: Form | None = None
    if_exists: IfExists = "error"
    jobs: int = 1
    seed: int | None = None

    @property
    def overwrite(self) -> bool:
        """Whether to replace an existing output."""
        return self.if_exists == "overwrite"


def job_facts(reader: TableReader, kernel: Kernel, options: RunOptions) -> dict[str, Any] | None:
    """Return the identity of a job: files, designs and options; None if the table has no identity."""
    if reader.identity is None:
        return None
    return {
        "version": 3,
        **reader.identity,
        "columns": {name: design.fingerprint for name, design in kernel.designs.items()},
        "keep": list(kernel.keep),
        "missing": kernel.missing,
        "strip": kernel.cleaning.strip,
        "na": list(kernel.cleaning.na),
        "id": kernel.id,
        "key": _digest_of_key(kernel.key),
        "keep_order": options.keep_order,
        "form": options.form,
        "seed": options.seed,
    }


def mark(job: dict[str, Any], size: int) -> dict[str, Any]:
    """Return the mark of a job to store.

    Parameters
    ----------
    job
        The identity of the job, as plain data.
    size
        The size of the written file, in bytes.
    """
    salt = token_hex(16)
    return {"salt": salt, "digest": _digest(job, salt), "bytes": size}


def check_same(output: Path, job: dict[str, Any]) -> None:
    """Raise unless an existing output was written by this job.

    Raises
    ------
    DataFileError
        If it was not, or that is not known.
    """
    if not _is_same(output, job):
        raise DataFileError(
            f"the file {str(output)!r} must not exist yet, or come from the same job: the same table, unchanged since, "
            "the same designs and options; it does not.",
            REPLACE_OUTPUT,
        )


def _is_same(output: Path, job: dict[str, Any]) -> bool:
    try:
        stored = json.loads(sidecar_of(output).read_bytes())["job"]
        salt, digest, size = str(stored["salt"]), str(stored["digest"]), stored["bytes"]
        return size == output.stat().st_size and compare_digest(digest, _digest(job, salt))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _digest(job: dict[str, Any], salt: str) -> str:
    text = json.dumps(job, sort_keys=True).encode()
    return pbkdf2_hmac("sha256", text, salt.encode(), _ROUNDS, 32).hex()


def _digest_of_key(key: bytes | None) -> str | None:
    """Return a digest of a key, slow to compute so that weak keys cannot be found by trial."""
    return None if key is None else pbkdf2_hmac("sha256", key, b"subsetprivacy job", _ROUNDS, 16).hex()
