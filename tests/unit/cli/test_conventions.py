"""What holds for every command: `-` for standard input and output, endings that say the format, -q, -V and -h."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy import __version__
from subsetprivacy.cli.main import main

COLORS = ["black", "red", "green", "blue"]
DESIGN = sp.uniform(COLORS)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("conventions")
    values = ["red", "blue", "green", "blue", "black"] * 40
    (place / "people.csv").write_text("color,person\n" + "".join(f"{v},{k}\n" for k, v in enumerate(values)))
    DESIGN.save(place / "urn.json")
    sp.privatize_table(place / "people.csv", {"color": DESIGN}, place / "private.parquet", seed=1)
    sp.privatize_table(place / "people.csv", {"color": DESIGN}, place / "same.parquet", seed=2)
    return place


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """Give a folder with people, a design and a release."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def piped():
    """Run a command with something on standard input."""

    def run_command(given, *arguments, code=0):
        result = CliRunner().invoke(main, [str(each) for each in arguments], input=given)
        assert result.exit_code == code, result.output
        return result

    return run_command


def leaves(group=main, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


# Every command ------------------------------------------------------------------------------------


def test_the_version(fine):
    assert fine("-V") == fine("--version") == f"subsetprivacy, version {__version__}\n"


@pytest.mark.parametrize("path", [path for path, _ in leaves()], ids=" ".join)
def test_every_command_can_be_quiet(path, fine):
    assert "-q, --quiet" in fine(*path, "-h")


def test_every_file_that_is_read_may_be_standard_input():
    for path, command in leaves():
        for param in command.params:
            if isinstance(param.type, click.Path) and param.type.exists:
                assert param.type.allow_dash, (path, param.name)


def test_every_file_that_is_written_may_be_standard_output():
    for path, command in leaves():
        for param in command.params:
            if isinstance(param.type, click.Path) and not param.type.exists and param.type.file_okay:
                assert param.type.allow_dash, (path, param.name)


QUIET = [
    "example adult -o adult.csv",
    "design uniform a b c d -o new.json",
    "design check urn.json",
    "design schema -o schema.json",
    "privatize people.csv --column color=urn.json -o new.csv",
    "count private.parquet -o counts.csv",
    "estimate private.parquet -o estimate.csv",
    "compare private.parquet other=same.parquet -o change.csv",
    "report private.parquet -o page.html --permutations 9",
    "survey example -o survey.toml",
    "key -o secret.key",
]


@pytest.mark.parametrize("line", QUIET)
def test_quiet_says_nothing_on_success(line, run, folder):
    result = run(*line.split(), "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_quiet_prints_results_and_errors(run, folder):
    assert "blue" in run("estimate", "private.parquet", "-q").stdout
    result = run("design", "uniform", "a", "b", "-q")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")


# Endings ------------------------------------------------------------------------------------------


def test_examples_are_what_their_names_say(fine, folder):
    for name in ("a.csv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.arrow"):
        fine("example", "urn", "--people", "50", "--seed", "1", "-o", name)
    plain = Path("a.csv").read_bytes()
    assert gzip.decompress(Path("a.csv.gz").read_bytes()) == plain
    assert pa.input_stream("a.csv.zst", compression="zstd").read() == plain
    column = pq.read_table("a.parquet")["color"].to_pylist()
    assert ["color", *column] == plain.decode().split()
    assert pa.ipc.open_file("a.arrow").read_all()["color"].to_pylist() == column


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        ("example adult -o a.xlsx", ".csv, .csv.gz, .csv.zst, .parquet or .arrow"),
        ("report private.parquet -o r.pdf", ".html or .htm"),
        ("estimate private.parquet -o e.xlsx", ".csv, .csv.gz, .csv.zst, .json, .png, .svg or .pdf"),
        ("compare private.parquet same.parquet -o e.xlsx", ".csv, .csv.gz, .csv.zst, .json, .png, .svg or .pdf"),
        ("design uniform a b c d -o d.csv", ".json"),
        ("design schema -o d.toml", ".json"),
        ("survey example -o s.xml", ".toml, .yaml or .json"),
        ("survey schema -o s.toml", ".json"),
    ],
)
def test_an_ending_that_cannot_be_is_refused_with_the_list(line, listed, misused, folder):
    before = set(folder.iterdir())
    assert f"--output must end in {listed}" in " ".join(misused(*line.split()).split())
    assert set(folder.iterdir()) == before


