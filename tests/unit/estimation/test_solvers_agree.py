"""The same maximum by unrelated algorithms: Newton, EM, ICM, a conic solver, and R's mixsqp."""

import shutil
import subprocess
import warnings

import numpy as np
import pytest
from problems import quietly, random_counts

import subsetprivacy as sp
from subsetprivacy.errors import ConvergenceWarning, NotUniqueWarning
from subsetprivacy.estimation.likelihood import score
from subsetprivacy.subsets import bits

SOLVERS = {
    "mle": {},
    "em": {"accelerate": True, "tol": 1e-13},
    "conic": {"tol": 1e-12},
}


def fit_with_warnings(counts, method, **options):
    """The fit, and the kinds of warning that came with it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = sp.estimate(counts, method, **options)
    return fit, {warning.category for warning in caught}


def has_tie(fit):
    """Whether a category has no weight although its score is one: EM is then slower than any geometric series."""
    s = score(fit.counts.incidence, fit.counts.shares, fit.w)
    return bool((s[fit.w < 1e-9] > 1 - 1e-9).any())


@pytest.mark.parametrize("problems", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_three_solvers_agree_on_random_problems(problems):
    rng = np.random.default_rng(20)
    unique, flat, ties, boundary = [], [], 0, 0
    for k in range(problems):
        counts = random_counts(k, rng)
        (mle, said), (em, em_said), (conic, conic_said) = (
            fit_with_warnings(counts, method, **options) for method, options in SOLVERS.items()
        )
        heights = [fit.loglik / counts.total for fit in (mle, em, conic)]
        spread = max(heights) - min(heights)
        if NotUniqueWarning in said:
            assert said == em_said == conic_said == {NotUniqueWarning}
            flat.append(spread)
            continue
        assert said == conic_said == set()
        distances = [np.abs(conic.w - mle.w).max()]
        if em_said == {ConvergenceWarning} and has_tie(mle):
            ties += 1
        else:
            assert em_said == set()
            distances.append(np.abs(em.w - mle.w).max())
        unique.append((spread, max(distances)))
        boundary += bool(mle.on_boundary)
    spreads, distances = np.array(unique).T
    assert spreads.max() < 1e-8
    assert distances.max() < 1e-6
    assert max(flat) < 1e-8
    # The lot is a mixed one: it tests what it says it tests.
    assert len(unique) >= 0.9 * problems
    assert len(flat) >= problems // 60
    assert ties <= 2
    assert boundary >= 0.5 * problems


def test_icm_finds_the_same_maximum():
    rng = np.random.default_rng(21)
    for k in range(60):
        counts = random_counts(k, rng)
        with quietly():
            mle, icm = sp.estimate(counts, tol=1e-12), sp.estimate(counts, "icm", tol=1e-11)
        assert icm.loglik / counts.total == pytest.approx(mle.loglik / counts.total, abs=1e-10)
        assert icm.gap <= 1e-10


def test_plain_em_finds_the_same_maximum():
    rng = np.random.default_rng(22)
    for k in range(30):
        counts = random_counts(k, rng)
        with quietly():
            mle, em = sp.estimate(counts), sp.estimate(counts, "em", tol=1e-7, max_iter=20_000)
        assert 0 <= (mle.loglik - em.loglik) / counts.total + 1e-9 <= 1e-6


MIXSQP = r"""
suppressMessages(library(mixsqp))
lines <- readLines(file("stdin"))
for (line in lines) {
  numbers <- as.numeric(strsplit(line, " ")[[1]])
  p <- numbers[1]
  table <- matrix(numbers[-1], ncol = p + 1, byrow = TRUE)
  fit <- mixsqp(table[, -1, drop = FALSE], table[, 1], control = list(verbose = FALSE, convtol.sqp = 1e-12))
  cat(format(fit$x, digits = 17), "\n")
}
"""


def run_mixsqp(samples):
    """Fit all samples in one R session; a line per sample in, a line of weights out."""
    lines = []
    for counts in samples:
        p = counts.categories.p
        table = np.column_stack([counts.n_a, bits(counts.observed_codes, p)])
        lines.append(" ".join(f"{number:g}" for number in [p, *table.ravel()]))
    run = subprocess.run(
        ["Rscript", "-e", MIXSQP],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return [np.array(line.split(), float) for line in run.stdout.strip().splitlines()]


def has_mixsqp():
    if shutil.which("Rscript") is None:
        return False
    probe = subprocess.run(["Rscript", "-e", "library(mixsqp)"], capture_output=True, check=False, timeout=600)
    return probe.returncode == 0


def test_mixsqp_finds_nothing_better(need):
    need("R with the package mixsqp", has_mixsqp(), how="apt-get install r-cran-mixsqp")
    rng = np.random.default_rng(23)
    samples = [random_counts(k, rng) for k in range(20)]
    for counts, x in zip(samples, run_mixsqp(samples), strict=True):
        theirs = counts.shares @ np.log(counts.incidence.inner(x / x.sum()))
        with quietly():
            ours = sp.estimate(counts).loglik / counts.total
        assert theirs <= ours + 1e-9, "an independent solver found a higher likelihood"
        assert theirs == pytest.approx(ours, abs=1e-6)


def test_iteration_limits_are_said_aloud():
    counts = random_counts(7, np.random.default_rng(3))
    for method in ("mle", "em", "icm", "conic"):
        with pytest.warns(ConvergenceWarning, match=rf"{method} stopped after \d iterations? with a gap"):
            fit = sp.estimate(counts, method, max_iter=1)
        assert not fit.converged
        assert fit.gap > 1e-6
        assert "Not converged" in str(fit.summary())
