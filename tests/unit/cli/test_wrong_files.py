"""What is wrong with a table or an option is said in a line, without what anybody's cell holds; no file is left."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp

SECRET = "zebra"  # a value that no message may show
DESIGN = sp.uniform(["ash", "birch", "cedar", "elm"])
OTHER = sp.uniform(["ash", "birch", "cedar", "oak"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table of values, a release, and designs, and the one in which commands are called."""
    monkeypatch.chdir(tmp_path)
    DESIGN.save(tmp_path / "tree.design.json")
    OTHER.save(tmp_path / "other.design.json")
    trees = ["ash", "elm", "birch", "cedar", "elm"] * 20
    (tmp_path / "people.csv").write_text("id,tree,area\n" + "".join(f"{k},{tree},a\n" for k, tree in enumerate(trees)))
    codes = sp.privatize(trees, DESIGN, seed=1).codes
    document = {"format": "subset privacy table", "version": 1}
    document["columns"] = {"tree": {"form": "codes", "design": DESIGN.document()}}
    schema = pa.schema([("tree", pa.int64()), ("area", pa.string())], {"subset_privacy": json.dumps(document)})
    pq.write_table(pa.table([codes, ["a", "b"] * 50], schema=schema), tmp_path / "private.parquet")
    return tmp_path


