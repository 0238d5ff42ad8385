"""Maximize the likelihood of a log-linear model by Newton's method, to a total gap of 1e-8.

The likelihood is a difference of two concave functions of the parameters, so it may have several maxima. If minus its
Hessian is not positive definite, the step uses the metric of complete answers, with a lower bound on the shares of
information that are kept. Such a step always increases the likelihood.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from attrs import frozen
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.optimize import minimize

from subsetprivacy._types import FloatArray
from subsetprivacy.contingency.known_margins import Parameters, ReducedLikelihood, reduced
from subsetprivacy.contingency.likelihood import TableDerivatives, TableLikelihood, softmax

TOLERANCE = 1e-8  # the total log-likelihood still to gain (decision 38)
ARRIVED = 1e-3  # the same, along infinite parameters
MAX_STEPS = 200
_LONGEST = 6.0  # the largest change of a log share in the first step; it doubles while steps succeed
_KEPT = 0.05  # the lower bound on the share of information
_FLAT = 1.0  # below this information, a direction is checked for an infinite parameter
_NONE = 1e-6
_EXACT = 1e-14
_MOST_LAST_STEPS, _SHORTEST = 20, 1e-6


@frozen(eq=False, repr=False)
class TableMaximum:
    """The end of a fit.

    Attributes
    ----------
    at
        The likelihood there, with its derivatives.
    gap, converged, steps
        How much the total log-likelihood could still rise, whether that is below the tolerance, and the number of
        steps.
    flat
        An orthonormal basis, in the free parameters, of directions in which the likelihood has no maximum or does not
        change.
    """

    at: ReducedLikelihood
    gap: float
    converged: bool
    flat: FloatArray
    steps: int

    @property
    def theta(self) -> FloatArray:
        """All parameters."""
        return self.at.full.theta

    @property
    def value(self) -> float:
        """The log-likelihood."""
        return self.at.value

    def bounded(self, information: FloatArray) -> FloatArray:
        """Return an information matrix with 1 in flat directions."""
        if not self.flat.shape[1]:
            return information
        keep = np.eye(len(information)) - self.flat @ self.flat.T
        return np.asarray(keep @ information @ keep + self.flat @ self.flat.T)

    @property
    def is_maximum(self) -> bool:
        """Whether minus the Hessian is positive definite, except in flat directions."""
        return bool(np.linalg.eigvalsh(self.bounded(self.at.information)).min(initial=1.0) > 0)

    def inverse(self, information: FloatArray) -> FloatArray:
        """Return the inverse of an information matrix of the free parameters, without flat directions."""
        return np.asarray(np.linalg.inv(self.bounded(information)) - self.flat @ self.flat.T)


def maximize(likelihood: TableLikelihood, parameters: Parameters, theta: FloatArray) -> TableMaximum:
    """Maximize from the free parameters of theta."""
    start = theta[parameters.fixed]
    here = reduced(likelihood, parameters, theta[parameters.free], start)
    longest, gap = _LONGEST, np.inf
    for steps in range(MAX_STEPS + 1):
        step = _direction(here)
        gap = float(here.gradient @ step) / 2
        if gap <= TOLERANCE or steps == MAX_STEPS:
            break
        further, longest = _advance(likelihood, parameters, here, step, longest)
        if further is None:
            break
        here = further
    flat = _flat_directions(parameters, here) if gap <= ARRIVED else np.zeros((len(here.psi), 0))
    if _EXACT < gap <= TOLERANCE and not flat.shape[1]:
        last = _at(likelihood, parameters, here, step)
        if last.value >= here.value - 1e-13 * abs(here.value):
            here = last
            gap = float(here.gradient @ _direction(here)) / 2
    return TableMaximum(here, abs(gap), abs(gap) <= max(TOLERANCE, 1e-14 * abs(here.value)), flat, steps)


def _direction(here: ReducedLikelihood) -> FloatArray:
    """Return Newton's step, or a step in the metric of complete answers if Newton's is not an ascent."""
    g, J = here.gradient, here.information
    if not len(g):
        return g
    try:
        return np.asarray(cho_solve(cho_factor(J, lower=True, check_finite=False), g, check_finite=False))
    except LinAlgError:
        H = here.complete
        H = H + (1e-12 * max(float(np.trace(H)) / len(H), 1e-300) + 1e-12) * np.eye(len(H))
        values, vectors = eigh(J, H, check_finite=False)
        return np.asarray(vectors @ ((g @ vectors) / np.maximum(np.abs(values), _KEPT)))


def _at(
    likelihood: TableLikelihood, parameters: Parameters, here: ReducedLikelihood, move: FloatArray
) -> ReducedLikelihood:
    return reduced(likelihood, parameters, here.psi + move, here.full.theta[parameters.fixed])


def _advance(
    likelihood: TableLikelihood, parameters: Parameters, here: ReducedLikelihood, step: FloatArray, longest: float
) -> tuple[ReducedLikelihood | None, float]:
    """Return the likelihood after the part of the step that increases it, and the next limit; None if no part does."""
    length, farther = 1.0, longest
    eta = parameters.structure.apply(here.N @ step)
    largest = float(np.abs(eta - here.full.w @ eta).max())
    if largest > longest:
        length, farther = longest / largest, 2 * longest
    uphill, slack = float(here.gradient @ step), 1e-13 * abs(here.value)
    for _ in range(40):
        there = _at(likelihood, parameters, here, length * step)
        if there.value >= here.value + 1e-4 * length * uphill - slack:
            return there, farther
        length, farther = length / 2, _LONGEST
    return None, farther


def _flat_directions(parameters: Parameters, here: ReducedLikelihood) -> FloatArray:
    """Return directions in which little is still to gain, and only far away."""
    values, vectors = np.linalg.eigh(here.information)
    kept = []
    for k in np.flatnonzero(values < _FLAT):
        v = vectors[:, k]
        if values[k] < _NONE:
            kept.append(v)
            continue
        eta = parameters.structure.apply(here.N @ v) * float(here.gradient @ v) / values[k]
        if np.abs(eta - here.full.w @ eta).max() > 0.5:
            kept.append(v)
    return np.array(kept).reshape(-1, len(values)).T


def climb(likelihood: TableLikelihood, theta: FloatArray) -> tuple[TableDerivatives, float, bool, int]:
    """Maximize by gradients, then by Newton steps with conjugate gradients, without a matrix.

    Returns
    -------
    tuple
        The likelihood, without matrices; the gap; whether it is below the tolerance; and the number of steps.
    """
    structure = likelihood.structure
    share = structure.adjoint(softmax(structure.apply(theta)))
    scale = 1 / np.sqrt(likelihood.n * np.maximum(share * (1 - share), 1e-6))

    def downhill(z: FloatArray) -> tuple[float, FloatArray]:
        value, g = likelihood.at(scale * z)
        return -value, -scale * g

    options = {"maxcor": 30, "maxiter": 500, "maxfun": 600, "gtol": 1e-3, "ftol": 1e-15}
    z = minimize(downhill, theta / scale, jac=True, method="L-BFGS-B", options=options).x
    gap, steps = np.inf, 0
    while True:
        value, g = likelihood.at(scale * z)
        step = _conjugate_gradients(partial(_scaled_curvature, likelihood, scale, z), scale * g)
        gap = float(scale * g @ step) / 2
        if gap <= TOLERANCE or steps == _MOST_LAST_STEPS:
            break
        length = 1.0
        while length > _SHORTEST and likelihood.at(scale * (z + length * step))[0] < value - 1e-13 * abs(value):
            length /= 2
        if length <= _SHORTEST:
            break
        z, steps = z + length * step, steps + 1
    theta = scale * z
    none = np.zeros((0, 0))
    value, g = likelihood.at(theta)
    w = softmax(structure.apply(theta))
    return TableDerivatives(theta, w, value, g, none, none), gap, gap <= max(TOLERANCE, 1e-14 * abs(value)), steps


def _scaled_curvature(likelihood: TableLikelihood, scale: FloatArray, z: FloatArray, v: FloatArray) -> FloatArray:
    """Return the information times a vector, for scaled parameters."""
    return scale * likelihood.curvature(scale * z, scale * v)


def _conjugate_gradients(apply: Callable[[FloatArray], FloatArray], g: FloatArray, most: int = 200) -> FloatArray:
    """Return x with Jx = g as long as J is positive, or the gradient."""
    x, r = np.zeros_like(g), g.copy()
    d, rr = r.copy(), float(r @ r)
    for _ in range(most):
        Jd = apply(d)
        bend = float(d @ Jd)
        if bend <= 1e-12 * float(d @ d):
            return x if x.any() else g
        length = rr / bend
        x, r = x + length * d, r - length * Jd
        before, rr = rr, float(r @ r)
        if rr <= 1e-12 * max(float(g @ g), 1e-300):
            break
        d = r + rr / before * d
    return x
