r"""The least favorable distribution, at which a share is hardest to estimate.

Let :math:`T(A)` be unbiased for :math:`w_j`, that is :math:`E(T \mid X = k) = 1\{k = j\}`. Its variance
:math:`\sum_k w_k E(T^2 \mid k) - w_j^2` is concave in w. The limit variance :math:`V_{jj}(w)` is the minimum of
these over T, so it is concave too. Hill climbing therefore finds the worst w of a category, and any T is a
certificate: no distribution has a variance above the maximum of its concave quadratic.
"""

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from scipy.optimize import minimize, minimize_scalar

from subsetprivacy._types import FloatArray
from subsetprivacy.design import Design
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation.likelihood import tangent_column
from subsetprivacy.messages.for_plans import GIVE_W
from subsetprivacy.planning.variance import SizeProfile, cell_sizes, limit_covariance, moment_variances

MAX_SEARCH = 64  # the most categories for which the simplex is searched for each of them
MAX_FAMILY = 256  # the most categories for which one share is varied against the others
TOLERANCE = 1e-3  # of the variance: a thousandth of the people
_INSIDE = 1e-6  # the smallest share in the search
_STEPS = 12  # for all categories together
_CELLS = 1 << 16  # subsets times categories per block


@frozen(eq=False)
class LeastFavorable:
    """The least favorable distribution of a design.

    Attributes
    ----------
    w
        The distribution.
    category
        The position of the category whose share is hardest to estimate there.
    variance
        n times the variance of that share, per person.
    bound
        An upper bound on the variance of any category at any distribution.
    estimator
        ``"mle"``, or ``"mom"`` if the variance is an upper bound for maximum likelihood.
    """

    w: FloatArray
    category: int
    variance: float
    bound: float
    estimator: str = "mle"


def least_favorable(design: Design, category: int | None = None) -> LeastFavorable:
    """Return the distribution at which some share has the largest limit variance.

    Parameters
    ----------
    design
        The design.
    category
        The position of the category of interest; None for all categories.

    Raises
    ------
    TooLargeError
        If there are too many categories for a search and no closed form is known.

    Notes
    -----
    If all categories are alike, the worst distribution for one of them gives
    equal shares to the others, by concavity and symmetry, so the search is
    one-dimensional. For up to 64 categories the simplex is searched, for all
    categories that can still be the worst, until their certificates are within
    a thousandth. For more categories, Hadamard designs, which treat all
    triples of categories alike, have a closed form for the moment estimator.
    For other designs with up to 256 categories one share is varied while the
    others are equal, and `bound` limits the error.
    """
    profile = SizeProfile.of(design)
    if profile is not None:
        x, variance = _peak(profile)
        j = category or 0
        return LeastFavorable(one_against_even(x, j, design.p), j, variance, variance)
    if design.p <= MAX_SEARCH and design.enumerable:
        return _search(design) if category is None else _search_for(design, category)
    if design.exposed.has_alike_triples:
        return _by_moments(design, category or 0)
    if design.p <= MAX_FAMILY and design.enumerable:
        return _along_family(design, category)
    raise TooLargeError(
        f"the least favorable distribution is searched for among listed subsets and must have at most {MAX_FAMILY} "
        f"categories; got a {design.maker} design on {design.p}.",
        GIVE_W,
    )


def one_against_even(x: float, j: int, p: int) -> FloatArray:
    """Return the distribution with share x for category j and equal shares for the others."""
    w = np.full(p, (1 - x) / (p - 1))
    w[j] = x
    return w


def _peak(profile: SizeProfile) -> tuple[float, float]:
    optimum = minimize_scalar(
        lambda x: -profile.variance(x), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-9}
    )
    return float(optimum.x), -float(optimum.fun)


def _search(design: Design) -> LeastFavorable:
    """Climb for all categories together, then one by one for those whose certificates are not tight enough."""
    influence = _Influence(design)
    w, variances, bounds = _climb_together(influence)
    best = int(variances.argmax())
    worst = LeastFavorable(w[best], best, float(variances[best]), float(bounds[best]))
    climbed = np.zeros(design.p, bool)
    while True:
        j = int(bounds.argmax())
        if climbed[j] or bounds[j] <= worst.variance * (1 + TOLERANCE):
            return LeastFavorable(worst.w, worst.category, worst.variance, max(float(bounds[j]), worst.variance))
        alone = _climb(influence, j, w[j])
        climbed[j] = True
        variance, squares = influence.value(alone, j)
        bounds[j] = min(bounds[j], influence.certificate(squares, j, alone[j]))
        if variance > worst.variance:
            worst = LeastFavorable(alone, j, variance, float(bounds[j]))


def _search_for(design: Design, j: int) -> LeastFavorable:
    """Climb for one category."""
    influence = _Influence(design)
    w = _climb(influence, j, np.full(design.p, 1 / design.p))
    variance, squares = influence.value(w, j)
    return LeastFavorable(w, j, variance, max(influence.certificate(squares, j, w[j]), variance))


