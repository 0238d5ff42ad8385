"""`subsetprivacy key`: make a secret key."""

import os
import secrets
import sys
from pathlib import Path

import click

from subsetprivacy.cli.documents import writing
from subsetprivacy.cli.files import STANDARD_OUTPUT
from subsetprivacy.cli.options import data_output
from subsetprivacy.cli.show import say

KEY_BYTES = 32


@click.command(short_help="Make a secret key, for draws that can be repeated.")
@data_output("The file to write. An existing file is never replaced. - is standard output, for another program.")
def key(output: Path) -> None:
    """Make a secret key, so that publishing again gives each person the same subset.

    Pass it to `privatize` with --key-file and --id. The key is 32 random bytes, written as 64 hexadecimal digits to a
    file that only you can read. Keep it separate from what you publish: anyone who has the key and the ids can often
    work out the values. Without the key no one can repeat the draws, so keep it as long as you publish.

    \b
    Example:
      subsetprivacy key -o secret.key
    """
    from subsetprivacy.errors import DataFileError
    from subsetprivacy.messages.for_files import ANOTHER_KEY

    if output == STANDARD_OUTPUT:
        if sys.stdout.isatty():
            raise click.UsageError("--output - would show the key on the screen; send it to a file or a program")
        click.echo(secrets.token_hex(KEY_BYTES))
        return
    try:
        with writing(output):
            descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(KEY_BYTES) + "\n")
    except FileExistsError:
        raise DataFileError(f"`output` must be a new file; {output} exists.", ANOTHER_KEY) from None
    say(
        f"Wrote {output}. Keep it secret and do not lose it. Use it with: subsetprivacy privatize TABLE --key-file "
        f"{output} --id COLUMN"
    )
