r"""Ridge-penalized multinomial logit from subsets or labels, fast and without standard errors.

It maximizes :math:`\sum_i \ln \sum_j r_i(j) p_j(x_i) - \frac{\lambda}{2} \sum_j \|\beta_j\|^2` over coefficients of all
p categories. It climbs by gradients (L-BFGS) in two sets of coordinates. In the first, the information of a fit without
slopes is the identity. The second, used if it saves time, comes from the curvature of some of the people at the current
point.
"""

import numpy as np
from attrs import frozen
from scipy.optimize import minimize

from subsetprivacy._types import FloatArray
from subsetprivacy.learning.people import People, SlopesAndIntercept
from subsetprivacy.regression.coordinates import Coordinates, Linear
from subsetprivacy.regression.links import MultinomialLogit
from subsetprivacy.regression.models import LikelihoodKernel, SeparateSlopes
from subsetprivacy.regression.objective import Objective, Ridge
from subsetprivacy.regression.starting import CovariateSums, multinomial_start, whitened

_COARSE = 3e-3  # gradient at which the curvature is considered
_SAMPLE = 8192  # number of people whose curvature is computed
_WORTH = 12.0  # cost of the curvature, in gradients, up to which it saves time (measured)
_CALL = 100_000  # cost of a gradient for any number of people
_LEAST = 0.01  # smallest information in a direction, relative to a fit without slopes


@frozen(eq=False, repr=False)
class RidgeFit:
    """Coefficients of all categories, which sum to 0 over categories.

    Attributes
    ----------
    coef
        Slopes, shape (p, d).
    intercept
        Intercepts, shape (p,); 0 without intercepts.
    n_iter, converged
        The number of iterations, and whether the gradient is below the tolerance.
    objective
        The penalized log-likelihood of all people.
    """

    coef: FloatArray
    intercept: FloatArray
    n_iter: int
    converged: bool
    objective: float


def fit_ridge(people: People, amount: float, *, intercept: bool, tolerance: float, max_iter: int) -> RidgeFit:
    """Fit people.

    Parameters
    ----------
    people
        The people with an informative subset.
    amount
        The penalty, equal for all categories.
    intercept
        Whether there are intercepts, which are not penalized.
    tolerance
        The distance of a coefficient from the maximum, in standard errors: in coordinates in which the information of
        a person is the identity, the largest entry of the gradient of all n people divided by the root of n.
    max_iter
        The largest number of iterations.
    """
    w, null = people.target.start(people.weight)
    link = MultinomialLogit(people.target.p, int(w.argmax()))
    d = people.d + intercept
    model = SlopesAndIntercept(link, d) if intercept else SeparateSlopes(link, d)
    free = np.ones(d)
    free[people.d :] = 0.0
    n, gram = _gram(people, intercept=intercept)
    objective = Objective(people, model, n, Ridge(amount, link.p, free) if amount > 0 else None)
    # The information of a person about a coefficient is `null`, averaged over categories. The penalty adds to it.
    per_person = max(float(np.trace(null)) / (link.p - 1), 1e-3)
    gram = _regular(gram + np.diag(amount * free / (n * per_person)))
    coordinates: Coordinates = whitened(gram, null, w, link.baseline)
    start = coordinates.inverse(multinomial_start(w, link, d, people.d if intercept else None))
    climb = _Climb(objective, coordinates, start, max_iter)
    per_gradient = tolerance / np.sqrt(n)
    if _curvature_pays(model.size, link.p - 1, d, len(people)):
        climb.climb(max(_COARSE, per_gradient))
        climb.change_coordinates()
    climb.climb(per_gradient)
    return climb.fit(link, d, intercept=intercept)


def _gram(people: People, *, intercept: bool) -> tuple[float, FloatArray]:
    """Return the sum of weights, and the mean of xx' with the intercept last."""
    n, x, xx = people.total(CovariateSums())
    gram = xx / n
    if intercept:
        gram = np.block([[gram, (x / n)[:, None]], [(x / n)[None, :], np.ones((1, 1))]])
    return float(n), gram


def _regular(gram: FloatArray) -> FloatArray:
    """Return a matrix that can be factored. It only defines coordinates, so the solution does not depend on it."""
    diagonal = gram.diagonal()
    return gram + np.diag(np.where(diagonal > 0, 1e-10 * diagonal, 1.0))


def _curvature_pays(size: int, k: int, d: int, n: int) -> bool:
    """Tell whether the curvature of some people costs less than the gradients it saves, in approximate nanoseconds."""
    curvature = min(n, _SAMPLE) * k * (k + 1) * d * (d + 1) / 4 + 10 * size**3
    gradient = n * (2 * k * d + 30 * (k + 1)) + _CALL
    return curvature <= _WORTH * gradient


class _Climb:
    """A climb that may change its coordinates."""

    def __init__(self, objective: Objective, coordinates: Coordinates, start: FloatArray, max_iter: int) -> None:
        self.objective, self.coordinates, self.z = objective, coordinates, start
        self.left, self.n_iter, self.converged, self.value = max_iter, 0, False, float("nan")

    def _downhill(self, z: FloatArray) -> tuple[float, FloatArray]:
        value, g = self.objective(self.coordinates.natural(z))
        return -value / self.objective.n, -self.coordinates.gradient(z, g) / self.objective.n

    def climb(self, tolerance: float) -> None:
        """Climb until the gradient is below the tolerance, or no iterations are left."""
        if self.left < 1:
            self.converged = False
            return
        options = {"maxcor": 20, "maxiter": self.left, "maxfun": 20 * self.left, "gtol": tolerance, "ftol": 0.0}
        result = minimize(self._downhill, self.z, jac=True, method="L-BFGS-B", options=options)
        self.z, self.value = result.x, -float(result.fun) * self.objective.n
        self.n_iter, self.left = self.n_iter + int(result.nit), self.left - int(result.nit)
        # With very many people, rounding ends a line search before the tolerance is reached.
        self.converged = bool(np.abs(result.jac).max() <= max(tolerance, 1e-7))

    def change_coordinates(self) -> None:
        """Change to the coordinates of the curvature of some people."""
        objective, theta = self.objective, self.coordinates.natural(self.z)
        block = objective.blocks.some(_SAMPLE)
        J = LikelihoodKernel(objective.model, theta, curvature=True)(block)[2] / block.amount
        if objective.ridge is not None:
            J = J + objective.ridge.curvature(len(theta)) / objective.n
        values, vectors = np.linalg.eigh(self.coordinates.information(self.z, theta, J))
        T = self.coordinates.jacobian(self.z) @ (vectors / np.sqrt(np.maximum(np.abs(values), _LEAST)))
        self.coordinates, self.z = Linear(theta, T), np.zeros(len(theta))

    def fit(self, link: MultinomialLogit, d: int, *, intercept: bool) -> RidgeFit:
        """Return the fit, with coefficients of all categories."""
        B = np.insert(self.coordinates.natural(self.z).reshape(-1, d), link.baseline, 0.0, axis=0)
        B -= B.mean(axis=0)
        slopes, constants = (B[:, :-1], B[:, -1]) if intercept else (B, np.zeros(link.p))
        return RidgeFit(slopes.copy(), constants.copy(), max(self.n_iter, 1), self.converged, self.value)
