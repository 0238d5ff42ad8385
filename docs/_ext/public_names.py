"""Make the reference from docstrings: directives that document names, roles for names, and fixes for napoleon."""

import posixpath
import re
from collections.abc import Callable, Iterator
from inspect import get_annotations, getdoc, isclass
from pathlib import Path
from pydoc import locate
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.ext.viewcode import viewcode_anchor
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.typing import stringify_annotation

import subsetprivacy
from subsetprivacy import errors


class Public(SphinxDirective):
    """Document names of the package, one a line: first a table, then each docstring.

    A name with dots is not in the facade, such as the type that a public function returns.
    """

    has_content = True
    option_spec = {"brief": directives.flag}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Hand the names to autosummary and autodoc."""
        names = [line.strip() for line in self.content if line.strip()]
        holder = nodes.section()
        holder.document = self.state.document
        text = ["```{eval-rst}", *self._lines(names), "```"]
        self.state.nested_parse(type(self.content)(text, self.get_source_info()[0]), self.content_offset, holder)
        return list(holder.children)

    def _lines(self, names: list[str]) -> Iterator[str]:
        if not any("." in name for name in names):
            yield from (".. autosummary::", "   :nosignatures:", "")
            yield from (f"   ~subsetprivacy.{name}" for name in names)
        for name in names:
            a_class = isclass(_find(name))
            yield from ("", f".. auto{'class' if a_class else 'function'}:: subsetprivacy.{name}")
            if a_class and "brief" not in self.options:
                yield from ("   :members:", "   :inherited-members: dict")


class Names(SphinxDirective):
    """List the public names that a page of the reference documents, a line each: link, first sentence, source."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the table as text, which Sphinx reads."""
        page = Path(self.env.srcdir) / "reference" / "api" / f"{self.arguments[0]}.md"
        self.env.note_dependency(str(page))
        text = ["```{eval-rst}", ".. list-table::", "   :class: api", "   :widths: auto", ""]
        for name in names_on(page.read_text(encoding="utf-8")):
            text += [f"   * - :py:obj:`{name} <subsetprivacy.{name}>`", f"     - {first_sentence(_find(name))}"]
            text += [f"     - :source:`{name}`"]
        holder = nodes.section()
        holder.document = self.state.document
        self.state.nested_parse(type(self.content)([*text, "```"], self.get_source_info()[0]), 0, holder)
        return list(holder.children)


class Source(SphinxRole):
    """A link from a public name to the page with its code."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link, which other builders leave out."""
        obj = _find(self.text)
        page = posixpath.join("_modules", obj.__module__.replace(".", "/"))
        label = nodes.inline("", "source", classes=["viewcode-link"])
        link = viewcode_anchor("", label, reftarget=page, refid=obj.__qualname__, refdoc=self.env.docname)
        return [link], []


def names_on(text: str) -> list[str]:
    """Return the facade's names in the blocks of a page: functions, then classes, in the page's order."""
    blocks = re.findall(r"^```\{public\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    names = [line for block in blocks for line in block.split() if "." not in line and not line.startswith(":")]
    return sorted(names, key=lambda name: isclass(_find(name)))


def first_sentence(obj: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join((getdoc(obj) or "").split("\n\n")[0].split())


class Name(SphinxRole):
    """A name in backticks: a link if the package has it, else plain code."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the reference or the literal."""
        literal = nodes.literal(self.rawtext, self.text)
        target = _target(self.text.removesuffix("()"))
        if target is None:
            return [literal], []
        kinds = {"refdomain": "py", "reftype": "obj", "refdoc": self.env.docname}
        return [addnodes.pending_xref(self.rawtext, literal, reftarget=target, refexplicit=True, **kinds)], []


def _find(name: str) -> Any:
    found = locate(f"subsetprivacy.{name}")
    if found is None:
        raise LookupError(f"the package has no {name}")
    return found


def _target(text: str) -> str | None:
    name = text.removeprefix("sp.").removeprefix("subsetprivacy.")
    if isclass(getattr(errors, name, None)):
        return f"subsetprivacy.errors.{name}"
    if name.split(".")[0] not in subsetprivacy.__all__:
        return None
    return f"subsetprivacy.{name}" if getdoc(locate(f"subsetprivacy.{name}")) else None


def hide_constructor(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, str | None] | None:
    """Leave out how a result is constructed: a class whose docstring has no Parameters is made by a function."""
    if what not in ("class", "exception") or signature is None:
        return None
    return None if "Parameters\n----------" in (getdoc(obj) or "") else ("", None)


class Repairs:
    """What napoleon gets wrong: colons in one-line docstrings, several attributes under one text, their types."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def before(self, app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        """Remember the lines; give each attribute of a class its own entry and its type."""
        self.kept = list(lines)
        if isclass(obj) and "Attributes" in lines:
            start = lines.index("Attributes") + 2
            lines[start:] = _each_attribute(lines[start:], _types(obj))

    def after(self, app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        """Put the lines back, unless they had sections: napoleon reads "The sum: of all" as a type and a text."""
        if what in ("property", "attribute", "data") and not any(line.startswith("---") for line in self.kept):
            lines[:] = self.kept


def _types(obj: type) -> dict[str, str]:
    known = {name: kind for base in reversed(obj.__mro__) for name, kind in get_annotations(base).items()}
    return {name: stringify_annotation(kind, "smart") for name, kind in known.items() if not isinstance(kind, str)}


def _each_attribute(lines: list[str], types: dict[str, str]) -> Iterator[str]:
    position = 0
    while position < len(lines):
        line = lines[position]
        if position + 1 < len(lines) and lines[position + 1].startswith("---"):
            yield from lines[position:]  # the next section
            return
        if not line or line[0].isspace():
            yield line
            position += 1
            continue
        after = position + 1
        while after < len(lines) and lines[after][:1].isspace():
            after += 1
        for name in line.split(", "):
            yield f"{name} : {types[name]}" if name in types else name
            yield from lines[position + 1 : after]
        position = after


def without_overloads(analyze: Callable[[ModuleAnalyzer], None]) -> Callable[[ModuleAnalyzer], None]:
    """Return a reading of a module that forgets overloads: they are for type checkers, one signature is for people."""

    def read(self: ModuleAnalyzer) -> None:
        analyze(self)
        self.overloads = {}

    return read


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive, the role and the hooks."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.viewcode")
    ModuleAnalyzer.analyze = without_overloads(ModuleAnalyzer.analyze)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"  # Sphinx would write "Variables"
    app.add_directive("public", Public)
    app.add_directive("names", Names)
    app.add_role("name", Name())
    app.add_role("source", Source())
    app.connect("autodoc-process-signature", hide_constructor)
    repairs = Repairs()
    app.connect("autodoc-process-docstring", repairs.before, priority=100)  # napoleon has 500
    app.connect("autodoc-process-docstring", repairs.after, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
