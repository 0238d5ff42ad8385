"""What can be done after `pip install .`, and with each extra alone: every command's first step."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from attrs import frozen
from bare import installed_with, python
from click.testing import CliRunner

from subsetprivacy import design_from_json
from subsetprivacy.cli.main import main
from subsetprivacy.collect.storage.opening import open_store
from subsetprivacy.frames.metadata import TableMetadata
from subsetprivacy.frames.reading import read_release
from subsetprivacy.frames.writing import write_release
from subsetprivacy.messages.installing import how_to_install

EXTRAS = ((), ("plot",), ("conic",), ("frames",), ("formula",), ("spark",), ("serve",))
NAMES = {extras: extras[0] if extras else "no extra" for extras in EXTRAS}


@frozen
class Step:
    """A command that a newcomer types first.

    Attributes
    ----------
    arguments
        In a folder that holds what `folder` makes.
    needs
        The distributions without which it says what to install; none for most.
    hint
        The extra that its message names.
    says
        Part of what it prints on success.
    tables
        Whether it reads or writes tables, to which the presence of another library can make a difference.
    """

    arguments: str
    needs: tuple[str, ...] = ()
    hint: str = ""
    says: str = ""
    tables: bool = False

    def tried_with(self, extras: tuple[str, ...]) -> bool:
        """Tell whether an extra can make a difference to it. Without any extra everything is tried."""
        return not extras or self.tables or bool(self.needs)


SERVICE = {"needs": ("sqlalchemy", "alembic"), "hint": "serve"}
STEPS = {
    "audit": [
        Step("audit urn.design.json --w 0.01,0.1,0.2,0.69", says="leak"),
        Step("audit private.csv"),
    ],
    "check": [Step("check private.csv --permutations 19")],
    "compare": [Step("compare private.csv --by drawn")],
    "completion": [Step("completion bash", says="_SUBSETPRIVACY_COMPLETE")],
    "count": [Step("count private.csv"), Step("count private.parquet")],
    "db backup": [Step("db backup copy.db --db surveys.db", **SERVICE)],
    "db check": [Step("db check --db surveys.db", **SERVICE)],
    "db upgrade": [Step("db upgrade --db surveys.db", **SERVICE)],
    "demo": [
        Step("demo --seed 1 -o demo", says="race.design.json"),
        Step("demo --seed 1", says="Estimate the distribution"),
    ],
    "design check": [Step("design check urn.design.json", says="valid, unaltered")],
    "design compare": [Step("design compare urn.design.json urn.design.json", says="2 designs")],
    "design covered": [Step("design covered urn.design.json --floor 0.1 -o covered.json", says="Wrote covered.json")],
    "design fixed-size": [
        Step("design fixed-size never once often --size 2 -o fixed-size.json", says="Wrote fixed-size.json")
    ],
    "design hadamard": [Step("design hadamard --file towns.txt -o hadamard.json", says="Wrote hadamard.json")],
    "design join": [Step("design join sex=f,m income=low,high -o join.json", says="Wrote join.json")],
    "design partition": [
        Step("design partition a b c d e f --groups 3 -o partition.json", says="Wrote partition.json")
    ],
    "design product": [
        Step("design product a=urn.design.json b=urn.design.json -o product.json", says="Wrote product.json")
    ],
    "design schema": [Step("design schema -o schema.json", says="Wrote schema.json")],
    "design show": [Step("design show urn.design.json", says="uniform")],
    "design small": [Step("design small never once often -o small.json", says="Wrote small.json")],
    "design uniform": [
        Step("design uniform --categories black,red,green,blue -o uniform.json", says="Wrote uniform.json"),
        Step("design uniform --from urn.csv --column color --infer-categories"),
    ],
    "design warner": [Step("design warner no yes -o warner.json", says="Wrote warner.json")],
    "estimate": [Step("estimate private.csv", tables=True)],
    "evaluate": [Step("evaluate private.csv --proba private.proba.csv")],
    "example adult": [Step("example adult -o adult.csv", says="Wrote adult.csv")],
    "example urn": [Step("example urn --people 20 -o urn2.csv", says="Wrote urn2.csv")],
    "fit-test": [Step("fit-test private.csv --reference 0.25,0.25,0.25,0.25 --null chi-square")],
    "key": [Step("key -o secret.key", says="Wrote secret.key")],
    "loglinear": [Step("loglinear private.csv independence")],
    "means": [Step("means private.csv --of age")],
    "plan": [Step("plan black red green blue --margin 0.02", says="uniform")],
    "power means": [
        Step(
            "power means urn.design.json --w .4,.3,.2,.1 --group red --group blue --difference 1 --target .8",
            says="asked directly",
        )
    ],
    "power predictor": [
        Step(
            "power predictor urn.design.json --w .4,.3,.2,.1 --category red --difference 1 --target .8",
            says="asked directly",
        )
    ],
    "power response": [
        Step(
            "power response urn.design.json --w .4,.3,.2,.1 --category red --odds-ratio 2 --target .8",
            says="asked directly",
        )
    ],
    "privatize": [Step("privatize urn.csv --column color=urn.design.json -o out.csv", tables=True)],
    "rake": [Step("rake private.csv private.margins.json")],
    "regress": [Step("regress private.csv color~drawn", needs=("formulaic",), hint="formula")],
    "report": [Step("report private.csv -o report.html --permutations 19")],
    "reproduce": [
        Step("reproduce", says="toy_example"),
        Step("reproduce toy_example --quick --jobs 1", needs=("matplotlib",), hint="plot"),
    ],
    "serve": [Step("serve --host 203.0.113.1 --db new.db", needs=("fastapi",), hint="serve")],
    "survey check": [Step("survey check work.toml", says="is a valid survey")],
    "survey convert": [
        Step("survey convert work.toml -o work.json", says="Wrote work.json"),
        Step("survey convert work.toml -o work.yaml", needs=("pyyaml",), hint="serve"),
    ],
    "survey example": [Step("survey example -o new.toml", says="Wrote new.toml")],
    "survey schema": [Step("survey schema -o survey.schema.json", says="Wrote survey.schema.json")],
    "test": [Step("test private.csv color --by drawn --permutations 19")],
}
FAILS_ANYWAY = {"serve"}  # 203.0.113.1 is no address of any machine: with the extra it gets as far as to listen


def commands(group=main, path=()):
    """Return every command of the tree by its full name."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_has_a_first_step():
    assert set(STEPS) == set(commands())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with the files that the steps read; made with everything installed."""
    place = tmp_path_factory.mktemp("first steps")
    (place / "towns.txt").write_text("".join(f"town {k}\n" for k in range(60)), encoding="utf-8")
    (place / "urn.csv").write_text("color\n" + "red\nblue\ngreen\nblack\n" * 25, encoding="utf-8")
    design = str(place / "urn.design.json")
    for line in (
        ["design", "uniform", "black", "red", "green", "blue", "-o", design],
        ["survey", "example", "-o", str(place / "work.toml")],
    ):
        assert CliRunner().invoke(main, line).exit_code == 0
    with (place / "private.csv").open("w", encoding="utf-8") as file:
        rows = ("red|blue,first,20", "black|green,first,30", "red|blue,second,40", "blue|green,second,50")
        file.write("color,drawn,age\n" + "".join(f"{row}\n" for row in rows) * 30)
    (place / "private.margins.json").write_text('{"drawn": {"first": 0.4, "second": 0.6}}', encoding="utf-8")
    (place / "private.proba.csv").write_text("black,red,green,blue\n" + "0.1,0.2,0.3,0.4\n" * 120, encoding="utf-8")
    made = design_from_json(Path(design).read_bytes())
    (place / "private.csv.design.json").write_text(
        TableMetadata({"color": made}, {"color": "labels"}).to_json(), encoding="utf-8"
    )
    write_release(read_release(place / "private.csv").to_frame(), place / "private.parquet", {"color": made})
    open_store(f"sqlite:///{place / 'surveys.db'}").dispose()
    return place


RUNNER = """
import json, sys, traceback, warnings
from click.testing import CliRunner
from subsetprivacy.cli.main import main
told = []
for line in json.loads(sys.stdin.read()):
    result = CliRunner().invoke(main, line.split())
    error = result.exception
    trace = "" if error is None or isinstance(error, SystemExit) else "".join(traceback.format_exception(error))
    told.append([result.exit_code, result.stdout, result.stderr + trace])