@pytest.fixture
def unchanged(folder):
    """Check that a test leaves the folder as it was."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    yield
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after == before


def text_of(result):
    return " ".join((result.stdout + result.stderr).split())


# privatize ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["absent.csv", "--column", "tree=tree.design.json"], 2, "'absent.csv' does not exist"),
        (["people.csv", "--column", "tree=absent.json"], 2, "absent.json does not exist"),
        (["people.csv", "--column", "tree", "--design", "absent.json"], 2, "'absent.json' does not exist"),
        (["people.csv", "--column", "tree"], 2, "column tree needs a design"),
        (["people.csv"], 2, "name a --column"),
        (["people.csv", "--design", "tree.design.json"], 2, "only a product names its columns"),
        (["people.csv", "--column", "shrub=tree.design.json"], 1, "shrub"),
        (
            ["people.csv", "--column", "tree=tree.design.json", "--column", "tree=other.design.json"],
            2,
            "--column names tree twice",
        ),
        (
            ["people.csv", "--column", "tree", "--column", "area", "--design", "tree.design.json"],
            2,
            "--design is for one column",
        ),
        (["people.csv", "--column", "=tree.design.json"], 2, "got no name"),
        (["people.csv", "--column", "tree=tree.design.json", "--keep", "tree"], 1, "got tree twice"),
        (["people.csv", "--column", "tree=tree.design.json", "--keep", "nowhere"], 1, "nowhere"),
        (["people.csv", "--column", "tree=tree.design.json", "--id", "id"], 2, "--key-file and --id go together"),
        (["people.csv", "--column", "tree=people.csv"], 1, "must be JSON text"),
        (["people.csv", "--column", "tree=other.design.json"], 1, "40 values that are not, first in line 3"),
        (["people.csv", "--column", "tree=tree.design.json", "--labels"], 1, "labels are for CSV files"),
        (["people.csv", "--column", "tree=tree.design.json", "--jobs", "0"], 2, "'--jobs'"),
        (["people.csv", "--column", "tree=tree.design.json", "--missing", "drop"], 2, "'drop' is not one of"),
        (["other.design.json", "--column", "tree=tree.design.json"], 1, "must end in one of"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_privatising_wrongly(arguments, code, message, run, folder):
    result = run("privatize", *arguments, "-o", "out.parquet")
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert message in text_of(result)


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("private.parquet", 1, "--force"),
        ("people.csv", 2, "--output must not be TABLE"),
        ("nowhere/out.parquet", 1, "nowhere"),
        ("out.xlsx", 1, "must end in one of"),
    ],
)
def test_outputs_that_cannot_be(output, code, message, run, folder):
    result = run("privatize", "people.csv", "--column", "tree=tree.design.json", "-o", output)
    assert result.exit_code == code, result.output
    assert message in text_of(result)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"id,tree\n1,ash\n2,{SECRET}\n3,elm\n4,{SECRET}\n", "got 2 values that are not, first in line 3"),
        ("id,tree\n1,ash\n2,\n3,elm\n", "got 1 missing, first in line 3. Hint: --missing full"),
        (f'id,tree\n1,ash\n2,"{SECRET}\n3,elm\n', ""),
        (f"id,tree\n1,ash\n2,{SECRET},elm\n", ""),
        ("", ""),
        ("id,tree,tree\n1,ash,elm\n", "tree"),
    ],
    ids=["unknown", "missing", "open quote", "a cell too many", "nothing", "a name twice"],
)
def test_values_that_cannot_be(content, message, refused, folder):
    (folder / "wrong.csv").write_text(content)
    line = refused("privatize", "wrong.csv", "--column", "tree=tree.design.json", "-o", "out.parquet")
    assert "wrong.csv" in line
    assert message in line
    assert SECRET not in line
    assert not [path.name for path in folder.iterdir() if "out" in path.name]


def test_a_missing_value_may_be_the_full_set(fine, folder):
    (folder / "gaps.csv").write_text('tree\nash\n""\nelm\n')
    fine("privatize", "gaps.csv", "--column", "tree=tree.design.json", "--missing", "full", "-o", "out.parquet")
    assert 15 in pq.read_table("out.parquet")["tree"].to_pylist()


def test_a_key_that_is_none(refused, folder):
    (folder / "bad.key").write_text("0123abcd")
    line = refused(
        "privatize", "people.csv", "--column", "tree=tree.design.json", "--key-file", "bad.key", "--id", "id", "-o",
        "out.parquet",
    )  # fmt: skip
    assert "32 to 128 hexadecimal digits" in line
    assert "0123abcd" not in line
    assert not (folder / "out.parquet").exists()


# Reading ------------------------------------------------------------------------------------------

READERS = [["count"], ["estimate"], ["audit"], ["check"], ["report", "-o", "page.html"]]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["absent.parquet"], 2, "'absent.parquet' does not exist"),
        (["private.parquet", "--column", "shrub"], 1, "shrub"),
        (["private.parquet", "--column", "area"], 1, "area"),
        (["private.parquet", "--column", "tree=other.design.json"], 1, "must agree; got fingerprint"),
        (["private.parquet", "--design", "other.design.json"], 1, "must agree; got fingerprint"),
        (["private.parquet", "--column", "tree", "--column", "tree"], 2, "--column names tree twice"),
        (["people.csv"], 1, "must come with the designs of its columns"),
        (["people.csv", "--column", "tree"], 1, "must come with the designs of its columns"),
        (["people.csv", "--column", "shrub=tree.design.json"], 1, "shrub"),
        (["private.parquet", "--form", "words"], 2, "'words' is not one of"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_reading_wrongly(command, arguments, code, message, run, folder):
    result = run(command[0], *arguments, *command[1:])
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert message in text_of(result)
    assert code == 2 or len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["estimate", "private.parquet", "--method", "guess"], 2, "'guess' is not one of"),
        (["estimate", "private.parquet", "--level", "95"], 1, "--level must be between 0 and 1"),
        (["estimate", "private.parquet", "--by", "nowhere"], 1, "nowhere"),
        (["estimate", "private.parquet", "--by", "tree"], 2, "--by must name columns other"),
        (["count", "private.parquet", "--by", "area", "--by", "area"], 2, "each once"),
        (["estimate", "private.parquet", "--weights", "area"], 2, "--weights and --weights-kind go together"),
        (["estimate", "private.parquet", "--weights", "area", "--weights-kind", "sampling"], 1, "area"),
        (["estimate", "private.parquet", "-o", "nowhere/est.csv"], 1, "nowhere"),
        (["estimate", "private.parquet", "-o", "nowhere/est.png"], 1, "nowhere"),
        (["estimate", "private.parquet", "-o", "private.parquet"], 2, "--output must not be TABLE"),
        (["count", "private.parquet", "-o", "private.parquet"], 2, "--output must not be TABLE"),
        (["count", "private.parquet", "-o", "nowhere/counts.csv"], 1, "nowhere"),
        (["report", "private.parquet", "-o", "private.parquet"], 2, "--output must not be TABLE"),
        (["report", "private.parquet", "-o", "nowhere/page.html"], 1, "nowhere"),
        (["test", "private.parquet"], 2, "Missing argument"),
        (["test", "private.parquet", "tree", "tree"], 2, "got tree twice"),
        (["test", "private.parquet", "tree", "shrub"], 1, "shrub"),
        (["test", "private.parquet", "a", "b", "c"], 2, "one or two columns"),
        (["test", "private.parquet", "tree", "--given", "tree"], 2, "--given must be a column other"),
        (["test", "private.parquet", "tree", "--permutations", "-1"], 2, "'--permutations'"),
        (["audit", "private.parquet", "--w", "0.5,0.5"], 1, "one entry for each of the 4 categories"),
        (["audit", "private.parquet", "--w", "a"], 2, "--w"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_asking_wrongly(arguments, code, message, run, folder):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert message in text_of(result)
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["count", "estimate", "audit"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"tree\nash|elm\n{SECRET}|elm\nash|elm\n", "1 row"),
        ('tree\nash|elm\n""\n', "Hint: --missing full"),
    ],
    ids=["unknown", "missing"],
)
def test_cells_that_are_no_subsets(command, content, message, refused, folder):
    (folder / "wrong.csv").write_text(content)
    line = refused(command, "wrong.csv", "--column", "tree=tree.design.json", "--form", "labels")
    assert "wrong.csv" in line
    assert "line 3" in line
    assert message in line
    assert SECRET not in line


@pytest.mark.parametrize("command", ["count", "estimate", "check"])
def test_values_that_were_never_privatized(command, refused, folder):
    line = refused(command, folder / "people.csv", "--column", f"tree={folder / 'tree.design.json'}")
    assert "column tree must hold subsets that the uniform design can produce; got others" in line
    assert line.endswith("Hint: these are single values; subsetprivacy privatize makes subsets of them.")


@pytest.mark.parametrize("typed", ["private.parquet", "./private.parquet", "../{}/private.parquet"])
def test_messages_name_a_table_as_it_was_typed(typed, refused, folder):
    path = str(Path(typed.format(folder.name)))
    line = refused("estimate", path, "--column", "shrub")
    assert line.startswith(f"Error: {path} must have a column of subsets named 'shrub'; it has tree. Hint: ")
    line = refused("estimate", path, "--by", "shrub")
    assert f"must be in the file '{path}'; got no column shrub" in line
    assert str(folder) in refused("estimate", folder / "private.parquet", "--column", "shrub")


def test_a_truncated_file(refused, folder):
    whole = (folder / "private.parquet").read_bytes()
    (folder / "half.parquet").write_bytes(whole[: len(whole) // 2])
    assert "half.parquet" in refused("estimate", "half.parquet")
    assert "half.parquet" in refused("privatize", "half.parquet", "--column", "tree=tree.design.json", "-o", "o.csv")
    assert not (folder / "o.csv").exists()


def test_ctrl_c_ends_any_command_with_130(run, monkeypatch):
    def stopped(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("subsetprivacy.planning.plan", stopped)
    result = run("plan", "--n-categories", "5")
    assert result.exit_code == 130
    assert result.stderr == "\nStopped.\n"
