"""The site's own extensions do what the build relies on. The build itself is `make docs`."""

import re
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from browser import CHROMIUM, PLAYWRIGHT, chromium
from every_case import every_case
from pages import DOCS, ROOT, text

from subsetprivacy.design.document import kinds

SOURCES = sorted((ROOT / "src" / "subsetprivacy").rglob("*.py"))
FORMULA = re.compile(r":math:`([^`]+)`", re.DOTALL)


@pytest.fixture
def part(need):
    """Import an extension of the site, where Sphinx is there."""

    def load(name):
        need("Sphinx", find_spec("sphinx") and find_spec("latex2mathml") and find_spec("myst_nb"), "make .venv/.docs")
        return import_module(name)

    return load


def formulas():
    """Return the formulas of all docstrings, as docutils hands them on."""
    for path in SOURCES:
        for raw in FORMULA.findall(path.read_text(encoding="utf-8")):
            yield path, re.sub(r"\s+", " ", raw)


def test_every_formula_of_the_docstrings_becomes_mathml(part):
    mathml = part("mathml")
    found = list(formulas())
    assert len(found) > 150
    wrong = [(path.name, latex) for path, latex in found if mathml.convert_or_explain(latex, "inline")[1]]
    assert wrong == []


@every_case("latex", [r"\sum_{j \in a", r"\unknowncommand x", r"\frac{1}", "x_"])
def test_a_formula_that_cannot_be_read_is_found(part, latex):
    made, problem = part("mathml").convert_or_explain(latex, "inline")
    assert made == ""
    assert problem


