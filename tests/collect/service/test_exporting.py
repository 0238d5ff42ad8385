"""Exports: read back by the library, the same bytes every time, and a program that finds the dashboard's numbers."""

import csv
import io
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from zipfile import ZipFile

import numpy as np
import pytest
from analysing import analysed, by_name
from asking import Manners
from attrs import evolve
from released import KEY, drawn, emptied, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.exporting import (
    export_csv,
    export_parquet,
    export_zip,
    file_stem,
    python_snippet,
    saved_name,
)
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.survey.manifest import freeze
from subsetprivacy.collect.survey.tallies import row_codes
from subsetprivacy.design.text import text_of

DESIGNS = {
    "income": sp.uniform(("=1+1", "-2", "@SUM(A1)", "<b>x</b>", 'a|b, "c"')),
    "count": sp.warner(("no", "yes")),
    "three": sp.fixed_size(("Ja;=1+1;x", "\uff1d2", "c; @d"), 2),
    "groups": sp.partition(options(9), 3),
    "large": sp.uniform(options(48)),
    "wide": sp.hadamard(options(12)),
    "also": sp.hadamard(options(40)),
}
LINKS = [["income", "count", "three"], ["wide", "also"]]


@pytest.fixture(scope="module")
def released():
    some = Manners(skips=lambda shown, truth: 0.1)
    truth = {name: values(np.arange(1, d.p + 1), 500, k) for k, (name, d) in enumerate(DESIGNS.items())}
    return drawn(survey_of(DESIGNS, LINKS), truth, manners=dict.fromkeys(("income", "count", "groups"), some))


@pytest.fixture(scope="module")
def found(released):
    return results(released)


@pytest.fixture(scope="module")
def whole(released, found):
    return export_zip(released, found)


@pytest.fixture(scope="module")
def archive(whole):
    return ZipFile(io.BytesIO(whole))


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    archive.extractall(folder)
    return folder


def columns(released, group):
    """Return the codes of each variable of a group, a person a row."""
    names = [released.manifest.variables[k]["id"] for k in released.manifest.groups[group]]
    people = [row_codes(row) for row, n in released.rows[group].items() for _ in range(n)]
    return {name: [person[k] for person in people] for k, name in enumerate(names)}


def test_names_of_the_files(archive):
    stems = ["01-income-count-three", "02-wide-also", "03-groups", "04-large"]
    endings = [".csv", ".csv.design.json", ".parquet"]
    others = ["README.txt", "analyse.py", "framings.csv", "manifest.json", "results.json"]
    assert archive.namelist() == sorted([*others, *(f"data/{stem}{end}" for stem in stems for end in endings)])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("group", range(4))
def test_every_file_is_read_alone_and_gives_the_dashboards_estimates(tmp_path, released, found, group, ending):
    """Questions of each kind, alone and linked: the file under the name it is saved by, and nothing next to it."""
    path = tmp_path / saved_name(released.manifest, 1, f"{group}.{ending}")
    path.write_bytes({"csv": export_csv, "parquet": export_parquet}[ending](released, group))
    assert path.name == f"trial-{file_stem(released, group)[3:]}.{ending}"
    release = sp.read_release(path)
    assert list(release.names) == list(found.groups[group].variables)
    assert release.kept == ()
    for name in release.names:
        counts, variable = release.count(name), found.findings[name]
        assert (counts.n, counts.n_missing) == (variable.answered, variable.missing)
        assert sp.estimate(counts).w == pytest.approx(variable.shares.estimate, abs=1e-9)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("group", range(4))
def test_the_library_reads_back_designs_and_counts(unpacked, released, group, ending):
    release = sp.read_release(unpacked / "data" / f"{file_stem(released, group)}.{ending}")
    for name, codes in columns(released, group).items():
        assert release.designs[name] == DESIGNS[name]
        counts = release.count(name)
        assert dict(zip(counts.codes.tolist(), counts.counts.tolist(), strict=True)) == Counter(codes)


def test_the_library_reads_back_tables(unpacked, released, found):
    release = sp.read_release(unpacked / "data" / "01-income-count-three.csv")
    for pair in found.findings.pairs[:3]:
        both = release.crosstab(*pair.names)
        assert (both.n, both.n_missing) == (pair.n, pair.incomplete)
        assert sp.estimate(both).w == pytest.approx(pair.shares.ravel(), abs=1e-9)


