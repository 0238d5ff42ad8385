"""Count the words that our guide to writing replaces, and semicolons per sentence, by kind of text. Not a gate.

python tests/docs/wording.py                     # a table, by kind of text
python tests/docs/wording.py --compare v0.1      # the same, next to an older state
python tests/docs/wording.py --where how-to      # every place, in the kinds of text whose name begins so
python tests/docs/wording.py --words             # how often each listed word occurs
"""

import argparse
import ast
import io
import json
import re
import subprocess
import tarfile
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

# What we avoid, and how to find it. "law" is right in the names of the exact tests, "held" in "held out": the report
# counts them all the same, so its numbers are not meant to reach 0.
LISTED = {
    "whoever": r"whoever",
    "somebody, nobody, everybody": r"somebody|nobody|everybody",
    "beside, side by side": r"beside|side by side",
    "stands": r"stands?(?= (?:in|on|at|for|here|there|nowhere|above|below|next|alone)\b)",
    "anew": r"anew",
    "gives away": r"(?:gives?|gave|given|giving) away",
    "of its own, by itself": r"of (?:its|their|one's) own|by (?:itself|themselves)",
    "goes on": r"go(?:es)? on",
    "bears, mends, comes along, no good": r"bears?|mend(?:s|ed|ing)?|comes? along|no good",
    "law": r"laws?",
    "room, door, floor, staircase, house, road": r"rooms?|doors?|floors?|staircases?|houses?|roads?",
    "doubt": r"doubt(?:s|ed|ful)?",
    "held": r"held",
    "the matter with": r"the matter with",
    "British spelling": r"\w*(?:colour|behaviour|neighbour|favour)\w*|(?:de)?centre[sd]?|licen[c]e|grey"
    r"|(?:privat|random|summar|recogn|organ|normal|maxim|minim|real|general|penal|standard|categor|anonym|factor|equal|optim"
    r"|character|visual|special|util|author|parametr|regular|symmetr|tabul)is(?:e|es|ed|ing|ation)",
}
PATTERNS = {name: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for name, pattern in LISTED.items()}
VAGUE_NAMES = {"held", "one", "found", "said", "came", "told", "again"}
VAGUE_MODULES = {
    *("piles", "heaps", "alone", "trouble", "spelled", "asked", "door", "crew", "shipped", "stored", "written"),
    *("wiping", "erasing", "keeping", "held", "drawn", "doubt", "doubts", "apart", "told", "said", "came"),
}

MARKUP = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>|https?://\S+|&\w+;|\{\{.*?\}\}|\{%.*?%\}")
SENTENCE_END = re.compile(r"[.!?:](?=\s|$)")


class Passage(NamedTuple):
    """A piece of text, the kind it belongs to, and where it is."""

    kind: str
    path: str
    line: int
    text: str


class Count(NamedTuple):
    """What one kind of text contains."""

    words: int
    sentences: int
    listed: int
    semicolons: int


def page_kind(path: Path) -> str:
    """Return the kind of a page, from its path below the root."""
    parts = path.parts
    if parts[0] != "docs":
        return "pages at the top"
    return parts[1] if len(parts) > 2 else "other pages"


def prose_of_page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page that people read as prose: no front matter, no code, no table of contents."""
    fence = ""
    front_matter = False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if number == 1 and bare == "---":
            front_matter = True
        elif front_matter:
            front_matter = bare != "---"
        elif fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif marks := re.match(r"(`{3,}|:{3,})", bare):
            note = re.match(r":{3,}\{(note|tip|warning|important)", bare)
            fence = "" if note or not bare.strip(":") else marks[1]
        elif bare:
            yield number, bare


def strings_of_module(source: str) -> Iterator[tuple[str, int, str]]:
    """Yield the docstrings, messages and comments of a module, with their lines. A message is a string with a space."""
    tree = ast.parse(source)
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                docstrings.add(first.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield "docstrings" if node in docstrings else "messages", node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# noqa", "# type:")):
            yield "comments", token.start[0], token.string.lstrip("# ")


def passages(root: Path) -> Iterator[Passage]:
    """Yield everything that people read in the tree of files at `root`."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    for path in sorted(pages):
        if "_build" not in path.parts:
            relative = path.relative_to(root)
            for line, text in prose_of_page(path.read_text(encoding="utf-8")):
                yield Passage(page_kind(relative), str(relative), line, text)
    for path in sorted((root / "src").rglob("*")):
        relative = str(path.relative_to(root))
        if path.suffix == ".py":
            for kind, line, text in strings_of_module(path.read_text(encoding="utf-8")):
                is_help = kind != "comments" and "/cli/" in relative
                yield Passage("commands and their help" if is_help else f"code: {kind}", relative, line, text)
        elif path.suffix == ".html":
            for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                yield Passage("texts of the service", relative, line, text.strip())
        elif path.name == "en.json":
            for text in strings_of_document(json.loads(path.read_text(encoding="utf-8"))):
                yield Passage("texts of the service", relative, 0, text)


