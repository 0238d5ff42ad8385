"""The page on a telephone and on paper, in a real Chromium."""

import re
import shutil
import subprocess
import warnings

import numpy as np
import pyarrow as pa
import pytest
from browser import AXE, CHROMIUM, PLAYWRIGHT, chromium, violations, watched
from finding_cases import ABCD, UNIFORM, asked, letters

import subsetprivacy as sp
from subsetprivacy.errors import NotPrivateWarning
from subsetprivacy.report import write_report

PDFTOTEXT = ("pdftotext", shutil.which("pdftotext") is not None, "apt-get install poppler-utils")
# Paper in pixels of 1/96 inch, and what its margins of 16 mm leave.
PAPER = {"A4": (794, "178mm"), "Letter": (816, "183.9mm")}
LONG = "A category with so long a name that it hardly fits on a telephone"


@pytest.fixture(scope="module")
def browser():
    with chromium() as held:
        yield held


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Write a page with everything on it: long names, many categories, pairs, groups, an earlier wave, checks."""
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(1)
    wide = sp.uniform([LONG, "b", "c", "d", "e", "f", "g", "h", "i", "j"])
    letter = np.where(rng.random(3000) < 0.4, "a", rng.choice(ABCD, 3000))
    other = np.where((letter == "a") & (rng.random(3000) < 0.8), LONG, rng.choice(wide.categories.labels, 3000))
    town = rng.choice(["north", "south", "east"], 3000)
    people = pa.table({"letter": letter, "a column with a rather long name": other, "town": town})
    designs = {"letter": UNIFORM, "a column with a rather long name": wide}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        sp.privatize_table(people, designs, folder / "made.parquet", keep=["town"], seed=1)
    release = sp.read_release(folder / "made.parquet")
    options = {"earlier": {"letter": letters(400, seed=7)}, "by": "town", "permutations": 19}
    return write_report(release, folder / "report.html", **options)


@pytest.fixture
def opened(browser, need, report):
    """Open the page in a window of some width; at the end nothing may have been fetched or complained of."""
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    with watched(browser, "file://", fresh=True) as held:

        def open_page(width, media="screen"):
            page = held.page()
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(media=media)
            page.goto(report.as_uri())
            return page

        yield open_page


@pytest.mark.parametrize("width", [320, 1280])
def test_the_document_is_no_wider_than_the_screen(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = page.evaluate(
        "width => [...document.querySelectorAll('p, li, h1, h2, h3, h4, dl, figure, svg, .check-panel, .box')]"
        ".filter(one => one.offsetParent && one.getBoundingClientRect().right > width + 1)"
        ".map(one => one.outerHTML.slice(0, 200))",
        width,
    )
    assert wide == []


def test_on_a_telephone_no_table_hides_a_column(opened):
    """Tables are stacked, a line per cell, so that none has to be scrolled, and every cell says its column's name."""
    page = opened(390)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    boxes = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(one => one.querySelector('table'))"
        ".map(one => [one.getAttribute('aria-label'), one.scrollWidth, one.clientWidth])"
    )
    assert len(boxes) > 10
    assert [name for name, inner, outer in boxes if inner > outer + 1] == []
    cells = page.evaluate(
        """[...document.querySelectorAll('table.stacked')].flatMap(table => {
             const names = [...table.querySelectorAll('thead th')].map(one => one.textContent);
             return [...table.querySelectorAll('tbody tr')].flatMap(row => [...row.cells].slice(1).map((cell, k) => [
               names[k + 1], getComputedStyle(cell, '::before').content, cell.dataset.of ?? null, cell.offsetHeight]));
           })"""
    )
    assert len(cells) > 100
    for name, before, of, height in cells:
        assert height > 0
        assert of == name
        assert before == f'"{name}"'


