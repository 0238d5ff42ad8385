r"""An outcome given a private category, and the precision of the estimated means.

The private category X has shares w, and the outcome y given X = j has the mean :math:`\mu_j`. With an indicator
:math:`z_j` for each category, corrected scores solve :math:`\sum_i\sum_j D_{ij} z_j (y_i - \mu_j) = 0`, where the
unbiased indicators D have the working distribution of X given y. So n times the covariance of the estimates is
:math:`A^{-1} M A^{-1}` with :math:`A = \sum_j w_j v_j z_j z_j^\top`, the slopes :math:`v_j` of the means, and
:math:`M = E[\Psi(y)^\top E[DD^\top \mid y]\, \Psi(y)]`, where row j of :math:`\Psi(y)` is :math:`z_j (y - \mu_j)`.
The likelihood has the information of the mixture, with w and the spread of y among its parameters.
"""

import numpy as np
from attrs import frozen
from scipy.special import expit, gammaln, pdtrik
from scipy.special import xlogy as x_log_y

from subsetprivacy._choices import OutcomeFamily
from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.estimation.indicator import IndicatorTable
from subsetprivacy.means.working_distributions import _ADDED, _bin_count
from subsetprivacy.planning.populations import gauss, support_of

_BLOCKS = 64  # the most working distributions of `group_means`
_NEGLIGIBLE = 1e-12  # probability of larger counts


@frozen(eq=False)
class OutcomeModel:
    """An outcome given the private category.

    Attributes
    ----------
    family
        Its distribution.
    eta
        The linear predictor of each category.
    sd
        The standard deviation within each category, for a linear outcome only.
    """

    family: OutcomeFamily
    eta: FloatArray
    sd: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean of each category."""
        if self.family == "linear":
            return self.eta
        return np.asarray(expit(self.eta) if self.family == "logit" else np.exp(self.eta))

    @property
    def slope(self) -> FloatArray:
        """The derivative of each mean with respect to its linear predictor."""
        if self.family == "linear":
            return np.ones(len(self.eta))
        return self.mean * (1 - self.mean) if self.family == "logit" else self.mean

    @property
    def variance(self) -> FloatArray:
        """The variance within each category."""
        return self.sd**2 if self.family == "linear" else self.slope

    def nodes(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return outcomes y, shape (m,), and the joint probabilities of y and each category, shape (m, p).

        For a linear outcome each category has its own nodes, so that integrals are accurate for narrow categories next
        to wide ones. The probabilities are quadrature weights. See `shared` for those given the outcome.
        """
        if self.family == "linear":
            t, weights = gauss()
            y = (self.mean[:, None] + self.sd[:, None] * t).ravel()
            own = np.repeat(np.eye(len(w)), len(t), axis=0)
            return y, (w[:, None] * weights).ravel()[:, None] * own
        y = np.array([0.0, 1.0]) if self.family == "logit" else np.arange(float(_most(self.mean.max())) + 1)
        return y, w * np.exp(self.log_density(y))

    def log_density(self, y: FloatArray) -> FloatArray:
        """Return the logarithm of the density of y in each category, shape (m, p)."""
        if self.family == "linear":
            return np.asarray(-0.5 * ((y[:, None] - self.mean) / self.sd) ** 2 - np.log(self.sd))
        if self.family == "logit":
            return np.asarray(np.log(np.where(y[:, None] == 1, self.mean, 1 - self.mean)))
        return np.asarray(x_log_y(y[:, None], self.mean) - self.mean - gammaln(y[:, None] + 1))

    def shared(self, w: FloatArray, y: FloatArray, joint: FloatArray) -> FloatArray:
        """Return the probabilities of nodes, divided among the categories by Bayes' rule."""
        return np.asarray(joint.sum(axis=1)[:, None] * posterior(w, self.log_density(y)))


