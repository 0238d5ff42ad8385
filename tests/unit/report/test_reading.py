"""The page reads well: things are said once, numbers are not about, checks, waves and groups are on it."""

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
from asking import Manners
from every_case import every_case
from finding_cases import ABCD, CASES, UNIFORM, asked, findings_of, letters, table
from refusals import refused
from report_pages import Page, numbers_in

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, NotPrivateWarning
from subsetprivacy.report import report_html

EVERY_CASE = every_case("case", CASES)


@pytest.fixture(scope="module")
def pages():
    kept = {}

    def make(case):
        if case not in kept:
            kept[case] = Page(report_html(findings_of(case)))
        return kept[case]

    return make


@EVERY_CASE
def test_how_to_read_is_said_once(case, pages):
    headings = pages(case).text.count("How to read this page")
    assert headings == 2  # in the contents and above the section
    assert pages(case).text.count("An interval allows for chance in who was asked") == 1
    assert pages(case).text.count("A p-value is the chance of a result") == 1
    assert len([held for held in pages(case).all("section") if held.get("id") == "reading"]) == 1


@EVERY_CASE
def test_about_is_not_said_of_a_number_with_decimals(case, pages):
    assert re.findall(r"\b(?:about|around|roughly|nearly) \d[\d,]*\.\d+\S*", pages(case).text, re.IGNORECASE) == []


@EVERY_CASE
def test_nothing_is_left_to_be_filled_in(case, pages):
    page = pages(case)
    document = page.text.replace("{ ", "").replace("} ", "")  # designs are printed as JSON
    assert not re.search(r"\{[a-z_]+\}", document)
    prose = re.sub(r"p\s<\s0\.0001|budget=None|import subsetprivacy .* numbers? of the page", "", page.text)
    for wrong in (r"\bNone\b(?! (?:of|is))", r"\bnan\b", r"\binf\b", r"np\.float64", "<", r"Note\(", r"\(\)", "''"):
        assert not re.search(wrong, prose), wrong


@EVERY_CASE
def test_every_page_is_whole(case, pages):
    page = pages(case)
    assert page.open == []
    ids = [held["id"] for _, held, _ in page.elements if "id" in held]
    assert len(ids) == len(set(ids))
    assert all(held["href"][1:] in ids for held in page.all("a"))
    # No two tables have the same name: those who hear the page go from one to the next by it.
    assert len(page.all("table")) == len(page.tables)


# Checks -----------------------------------------------------------------------------------------


def test_checks_are_on_the_page_with_their_numbers(pages):
    page, (one,) = pages("questions"), findings_of("questions")
    for name in ("Questions as designed", "Leaning to yes", "Random answers", "Skips"):
        assert name in page.text
    assert "No check of the data raises an alarm, as far as can be checked." in page.text
    test = one.checks.draws.test
    assert f"p = {test.pvalue:.4f}, alarm below" in page.fact("Against the design")
    rate = one.checks.skips.rate
    assert numbers_in(page.fact("Skipped"))[0] == pytest.approx(100 * rate, abs=0.051)
    assert f"{findings_of('questions').alarm.tests} tests were run." in page.text
    _, rows = page.table("Skips of data")
    assert len(rows) == 5


def test_an_alarm_is_at_the_top_and_in_its_place():
    manners = Manners(always_yes=0.5)
    page = Page(report_html(asked(3000, manners)))
    assert "1 check of the data raises an alarm. See its column." in page.text or (
        "checks of the data raise an alarm. See their columns." in page.text
    )
    assert "of the people seem to say yes whatever they are asked" in page.text
    assert [held for held in page.all("div") if held.get("class") == "check-panel alarm"]
    assert "No check of the data raises an alarm" not in page.text


def test_weights_leave_nothing_to_check(pages):
    assert "Checks need the number of people. These rows have sampling weights." in pages("sampling weights").text
    assert "They tell as much as" in pages("sampling weights").text
    assert "raises an alarm" not in pages("sampling weights").text


# Waves and groups -------------------------------------------------------------------------------


def test_changes_since_an_earlier_wave(pages):
    page, one = pages("earlier"), findings_of("earlier")["x"]
    head, rows = page.table("Change since earlier")
    assert head[-1] == "p-value"
    for k, label in enumerate(ABCD):
        change, se, ends, _ = rows[label]
        assert numbers_in(change.replace("+", "")) == pytest.approx([100 * one.difference.estimate[k]], abs=0.051)
        assert change.startswith("+") == (one.difference.estimate[k] > 0)
        assert numbers_in(se) == pytest.approx([100 * one.difference.se[k]], abs=0.051)
        wanted = [100 * one.difference.lower[k], 100 * one.difference.upper[k]]
        assert numbers_in(ends.replace("+", "")) == pytest.approx(wanted, abs=0.051)
    assert f"Test that no share changed: p = {one.difference.test.pvalue:.4f}." in page.text
    assert "Shares now (500 people) minus shares then (300 people)" in page.text
    assert "The two waves cannot be compared." in pages("earlier of others").text


@pytest.fixture
def release(tmp_path):
    rng = np.random.default_rng(1)
    town = rng.choice(["north", "south"], 600, p=[0.4, 0.6])
    values = np.where((town == "north") & (rng.random(600) < 0.5), "a", rng.choice(ABCD, 600))
    people = pa.table({"x": values, "town": town})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        sp.privatize_table(people, {"x": UNIFORM}, tmp_path / "made.parquet", keep=["town"], seed=1)
    return sp.read_release(tmp_path / "made.parquet")


def test_groups_are_on_the_page(release):
    made = sp.findings(release, by="town")
    page = Page(report_html(made))
    assert "Shares by town" in page.text
    assert "The groups differ (p" in page.text
    head, rows = page.table("Estimated shares of x by group, with 95% intervals")
    assert head == ["town", "People", *ABCD]
    for group in made["x"].groups.groups:
        shown = [numbers_in(cell)[0] for cell in rows[group.group[0]][1:]]
        assert shown == pytest.approx(100 * group.shares.estimate, abs=0.51)
        assert numbers_in(rows[group.group[0]][0]) == [group.n]
    commands = next(text for text in page.words if text.startswith("subsetprivacy check"))
    assert "--by town" in commands
    assert "by=['town']" in page.source.replace("&#x27;", "'")


def test_findings_at_hand_are_shown_as_they_are(release):
    made = sp.findings(release, level=0.8, permutations=19)
    assert report_html(made) == report_html(release, level=0.8, permutations=19)
    assert "80% interval" in report_html(made)


def test_languages(release):
    text = report_html(release)
    assert '<html lang="en" dir="ltr">' in text
    with refused(ArgumentError, "language"):
        report_html(release, language="tlh")


def test_counts_have_no_file_and_need_none():
    page = Page(report_html({"letter": letters()}))
    assert page.source.count("<h1>Findings</h1>") == 1
    assert "File:" not in page.text
    assert "read_release" not in page.text  # there is no file to get the numbers from again
    assert "subsetprivacy check" not in page.text
    assert list(page.table("Columns of the file")[1]) == ["letter"]
    named = Page(report_html(table(), permutations=19, title="The <letters>"))
    assert "<h1>The &lt;letters&gt;</h1>" in named.source
