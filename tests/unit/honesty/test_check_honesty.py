"""What the check of honesty finds, and how it shows it."""

import json

import numpy as np
import pytest
from lopsided import GIVEN
from numpy.testing import assert_allclose
from refusals import refused
from scipy import stats

from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import independent, partition, uniform
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.newton import newton
from subsetprivacy.honesty import check_honesty
from subsetprivacy.incidence import DenseRows
from subsetprivacy.mechanism.simulate import simulate
from subsetprivacy.subsets import bits

W5 = np.array([0.35, 0.05, 0.2, 0.3, 0.1])
W6 = np.array([0.3, 0.05, 0.2, 0.25, 0.1, 0.1])
# Which of three groups, of sizes 1 to 3 times two.
THIRDS = partition(
    list("abcdef"),
    partitions=[
        [("a", "b"), ("c", "d"), ("e", "f")],
        [("a", "c"), ("b", "e"), ("d", "f")],
        [("a", "d"), ("b", "f"), ("c", "e")],
        [("a", "e"), ("b", "d"), ("c", "f")],
    ],
    record=True,
)


def test_exact_honest_answers_fit_exactly(with_random_answers):
    check = check_honesty(with_random_answers(uniform(list("abcde")), W5, 0, 200_000))
    assert [part.name for part in check.parts] == ["answers", "draws", "random", "rest"]
    assert [part.df for part in check.parts] == [6, 9, 1, 5]
    assert_allclose([part.statistic for part in check.parts], 0, atol=1e-6)
    assert check.random_share == pytest.approx(0, abs=1e-9)
    assert check.notes == ()


@pytest.mark.parametrize("share", [0.04, 0.3])
def test_exact_random_answers_are_found_exactly_and_taken_out(with_random_answers, share):
    check = check_honesty(with_random_answers(uniform(list("abcde")), W5, share, 1_000_000))
    assert check.random_share == pytest.approx(share, abs=1e-9)
    assert_allclose(check.random.w, W5, atol=1e-8)
    assert check.rest.statistic == pytest.approx(0, abs=1e-6)
    assert check.random.test.pvalue < 1e-6
    low, high = check.random_share_interval
    assert low < share < high
    assert high - low == pytest.approx(2 * stats.norm.ppf(0.975) * check.random_share_se)


def test_random_answers_to_questions_with_three_answers(with_random_answers):
    # Groups of equal size cannot tell; one lopsided partition can.
    lopsided = partition(
        list("abcdefg"),
        partitions=[
            [("a", "b"), ("c", "d"), ("e", "f", "g")],
            [("a", "c"), ("b", "e"), ("d", "f", "g")],
            [("a", "d", "g"), ("b", "f"), ("c", "e")],
            [("a", "e"), ("b", "d", "g"), ("c", "f")],
            [("a", "f"), ("b", "c"), ("d", "e", "g")],
            [("a", "g"), ("b", "d"), ("c", "e", "f")],
        ],
        record=True,
    )
    w = np.array([0.3, 0.05, 0.15, 0.25, 0.1, 0.1, 0.05])
    check = check_honesty(with_random_answers(lopsided, w, 0.12, 60_000))
    assert check.answers.df == 6 * 2 - 6
    assert check.random_share == pytest.approx(0.12, abs=1e-9)
    assert_allclose(check.random.w, w, atol=1e-8)
    even = check_honesty(with_random_answers(THIRDS, W6, 0.12, 30_000))
    assert even.random is None
    assert even.answers.df == 4 * 2 - 5
    assert "each question splits the categories evenly" in even.notes[0].text


def test_inside_the_simplex_the_share_is_the_maximum_likelihood_estimate(with_random_answers):
    design = uniform(range(5))
    counts = with_random_answers(design, np.full(5, 0.2), 0.3, 20_000, np.random.default_rng(8))
    M = np.column_stack([bits(counts.codes, 5), np.full(len(counts.codes), 0.5)])
    best = newton(DenseRows(M), counts.counts / counts.n).w
    check = check_honesty(counts)
    assert best.min() > 0.05
    assert check.random_share == pytest.approx(best[-1], abs=2e-4 * check.random_share_se**0.5)
    L = M @ best
    information = M.T @ (M * (counts.counts / L**2)[:, None])
    inverse = np.linalg.inv(information)
    se = np.sqrt((inverse - np.outer(best, best) / counts.n)[-1, -1])
    assert check.random_share_se == pytest.approx(se, rel=0.02)


