"""The code of the documentation runs, every link leads somewhere, every claim that names code is true."""

import ast
import os
import re
import shlex
import sys
from pathlib import Path
from pydoc import locate

import pytest
from click.testing import CliRunner
from every_case import every_case
from fresh import run_script
from pages import (
    DOCS,
    PAGES,
    ROOT,
    SITE,
    anchors,
    blocks,
    cells,
    links,
    literals,
    name,
    text,
    toctree,
    unproved,
)
from run_page import as_python

import subsetprivacy as sp
from subsetprivacy.cli.main import main

SOURCES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src" / "subsetprivacy").rglob("*.py")}
ENVIRONMENT = {
    **os.environ,
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),  # for lines of a shell
    "MPLBACKEND": "Agg",
    "OPENBLAS_NUM_THREADS": "1",
    "DOCS": str(DOCS),
}


# Code -------------------------------------------------------------------------------------------


# `make docs` runs the cells of every page and fails if one does, so the suite runs few of them: the first page that a
# newcomer tries, and those whose hidden cells check what the service promises.
IN_THE_SUITE = {"tutorial.md", "reference/collection-protocol.md", "explanation/what-the-service-promises.md"}
WITH_CELLS = [page for page in SITE if cells(page)]


@pytest.mark.parametrize("page", [page for page in WITH_CELLS if name(page) in IN_THE_SUITE], ids=name)
def test_cells_run_in_order(page, tmp_path, tmp_path_factory):
    # A process of its own: what the reader has after opening a fresh notebook in an empty folder.
    script, place = Path(__file__).with_name("run_page.py"), tmp_path_factory.mktemp("said")
    ran = run_script(script, [page], tmp_path, place, ENVIRONMENT)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", [page for page in SITE if blocks(page, "python")], ids=name)
def test_code_blocks_run_in_order(page, tmp_path, tmp_path_factory):
    place = tmp_path_factory.mktemp("said")
    (place / "blocks.py").write_text("\n".join(blocks(page, "python")), encoding="utf-8")
    ran = run_script(place / "blocks.py", [], tmp_path, place, ENVIRONMENT)
    assert ran.returncode == 0, ran.stderr


def test_pages_of_the_short_form_exist():
    assert {name(page) for page in WITH_CELLS} >= IN_THE_SUITE


def test_pages_with_cells_are_notebooks():
    for page in SITE:
        head = text(page).startswith("---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n")
        assert head == bool(cells(page)), f"{name(page)}: front matter and code cells go together"


def test_cells_need_no_notebook():
    for page in SITE:
        for cell in cells(page):
            ast.parse(as_python(cell.source), f"{name(page)}, cell {cell.number}")
            magic = [line for line in cell.source.splitlines() if line.startswith("%") or "get_ipython" in line]
            assert magic == [], f"{name(page)}, cell {cell.number}"


def test_lines_that_are_shown_fit_the_page():
    shown = [(page, cell) for page in SITE for cell in cells(page) if "remove-cell" not in cell.tags]
    assert len(shown) > 200
    wide = [(name(page), line) for page, cell in shown for line in cell.source.splitlines() if len(line) > 88]
    assert wide == []


# Command lines ----------------------------------------------------------------------------------

CONSOLE_PAGES = [page for page in [*SITE, ROOT / "CONTRIBUTING.md"] if blocks(page, "console")]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def command_lines(page):
    """Return the commands of the console blocks; where some lines begin with "$", the others are output."""
    for block in blocks(page, "console"):
        lines = block.splitlines()
        prompted = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        yield from (line for line in prompted or lines if line.strip() and not line.startswith("#"))


def takes_long(words):
    return words[1:2] == ["serve"] or (words[1:2] == ["reproduce"] and "all" in words)


def parse(words):
    """Parse a command line without running it, down to the command's own options."""
    command, rest, context = main, words[1:], None
    while True:
        context = command.make_context(command.name, list(rest), parent=context)
        if not hasattr(command, "commands"):
            return
        _, command, rest = command.resolve_command(context, context._protected_args + context.args)


