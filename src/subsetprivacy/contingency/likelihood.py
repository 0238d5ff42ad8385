r"""The likelihood of subset counts under a log-linear model, and its derivatives.

With :math:`w = \mathrm{softmax}(Z\theta)`, :math:`L_a = r_a^\top w` and :math:`q_a = r_a w / L_a`, the shares of the
cells given the report a:

- log-likelihood :math:`\sum_a n_a \ln L_a`,
- gradient :math:`Z^\top(\sum_a n_a q_a - n w)`,
- information :math:`n Z^\top(D_w - ww^\top)Z - \sum_a n_a Z^\top(D_{q_a} - q_a q_a^\top)Z`: the information
  of complete answers minus the information lost by the subsets.
"""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.incidence import Listable

_IMPOSSIBLE = 1e-150  # the probability of a report; the square of its inverse is finite
_GRAM = 256  # up to so many cells, the matrix of all cells is faster if there are many distinct reports


def softmax(eta: FloatArray) -> FloatArray:
    """Return exp(eta) divided by its sum."""
    w = np.exp(eta - eta.max())
    return np.asarray(w / w.sum())


@frozen(eq=False, repr=False)
class TableDerivatives:
    """The likelihood and its derivatives at some parameters.

    Attributes
    ----------
    theta, w
        The parameters and the shares of the cells.
    value, gradient
        The log-likelihood and its gradient.
    information, complete
        The observed information, and the information of complete answers.
    """

    theta: FloatArray
    w: FloatArray
    value: float
    gradient: FloatArray
    information: FloatArray
    complete: FloatArray


@frozen(eq=False, repr=False)
class TableLikelihood:
    """The likelihood of subset counts under a log-linear model.

    Attributes
    ----------
    structure
        The model matrix.
    incidence, n_a
        The rows of the reports that occur, and their counts.
    """

    structure: Structure
    incidence: Listable
    n_a: FloatArray

    @property
    def n(self) -> float:
        """The number of people, or the sum of their weights."""
        return float(self.n_a.sum())

    def at(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient."""
        w = softmax(self.structure.apply(theta))
        L = self.incidence.inner(w)
        if not L.min() > _IMPOSSIBLE:
            return -np.inf, np.zeros(len(theta))
        s = self.incidence.spread(self.n_a / L)
        return float(self.n_a @ np.log(L)), self.structure.adjoint(w * (s - self.n))

    def full(self, theta: FloatArray) -> TableDerivatives:
        """Return the log-likelihood with all derivatives."""
        w = softmax(self.structure.apply(theta))
        size = len(theta)
        L = self.incidence.inner(w)
        if not L.min() > _IMPOSSIBLE:
            nothing = np.zeros((size, size))
            return TableDerivatives(theta, w, -np.inf, np.zeros(size), nothing, nothing)
        y = self.n_a / L
        s = self.incidence.spread(y)
        Z = self.structure.rows - (self.structure.rows @ w)[:, None]
        complete = self.n * (Z * w) @ Z.T
        missing = (Z * (w * s)) @ Z.T - self.squares(Z * w, y / L)
        J = complete - missing
        gradient = self.structure.adjoint(w * (s - self.n))
        return TableDerivatives(theta, w, float(self.n_a @ np.log(L)), gradient, (J + J.T) / 2, complete)

    def squares(self, A: FloatArray, y: FloatArray) -> FloatArray:
        """Return the sum over reports of y_a times the outer square of A r_a."""
        inc = self.incidence
        if inc.p <= _GRAM and inc.rows > 2 * inc.p:
            return np.asarray(A @ inc.gram(y) @ A.T)
        B = inc.inner(A)
        return np.asarray((B * y) @ B.T)

    def meat(self, w: FloatArray, squares: FloatArray) -> FloatArray:
        """Return the sum of the outer squares of the scores, times their squared weights."""
        L = self.incidence.inner(w)
        Z = self.structure.rows - (self.structure.rows @ w)[:, None]
        return self.squares(Z * w, squares / L**2)

    def curvature(self, theta: FloatArray, v: FloatArray) -> FloatArray:
        """Return the information times a vector, without a matrix."""
        w = softmax(self.structure.apply(theta))
        L = self.incidence.inner(w)
        y = self.n_a / L
        u = self.structure.apply(v)
        u -= w @ u
        seen = self.incidence.spread(y / L * self.incidence.inner(w * u))
        return self.structure.adjoint(w * (self.n * u - u * self.incidence.spread(y) + seen))
