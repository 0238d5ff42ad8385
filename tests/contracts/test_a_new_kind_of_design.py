"""Adding a kind of design touches its class and its builder: everything else asks the class.

`Arcs` is such a kind, defined here and nowhere else. It is for categories in a circle, as months or directions: what is
reported is the value with its neighbors on either side, a random stretch of a given length.
"""

import json
import re
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import ClassVar

import jsonschema
import numpy as np
import pytest
from attrs import frozen
from refusals import refused

import subsetprivacy as sp
from subsetprivacy._checks import read_only
from subsetprivacy.collect.survey.drawing import Stream, draw_around
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.survey.rules import asking
from subsetprivacy.design import Design, document
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document_format import Keys, whole
from subsetprivacy.design.schema import schema
from subsetprivacy.errors import DesignDocumentError, InvalidDesignError, NotIdentifiableError
from subsetprivacy.subsets import as_categories

# The kind: one class ------------------------------------------------------------------------------


@frozen(slots=False, eq=False, repr=False)
class Arcs(Design):
    """Stretches of neighboring categories in a circle, each that holds the value as likely."""

    length: int
    kind: ClassVar[str] = "arcs"
    name: ClassVar[str] = "arcs"
    keys: ClassVar[Keys] = Keys({"length": whole("The length of an arc.", 2, 47)}, ("length",), categories=(3, 48))
    formula: ClassVar[Formula] = Formula(
        reports="the $p$ stretches of $k$ neighboring categories, where the first follows the last",
        weight=r"\mu_a = \frac{1}{k}",
        symbols=(("k", "the document's `length`"),),
    )

    @classmethod
    def example(cls):
        return arcs(["n", "e", "s", "w", "up"], 2)

    @property
    def description(self):
        return f"The value and its neighbors: {self.length} categories in a row, at a random place around the value."

    @property
    def label(self):
        return f"arcs, {self.length}"

    def support(self):
        starts = np.arange(self.p)
        inside = (starts[:, None] + np.arange(self.length)) % self.p
        return read_only(np.sort((1 << inside).sum(axis=1))), read_only(np.full(self.p, 1 / self.length))

    def content(self):
        return {"length": self.length}

    @property
    def list_length(self):
        return self.p

    @property
    def browser_rule(self):
        return {"rule": "given", "subsets": self.support()[0], "weights": self.support()[1]}


def arcs(categories, length):
    labels = as_categories(categories)
    if not 2 <= length < labels.p:
        raise InvalidDesignError(f"`length` must be from 2 to {labels.p - 1}; got {length}.")
    return Arcs(labels, length)


# Its builder, and the row of the contracts --------------------------------------------------------


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    for table in ("_BUILDERS", "_CLASSES"):
        monkeypatch.setattr(document, table, dict(getattr(document, table)))
    document.register(lambda categories, part: arcs(categories, part["length"]), Arcs)


MONTHS = ["jan", "mar", "may", "jul", "sep", "oct", "nov"]
DESIGN = arcs(MONTHS, 3)
W = np.arange(1, 8) / 28


