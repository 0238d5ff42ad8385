"""What a plan promises is what the intervals of `estimate` are, also where shares are zero."""

import numpy as np
import pytest
from every_case import every_case
from problems import quietly

import subsetprivacy as sp


def half_widths(design, w, n, size, **options):
    """Return the mean half-width of each share's interval over simulated samples."""
    with quietly():
        fits = sp.estimate_many(sp.simulate_many(design, w, n, size, seed=1))
        return np.mean([np.diff(fit.interval(**options))[:, 0] / 2 for fit in fits], axis=0)


@every_case(
    ("w", "n"),
    [
        ((0.9, 0.1, 0, 0, 0), 2000),
        ((0.9, 0.1, 0, 0, 0), 20_000),
        ((0.5, 0.5, 0, 0), 1000),
        ((0.4, 0.3, 0.3, 0, 0, 0), 1000),
        ((0.97, 0.01, 0.01, 0.01), 1000),
        ((0.25, 0.25, 0.25, 0.25), 300),
    ],
)
def test_the_margin_of_a_plan_is_the_half_width_that_is_reported(w, n):
    design = sp.uniform(range(len(w)))
    promised = sp.plan(range(len(w)), n=n, w=w, designs=[design]).margin
    assert half_widths(design, w, n, 20).max() == pytest.approx(promised, rel=0.07)


def test_wald_intervals_are_wider_where_shares_are_zero():
    design, w = sp.uniform(range(5)), (0.9, 0.1, 0, 0, 0)
    promised = sp.plan(range(5), n=2000, w=w, designs=[design]).margin
    assert promised == pytest.approx(0.0170, abs=5e-5)
    assert half_widths(design, w, 2000, 10, method="wald").max() > 2 * promised


def test_power_is_the_chance_that_the_default_interval_leaves_out_a_known_value():
    design, w, known = sp.uniform(range(5)), np.array([0.9, 0.1, 0, 0, 0]), 0.93
    n = sp.power(design, w, known, category=0, target=0.8).n1
    with quietly():
        fits = sp.estimate_many(sp.simulate_many(design, w, n, 150, seed=2))
        ends = np.array([fit.interval(categories=[0])[0] for fit in fits])
    # 150 samples: the standard error of a chance of .8 is .033.
    assert ((known < ends[:, 0]) | (known > ends[:, 1])).mean() == pytest.approx(0.8, abs=0.1)
