"""Simulations (`sec_exp_simu`): random populations and designs, limit covariances, and summaries of replications."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design, independent, uniform
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, says, theory

LEVEL = 1e-3


def random_distribution(rng: np.random.Generator, p: int) -> FloatArray:
    """Return p independent U(0, 1) numbers, normalized."""
    w = rng.random(p)
    return w / w.sum()


def random_design(rng: np.random.Generator, p: int) -> Design:
    """Return an independent design whose question weights are independent U(0, 1) numbers, normalized."""
    codes = uniform(range(p)).support()[0]
    nu = rng.random(len(codes))
    return independent(range(p), dict(zip(codes.tolist(), (nu / nu.sum()).tolist(), strict=True)))


def moment_limit(design: Design, w: FloatArray) -> FloatArray:
    """Return the limit covariance of moments, Q^-1 C Q^-1 (`gen_mom`)."""
    P = design.support()[1] * design.support_incidence.inner(w)
    gamma = design.support_incidence.spread(P)
    C = design.support_incidence.gram(P) - np.outer(gamma, gamma)
    inverse = np.linalg.inv(design.Q)
    return np.asarray(inverse @ C @ inverse)


def whitener(covariance: FloatArray) -> FloatArray:
    """Return T, shape (p, rank), so that errors with this covariance, times T, are uncorrelated with variance 1.

    Directions without variation are left out. For the maximum this is always the sum. For moments it is the sum if all
    subsets have the same size.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = values > 1e-9 * values.max()
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


"""The level at which a distribution is rejected."""


def as_columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, for the CSV file."""
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def mean_and_error(values: FloatArray) -> tuple[float, float]:
    """Return mean and standard error, ignoring undefined values."""
    kept = values[np.isfinite(values)]
    return float(kept.mean()), float(kept.std(ddof=1) / np.sqrt(len(kept)))


def share_error(share: FloatArray | float, k: int) -> FloatArray:
    """Return the standard error of a share of k samples, with two more of each kind so that it is never 0."""
    inside = (np.asarray(share) * k + 2) / (k + 4)
    return np.asarray(np.sqrt(inside * (1 - inside) / (k + 4)))


def falling(means: FloatArray, errors: FloatArray) -> bool:
    """Tell whether independent means never rise beyond three standard errors, and fall by three in all."""
    steps, joint = np.diff(means), np.hypot(errors[1:], errors[:-1])
    whole = MONTE_CARLO * np.hypot(errors[0], errors[-1])
    return bool((steps <= MONTE_CARLO * joint).all() and means[0] - means[-1] >= whole)


def normal_checks(name: str, sample: FloatArray, printed: str = "") -> list[Check]:
    """Compare mean and standard deviation with 0 and 1, and test normality by skewness and kurtosis together."""
    k, deviation = len(sample), float(sample.std(ddof=1))
    fourth = float(((sample - sample.mean()) ** 4).mean()) / deviation**4
    spread_error = deviation * np.sqrt((fourth - 1) / (4 * k))
    pvalue = float(stats.normaltest(sample).pvalue)
    line = float(np.corrcoef(np.sort(sample), stats.norm.ppf((np.arange(k) + 0.5) / k))[0, 1])
    return [
        theory(f"{name}: mean of the normalized error", 0.0, float(sample.mean()), deviation / np.sqrt(k), digits=3),
        theory(f"{name}: its standard deviation", 1.0, deviation, spread_error, digits=3),
        says(
            f"{name}: the error is normal",
            printed,
            f"p-value {pvalue:.3f}, Q-Q correlation {line:.4f}",
            pvalue > LEVEL and line > 0.98,
            f"skewness and kurtosis (D'Agostino) do not reject at level {LEVEL:g}; correlation above 0.98",
            source="paper" if printed else "theory",
        ),
    ]


def law_check(claim: str, sample: FloatArray, cdf: Callable[[FloatArray], FloatArray], printed: str = "") -> Check:
    """Test by Kolmogorov's test whether a sample follows a distribution."""
    pvalue = float(stats.kstest(sample, cdf).pvalue)
    return says(
        claim,
        printed,
        f"Kolmogorov p-value {pvalue:.3f}",
        pvalue > LEVEL,
        f"not rejected at level {LEVEL:g}",
        source="paper" if printed else "theory",
    )


def covariance_check(claim: str, whitened: FloatArray, printed: str = "") -> Check:
    """Compare the covariance S of whitened errors with the identity, by k/2 times the squared distance."""
    k, d = whitened.shape
    distance = float(k / 2 * ((np.cov(whitened.T, bias=True) - np.eye(d)) ** 2).sum())
    freedom = d * (d + 1) // 2
    bound = float(stats.chi2.ppf(1 - LEVEL, freedom))
    return says(
        claim,
        printed,
        f"k/2 ‖S − 1‖² = {distance:.1f}, S the covariance of the whitened errors",
        distance <= bound,
        f"at most {bound:.1f}, the 99.9% point of its distribution, chi-squared with {freedom} df",
        source="paper" if printed else "theory",
    )