def test_a_format_that_contradicts_the_name(misused, folder):
    assert "does not fit" in misused("example", "adult", "--format", "parquet", "-o", "a.csv")
    assert "does not fit" in misused("survey", "example", "--format", "yaml", "-o", "s.toml")
    assert "--format is for -o -" in misused("count", "private.parquet", "--format", "csv")


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst"])
def test_compressed_tables_all_the_way(ending, fine, folder):
    fine("example", "urn", "--people", "300", "-o", f"urn.{ending}")
    fine("privatize", f"urn.{ending}", "--column", "color=urn.json", "-o", f"out.{ending}")
    assert json.loads(fine("count", f"out.{ending}", "--json"))["n"] > 0
    fine("count", f"out.{ending}", "-o", f"counts.{ending}")
    fine("estimate", f"counts.{ending}", "-o", f"estimate.{ending}")
    assert json.loads(fine("estimate", f"counts.{ending}", "--json"))["n"] > 0


# Standard input and output ------------------------------------------------------------------------


def test_a_table_on_standard_input(piped, fine, folder):
    text = Path("people.csv").read_bytes()
    piped(text, "privatize", "-", "--column", "color=urn.json", "-o", "out.csv", "--seed", "1")
    fine("privatize", "people.csv", "--column", "color=urn.json", "-o", "same.csv", "--seed", "1")
    assert Path("out.csv").read_bytes() == Path("same.csv").read_bytes()
    said = piped(Path("out.csv").read_bytes(), "count", "-", "--column", "color=urn.json", "--json").stdout
    assert json.loads(said) == json.loads(fine("count", "out.csv", "--json"))


def test_other_formats_on_standard_input(piped, fine, folder):
    whole = Path("private.parquet").read_bytes()  # which brings its design
    wanted = json.loads(fine("estimate", "private.parquet", "--json"))
    assert json.loads(piped(whole, "estimate", "-", "--input-format", "parquet", "--json").stdout) == wanted
    packed = gzip.compress(Path("people.csv").read_bytes())
    piped(packed, "privatize", "-", "--input-format", "csv.gz", "--column", "color=urn.json", "-o", "out.arrow")
    assert json.loads(fine("count", "out.arrow", "--json"))["n"] > 0


def test_documents_on_standard_input(piped, folder):
    text = Path("urn.json").read_bytes()
    assert "uniform" in piped(text, "design", "show", "-").stdout
    assert piped(text, "design", "check", "-").stdout.startswith("- is valid, unaltered")
    assert "2 designs" in piped(text, "design", "compare", "-", "urn.json").stdout
    assert "leak" in piped(text, "audit", "-", "--input-format", "json").stdout
    piped(text, "design", "covered", "-", "--floor", "0.1", "-o", "safe.json")
    piped(text, "design", "product", "a=-", "b=urn.json", "-o", "both.json")
    piped(text, "privatize", "people.csv", "--column", "color=-", "-o", "one.csv")
    piped(text, "privatize", "people.csv", "--column", "color", "--design", "-", "-o", "two.csv")
    piped("a\nb\nc\nd\n", "design", "uniform", "--file", "-", "-o", "letters.json")
    key = piped("", "key", "-o", "-").stdout
    command = ["privatize", "people.csv", "--column", "color=urn.json", "--id", "person", "--key-file", "-"]
    piped(key, *command, "-o", "three.csv")


def test_surveys_on_standard_input_and_output(piped, fine, folder):
    text = fine("survey", "example", "-o", "-")
    assert "- is a valid survey" in piped(text, "survey", "check", "-").stdout
    made = piped(text, "survey", "convert", "-", "-o", "-", "--format", "json").stdout
    assert json.loads(made)["title"]
    assert piped(made, "survey", "check", "-", "--input-format", "json", "--quiet").stdout == ""
    assert piped("title = 3", "survey", "check", "-", code=1).stderr.startswith("-:1: ")


def test_standard_input_is_read_once(piped, folder):
    said = piped("x", "privatize", "-", "--column", "color=-", "-o", "o.csv", code=2).stderr
    assert "- can be given only once" in said


def test_messages_call_standard_input_by_its_sign(piped, folder):
    said = piped("color\nsecret\n", "privatize", "-", "--column", "color=urn.json", "-o", "o.csv", code=1).stderr
    assert said.startswith("Error: -: column 'color': every value must be one of")
    assert "secret" not in said
    assert "the file '-' must have a header" in piped("", "count", "-", "--column", "a=urn.json", code=1).stderr


def test_a_release_on_standard_output(piped, fine, folder):
    text = Path("people.csv").read_bytes()
    result = piped(text, "privatize", "-", "--column", "color=urn.json", "-o", "-")
    lines = result.stdout.splitlines()
    assert lines[0] == "color"
    assert len(lines) == 201
    assert result.stderr.startswith("Wrote 200 rows to standard output: column color.\n")
    assert not [path for path in folder.iterdir() if path.name.startswith(("-", "."))]
    made = piped(text, "privatize", "-", "--column", "color=urn.json", "-o", "-", "--format", "parquet")
    n = json.loads(piped(made.stdout_bytes, "count", "-", "--input-format", "parquet", "--json").stdout)
    assert n["n"] + n["n_missing"] == 200