def test_rows_are_distinct_and_in_the_order_of_their_content(released):
    table = list(csv.reader(io.StringIO(export_csv(released, 3).decode())))
    assert table[0] == ["large", "count", "subset privacy table"]
    assert [bool(row[2]) for row in table[1:]] == [True] + [False] * (len(table) - 2)
    assert len({row[0] for row in table[1:]}) == len(table) - 1
    import pyarrow.parquet as pq

    held = pq.read_table(io.BytesIO(export_parquet(released, 0))).to_pydict()
    assert list(held) == ["income", "count", "three", "count_"]  # a variable has the name of the numbers
    rows = list(zip(held["income"], held["count"], held["three"], strict=True))
    assert rows == sorted(set(rows))
    assert sum(held["count_"]) == 500


def test_randomized_response_is_written_in_words(archive, released):
    """The words of a row are those of what was answered, and no cell of an answer is a number."""
    table = list(csv.DictReader(io.StringIO(archive.read("data/01-income-count-three.csv").decode())))
    assert list(table[0]) == ["income", "count", "three", "count_", "subset privacy table"]
    same, different = "same (no & 0, yes & 1)", "different (no & 1, yes & 0)"
    word = {same: 0, different: 1, f"{same}|{different}": -1}
    framed, said = Counter(), Counter()
    at = [held["id"] for held in released.manifest.variables].index("count")
    for framing, n in released.framings.items():
        if framing.variable == at:
            framed[framing.answer] += n
    for row in table:
        said[word[row["count"]]] += int(row["count_"])
    assert said == framed


def test_cells_of_answers_are_words(archive):
    for name in archive.namelist():
        if name.startswith("data/") and name.endswith(".csv"):
            for row in csv.DictReader(io.StringIO(archive.read(name).decode())):
                (number,) = (cell for cell in row.values() if cell.isdigit())
                assert number == row["count_" if "count_" in row else "count"]


@pytest.mark.parametrize(
    ("title", "version", "name", "called"),
    [
        ("Work & Health, Zürich", 1, "0.csv", "work-health-zurich-smokes.csv"),
        ("Work & Health, Zürich", 3, "everything.zip", "work-health-zurich-v3.zip"),
        ("../../x \r\n;\"'", 1, "results.json", "x-results.json"),
        ("مسح", 2, "0.parquet", "survey-{id}-v2-smokes.parquet"),
        ("CON", 1, "everything.zip", "survey-con.zip"),
        ("a" * 200, 1, "manifest.json", f"{'a' * 60}-manifest.json"),
    ],
)
def test_files_are_called_after_survey_and_variables(title, version, name, called):
    manifest = freeze(survey_of({"smokes": sp.warner(("no", "yes"))}, title=title), KEY)
    assert saved_name(manifest, version, name) == called.replace("{id}", manifest.id[:8])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula(archive, separator):
    """Nor where a spreadsheet splits lines at other signs, whatever the settings of its country."""
    for name in archive.namelist():
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(archive.read(name).decode()), delimiter=separator):
                for cell in row:
                    assert not cell.lstrip().startswith(("=", "+", "@", "\uff1d", "\uff20")), name
                    assert not cell.startswith(("-", "\t", "\r", "\n")) or cell == "-1"


def test_framings_are_all_there(archive, released):
    lines = list(csv.DictReader(io.StringIO(archive.read("framings.csv").decode())))
    ids = [held["id"] for held in released.manifest.variables]
    assert {
        (line["variable"], line["partition"], int(line["shown"]), int(line["answer"])): int(line["n"]) for line in lines
    } == {(ids[f.variable], f.partition, f.shown, f.answer): n for f, n in released.framings.items()}


def test_framings_are_also_said_in_words(archive):
    said = {}
    for line in csv.DictReader(io.StringIO(archive.read("framings.csv").decode())):
        said.setdefault(line["variable"], set()).add((line["answer"], line["answered"]))
        options_of = line["asked about"].removeprefix("'").split("|")
        if line["variable"] == "income":
            codes = [int(line["partition"]), 31 - int(line["partition"])]
            assert line["asked about"] == text_of(codes[int(line["shown"])], DESIGNS["income"])
        elif line["variable"] == "groups":
            assert len(line["asked about"].split(" / ")) == 3 or line["answer"] != "-1"
        else:
            assert set(options_of) <= {*map(str, DESIGNS[line["variable"]].categories), ""}
    yes_no = {("0", "yes"), ("1", "no")}
    assert said["income"] == yes_no | {("-1", "skipped")}
    assert said["wide"] == said["large"] == yes_no
    assert said["count"] == {("0", "same"), ("1", "different"), ("-1", "skipped")}
    assert said["three"] == {("0", "answered")}
    assert said["groups"] == {("0", "group 1"), ("1", "group 2"), ("2", "group 3"), ("-1", "skipped")}


def test_manifest_and_results_are_inside(archive, released, found):
    assert archive.read("manifest.json") == released.manifest.text
    assert json.loads(archive.read("results.json")) == results_document(found)
    readme = archive.read("README.txt").decode()
    assert released.manifest.fingerprint in readme
    assert released.releases[-1].chain_sha256 in readme


