"""Every number that a page claims stands in a cell of the page that computes it."""

from every_case import every_case
from pages import DOCS, PAGES, README, SITE, literals, literals_of_cells, name, spaced, text, unproved, without_code

READMES_TEST = README.parent / "tests" / "docs" / "test_readme.py"


def is_bound(page):
    at = page.relative_to(DOCS).as_posix()
    return at in ("index.md", "tutorial.md") or at.split("/")[0] in (
        "how-to",
        "case-studies",
        "explanation",
        "reference",
    )


@every_case("page", [page for page in SITE if is_bound(page)], ids=name)
def test_numbers_of_a_page_are_computed_on_it(page):
    assert unproved(without_code(page), literals_of_cells(page)) == []


@every_case("page", PAGES, ids=name)
def test_thousands_have_commas(page):
    assert spaced(without_code(page)) == []


def test_numbers_of_the_readme_are_computed_in_its_test():
    assert unproved(without_code(README), literals(text(READMES_TEST))) == []


@every_case(
    ("prose", "missing"),
    [
        ("in 67 % of the rows", []),
        ("in 14 % of the rows", ["14 %"]),
        ("with probability .67, and 3 times the people", []),
        ("about 0.670 and 4 times", ["4"]),
        ("at most 2 bits and a 1-bit answer", ["1", "2"]),
        ("32,561 times, with Python 3.11", ["32,561"]),
        ("up to 32,561.5 people, then 3, 4 and 5", ["32,561.5"]),
        ("one person in 4, two of 100 people, in 2016", []),
        ("a leakage of 1.5 bits.", ["1.5"]),
    ],
)
def test_numbers_are_found_in_prose(prose, missing):
    assert unproved(prose, {0.67, 3.0}) == missing
