"""What the pages of the documentation hold: cells, blocks, links, toctrees, numbers."""

import ast
import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
SITE = [page for page in sorted(DOCS.rglob("*.md")) if not {"_build", "pictures", "results"} & set(page.parts)]
PAGES = [README, *SITE]
COMMAND = re.compile(r"^!((?:.*\\\n)*.+)$", re.MULTILINE)  # a line of a shell, which a backslash continues
FENCE = re.compile(r"^(`{3,}|:{3,})([^\n`]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


def name(page):
    """Say which page it is, for the names of tests."""
    return page.relative_to(ROOT).as_posix().removeprefix("docs/")


def text(page):
    return page.read_text(encoding="utf-8")


class Cell(NamedTuple):
    number: int
    source: str
    tags: tuple[str, ...]


def blocks(page, language):
    """Return the contents of the fenced blocks of a language."""
    return [body for _, info, body in FENCE.findall(text(page)) if info.strip() == language]


def cells(page):
    """Return the code cells of a text notebook."""
    found = [body for _, info, body in FENCE.findall(text(page)) if info.strip().startswith("{code-cell}")]
    return [_cell(number, body) for number, body in enumerate(found, 1)]


def _cell(number, body):
    if body.startswith("---\n"):
        options, body = body.removeprefix("---\n").split("---\n", 1)
    else:
        options = "".join(re.match(r"(?::[\w-]+:.*\n)*", body).group())
        body = body.removeprefix(options)
    tags = re.search(r"tags: *\[(.*?)\]", options)
    return Cell(number, body.strip("\n"), tuple(re.split(r"[\s,]+", tags.group(1))) if tags else ())


def without_code(page):
    """Return the prose and tables of a page: no front matter, no fences, no inline code, no targets of links."""
    prose = re.sub(r"\A---\n.*?\n---\n", "", text(page), flags=re.DOTALL)
    prose = FENCE.sub(_keep_prose, prose)
    prose = re.sub(r"<!--.*?-->", "", prose, flags=re.DOTALL)
    prose = re.sub(r"\{[\w:-]+\}`[^`]*`|(`+)(?!`).+?(?<!`)\1(?!`)", "`…`", prose, flags=re.DOTALL)
    prose = re.sub(r"\]\([^)\s]*\)", "]", prose)
    return re.sub(r"https?://\S+", "", prose)


def _keep_prose(match):
    """Of fences only notes and the like hold prose; code, output and lists of pages do not."""
    info = match.group(2).strip()
    prose = re.match(
        r"\{(note|tip|warning|important|caution|hint|seealso|admonition|dropdown|math|table|list-table)\}", info
    )
    return FENCE.sub(_keep_prose, match.group(3)) if prose else ""


# Numbers ----------------------------------------------------------------------------------------

NUMBER = r"(?<![\w.,/:^_-])(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?"
PATTERNS = {
    "percent": re.compile(rf"({NUMBER})[   ]?\\?(?:%|per cent\b|percent\b)"),
    "times": re.compile(rf"({NUMBER})[   ]times\b"),
    "bits": re.compile(rf"({NUMBER})[   -]bits?\b"),
    "decimal": re.compile(r"(?<![\w.])(?<!\w-)((?:\d{1,3}(?:,\d{3})+|\d*)\.\d+)(?![\w.]*\d)"),
}
NOT_A_CLAIM = re.compile(r"\b(?:Python|NumPy|SciPy|version|draft|Sphinx|attrs|click) \d+(?:\.\d+)*|\barXiv:\d+\.\d+")


def numbers(prose):
    """Return the numbers of a text that a page must compute: decimals, percentages, "n times", "n bits".

    >>> sorted(numbers("up to 3.3 times, in 12 % of the rows, .41 bit, Python 3.11, 300 people"))
    [('.41', False), ('12', True), ('3.3', False)]
    """
    prose = NOT_A_CLAIM.sub("", prose)
    found = set()
    for kind, pattern in PATTERNS.items():
        found |= {(number, kind == "percent") for number in pattern.findall(prose) if number}
    percents = {number for number, percent in found if percent}
    return {(number, percent) for number, percent in found if percent or number not in percents}


def value(number):
    """Return the number that a text writes, with or without commas between thousands.

    >>> value("32,561"), value(".5")
    (32561.0, 0.5)
    """
    return float(number.replace(",", ""))


def spaced(prose):
    """Return the numbers of a text whose thousands are separated by spaces and not by commas.

    >>> spaced("of 32 561 people, 8,192 at a time, in 2016 300 of them")
    ['32 561']
    """
    return re.findall(r"(?<![\w.,:/-])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\w.]*\d)", prose)


def literals(code):
    """Return the numbers that stand in code.

    >>> sorted(literals("assert round(x, 2) == 0.67"))
    [0.67, 2.0]
    """
    constants = (node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant))
    return {float(n) for n in constants if isinstance(n, (int, float)) and not isinstance(n, bool)}


def literals_of_cells(page):
    """Return the numbers in the cells of a page, those of its command lines included."""
    found = set()
    for cell in cells(page):
        found |= literals(COMMAND.sub("", cell.source))
        for word in (word for line in COMMAND.findall(cell.source) for word in shlex.split(line, comments=True)):
            found |= {float(part) for part in re.split("[,=]", word) if re.fullmatch(r"\d*\.?\d+", part)}
    return found


def unproved(prose, known):
    """Return the numbers of a text that are not among the known ones; "12 %" may be known as 12 or as 0.12."""

    def is_known(number, percent):
        candidates = [value(number), value(number) / 100] if percent else [value(number)]
        return any(abs(candidate - other) <= 1e-12 for candidate in candidates for other in known)

    return sorted(
        number + (" %" if percent else "") for number, percent in numbers(prose) if not is_known(number, percent)
    )


# Links ------------------------------------------------------------------------------------------


def links(page):
    """Return the targets of a page's links to files, and their anchors."""
    prose = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", FENCE.sub(lambda m: _keep_prose(m), text(page)), flags=re.DOTALL)
    targets = re.findall(r"\]\((?!https?://|mailto:)<?([^)\s>]+)>?\)", prose)
    return [target.partition("#")[::2] for target in targets]


def anchors(page):
    """Return what a link to a page may name after "#": its headings as GitHub and the site write them, its targets."""
    plain = FENCE.sub("", text(page))
    headings = re.findall(r"^#{1,6} +(.+?) *$", plain, re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings]
    repeated = [f"{slug}-{n}" for slug in set(slugs) for n in range(1, slugs.count(slug))]
    return {*slugs, *repeated, *re.findall(r"^\(([\w-]+)\)=$", plain, re.MULTILINE)}


def toctree(page):
    """Return the pages that a page's toctrees list."""
    listed = []
    for _, info, body in FENCE.findall(text(page)):
        if info.strip() != "{toctree}":
            continue
        entries = [line.strip() for line in body.splitlines() if line.strip() and not line.startswith(":")]
        for entry in (re.sub(r".*<(.+)>", r"\1", entry) for entry in entries):
            if "*" in entry:
                listed += sorted((page.parent / entry).resolve().parent.glob(f"{Path(entry).name}.md"))
            else:
                listed.append((page.parent / f"{entry.removesuffix('.md')}.md").resolve())
    return listed
