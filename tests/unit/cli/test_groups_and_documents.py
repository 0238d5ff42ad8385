"""Groups that are compared, counts beside their shares, and designs that stand in the document of a table."""

import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import subsetprivacy as sp

TREES = ["ash", "birch", "cedar", "elm"]
DESIGN = sp.uniform(TREES)
OTHER = sp.uniform(["low", "middle", "high", "top"])
SHARES = {2019: [0.6, 0.2, 0.1, 0.1], 2020: [0.1, 0.1, 0.2, 0.6]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release of two columns and a year, in which trees differ between the years and pay does not."""
    folder = tmp_path_factory.mktemp("release")
    drawn = np.random.default_rng(8)
    years = np.repeat([2019, 2020], [400, 700])
    trees = np.concatenate([drawn.choice(TREES, n, p=SHARES[year]) for year, n in ((2019, 400), (2020, 700))])
    pays = drawn.choice(list(OTHER.categories), 1100, p=[0.5, 0.3, 0.1, 0.1])
    codes = {"tree": sp.privatize(trees, DESIGN, seed=1).codes, "pay": sp.privatize(pays, OTHER, seed=2).codes}
    codes["tree"] = np.where(np.arange(1100) % 10 == 3, DESIGN.missing_code, codes["tree"])
    table = pa.table({**codes, "year": years})
    sp.write_release(table, folder / "out.csv", {"tree": DESIGN, "pay": OTHER}, keep=["year"])
    DESIGN.save(folder / "tree.json")
    return folder, codes, years


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    monkeypatch.chdir(made[0])
    return made[0]


# test ---------------------------------------------------------------------------------------------


def test_groups_are_compared(fine, made):
    _, codes, years = made
    facts = json.loads(fine("test", "out.csv", "tree", "--by", "year", "--permutations", 99, "--seed", 1, "--json"))
    groups = {year: sp.SubsetData(codes["tree"][years == year], DESIGN) for year in (2019, 2020)}
    expected = sp.homogeneity_test(groups, permutations=99, seed=1)
    assert facts["statistic"] == pytest.approx(expected.statistic, abs=1e-6)
    assert (facts["df"], facts["pvalue"]) == (3, pytest.approx(0.01))
    assert facts["asymptotic_pvalue"] < 1e-6
    whole = json.loads(fine("test", "out.csv", "tree", "pay", "--permutations", 0, "--json"))
    assert facts.keys() == whole.keys()
    assert "the same distribution in 2 groups" in fine("test", "out.csv", "pay", "--by", "year", "--permutations", 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tree", "pay", "--by", "year"], "--by is for one column A"),
        (["tree", "--by", "year", "--given", "pay"], "--by is for one column A"),
        (["tree", "--by", "pay"], "give pay as B"),
        (["tree", "--by", "tree"], "--by must name columns other"),
        (["tree"], "give a second column: pay; or --by COLUMN"),
        (["tree=tree.json", "tree"], "got tree twice"),
        (["tree", "pay", "--weights-kind", "sampling"], "--weights and --weights-kind go together"),
    ],
)
def test_columns_that_make_no_test(words, message, misused):
    assert message in " ".join(misused("test", "out.csv", *words).split())


def test_a_kept_column_in_the_place_of_a_second(refused):
    line = refused("test", "out.csv", "tree", "year")
    assert "--by year makes groups of it" in line
    assert "--column" not in line
    assert "--by" not in refused("audit", "out.csv", "--column", "year")  # which has no groups
    absent = refused("test", "out.csv", "tree", "yaer")
    assert absent.endswith("Hint: NAME=DESIGN gives a column its design.")


def test_one_group_is_none_to_compare(refused, folder):
    pq.write_table(pa.table({"tree": [3, 5, 12], "year": [1, 1, 1]}), folder / "one.parquet")
    line = refused("test", "one.parquet", "tree=tree.json", "--by", "year")
    assert "Hint: --by COLUMN" in line
    assert line.startswith("Error: the groups of --by must be two or more; got 1.")


# count and estimate -------------------------------------------------------------------------------


def test_shares_are_of_the_rows_that_say_something(fine, made):
    _, codes, years = made

    def check(text, these):
        lines = text.splitlines()
        told = these[these != DESIGN.missing_code]
        assert lines[0] == f"Subsets of tree, n = {len(told)}"
        rows = [line.split() for line in lines[4:] if "|" in line]
        assert sum(int(n) for _, n, _ in rows) == len(told)
        assert sum(float(share) for _, _, share in rows) == pytest.approx(1, abs=0.002)
        for subset, n, share in rows:
            code = DESIGN.categories.code(subset.split("|"))
            assert int(n) == (told == code).sum()
            assert float(share) == pytest.approx(int(n) / len(told), abs=6e-5)
        assert f"say nothing, or lack an answer: {len(these) - len(told)}." in " ".join(text.split())

    check(fine("count", "out.csv", "--column", "tree"), codes["tree"])
    parts = fine("count", "out.csv", "--column", "tree", "--by", "year").split("\n\n")  # a blank line between groups
    assert [part.splitlines()[0] for part in parts] == ["year: 2019", "year: 2020"]
    for part, year in zip(parts, (2019, 2020), strict=True):
        check(part.partition("\n")[2], codes["tree"][years == year])
    whole = fine("estimate", "out.csv", "--column", "tree", "--by", "year")
    assert whole.startswith("Estimated shares by year, maximum likelihood, 2 groups\n")
    assert [line.split()[0] for line in whole.splitlines() if " ash " in line] == ["2019", "2020"]


@pytest.mark.parametrize("name", ["x.parquet", "x", "x.xlsx"])
def test_counts_in_groups_are_plain_csv(name, misused, folder):
    said = misused("count", "out.csv", "--column", "tree", "--by", "year", "-o", name)
    assert "--output must end in .csv, .csv.gz" in " ".join(said.split())
    assert not (folder / name).exists()


def test_all_columns_are_audited_where_none_is_named(fine):
    whole = json.loads(fine("audit", "out.csv", "--json"))
    assert whole == json.loads(fine("audit", "out.csv", "--column", "tree", "--column", "pay", "--json"))
    assert set(whole["variables"]) == {"tree", "pay"}


# Documents ----------------------------------------------------------------------------------------


def test_the_document_of_a_table_is_taken_for_its_designs(fine, refused, folder, tmp_path):
    document = "out.csv.design.json"
    (tmp_path / "people.csv").write_text("tree,pay,height\nash,low,low\nelm,top,top\n")
    people = ["privatize", tmp_path / "people.csv"]
    fine(*people, "--column", "tree", "--design", document, "-o", tmp_path / "one.parquet")
    assert sp.read_release(tmp_path / "one.parquet").designs == {"tree": DESIGN}
    fine(*people, "--column", f"pay={document}", "-o", tmp_path / "two.parquet")
    assert sp.read_release(tmp_path / "two.parquet").designs == {"pay": OTHER}
    fine(*people, "--design", document, "-o", tmp_path / "both.parquet")
    assert sp.read_release(tmp_path / "both.parquet").designs == {"tree": DESIGN, "pay": OTHER}
    line = refused(*people, "--column", f"height={document}", "-o", tmp_path / "three.parquet")
    assert line.startswith(f"Error: {document}: ")
    assert "column 'height'; it has those of tree, pay" in line
    assert "one column; it has those of tree, pay" in refused("design", "show", document)
    pq.write_table(pa.table({"tree": [3, 5], "pay": [5, 6]}), tmp_path / "bare.parquet")
    assert "tree" in fine("count", tmp_path / "bare.parquet", "--design", document, "--column", "tree")
    sp.write_release(sp.privatize(["ash"] * 9, DESIGN, seed=1), tmp_path / "t.csv", {"tree": DESIGN})
    shown = json.loads(fine("design", "show", tmp_path / "t.csv.design.json", "--json"))
    assert shown["fingerprint"] == DESIGN.fingerprint
    assert "valid, unaltered" in fine("design", "check", tmp_path / "t.csv.design.json")


def test_a_covered_table_lends_its_plan(fine, tmp_path):
    plan = sp.covered(DESIGN, 0.1)
    plan.save(tmp_path / "plan.json")
    (tmp_path / "one.csv").write_text("tree\n" + "ash\nelm\nelm\n" * 40)
    (tmp_path / "two.csv").write_text("tree\n" + "ash\nelm\nelm\n" * 70)
    fine("privatize", tmp_path / "one.csv", "--column", f"tree={tmp_path / 'plan.json'}", "-o", tmp_path / "a.parquet")
    document = tmp_path / "a.parquet.design.json"
    fine("privatize", tmp_path / "two.csv", "--column", f"tree={document}", "-o", tmp_path / "b.parquet")
    (made,) = sp.read_release(tmp_path / "b.parquet").designs.values()
    assert made.people == 210
    assert made.planned() == plan


def test_documents_are_named_in_what_is_wrong(refused, folder, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    for words in (
        ["estimate", "out.csv", "--column", f"tree={bad}"],
        ["estimate", "out.csv", "--design", bad],
        ["privatize", "out.csv", "--column", f"tree={bad}", "-o", tmp_path / "x.csv"],
        ["design", "covered", bad, "--floor", "0.1"],
        ["design", "product", f"tree={bad}"],
        ["audit", bad, "--w", "0.5,0.5"],
    ):
        assert refused(*words).startswith(f"Error: {bad}: a design document must be JSON text")
    document = json.loads((folder / "out.csv.design.json").read_text())
    document["columns"]["tree"]["design"]["categories"][0] = "oak"
    bad.write_text(json.dumps(document))
    line = refused("estimate", "out.csv", "--column", f"tree={bad}")
    assert str(bad) in line
    assert "was altered" in line


def test_two_designs_that_disagree_are_told_in_words_of_the_shell(refused, folder, tmp_path):
    sp.uniform(["ash", "birch", "cedar", "oak"]).save(tmp_path / "x.json")
    line = refused("estimate", "out.csv", "--column", f"tree={tmp_path / 'x.json'}")
    assert " in the argument --column and " in line
    assert "`" not in line


# Words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["design", "uniform", "a", "b"], "use subsetprivacy design small, or subsetprivacy design join"),
        (["design", "small", *"abcd"], "Hint: subsetprivacy design uniform."),
        (["design", "fixed-size", "a", "b", "--size", "2"], "try subsetprivacy design warner."),
        (["report", "out.csv", "-o", "taken.html"], "--output must be a new file"),
        (["estimate", "out.csv", "--column", "tree", "--level", "2"], "--level must be"),
        (["plan", "--n-categories", "5", "--people", "0"], "--people must be"),
    ],
)
def test_python_is_not_spoken_here(words, message, refused, folder):
    (folder / "taken.html").touch()
    line = refused(*words)
    assert message in line
    assert "sp." not in line
    assert "`" not in line


def test_a_covered_column_beside_another(refused, folder, tmp_path):
    sp.covered(DESIGN, 0.1).save(tmp_path / "safe.json")
    (tmp_path / "people.csv").write_text("tree,pay\nash,low\n")
    named = ["--column", f"tree={tmp_path / 'safe.json'}", "--column", "pay=out.csv.design.json"]
    line = refused("privatize", tmp_path / "people.csv", *named, "-o", tmp_path / "x.csv")
    assert re.search("subsetprivacy design product, then (subsetprivacy )?design covered", line)


@pytest.mark.parametrize("words", [["design", "uniform", *"abcd"], ["design", "schema"], ["key"]])
def test_places_that_cannot_be_written(words, refused, tmp_path):
    (tmp_path / "file").write_text("x")
    assert refused(*words, "-o", tmp_path / "nowhere" / "x") == (
        f"Error: the file {str(tmp_path / 'nowhere' / 'x')!r} must be in a folder that exists; the folder does not "
        f"exist."
    )
    assert "one part of its path is a file" in refused(*words, "-o", tmp_path / "file" / "x")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="absent: a disk that is always full, /dev/full")
def test_a_disk_that_is_full(refused):
    line = refused("design", "uniform", *"abcd", "-o", "/dev/full")
    assert line == "Error: the file '/dev/full' must fit on its disk; there is no space left."
