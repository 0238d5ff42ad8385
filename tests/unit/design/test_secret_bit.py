"""A value and a secret bit of known distribution: Warner's question in subset form, and the paper's artificial bit."""

import json

import numpy as np
import pytest
from every_case import every_case
from lopsided import BIT, BIT3, WARNER
from problems import quietly
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.errors import CodeError, DesignDocumentError, InvalidDesignError
from subsetprivacy.estimation.likelihood import expected_information, tangent_inverse
from subsetprivacy.mechanism.reports import draw_given
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting

DIFFERENT, SAME = 0b0110, 0b1001  # (first, 0), (first, 1), (second, 0), (second, 1)


def rows_of(design):
    return design.support_incidence.inner(np.eye(design.p)).T


def channel(design):
    """P(a | j), a row for each value."""
    return (rows_of(design) * design.support()[1][:, None]).T


# Warner's question ------------------------------------------------------------------------------------------------


def test_warners_reports_are_pairs_that_are_always_true():
    assert WARNER.support()[0].tolist() == [DIFFERENT, SAME]
    assert WARNER.members(SAME) == (("no", 0), ("yes", 1))
    assert WARNER.members(DIFFERENT) == (("no", 1), ("yes", 0))
    # The bit is 1 with probability .3: "the same" is .7 for the first category, .3 for the second.
    assert channel(WARNER) == pytest.approx(np.array([[0.3, 0.7], [0.7, 0.3]]))


@every_case("q", [0.25, 0.1, 0.8, 0.45])
@every_case("method", ["mle", "mom", "mom-conditional", "em", "icm", "one-step"])
def test_warners_closed_forms(q, method):
    # lambda = P("the same") = (1-q)(1-w) + q w for the share w of the second category.
    n, w = 2000, 0.35
    same = round(n * ((1 - q) * (1 - w) + q * w))
    counts = sp.SubsetCounts([SAME, DIFFERENT], [same, n - same], sp.warner(["no", "yes"], q))
    rate = same / n
    second = (rate - (1 - q)) / (2 * q - 1)
    fit = sp.estimate(counts, method, **({"tol": 1e-12} if method in ("mle", "em", "icm") else {}))
    assert fit.w == pytest.approx([1 - second, second], abs=1e-6)
    variance = rate * (1 - rate) / (2 * q - 1) ** 2 / n
    with quietly():
        assert fit.se == pytest.approx([np.sqrt(variance)] * 2, rel=1e-4)


@every_case("q", [0.25, 0.1, 0.8])
def test_warners_limit_variance_and_leakage(q):
    design = sp.warner(["no", "yes"], q)
    w = np.array([0.65, 0.35])
    rate = (1 - q) * w[0] + q * w[1]
    limit = tangent_inverse(expected_information(design, w))
    assert limit[1, 1] == pytest.approx(rate * (1 - rate) / (2 * q - 1) ** 2)
    assert design.epsilon == pytest.approx(abs(np.log(q / (1 - q))))
    assert np.log2(design.S) == pytest.approx(np.log2(2 * max(q, 1 - q)))
    assert design.smallest_set == 2
    assert design.is_subset_private


def test_warners_epsilon_at_a_quarter():
    assert sp.warner(["no", "yes"]).epsilon == pytest.approx(1.10, abs=0.005)


def test_warner_is_identified_by_the_bits_law_alone():
    # On the four pairs (X, bit) the two reports have rank 2; seen through the held law they have rank 2 of 2.
    assert np.linalg.matrix_rank(WARNER.inner.support_incidence.inner(np.eye(4))) == 2
    assert not WARNER.inner.is_identifiable
    assert np.linalg.matrix_rank(rows_of(WARNER)) == 2
    assert WARNER.is_identifiable
    assert WARNER.equal_only
    assert not BIT.equal_only


def test_warners_question_is_asked_without_the_value():
    question = sp.ask(WARNER, seed=1)
    assert sp.ask(WARNER, seed=2).code == question.code
    assert str(question) == (
        "Secretly draw a number: 1 with probability 0.3, else 0. Tell no one. "
        "Your answer has a number too: 0 for no, 1 for yes. Are the two numbers the same or different?"
    )
    assert question.resolve(True) == SAME
    assert question.resolve(False) == DIFFERENT
    with pytest.raises(CodeError):
        question.resolve("same")
    assert question.resolve(None) == WARNER.missing_code == 15
    data = sp.resolve([DIFFERENT, SAME, DIFFERENT], [True, True, None], WARNER)
    assert data.codes.tolist() == [DIFFERENT, SAME, 15]
    assert data.counts().n_missing == 1


@every_case("design", [WARNER, BIT, BIT3, uniform_with_bit(["no", "yes"])], ids=["warner", "bit", "three", "fair"])
def test_leakage_is_that_of_the_channel(design):
    # By the definitions, from the matrix P(a | j) alone.
    P = channel(design)
    w = np.arange(1, design.p + 1) / (design.p * (design.p + 1) / 2)
    joint = P * w[:, None]
    law = joint.sum(axis=0)
    seen = joint > 0
    mutual = (joint[seen] * np.log2((joint / law / w[:, None])[seen])).sum()
    setting = Setting.of(design, w)
    assert metrics.mi_leakage(setting).value == pytest.approx(mutual)
    assert metrics.prediction_leakage(setting) == pytest.approx(joint.max(axis=0).sum())
    assert pytest.approx(P.max(axis=0).sum()) == design.S
    assert design.largest_posterior(w) == pytest.approx((joint / law).max())
    assert design.least_size(w) == pytest.approx((law / design.support()[1]).min())
    ratio = np.inf if (P == 0).any() else np.log(P.max(axis=0) / P.min(axis=0)).max()
    assert design.epsilon == pytest.approx(ratio)
    np.testing.assert_array_equal(design.best_guess(design.support()[0], w), joint.argmax(axis=0))


