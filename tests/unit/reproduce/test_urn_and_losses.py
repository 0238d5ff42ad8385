"""The urn, and the table of losses: the pieces against oracles, and claims that can fail."""

import numpy as np
import pytest

from subsetprivacy.reproduce import tab_consistency, toy_example
from subsetprivacy.reproduce.experiment import Run


def test_the_urn():
    outcome = toy_example.perform(Run("toy_example", 1))
    assert [check.verdict for check in outcome.checks] == ["holds"] * 4 + ["stated"] * 2
    # Six pairs, each with probability 1/3 given a member; P(pair) = L/3, so tau is the sum of L^2/3.
    w = np.array([0.01, 0.1, 0.2, 0.69])
    tau = sum((w[i] + w[j]) ** 2 / 3 for i in range(4) for j in range(i))
    assert dict(zip(*outcome.table.values()))["size coverage"] == pytest.approx(tau)


def fabricated(k=400, mle=5.6, mom=6.7, one=5.6, limit=5.68, mom_limit=6.74):
    """Losses of 400 problems: chi-squared around a limit that varies a little from problem to problem."""
    rng = np.random.default_rng(1)
    noise, level = rng.chisquare(7, k) / 7, 1 + 0.05 * rng.standard_normal(k)
    result = [mle * noise, mle * noise, one * noise, limit * noise, mom * noise, mom_limit * noise]
    return np.column_stack([*result, limit * level, mom_limit * level])


def verdicts(**changes):
    return [check.verdict for check in tab_consistency.text(8, fabricated(**changes))]


def test_what_the_text_says_can_be_wrong():
    assert verdicts() == ["holds"] * 4
    assert verdicts(mom_limit=5.6)[0] == "differs"
    assert verdicts(one=6.5)[1] == "differs"
    assert verdicts(mle=7.2, one=7.2)[2] == "differs"
    assert verdicts(mom=8.0)[3] == "differs"


def test_a_printed_number_can_be_wrong(monkeypatch):
    monkeypatch.setattr(tab_consistency, "SETTINGS", [(4, 100)])
    good = tab_consistency.perform(Run("tab:consistency", 400)).checks
    assert {check.verdict for check in good[:6]} == {"holds"}
    wrong = dict.fromkeys(tab_consistency.PRINTED, ("9.99 .01",))
    monkeypatch.setattr(tab_consistency, "PRINTED", wrong)
    bad = tab_consistency.perform(Run("tab:consistency", 20)).checks  # it is wrong by far
    assert {check.verdict for check in bad[:6]} == {"differs"}


def test_the_limit_is_drawn_from_its_law():
    rng = np.random.default_rng(3)
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    draws = [tab_consistency._limit_draw(rng, covariance) for _ in range(4000)]
    assert np.mean(draws) == pytest.approx(3.0, abs=4 * np.std(draws) / 4000**0.5)
    assert np.var(draws) == pytest.approx(2 * np.sum(covariance**2), rel=0.15)
