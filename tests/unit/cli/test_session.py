"""The session that the documentation begins with, word for word; and the help of a process."""

import json
import shlex
import subprocess
import sys

SESSION = """
subsetprivacy example adult -o adult.csv
subsetprivacy design uniform --categories White,Black,Asian-Pac-Islander,Amer-Indian-Eskimo,Other -o race.design.json
subsetprivacy design join sex=Female,Male income=low,high -o sex_income.design.json
subsetprivacy privatize adult.csv --column race --design race.design.json -o private.parquet
subsetprivacy estimate private.parquet --column race --json
subsetprivacy audit private.parquet --column race
subsetprivacy privatize adult.csv --column race=race.design.json --column sex_income=sex_income.design.json -o private.parquet --force
subsetprivacy test private.parquet race sex_income --permutations 999 --json
subsetprivacy report private.parquet -o report.html
"""  # noqa: E501
RACES = ["White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]
TRUTH = {"White": 27816, "Black": 3124, "Asian-Pac-Islander": 1039, "Amer-Indian-Eskimo": 311, "Other": 271}


def test_the_session(fine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = {}
    for line in SESSION.strip().splitlines():
        program, *words = shlex.split(line)
        assert program == "subsetprivacy"
        said[words[0]] = fine(*words)
    facts = json.loads(said["estimate"])
    assert facts["categories"] == RACES
    assert facts["n"] == 32561
    for label, w, error in zip(RACES, facts["estimate"], facts["se"], strict=True):
        assert abs(w - TRUTH[label] / 32561) < 8 * error  # nobody can seed it: five errors are passed now and then
    assert "Privacy audit: uniform design, 5 categories, n = 32,561" in said["audit"]
    found = json.loads(said["test"])
    assert found["permutations"] == 999
    assert 0 < found["pvalue"] <= 1
    assert found["df"] == 12
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert {path.name for path in tmp_path.iterdir()} == {
        "adult.csv",
        "private.parquet",
        "private.parquet.design.json",
        "race.design.json",
        "report.html",
        "sex_income.design.json",
    }


HELP = """
import sys
before = set(sys.modules)
from subsetprivacy.cli.main import main
for name in (None, *main.commands):
    main([*([name] if name else []), "--help"], standalone_mode=False)
added = {name.partition(".")[0] for name in set(sys.modules) - before}
print(*sorted(added - sys.stdlib_module_names), file=sys.stderr)
"""


def test_help_imports_click_and_nothing_heavier():
    """So it comes at once: NumPy alone would take longer than all of it."""
    told = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert told.stdout.count("Usage: ") > 10
    assert set(told.stderr.split()) <= {"click", "colorama", "subsetprivacy"}
