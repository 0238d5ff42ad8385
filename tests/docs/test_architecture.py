"""The page for people who change the code names what exists, and all packages."""

import re

from pages import ROOT, text

import subsetprivacy as sp

PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = ROOT / "src" / "subsetprivacy"


def test_the_table_has_every_package_once():
    first_cells = re.findall(r"^\| (`[^|]+) \|", text(PAGE), re.MULTILINE)
    listed = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    parts = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert sorted(listed) == sorted(name for name in parts if not name.startswith("_"))


def test_every_file_that_the_page_names_exists():
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*|_choices\.py)`", text(PAGE))
    assert len(named) > 30
    for name in named:
        places = [ROOT / name, PACKAGE / name, PACKAGE / "collect" / "web" / name]
        assert any(place.exists() for place in places), name


def test_the_public_functions_are_public():
    rows = re.findall(r"^\| `[^|]+\|[^|]+\| ([^|]*)\|$", text(PAGE), re.MULTILINE)
    functions = [name for cell in rows for name in re.findall(r"`(\w+)`", cell)]
    assert len(functions) > 25
    assert set(functions) <= set(sp.__all__)
