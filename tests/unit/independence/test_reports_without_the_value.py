"""Reports that may leave the value out: the reported set is one thing, the values that stay possible another."""

from typing import ClassVar

import numpy as np
import pytest
from attrs import frozen
from every_case import every_case
from scipy.stats import binom

import subsetprivacy as sp
from subsetprivacy.design import Design
from subsetprivacy.incidence import Affine
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.mechanism.reports import draw_given


@frozen(slots=False, eq=False, repr=False)
class Noisy(Design):
    """A design whose report ignores the value with probability `ignored`: every value stays possible."""

    base: Design
    ignored: float
    kind: ClassVar[str] = "noisy"
    name: ClassVar[str] = "noisy"
    description: ClassVar[str] = "A report that may belong to another value."
    example: ClassVar[None] = None
    formula: ClassVar[None] = None

    def support(self):
        return self.base.support()

    def content(self):
        return {"ignored": self.ignored, "base": self.base.content()}

    def incidence(self, codes):
        return Affine(self.base.incidence(codes), 1 - self.ignored, self.ignored / self.base.S)

    def possible(self, codes, x):
        return np.ones(np.broadcast(codes, x).shape, np.bool_)

    @property
    def noise(self):
        rows = self.support_incidence.inner(np.eye(self.p)).T
        return self.support()[1] @ (rows * np.log2(rows))

    def drawn(self, x, rng):
        source = SeededSource(rng)
        reports, others = draw_given(x, self.base, source), self.base.draw_any(len(x), source)
        return np.where(rng.random(len(x)) < self.ignored, others, reports)


LABELS = ["a", "b", "c", "d"]
TWO = ["no", "yes"]
NOISY = Noisy(sp.Categories(LABELS), sp.fixed_size(LABELS, 2), 0.3)
WARNER = sp.warner(TWO, 0.2)
DEPENDENT = np.array([[0.30, 0.04, 0.04, 0.04], [0.04, 0.25, 0.04, 0.25]])


def reports(first, second, P, n, rng):
    """Return the reports of n people whose pair of values follows the table P."""
    i, j = np.unravel_index(rng.choice(P.size, n, p=P.ravel()), P.shape)
    columns = [
        design.drawn(x, rng) if isinstance(design, Noisy) else draw_given(x, design, SeededSource(rng))
        for design, x in ((first, i), (second, j))
    ]
    both = sp.product({"first": first, "second": second})
    return sp.SubsetData(both.join(columns), both)


def test_the_set_that_was_reported_is_smaller_than_what_is_possible():
    codes = NOISY.support()[0]
    everything = np.arange(NOISY.p)
    np.testing.assert_array_equal(NOISY.contains(codes[:, None], everything).sum(axis=1), 2)
    assert NOISY.possible(codes[:, None], everything).all()
    np.testing.assert_array_equal(
        NOISY.possible(codes[:, None], everything), NOISY.support_incidence.inner(np.eye(NOISY.p)).T > 0
    )


@every_case("first", [WARNER, sp.small(TWO, "bit", q=0.3, reveals=True)])
def test_bonferroni_has_power_next_to_a_secret_bit_and_noise(first):
    data = reports(first, NOISY, DEPENDENT / DEPENDENT.sum(), 6000, np.random.default_rng(1))
    for permutations in (0, 199):
        result = sp.independence_test(data, "bonferroni", permutations=permutations, seed=2)
        assert result.pvalue < 0.01
    assert sp.independence_test(data, "lrt", permutations=0).pvalue < 0.01


def test_bonferroni_has_power_if_both_reports_may_leave_the_value_out():
    P = 0.15 * np.eye(4) + 0.1 / 4
    data = reports(NOISY, NOISY, P / P.sum(), 6000, np.random.default_rng(3))
    result = sp.independence_test(data, "bonferroni", permutations=199, seed=5)
    assert result.pvalue == 1 / 200
    assert result.statistic > 30


@pytest.mark.parametrize("first", [WARNER, NOISY], ids=["warner", "noisy"])
def test_bonferroni_keeps_its_level(first):
    rng = np.random.default_rng(4)
    w = np.arange(1, first.p + 1) / np.arange(1, first.p + 1).sum()
    P = np.outer(w, [0.4, 0.3, 0.2, 0.1])
    alpha, times = 0.1, 150
    pvalues = np.array(
        [
            sp.independence_test(reports(first, NOISY, P, 400, rng), "bonferroni", permutations=39, seed=k).pvalue
            for k in range(times)
        ]
    )
    rejected = int((pvalues <= alpha).sum())
    assert binom.ppf(1e-4, times, alpha / 3) <= rejected <= binom.ppf(1 - 1e-4, times, alpha)
    assert len(np.unique(pvalues)) > 10  # a test that never rejects would keep its level too
