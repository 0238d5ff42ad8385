"""`subsetprivacy survey`: check and convert survey files, or start from an example."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from subsetprivacy.cli.files import STANDARD_OUTPUT, ending_of, name_of
from subsetprivacy.cli.options import FilePath, as_json, force, input_format, output, output_format
from subsetprivacy.cli.shell_wording import in_its_words, wants_json
from subsetprivacy.cli.show import echo_json, echo_line, echo_table, is_quiet, say, write_text

if TYPE_CHECKING:
    from subsetprivacy.collect.survey.definition import SurveyDefinition
    from subsetprivacy.collect.survey.describing import SurveyFacts
    from subsetprivacy.collect.survey.problems import SurveyError, SurveyProblem

FORMATS = ("toml", "yaml", "json")
_SETS_SHOWN = 3
survey_file = FilePath(exists=True, dir_okay=False, path_type=Path, stdin=".toml", by_format=True)


@click.group(short_help="Check and convert survey files.")
def survey() -> None:
    """Check and convert survey files, or start from an example.

    \b
    Examples:
      subsetprivacy survey example -o survey.toml
      subsetprivacy survey check survey.toml
    """


@survey.command(short_help="Check survey files, and show what they will ask.")
@click.argument("files", type=survey_file, nargs=-1, required=True, metavar="FILE...")
@input_format(FORMATS, FORMATS[0])
@as_json
def check(files: tuple[Path, ...], as_json: bool) -> None:
    """Check each survey FILE (.toml, .yaml, .yml, .json).

    Errors go to standard error as file:line: place: what is required, and the exit code is 1. For a valid file the
    command shows what will be asked and what will be stored.

    \b
    Example:
      subsetprivacy survey check survey.toml
    """
    from subsetprivacy.collect.survey.describing import survey_facts
    from subsetprivacy.collect.survey.reading import SurveyError, load_survey

    results: dict[str, Any] = {}
    good = True
    for number, path in enumerate(files):
        try:
            read = load_survey(path)
        except SurveyError as error:
            good = False
            results[name_of(path)] = _problems(error)
            _echo_problems(path, error)
            continue
        facts = survey_facts(read)
        results[name_of(path)] = _as_data(read, facts)
        if not as_json and not is_quiet():
            click.echo("\n" if number else "", nl=False)
            _echo_facts(path, read, facts)
    if as_json:
        echo_json(results)
    sys.exit(0 if good else 1)


def _echo_problems(path: Path, error: "SurveyError") -> None:
    from subsetprivacy.messages.rendering import with_hint

    for problem in error.problems:
        line = "" if problem.line is None else f":{problem.line}"
        text, advice = f"{name_of(path)}{line}: {problem.place}: {problem.message}", _advice(problem)
        if wants_json():
            echo_line(type(error).__name__, text, advice)
        else:
            click.echo(with_hint(text, advice), err=True)


def _problems(error: "SurveyError") -> dict[str, Any]:
    problems = [
        {"line": each.line, "place": each.place, "message": each.message, "advice": _advice(each)}
        for each in error.problems
    ]
    return {"ok": False, "problems": problems}


def _advice(problem: "SurveyProblem") -> str | None:
    """Return the advice on a problem of a survey file."""
    return in_its_words("", problem.advice)[1]


def _as_data(read: "SurveyDefinition", facts: "SurveyFacts") -> dict[str, Any]:
    from attrs import asdict

    settings = {"title": read.title, "study": read.study, "mode": read.mode, "batch": read.batch}
    return {"ok": True, **settings, **asdict(facts), "notices": list(map(str, facts.notices))}


def _echo_facts(path: Path, read: "SurveyDefinition", facts: "SurveyFacts") -> None:
    from subsetprivacy.collect.survey.describing import KIND_WORDS
    from subsetprivacy.design.document import name_of_kind
    from subsetprivacy.tables import Table

    rows = tuple(
        (
            each.id,
            KIND_WORDS[each.kind],
            name_of_kind(each.design),
            f"{each.questions}" if each.questions < 10**6 else f"{each.questions:.1e}",
            f"{each.smallest_set} of {each.options}",
            f"{each.bits:.1f} bits",
        )
        for each in facts.variables
    )
    links = [f"Linked: {', '.join(names)} ({bits:.1f} bits)." for names, bits in facts.groups if len(names) > 1]
    legend = (
        "fingerprint: how well the questions drawn for a person distinguish them from others. Each bit halves the "
        "number of people with the same questions. It does not measure what an answer reveals."
    )
    total = (
        f"{facts.bits:.1f} bits in total if a server stored all of a person's answers together. This server stores "
        "each variable or link separately."
    )
    columns = ("variable", "question", "design", "questions", "left at least", "fingerprint")
    title = (
        f"{name_of(path)} is a valid survey: {read.title}, study {read.study}, {read.mode} mode, batches of "
        f"{read.batch}"
    )
    notices = (f"Notice: {notice}" for notice in facts.notices)
    echo_table(Table(title, columns, rows, (legend, *links, total, *notices, *_revealed(facts)), text_columns=3))


def _revealed(facts: "SurveyFacts") -> list[str]:
    """Return a line per variable with the smallest sets that can be sent, and the price of forbidden ones."""
    from subsetprivacy.collect.survey.revealing_sets import price_words, set_words

    lines = []
    for each in facts.variables:
        if each.revealing is not None:
            shown = each.revealing.sets[:_SETS_SHOWN]
            more = each.revealing.number - len(shown)
            rest = f", and {more:,} more" if more else ""
            sets = "; ".join(f"{set_words(options.options)} ({options.chance:.1%})" for options in shown)
            lines.append(f"{each.id}: an answer may become: {sets}{rest}.")
        if each.price is not None:
            forbidden = "; ".join(set_words(options) for options in each.never_alone)
            lines.append(f"{each.id}: never sent: {forbidden}. It takes {price_words(each.price)}.")
    if lines:
        lines.append(
            "(In brackets: the share of people with one of these answers who send this set. To forbid a set, use "
            "never_alone.)"
        )
    return lines


@survey.command(short_help="Write an example survey to start from.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="The format. [default: from the ending of FILE, or toml]"
)
@output("Write to this file instead of printing.")
@force
def example(form: str | None, output: Path | None, force: bool) -> None:
    """Write an example survey with five variables and comments, as a start for your own.

    \b
    Examples:
      subsetprivacy survey example -o survey.toml
      subsetprivacy survey example --format yaml -o survey.yaml
    """
    from subsetprivacy.collect.survey.bundled_files import example_text

    _write(example_text(_format_for(form, output)), output, force)


@survey.command(short_help="Write a survey file in another format.")
@click.argument("path", type=survey_file, metavar="FILE")
@input_format(FORMATS, FORMATS[0])
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="The new file. - is standard output.",
)
@output_format(FORMATS)
@force
def convert(path: Path, output: Path, format: str | None, force: bool) -> None:
    """Convert the survey FILE to the format of the new file's ending. Comments are lost.

    \b
    Example:
      subsetprivacy survey convert survey.toml -o survey.yaml
    """
    from subsetprivacy.collect.survey.reading import SurveyError, load_survey
    from subsetprivacy.collect.survey.writing import write_survey

    form = _format_for(format, output)
    try:
        read = load_survey(path)
    except SurveyError as error:
        _echo_problems(path, error)
        sys.exit(1)
    _write(write_survey(read, form), output, force)


@survey.command(short_help="Print the JSON Schema of survey files.")
@output("Write to this file instead of printing.")
@force
def schema(output: Path | None, force: bool) -> None:
    """Print the JSON Schema of survey files, for editors and other programming languages.

    \b
    Example:
      subsetprivacy survey schema -o survey.schema.json
    """
    from subsetprivacy.collect.survey.bundled_files import schema_text

    if output is not None:
        ending_of(output, (".json",), bare=True)
    _write(schema_text(), output, force)


def _format_for(form: str | None, output: Path | None) -> str:
    if output is None:
        return form or FORMATS[0]
    endings = tuple(f".{format}" for format in FORMATS)
    ending = ending_of(output.with_suffix(".yaml") if output.suffix.lower() == ".yml" else output, endings, form)
    return ending[1:]


def _write(text: str, output: Path | None, force: bool) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    write_text(text, output, force=force)
    if output != STANDARD_OUTPUT:
        say(f"Wrote {output}.")
