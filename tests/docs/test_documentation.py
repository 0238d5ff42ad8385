"""Every code block of the documentation runs, and every claim that names code is true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "src" / "subsetprivacy").rglob("*.py")}


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_code_blocks_run_in_order(page, tmp_path):
    # A process of its own: what the reader has after opening a fresh interpreter.
    program = "import matplotlib; matplotlib.use('Agg')\n" + "\n".join(blocks(page, "python"))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr


def test_readme_shows_what_its_quickstart_prints(tmp_path):
    readme = ROOT / "README.md"
    run = subprocess.run(
        [sys.executable, "-c", blocks(readme, "python")[0]], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    shown = blocks(readme, "text")[0].split("...")[0]
    assert run.stdout.startswith(shown)


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?://)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def table_rows(page):
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


PAPER_MAP = table_rows(ROOT / "docs" / "paper-map.md")


def source_of(module):
    path = ROOT / "src" / "subsetprivacy" / Path(*module.split("."))
    return SOURCES.get(path.with_suffix(".py")) or SOURCES.get(path / "__init__.py")


@pytest.mark.parametrize(
    ("label", "module"), [(r[0].strip("`"), r[2].strip("` |")) for r in PAPER_MAP if "—" not in r[2]]
)
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


def test_errata_name_tests_that_exist():
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")))
    assert len(named) >= 10
    assert {name for name in named if f"def {name}(" not in tests} == set()


def test_every_public_name_can_be_imported_and_is_documented():
    import subsetprivacy as sp

    for name in sp.__all__:
        assert getattr(sp, name).__doc__, name
    assert set(sp.__all__) == set(sp._HOME)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sp.nothing  # noqa: B018
