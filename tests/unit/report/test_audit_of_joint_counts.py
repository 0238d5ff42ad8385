"""Counts of several variables are audited as the table they were counted from."""

import numpy as np
import pytest

import subsetprivacy as sp

DESIGN = sp.product({"x": sp.uniform(list("abcd")), "y": sp.fixed_size(list("rstuv"), 3)})


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    x = rng.choice(list("abcd"), 4000, p=[0.1, 0.2, 0.3, 0.4])
    y = np.where(x == "a", "r", rng.choice(list("rstuv"), 4000, p=[0.3, 0.1, 0.1, 0.2, 0.3]))
    return sp.privatize({"x": x, "y": y}, DESIGN, seed=5)


@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
def test_counts_tell_what_the_table_tells(table):
    of_rows, of_counts = sp.audit(table), sp.audit(table.counts(), level=0.9)
    assert isinstance(of_counts, sp.TableAudit)
    assert of_counts.totals() == pytest.approx(of_rows.totals())
    assert of_counts.guesses == pytest.approx(of_rows.guesses)
    assert list(of_counts.parts) == [("x",), ("y",)]
    assert of_counts.parts[("y",)].to_dict()["level"] == 0.9


def test_a_joint_distribution_is_audited_by_its_combinations(table):
    even = np.full(20, 1 / 20)
    assert isinstance(sp.audit(table.counts(), even), sp.Audit)


def test_too_many_combinations_leave_the_worst_case():
    wide = sp.product({name: sp.uniform(range(8)) for name in "xyzt"})
    counts = sp.simulate(sp.product({name: sp.uniform(range(8)) for name in "xy"}), np.full(64, 1 / 64), 500, seed=1)
    assert sp.audit(counts).joint is not None
    codes = [np.full(40, 15 << (k % 2)) for k in range(4)]
    codes = [np.where(np.arange(40) % 2, code, 255 - code) for code in codes]
    many = sp.SubsetTable(codes, wide).counts()
    with pytest.warns(sp.errors.NotUniqueWarning):
        result = sp.audit(many)
    assert result.joint is None
    assert result.totals()["maximal_leakage"] == 4
