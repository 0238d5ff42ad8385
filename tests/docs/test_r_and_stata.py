"""The page for readers who come from R and Stata: its R code gives Python's numbers. Stata cannot be had for tests."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import DOCS, ROOT, blocks, cells

import subsetprivacy as sp

PAGE = DOCS / "how-to" / "r-and-stata.md"
EXPORT = '\nwrite.csv(data.frame(moments, se, w, row.names = categories), "shares.csv")\n'
RSCRIPT = shutil.which("Rscript")
WHERE = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder in which the cells of the page have run, so that it has the files."""
    place = tmp_path_factory.mktemp("page")
    script = Path(__file__).with_name("run_page.py")
    environment = {**os.environ, **WHERE, "PYTHONPATH": str(ROOT / "src")}
    ran = subprocess.run(
        [sys.executable, script, PAGE], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    (place / "counts-from-r.csv").unlink()  # which a hidden cell has written, as R does
    return place


@pytest.fixture
def by_r(folder, need):
    """Return what R prints for the code of the page, which is also to write its shares."""
    need("R", RSCRIPT is not None, "apt-get install r-base-core, or https://www.r-project.org")
    (folder / "page.R").write_text("\n".join(blocks(PAGE, "r")) + EXPORT, encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(
        [RSCRIPT, "--vanilla", "page.R"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_r_prints_what_the_page_shows(by_r):
    assert [by_r] == blocks(PAGE, "text")


def test_r_counts_and_estimates_as_python_does(by_r, folder):
    release = sp.read_release(folder / "race.csv")
    counts, design = release.count("race"), release.designs["race"]
    with (folder / "counts-from-r.csv").open(encoding="utf-8", newline="") as file:
        table = {row["subset"]: int(row["n"]) for row in csv.DictReader(file)}
    assert table == pytest.approx({subset: share * counts.n for subset, share in counts.subset_shares().items()})

    with (folder / "shares.csv").open(encoding="utf-8", newline="") as file:
        shares = list(csv.DictReader(file))
    assert tuple(row[""] for row in shares) == design.categories.labels
    moments, em = sp.estimate(counts, "mom"), sp.estimate(counts, method="em", tol=1e-14)
    assert [float(row["moments"]) for row in shares] == pytest.approx(moments.w, abs=1e-9)
    assert [float(row["se"]) for row in shares] == pytest.approx(moments.se, rel=1e-9)
    assert [float(row["w"]) for row in shares] == pytest.approx(em.w, abs=1e-6)
    assert [float(row["w"]) for row in shares] == pytest.approx(sp.estimate(counts).w, abs=1e-6)


def test_counts_of_r_are_read_back(by_r, folder):
    import pandas as pd

    design = sp.read_release(folder / "race.csv").designs["race"]
    table = pd.read_csv(folder / "counts-from-r.csv")
    counts = sp.count(table, "subset", design=design, weights="n", weights_kind="frequency")
    assert counts.n == table["n"].sum() == 32_561
    assert counts.subset_shares() == sp.read_release(folder / "race.csv").count("race").subset_shares()


def test_the_do_file_names_the_categories_in_their_order_and_is_said_not_to_be_run(folder):
    (code,) = blocks(PAGE, "stata")
    listed = code.split("foreach label in ")[1].split(" {")[0]
    assert listed == " ".join(f'"{label}"' for label in sp.read_release(folder / "race.csv").designs["race"].categories)
    assert "our tests have not run this code" in " ".join(PAGE.read_text(encoding="utf-8").split())
    assert cells(PAGE)
