"""What is said of two variables agrees with itself: the test, the strength, and the shades of the table."""

import re

import numpy as np
from attrs import evolve
from every_case import every_case
from finding_cases import CASES, findings_of
from report_pages import Page

from subsetprivacy.finding.pairs import DependenceTest, PairFindings, Strength
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.presenting.pairs import pair_section, verdict
from subsetprivacy.presenting.words import words_of

EN = words_of("en")
SHARES = np.array([[0.3, 0.2], [0.1, 0.4]])
TEST = DependenceTest("lrt", 12.0, 1.0, 0.0004, "asymptotic", 0, None, True)
STRENGTH = Strength(0.4, 0.05, 0.41, 0.3, 0.5, False)
PAIR = PairFindings(
    ("x", "y"),
    rows=("a", "b"),
    columns=("p", "q"),
    n=500.0,
    method="mle",
    shares=SHARES,
    se=np.full((2, 2), 0.02),
    lower=SHARES - 0.04,
    upper=SHARES + 0.04,
    deviation=np.array([[0.1, -0.1], [-0.05, 0.03]]),
    deviation_se=np.array([[0.01, 0.02], [0.02, 0.02]]),
    test=TEST,
    strength=STRENGTH,
)


def page_of(pair, level=0.95):
    return Page(pair_section(EN, pair, {"x": "First", "y": "Second"}, level))


@every_case(
    ("pvalue", "rejects", "said"),
    [
        (0.0004, True, "“First” and “Second” go together (p = 0.0004): if they were independent"),
        (0.03, True, "go together (p = 0.0300), though such a result comes up once in a while by chance."),
        (0.3, False, "No dependence of “First” and “Second” was found, which does not prove that there is none"),
    ],
)
def test_the_test_in_words(pvalue, rejects, said):
    pair = evolve(PAIR, test=evolve(TEST, pvalue=pvalue, rejects=rejects))
    assert said in verdict(EN, pair, ("First", "Second")).replace("\N{NO-BREAK SPACE}", " ")


def test_a_rejection_is_never_next_to_an_interval_that_begins_at_zero():
    weak = evolve(PAIR, strength=Strength(None, None, 0.2, 0.0, 0.16, True))
    text = page_of(weak).text
    assert "How strongly is not known: the data only tell that Cramér’s V is above 0 and at most 0.16." in text
    assert "above 0, at most 0.16" in text
    assert "0.00 to" not in text


@every_case("case", CASES)
def test_words_and_interval_agree_on_every_page(case):
    for pair in findings_of(case).pairs:
        if pair.test is None or pair.strength is None:
            continue
        page = Page(pair_section(EN, pair, {}, 0.95))
        shown = page.fact("Cramér’s V")
        begins_at_zero = re.search(r"(?<![\d.])0\.00 to ", shown) is not None
        if pair.test.rejects and begins_at_zero:
            assert pair.strength.lower > 0  # rounded, and said to be above 0 in figures alone
        if not pair.test.rejects:
            assert "go together" not in page.text
            assert begins_at_zero


def test_cells_are_shaded_by_their_distance_from_independence():
    page = page_of(PAIR)
    looks = [held.get("class") for held in page.all("td")]
    # 10, -5, -2.5 and 1.5 standard errors; then the margins.
    assert looks == ["more-3", "fewer-2", None, "fewer-1", "even", None, None, None, None]
    _, cells = page.table("Estimated joint shares of First (rows) and Second (columns) with 95% intervals")
    assert cells["a"] == ["30.0% ▲ 26.0 to 34.0%", "20.0% ▼ 16.0 to 24.0%", "50.0%"]
    assert cells["b"] == ["10.0% ▼ 6.0 to 14.0%", "40.0% 36.0 to 44.0%", "50.0%"]
    assert cells["All"] == ["40.0%", "60.0%", "100.0%"]
    labels = [held["aria-label"] for held in page.all("span") if held.get("role") == "img"]
    assert labels == ["more than if independent", "fewer than if independent", "fewer than if independent"]
    assert "▲ more people than if the two were independent" in page.text


@every_case("distance", [1.99, 2.0, 4.0, 8.0])
def test_shades_begin_at_two_four_and_eight_errors(distance):
    pair = evolve(PAIR, deviation=np.full((2, 2), distance), deviation_se=np.ones((2, 2)))
    shade = page_of(pair).all("td")[0].get("class")
    assert shade == {1.99: "even", 2.0: "more-1", 4.0: "more-2", 8.0: "more-3"}[distance]


def test_without_a_finding_nothing_is_shaded():
    for pair in (
        evolve(PAIR, test=evolve(TEST, pvalue=0.3, rejects=False)),
        evolve(PAIR, deviation_se=None),
        evolve(PAIR, deviation_se=np.zeros((2, 2))),
    ):
        assert not [held for held in page_of(pair).all("td") if "more" in (held.get("class") or "")]
        assert "▲" not in page_of(pair).text


def test_untested_pairs_say_so_and_keep_their_table():
    page = page_of(evolve(PAIR, test=None))
    assert "They are not tested for independence." in page.text
    assert "more-3" in page.source  # shaded by errors alone


@every_case(
    ("law", "tables", "pvalue", "said"),
    [
        ("exact", 0, 0.01, "among all tables with the same margins"),
        ("asymptotic", 0, 0.01, "by the limit for large samples"),
        ("permutation", 999, 0.01, "from 999 random tables"),
        ("bootstrap", 999, 0.001, "from 999 random tables, none of them as far off"),
    ],
)
def test_what_a_pvalue_rests_on(law, tables, pvalue, said):
    pair = evolve(PAIR, test=evolve(TEST, law=law, tables=tables, pvalue=pvalue))
    assert page_of(pair).fact("Test of independence").endswith(f"({said})")


def test_a_pair_without_an_answer_says_why():
    pair = PairFindings(("x", "y"), problem=Note(NoteKind.NOT_TESTED, "It is so."))
    assert page_of(pair).text == "Nothing can be said about these two. It is so."


def test_large_tables_are_cut_and_say_so():
    p = 15
    shares = np.full((p, p), 1 / p**2) + np.diag(np.arange(p) / 1e4)
    names = tuple(f"v{k}" for k in range(p))
    pair = evolve(
        PAIR, rows=names, columns=names, shares=shares, lower=shares, upper=shares, deviation=None, deviation_se=None
    )
    page = page_of(pair)
    head, cells = page.table("Estimated joint shares")
    assert head[1:-1] == list(cells)[:-1] == [f"v{k}" for k in range(3, 15)]
    assert "Shown are the 12 largest of 15 in First." in page.text
    assert "Shown are the 12 largest of 15 in Second." in page.text