def _most(mean: float) -> float:
    return float(np.ceil(max(pdtrik(1 - _NEGLIGIBLE, mean), 10.0)))


def posterior(w: FloatArray, log_density: FloatArray) -> FloatArray:
    """Return the probabilities of the categories given each outcome, shape (m, p)."""
    q = w * np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def corrected_covariance(
    design: Design, w: FloatArray, outcome: OutcomeModel, *, people: float | None = None
) -> FloatArray:
    """Return n times the covariance of the linear predictors of all categories, by corrected scores.

    With a number of people, the working distributions are those of groups of similar outcomes, as in `group_means`.
    Otherwise they are conditional on the outcome.
    """
    y, joint = outcome.nodes(w)
    amount = joint.sum(axis=1)
    given = joint / amount[:, None]
    likely = outcome.shared(w, y, joint)
    working = likely / amount[:, None] if people is None else _by_similar_outcomes(design, w, y, likely, people)
    rows, mu = support_of(design, design.p)
    informative = np.ptp(rows, axis=1) > 0  # a fit leaves out full sets
    rows, mu = rows[informative], mu[informative] / mu[informative].sum()
    table = IndicatorTable(design, working)
    M = np.zeros((design.p, design.p))
    for k in range(len(y)):
        D = table.of(rows.T, np.full(len(rows), k))
        # The probabilities mu_a r_a'P of the informative reports of one person.
        each = mu * (rows @ given[k])
        rest = y[k] - outcome.mean
        M += amount[k] / each.sum() * (rest[:, None] * ((D * each) @ D.T) * rest)
    A = w * outcome.slope
    return np.asarray(M / np.outer(A, A) / (1 - design.mu_full))


def _by_similar_outcomes(design: Design, w: FloatArray, y: FloatArray, joint: FloatArray, people: float) -> FloatArray:
    """Return the working distribution of each outcome, pooled over similar outcomes, shape (m, p)."""
    bins = _bin_count(people, design, 1, _BLOCKS)
    order = np.argsort(y, kind="stable")
    amount = joint.sum(axis=1)[order]
    number = np.empty(len(y), np.int64)
    number[order] = np.minimum((np.cumsum(amount) - amount / 2) * bins, bins - 1).astype(np.int64)
    shares = np.stack([people * joint[number == k].sum(axis=0) for k in range(bins)])
    return np.asarray(((shares + _ADDED * w) / (shares.sum(axis=1, keepdims=True) + _ADDED))[number])


def likelihood_covariance(design: Design, w: FloatArray, outcome: OutcomeModel) -> FloatArray:
    """Return n times the covariance of the linear predictors of all categories, by the likelihood of the mixture."""
    y, joint = outcome.nodes(w)
    joint = outcome.shared(w, y, joint)
    p = design.p
    rest = (y[:, None] - outcome.mean) / (outcome.sd**2 if outcome.family == "linear" else 1.0)
    spread = ((y[:, None] - outcome.mean) / outcome.sd) ** 2 - 1 if outcome.family == "linear" else None
    size = 2 * p - 1 + (spread is not None)
    J = np.zeros((size, size))
    for row, weight in zip(*support_of(design, p), strict=True):
        if np.ptp(row) == 0:  # a fit leaves out full sets
            continue
        together = joint * row
        amount = together.sum(axis=1)
        q = np.divide(together, amount[:, None], out=np.zeros_like(together), where=amount[:, None] > 0)
        scores = [q * rest, (q - w)[:, 1:]]
        if spread is not None:
            scores.append((q * spread).sum(axis=1, keepdims=True))
        s = np.concatenate(scores, axis=1)
        J += weight * (s.T * amount) @ s
    return np.asarray(np.linalg.inv(J)[:p, :p])


def direct_covariance(w: FloatArray, outcome: OutcomeModel) -> FloatArray:
    """Return n times the covariance of the linear predictors if values are known."""
    return np.diag(outcome.variance / (w * outcome.slope**2))