def loaded(path):
    """Return a module of this project that is no part of a package."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_keeps_the_contracts_by_a_row(monkeypatch):
    contracts = loaded(Path(__file__).with_name("test_every_design_and_estimator.py"))
    monkeypatch.setitem(contracts.DESIGNS, "arcs", lambda: DESIGN)
    monkeypatch.setitem(contracts.SMALLEST, "arcs", 3)
    contracts.test_every_estimator_keeps_its_word_on_every_design("arcs")
    contracts.test_every_design_can_be_audited_or_says_why_not.__wrapped__("arcs")


def test_it_is_drawn_counted_and_estimated():
    values = [MONTHS[j] for j in np.repeat(np.arange(7), 300 * np.arange(1, 8))]
    data = sp.privatize(values, DESIGN, seed=1)
    assert all(value in report for value, report in zip(values, data.labels(), strict=True))
    counts = data.counts()
    assert counts.n == len(values)
    for method in ("mle", "em", "mom"):
        fit = sp.estimate(counts, method)
        assert np.abs((fit.w - W) / fit.se).max() < 4
    with pytest.raises(NotIdentifiableError):  # as many arcs as categories
        sp.check_honesty(counts)


def test_reports_follow_its_weights():
    counts = sp.simulate(DESIGN, W, 70_000, seed=2)
    expected = 70_000 * DESIGN.support()[1] * DESIGN.support_incidence.inner(W)
    assert ((counts.counts - expected) ** 2 / expected).sum() < 25


def test_it_is_audited():
    facts = sp.audit(DESIGN, W).to_dict()
    assert facts["smallest_set"] == 3
    assert facts["subset_private"]
    assert facts["identifiable"]
    assert facts["maximal_leakage"] == pytest.approx(np.log2(7 / 3))
    assert sp.repeat_risk(DESIGN).expected > 1


def test_it_is_planned_under_its_own_name():
    plan = sp.plan(MONTHS, margin=0.05, designs=[DESIGN, sp.uniform(MONTHS)], mode="publish")
    result = {option.name: option for option in plan.options}
    assert result["arcs, 3"].people > 100
    assert "arcs, 3" in str(plan.summary())


def test_its_document_is_read_back_and_fits_the_schema():
    text = DESIGN.to_json()
    assert sp.design_from_json(text) == DESIGN
    assert jsonschema.Draft202012Validator(schema()).is_valid(json.loads(text))
    broken = {**json.loads(text), "length": 1}
    assert not jsonschema.Draft202012Validator(schema()).is_valid(broken)
    with refused(DesignDocumentError, "length"):
        sp.design_from_json(json.dumps({key: broken[key] for key in broken if key != "fingerprint"}))


def test_it_is_part_of_products_mixtures_and_releases_with_dummies():
    both = sp.product({"month": DESIGN, "x": sp.uniform(list("abcd"))})
    assert sp.design_from_json(both.to_json()) == both
    counts = sp.simulate(both, np.full(28, 1 / 28), 20_000, seed=3)
    assert sp.estimate(counts).margin("month").w == pytest.approx(np.full(7, 1 / 7), abs=0.05)
    halves = arcs(list("abcdef"), 3)  # S = 2
    covered = sp.covered(halves, 0.1)
    assert sp.design_from_json(covered.to_json()) == covered
    assert sp.simulate(covered, np.full(6, 1 / 6), 1000, seed=4).total == 1000 + covered.dummy_rows(1000)


def test_a_report_describes_it(tmp_path):
    values = [MONTHS[j] for j in np.random.default_rng(1).choice(7, 400, p=W)]
    release = sp.write_release(sp.privatize(values, DESIGN, seed=1), tmp_path / "people.parquet", {"month": DESIGN})
    sp.write_report(release, tmp_path / "report.html")
    text = re.sub(r"\s+", " ", (tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "3 categories in a row, at a random place around the value" in text
    assert "one of 7 possible reports" in text


def test_a_survey_asks_by_it():
    kind, rule = asking(DESIGN)
    assert kind == "local"
    kept = {draw_around(rule, 2, Stream(bytes(32), "test", str(k))) for k in range(60)}
    assert kept == {code for code in DESIGN.support()[0].tolist() if code >> 2 & 1}


def test_a_survey_file_may_hold_its_document():
    body = {key: value for key, value in DESIGN.document().items() if key != "fingerprint"}
    variable = {"id": "month", "label": "Month", "question": "Which month?", "options": MONTHS, "design": body}
    text = json.dumps({"title": "A survey", "study": "test-2026", "variables": [variable]})
    survey = read_survey(text, "json")
    assert survey.variables[0].design == DESIGN


def test_a_browser_refuses_what_would_not_tell_the_shares():
    with pytest.raises(InvalidDesignError):
        asking(arcs(list("abcdef"), 3))  # a circulant matrix of rank 4


def test_the_reference_has_its_section(need):
    need("Sphinx", find_spec("sphinx"), "make .venv/.docs")
    page = loaded(Path(__file__).parents[2] / "docs" / "_ext" / "design_kinds.py")
    assert page.titles()[Arcs] == "arcs"
    assert "- `length` (whole number, needed): The length of an arc." in page.section_text(Arcs)
