"""What asking twice leaves: known values, brute force over all pairs of subsets, bounds for many categories."""

from itertools import product

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, DESIGNS, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import covered, fixed_size, hadamard, partition, warner
from subsetprivacy.errors import ArgumentError, DistributionError, TooLargeError, UnknownDesignError
from subsetprivacy.messages import NoteKind
from subsetprivacy.planning import repeat_risk, repeats


def by_brute_force(design, times):
    """Intersect every sequence of reports that the person's value allows."""
    codes, mu = design.support()
    rows = design.support_incidence.inner(np.eye(design.p)).T
    candidates, alone = np.zeros(design.p), np.zeros(design.p)
    for x in range(design.p):
        for reports in product(range(len(codes)), repeat=times):
            chance = np.prod(mu[list(reports)] * rows[list(reports), x])
            left = (rows[list(reports)] > 0).all(axis=0).sum()
            candidates[x] += chance * left
            alone[x] += chance * (left == 1)
    return candidates, alone


@every_case(("p", "alone"), [(4, 0.67), (5, 0.42), (8, 0.14), (12, 0.04)])
def test_two_uniform_draws(p, alone):
    assert repeat_risk(sp.uniform(range(p))).probability == pytest.approx(alone, abs=0.005)


@every_case("times", [1, 2, 3, 5])
def test_half_sets_halve_the_candidates(times):
    # Eight categories, four in each half: a second category stays with probability 3/7.
    risk = repeat_risk(partition(range(8), groups=2), times=times)
    assert risk.expected == pytest.approx(1 + 7 * (3 / 7) ** times)
    # A Hadamard design of many categories: nearly 1/2.
    assert repeat_risk(hadamard(range(64)), times=times).expected == pytest.approx(1 + 63 * (31 / 63) ** times)


SMALL = {name: design for name, design in DESIGNS.items() if design.p <= 5} | {
    "groups of two sizes": partition(range(5), groups=2),
    "pairs": fixed_size(range(4), 2),
    "hadamard": hadamard(range(8)),
    "warner": warner(["no", "yes"]),
}


@every_case("name", SMALL)
def test_brute_force(name):
    design = SMALL[name]
    times = 3 if len(design.support()[0]) <= 8 else 2
    candidates, alone = by_brute_force(design, times)
    risk = repeat_risk(design, times=times)
    np.testing.assert_allclose(risk.candidates, candidates, atol=1e-12)
    np.testing.assert_allclose(risk.alone, alone, atol=1e-12)
    assert risk.approximations == ()


def test_listed_and_by_size_agree():
    design = sp.uniform(range(9))
    for one, two in zip(repeats._listed(design, 3), repeats._alike(design.p, design.by_size, 3)):
        np.testing.assert_allclose(one, two, atol=1e-12)


def test_many_alike_categories_are_exact():
    risk = repeat_risk(sp.uniform(range(48)), times=4)
    assert risk.expected == pytest.approx(1 + 47 * sp.uniform(range(48)).pair_probability ** 4)
    assert 0 < risk.probability < 0.1


def test_averages_are_over_the_people():
    w = np.array([0.7, 0.1, 0.1, 0.1])
    risk = repeat_risk(ASKED, w)
    assert risk.expected == pytest.approx(w @ (ASKED.Q**2).sum(axis=1))
    assert risk.probability == pytest.approx(w @ risk.alone)


def test_simulation_is_near_the_truth(monkeypatch):
    exact = repeat_risk(ASKED, times=2)
    monkeypatch.setattr(repeats, "MAX_LISTED", 3)
    simulated = repeat_risk(ASKED, times=2, seed=5)
    np.testing.assert_allclose(simulated.candidates, exact.candidates)
    np.testing.assert_allclose(simulated.alone, exact.alone, atol=0.02)
    assert simulated.probability != exact.probability
    assert "simulated, standard error" in str(simulated.summary())


def test_all_rows_of_a_matrix_of_64():
    # With all 64 columns in use what is left is a subspace: only the value iff six of the rows are independent.
    risk = repeat_risk(hadamard(range(64)), times=7)
    ranks = np.zeros(7)
    ranks[0] = 1.0
    for _ in range(7):  # a nonzero row lies in the span of r independent ones with probability (2^r - 1)/63
        inside = (2.0 ** np.arange(7) - 1) / 63
        ranks = ranks * inside + np.r_[0, (ranks * (1 - inside))[:-1]]
    assert risk.probability == pytest.approx(ranks[6], abs=0.01)


def test_a_bound_for_many_categories(monkeypatch):
    design = hadamard(range(200))
    monkeypatch.setattr(repeats, "_DRAWS", 20_000)
    simulated = repeat_risk(design, times=6)
    monkeypatch.setattr(repeats, "MAX_SIMULATED", 100)
    bounded = repeat_risk(design, times=6)
    assert simulated.probability <= bounded.probability < 1
    np.testing.assert_allclose(bounded.candidates, simulated.candidates)
    assert [note.text for note in bounded.approximations] == ["The probability is an upper bound."]