def test_the_parts_of_the_statistic_add_up(with_random_answers):
    counts = with_random_answers(uniform(range(6)), W6, 0.2, 3000, np.random.default_rng(5))
    check = check_honesty(counts)
    assert check.random_share > 0
    # The score statistic is what one more column takes from Pearson's; weights differ a little between the fits.
    assert check.random.test.statistic + check.rest.statistic == pytest.approx(check.answers.statistic, rel=0.02)
    half = stats.chi2.sf(check.random.test.statistic, 1) / 2
    assert (check.random.test.law, check.random.test.pvalue) == ("half chi-square", pytest.approx(half))
    assert check.answers.pvalue == pytest.approx(stats.chi2.sf(check.answers.statistic, 25 - 5))


def test_standard_errors_of_the_honest_distribution(with_random_answers):
    # Against the covariance of the estimate under exact counts, by differences of the map from counts to w.
    design, n = uniform(list("abcde")), 1_000_000
    exact = with_random_answers(design, W5, 0.2, n)
    check = check_honesty(exact)
    M = np.column_stack([bits(exact.codes, 5), np.full(len(exact.codes), 0.5)])
    u = np.append(0.8 * W5, 0.2)
    law = exact.counts / n
    mu = law / (M @ u)
    H = M.T @ (M * (n * mu / (M @ u))[:, None])
    slope = np.linalg.solve(H, M.T / (M @ u))  # of u in the counts
    to_w = np.column_stack([np.eye(5), W5]) / 0.8
    J = to_w @ slope
    cov = n * (J * law) @ J.T - n * np.outer(J @ law, J @ law)
    assert_allclose(check.random.w_se, np.sqrt(cov.diagonal()), rtol=1e-3)


def test_a_share_that_leaves_nobody_leaves_no_distribution(with_random_answers):
    check = check_honesty(with_random_answers(uniform(list("abcde")), W5, 1.0, 20_000))
    assert check.random_share == pytest.approx(1)
    assert np.isnan(check.random.w).all()
    assert np.isnan(check.random.w_se).all()
    assert check.to_dict()["honest_w"] is None


def test_weights_that_no_question_tells_apart_do_not_stop_the_check(with_random_answers):
    # e and f are always together: their sum is all that can be known.
    told = uniform(list("abcde"))
    questions = {code | (code & 0b10000) << 1: mu / 2 for code, mu in zip(*told.support())}
    design = independent(list("abcdef"), {int(code): nu for code, nu in questions.items()})
    assert not design.is_identifiable
    check = check_honesty(with_random_answers(design, [0.35, 0.05, 0.2, 0.3, 0.06, 0.04], 0.2, 200_000))
    merged = check_honesty(with_random_answers(told, W5, 0.2, 200_000))
    assert (check.answers.df, check.random_share) == (6, pytest.approx(0.2))
    assert check.answers.statistic == pytest.approx(merged.answers.statistic, rel=1e-3)
    assert check.random_share_se == pytest.approx(merged.random_share_se, rel=1e-3)
    assert np.isnan(check.random.w).all()


def test_the_wrong_design_is_found():
    # A publisher's column in which one set comes twice as often as the design says.
    told = simulate(GIVEN, [0.1, 0.2, 0.3, 0.4], 2000, seed=1)
    twice = SubsetCounts(told.codes, np.where(told.codes == 0b0111, 2, 1) * told.counts, GIVEN)
    assert check_honesty(told).answers.pvalue > 0.05
    assert check_honesty(twice).answers.pvalue < 1e-6


def test_answers_that_depend_on_the_question_are_found_where_the_draws_are_right():
    # Whoever is asked about {a, b} denies a.
    design = uniform(list("abcde"))
    w, codes = W5, design.support()[0]
    law = design.support_incidence.inner(w) * design.support()[1]
    law[codes == 0b00011] -= 0.5 * w[0] * design.support()[1][0]
    law[codes == 0b11100] += 0.5 * w[0] * design.support()[1][0]
    counts = SubsetCounts(codes, np.random.default_rng(2).multinomial(20_000, law), design)
    check = check_honesty(counts)
    assert check.draws.pvalue > 0.05
    assert check.answers.pvalue < 1e-6
    assert check.rest.pvalue < 1e-6  # random answers do not explain it
    worst = check.residuals.summary(1).rows[0]
    assert worst[0] == "c|d|e"
    assert float(worst[3]) > 4


# How it shows itself -------------------------------------------------------------------------------


