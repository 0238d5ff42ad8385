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

    The categories are declared, as LABELS, --categories or --file; the list is published
    with the design. Reading it off private data has to be asked for.
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
