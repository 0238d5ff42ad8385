"""Designs, exact samples and random samples for the tests of estimators and of privacy."""

import warnings
from contextlib import contextmanager

import numpy as np

import subsetprivacy as sp
from subsetprivacy.errors import SubsetPrivacyWarning


def lopsided():
    """Four categories, three questions of different weight: an index error cannot hide behind symmetry."""
    return sp.independent(list("abcd"), {("a", "b"): 0.5, ("a", "c"): 0.3, ("a", "d"): 0.2})


def lopsided_conditional():
    """Pairs, triples and the full set, complements missing: no yes/no question realizes it."""
    weights = {"abd": 0.3, "bc": 0.3, "acd": 0.3, "ab": 0.2, "cd": 0.2, "abcd": 0.2}
    return sp.conditional(list("abcd"), {tuple(subset): mu for subset, mu in weights.items()})


def with_full_question():
    """Yes/no questions, one in ten of which asks about everything and learns nothing."""
    return sp.independent(list("abcd"), {("a", "b"): 0.5, ("a", "c"): 0.2, ("a", "d"): 0.2, ("a", "b", "c", "d"): 0.1})


def mixture():
    """Two waves with different questions, half of the people each."""
    uniform = sp.uniform(list("abcd"))
    codes = uniform.support()[0]
    one, two = (sp.SubsetCounts(codes, np.ones(len(codes), int), design) for design in (uniform, lopsided()))
    return (one + two).design


def exact_counts(design, w, n):
    """The expected counts n mu_a L(a), which must be whole numbers."""
    codes, mu = design.support()
    expected = n * mu * design.support_incidence.inner(np.asarray(w, float))
    whole = np.rint(expected)
    assert np.abs(expected - whole).max() < 1e-6, "choose n so that all expected counts are whole"
    return sp.SubsetCounts(codes, whole.astype(np.int64), design)


def random_design(p, rng, power=1):
    """Questions with independent U(0,1) weights, normalized (`tab:consistency`); a power leaves few of them likely."""
    codes = sp.uniform(range(p)).support()[0]
    nu = rng.random(len(codes)) ** power
    return sp.independent(range(p), dict(zip(codes.tolist(), nu / nu.sum())))


def random_distribution(p, rng):
    """Independent U(0,1) numbers, normalized, as in `tab:consistency`."""
    w = rng.random(p)
    return w / w.sum()


def random_counts(k, rng):
    """Sample k of a mixed lot: p = 4 … 8, true zeros, rare categories, 30 to 10,000 people, three kinds of design."""
    p, kind = 4 + k % 5, k // 5 % 4
    w = rng.random(p)
    n = 30 if kind == 3 else int(rng.choice([30, 100, 1000, 10_000]))
    if kind == 1:  # zeros
        w[rng.choice(p, rng.integers(1, p - 1), replace=False)] = 0
    if kind == 2:  # rare categories
        w[rng.choice(p, 2, replace=False)] *= 1e-3
    if kind == 3 and k % 3 == 0:  # so few questions that some samples do not determine the estimate
        design = random_design(p, rng, power=40)
    else:
        design = sp.uniform(range(p)) if k % 2 else random_design(p, rng)
    return sp.simulate(design, w / w.sum(), n, seed=rng)


def exact_shares(design, w):
    """The expected shares mu_a L(a) of all reports, as weighted counts: no rounding to whole people."""
    codes, mu = design.support()
    law = 1000 * mu * design.support_incidence.inner(np.asarray(w, float))
    return sp.SubsetCounts(codes, law, design, squares=law)


def rising(p):
    """Shares in proportion to 1, 2, … p: no two alike."""
    return np.arange(1, p + 1) / (p * (p + 1) / 2)


class Odometer:
    """Words that count through all combinations of several draws, so that n people realize a law exactly.

    Each step is (what, radix, stride): call number k returns, for row i, the
    digit ``i // stride % radix`` as a word: a number for an even draw below
    the radix ("below"), the midpoint of a cell for a draw by weights ("grid"),
    or one of the given words (a list).
    """

    def __init__(self, *steps):
        self._steps = list(steps)

    def bits(self, n, width):
        what, radix, stride = self._steps.pop(0)
        digit = np.arange(n) // stride % radix
        if what == "below":
            words = [int(d) << (width - max(radix - 1, 1).bit_length()) for d in digit]
        elif what == "grid":
            words = [((2 * int(d) + 1) << width) // (2 * radix) for d in digit]
        else:
            words = [what[d] for d in digit]
        return np.array(words, dtype=f"u{width // 8}")

    def among(self, rows):
        return self


@contextmanager
def quietly():
    """Let the package's own warnings pass, where a test is about something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        yield
