r"""Means by maximum likelihood: y is normal in each category, with a separate mean and variance.

The likelihood of a person is :math:`\sum_j r_i(j)\,\pi_j\,\varphi(y_i; m_j, \sigma_j)`. EM approaches its maximum and
Newton's method reaches it. Standard errors come from the observed information, by Louis's formula. If the model is
right, no estimator is more precise. If y is not normal, the means are biased, even in large samples.
"""

from collections.abc import Iterator

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.regression.specification import support_of_draws

_CHUNK = 1 << 15
_FIRST = 30  # steps of EM before Newton's method
_MOST = 500
_TOLERANCE = 1e-8  # total log-likelihood that may be left to gain
_LEAST_SPREAD = 1e-3  # of the overall standard deviation: below it a category has shrunk to a point
_NOBODY = 0.5  # people: with fewer a category is empty


@frozen(eq=False, repr=False)
class NormalMixture:
    """A fitted mixture, in the units of y.

    Attributes
    ----------
    share, mean, sd
        The share, mean and standard deviation of each category; NaN if it is empty.
    mean_cov
        The covariance of the means from the observed information.
    influence
        The influence of each person on each mean, (n, p). Their weighted sums are the errors.
    variance_se
        The standard errors of the variances.
    share_se
        The standard errors of the shares.
    loglik, gap
        The log-likelihood, and what is left to gain.
    draws
        The mean influence over the draws in each category, (p, n, p), and indicators, (p, n), if asked for.
    """

    share: FloatArray
    mean: FloatArray
    sd: FloatArray
    mean_cov: FloatArray
    influence: FloatArray
    variance_se: FloatArray
    share_se: FloatArray
    loglik: float
    gap: float
    draws: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def of_no_one(cls, p: int) -> "NormalMixture":
        """Return the fit to an empty sample, in which nothing is known about any category."""
        nothing = np.full(p, np.nan)
        three = (nothing, nothing, nothing)
        return cls(*three, np.full((p, p), np.nan), np.empty((0, p)), nothing, nothing, float("nan"), float("nan"))


class _GroupPeople:
    """The standardized people of one known group, in chunks."""

    def __init__(self, z: FloatArray, codes: IntArray, design: Design, weight: FloatArray) -> None:
        self.z, self.codes, self.design, self.weight = z, codes, design, weight
        distinct, self.at = np.unique(codes, return_inverse=True)
        self.rows = rows_of(distinct, design)

    def parts(self, used: IntArray) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Yield outcomes, rows and weights."""
        for start in range(0, len(self.z), _CHUNK):
            part = slice(start, start + _CHUNK)
            yield self.z[part], self.rows[used][:, self.at[part]], self.weight[part]


@frozen(eq=False, repr=False)
class _MixtureParameters:
    """Shares, means and standard deviations of the categories that are not empty."""

    share: FloatArray
    mean: FloatArray
    sd: FloatArray

    def posterior(self, z: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the probabilities of the categories, the standardized distances, and the log-likelihoods."""
        u = (z - self.mean[:, None]) / self.sd[:, None]
        with np.errstate(divide="ignore"):
            log = np.log(R * (self.share / self.sd)[:, None]) - 0.5 * u * u - 0.5 * np.log(2 * np.pi)
        top = log.max(axis=0)
        q = np.exp(log - top)
        total = q.sum(axis=0)
        return q / total, u, top + np.log(total)

    def moved(self, step: FloatArray) -> "_MixtureParameters":
        """Return the parameters after a step in log shares relative to the last, means and log deviations."""
        p = len(self.share)
        log = np.log(self.share)
        log[:-1] += step[: p - 1]
        share = np.exp(log - log.max())
        return _MixtureParameters(
            share / share.sum(), self.mean + step[p - 1 : 2 * p - 1], self.sd * np.exp(step[2 * p - 1 :].clip(-1, 1))
        )


