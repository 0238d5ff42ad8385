"""Coordinates in which a fit is well conditioned. The solver uses them; results use the natural parameters."""

from typing import Protocol

import numpy as np
from attrs import frozen
from scipy.linalg import solve_triangular

from subsetprivacy._types import FloatArray


class Coordinates(Protocol):
    """A change of coordinates z of the parameters theta."""

    @property
    def size(self) -> int:
        """The number of coordinates."""
        ...

    def natural(self, z: FloatArray) -> FloatArray:
        """Return the parameters."""
        ...

    def inverse(self, theta: FloatArray) -> FloatArray:
        """Return the coordinates of parameters."""
        ...

    def gradient(self, z: FloatArray, g: FloatArray) -> FloatArray:
        """Return the gradient in z, from the gradient in the parameters."""
        ...

    def information(self, z: FloatArray, g: FloatArray, J: FloatArray) -> FloatArray:
        """Return minus the second derivatives in z, from gradient and information in the parameters."""
        ...

    def jacobian(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of the parameters in z, shape (parameters, size)."""
        ...


@frozen(eq=False, repr=False)
class Whitened:
    """Coefficients B = V Z W: a triangular matrix for the categories and one for the covariates."""

    V: FloatArray
    W: FloatArray

    @classmethod
    def of(cls, classes: FloatArray, gram: FloatArray) -> "Whitened":
        """Return coordinates in which the information `classes` times `gram` (Kronecker) is the identity."""
        scale = 1 / np.sqrt(gram.diagonal())
        U = np.linalg.cholesky(gram * np.outer(scale, scale))
        W = solve_triangular(U, np.diag(scale), lower=True)
        V = solve_triangular(np.linalg.cholesky(classes).T, np.eye(len(classes)))
        return cls(V, W)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return len(self.V) * len(self.W)

    def natural(self, z: FloatArray) -> FloatArray:
        """Return the coefficients."""
        return (self.V @ z.reshape(len(self.V), -1) @ self.W).ravel()

    def inverse(self, theta: FloatArray) -> FloatArray:
        """Return the coordinates."""
        B = theta.reshape(len(self.V), -1)
        return np.linalg.solve(self.V, np.linalg.solve(self.W.T, B.T).T).ravel()

    def gradient(self, z: FloatArray, g: FloatArray) -> FloatArray:
        """Return the gradient."""
        return (self.V.T @ g.reshape(len(self.V), -1) @ self.W.T).ravel()

    def information(self, z: FloatArray, g: FloatArray, J: FloatArray) -> FloatArray:
        """Return the information."""
        half = self._half(J)
        return self._half(np.ascontiguousarray(half.T))

    def _half(self, J: FloatArray) -> FloatArray:
        """Return (V' x W) J, Kronecker."""
        k, d = len(self.V), len(self.W)
        return np.ascontiguousarray(self.V.T @ (self.W @ J.reshape(k, d, -1)).reshape(k, -1)).reshape(k * d, -1)

    def jacobian(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of the coefficients."""
        return np.kron(self.V, self.W.T)


@frozen(eq=False, repr=False)
class Linear:
    """Parameters theta = origin + T z, with a direction per column of T, for fits under linear constraints."""

    origin: FloatArray
    T: FloatArray

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.T.shape[1]

    def natural(self, z: FloatArray) -> FloatArray:
        """Return the parameters."""
        return self.origin + self.T @ z

    def inverse(self, theta: FloatArray) -> FloatArray:
        """Return the coordinates of the nearest parameters."""
        return np.linalg.lstsq(self.T, theta - self.origin, rcond=None)[0]

    def gradient(self, z: FloatArray, g: FloatArray) -> FloatArray:
        """Return the gradient."""
        return g @ self.T

    def information(self, z: FloatArray, g: FloatArray, J: FloatArray) -> FloatArray:
        """Return the information."""
        return self.T.T @ J @ self.T

    def jacobian(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of the parameters."""
        return self.T


@frozen(eq=False, repr=False)
class Increasing:
    """The first cut point and the logarithms of the gaps, together with slopes, followed by a `Linear` map.

    Cut points increase at every z. An empty category has a gap of 0, which is finite in the cut points but far out in
    z.
    """

    cuts: int
    linear: Linear

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.linear.size

    def natural(self, z: FloatArray) -> FloatArray:
        """Return cut points and slopes."""
        return self._opened(self.linear.natural(z))

    def _opened(self, zeta: FloatArray) -> FloatArray:
        theta = zeta.copy()
        theta[1 : self.cuts] = np.exp(np.minimum(zeta[1 : self.cuts], 40.0))
        theta[: self.cuts] = np.cumsum(theta[: self.cuts])
        return theta

    def inverse(self, theta: FloatArray) -> FloatArray:
        """Return the coordinates."""
        zeta = theta.copy()
        zeta[1 : self.cuts] = np.log(np.maximum(np.diff(theta[: self.cuts]), 1e-12))
        return self.linear.inverse(zeta)

    def _slope(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of the parameters in zeta."""
        zeta = self.linear.natural(z)
        D = np.eye(len(zeta))
        gaps = np.concatenate([[1.0], np.exp(np.minimum(zeta[1 : self.cuts], 40.0))])
        D[: self.cuts, : self.cuts] = np.tril(np.broadcast_to(gaps, (self.cuts, self.cuts)))
        return D

    def gradient(self, z: FloatArray, g: FloatArray) -> FloatArray:
        """Return the gradient."""
        return self.linear.gradient(z, g @ self._slope(z))

    def information(self, z: FloatArray, g: FloatArray, J: FloatArray) -> FloatArray:
        """Return the information. The logarithms are curved, which adds a diagonal."""
        D = self._slope(z)
        K = D.T @ J @ D
        bent = np.arange(1, self.cuts)
        K[bent, bent] -= (g @ D)[bent]
        return self.linear.information(z, g @ D, K)

    def jacobian(self, z: FloatArray) -> FloatArray:
        """Return the derivatives of the parameters."""
        return self._slope(z) @ self.linear.T
