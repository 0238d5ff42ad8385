"""The words of the dashboard, for somebody who runs surveys: what can be misread is said in full."""

import re
from html import unescape

import numpy as np
import pytest
from asking import Manners
from attrs import evolve
from released import drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.checks import panels_of
from subsetprivacy.presenting.words import LANGUAGES, words_of

SOME = Manners(skips=lambda shown, truth: 0.1)
DESIGNS = {
    "two": sp.warner(("no", "yes")),
    "three": sp.fixed_size(options(3), 2),
    "four": sp.uniform(options(4)),
    "six": sp.uniform(options(6)),
}
LINKS = [["four", "six"]]
WORDS = words_of("en")
JARGON = re.compile(
    r"degrees? of freedom|(free|independent) proportion|artificial|boundary|\bp\s[=<]|alarm below|±\s?s\.e\.",
    re.IGNORECASE,
)


def board_of(n=800, manners=None, language="en"):
    truth = {name: values(np.arange(1, d.p + 1), n, k) for k, (name, d) in enumerate(DESIGNS.items())}
    released = drawn(survey_of(DESIGNS, LINKS), truth, manners=manners, releases=3)
    return dashboard(released, results(released), language)


@pytest.fixture(scope="module")
def board():
    return board_of(manners={"two": SOME, "six": SOME})


def variable_page(board, k):
    return unescape(board.variables[k].body)


def checks_of(board, k):
    """Return the checks of a variable by their titles."""
    return {panel.title: panel for panel in panels_of(WORDS, board.results.findings.variables[k])}


def outside_details(page):
    """Return what is read before anything is unfolded: nothing inside <details> but its summary."""
    return re.sub(r"<details.*?<summary>(.*?)</summary>.*?</details>", r"\1", page, flags=re.DOTALL)


def read(html):
    """Return the text of a piece of a page."""
    return unescape(re.sub(r"<[^>]*>", "", html))


@pytest.mark.parametrize("k", range(len(DESIGNS)))
def test_nothing_technical_before_something_is_unfolded(board, k):
    page = variable_page(board, k)
    assert not JARGON.search(outside_details(page)), JARGON.search(outside_details(page))
    assert "alarm below" in page or k in (0, 1)  # it is there for those who look


@pytest.mark.parametrize("k", [0, 1, 2])
def test_checks_that_cannot_be_made_are_named_in_one_line_and_say_why_inside(board, k):
    page = variable_page(board, k)
    impossible = [panel for panel in checks_of(board, k).values() if panel.state == "none"]
    assert "Random answers" in [panel.title for panel in impossible]
    assert f"Cannot be checked here: {', '.join(panel.title for panel in impossible)}" in outside_details(page)
    for panel in impossible:
        assert read(panel.body)
        assert read(panel.body) in read(page)
        assert read(panel.body) not in read(outside_details(page))
        assert all(read(note) in read(page) for note in panel.notes)
        assert not JARGON.search(read(panel.body))
        assert all(read(note) != read(panel.body) for note in panel.notes)
        assert not any("Hint:" in note for note in panel.notes)


def test_skips_are_counted_where_they_cannot_be_compared(board):
    skips = checks_of(board, 0)["Skips"]
    assert skips.state == "counted"
    assert "Counted only" in outside_details(variable_page(board, 0))


@pytest.mark.parametrize("k", range(len(DESIGNS)))
def test_nobody_skipped_is_said_once(k):
    page = variable_page(board_of(200), k)
    assert page.count("No one skipped.") == 1


def test_a_margin_says_what_it_is(board):
    needed = re.search(r'<dl class="needed">(.*?)</dl>', variable_page(board, 3))[1]
    assert re.findall("<dt>(.*?)</dt>", needed) == [
        "± 1 percentage point (95% interval)",
        "± 2 percentage points (95% interval)",
        "± 5 percentage points (95% interval)",
        "± 10 percentage points (95% interval)",
    ]
    people = re.findall("<dd>(.*?)</dd>", needed)
    assert len(people) == 4
    assert all(re.fullmatch(r"enough people|[\d,]+ more people|out of reach", text) for text in people)


def test_the_design_is_described_as_in_the_terminal(board):
    for k, design in enumerate(DESIGNS.values()):
        assert design.description in variable_page(board, k)


def test_no_estimate_is_printed_outside_its_interval():
    """Answers that fit too well: the estimate of answers by chance is below 0, its interval begins there."""
    seen = 0
    for seed in range(1, 9):
        released = drawn(survey_of({"a": sp.uniform(options(6))}), {"a": values([1] * 6, 300, seed)}, seed=seed)
        board = dashboard(released, results(released))
        facts = dict(checks_of(board, 0)["Random answers"].facts)
        low = board.results.findings["a"].checks.honesty.share <= 0
        assert facts["Random answers"].startswith("none seen, at most ") == low
        assert "-" not in facts["Random answers"]
        seen += low
    assert 0 < seen < 8