def test_the_same_release_gives_the_same_bytes_whenever_and_in_whatever_order(released, whole):
    items = list(released.rows[0].items())
    Random(3).shuffle(items)
    again = evolve(released, rows=(dict(items), *released.rows[1:]))
    made = export_zip(again)
    assert made == whole
    assert {entry.date_time for entry in ZipFile(io.BytesIO(made)).infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_an_export_before_the_first_release(released):
    archive = ZipFile(io.BytesIO(export_zip(emptied(released))))
    assert archive.read("data/03-groups.csv") == b"groups,count,subset privacy table\n"
    assert json.loads(archive.read("results.json"))["n"] == 0


# The program ----------------------------------------------------------------------------------


def test_the_program_finds_the_numbers_of_the_dashboard(unpacked, found):
    written, printed = analysed_alone(unpacked)
    expected = results_document(found)["findings"]
    assert by_name(written) == by_name(expected)
    for part in ("pairs", "rows", "alarm", "notes"):
        assert written[part] == expected[part]
    for variable in found.findings:
        shares = variable.shares
        for line in zip(shares.estimate, shares.se, shares.lower, shares.upper, strict=True):
            assert any(text.endswith("  ".join(f"{number:.4f}" for number in line)) for text in printed)
    assert sum(text.endswith(("  yes", "  no")) for text in printed) == len(found.findings.checks.tests)


def test_the_program_reads_a_file_that_was_saved_alone(tmp_path, released, found):
    """It is found in the file what the dashboard says; how questions were put is not in it, and is not checked."""
    (tmp_path / "analyse.py").write_text(python_snippet(released), "utf-8")
    expected = results_document(found)["findings"]
    names = found.groups[0].variables
    for ending, write in (("csv", export_csv), ("parquet", export_parquet)):
        path = tmp_path / saved_name(released.manifest, 1, f"0.{ending}")
        path.write_bytes(write(released, 0))
        written, _ = analysed(tmp_path, path)
        shown = {"checks", "alarms", "moments_hold", "notes"}
        for name, one in by_name(written).items():
            assert {key: held for key, held in one.items() if key not in shown} == {
                key: held for key, held in by_name(expected)[name].items() if key not in shown
            }
            assert one["checks"]["leaning"] is one["checks"]["skips"] is None
            for test in ("answers_test", "random_test"):
                mine, theirs = (held["checks"]["honesty"][test] for held in (one, by_name(expected)[name]))
                assert (mine is None) == (theirs is None)
                if mine is not None:
                    assert mine["statistic"] == theirs["statistic"]
        assert list(by_name(written)) == list(names)
        mine = [pair for pair in expected["pairs"] if set(pair["names"]) <= set(names)]
        assert [numbers_of_pair(one) for one in written["pairs"]] == [numbers_of_pair(one) for one in mine]
        assert written["rows"] == expected["rows"][:1]


def numbers_of_pair(pair):
    """Return a pair without what rests on how many tables its test has time for, which fewer pairs share."""
    test = None if pair["test"] is None else pair["test"]["statistic"]
    return {**{key: held for key, held in pair.items() if key not in ("test", "strength", "notes")}, "test": test}


def analysed_alone(folder):
    """Run the program in a process of its own; return what it writes, and its lines, two spaces between their parts."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "analyse.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(Path(sp.__file__).parents[1])},
    )
    assert (run.returncode, run.stderr) == (0, "")
    lines = [re.sub(r"\s{2,}", "  ", line.rstrip()) for line in run.stdout.splitlines()]
    return json.loads((folder / "findings.json").read_text("utf-8")), lines


def test_the_program_of_an_export_before_the_first_release(tmp_path, released):
    ZipFile(io.BytesIO(export_zip(emptied(released)))).extractall(tmp_path)
    written, _ = analysed(tmp_path)
    assert written["alarm"]["tests"] == 0
    assert all(one["shares"] is None for one in written["variables"])


def test_the_program_names_no_label_and_compiles(released):
    text = python_snippet(released)
    compile(text, "analyse.py", "exec")
    assert "@" not in text
    assert "SUM" not in text
    assert "income" not in text
    assert released.releases[-1].chain_sha256 in text
    assert max(map(len, text.splitlines())) <= 120


def test_ids_cannot_break_out_of_the_program():
    name = "x'); import os; ('"
    designs = {name: sp.uniform(options(4)), "y": sp.uniform(options(4))}
    released = drawn(survey_of(designs, [[name, "y"]]), {key: values([1] * 4, 30, 1) for key in designs})
    tree = compile(python_snippet(released), "analyse.py", "exec")
    assert "os" not in tree.co_names
    assert file_stem(released, 0) == "01-x_import_os_-y"