@every_case(
    "design, form", [("urn", ()), ("urn", ("--labels",)), ("urn", ("--codes",)), ("many", ()), ("many", ("--codes",))]
)
def test_a_csv_on_standard_output_is_read_as_its_message_says(piped, fine, folder, design, form):
    Path("options.txt").write_text("\n".join(f"o{k}" for k in range(60)))
    fine("design", "hadamard", "--file", "options.txt", "-o", "many.json")  # of too many options for labels
    values = {"urn": ["red", "blue"], "many": ["o1", "o59"]}[design] * 50
    made = piped("\n".join(["color", *values]), "privatize", "-", "--column", f"color={design}.json", *form, "-o", "-")
    told = made.stderr.splitlines()[1]
    options = (
        told.partition("again with ")[2]
        .rstrip(".")
        .replace(" and ", " ")
        .replace("NAME=DESIGN", f"color={design}.json")
    )
    counted = json.loads(piped(made.stdout, "count", "-", *options.split(), "--json").stdout)
    assert counted["n"] + counted["n_missing"] == 100


def test_a_covered_design_needs_a_format_that_holds_it(piped, fine, folder):
    fine("design", "covered", "urn.json", "--floor", "0.1", "-o", "safe.json")
    command = ["privatize", "people.csv", "--column", "color=safe.json", "-o", "-"]
    assert "--format parquet or arrow" in " ".join(piped("", *command, code=2).stderr.split())
    made = piped("", *command, "--format", "arrow").stdout_bytes
    assert "blue" in piped(made, "estimate", "-", "--input-format", "arrow").stdout


def test_results_on_standard_output(piped, fine, misused, folder):
    assert fine("estimate", "private.parquet", "-o", "-").startswith("category,estimate")
    assert json.loads(fine("estimate", "private.parquet", "-o", "-", "--format", "json"))["n"] > 0
    assert piped("", "estimate", "private.parquet", "-o", "-", "--format", "png").stdout_bytes[1:4] == b"PNG"
    assert fine("count", "private.parquet", "-o", "-").startswith("color,count\n")
    packed = piped("", "count", "private.parquet", "-o", "-", "--format", "csv.gz").stdout_bytes
    assert gzip.decompress(packed).startswith(b"color,count\n")
    assert "both write to standard output" in misused("count", "private.parquet", "-o", "-", "--json")
    assert fine("example", "urn", "--people", "2", "-o", "-").startswith("color\n")


def test_a_real_pipe_leaves_nothing_behind(folder, tmp_path):
    """In processes of their own, with a folder for temporary files that is looked at afterwards."""
    place = tmp_path / "temporary"
    place.mkdir()
    values = ["red", "blue", "green", "blue", "black"] * 800
    Path("people.csv").write_text("color\n" + "\n".join(values) + "\n")
    code = "from subsetprivacy.cli.main import main; main()"
    first = [sys.executable, "-c", code, "privatize", "-", "--column", "color=urn.json", "-o", "-"]
    environment = {"TMPDIR": str(place), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    with Path("people.csv").open("rb") as source:
        made = subprocess.run(first, stdin=source, capture_output=True, env=environment, check=True)
    second = [sys.executable, "-c", code, "count", "-", "--column", "color=urn.json", "--json"]
    told = subprocess.run(second, input=made.stdout, capture_output=True, env=environment, check=True)
    assert json.loads(told.stdout)["n"] > 0
    # No bar where there is no terminal, and no warning.
    assert made.stderr.startswith(b"Wrote 4,000 rows to standard output: column color.\n")
    assert (made.stderr.count(b"\n"), told.stderr) == (2, b"")
    assert list(place.iterdir()) == []


# Categories ---------------------------------------------------------------------------------------


def test_categories_are_labels_everywhere(fine, folder):
    wanted = fine("plan", *COLORS, "--margin", "0.05")
    assert fine("plan", "--categories", ", ".join(COLORS), "--margin", "0.05") == wanted
    Path("colors.txt").write_text("\n".join(COLORS))
    assert fine("plan", "--file", "colors.txt", "--margin", "0.05") == wanted
    assert fine("design", "uniform", "--categories", ", ".join(COLORS)) == fine("design", "uniform", *COLORS)


def test_a_plan_takes_labels_or_a_number_of_categories(fine, misused):
    assert fine("plan", "a", "b", "c", "d", "--margin", "0.05") == fine(
        "plan", "--n-categories", "4", "--margin", "0.05"
    )
    assert "give the categories once" in misused("plan", "a", "b", "c", "d", "--n-categories", "4")


def test_a_category_given_twice_is_named(misused):
    assert "got 'a' 2 times" in " ".join(misused("design", "uniform", "a", "b", "a", "c").split())
