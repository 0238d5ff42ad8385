"""The search for the best maximum: how many starts, from where, and what the result says."""

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from regression_maxima import best_around_the_truth, samples
from regression_samples import quietly, sample_of

import subsetprivacy as sp
from subsetprivacy.regression.maxima import MOST_STARTS, UNSEEN, search, unseen

FOUR = sp.uniform(range(4))


@frozen
class Ended:
    value: float
    converged: bool = True
    is_maximum: bool = True


def test_the_share_of_unseen_maxima_is_the_mean_over_all_shares():
    """With uniform prior on the number and shares of maxima: W(W + 1) / (N(N - 1)), from Boender and Rinnooy Kan."""
    assert unseen(1, 7) <= UNSEEN < unseen(1, 6)
    assert unseen(2, 12) <= UNSEEN < unseen(2, 11)
    assert unseen(1, 1) == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=60, max_size=60), st.data())
def test_the_search_ends_when_few_starts_are_expected_to_find_more(ends, data):
    fails = data.draw(st.sets(st.integers(0, 59), max_size=20))
    results = [Ended(-float(value), at not in fails) for at, value in enumerate(ends)]
    found = search(lambda at: results[int(at)], results[0], range(1, 60))
    seen = results[: found.starts]
    arrived = {each.value for each in seen if each.converged}
    if arrived:
        assert found.best.value == max(arrived)
        assert found.values == tuple(sorted(arrived, reverse=True))
    assert found.starts == MOST_STARTS or unseen(len(arrived), found.starts) <= UNSEEN
    for n in range(1, found.starts):  # not later than necessary
        assert unseen(len({each.value for each in results[:n] if each.converged}), n) > UNSEEN


def test_the_number_of_starts_may_be_given():
    data, X = sample_of(FOUR, 100)
    assert [quietly(data, X, method="ml", starts=k).fit.starts for k in (1, 2, 5)] == [1, 2, 5]


def test_many_maxima_are_told_even_if_the_next_is_far():
    """Eight categories and 120 people: the search ends with more maxima than it can have seen all of."""
    data, X = sample_of(sp.uniform(range(8)), 120, seed=3)
    fit = quietly(data, X, method="ml")
    assert fit.fit.starts == MOST_STARTS
    assert unseen(len(fit.maxima), fit.fit.starts) > UNSEEN
    (note,) = (note.text for note in fit.notes if "maxima from" in note.text)
    assert "There are probably more" in note


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "hadamard", "product"])
def test_starts_around_the_truth_find_nothing_much_better(name):
    """Sixty samples, and eight starts of a general optimizer at the truth and around it.

    Measured: of 60 samples none was missed by more than 0.5 of log-likelihood without a word.
    """
    silent = 0
    for data, X, truth in samples(name, 60):
        fit = quietly(data, X, method="ml", baseline=data.design.categories.labels[0])
        missed = best_around_the_truth(data, X, truth) - fit.loglik
        told = any("maxima from" in note.text for note in fit.notes)
        silent += missed > 0.5 and not told
    assert silent == 0