@pytest.mark.parametrize("page", CONSOLE_PAGES, ids=name)
def test_command_lines_run(page, tmp_path, monkeypatch):
    # In this process, whose pictures need no window. Each page starts in an empty folder.
    monkeypatch.chdir(tmp_path)
    for line in command_lines(page):
        words = shlex.split(line, comments=True)
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", MAKEFILE, re.MULTILINE), line
        elif words[0] == "subsetprivacy" and takes_long(words):
            parse(words)
        elif words[0] == "subsetprivacy":
            ran = CliRunner().invoke(main, words[1:], prog_name="subsetprivacy")
            assert ran.exit_code == 0, f"{line}\n{ran.output}"
        else:
            assert words[0] in {"pip", "python", "cd", "git", "jupyter"}, f"nobody checks: {line}"


def test_commands_that_are_not_run_parse_and_can_be_copied(monkeypatch):
    # Blocks of `sh` are for files that a reader has. Blocks of `text` have no button that copies them.
    monkeypatch.setattr("subsetprivacy.cli.options.FilePath.convert", lambda self, value, parameter, context: value)
    parsed = 0
    for page in SITE:
        assert [block for block in blocks(page, "text") if block.startswith("subsetprivacy ")] == [], name(page)
        for block in blocks(page, "sh"):
            for line in re.split(r"[|\n]", block.replace("\\\n", " ")):
                words = shlex.split(line.partition(" > ")[0], comments=True)
                if words[:1] == ["subsetprivacy"]:
                    parse(words)
                    parsed += 1
    assert parsed > 20


def test_a_command_line_that_is_wrong_does_not_parse():
    import click

    parse(["subsetprivacy", "design", "uniform", "a", "b", "c", "d"])
    for line in ("design uniform a b --colour red", "desing uniform a b"):
        with pytest.raises(click.UsageError, match="No such"):
            parse(["subsetprivacy", *line.split()])


# Links and contents -----------------------------------------------------------------------------


@every_case(
    "page",
    [*PAGES, *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "RELEASING", "SECURITY"))],
    ids=name,
)
def test_links_between_pages_lead_somewhere(page):
    for target, anchor in links(page):
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(place), f"{name(page)} links to {target}#{anchor}"


def test_links_into_the_reference_name_what_is_there():
    for page in SITE:
        for target in re.findall(r"\{py:\w+\}`~?([\w.]+)(?:\(\))?`", text(page)):
            assert locate(target) is not None, f"{name(page)} refers to {target}"


def test_every_page_is_in_one_table_of_contents():
    listed = [entry for page in SITE for entry in toctree(page)]
    assert sorted(listed) == sorted(page for page in SITE if page != DOCS / "index.md")


def test_every_public_name_is_in_one_group_of_the_reference():
    listed = []
    for page in (DOCS / "reference" / "api").glob("*.md"):
        for block in blocks(page, "{public}"):
            listed += [line for line in block.split() if "." not in line and not line.startswith(":")]
    assert sorted(listed) == sorted(sp.__all__)


def test_every_inner_name_of_the_reference_exists():
    for page in (DOCS / "reference" / "api").glob("*.md"):
        for block in blocks(page, "{public}"):
            for inner in (line for line in block.split() if "." in line):
                assert locate(f"subsetprivacy.{inner}") is not None, f"{name(page)} documents {inner}"


# What names code --------------------------------------------------------------------------------


