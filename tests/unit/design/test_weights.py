import numpy as np
import pytest

from subsetprivacy.design.weights import pick, thresholds

TOP = 2**64 - 1


def test_thresholds_are_cumulative_weights_in_64_bits():
    assert thresholds(np.array([0.5, 0.25, 0.25])).tolist() == [2**63, 3 * 2**62]
    assert thresholds(np.array([1.0])).tolist() == []


def test_weights_need_not_be_normalised():
    assert thresholds(np.array([6.0, 3.0, 3.0])).tolist() == thresholds(np.array([0.5, 0.25, 0.25])).tolist()


def test_pick_cuts_exactly_at_the_threshold():
    table = thresholds(np.array([0.5, 0.25, 0.25]))
    words = np.array([0, 2**63 - 1, 2**63, 3 * 2**62 - 1, 3 * 2**62, TOP], np.uint64)
    assert pick(table, words).tolist() == [0, 0, 1, 1, 2, 2]


def test_a_single_subset_takes_every_word():
    assert pick(thresholds(np.array([1.0])), np.array([0, TOP], np.uint64)).tolist() == [0, 0]


def test_a_cumulative_weight_that_rounds_to_one_fits_in_a_word():
    table = thresholds(np.array([1.0, 1e-30, 1e-30]))
    assert table.tolist() == [TOP, TOP]
    assert pick(table, np.array([TOP - 1], np.uint64)).tolist() == [0]


@pytest.mark.parametrize("tiny", [2.0**-60, 2.0**-64])
def test_tiny_first_weights_keep_their_share(tiny):
    # Drawn through float uniforms these would never or too often be picked.
    first = thresholds(np.array([tiny, 1 - tiny]))[0]
    assert int(first) == int(tiny * 2**64)
