"""`subsetprivacy privatize`: publish random subsets of the values of a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from subsetprivacy._choices import Form, IfExists, Missing
from subsetprivacy.cli import options
from subsetprivacy.cli.categories import INFER, infer_labels
from subsetprivacy.cli.documents import read_document
from subsetprivacy.cli.files import FORMATS, STANDARD_OUTPUT, TABLES, ending_of, is_standard_input, name_of, target
from subsetprivacy.cli.outcome import describe_stop, give_up, marks, print_outcome, warn
from subsetprivacy.cli.progress import ProgressLine
from subsetprivacy.cli.shell_wording import sets
from subsetprivacy.cli.show import echo_json, echo_table, echo_warning
from subsetprivacy.cli.signals import end, terminable

if TYPE_CHECKING:
    from subsetprivacy.design import Design
    from subsetprivacy.frames.input_files import Input
    from subsetprivacy.frames.plan import PrivatizePlan
    from subsetprivacy.frames.release import Release

MOST_MASKED = 48  # categories of a uniform design


@click.command(short_help="Replace values with random subsets that contain them.")
@options.table
@options.column_option(
    "A column to publish and its design document. May be repeated. If the design joins several variables, it reads "
    "the columns with their names and writes one column, NAME. Omit this option for a product design, which names its "
    "columns."
)
@options.design
@INFER
@options.data_output(f"The file to write: {', '.join(TABLES)}. - is standard output.")
@options.output_format(FORMATS)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Publish this column unchanged. NOT private. Numbers of a CSV file become text in Parquet and Arrow files.",
)
@click.option(
    "--keep-order", is_flag=True, help="Do not shuffle the rows. Anyone who knows the order can identify people."
)
@options.missing
@click.option("--strip", is_flag=True, help="Remove spaces before and after each value.")
@click.option(
    "--na",
    multiple=True,
    metavar="MARK",
    help="Text that marks a missing answer, e.g. ?. Missing answers become the full set.",
)
@click.option(
    "--key-file",
    type=options.document,
    help="A key made by `subsetprivacy key`, so that each person gets the same subset every time.",
)
@click.option("--id", "identity", metavar="COLUMN", help="The column that identifies people, for --key-file.")
@click.option("--codes", "form", flag_value="codes", help="In a CSV file, write codes instead of labels.")
@click.option("--labels", "form", flag_value="labels", help="In a CSV file, write labels joined by | (default).")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="The number of processes. [default: all cores for large files, otherwise 1]",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Make the draws repeatable, for experiments. NOT private: anyone with the seed can repeat the draws "
    "and often recover values.",
)
@click.option(
    "--if-exists",
    type=click.Choice(get_args(IfExists)),
    help="What to do if the output exists: stop with an error (default), accept it if the same job wrote it, or "
    "overwrite it.",
)
@click.option("--force", is_flag=True, help="The same as --if-exists overwrite.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check everything that can be checked before values are read, and show the plan. Draw and write nothing.",
)
@options.as_json
@sets(key="--key-file", overwrite="--force", form="the form, --codes or --labels,")
def privatize(
    table: Path,
    columns: tuple[str, ...],
    design: Path | None,
    infer: bool,
    output: Path,
    format: str | None,
    keep: tuple[str, ...],
    keep_order: bool,
    missing: Missing,
    strip: bool,
    na: tuple[str, ...],
    key_file: Path | None,
    identity: str | None,
    form: Form | None,
    jobs: int | None,
    seed: int | None,
    if_exists: IfExists | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Replace the values of TABLE (.csv, .csv.gz, .csv.zst, .parquet, .arrow) with random subsets.

    Every subset contains the person's value. The output contains only the columns you name, and its rows are shuffled.
    Files have their designs inside or next to them. CSV on standard output has none. Tables can be of any size, because
    rows are streamed. If you stop a run, it leaves no partial output, and the same command continues where it stopped.

    --dry-run checks everything that can be checked before values are read, and shows the plan.

    Publish each person's data only once: two subsets together can reveal the value. If you must publish again, use
    --key-file and --id, which give everyone the same subset each time.

    \b
    Examples:
      subsetprivacy privatize adult.csv --column race --design race.design.json \\
        -o private.parquet
      subsetprivacy privatize adult.csv --column race=race.design.json \\
        --column sex_income=sex_income.design.json -o private.csv
      subsetprivacy privatize wave2.csv --column race --design race.design.json \\
        --key-file secret.key --id person -o wave2.parquet
      subsetprivacy privatize adult.data.csv --column workclass=work.design.json \\
        --strip --na '?' -o private.parquet
      zcat adult.csv.gz | subsetprivacy privatize - --column race=race.design.json \\
        -o - --format parquet > private.parquet
    """
    if (key_file is None) != (identity is None):
        raise click.UsageError("--key-file and --id go together: the draw is a function of both")
    if key_file is not None and seed is not None:
        raise click.UsageError("--key-file and --seed exclude each other: both determine what is drawn")
    if force and if_exists not in (None, "overwrite"):
        raise click.UsageError("--force means --if-exists overwrite; give only one of them")
    if dry_run and output == STANDARD_OUTPUT:
        raise click.UsageError("--dry-run shows what would be written to a file; name one with --output")
    options.check_one_result(output, format, as_json)
    options.check_no_overlap(table, output)
    from subsetprivacy.frames.files import format_of
    from subsetprivacy.frames.input_files import open_input
    from subsetprivacy.frames.preparing import prepare

    policy = "overwrite" if force else if_exists or "error"
    cleaning: dict[str, Any] = {"strip": strip, "na": na}
    read = _designs(columns, design, infer=infer)
    key = None if key_file is None else _key(key_file)
    settings = {"missing": missing, "key": key, "id": identity, "keep": keep, **cleaning, "keep_order": keep_order}
    settings |= {"form": form, "if_exists": policy, "seed": seed, "jobs": jobs}
    ending = ending_of(output, TABLES, format) if output == STANDARD_OUTPUT or format else ""
    with target(output, ending) as path, open_input(table) as values:
        before = marks(path)
        designs: Any = _inferred(values, read, cleaning) if infer and isinstance(read, dict) else read
        plan = prepare(values, designs, path, **settings)  # so that errors come before warnings
        if output == STANDARD_OUTPUT:
            _check_travels(designs, ending)
        if dry_run:
            _show(plan, table, as_json=as_json)
            return
        _warn(keep_order, seed, is_second_draw=policy == "overwrite" and before[0] is not None and key is None)
        try:
            with terminable(), ProgressLine("rows") as progress:
                release = plan.run(progress=progress)
            warn(release, keep, is_from_csv=format_of(table) == "csv")
            print_outcome(release, output, keep, written=marks(path) != before, as_json=as_json)
        except KeyboardInterrupt as stop:
            if output == STANDARD_OUTPUT or is_standard_input(table):
                give_up(path)
            end(stop, describe_stop(path, before))


