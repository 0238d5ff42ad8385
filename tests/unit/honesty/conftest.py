"""What several tests of honesty need."""

import numpy as np
import pytest

from subsetprivacy.data import SubsetCounts


def _with_random_answers(design, w, share, n, source=None):
    """Counts of n people, a share of whom picks an answer by chance: exact, or drawn from a generator."""
    codes, mu = design.support()
    law = mu * ((1 - share) * design.support_incidence.inner(np.asarray(w)) + share / design.options)
    if source is not None:
        return SubsetCounts(codes, source.multinomial(n, law / law.sum()), design)
    whole = np.rint(n * law)
    assert np.abs(whole - n * law).max() < 1e-6, "choose n so that all expected counts are whole"
    return SubsetCounts(codes, whole.astype(int), design)


@pytest.fixture(scope="session")
def with_random_answers():
    """The function that makes counts with a share of random answers."""
    return _with_random_answers