def table_rows(page):
    lines = [line for line in text(page).splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


PAPER_MAP = table_rows(DOCS / "paper-map.md")


def source_of(module):
    path = ROOT / "src" / "subsetprivacy" / Path(*module.split("."))
    return SOURCES.get(path.with_suffix(".py")) or SOURCES.get(path / "__init__.py")


@every_case(("label", "module"), [(r[0].strip("`"), r[2].strip("` |")) for r in PAPER_MAP if "—" not in r[2]])
def test_paper_map_names_a_module_that_cites_the_label(label, module):
    source = source_of(module)
    assert source is not None, f"no module {module}"
    assert f"`{label}`" in source


def test_labels_cited_in_the_code_stand_in_the_paper_map():
    labels = {row[0].strip("`") for row in PAPER_MAP}
    shape = re.compile(r"`((?:fig|tab|sec|subsec|thm|eq)[:_][\w:-]+)`")
    cited = {label for source in SOURCES.values() for label in shape.findall(source)}
    assert cited <= labels
    assert len(cited) >= 8  # the pattern still finds citations


def functions_of_tests(names):
    """Return tests by their names, their parameters included."""
    wanted = re.compile(rf"^def (?:{'|'.join(sorted(names))})\(", re.MULTILINE)
    trees = [ast.parse(content) for path in (ROOT / "tests").rglob("test_*.py") if wanted.search(content := text(path))]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_numbers_of_the_errata_stand_in_the_tests_they_name():
    functions = functions_of_tests(re.findall(r"`(test_\w+)`", text(DOCS / "errata.md")))
    lines = [line for line in text(DOCS / "errata.md").splitlines() if line.startswith("| ") and "`test_" in line]
    rows = [line.strip("| ").split(" | ") for line in lines]
    assert len(rows) >= 20
    for _, _, right, tests in rows:
        known = {
            number for test in re.findall(r"`(test_\w+)`", tests) for number in literals(ast.unparse(functions[test]))
        }
        assert unproved(re.sub("`[^`]*`", "", right), known) == [], right


def test_errata_name_tests_that_exist():
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", text(DOCS / "errata.md")))
    assert len(named) >= 10
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_every_public_name_can_be_imported_and_is_documented():
    for public in sp.__all__:
        assert getattr(sp, public).__doc__, public
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sp.nothing  # noqa: B018


# The glossary -----------------------------------------------------------------------------------

GLOSSARY = DOCS / "reference" / "glossary.md"


def glossary():
    """Return the terms of the glossary with their definitions."""
    entries = re.findall(r"^(\S.*)\n  (\S.*(?:\n  \S.*)*)$", "\n".join(blocks(GLOSSARY, "{glossary}")), re.MULTILINE)
    return [(term, re.sub(r"\s+", " ", meaning)) for term, meaning in entries]


def test_every_term_has_one_short_entry():
    terms = [term.lower() for term, _ in glossary()]
    assert len(terms) >= 80
    assert len(set(terms)) == len(terms)
    for term, meaning in glossary():
        assert meaning.endswith("."), term
        assert len(meaning.split()) <= 40, term


def test_links_to_the_glossary_name_a_term():
    terms = {term.lower() for term, _ in glossary()}
    for page in SITE:
        for shown, target in re.findall(r"\{term\}`([^`<]+?)(?:\s*<([^`>]+)>)?`", text(page)):
            assert re.sub(r"\s+", " ", target or shown).lower() in terms, f"{name(page)} links to {target or shown}"


# Pictures ---------------------------------------------------------------------------------------


def test_the_gallery_has_every_picture():
    drawn = {public for public in sp.__all__ if hasattr(getattr(sp, public), "plot")}
    assert len(drawn) > 40
    assert set(re.findall(r"\{py:meth\}`subsetprivacy\.(\w+)\.plot`", text(DOCS / "gallery.md"))) == drawn


# Citing -----------------------------------------------------------------------------------------


def test_the_entries_to_cite_agree_with_the_citation_file():
    paper, package = (
        dict(re.findall(r"(\w+) += \{(.+)\},?$", b, re.MULTILINE)) for b in blocks(DOCS / "cite.md", "bibtex")
    )
    citation = text(ROOT / "CITATION.cff")
    own, preferred = citation.split("preferred-citation:")
    field = dict(re.findall(r"^ *(?:- )?([\w-]+): *\"?([^\"\n]+)\"?$", own, re.MULTILINE))
    assert package["title"] == field["title"]
    assert package["author"] == f"{{{field['name']}}}"
    assert package["version"] == field["version"] == sp.__version__
    assert package["url"] == field["repository-code"]
    field = dict(re.findall(r"^ *(?:- )?([\w-]+): *\"?([^\"\n]+)\"?$", preferred, re.MULTILINE))
    assert paper["title"] == field["title"]
    names = re.findall(r"family-names: (\w+)\n +given-names: (\w+)", preferred)
    assert paper["author"] == " and ".join(f"{family}, {given}" for family, given in names)
    assert (paper["year"], paper["url"]) == (field["year"], field["url"])
    assert paper["journal"] == f"{field['journal']} {field['value']}"
