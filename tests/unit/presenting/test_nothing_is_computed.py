"""Pages are made of findings alone: once these are worked out, no renderer estimates, tests or audits anything."""

import sys

import numpy as np
import pytest
from finding_cases import CASES, findings_of
from released import drawn, options, survey_of

import subsetprivacy as sp
from subsetprivacy.presenting.words import words_of
from subsetprivacy.report import report_html

# What computes, wherever it was imported to.
WORK = {
    "estimation.dispatch": ("estimate", "estimate_many"),
    "estimation.comparison": ("compare",),
    "independence": ("independence_test",),
    "measures": ("association",),
    "auditing": ("audit",),
    "auditing.report": ("audit",),
    "honesty.all_checks": ("run_checks", "check_all"),
    "planning": ("repeat_risk",),
    "finding.pairs": ("pair_findings", "crossed"),
    "finding.rows": ("row_findings",),
    "finding.shares": ("fitted", "share_findings", "moment_findings", "people_needed", "group_findings"),
    "finding.privacy": ("audited", "privacy_findings"),
}


@pytest.fixture
def nothing_works(monkeypatch):
    """Let everything that computes fail, by whichever name a module knows it."""
    work = {
        getattr(sys.modules[f"subsetprivacy.{module}"], name)
        for module, names in WORK.items()
        for name in names
        if f"subsetprivacy.{module}" in sys.modules and hasattr(sys.modules[f"subsetprivacy.{module}"], name)
    }
    assert len(work) >= 15

    def computes(*arguments, **settings):
        pytest.fail("a renderer computes")

    def stop():
        for module in [module for name, module in sys.modules.items() if name.startswith("subsetprivacy")]:
            for name, value in list(vars(module).items()):
                if callable(value) and not isinstance(value, type) and any(value is one for one in work):
                    monkeypatch.setattr(module, name, computes)

    return stop


@pytest.mark.parametrize("case", CASES)
def test_a_report_is_made_of_findings_alone(case, nothing_works):
    made = findings_of(case)
    nothing_works()
    text = report_html(made)
    assert text.startswith("<!DOCTYPE html>")
    with pytest.raises(pytest.fail.Exception, match="a renderer computes"):  # else the test is none
        sp.findings(sp.SubsetCounts([3, 12], [5, 6], sp.uniform(list("abcd"))))["data"].shares  # noqa: B018


def test_a_dashboard_is_made_of_findings_alone(nothing_works):
    from subsetprivacy.collect.service.results import results
    from subsetprivacy.collect.web.studio_dashboard import dashboard

    designs = {"one": sp.uniform(options(5)), "two": sp.uniform(options(4)), "bit": sp.warner(["no", "yes"], 0.25)}
    truth = {
        name: np.random.default_rng(k).integers(design.p, size=400) for k, (name, design) in enumerate(designs.items())
    }
    released = drawn(survey_of(designs, [["one", "two"]]), truth, seed=1)
    held = results(released)
    held.findings.compute()
    nothing_works()
    board = dashboard(released, held, "en")
    assert len(board.variables) == 3
    assert all("<svg" in panel.body for panel in board.variables)
    assert len(board.pairs) == 1
    assert board.words is words_of("en")
