"""`example`, `key` and `completion`: files to start with."""

import csv
import os
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import subsetprivacy as sp
from subsetprivacy.mechanism.keyed import read_key


def rows_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_adult_rows_have_the_published_counts(fine, tmp_path):
    path = tmp_path / "adult.csv"
    assert fine("example", "adult", "-o", path) == f"Wrote {path}.\n"
    rows = rows_of(path)
    assert list(rows[0]) == ["race", "sex", "income"]
    assert len(rows) == 32561
    assert Counter(row["race"] for row in rows)["Asian-Pac-Islander"] == 1039
    assert Counter((row["sex"], row["income"]) for row in rows)[("Female", "high")] == 1179
    assert [row["race"] for row in rows] == sorted(row["race"] for row in rows)


def test_the_urn_is_that_of_the_paper(fine, tmp_path):
    path = tmp_path / "urn.csv"
    fine("example", "urn", "--people", 4000, "--seed", 7, "-o", path)
    colors = Counter(row["color"] for row in rows_of(path))
    assert sum(colors.values()) == 4000
    for color, share in {"black": 0.01, "red": 0.1, "green": 0.2, "blue": 0.69}.items():
        assert abs(colors[color] / 4000 - share) < 4 * (share * (1 - share) / 4000) ** 0.5
    assert path.read_text() == fine("example", "urn", "--people", 4000, "--seed", 7, "-o", "-")
    assert path.read_text() != fine("example", "urn", "--people", 4000, "--seed", 8, "-o", "-")


def test_what_is_there_is_not_replaced(fine, refused, tmp_path):
    path = tmp_path / "urn.csv"
    path.write_text("mine")
    assert "--force replaces it" in refused("example", "urn", "-o", path)
    assert path.read_text() == "mine"
    fine("example", "urn", "--people", 3, "-o", path, "--force")
    assert len(rows_of(path)) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["urn.csv"]


def test_a_folder_that_is_not_there(refused, tmp_path):
    assert "nowhere" in refused("example", "adult", "-o", tmp_path / "nowhere" / "adult.csv")
    assert "nowhere" in refused("key", "-o", tmp_path / "nowhere" / "secret.key")
    assert not list(tmp_path.iterdir())


def test_bad_numbers(misused, tmp_path):
    for wrong in (["--people", 0], ["--people", "many"], ["--seed", -1]):
        assert "Invalid value" in misused("example", "urn", *wrong, "-o", tmp_path / "urn.csv")
    assert "Missing option '-o'" in misused("example", "adult")


# Keys ---------------------------------------------------------------------------------------------


def test_a_key_is_secret_and_fresh(fine, tmp_path):
    one, two = tmp_path / "one.key", tmp_path / "two.key"
    said = fine("key", "-o", one)
    fine("key", "-o", two)
    assert one.read_text().strip() not in said
    assert len(read_key(one)) == 32
    assert read_key(one) != read_key(two)
    if os.name == "posix":
        assert stat.S_IMODE(one.stat().st_mode) == 0o600


def test_a_key_goes_to_a_program_and_not_to_the_screen(fine, misused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = {fine("key", "-o", "-") for _ in range(3)}
    assert len(keys) == 3
    assert all(len(bytes.fromhex(key)) == 32 for key in keys)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    assert "would show the key on the screen" in misused("key", "-o", "-")
    assert not list(tmp_path.iterdir())


def test_a_key_is_never_replaced(refused, tmp_path):
    path = tmp_path / "secret.key"
    path.write_text("mine")
    assert "a replaced key would be lost" in refused("key", "-o", path)
    assert path.read_text() == "mine"


def test_a_key_of_another_length_or_of_python(fine, tmp_path, monkeypatch):
    """The key of the page on Spark, 16 bytes, works as a file; the draws are those of Python with the same bytes."""
    monkeypatch.chdir(tmp_path)
    digits = "3c6e0b8a9c15224a8228b9a98ca1531d"
    Path("secret.key").write_text(digits + "\n")
    Path("secret.key").chmod(0o600)
    design = sp.uniform(["a", "b", "c", "d"])
    design.save("design.json")
    Path("people.csv").write_text("name,letter\nAnn,a\nBob,b\nCid,c\n")
    drawing = ["--key-file", "secret.key", "--id", "name", "--keep-order"]
    fine("privatize", "people.csv", "--column", "letter=design.json", *drawing, "-o", "private.parquet")
    key = bytes.fromhex(digits)
    assert sp.read_key("secret.key") == key
    drawn = sp.privatize(["a", "b", "c"], design, key=key, ids=["Ann", "Bob", "Cid"], variable="letter")
    assert sp.read_release("private.parquet").codes("letter").tolist() == drawn.codes.tolist()


def test_a_key_that_others_may_read_is_warned_of(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if os.name != "posix":
        pytest.skip("absent: permissions of POSIX")
    Path("secret.key").write_text("ab" * 32)
    Path("secret.key").chmod(0o644)
    sp.uniform(["a", "b", "c", "d"]).save("design.json")
    Path("people.csv").write_text("name,letter\nAnn,a\nBob,b\nCid,c\n")
    words = ["--column", "letter=design.json", "--key-file", "secret.key", "--id", "name", "-o", "private.parquet"]
    said = run("privatize", "people.csv", *words).stderr
    assert said.startswith("Warning: other users of this machine may read the key file 'secret.key'.")


# Completion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_every_shell(shell, fine):
    script = fine("completion", shell)
    assert f"_SUBSETPRIVACY_COMPLETE={shell}_complete" in script
    assert "subsetprivacy" in script


def test_bash_takes_the_script_and_completes(fine, need, tmp_path):
    from shutil import which

    need("bash", which("bash") is not None, "install bash")
    script = tmp_path / "complete.bash"
    script.write_text(fine("completion", "bash"))
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    words = {"COMP_WORDS": "subsetprivacy design co", "COMP_CWORD": "2", "_SUBSETPRIVACY_COMPLETE": "bash_complete"}
    told = subprocess.run(
        [sys.executable, "-m", "subsetprivacy"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **words},
    )
    assert set(told.stdout.split()) == {
        "plain,covered",
        "plain,compare",
    }


def test_an_unknown_shell(misused):
    assert "'tcsh' is not one of" in misused("completion", "tcsh")
