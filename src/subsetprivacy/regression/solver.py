r"""Maximize a smooth objective: by gradients far from the maximum, then by Newton's method.

The log-likelihood of subsets is a difference of two convex functions of the predictors. It is therefore not concave
and may have several maxima. If minus its Hessian is not positive definite, Newton's step uses the absolute values of
its eigenvalues, which goes uphill and leaves saddle points.
"""

from collections.abc import Callable

import numpy as np
from attrs import frozen
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from subsetprivacy._types import FloatArray
from subsetprivacy.regression.coordinates import Coordinates
from subsetprivacy.regression.objective import Maximand

TOLERANCE = 1e-8  # total log-likelihood of all people that may be left to gain
_EXACT = 1e-14  # left to gain when another step would change no digit
ARRIVED = 1e-3  # left to gain at most by a fit with infinite coefficients
MAX_NEWTON = 100
_MAX_GRADIENTS = 1000
_LONGEST = 6.0  # the largest change of a linear predictor in the first step; it doubles while such steps succeed
_FLAT = 1.0  # directions with less information, over all people, are checked for infinite coefficients
_NONE = 1e-6  # directions with less information are infinite, whatever the gradient

OnStep = Callable[[float], None]
Local = tuple[float, FloatArray, FloatArray]  # value, gradient and minus the Hessian


@frozen(eq=False, repr=False)
class SolverResult:
    """The result of a maximization.

    Attributes
    ----------
    theta, z
        The parameters, and their coordinates.
    value
        The objective.
    gradient, J
        Its gradient and minus its Hessian in the coordinates.
    gap
        The total that Newton's method still expects to gain, g'J^-1 g / 2.
    converged
        Whether the gap is below the tolerance.
    flat
        An orthonormal basis, in the coordinates, of directions in which the objective is unbounded, shape (size, r).
    steps
        The number of Newton steps.
    """

    theta: FloatArray
    z: FloatArray
    value: float
    gradient: FloatArray
    J: FloatArray
    gap: float
    converged: bool
    flat: FloatArray
    steps: int
    coordinates: Coordinates

    @property
    def is_maximum(self) -> bool:
        """Whether minus the Hessian is positive definite, except in flat directions."""
        return bool(np.linalg.eigvalsh(self._bounded()).min(initial=1.0) > 0)

    def _bounded(self) -> FloatArray:
        """Return J with 1 in flat directions."""
        if not self.flat.shape[1]:
            return self.J
        keep = np.eye(len(self.J)) - self.flat @ self.flat.T
        return keep @ self.J @ keep + self.flat @ self.flat.T

    def covariance(self) -> FloatArray:
        """Return the inverse information of the parameters, without flat directions."""
        inverse = np.linalg.inv(self._bounded()) - self.flat @ self.flat.T
        D = self.coordinates.jacobian(self.z)
        out = D @ inverse @ D.T
        return (out + out.T) / 2

    def escaping(self) -> FloatArray:
        """Return the basis of flat directions in the parameters, shape (parameters, r)."""
        return self.coordinates.jacobian(self.z) @ self.flat

    def step(self) -> FloatArray:
        """Return Newton's next step of the parameters along flat directions."""
        values = np.einsum("kr,kl,lr->r", self.flat, self.J, self.flat)
        along = (self.flat.T @ self.gradient) / np.maximum(np.abs(values), 1e-300)
        return self.escaping() @ along


def maximize(
    objective: Maximand,
    coordinates: Coordinates,
    start: FloatArray,
    *,
    polish: bool = True,
    tolerance: float = 1e-7,
    on_step: OnStep | None = None,
) -> SolverResult:
    """Maximize an objective.

    Parameters
    ----------
    objective, coordinates
        The objective and the coordinates.
    start
        Parameters to start from.
    polish
        Whether to end with Newton's method. Without it the result has no Hessian.
    tolerance
        Tolerance of the gradient per person, if Newton's method is not used.
    on_step
        Called from time to time with the current value.
    """
    z = _climb(objective, coordinates, coordinates.inverse(start), 1e-3 if polish else tolerance, on_step)
    if not polish:
        value, g = objective(coordinates.natural(z))
        gz = coordinates.gradient(z, g)
        reached = bool(np.abs(gz).max() <= 1e-4 * objective.n)
        none = np.zeros((len(z), 0))
        J = np.full((len(z), len(z)), np.nan) if len(z) <= 2000 else np.full((1, 1), np.nan)
        gap = float(gz @ gz) / (0.1 * objective.n)
        return SolverResult(coordinates.natural(z), z, value, gz, J, gap, reached, none, 0, coordinates)
    return newton(objective, coordinates, z, on_step=on_step)


def _climb(
    objective: Maximand, coordinates: Coordinates, z: FloatArray, tolerance: float, on_step: OnStep | None
) -> FloatArray:
    """Climb by gradients with the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno."""

    def downhill(z: FloatArray) -> tuple[float, FloatArray]:
        value, g = objective(coordinates.natural(z))
        if on_step is not None:
            on_step(value)
        return -value / objective.n, -coordinates.gradient(z, g) / objective.n

    options = {"maxcor": 20, "maxiter": _MAX_GRADIENTS, "maxfun": 2 * _MAX_GRADIENTS, "gtol": tolerance, "ftol": 1e-14}
    end: FloatArray = minimize(downhill, z, jac=True, method="L-BFGS-B", options=options).x
    return end