# The paper's bit ----------------------------------------------------------------------------------------------------


def test_a_fair_bit_reveals_a_third_and_the_rest_says_nothing():
    design = uniform_with_bit(["no", "yes"])
    rows, mu = rows_of(design), design.support()[1]
    revealing = (rows > 0).sum(axis=1) == 1
    for w in ([0.5, 0.5], [0.9, 0.1]):
        law = mu * (rows @ np.array(w))
        assert law[revealing].sum() == pytest.approx(1 / 3)
    assert np.ptp(rows[~revealing], axis=1) == pytest.approx(np.zeros(4))
    assert design.smallest_set == 1
    assert design.epsilon == np.inf


def test_a_biased_bit_makes_the_rest_say_something():
    rows = rows_of(BIT)
    hidden = (rows > 0).all(axis=1)
    assert hidden.sum() == 4
    assert (np.ptp(rows[hidden], axis=1) > 0.1).any()


def test_the_fair_bit_costs_three_times_asking():
    # A third of the rows carry the value, the others nothing.
    w = np.array([0.3, 0.7])
    limit = tangent_inverse(expected_information(uniform_with_bit(["no", "yes"]), w))
    assert limit[0, 0] == pytest.approx(3 * 0.3 * 0.7)


def test_three_categories_beside_a_bit_are_six_pairs():
    assert BIT3.inner.p == 6
    assert BIT3.support()[0].tolist() == sp.uniform(range(6)).support()[0].tolist()
    assert rows_of(BIT3) == pytest.approx(
        np.array(
            [
                [sum((0.7, 0.3)[b] for b in (0, 1) if a >> (2 * j + b) & 1) for j in range(3)]
                for a in BIT3.support()[0].tolist()
            ]
        )
    )


def test_the_largest_word_draws_nothing_impossible():
    # Of "no" and a bit there are two pairs: the last of all 2^64 words must not draw a pair with "yes".
    class Largest:
        def __init__(self):
            self._words = [(1 << 64) - 1, 0b1100]

        def bits(self, n, width):
            return np.full(n, self._words.pop(0), f"u{width // 8}")

        def among(self, rows):
            return self

    assert BIT.contains(draw_given(np.array([0]), BIT, Largest()), np.array([0])).all()


# Counts, documents, refusals ---------------------------------------------------------------------------------------


@every_case("q", [0, 1, -0.2, 1.3, float("nan"), True, "0.25", None])
def test_the_bits_probability_is_checked(q):
    for make in (sp.warner, uniform_with_bit):
        with refused(InvalidDesignError, "q"):
            make(["no", "yes"], q)


def test_warners_bit_must_not_be_fair():
    for q in (0.5, 0.5005):
        with refused(InvalidDesignError, "q"):
            sp.warner(["no", "yes"], q)
    assert sp.warner(["no", "yes"], 0.49).is_identifiable
    assert uniform_with_bit(["no", "yes"], 0.5).is_identifiable
    assert sp.warner(["no", "yes"], np.float64(0.3)) == WARNER


@pytest.mark.parametrize("labels", [["one"], ["a", "b", "c"]])
def test_warner_is_for_two(labels):
    with pytest.raises(InvalidDesignError):
        sp.warner(labels)


@every_case(("changes", "argument"), [({"q": "0.5"}, "q"), ({"q": "2"}, "q"), ({"asked": "both"}, None)])
def test_documents_without_fingerprint_are_checked(changes, argument):
    document = WARNER.document()
    document.pop("fingerprint")
    with refused(DesignDocumentError, argument):
        sp.design_from_json(json.dumps(document | changes))


def test_the_repr_says_what_is_asked():
    assert repr(WARNER) == "<'no', 'yes' with a secret bit, P(1) = 0.3, asked whether they are equal>"
    assert repr(BIT) == "<'no', 'yes' with a secret bit, P(1) = 0.4, uniform questions about both>"


def test_answers_in_words_come_back_as_the_truth():
    rng = np.random.default_rng(1)
    x, bit = rng.random(40_000) < 0.3, rng.random(40_000) < 0.25
    design = sp.warner(["no", "yes"], q=0.25)
    asked = sp.draw_questions(design, 40_000)
    fit = sp.estimate(sp.resolve(asked, x == bit, design))  # "are the two numbers the same?"
    assert abs(fit.w[1] - 0.3) < 4 * fit.se[1]


def test_questions_beside_a_bit_are_put_in_words():
    text = str(sp.ask(uniform_with_bit(["no", "yes"]), seed=1))
    assert text.startswith(
        "Secretly draw a number: 1 with probability 0.5, else 0. Tell no one. Are your answer and the"
    )
    assert " with a " in text