def test_cells_of_a_table_have_their_intervals(board):
    ((_, page),), (held,) = board.pairs, board.results.findings.pairs
    for i in range(len(held.rows)):
        for j, name in enumerate(held.columns):
            low, high = (100 * table[i, j] for table in (held.lower, held.upper))
            share, ends = f"{100 * held.shares[i, j]:.1f}%", f"{low:.1f} to {high:.1f}%"
            cell = rf'data-of="{name}"><span>{re.escape(share)}[^%]*<span class="range">{re.escape(ends)}</span></span>'
            assert re.search(cell, page), cell


def facts_of(pair):
    """Return the numbers above the table of two variables, by their names."""
    named = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", unescape(pair))
    return {name: value.replace("\N{NO-BREAK SPACE}", " ") for name, value in named}


def test_a_strength_without_a_value_is_an_interval(board):
    few = board_of(60)
    assert few.results.findings.pairs[0].strength.value is None
    (text,) = [text for name, text in facts_of(few.pairs[0][1]).items() if name.startswith("Cramér’s V")]
    assert text.startswith("0.00 to ")


# Names, notes and advice ----------------------------------------------------------------------


def alike(label="Sleep", n=600):
    """Return the dashboard of two linked variables that are titled alike."""
    designs = {"weekday": sp.uniform(options(4)), "weekend": sp.uniform(options(4))}
    survey = survey_of(designs, [["weekday", "weekend"]])
    survey = evolve(survey, variables=tuple(evolve(one, label=label) for one in survey.variables))
    truth = values([4, 3, 2, 1], n, 1)
    released = drawn(survey, {"weekday": truth, "weekend": truth})
    return dashboard(released, results(released))


def test_two_variables_titled_alike_are_told_apart_everywhere():
    board = alike()
    ((title, pair),) = board.pairs
    assert title == "Sleep (weekday) – Sleep (weekend)"
    assert "“Sleep (weekday)” and “Sleep (weekend)” go together" in unescape(pair)
    assert "shares of Sleep (weekday) (rows) and Sleep (weekend) (columns)" in pair
    assert board.groups[0].title == "Sleep (weekday), Sleep (weekend)"
    (together,) = board.together
    for page in (pair, together):
        assert "Sleep (weekday)" in page
        assert not re.search(r"Sleep(?! \(week)", page), "nowhere by the label alone"
    for k, name in enumerate(("weekday", "weekend")):
        page = variable_page(board, k)
        assert f"Estimated shares of Sleep ({name})</title>" in page
        assert board.variables[k].title == f"Sleep ({name})"
        assert not re.search(r"Sleep(?! \(week)", page)


def test_the_document_has_labels_as_they_were_written_and_ids_as_names():
    document = results_document(alike().results)
    assert [one["label"] for one in document["variables"]] == ["Sleep", "Sleep"]
    assert [one["title"] for one in document["variables"]] == ["Sleep (weekday)", "Sleep (weekend)"]
    assert [one["name"] for one in document["findings"]["variables"]] == ["weekday", "weekend"]
    assert document["findings"]["pairs"][0]["names"] == ["weekday", "weekend"]


def test_a_label_that_is_another_variables_id_is_not_replaced():
    ((_, pair),) = alike("weekend").pairs
    assert "“weekend (weekday)” and “weekend (weekend)” go together" in unescape(pair)


def test_a_share_of_zero_is_said_in_plain_words():
    released = drawn(survey_of({"a": sp.uniform(options(5))}), {"a": values([1, 0, 0, 1, 1], 400, 2)})
    board = dashboard(released, results(released))
    shares = board.results.findings["a"].shares
    assert len([note for note in shares.notes if note.kind is NoteKind.BOUNDARY]) == 1
    page = outside_details(variable_page(board, 0))
    assert f"Estimated as 0: {', '.join(shares.zeros)}. Then the standard errors are rough" in page
    assert not JARGON.search(page)


# Languages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
def test_findings_can_be_read_in_every_language(language):
    """Every language has all sentences, and the numbers are the same; no label is translated."""
    board, english = board_of(200, language=language), board_of(200)
    words = words_of(language)
    assert (board.words.language, board.words.direction) == (language, words.direction)
    assert [code for code, _ in board.languages] == list(LANGUAGES)
    for k in range(len(DESIGNS)):
        page = variable_page(board, k)
        assert page.count("<td") == variable_page(english, k).count("<td")
        assert words("privacy.heading") in page
        assert "{" not in page
        if language != "en":
            assert words_of("en")("privacy.heading") not in page


def test_three_linked_questions_say_which_are_linked_directly():
    designs = {name: DESIGNS[name] for name in ("two", "three", "four")}
    truth = {name: values(np.arange(1, d.p + 1), 400, k) for k, (name, d) in enumerate(designs.items())}
    released = drawn(survey_of(designs, [list(designs)]), truth, releases=2)
    board = dashboard(released, results(released))
    (body,) = board.links
    (found,) = board.results.findings.tables
    assert len(found.links) == 3
    assert read(body).count(board.words("links.no")) + read(body).count(board.words("links.yes")) >= 3
    assert board_of().links == (), "two linked questions are a pair"