def fit_normal(
    y: FloatArray,
    codes: IntArray,
    design: Design,
    weight: FloatArray,
    start: tuple[FloatArray, FloatArray, FloatArray],
    *,
    over_draws: bool = False,
) -> NormalMixture:
    """Fit a normal distribution of y to each category.

    Parameters
    ----------
    y, codes, design, weight
        The people of one known group.
    start
        Shares, means and variances to start from. NaN is replaced by the overall value.
    over_draws
        Whether to compute `draws`.
    """
    center = float(np.average(y, weights=weight))
    scale = float(np.sqrt(np.average((y - center) ** 2, weights=weight))) or 1.0
    people = _GroupPeople((y - center) / scale, codes, design, weight)
    theta, used = _started(start, center, scale)
    total = float(weight.sum())
    for step in range(_MOST):
        theta, used = _without_empty(theta, used, total)
        if step < _FIRST:
            theta, _ = _em(people, theta, used)
            continue
        gradient, information, value = _derivatives(people, theta, used)
        move = _newton(gradient, information)
        if move is None or not (after := theta.moved(move)).sd.min() > _LEAST_SPREAD:
            theta, _ = _em(people, theta, used)
            continue
        gap = float(gradient @ move) / 2
        if gap < _TOLERANCE:
            break
        theta = after if _loglik(people, after, used) >= value else _em(people, theta, used)[0]
    return _finished(people, theta, used, design.p, (center, scale), over_draws=over_draws)


def _started(
    start: tuple[FloatArray, FloatArray, FloatArray], center: float, scale: float
) -> tuple[_MixtureParameters, IntArray]:
    share, mean, variance = start
    share = np.where(np.isfinite(share), np.maximum(share, 0.02), 0.02)
    mean = np.where(np.isfinite(mean), (mean - center) / scale, 0.0).clip(-3, 3)
    sd = np.sqrt(np.where(np.isfinite(variance), variance / scale**2, 1.0).clip(0.04, 4.0))
    return _MixtureParameters(share / share.sum(), mean, sd), np.arange(len(share))


def _without_empty(theta: _MixtureParameters, used: IntArray, total: float) -> tuple[_MixtureParameters, IntArray]:
    kept = (theta.share * total > _NOBODY) | (theta.share == theta.share.max())
    if kept.all():
        return theta, used
    share = theta.share[kept]
    return _MixtureParameters(share / share.sum(), theta.mean[kept], theta.sd[kept]), used[kept]


def _em(people: _GroupPeople, theta: _MixtureParameters, used: IntArray) -> tuple[_MixtureParameters, float]:
    sums, value = np.zeros((3, len(used))), 0.0
    for z, R, w in people.parts(used):
        q, _, log = theta.posterior(z, R)
        q *= w
        sums += np.stack([q.sum(axis=1), q @ z, q @ (z * z)])
        value += float(w @ log)
    amount = np.maximum(sums[0], 1e-300)
    mean = sums[1] / amount
    sd = np.sqrt(np.maximum(sums[2] / amount - mean**2, _LEAST_SPREAD**2))
    return _MixtureParameters(sums[0] / sums[0].sum(), mean, sd), value


def _loglik(people: _GroupPeople, theta: _MixtureParameters, used: IntArray) -> float:
    return float(sum(w @ theta.posterior(z, R)[2] for z, R, w in people.parts(used)))


def _scores(theta: _MixtureParameters, q: FloatArray, u: FloatArray) -> FloatArray:
    """Return the scores of people for shares relative to the last, means and log deviations, shape (3p - 1, m)."""
    return np.concatenate([(q - theta.share[:, None])[:-1], q * u / theta.sd[:, None], q * (u * u - 1)])