def test_dummy_rows_do_not_help_against_whoever_knows_the_person():
    base = partition(range(7), groups=2)
    assert repeat_risk(covered(base, 0.2)).probability == repeat_risk(base).probability


def test_what_rules_nothing_out_still_adds_up():
    risk = repeat_risk(warner(["no", "yes"], q=0.25), times=2)
    assert (risk.expected, risk.probability) == (2, 0)
    assert risk.odds == pytest.approx(9)  # three to one, twice
    assert [note.kind for note in risk.notes] == [NoteKind.REPEATED, NoteKind.LEAKAGE]
    assert risk.notes[1].text == "No answer rules out a value, but 2 draws can multiply the odds of a value by up to 9."
    said = "<RepeatRisk: 2 draws can multiply the odds of a value by up to 9; none of 2 candidates is ruled out>"
    assert repr(risk) == said
    assert repeat_risk(ASKED).odds == np.inf
    assert "odds" not in str(repeat_risk(ASKED).summary())


def test_the_odds_are_those_of_the_most_telling_answers():
    design, times = warner(["no", "yes"], q=0.2), 3
    law = design.support()[1][:, None] * design.support_incidence.inner(np.eye(2)).T
    ratios = [np.prod(law[list(a), 0]) / np.prod(law[list(a), 1]) for a in product(range(2), repeat=times)]
    assert repeat_risk(design, times=times).odds == pytest.approx(max(ratios))


def test_odds_beyond_all_numbers():
    risk = repeat_risk(warner(["no", "yes"]), times=1000)
    assert risk.odds == np.inf
    assert "1,000 draws can multiply the odds of a value by more than 1e300; none" in repr(risk)


# Several variables ----------------------------------------------------------------------------

SEVERAL = sp.product({"race": ASKED, "smokes": warner(["no", "yes"], q=0.1), "age": fixed_size(range(3), 2)})


def test_several_variables_by_brute_force():
    candidates, alone = by_brute_force(SEVERAL, 2)
    risk = repeat_risk(SEVERAL)
    np.testing.assert_allclose(risk.candidates, candidates, atol=1e-12)
    np.testing.assert_allclose(risk.alone, alone, atol=1e-12)


def test_each_variable_by_itself_at_its_own_margin():
    w = np.random.default_rng(1).dirichlet(np.ones(SEVERAL.p))
    margin = w.reshape(4, 2, 3).sum(axis=(1, 2))
    risk = repeat_risk(SEVERAL, w, 3)
    assert list(risk.parts) == ["race", "smokes", "age"]
    assert risk.parts["race"].probability == pytest.approx(repeat_risk(ASKED, margin, 3).probability)
    text = str(risk.summary())
    assert "smokes: 3 draws can multiply the odds of a value by up to 729." in text
    assert "all together" in text


def test_two_secret_bits_multiply_their_odds():
    both = sp.product({"x": warner(["a", "b"], q=0.1), "y": warner(["no", "yes"])})
    assert repeat_risk(both).odds == pytest.approx(81 * 9)
    assert "2 draws can multiply the odds of a combination by up to 729" in repr(repeat_risk(both))


def test_dummies_around_several_variables():
    base = sp.product({"x": sp.uniform(range(4)), "y": sp.uniform(range(5))})
    risk = repeat_risk(covered(base, 0.1))
    assert risk.design.kind == "covered"
    assert risk.probability == pytest.approx(repeat_risk(sp.uniform(range(4))).probability * 0.42)


def test_too_many_combinations_are_taken_one_variable_at_a_time():
    many = sp.product({"race": sp.uniform(range(20)), "b": hadamard(range(300)), "c": hadamard(range(300))})
    with pytest.raises(TooLargeError):
        repeat_risk(many)


def test_joined_variables_say_that_combinations_are_counted():
    joined = sp.join({"sex": ["f", "m"], "smokes": ["yes", "no"]})
    assert NoteKind.REVEALED in [note.kind for note in repeat_risk(joined).notes]


def test_bad_arguments_are_named():
    with refused(ArgumentError, "times"):
        repeat_risk(ASKED, times=0)
    with refused(DistributionError, "w"):
        repeat_risk(ASKED, [0.1] * 4)
    with refused(ArgumentError, "design"):
        repeat_risk("uniform")
    with refused(ArgumentError, "times"):
        repeat_risk(ASKED, times=10**400)
    with refused(ArgumentError, "seed"):
        repeat_risk(ASKED, seed="lucky")
    with pytest.raises(UnknownDesignError):
        repeat_risk(UNKNOWN)


def test_looks():
    risk = repeat_risk(sp.uniform(["a", "b", "c", "d"]))
    text = str(risk.summary())
    assert text.startswith("2 draws for the same person: uniform design, 4 categories")
    assert "all people" in text
    said = "<RepeatRisk: 2 draws for one person leave 1.333 of 4 candidates, one alone with probability 0.6667>"
    assert repr(risk) == said
    assert list(risk.to_frame()["alone"]) == pytest.approx([2 / 3] * 4)