def test_a_formula_is_written_as_mathml(part):
    made, problem = part("mathml").convert_or_explain(r"\hat w = Q^{-1}\gamma", "block")
    assert problem == ""
    assert made.startswith("<math")
    assert 'display="block"' in made


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<script src="https://cdn.example.org/x.js"></script>', ["https://cdn.example.org/x.js"]),
        ('<link rel="stylesheet" href="//fonts.example.org/a.css">', ["//fonts.example.org/a.css"]),
        ('<img src="http://example.org/a.png" alt="">', ["http://example.org/a.png"]),
        ("<style>@import 'https://example.org/a.css';</style>", ["https://example.org/a.css"]),
        ('<p style="background: url(https://example.org/a.png)">', ["https://example.org/a.png"]),
        ('<a href="https://example.org/">a link that a reader may follow</a>', []),
        ('<script src="_static/furo.js"></script><img src="_images/a.svg">', []),
        ('<svg xmlns="http://www.w3.org/2000/svg"></svg>', []),
    ],
)
def test_requests_to_other_hosts_are_found(part, page, expected, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(page, encoding="utf-8")
    assert part("offline").requests_elsewhere(file) == expected


def test_a_style_sheet_that_fetches_a_font_is_found(part, tmp_path):
    file = tmp_path / "a.css"
    file.write_text("@font-face { src: url('https://example.org/a.woff2'); }", encoding="utf-8")
    assert part("offline").requests_elsewhere(file) == ["https://example.org/a.woff2"]


PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---
# A page

Call {py:func}`subsetprivacy.estimate`, as [this page](../tutorial.md#read) and [that](https://example.org) do.
A {term}`design` draws {term}`subsets <subset>`.

```{code-cell} python
x = 1
```

```{code-cell} python
:tags: [remove-cell]
assert x == 1
```

```{code-cell} python
---
tags: [hide-input]
mystnb:
  image:
    alt: A picture
---
print(x)
```
"""


def test_a_page_becomes_a_notebook_without_its_checks(part):
    book = part("as_notebook").notebook(PAGE)
    assert [cell.cell_type for cell in book.cells] == ["markdown", "code", "code"]
    assert book.cells[0].source == (
        "# A page\n\nCall `subsetprivacy.estimate`, as this page and [that](https://example.org) do.\n"
        "A design draws subsets."
    )
    assert [cell.source for cell in book.cells[1:]] == ["x = 1", "print(x)"]


def drawing(draw):
    """Return a picture as the site has it."""
    from io import StringIO

    from matplotlib.figure import Figure

    figure = Figure()
    draw(figure)
    file = StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def test_a_picture_is_described_by_its_own_words(part, need):
    need("Matplotlib", find_spec("matplotlib"), 'pip install ".[plot]"')

    def draw(figure):
        ax = figure.subplots()
        ax.plot([1, 2], [3, 4], label="moments")
        ax.annotate("the truth", (1.5, 3.5))
        ax.set(xlabel="people", yticks=[3, 4], yticklabels=["red", "blue"], title="Is it so?")
        ax.legend()

    assert (
        part("alt_text").words(drawing(draw)) == "Is it so? Across: people. Up: red; blue. Shown: moments; the truth."
    )
    assert part("alt_text").words(drawing(lambda figure: figure.subplots().plot([1, 2]))) == ""


def test_the_pictures_of_the_package_are_described_by_title_and_categories(part, need):
    need("Matplotlib", find_spec("matplotlib"), 'pip install ".[plot]"')
    import subsetprivacy as sp

    fit = sp.estimate(sp.simulate(sp.uniform(["red", "blue", "green", "black"]), [0.4, 0.3, 0.2, 0.1], 2000, seed=1))

    def draw(figure):
        fit.plot(ax=figure.subplots())

    said = part("alt_text").words(drawing(draw))
    assert said.startswith("Estimated shares, 95% intervals, n = 2,000. Across: share of the population, 95% interval.")
    assert "Up: red; blue; green; black." in said


def test_a_picture_without_words_has_the_sentence_before_its_cell(part):
    part("alt_text")
    from docutils import nodes

    cell = nodes.container(classes=["cell"])
    nodes.section("", nodes.paragraph(text="First this. Then look at the balls:"), cell)
    assert part("alt_text").before(cell) == "Then look at the balls."
    nodes.section("", cell)
    assert part("alt_text").before(cell) == ""


RULE = "-" * 40


@every_case(
    ("text", "expected"),
    [
        ("short", [("short", False)]),
        ("a word " * 20, [("a word " * 20, True)]),
        (f"T\n{RULE}\n1\n{RULE}\n" + "a word " * 20, [(f"T\n{RULE}\n1\n{RULE}", False), ("a word " * 20, True)]),
        (f"T\n{RULE}\n{'1   ' * 40}\n{RULE}\nshort", [(f"T\n{RULE}\n{'1   ' * 40}\n{RULE}\nshort", False)]),
        ("1    2\n" + "a word " * 20, [("1    2\n" + "a word " * 20, False)]),
    ],
)
def test_sentences_that_a_cell_prints_are_wrapped_and_tables_are_not(part, text, expected):
    assert part("outputs").parts(text) == expected


def test_the_help_of_every_command_is_on_its_page(part):
    from subsetprivacy.cli.main import main

    paths = dict(part("help_texts").commands(main, ("subsetprivacy",)))
    members = {(name,) for name in main.commands}
    members |= {(name, inner) for name, group in main.commands.items() for inner in getattr(group, "commands", ())}
    assert set(paths) == {("subsetprivacy",), *(("subsetprivacy", *member) for member in members)}
    for path, help_text in paths.items():
        assert help_text.startswith(f"Usage: {' '.join(path)} ")
        assert "-h, --help" in help_text


def test_every_kind_of_design_is_on_its_page(part):
    """A reader took `uniform` for all proper subsets: its section says what is excluded, and lists every report."""
    page = part("design_kinds")
    sections = {title: page.section_text(kind) for kind, title in page.titles().items()}
    assert {title.split()[0] for title in sections} == set(kinds())
    uniform = sections["uniform"]
    assert "at least two members that leaves out at least two categories" in uniform
    assert "neither a single category, nor all but one, nor the full set" in uniform
    listed = re.findall(r"^\| (\d+) \| ([a-e, ]+) \| 1/10 \|", uniform, re.MULTILINE)
    assert sorted(len(report.split(", ")) for _, report in listed) == [2] * 10 + [3] * 10


def test_the_tables_of_designs_are_their_probabilities(part):
    page = part("design_kinds")
    for kind in page.titles():
        design = kind.example()
        rows = re.findall(r"^\| (\d+) \| .*? \| ([\d/. |]+) \|$", page.section_text(kind), re.MULTILINE)
        if not design.is_known:
            assert rows == []
            continue
        found = {int(code): [float(Fraction(number)) for number in numbers.split(" | ")] for code, numbers in rows}
        assert sorted(found) == sorted(design.support()[0].tolist())
        totals = np.sum([numbers[1:] for numbers in found.values()], axis=0)
        assert totals == pytest.approx(np.ones(design.p), abs=1e-5)
        weights = [found[code][0] for code in design.support()[0].tolist()]
        assert weights == pytest.approx(design.support()[1], abs=1e-6)


def test_every_formula_of_a_design_becomes_mathml(part):
    mathml = part("mathml")
    for classes in kinds().values():
        for formula in (kind.formula for kind in classes):
            texts = (formula.reports, formula.codes, formula.missing, *(meaning for _, meaning in formula.symbols))
            inside = [tex for text in texts for tex in re.findall(r"\$([^$]+)\$", text)]
            given = [formula.weight, formula.probability, formula.width, *(symbol for symbol, _ in formula.symbols)]
            assert [tex for tex in (*inside, *given) if tex and mathml.convert_or_explain(tex, "block")[1]] == []


def test_every_claim_is_in_the_tables_of_adversaries(part):
    adversaries = part("adversaries")
    found = [(name, sentence) for start in adversaries.SECTIONS for name, sentence, _ in adversaries.claims_of(start)]
    assert {name for name, _ in found} == adversaries.read()["claims"].keys()
    assert len(found) == len({name for name, _ in found})
    assert ("promise.number", "The secret number never leaves this device.") in found
    for start in adversaries.SECTIONS:
        text = adversaries.table(start).astext()
        for name, sentence, claim in adversaries.claims_of(start):
            for said in (name, sentence, claim["adversary"], claim["can"], claim["property"], *claim["tests"]):
                assert said.rpartition("::")[2] in text, (name, said)


def test_attributes_that_share_a_text_become_entries_with_types(part):
    public = part("public_names")
    lines = ["w", "    The estimate.", "n, m", "    Two numbers.", "", "Notes", "-----", "x, y stays."]
    made = list(public._each_attribute(lines, {"w": "~FloatArray", "n": "int"}))
    assert made[:2] == ["w : ~FloatArray", "    The estimate."]
    assert made[2:6] == ["n : int", "    Two numbers.", "m", "    Two numbers."]
    assert made[6:] == ["", "Notes", "-----", "x, y stays."]


def test_a_stored_subset_follows_from_value_and_question(part):
    people = part("people")
    categories = ["black", "red", "green", "blue"]
    assert people.stored("red", ["red", "blue"], categories) == ("yes", ["red", "blue"])
    assert people.stored("black", ["red", "green"], categories) == ("no", ["black", "blue"])
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", people.card("black", ["red", "green"], categories)))
    assert words.strip() == "has black “Is it red or green?” No. stored black blue"


def test_people_on_the_front_page_have_what_is_stored(part):
    """Two people with different values can have the same subset: the picture shows it."""
    people = part("people")
    categories, lines = re.search(r"```\{people\} (.*?)\n(.*?)```", text(DOCS / "index.md"), re.DOTALL).groups()
    rows = [(value, asked.split(", ")) for value, asked in re.findall(r"(\w+): (.+)", lines)]
    kept = [people.stored(value, asked, categories.split(", "))[1] for value, asked in rows]
    assert sorted(value for value, _ in rows) == sorted(categories.split(", "))
    assert all(value in subset and len(subset) >= 2 for (value, _), subset in zip(rows, kept, strict=True))
    assert len({tuple(sorted(subset)) for subset in kept}) < len(kept)


@every_case(
    ("source", "expected"),
    [
        ("x = 1", [("python", "x = 1")]),
        ("!head -n 3 a.csv", [("console", "head -n 3 a.csv")]),
        (
            "x = 1\n\n# look\n!ls \\\n  -l\ny = 2",
            [("python", "x = 1"), ("console", "# look\nls \\\n  -l"), ("python", "y = 2")],
        ),
        ("# no command\nx = 1", [("python", "# no command\nx = 1")]),
    ],
)
def test_commands_of_a_cell_can_be_pasted(part, source, expected):
    assert part("shell_cells").parts(source) == expected


def test_records_of_decisions_are_not_searched(part):
    searched = part("unsearched").is_searched
    assert not searched("decisions/0001-codes-are-int64-masks")
    assert searched("decisions/index")
    assert searched("tutorial")


def test_the_sidebar_marks_the_page_and_has_its_addresses(part):
    navigation = part("navigation")
    from docutils import nodes

    def entry(address, *inner):
        link = nodes.reference("", "x", refuri=address, internal=True)
        return nodes.list_item("", nodes.paragraph("", "", link), *inner)

    tree = nodes.bullet_list("", entry("a.html", nodes.bullet_list("", entry("deep/b.html"))), entry("c.html"))
    made = navigation.tree_for(tree, "index.html", "deep/b.html")
    assert [link["refuri"] for link in made.findall(nodes.reference)] == ["../a.html", "#", "../c.html"]
    assert ["current" in item["classes"] for item in made.findall(nodes.list_item)] == [True, True, False]
    assert "current" not in str(tree)


def test_every_public_name_is_in_the_index_of_the_library(part):
    import subsetprivacy as sp

    names_on = part("public_names").names_on
    folder = DOCS / "reference" / "api"
    pages = re.findall(r"^```\{names\} (\S+)", text(folder / "index.md"), re.MULTILINE)
    listed = [name for page in pages for name in names_on(text(folder / f"{page}.md"))]
    assert sorted(listed) == sorted(sp.__all__)


COPIED = {
    "pip install .\n": "pip install .",
    "$ echo a\na\n$ echo b \\\n  c\nb c\n": "echo a\necho b \\\n  c",
    ">>> x = [\n...     1]\n>>> x\n[1]\n": "x = [\n    1]\nx",
}


def test_a_button_copies_code_without_prompts_and_output(need, tmp_path):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    blocks = "".join(f'<div class="highlight"><pre>{shown.replace(">", "&gt;")}</pre></div>' for shown in COPIED)
    output = '<div class="cell_output"><div class="highlight"><pre>1</pre></div></div>'
    page_text = f'<!doctype html><title>t</title><article>{blocks}{output}</article><script src="site.js"></script>'
    (tmp_path / "site.js").write_text(text(DOCS / "_static" / "site.js"), encoding="utf-8")
    (tmp_path / "page.html").write_text(page_text, encoding="utf-8")
    with chromium() as browser:
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        buttons = page.get_by_role("button", name="Copy this code")
        assert buttons.count() == len(COPIED)
        for number, expected in enumerate(COPIED.values()):
            buttons.nth(number).click()
            page.get_by_role("status").get_by_text("Copied").wait_for()
            assert page.evaluate("navigator.clipboard.readText()") == expected
            page.wait_for_function("document.querySelector('.copy-status').textContent === ''")
        context.close()


WIDE = '<svg width="900" height="40"></svg>'


def test_what_is_wider_than_a_telephone_says_so_and_scrolls_by_keyboard(need, tmp_path):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    boxes = {
        "picture": f'<div class="cell_output" id="picture">{WIDE}</div>',
        "formula": f'<div class="math-block" id="formula">{WIDE}</div>',
        "table": f'<div class="table-wrapper" id="table"><table><tr><td>{WIDE}</td></tr></table></div>',
        "narrow": '<div class="cell_output" id="narrow">1</div>',
    }
    head = '<!doctype html><title>t</title><link rel="stylesheet" href="site.css">'
    page_text = f'{head}<article>{"".join(boxes.values())}</article><script src="site.js"></script>'
    for name in ("site.js", "site.css"):
        (tmp_path / name).write_text(text(DOCS / "_static" / name), encoding="utf-8")
    (tmp_path / "page.html").write_text(page_text, encoding="utf-8")
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 390, "height": 800})
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        page.locator("#table.scrolls").wait_for()
        reached = {name: page.locator(f"#{name}").get_attribute("tabindex") for name in boxes}
        hints = {
            name: page.evaluate(f"getComputedStyle(document.getElementById('{name}'), '::before').content")
            for name in ("picture", "table", "narrow")
        }
        context.close()
    assert reached == {"picture": "0", "formula": "0", "table": "0", "narrow": None}
    assert "Scroll to see all of it" in hints["picture"]
    assert "Scroll to see all columns" in hints["table"]
    assert hints["narrow"] == "none"


def test_names_of_code_break_at_their_joints_only(need, tmp_path):
    need(*PLAYWRIGHT)
    need(*CHROMIUM)
    long = "test_the_histogram_of_normalized_estimates"
    shown = f'<code class="literal"><span class="pre">--help</span></code> <code><span class="pre">{long}</span></code>'
    (tmp_path / "site.js").write_text(text(DOCS / "_static" / "site.js"), encoding="utf-8")
    page_text = (
        f'<!doctype html><title>t</title><article>{shown}<p><code>-h</code></article><script src="site.js"></script>'
    )
    (tmp_path / "page.html").write_text(page_text, encoding="utf-8")
    with chromium() as browser:
        context = browser.new_context()
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        names = page.locator("code .pre, p code")
        made = [names.nth(number).evaluate("node => [node.className, node.innerHTML]") for number in range(3)]
        copied = names.nth(1).text_content()
        context.close()
    assert [made[0], made[2]] == [["pre whole", "--help"], ["whole", "-h"]]
    assert made[1][1] == long.replace("_", "_<wbr>") + "<wbr>"
    assert copied == long


def test_captions_of_contents_are_headings_with_a_level(part):
    context = {"body": '<p class="caption" role="heading"><span>Ask people</span></p>'}
    part("navigation").give_levels(None, "how-to/index", "page.html", context, None)
    assert context["body"] == '<p class="caption" role="heading" aria-level="2"><span>Ask people</span></p>'