def _show(plan: "PrivatizePlan[Release]", table: Path, *, as_json: bool) -> None:
    """Print the plan."""
    from attrs import evolve

    named = evolve(plan, table=name_of(table))
    echo_json(named.to_dict()) if as_json else echo_table(named.summary())


def _check_travels(designs: Any, ending: str) -> None:
    """Raise if a format cannot store a covered design, whose numbers only its file has."""
    listed = designs.values() if isinstance(designs, dict) else [designs]
    if ending.startswith(".csv") and any(design.covered is not None for design in listed):
        raise click.UsageError(
            "a covered design needs its numbers of dummy rows, which CSV cannot store; use --format parquet or arrow"
        )


def _key(path: Path) -> bytes:
    from subsetprivacy.mechanism.keyed import read_key

    return read_key(path)


def _designs(columns: tuple[str, ...], design: Path | None, *, infer: bool) -> "Design | dict[str, Design | None]":
    """Return the design of each column, or None to infer it; or the product that names its columns."""
    if not columns:
        if design is None:
            raise click.UsageError("name a --column and its design: --column NAME=DESIGN")
        return _named_by_itself(design)
    designs: dict[str, Design | None] = {}
    for name, made in options.read_columns(columns, design).items():
        if made is None and not infer:
            raise click.UsageError(_without_design(name))
        designs[name] = None if made is None else _planned(made)
    return designs


def _without_design(name: str) -> str:
    """Return the message for a column without a design; a word after an equals sign was meant as its document."""
    column, equals, word = name.rpartition("=")
    if equals:
        return f"--column {column}: there is no design document {word!r}; make one with subsetprivacy design"
    return f"column {name} needs a design: --column {name}=DESIGN, or --design for a single column"


def _inferred(table: "Input", designs: "dict[str, Design | None]", cleaning: dict[str, Any]) -> "dict[str, Design]":
    """Return the designs, with the usual one for columns whose categories are inferred."""
    columns = [name for name, made in designs.items() if made is None]
    labels = infer_labels(table, columns, **cleaning) if columns else {}
    return {name: _fitting(labels[name]) if made is None else made for name, made in designs.items()}


def _named_by_itself(path: Path) -> "Design | dict[str, Design | None]":
    """Return a product, or the designs of another table, which name their columns."""
    document = read_document(path)
    if isinstance(document, dict):
        return {name: _planned(design) for name, design in document.items()}
    if document.product is None:
        raise click.UsageError("name the --column that the design is for; only a product names its columns")
    return document


def _planned(design: "Design") -> "Design":
    """Return a covered design as planned, without the numbers of an earlier table."""
    return design.planned()


def _fitting(labels: list[Any]) -> "Design":
    """Return the usual design for this number of categories."""
    from subsetprivacy import design as designs

    if len(labels) < 4:
        return designs.small(labels)
    return designs.uniform(labels) if len(labels) <= MOST_MASKED else designs.hadamard(labels)


def _warn(keep_order: bool, seed: int | None, *, is_second_draw: bool) -> None:
    """Warn about what is not protected; the library warns about kept columns."""
    from subsetprivacy.errors import NotPrivateWarning
    from subsetprivacy.messages.for_files import SAME_SUBSETS

    warnings = []
    if is_second_draw:
        twice = (
            "--force draws the same people a second time: anyone who also has the first output can narrow down the "
            "values."
        )
        warnings.append(NotPrivateWarning(twice, SAME_SUBSETS))
    if keep_order:
        who = "the rows keep their order: anyone who has a list of the people in this order can identify them."
        warnings.append(NotPrivateWarning(who))
    if seed is not None:
        undone = (
            "draws with --seed are not private: anyone who knows the seed can repeat them and often recover values. "
            "For experiments only."
        )
        warnings.append(NotPrivateWarning(undone))
    for warning in warnings:
        echo_warning(warning)