print(json.dumps(told))
"""


def outcomes(extras, folder, lines):
    """Run command lines one after the other in one process that has these extras alone."""
    ran = python("-c", RUNNER, extras=extras, cwd=folder, stdin=json.dumps(lines))
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def cleaned(folder):
    """Give every environment the same folder: remove what an earlier one wrote."""
    kept = ("towns.txt", "urn.csv", "urn.design.json", "work.toml", "private.", "surveys.db")
    for each in folder.iterdir():
        if not each.name.startswith(kept):
            shutil.rmtree(each) if each.is_dir() else each.unlink()


# Of those that only bring another reader of tables, one is quick.
ALIKE = (("conic",), ("spark",))


@pytest.mark.parametrize(
    "extras", [pytest.param(each, marks=[pytest.mark.slow] * (each in ALIKE), id=NAMES[each]) for each in EXTRAS]
)
def test_first_steps(extras, folder):
    cleaned(folder)
    steps = [(name, step) for name, listed in STEPS.items() for step in listed if step.tried_with(extras)]
    present = installed_with(*extras)
    for (name, step), (code, stdout, stderr) in zip(
        steps, outcomes(extras, folder, [step.arguments for _, step in steps]), strict=True
    ):
        seen = f"{step.arguments}\n{stdout}\n{stderr}"
        assert "Traceback" not in seen, seen
        if set(step.needs) <= present:
            assert code == (1 if name in FAILS_ANYWAY else 0), seen
            assert step.says in stdout, seen
            without_pictures = name == "demo" and "matplotlib" not in present
            assert (how_to_install("plot") in stderr) == without_pictures, seen
        else:
            assert code == 1, seen
            assert stdout == "", seen
            assert how_to_install(step.hint) in stderr, seen
            assert stderr.count("\n") == 1, seen  # one line, no warnings before it


def test_help_of_everything_needs_no_extra(folder):
    lines = [f"{name} --help" for name in commands()]
    for line, (code, stdout, stderr) in zip(lines, outcomes((), folder, lines), strict=True):
        assert (code, stderr) == (0, ""), line
        assert stdout.startswith("Usage: "), line


def test_the_hidden_modules_are_hidden():
    ran = python("-c", "import numpy, scipy, attrs, click, narwhals, pyarrow; import pandas")
    assert "No module named 'pandas'" in ran.stderr
    assert "pandas" in installed_with("frames") - installed_with()


@pytest.mark.slow
def test_pip_installs_what_the_first_steps_need(tmp_path):
    """The same in a real environment: `pip install .` from this folder, nothing hidden, and the README's commands."""
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    there = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([there / "python", "-m", "pip", "install", "--quiet", root], check=True, cwd=tmp_path)
    section = (root / "README.md").read_text("utf-8").partition("## In a terminal")[2].partition("\n## ")[0]
    lines = re.findall(r"^subsetprivacy (.*?)(?: +#.*)?$", section, re.MULTILINE)
    assert len(lines) == 5
    to_csv = "privatize adult.csv --column race=race.json -o private.csv"
    for line in (*lines, to_csv, "estimate private.csv", "survey example -o work.toml", "survey check work.toml"):
        ran = subprocess.run(
            [there / "subsetprivacy", *line.split()], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "adult.csv").read_text(encoding="utf-8").startswith("race,sex,income\n")
    assert (tmp_path / "report.html").stat().st_size > 10_000
