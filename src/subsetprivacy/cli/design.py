"""Make and look at design documents."""

import click

from subsetprivacy.cli.design_compare import compare
from subsetprivacy.cli.design_look import check, schema, show
from subsetprivacy.cli.design_make import (
    covered,
    fixed_size,
    hadamard,
    join,
    partition,
    product,
    small,
    uniform,
    warner,
)


@click.group()
def design() -> None:
    """Make a design document, look at one, or compare several.

    List the categories as LABELS, with --categories or with --file. The list is published with the design, so it is
    read from private data only if you ask for it.

    \b
    Examples:
      subsetprivacy design uniform black red green blue -o urn.design.json
      subsetprivacy design show urn.design.json
    """


for command in (
    uniform,
    partition,
    hadamard,
    fixed_size,
    warner,
    small,
    join,
    product,
    covered,
    show,
    check,
    compare,
    schema,
):
    design.add_command(command)
