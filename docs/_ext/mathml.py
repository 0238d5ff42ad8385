"""Render formulas as MathML, which browsers draw without scripts and without fonts from other hosts."""

import re
from html import escape
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


# How many parts an element has; the converter writes what it was given, complete or not.
PARTS = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "mroot": 2}


def convert_or_explain(latex: str, display: str) -> tuple[str, str]:
    """Return a formula as MathML, or nothing and why it cannot be."""
    braces = re.sub(r"\\[{}]", "", latex)
    if braces.count("{") != braces.count("}"):
        return "", "braces that do not match"
    try:
        made = str(convert(latex, display=display))
        elements = list(ElementTree.fromstring(made).iter())
    except Exception as error:  # the converter has many
        return "", f"{type(error).__name__} {error}".strip()
    names = [(element.tag.rpartition("}")[2], element) for element in elements]
    if any(len(element) != PARTS.get(name, len(element)) for name, element in names):
        return "", "a part is missing"
    if any("\\" in (element.text or "") for element in elements):
        return "", "an unknown command"  # which the converter passes on
    return made, ""


def mathml(latex: str, node: nodes.Element, display: str) -> str:
    """Return a formula as MathML; one that cannot be read is a warning, and stays as it was written."""
    made, problem = convert_or_explain(latex, display)
    if problem:
        logger.warning("the formula %r cannot be written as MathML: %s", latex, problem, location=node)
    return made or f"<code>{escape(latex)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(mathml(node.astext(), node, "inline"))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    number = f'<span class="eqno">({get_node_equation_number(self, node)})</span>' if node.get("number") else ""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(f"{mathml(node.astext(), node, 'block')}{number}</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer as ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
