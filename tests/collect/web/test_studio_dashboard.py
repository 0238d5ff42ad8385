"""The words of the dashboard, for somebody who runs surveys: what can be misread is said in full."""

import re
from html import unescape

import numpy as np
import pytest
from attrs import evolve
from released import Manners, drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.service.results_document import plain
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.collect.web.studio_pages import _environment
from subsetprivacy.collect.web.studio_panels import variable_panel
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import AUTO_INTERVAL, MORE_PEOPLE_OR_MOM

SOME = Manners(skips=lambda shown, truth, rng: rng.random(len(truth)) < 0.1)
DESIGNS = {
    "two": sp.warner(("no", "yes")),
    "three": sp.fixed_size(options(3), 2),
    "four": sp.uniform(options(4)),
    "six": sp.uniform(options(6)),
}
LINKS = [["four", "six"]]
JARGON = re.compile(
    r"degrees? of freedom|free proportion|artificial|boundary|\bp [=<]|alarm below|±\s?s\.e\.", re.IGNORECASE
)


def board_of(n=800, manners=None):
    truth = {name: values(np.arange(1, d.p + 1), n, k) for k, (name, d) in enumerate(DESIGNS.items())}
    released = drawn(survey_of(DESIGNS, LINKS), truth, manners=manners, releases=3)
    return dashboard(released, results(released))


@pytest.fixture(scope="module")
def board():
    return board_of(manners={"two": SOME, "six": SOME})


def variable_page(board, k):
    return _page("variable", board.variables[k], k)


def _page(macro, *arguments):
    made = getattr(_environment().get_template("_board.html").module, macro)
    return unescape(str(made(*arguments)))


def outside_details(page):
    """Return what is read before anything is unfolded: nothing inside <details> but its summary."""
    return re.sub(r"<details.*?<summary>(.*?)</summary>.*?</details>", r"\1", page, flags=re.DOTALL)


@pytest.mark.parametrize("k", range(len(DESIGNS)))
def test_nothing_technical_before_something_is_unfolded(board, k):
    page = variable_page(board, k)
    assert not JARGON.search(outside_details(page)), JARGON.search(outside_details(page))
    assert "alarm below" in page or k in (0, 1)  # it is there for those who look


@pytest.mark.parametrize("k", [0, 1, 2])
def test_checks_that_cannot_be_made_are_named_in_one_line_and_say_why_inside(board, k):
    page = variable_page(board, k)
    impossible = [check.title for check in board.variables[k].impossible]
    assert "Random answers" in impossible
    assert f"Cannot be checked here: {', '.join(impossible).lower()}" in outside_details(page)
    for check in board.variables[k].impossible:
        assert check.said
        assert check.said in page
        assert check.said not in outside_details(page)
        assert all(note in page for note in check.notes)


def test_skips_are_counted_where_they_cannot_be_compared(board):
    skips = board.variables[0].checks[-1]
    assert (skips.title, skips.badge) == ("Skips", "Counted only")
    assert skips in board.variables[0].made


@pytest.mark.parametrize("k", range(len(DESIGNS)))
def test_nobody_skipped_is_said_once(k):
    page = variable_page(board_of(200), k)
    assert page.count("Nobody skipped.") == 1


def test_a_margin_says_what_it_is(board):
    labels = [label for label, _ in board.variables[3].needed]
    assert labels == [
        "± 1 percentage point (95% interval)",
        "± 2 percentage points (95% interval)",
        "± 5 percentage points (95% interval)",
        "± 10 percentage points (95% interval)",
    ]
    people = [text for _, text in board.variables[3].needed]
    assert all(re.fullmatch(r"enough people|[\d,]+ more people|out of reach", text) for text in people)


def test_the_name_of_a_design_is_that_of_the_terminal(board):
    assert "Design: randomized response;" in variable_page(board, 0)


def test_no_estimate_is_printed_outside_its_interval():
    """Answers that fit too well: the estimate of answers by chance is below 0, its interval begins there."""
    seen = 0
    for seed in range(1, 9):
        released = drawn(survey_of({"a": sp.uniform(options(6))}), {"a": values([1] * 6, 300, seed)}, seed=seed)
        board = dashboard(released, results(released))
        facts = dict(board.variables[0].checks[2].facts)
        low = board.held.variables[0].honesty.share <= 0
        assert facts["Answers given by chance"].startswith("none seen, at most ") == low
        assert "-" not in facts["Answers given by chance"]
        seen += low
    assert 0 < seen < 8


