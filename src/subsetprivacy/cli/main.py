"""The command `subsetprivacy`; each command imports what it needs when it runs."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from subsetprivacy import __version__
from subsetprivacy.cli.audit import audit
from subsetprivacy.cli.check import check
from subsetprivacy.cli.compare import compare
from subsetprivacy.cli.completion import completion
from subsetprivacy.cli.count import count
from subsetprivacy.cli.db import db
from subsetprivacy.cli.demo import demo
from subsetprivacy.cli.design import design
from subsetprivacy.cli.estimate import estimate
from subsetprivacy.cli.evaluate import evaluate
from subsetprivacy.cli.example import example
from subsetprivacy.cli.fit_test import fit_test
from subsetprivacy.cli.key import key
from subsetprivacy.cli.loglinear import loglinear
from subsetprivacy.cli.means import means
from subsetprivacy.cli.plan import plan
from subsetprivacy.cli.power import power
from subsetprivacy.cli.privatize import privatize
from subsetprivacy.cli.rake import rake
from subsetprivacy.cli.regress import regress
from subsetprivacy.cli.report import report
from subsetprivacy.cli.reproduce import reproduce
from subsetprivacy.cli.serve import serve
from subsetprivacy.cli.shell_wording import remember_call, wants_json
from subsetprivacy.cli.show import echo_error, echo_usage_error, echo_warning, is_noted, set_quiet
from subsetprivacy.cli.signals import end
from subsetprivacy.cli.survey import survey
from subsetprivacy.cli.test import test
from subsetprivacy.errors import MissingDependencyError, NotPrivateWarning, SubsetPrivacyError, SubsetPrivacyWarning


class Commands(click.Group):
    """A command group that prints errors and warnings of the package in one line and sets exit codes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store which command is called, then parse the arguments as any group does."""
        remember_call(ctx, args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and print errors of the package without a traceback."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a file or console that cannot encode "✓" gets a question mark
                stream.reconfigure(errors="replace")
        try:
            with warnings.catch_warnings(), _warnings_in_lines():
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader of the output has stopped; click ends quietly
            raise
        except KeyboardInterrupt as stop:
            end(stop, "Stopped.")
        except click.ClickException as error:
            if not wants_json():
                raise
            echo_usage_error(error)
            sys.exit(error.exit_code)
        except (SubsetPrivacyError, MissingDependencyError, OSError) as error:
            echo_error(error)
            sys.exit(1)


@contextmanager
def _warnings_in_lines() -> Iterator[None]:
    """Print each warning of the package once, without file and line; others as Python does.

    Many warnings are also notes below the table of a result. On a terminal they wait, and are printed only if no note
    says the same. Warnings about privacy are printed at once.
    """
    shown: set[str] = set()
    waiting: list[Warning] = []
    as_before = warnings.showwarning

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, SubsetPrivacyWarning) and not wants_json():
            as_before(message, category, *place, **more)
        elif (text := str(message)) not in shown:
            shown.add(text)
            waits = sys.stdout.isatty() and sys.stderr.isatty() and not issubclass(category, NotPrivateWarning)
            waiting.append(message) if waits else echo_warning(message)

    warnings.showwarning = show
    warnings.simplefilter("always", SubsetPrivacyWarning)
    try:
        yield
    finally:
        for warning in waiting:
            if not is_noted(warning):
                echo_warning(warning)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="subsetprivacy")
def main() -> None:
    """Collect and analyze categorical data under subset privacy.

    Instead of a person's value, you collect or publish a random subset that contains it.

    \b
    Try:
      subsetprivacy demo
      subsetprivacy example adult -o adult.csv
      subsetprivacy design uniform --categories \\
        White,Black,Asian-Pac-Islander,Amer-Indian-Eskimo,Other -o race.design.json
      subsetprivacy privatize adult.csv --column race --design race.design.json \\
        -o private.parquet
      subsetprivacy estimate private.parquet --column race
      subsetprivacy audit private.parquet --column race
      subsetprivacy report private.parquet -o report.html

    \b
    Exit codes:
      0    done
      1    an error in data or files: one line, "Error: …", on standard error;
           with --json, an object with kind, message and advice
      2    wrong usage
      130  stopped with Ctrl-C
      143  stopped with SIGTERM (privatize, reproduce)
    """


COMMANDS = (
    demo,
    example,
    design,
    plan,
    power,
    key,
    privatize,
    count,
    estimate,
    compare,
    test,
    fit_test,
    loglinear,
    means,
    rake,
    regress,
    evaluate,
    audit,
    check,
    report,
    survey,
    serve,
    db,
    reproduce,
    completion,
)
for command in COMMANDS:
    main.add_command(command)


def _add_quiet(command: click.Command) -> None:
    """Give every command --quiet."""
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _add_quiet(inner)
    if not isinstance(command, click.Group):
        command.params.append(
            click.Option(
                ["-q", "--quiet"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=set_quiet,
                help="Print results, warnings and errors only.",
            )
        )


_add_quiet(main)
