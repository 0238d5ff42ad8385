"""The words of the dashboard, for somebody who runs surveys: what can be misread is said in full."""

import re
from html import unescape

import numpy as np
import pytest
from released import Manners, drawn, options, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.results import results
from subsetprivacy.collect.web.studio_dashboard import dashboard
from subsetprivacy.collect.web.studio_pages import _environment

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
    assert [label.replace("\N{NO-BREAK SPACE}", " ") for label in labels] == [
        "± 1 percentage point (95 % interval)",
        "± 2 percentage points (95 % interval)",
        "± 5 percentage points (95 % interval)",
        "± 10 percentage points (95 % interval)",
    ]
    people = [text for _, text in board.variables[3].needed]
    assert all(re.fullmatch(r"enough people|[\d,]+ more people|out of reach", text) for text in people)


def test_the_name_of_a_design_is_that_of_the_terminal(board):
    assert "Design: randomised response;" in variable_page(board, 0)


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
            assert span.replace("\N{NO-BREAK SPACE}", " ") == f"{low:.1f} to {high:.1f} %"
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
