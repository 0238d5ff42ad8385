"""Describe every kind of design on the page of design documents, with all probabilities of an example."""

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from subsetprivacy.design import Design
from subsetprivacy.design.document import kinds
from subsetprivacy.design.schema import schema_text
from subsetprivacy.tables import label_text

_TYPES = {"integer": "whole number", "boolean": "true or false", "array": "list", "object": "object"}


def titles() -> dict[type[Design], str]:
    """Return every class of design with the title of its section: its kind, and its name where several share one."""
    return {
        each: kind if len(classes) == 1 else f"{kind} {_variant(each)}"
        for kind, classes in kinds().items()
        for each in classes
    }


def _variant(kind: type[Design]) -> str:
    return "with `partitions`" if "partitions" in kind.example().content() else "without `partitions`"


def section_text(kind: type[Design]) -> str:
    """Return what there is to say of a kind, in Markdown."""
    design = kind.example()
    return "\n\n".join([f"*{_capital(kind.name)}.* {design.description}", *_rules(kind), *_example(design)])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _rules(kind: type[Design]) -> Iterator[str]:
    formula = kind.formula
    if kind.keys.properties:
        yield "**Keys.**\n\n" + "\n".join(_keys(kind))
    else:
        yield "Besides its kind and the categories the document holds nothing."
    yield f"**Reports.** {_capital(formula.reports)}."
    for tex in (formula.weight, formula.probability):
        if tex:
            yield f"$$ {tex} $$"
    if formula.symbols:
        yield "\n".join(f"- ${symbol}$: {meaning}." for symbol, meaning in formula.symbols)
    yield f"**Codes.** {formula.codes} A missing answer: {formula.missing}. Bits of a code: ${formula.width}$."


def _keys(kind: type[Design]) -> Iterator[str]:
    for key, rule in kind.keys.properties.items():
        needed = "needed" if key in kind.keys.required else "may be absent"
        yield f"- `{key}` ({_type(rule)}, {needed}): {rule['description']}"
        for inner, value in rule.get("items", {}).get("properties", {}).items():
            yield f"- `{inner}` ({_type(value)}, needed in each entry of `{key}`): {value['description']}"


def _type(rule: Mapping[str, Any]) -> str:
    """Return the type of a key in words."""
    if "oneOf" in rule or rule.get("$ref", "").endswith("weight"):
        return "number, as text"
    if "enum" in rule:
        values = [f"`{json.dumps(value)}`" for value in rule["enum"]]
        return " or ".join(values) if len(values) < 4 else f"{values[0]}, {values[1]}, {values[2]}, … {values[-1]}"
    if rule.get("type") == "array" and "prefixItems" in rule.get("items", {}):
        return "list of pairs `[code, weight]`"
    return _TYPES[rule.get("type", "object")]


def _example(design: Design) -> Iterator[str]:
    body = {key: value for key, value in design.document().items() if key not in ("format", "version", "fingerprint")}
    yield f"**Example.**\n\n```json\n{json.dumps(body, ensure_ascii=False)}\n```"
    if not design.is_known:
        return
    values = [label_text(label) for label in design.categories]
    yield "\n".join(
        [
            f"| code | report | weight | {' | '.join(f'given {value}' for value in values)} |",
            "|---" * (3 + len(values)) + "|",
            *_table(design),
        ]
    )


def _table(design: Design) -> Iterator[str]:
    codes, mu = design.support()
    rows = mu[:, None] * design.incidence(codes).inner(np.eye(design.p)).T
    for code, weight, row in zip(codes.tolist(), mu.tolist(), rows.tolist(), strict=True):
        yield f"| {code} | {_report(design, code)} | {as_fraction(weight)} | {' | '.join(map(as_fraction, row))} |"


def _report(design: Design, code: int) -> str:
    """Return the members of a report; of several variables, a set for each."""
    parts = [factor.format(int(part)).replace("|", ", ") for factor, part in design.by_factor(np.array(code))]
    return parts[0] if len(parts) == 1 else " and ".join(f"{{{part}}}" for part in parts)


def as_fraction(number: float) -> str:
    """Return a number as a fraction of small whole numbers, where it is one."""
    near = Fraction(number).limit_denominator(10_000)
    return str(near) if abs(float(near) - number) < 1e-12 else f"{number:.6g}"


class DesignKinds(SphinxDirective):
    """A section for every kind of design."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(kind, title) for kind, title in titles().items()]

    def _section(self, kind: type[Design], title: str) -> nodes.section:
        plain = title.replace("`", "")
        head = nodes.title(plain, "", nodes.literal(kind.kind, kind.kind), nodes.Text(plain.removeprefix(kind.kind)))
        section = nodes.section("", head, names=[f"kind {plain}"])
        section.document = self.state.document
        self.state.document.note_implicit_target(section, section)
        lines = StringList(section_text(kind).splitlines(), self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, section)
        return section


class DesignSchema(SphinxDirective):
    """The JSON Schema of design documents."""

    def run(self) -> list[nodes.Node]:
        """Return it as a block of text."""
        text = schema_text()
        return [nodes.literal_block(text, text, language="json")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directives ``design-kinds`` and ``design-schema``."""
    app.add_directive("design-kinds", DesignKinds)
    app.add_directive("design-schema", DesignSchema)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
