"""The two populations that ship with the package."""

import numpy as np
import pytest

from subsetprivacy.examples import ADULT_CASES, URN, adult


def test_the_urn_is_a_distribution():
    assert list(URN) == ["black", "red", "green", "blue"]
    assert sum(URN.values()) == pytest.approx(1)


def test_adult_counts_add_up():
    rows = adult.rows()
    assert {len(column) for column in rows.values()} == {32_561}
    assert [rows["race"].count(race) for race in adult.races] == adult.race_counts.tolist()
    table = [
        sum(s == sex and i == income for s, i in zip(rows["sex"], rows["income"]))
        for sex in ("Female", "Male")
        for income in ("low", "high")
    ]
    assert table == adult.sex_income.ravel().tolist()
    assert adult.race.sum() == pytest.approx(1)


def test_cases_are_races():
    assert list(ADULT_CASES) == [12, 13, 14, 15]
    assert set(ADULT_CASES.values()) <= set(adult.races)


def test_what_is_handed_out_is_the_callers():
    adult.race_counts[0] = 0
    adult.races.clear()
    assert adult.race_counts[0] == 311
    assert len(adult.races) == 5
    assert isinstance(adult.race, np.ndarray)