def test_explained_numbers_keep_their_sentences_on_a_telephone(opened):
    page = opened(390)
    rows = page.evaluate(
        """[...document.querySelectorAll('table.explained tbody tr')].map(row => [...row.cells].map(
             cell => [cell.getBoundingClientRect().left, cell.getBoundingClientRect().right, cell.offsetHeight]))"""
    )
    assert rows
    for row in rows:
        assert all(height > 0 and left >= 0 and right <= 391 for left, right, height in row)


def test_on_a_wide_screen_tables_are_tables(opened):
    page = opened(1280)
    looks = page.evaluate(
        "[...document.querySelectorAll('table.stacked')].filter(one => one.offsetParent)"
        ".map(one => getComputedStyle(one.rows[1]).display)"
    )
    assert set(looks) == {"table-row"}


def test_shades_are_seen_on_the_screen_and_on_paper(opened):
    for media in ("screen", "print"):
        page = opened(1000, media)
        shaded = page.evaluate(
            "[...document.querySelectorAll('td[class^=more-], td[class^=fewer-]')]"
            ".map(one => [getComputedStyle(one).backgroundColor, getComputedStyle(one).printColorAdjust])"
        )
        assert shaded
        for color, adjust in shaded:
            assert color not in ("rgba(0, 0, 0, 0)", "transparent")
            assert adjust == "exact"


@pytest.mark.parametrize("paper", PAPER)
def test_no_table_is_cut_at_the_margin_of_paper(opened, paper):
    width, inner = PAPER[paper]
    page = opened(width, "print")
    page.add_style_tag(content=f"body {{ width: {inner}; }} @page {{ size: {paper}; }}")
    edge = page.evaluate("document.body.getBoundingClientRect().right")
    cut = page.evaluate(
        "edge => [...document.querySelectorAll('td, th, pre, p, li, dd, svg, caption > span')]"
        ".filter(one => one.offsetParent !== null || one.tagName === 'svg')"
        ".filter(one => one.getBoundingClientRect().right > edge + 1)"
        ".map(one => `${one.closest('[aria-label]')?.getAttribute('aria-label')}: ${one.textContent.slice(0, 60)}`)",
        edge,
    )
    assert cut == []
    # What scrolls on a screen is whole on paper.
    hidden = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(one => getComputedStyle(one).overflowX !== 'visible').length"
    )
    assert hidden == 0


@pytest.mark.parametrize("paper", PAPER)
def test_a_small_table_is_on_one_page(opened, need, tmp_path, paper):
    need(*PDFTOTEXT)
    page = opened(1000, "print")
    # A mark in the caption and in the last row of each: where a cell is broken into lines, its text is not found.
    tables = page.evaluate(
        """[...document.querySelectorAll('table')].filter(one => one.offsetParent && one.offsetHeight < 600).map(
             (one, k) => {
               one.caption.firstChild.prepend(`START${k}. `);
               one.rows[one.rows.length - 1].cells[0].prepend(`END${k}. `);
               return one.caption.textContent;
             })"""
    )
    page.pdf(path=tmp_path / "page.pdf", format=paper)
    words = ["pdftotext", "-layout", tmp_path / "page.pdf", "-"]
    sheets = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\f")
    assert len(sheets) > 3
    assert len(tables) > 8
    for k, caption in enumerate(tables):
        (start,), (end,) = (
            [at for at, sheet in enumerate(sheets) if f"{mark}{k}." in sheet] for mark in ("START", "END")
        )
        assert start == end, caption


def test_the_browser_makes_no_request_and_runs_nothing(opened, report):
    page = opened(1000)
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert not re.search(r"\bsrc=|<link\b", report.read_text(encoding="utf-8"))


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_no_rule_of_accessibility_is_broken(opened, need, scheme):
    need(*AXE)
    page = opened(1000)
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert violations(page) == []


def test_checks_with_questions_fit_a_telephone(opened, report, tmp_path):
    path = write_report(asked(), tmp_path / "asked.html")
    page = opened(390)
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