def test_cells_of_a_table_have_their_intervals(board):
    (panel,) = board.pairs
    page = _page("pair", panel)
    held = panel.held
    for name, cells in panel.rows:
        i = held.rows.index(name)
        for j, (share, span) in enumerate(cells):
            low, high = (100 * table[i, j] for table in (held.lower, held.upper))
            assert share.startswith(f"{100 * held.shares[i, j]:.1f}")
            assert span == f"{low:.1f} to {high:.1f}%"
            assert f'<td data-of="{held.columns[j]}"><span>{share} <span class="range">{span}</span>' in page


def test_a_strength_without_a_value_is_an_interval(board):
    few = board_of(60).pairs[0]
    assert few.held.strength.value is None
    facts = dict(few.facts)
    (text,) = [text for name, text in facts.items() if name.startswith("Cramér’s V")]
    assert text.startswith("between 0.00 and ")


def test_the_least_p_value_of_random_tables_is_said_to_be_that():
    design = {"a": sp.uniform(options(4)), "b": sp.uniform(options(4))}
    a = values([1] * 4, 2000, 1)
    released = drawn(survey_of(design, [["a", "b"]]), {"a": a, "b": a})
    facts = dict(dashboard(released, results(released)).pairs[0].facts)
    assert re.fullmatch(
        r"p = [\d.]+ \(from \d+ random tables, none of them as far off\)", facts["Test of independence"]
    )


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
    (pair,) = board.pairs
    assert pair.title == "Sleep (weekday) and Sleep (weekend)"
    assert pair.said.startswith("“Sleep (weekday)” and “Sleep (weekend)” go together")
    assert "Sleep (weekday) by Sleep (weekend)" in pair.figure
    assert board.groups[0].title == "Sleep (weekday), Sleep (weekend)"
    page = _page("pair", pair)
    assert not re.search(r"Sleep(?! \(week)", page), "nowhere by the label alone"
    for k, name in enumerate(("weekday", "weekend")):
        page = variable_page(board, k)
        assert f"Estimated shares of Sleep ({name})" in board.variables[k].figure
        assert f"Sleep ({name})</h2>" in page
        assert not re.search(r"Sleep(?! \(week)", page)


def test_the_document_has_labels_as_they_were_written_and_ids_in_its_sentences():
    document = results_document(alike().held)
    assert [one["label"] for one in document["variables"]] == ["Sleep", "Sleep"]
    assert "title" not in document["variables"][0]
    assert document["pairs"][0]["said"].startswith("“weekday” and “weekend” go together")


def test_a_label_that_is_another_variables_id_is_not_replaced():
    (pair,) = alike("weekend").pairs
    assert pair.said.startswith("“weekend (weekday)” and “weekend (weekend)” go together")


def test_a_share_of_zero_is_said_in_plain_words():
    released = drawn(survey_of({"a": sp.uniform(options(5))}), {"a": values([1, 0, 0, 1, 1], 400, 2)})
    held = results(released).variables[0]
    notes = [note for note in held.shares.notes if note.kind is NoteKind.BOUNDARY]
    assert len(notes) == 1
    assert re.match(r"The estimate for .* is 0\. Standard errors are rough then", notes[0].text)
    assert not JARGON.search(outside_details(variable_page(dashboard(released, results(released)), 0)))


def test_a_page_shows_advice_that_is_for_readers_and_no_other(board):
    panel = board.variables[3]
    advised = Note(NoteKind.SMALL_COUNTS, "Few people.", MORE_PEOPLE_OR_MOM)
    for_programs = Note(NoteKind.BOUNDARY, "A zero.", AUTO_INTERVAL)
    shown = variable_panel(evolve(panel.held, notes=(advised, for_programs)))
    assert shown.notes[-2:] == ("Few people. Hint: collect more people.", "A zero.")
    assert [plain(advised), plain(for_programs)] == ["Few people.", "A zero."]
