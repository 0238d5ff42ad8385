"""Make a key, and read it."""

import os
import secrets
from pathlib import Path

import click

from subsetprivacy.cli.documents import writing
from subsetprivacy.cli.options import data_output
from subsetprivacy.cli.show import STANDARD_OUTPUT, echo_warning

KEY_BYTES = 32


@click.command(short_help="Make a secret key, for draws that can be repeated.")
@data_output("The file to write. It is never replaced.")
def key(output: Path) -> None:
    """Make a secret key, with which the same person gets the same subset every time.

    Give it to `privatize` with --key-file and --id. It is 32 random bytes as 64
    hexadecimal digits, in a file that only you may read. Keep it apart from what is
    published: whoever has the key and the ids can often work out the values. Without it
    nobody can repeat the draws, so keep it as long as you publish.

    \b
    Example:
      subsetprivacy key -o secret.key
    """
    from subsetprivacy.errors import DataFileError

    if output == STANDARD_OUTPUT:
        raise click.UsageError("--output must be a file: a key is not for the screen")
    try:
        with writing(output):
            descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(KEY_BYTES) + "\n")
    except FileExistsError:
        raise DataFileError(
            f"--output must be a new file; {output} exists. Hint: a key that is replaced is lost."
        ) from None
    click.echo(f"Wrote {output}. Keep it secret, and keep it: privatize TABLE --key-file {output} --id COLUMN.")


def read_key(path: Path) -> bytes:
    """Return the bytes of a key file, with a warning if others may read it."""
    from subsetprivacy.errors import DataFileError
    from subsetprivacy.frames.trouble import described

    try:
        value = bytes.fromhex(path.read_text(encoding="ascii"))
    except ValueError:  # whose message would quote the key
        value = b""
    except OSError as error:
        raise described(path, error) from None
    if len(value) != KEY_BYTES:
        raise DataFileError(
            f"a key file must hold {2 * KEY_BYTES} hexadecimal digits; {path} does not. "
            "Hint: subsetprivacy key -o secret.key makes one."
        )
    if os.name == "posix" and path.stat().st_mode & 0o077:
        echo_warning(f"other users of this machine may read {path}. Hint: chmod 600 {path}.")
    return value
