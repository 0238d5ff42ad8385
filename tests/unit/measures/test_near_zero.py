"""A delta interval that rests on a share near zero says so; V without finite errors is not corrected."""

import json

import numpy as np
import pytest
from lopsided import GIVEN3
from problems import exact_counts, quietly

import subsetprivacy as sp
from subsetprivacy.errors import BoundaryWarning
from subsetprivacy.measures import association
from subsetprivacy.messages import NoteKind

AGES = ("<20", "20s", "30s", "40s", "50+")
PAIR = sp.product({"age": sp.uniform(AGES), "drugs": sp.warner(["yes", "no"])})
RARE = np.array([[30, 170], [80, 140], [70, 140], [30, 160], [3, 177]]) / 1000
HINT = r"Close to 0: .* delta intervals are unreliable\. Hint: method='profile'\.$"


@pytest.fixture(scope="module")
def rare():
    """Return a table whose cell of drugs at 50+ is less than one standard error from 0, and no other is near it."""
    result = association(sp.simulate(PAIR, RARE.ravel(), 6000, seed=20))
    assert not result.fit.notes
    assert 0 < result.table[4, 0] < result._se[4, 0]
    return result


@pytest.mark.parametrize(
    "ask",
    [
        lambda found, **options: found.odds_ratio(("20s", "50+"), ("yes", "no"), **options),
        lambda found, **options: found.odds_ratio(("50+", "30s"), ("no", "yes"), **options),
        lambda found, **options: found.risk_ratio("yes", ("50+", "20s"), **options),
    ],
)
def test_ratios_with_a_share_near_zero(rare, ask):
    with pytest.warns(BoundaryWarning, match=HINT) as caught:
        measure = ask(rare, method="delta")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    (note,) = measure.notes
    assert note.kind is NoteKind.NEAR_ZERO
    assert str(note) == str(caught[0].message)
    assert f"share of {rare.table[4, 0]:.2g} with a standard error of {rare._se[4, 0]:.2g}" in note.text
    better = ask(rare)
    assert not better.notes
    assert better.value == measure.value
    assert (better.lower == 0) != np.isinf(better.upper)  # the cell may be 0: nothing is said on that side


def test_measures_that_rest_on_other_shares_do_not_warn(rare):
    assert not rare.difference("yes", ("20s", "50+"), method="delta").notes  # the groups are large
    assert not rare.risk_ratio("no", ("20s", "50+"), method="delta").notes
    assert not rare.odds_ratio(("20s", "30s"), ("yes", "no"), method="delta").notes


def test_two_standard_errors_are_the_limit():
    """Asked directly: a cell of k people has a standard error of about the square root of k."""
    naked = sp.product({"x": sp.nonprivate(["a", "b"]), "y": sp.nonprivate(["c", "d"])})

    def counts_of(k):
        people = np.array([k, 300, 200, 500.0])
        return association(exact_counts(naked, people / people.sum(), int(people.sum())))

    with quietly():
        assert counts_of(3).odds_ratio(method="delta").notes
        assert not counts_of(5).odds_ratio(method="delta").notes


def test_differences_with_a_group_near_zero():
    w = np.array([[0.015, 0.01], [0.29, 0.2], [0.1, 0.1], [0.1, 0.1], [0.035, 0.05]])
    result = association(sp.simulate(PAIR, w.ravel(), 1500, seed=6))
    assert not result.fit.notes
    total, error = result.rows.w[0], result.rows._se[0]
    assert 0 < total < 2 * error
    with pytest.warns(BoundaryWarning, match=HINT):
        measure = result.difference("yes", ("<20", "20s"), method="delta")
    assert f"share of {total:.2g} with a standard error of {error:.2g}" in measure.notes[0].text


def test_no_second_warning_where_the_estimate_itself_is_doubtful():
    result = association(sp.simulate(PAIR, RARE.ravel(), 6000, seed=12))
    near = result.table[:, 0] < result._se[:, 0]
    assert result.fit.on_boundary
    i = int(np.flatnonzero(near & (result.table[:, 0] > 0))[0])
    with pytest.warns(BoundaryWarning) as caught:
        measure = result.odds_ratio((AGES[i], "20s"), ("yes", "no"), method="delta")
    (warning,) = caught
    assert warning.message.message.startswith("On the boundary")
    assert warning.message.advice.name == "method_profile"
    assert measure.notes[0].kind is NoteKind.NEAR_ZERO


def test_no_profile_is_advised_where_there_is_none(rare):
    counts = rare.fit.counts
    weighted = sp.SubsetCounts(counts.codes, counts.counts, PAIR, squares=1.5 * counts.counts)
    for fit in (sp.estimate(weighted), sp.estimate(counts, "mom")):
        result = association(fit)
        assert 0 < result.table[4, 0] < result._se[4, 0]
        with pytest.warns(BoundaryWarning, match=r"Close to 0: .* delta intervals are unreliable\.$"):
            result.odds_ratio(("20s", "50+"), ("yes", "no"))
    zero = association(sp.estimate(sp.simulate(PAIR, RARE.ravel(), 6000, seed=10), "mom").projected())
    with quietly():
        (note,) = zero.odds_ratio(("20s", "50+"), ("yes", "no")).notes
    assert (note.kind, note.advice) == (NoteKind.NO_STANDARD_ERRORS, None)


class TestInfiniteErrors:
    @pytest.fixture
    def itself(self):
        naked = sp.product({"x": sp.nonprivate(list("abc")), "again": sp.nonprivate(list("abc"))})
        counts = exact_counts(naked, np.diag([0.5, 0.3, 0.2]).ravel(), 1000)
        with quietly():
            result = association(counts)
        assert np.isinf(result._se).any()
        return result

    def test_no_correction_without_errors(self, itself):
        with quietly():
            raw, less = itself.cramers_v(), itself.cramers_v(corrected=True)
        assert raw.value == pytest.approx(1)
        assert np.isnan(less.value)
        assert (less.lower, less.upper) == (raw.lower, raw.upper) == (0, 1)
        for measure in (raw, less):
            (note,) = measure.notes
            assert note.kind is NoteKind.BIASED
            assert note.text.endswith("some standard errors are infinite.")
        assert str(less).startswith("Cramér's V: - (std. error -, 95% noncentral interval 0.0000 to 1.0000, no test)")

    def test_output(self, itself):
        notes = itself.summary().notes
        assert notes[0] == "Cramér's V 1.0000, corrected for its upward bias -."
        assert notes[1].kind is NoteKind.BIASED
        assert notes[1] == itself.notes[0]
        plain = json.loads(json.dumps(itself.to_dict(), allow_nan=False))
        assert plain["cramers_v"] == pytest.approx(1)
        assert plain["cramers_v_corrected"] is None

    def test_a_correction_to_zero_stays_zero(self):
        pair = sp.product({"x": GIVEN3, "y": sp.warner(["m", "n"], 0.2)})
        result = association(sp.simulate(pair, np.outer([0.5, 0.3, 0.2], [0.4, 0.6]).ravel(), 2000, seed=8))
        assert result.cramers_v(corrected=True).value == 0
        assert result.summary().notes[0].endswith("corrected for its upward bias 0.0000.")
