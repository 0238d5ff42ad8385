"""Of a few people nothing is shown: a mean of one person is that person's outcome."""

import json
import warnings

import numpy as np
import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.errors import SmallCountWarning

LABELS = ["red", "blue", "green", "black"]
DESIGN = sp.uniform(LABELS)
SECRET = 31_337.25


def numbers_in(given):
    """Return all numbers of a dict as JSON has it."""
    if isinstance(given, dict):
        return [x for each in given.values() for x in numbers_in(each)]
    if isinstance(given, list):
        return [x for each in given for x in numbers_in(each)]
    return [given] if isinstance(given, (int, float)) and not isinstance(given, bool) else []


def texts_of(found):
    return [str(found.summary()), json.dumps(found.to_dict()), found.to_frame().to_csv(), repr(found)]


def people(small=1):
    """Return 300 people in group a, and some with the secret outcome in group b."""
    rng = np.random.default_rng(1)
    values = rng.choice(LABELS, size=300 + small)
    y = np.r_[rng.normal(50, 5, size=300), np.full(small, SECRET)]
    return y, sp.privatize(values, DESIGN, seed=1), np.array(["a"] * 300 + ["b"] * small)


@pytest.mark.parametrize("model", [None, "normal"])
@pytest.mark.parametrize("small", [1, 4])
def test_a_small_known_group_has_no_estimates(small, model):
    y, data, by = people(small)
    with pytest.warns(SmallCountWarning, match=f"1 group with {'1 person' if small == 1 else '4 people'}"):
        result = sp.group_means(y, data, by=by, model=model)
    alone = sp.group_means(y[:300], sp.SubsetData(data.codes[:300], DESIGN), by=by[:300], model=model)
    for name in ("number", "share", "share_se", "mean", "variance", "variance_se", "quantile", "se"):
        assert np.isnan(getattr(result, name)[1]).all(), name
        assert np.allclose(getattr(result, name)[0], getattr(alone, name)[0], rtol=0.2), name
    assert np.isnan(result.interval()[1]).all()
    assert np.isnan(result.differences("groups").estimate).all()
    assert np.isnan(result.test(method="wald").pvalue[1])
    assert np.isnan(result.test().pvalue[1])
    assert result.n == 300
    assert any("1 group" in note.text for note in result.notes if note.kind == "small_counts")
    result.plot()


def test_an_adversary_does_not_find_the_outcome():
    """Neither as it is nor as a difference: what is kept of everyone is without the small group."""
    y, data, by = people()
    with pytest.warns(SmallCountWarning):
        result = sp.group_means(y, data, by=by)
    assert not any("31337" in text.replace(",", "") for text in texts_of(result))
    assert max(abs(x) for x in numbers_in(result.to_dict())) < SECRET
    assert result.center == pytest.approx(y[:300].mean())
    assert result.sums[1].sum() == pytest.approx(0.0, abs=1e-8)


@every_case("n", [1, 4])
@every_case("model", [None, "normal"])
@every_case("labels", [False, True])
def test_few_people_in_all(n, model, labels):
    design = sp.nonprivate(LABELS) if labels else DESIGN
    data = sp.SubsetData(np.full(n, 1 if labels else 3), design)
    with pytest.warns(SmallCountWarning, match="fewer than 5 people"):
        result = sp.group_means(np.full(n, SECRET), data, model=model)
    assert np.isnan(result.mean).all()
    assert np.isnan(result.test().pvalue).all()
    assert not any("31337" in text.replace(",", "") for text in texts_of(result))
    assert type(result).from_dict(result.to_dict()).to_dict() == result.to_dict()


def test_five_people_have_estimates():
    """Counted with their frequencies, and without those who said nothing."""
    y, data, by = people(5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sp.group_means(y, data, by=by)
    assert not any("Too small" in str(one.message) for one in caught)
    y, data, by = people(1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sp.group_means(y, data, by=by, weights=np.full(301, 5), weights_kind="frequency")
    assert not any("Too small" in str(one.message) for one in caught)
    y, data, by = people(5)
    codes = data.codes.copy()
    codes[-1] = DESIGN.missing_code
    with pytest.warns(SmallCountWarning, match="1 group with 4 people"):
        sp.group_means(y, sp.SubsetData(codes, DESIGN), by=by)


@every_case("value", [3.7, -1e9 / 3, 1e-7])
def test_a_constant_outcome_has_no_variance(value):
    rng = np.random.default_rng(1)
    data = sp.privatize(rng.choice(LABELS, size=4000), DESIGN, seed=1)
    result = sp.group_means(np.full(4000, value), data)
    assert (result.variance == 0).all()
    assert (result.mean == value).all()
    assert result.notes == ()


def test_rounded_outcomes_have_no_variance():
    """Sums of tenths differ in the last digit; and in one category of labels all outcomes are the same."""
    rng = np.random.default_rng(1)
    x = rng.choice(LABELS, size=4000)
    result = sp.group_means(np.where(np.arange(4000) % 2, 0.1 + 0.2, 0.3), sp.privatize(x, DESIGN, seed=1))
    assert (result.variance == 0).all()
    labels = sp.SubsetData(np.array([1 << LABELS.index(label) for label in x]), sp.nonprivate(LABELS))
    result = sp.group_means(np.where(x == "red", 3.7, rng.normal(100, 30, size=4000)), labels)
    assert result.variance[0] == 0
    assert (result.variance[1:] > 800).all()
    assert result.notes == ()
