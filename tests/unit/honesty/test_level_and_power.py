"""How often honest answers are rejected, and random ones found."""

import numpy as np
import pytest

from subsetprivacy.design import hadamard, uniform
from subsetprivacy.estimation.newton import newton
from subsetprivacy.examples import adult
from subsetprivacy.honesty import check_honesty
from subsetprivacy.honesty.linear import RandomAnswerRows


def rejections(draw, design, w, n, share, samples, seed):
    """How often each test rejects at 5 %, and the estimates of the share with their standard errors."""
    source, hits, shares = np.random.default_rng(seed), np.zeros(4), []
    for _ in range(samples):
        counts = draw(design, w, share, n, source)
        check = check_honesty(counts, replications=99, seed=source)
        hits += [part.pvalue <= 0.05 for part in check.parts]
        shares.append((check.random_share, check.random_share_se))
    return dict(zip(("answers", "draws", "random", "rest"), hits / samples)), np.array(shares)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("w", "n", "samples"),
    [(np.full(5, 0.2), 500, 2000), (np.full(5, 0.2), 2000, 2000), (adult.race, 500, 400), (adult.race, 2000, 1000)],
    ids=["even, n=500", "even, n=2000", "Adult race, n=500", "Adult race, n=2000"],
)
def test_the_level_is_kept(with_random_answers, w, n, samples):
    rates, shares = rejections(with_random_answers, uniform(range(5)), w, n, 0.0, samples, seed=11)
    slack = 3 * np.sqrt(0.05 * 0.95 / samples)
    assert all(abs(rate - 0.05) < slack for rate in rates.values()), rates
    assert abs(shares[:, 0].mean()) < 4 * shares[:, 0].std() / np.sqrt(samples)
    assert shares[:, 1].mean() == pytest.approx(shares[:, 0].std(), rel=0.1)


def test_estimates_of_zero_do_not_pull_the_share_down(with_random_answers):
    # The reason for the free step: here maximum likelihood finds a tenth of the share.
    design, source = hadamard(50), np.random.default_rng(6)
    w = 1 / np.arange(1, 51)
    free, likely = [], []
    for _ in range(60):
        counts = with_random_answers(design, w / w.sum(), 0.2, 4000, source)
        free.append(check_honesty(counts, method="chi-square").random_share)
        likely.append(newton(RandomAnswerRows(counts.incidence, 0.5), counts.shares).w[-1])
    assert abs(np.mean(free) - 0.2) < 3 * np.std(free) / np.sqrt(60)
    assert np.mean(likely) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "share", "least", "most"),
    [(5, 0.2, 0.5, 0.64), (5, 0.3, 0.8, 0.92), (8, 0.1, 0.36, 0.5), (8, 0.2, 0.86, 0.96)],
)
def test_the_power_against_random_answers(with_random_answers, p, share, least, most):
    rates, shares = rejections(with_random_answers, uniform(range(p)), np.full(p, 1 / p), 2000, share, 600, seed=12)
    assert least < rates["random"] < most
    assert rates["answers"] < rates["random"]  # the test for one pattern sees it sooner than the test for all
    assert abs(rates["rest"] - 0.05) < 0.03  # random answers explain what is wrong
    assert abs(shares[:, 0].mean() - share) < 4 * shares[:, 0].std() / np.sqrt(600)


@pytest.mark.slow
@pytest.mark.parametrize("w", [np.full(8, 1 / 8), np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])])
def test_the_share_that_is_said_to_be_found_is_found(with_random_answers, w):
    design = uniform(range(8))
    said = np.median(
        [
            check_honesty(with_random_answers(design, w, 0, 2000, np.random.default_rng(k))).random.detectable
            for k in range(20)
        ]
    )
    rates, _ = rejections(with_random_answers, design, w, 2000, float(said), 400, seed=13)
    assert rates["random"] == pytest.approx(0.8, abs=0.07)