def test_the_numbers_are_plain_and_complete():
    check = check_honesty(simulate(uniform(list("abcde")), W5, 2000, seed=1), level=0.9)
    plain = json.loads(json.dumps(check.to_dict()))
    assert plain["answers"]["df"] == 6
    assert plain["level"] == 0.9
    assert plain["random_share_lower"] <= max(plain["random_share"], 0) <= plain["random_share_upper"]
    assert sum(plain["honest_w"]) == pytest.approx(1)
    none = check_honesty(simulate(GIVEN, [0.1, 0.2, 0.3, 0.4], 500, seed=1)).to_dict()
    assert (none["draws"], none["random"], none["random_share"], none["honest_w"]) == (None, None, None, None)
    assert json.dumps(none)


def test_the_summary_reads(with_random_answers):
    check = check_honesty(with_random_answers(uniform(list("abcde")), W5, 0.2, 200_000))
    text = str(check.summary())
    assert text.startswith("Honesty check: uniform design, 5 categories, n = 200,000")
    assert "answers: some distribution fits" in text
    assert f"Share of random answers 0.2000, std. error {check.random_share_se:.4f}, 95% interval" in text
    assert "< 0.0001" in text
    assert repr(check).startswith("<HonestyCheck of a uniform design, p-values: answers < 0.0001, draws 1.0000")


def test_the_summary_says_which_share_would_be_found(with_random_answers):
    check = check_honesty(with_random_answers(uniform(list("abcde")), W5, 0, 200_000))
    # One-sided at 5 % with a power of 80 %: 1.6449 + 0.8416 standard errors.
    assert check.random.detectable == pytest.approx(2.4865 * check.random_share_se, rel=1e-4)
    assert check.to_dict()["random_share_detectable"] == check.random.detectable
    result = f"A share of about {check.random.detectable:.2f} would be found in 80 of 100 such samples"
    assert result in str(check.summary())
    few = check_honesty(simulate(uniform(list("abcde")), W5, 15, seed=3), method="chi-square")
    assert few.random.detectable > 1
    assert "Too few people to find random answers" in str(few.summary())
    none = check_honesty(simulate(GIVEN, [0.1, 0.2, 0.3, 0.4], 500, seed=1))
    assert "would be found" not in str(none.summary())


def test_the_picture_shows_the_worst_answers_first():
    design = uniform(list("abcde"))
    counts = simulate(design, W5, 3000, seed=4)
    n_a = counts.n_a.astype(int)
    odd = int(np.flatnonzero(counts.observed_codes == 0b00110)[0])
    n_a[odd] += 90
    check = check_honesty(SubsetCounts(counts.observed_codes, n_a, design))
    axes = check.plot(4, title="Odd answers")
    rows = check.residuals.summary(4).rows
    assert [text.get_text() for text in axes.get_yticklabels()] == [row[0].replace("|", " | ") for row in rows]
    assert rows[0][0] == "b|c"
    assert f"{n_a[odd]}, expected {rows[0][2]}" in [text.get_text() for text in axes.texts]
    lines = {line.get_label(): line.get_xdata() for line in axes.get_lines()}
    assert lines["95% range of the largest"][0] == pytest.approx(stats.norm.isf(0.025 / 10))  # ten questions
    assert lines["beyond"][0] == pytest.approx(float(rows[0][3]), abs=0.005)
    assert axes.get_title() == "Odd answers"
    with refused(ArgumentError, "most"):
        check.plot(0)


def test_less_than_nobody_is_no_sign_of_random_answers(with_random_answers):
    fewer = check_honesty(with_random_answers(uniform(list("abcde")), W5, -0.02, 1_000_000))
    assert fewer.random_share == pytest.approx(-0.02)
    assert fewer.random_share_interval[0] == 0
    assert (fewer.random.test.statistic, fewer.random.test.pvalue) == (0, 1)
    assert "Share of random answers -0.0200 (below 0: no sign of any)" in str(fewer.summary())
    assert_allclose(fewer.random.w, newton(fewer.counts.incidence, fewer.counts.shares).w, atol=1e-9)


def test_residuals_are_standardised():
    design = uniform(list("abcde"))
    drawn = np.array([check_honesty(simulate(design, W5, 1500, seed=s)).residuals.standardized for s in range(300)])
    assert_allclose(drawn.std(axis=0), 1, atol=0.16)
    table = check_honesty(simulate(design, W5, 1500, seed=1)).residuals.summary(3)
    assert len(table.rows) == 3
    sizes = [abs(float(row[3])) for row in table.rows]
    assert sizes == sorted(sizes, reverse=True)
