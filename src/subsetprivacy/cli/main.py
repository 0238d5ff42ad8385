"""The command `subsetprivacy`; each command imports what it needs when it runs."""

import sys
from typing import Any

import click

from subsetprivacy import __version__
from subsetprivacy.cli.audit import audit
from subsetprivacy.cli.demo import demo
from subsetprivacy.cli.design import design
from subsetprivacy.cli.plan import plan
from subsetprivacy.cli.reproduce import reproduce
from subsetprivacy.errors import MissingDependencyError, SubsetPrivacyError


class Commands(click.Group):
    """A group that turns the package's errors into one line and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; named errors end it with their message, not with a traceback."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a file or a console that has no word for "✓" gets a question mark
                stream.reconfigure(errors="replace")
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # whoever read the output has stopped; click ends quietly
            raise
        except (SubsetPrivacyError, MissingDependencyError, OSError) as error:
            click.echo(f"Error: {error}", err=True)
            sys.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="subsetprivacy")
def main() -> None:
    """Collect and analyse categorical data under subset privacy.

    A person's value is never published; a random subset that contains it is.

    \b
    Try:
      subsetprivacy demo
      subsetprivacy design uniform black red green blue -o urn.design.json
      subsetprivacy plan black red green blue --margin 0.02
      subsetprivacy audit urn.design.json --w 0.01,0.1,0.2,0.69
      subsetprivacy reproduce all --quick
    """


for command in (demo, design, plan, audit, reproduce):
    main.add_command(command)
