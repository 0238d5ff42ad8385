"""Outside `design/` nobody recognizes a design by its class or kind: what differs between kinds is asked of them."""

import ast
import re
from functools import cache
from pathlib import Path

from every_case import every_case

from subsetprivacy import design
from subsetprivacy.design import Design, EnlargedDesign, ExchangeableDesign
from subsetprivacy.design.document import kinds

SOURCE = Path(design.__file__).parents[1]
OUTSIDE = [path for path in sorted(SOURCE.rglob("*.py")) if not path.is_relative_to(SOURCE / "design")]
CLASSES = {one.__name__ for classes in kinds().values() for one in classes} | {
    ExchangeableDesign.__name__,
    EnlargedDesign.__name__,
}
# Registries, one a package, of what a design cannot know, each by the function that classes are registered at.
REGISTRIES = {
    "mechanism/reports.py": "sampler",  # draws given the value, which the collector's side must not have
    "collect/survey/forbidden_sets.py": "_candidates",  # searches by the stream of random words of a survey
}
# Words of kinds that are about a kind, and not in the place of a question to a design.
KINDS = {
    ("collect/survey/forbidden_sets.py", "RECOMMENDED_KINDS"),  # advice not to take what was taken already
    ("honesty/answers.py", "hadamard"),  # advice that names the function of that name
}


def named(path):
    return path.relative_to(SOURCE).as_posix()


def parsed(word):
    """Return the modules that hold a word, each as a tree."""
    return {path: syntax(path) for path in OUTSIDE if word in source(path)}


@cache
def source(path):
    return path.read_text(encoding="utf-8")


@cache
def syntax(path):
    return ast.parse(source(path))


def ours(tree):
    """Return the names under which a module has classes of designs, and not others' of the same name."""
    result = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("subsetprivacy.design"):
            result |= {alias.asname or alias.name for alias in node.names if alias.name in CLASSES}
    return result


def names_in(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def checks_a_class(node, classes):
    """Tell of `isinstance(design, Uniform)` and of `type(design) is Uniform`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}:
        return bool(names_in(node.args[1]) & classes)
    return isinstance(node, ast.Compare) and any(
        isinstance(part, ast.Name) and part.id in classes for part in (node.left, *node.comparators)
    )


@every_case(
    ("text", "found"),
    [
        ("from subsetprivacy.design import Uniform\nisinstance(x, Uniform)", True),
        ("from subsetprivacy.design import Product as P\nisinstance(x, (int, P))", True),
        ("from subsetprivacy.design.exchangeable import ExchangeableDesign\ntype(x) is ExchangeableDesign", True),
        ("from collections.abc import Sized\nisinstance(x, Sized)", False),
        ("from subsetprivacy.design import Design\nisinstance(x, Design)", False),
    ],
)
def test_a_check_is_found_where_there_is_one(text, found):
    tree = ast.parse(text)
    assert any(checks_a_class(node, ours(tree)) for node in ast.walk(tree)) == found


def test_no_class_of_design_is_checked():
    result = []
    for path, tree in parsed("subsetprivacy.design").items():
        if not (classes := ours(tree)):
            continue
        result += [(named(path), node.lineno) for node in ast.walk(tree) if checks_a_class(node, classes)]
    assert len(OUTSIDE) > 400
    assert result == []


def test_no_kind_of_design_is_compared():
    """`design.kind == "uniform"` is the same ladder in other words."""
    words = set(kinds())
    result = set()
    for path, tree in parsed(".kind").items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Compare) or not re.search(r"design.*\.kind$", ast.unparse(node.left)):
                continue
            for part in ast.walk(node.comparators[0]):
                if isinstance(part, ast.Constant) and part.value in words:
                    result.add((named(path), part.value))
                elif isinstance(part, ast.Name):
                    result.add((named(path), part.id))
    assert result == KINDS


def test_a_package_has_one_registry_at_most():
    result = {}
    for path, tree in parsed("subsetprivacy.design").items():
        if not (classes := ours(tree)):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or not node.args.args:
                continue
            of = {part.id for part in ast.walk(node.args.args[0]) if isinstance(part, ast.Name)}
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Attribute) and decorator.attr == "register" and of & classes:
                    result.setdefault(named(path), set()).add(ast.unparse(decorator.value))
    assert result == {path: {name} for path, name in REGISTRIES.items()}


def test_every_class_of_design_has_a_kind_that_documents_name():
    def below(one):
        return {one}.union(*(below(inner) for inner in one.__subclasses__()))

    made = {one for one in below(Design) if "kind" in vars(one) and one.__module__.startswith("subsetprivacy")}
    assert made == {one for classes in kinds().values() for one in classes}