def newton(
    objective: Maximand,
    coordinates: Coordinates,
    z: FloatArray,
    *,
    ceiling: float = np.inf,
    on_step: OnStep | None = None,
) -> SolverResult:
    """Maximize by Newton's method from coordinates z until the total left to gain is below the tolerance.

    A value above the ceiling proves that there is no maximum, so the search ends there.
    """
    longest = _LONGEST
    here = _at(objective, coordinates, z)
    for steps in range(MAX_NEWTON + 1):
        value, gz, Jz = here
        if on_step is not None:
            on_step(value)
        step = _direction(gz, Jz, objective.n)
        gap = float(gz @ step) / 2
        if gap <= TOLERANCE or steps == MAX_NEWTON or value > ceiling:
            break
        further, there, longest = _advance(objective, coordinates, z, step, value, gz, longest)
        if there is None:
            break
        z, here = further, there
    flat = _flat_directions(objective, coordinates, z, gz, Jz) if gap <= ARRIVED else np.zeros((len(z), 0))
    if _EXACT < gap <= TOLERANCE and not flat.shape[1]:
        z, here = _last_step(objective, coordinates, z, step, here)
        value, gz, Jz = here
        gap = float(gz @ _direction(gz, Jz, objective.n)) / 2
    theta = coordinates.natural(z)
    return SolverResult(
        theta, z, value, gz, Jz, gap, gap <= max(TOLERANCE, 1e-14 * abs(value)), flat, steps, coordinates
    )


def _last_step(
    objective: Maximand, coordinates: Coordinates, z: FloatArray, step: FloatArray, here: Local
) -> tuple[FloatArray, Local]:
    """Take one more step, already computed, so that coefficients and standard errors have full precision."""
    there = _at(objective, coordinates, z + step)
    return (z, here) if there[0] < here[0] - 1e-13 * abs(here[0]) else (z + step, there)


def _direction(g: FloatArray, J: FloatArray, n: float) -> FloatArray:
    """Return Newton's step, with eigenvalues raised to a minimum if J is not positive definite."""
    try:
        return np.asarray(cho_solve(cho_factor(J, lower=True, check_finite=False), g, check_finite=False))
    except LinAlgError:
        values, vectors = np.linalg.eigh(J)
        # Go uphill where the objective is convex, and limit the step where the objective is flat.
        return vectors @ ((g @ vectors) / np.maximum(np.abs(values), 1e-9 * n))


def _at(objective: Maximand, coordinates: Coordinates, z: FloatArray) -> Local:
    """Return value, gradient and minus the Hessian at coordinates z."""
    value, g, J = objective.full(coordinates.natural(z))
    return value, coordinates.gradient(z, g), coordinates.information(z, g, J)


def _advance(
    objective: Maximand,
    coordinates: Coordinates,
    z: FloatArray,
    step: FloatArray,
    value: float,
    g: FloatArray,
    longest: float,
) -> tuple[FloatArray, Local | None, float]:
    """Return z after the part of the step that raises the objective, the derivatives there, and the next step length.

    The derivatives are None if no part of the step raises the objective. Infinite coefficients are followed in steps
    that double. Most steps succeed at once, so the Hessian is computed together with the value.
    """
    length, farther = 1.0, longest
    if np.abs(step).max() > 1:
        move = coordinates.natural(z + step) - coordinates.natural(z)
        largest = objective.largest_move(move)
        if not np.isfinite(largest):
            length = 1e-3
        elif largest > longest:
            length, farther = longest / largest, 2 * longest
    uphill = float(g @ step)
    slack = 1e-13 * abs(value)  # rounding error of a sum over people
    for _ in range(40):
        further = z + length * step
        there = _at(objective, coordinates, further)
        if there[0] >= value + 1e-4 * length * uphill - slack and np.isfinite(there[2]).all():
            return further, there, farther
        length, farther = length / 2, _LONGEST
    return z, None, farther


def _flat_directions(
    objective: Maximand, coordinates: Coordinates, z: FloatArray, g: FloatArray, J: FloatArray
) -> FloatArray:
    """Return directions with little left to gain even much further out, in which coefficients are infinite."""
    values, vectors = np.linalg.eigh(J)
    weak = np.flatnonzero(values < _FLAT)
    if not weak.size:
        return np.zeros((len(z), 0))
    is_flat = np.zeros(len(weak), np.bool_)
    D = coordinates.jacobian(z)
    for k, at in enumerate(weak):
        if values[at] < _NONE:
            is_flat[k] = values[at] > -_NONE
            continue
        change = D @ vectors[:, at] * (g @ vectors[:, at]) / values[at]
        is_flat[k] = objective.largest_move(change) > 0.5
    return np.asarray(vectors[:, weak[is_flat]])