def strings_of_document(document: object) -> Iterator[str]:
    """Yield every string value of a JSON document."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        for part in document:
            yield from strings_of_document(part)
    elif isinstance(document, str):
        yield document


def count(texts: Iterable[str]) -> Count:
    """Count words, sentences, listed words and semicolons."""
    words = sentences = listed = semicolons = 0
    for text in texts:
        plain = MARKUP.sub(" x ", text)
        words += len(plain.split())
        sentences += len(SENTENCE_END.findall(plain))
        semicolons += plain.replace("; got", "").count(";")  # the form of our errors
        listed += sum(len(pattern.findall(plain)) for pattern in PATTERNS.values())
    return Count(words, sentences, listed, semicolons)


def counts_by_kind(root: Path) -> dict[str, Count]:
    """Return what each kind of text contains, and the sum."""
    texts = defaultdict(list)
    for passage in passages(root):
        texts[passage.kind].append(passage.text)
    counts = {kind: count(texts[kind]) for kind in sorted(texts)}
    counts["all"] = Count(*map(sum, zip(*counts.values(), strict=True)))
    return counts


def names_in_code(root: Path) -> dict[str, int]:
    """Count variables, modules and classes whose names say too little or are used twice."""
    variables = modules = 0
    classes: Counter[str] = Counter()
    for path in (root / "src").rglob("*.py"):
        modules += path.stem in VAGUE_MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                variables += node.id in VAGUE_NAMES
            elif isinstance(node, ast.arg):
                variables += node.arg in VAGUE_NAMES
            elif isinstance(node, ast.ClassDef):
                classes[node.name] += 1
    return {
        "variables with a listed name": variables,
        "modules with a listed name": modules,
        "class names used twice or more": sum(times > 1 for times in classes.values()),
    }


def unpacked(revision: str, folder: str) -> Path:
    """Write the tree of a git revision to `folder`."""
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
        tree.extractall(folder, filter="data")
    return Path(folder)


def table(roots: list[Path]) -> str:
    """Return the report as a Markdown table. With two trees each cell reads "before → after"."""
    counts = [counts_by_kind(root) for root in roots]
    names = [names_in_code(root) for root in roots]
    lines = [
        "| text | words | listed words | per 1000 words | semicolons per 100 sentences |",
        "|---|---|---|---|---|",
    ]
    for kind in [*(kind for kind in counts[-1] if kind != "all"), "all"]:
        cells = [each.get(kind, Count(0, 0, 0, 0)) for each in counts]
        columns = [
            [f"{cell.words}" for cell in cells],
            [f"{cell.listed}" for cell in cells],
            [f"{1000 * cell.listed / max(cell.words, 1):.1f}" for cell in cells],
            [f"{100 * cell.semicolons / max(cell.sentences, 1):.1f}" for cell in cells],
        ]
        lines.append(f"| {kind} | " + " | ".join(" → ".join(column) for column in columns) + " |")
    lines += ["", "| names in code | number |", "|---|---|"]
    lines += [f"| {name} | {' → '.join(str(each[name]) for each in names)} |" for name in names[-1]]
    return "\n".join(lines)


def listed_places(root: Path, kind: str) -> Iterator[str]:
    """Yield every place with a listed word or two semicolons, in the kinds of text whose name begins with `kind`."""
    for passage in passages(root):
        if passage.kind.startswith(kind) or passage.path.startswith(kind):
            plain = MARKUP.sub(" x ", passage.text)
            for row, line in enumerate(plain.splitlines()):
                hits = [match[0] for pattern in PATTERNS.values() for match in pattern.finditer(line)]
                if hits or ";" in line:
                    yield f"{passage.path}:{passage.line + row}: {', '.join(hits) or ';'}: {line.strip()[:140]}"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description="Count the words that we avoid, by kind of text.")
    parser.add_argument("--compare", metavar="REVISION", help="show an older state of the repository next to this one")
    parser.add_argument("--where", metavar="KIND", help="print each place, in a kind of text or below a path")
    parser.add_argument("--words", action="store_true", help="print how often each listed word occurs")
    arguments = parser.parse_args()
    if arguments.where is not None:
        print("\n".join(listed_places(ROOT, arguments.where)))
    elif arguments.words:
        text = "\n".join(MARKUP.sub(" x ", passage.text) for passage in passages(ROOT))
        for name, pattern in PATTERNS.items():
            print(f"{len(pattern.findall(text)):5}  {name}")
    elif arguments.compare:
        with tempfile.TemporaryDirectory() as folder:
            print(table([unpacked(arguments.compare, folder), ROOT]))
    else:
        print(table([ROOT]))


if __name__ == "__main__":
    main()