class _Influence:
    """The limit variance of one share as a function of w, with its slope and its certificate."""

    def __init__(self, design: Design) -> None:
        self._rows, self._mu = design.support_incidence, design.support()[1]
        self.p, self._share = design.p, design.real_share
        self.together = max(_CELLS // self._rows.rows, 1)

    def values(self, W: FloatArray, categories: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """Return V_jj(w) and E((T - w_j)^2 | X = k) for every k, its slope, for each row w of W and its category j."""
        L = cell_sizes(self._rows, W)
        information = self._rows.gram(self._mu / L)
        V = np.array([tangent_column(matrix, j) for matrix, j in zip(information, categories, strict=True)])
        T = self._rows.inner(V) / L
        own = V[np.arange(len(V)), categories]
        return self._share * own, self._share * self._rows.spread(self._mu * T**2)

    def value(self, w: FloatArray, j: int) -> tuple[float, FloatArray]:
        """Return both numbers for one distribution and one category."""
        variances, squares = self.values(w[None], [j])
        return float(variances[0]), squares[0]

    def certificate(self, squares: FloatArray, j: int, center: float) -> float:
        """Return the largest variance, over all distributions, of the T with these squares, best at w_j = `center`."""
        return _largest_quadratic(squares, j, center, self._share)

    def bound(self, w: FloatArray, j: int) -> float:
        """Return the largest variance, over all distributions, of the estimator T that is best at w."""
        return self.certificate(self.value(w, j)[1], j, w[j])


def _climb_together(influence: _Influence) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return for every category a distribution, its variance there, and an upper bound for all distributions.

    A category whose slope is above the mean gains weight in proportion to its share. A few such steps bring the
    certificates within the tolerance of the worst category, unless the worst distribution is on the boundary.
    """
    p = influence.p
    W, step = np.full((p, p), 1 / p), np.full(p, p / 4)
    variances, squares, bounds = np.zeros(p), np.zeros((p, p)), np.full(p, np.inf)
    trial, which = W, np.arange(p)
    for _ in range(_STEPS):
        for some in np.split(np.arange(len(which)), range(influence.together, len(which), influence.together)):
            at = which[some]
            here, slopes = influence.values(trial[some], at.tolist())
            settled = [
                influence.certificate(slope, j, w[j]) for slope, j, w in zip(slopes, at, trial[some], strict=True)
            ]
            bounds[at] = np.minimum(bounds[at], settled)
            better = here > variances[at]
            step[at[~better]] /= 4
            W[at[better]], variances[at[better]], squares[at[better]] = (
                trial[some][better],
                here[better],
                slopes[better],
            )
        # The worst category needs more precision, because it determines the number of people.
        enough = np.full(p, 1 + TOLERANCE)
        enough[variances.argmax()] = 1 + TOLERANCE / 20
        which = np.flatnonzero(bounds > enough * variances.max())
        if not len(which):
            break
        push = step[which, None] * (squares[which] / variances[which, None] - 1)
        trial = np.maximum(W[which] * np.exp(np.clip(push, -2, 2)), _INSIDE / p)
        trial /= trial.sum(axis=1, keepdims=True)
    return W, variances, bounds


def _largest_quadratic(squares: FloatArray, j: int, center: float, share: float) -> float:
    """Return the maximum over distributions v of squares'v - share (v_j - center)^2."""
    inside, outside = squares[j], np.delete(squares, j).max()
    x = float(np.clip(center + (inside - outside) / (2 * share), 0.0, 1.0))
    return float(x * inside + (1 - x) * outside - share * (x - center) ** 2)


def _climb(influence: _Influence, j: int, start: FloatArray) -> FloatArray:
    p = influence.p
    scale = 1 / influence.value(start, j)[0]

    def objective(v: FloatArray) -> tuple[float, FloatArray]:
        value, slope = influence.value(v, j)
        return -scale * value, -scale * slope

    optimum = minimize(
        objective,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(_INSIDE / p, 1.0)] * p,
        constraints=[{"type": "eq", "fun": lambda v: v.sum() - 1, "jac": lambda v: np.ones(p)}],
        options={"ftol": 1e-7, "maxiter": 100},
    )
    w = np.clip(optimum.x, _INSIDE / p, None)
    return w / w.sum()


def _along_family(design: Design, category: int | None) -> LeastFavorable:
    """Vary one share with equal others, for the given category or the worst at uniform w, and bound the rest."""
    p, even = design.p, np.full(design.p, 1 / design.p)
    influence = _Influence(design)
    j = int(limit_covariance(design, even).diagonal().argmax()) if category is None else category
    optimum = minimize_scalar(
        lambda x: -influence.value(one_against_even(x, j, p), j)[0],
        bounds=(_INSIDE, 1 - _INSIDE),
        method="bounded",
        options={"xatol": 1e-3},
    )
    bound = max(influence.bound(even, k) for k in (range(p) if category is None else [j]))
    return LeastFavorable(one_against_even(float(optimum.x), j, p), j, -float(optimum.fun), bound)


def _by_moments(design: Design, j: int) -> LeastFavorable:
    """Maximize the variance of the moment estimator, which depends only on w_j if all triples are alike.

    It is quadratic in x = w_j, and known if all weight is on another category (x = 0) or on this one (x = 1).
    """
    p, share = design.p, design.real_share
    elsewhere, here = (moment_variances(design, np.eye(1, p, k)[0]) for k in (1, 0))
    none, all_of_it = float(elsewhere[0]), float(here[0])
    x = float(np.clip((all_of_it - none + share) / (2 * share), 0.0, 1.0))
    variance = none + (all_of_it - none + share) * x - share * x**2
    return LeastFavorable(one_against_even(x, j, p), j, variance, variance, "mom")