def _derivatives(
    people: _GroupPeople, theta: _MixtureParameters, used: IntArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the gradient, the observed information and the log-likelihood."""
    p = len(used)
    gradient, value = np.zeros(3 * p - 1), 0.0
    outer, within = np.zeros((3 * p - 1, 3 * p - 1)), np.zeros((5, p))
    for z, R, w in people.parts(used):
        q, u, log = theta.posterior(z, R)
        S = _scores(theta, q, u)
        gradient += S @ w
        outer += (S * w) @ S.T
        value += float(w @ log)
        q *= w
        within += np.stack([np.einsum("jm,jm->j", q, u**power) for power in range(5)])
    return gradient, outer - _complete(theta, within), value


def _complete(theta: _MixtureParameters, sums: FloatArray) -> FloatArray:
    """Return the sum of the expected second derivatives and squared scores of each person, given the data."""
    p, sd, pi = len(theta.share), theta.sd, theta.share
    n0, n1, n2, n3, n4 = sums
    total = n0.sum()
    H = np.zeros((3 * p, 3 * p))  # shares of all categories first; the last one is left out at the end
    a, b, c = (slice(k * p, (k + 1) * p) for k in range(3))
    s_mean, s_log = n1 / sd, n2 - n0
    squares = np.diag(n0) - np.outer(n0, pi) - np.outer(pi, n0) + total * np.outer(pi, pi)
    H[a, a] = squares - total * (np.diag(pi) - np.outer(pi, pi))
    H[a, b] = np.diag(s_mean) - np.outer(pi, s_mean)
    H[a, c] = np.diag(s_log) - np.outer(pi, s_log)
    H[b, b] = np.diag((n2 - n0) / sd**2)
    H[b, c] = np.diag((n3 - n1) / sd - 2 * n1 / sd)
    H[c, c] = np.diag(n4 - 2 * n2 + n0 - 2 * n2)
    H[b, a], H[c, a], H[c, b] = H[a, b].T, H[a, c].T, H[b, c].T
    kept = np.delete(np.arange(3 * p), p - 1)
    return H[np.ix_(kept, kept)]


def _newton(gradient: FloatArray, information: FloatArray) -> FloatArray | None:
    """Return Newton's step, or None if the likelihood is not concave."""
    try:
        root = np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return None
    step = np.linalg.solve(root.T, np.linalg.solve(root, gradient))
    return np.asarray(step / max(1.0, float(np.abs(step).max())))


def _finished(
    people: _GroupPeople,
    theta: _MixtureParameters,
    used: IntArray,
    p: int,
    units: tuple[float, float],
    *,
    over_draws: bool,
) -> NormalMixture:
    """Return the fit in the units of y, with the covariance of its means."""
    center, scale = units
    gradient, information, value = _derivatives(people, theta, used)
    k = len(used)
    move = _newton(gradient, information)
    inverse = np.full_like(information, np.nan) if move is None else np.linalg.inv(information)
    means = slice(k - 1, 2 * k - 1)
    influence = np.full((len(people.z), p), np.nan)
    start = 0
    for z, R, _ in people.parts(used):
        q, u, _log = theta.posterior(z, R)
        influence[start : start + len(z), used] = scale * (inverse[means] @ _scores(theta, q, u)).T
        start += len(z)
    cov = np.full((p, p), np.nan)
    cov[np.ix_(used, used)] = scale**2 * inverse[means, means]
    to_share = (np.diag(theta.share) - np.outer(theta.share, theta.share))[:, :-1]
    share_var = np.einsum("jk,kl,jl->j", to_share, inverse[: k - 1, : k - 1], to_share)
    spread = 2 * (scale * theta.sd) ** 2 * np.sqrt(np.maximum(inverse.diagonal()[2 * k - 1 :], 0.0))
    return NormalMixture(
        share=_full(theta.share, used, p, 0.0),
        mean=_full(center + scale * theta.mean, used, p),
        sd=_full(scale * theta.sd, used, p),
        mean_cov=cov,
        influence=influence,
        variance_se=_full(spread, used, p),
        share_se=_full(np.sqrt(np.maximum(share_var, 0.0)), used, p),
        loglik=value,
        gap=float("nan") if move is None else float(gradient @ move) / 2,
        draws=_over_draws(people, theta, used, scale * inverse[means]) if over_draws else None,
    )


def _over_draws(
    people: _GroupPeople, theta: _MixtureParameters, used: IntArray, to_means: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean influence over the draws in each category, and indicators."""
    p, n = people.design.p, len(people.z)
    support = support_of_draws(people.design, n)
    influence, indicators = np.full((p, n, p), np.nan), np.empty((p, n))
    start = 0
    for z, R, _ in people.parts(np.arange(p)):
        part = slice(start, start + len(z))
        start += len(z)
        P, u, _log = theta.posterior(z, np.ones((len(used), len(z))))
        every = np.zeros((p, len(z)))
        every[used] = P
        posterior, indicators[:, part] = support.over_draws(every, R)
        for j in range(p):
            influence[j, part][:, used] = (to_means @ _scores(theta, posterior[j][used], u)).T
    return influence, indicators


def _full(values: FloatArray, used: IntArray, p: int, other: float = float("nan")) -> FloatArray:
    out = np.full(p, other)
    out[used] = values
    return out
