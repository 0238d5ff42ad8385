"""The site's own extensions do what the build relies on. The build itself is `make docs`."""

import re
from importlib import import_module
from importlib.util import find_spec

import pytest
from pages import ROOT

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


@pytest.mark.parametrize("latex", [r"\sum_{j \in a", r"\unknowncommand x", r"\frac{1}", "x_"])
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
        "# A page\n\nCall `subsetprivacy.estimate`, as this page and [that](https://example.org) do."
    )
    assert [cell.source for cell in book.cells[1:]] == ["x = 1", "print(x)"]


def test_the_help_of_every_command_is_on_its_page(part):
    from subsetprivacy.cli.main import main

    paths = dict(part("help_texts").commands(main, ("subsetprivacy",)))
    members = {(name,) for name in main.commands}
    members |= {(name, inner) for name, group in main.commands.items() for inner in getattr(group, "commands", ())}
    assert set(paths) == {("subsetprivacy",), *(("subsetprivacy", *member) for member in members)}
    for path, text in paths.items():
        assert text.startswith(f"Usage: {' '.join(path)} ")
        assert "-h, --help" in text


def test_attributes_that_share_a_text_become_entries_with_types(part):
    public = part("public")
    lines = ["w", "    The estimate.", "n, m", "    Two numbers.", "", "Notes", "-----", "x, y stays."]
    made = list(public._each_attribute(lines, {"w": "~FloatArray", "n": "int"}))
    assert made[:2] == ["w : ~FloatArray", "    The estimate."]
    assert made[2:6] == ["n : int", "    Two numbers.", "m", "    Two numbers."]
    assert made[6:] == ["", "Notes", "-----", "x, y stays."]
