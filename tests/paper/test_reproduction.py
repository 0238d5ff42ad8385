"""The stored results that the site shows: complete, green, of this version, and what the code gives today."""

import re
from pathlib import Path

import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.reproduce import LABELS, load, read_all, reproduce
from subsetprivacy.reproduce.experiment import Run
from subsetprivacy.reproduce.registry import code_of, file_name
from subsetprivacy.reproduce.store import read

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "reproduction" / "results"
EXACT = ("toy_example", "tab:race_pop_dist", "fig:adult_privacy_leak", "fig:adult_privacy", "tab:cont_full")


@every_case("label", LABELS)
def test_a_stored_result_is_of_the_full_form_and_holds(label):
    record = read(RESULTS, label)
    assert record is not None
    assert not record.failed
    assert record.settings.version == sp.__version__
    assert not record.settings.quick
    assert record.settings.code == code_of(label)  # else: run it again and store the result
    assert record.replications == load(label).full
    assert record.checks
    for kind in ("csv", "svg"):
        assert (RESULTS / f"{file_name(label)}.{kind}").stat().st_size > 50


def test_nothing_else_is_stored():
    names = {path.name for path in RESULTS.iterdir()}
    expected = {f"{file_name(label)}.{kind}" for label in LABELS for kind in ("csv", "svg", "json")}
    made_from_them = {"index.html", *(f"{file_name(label)}.png" for label in LABELS)}  # not kept
    assert names - made_from_them == expected


@every_case("label", EXACT)
def test_exact_results_are_what_the_code_gives_today(label):
    outcome = load(label).perform(Run(label, load(label).full))
    assert tuple(outcome.checks) == read(RESULTS, label).checks


def test_every_erratum_of_a_verdict_is_a_line_of_the_errata():
    errata = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    notes = [check.note for record in read_all(RESULTS) for check in record.checks if check.verdict == "erratum"]
    assert len(notes) >= 5
    for note in notes:
        where = note.partition("errata, ")[2]
        names = re.findall(r"`([^`]+)`", where) or [where]
        assert any(f"| `{name}`" in errata or f", `{name}`" in errata or f"| {name}" in errata for name in names), note


@pytest.mark.slow
def test_the_short_form_of_all_holds(tmp_path):
    failed = {
        done.label: done.error or [check for check in done.record.checks if check.verdict == "differs"]
        for done in reproduce("all", output=tmp_path, quick=True)
        if done.failed
    }
    assert failed == {}
