r"""From linear predictors to the likelihood of a subset, one column per person.

A link takes predictors U of shape (k, m) and rows R of shape (p, m), and returns the log-likelihood
:math:`\ln L = \ln\sum_j r_j p_j(u)` of each person, its gradient in u, and minus its Hessian in u as the entries of the
upper triangle, in the order of ``numpy.triu_indices(k)``.
"""

from functools import cache
from typing import Protocol

import numpy as np
from attrs import frozen
from scipy.special import expit

from subsetprivacy._types import BoolArray, FloatArray, IntArray


@frozen(eq=False, repr=False)
class LinkDerivatives:
    """Log-likelihood (m,), gradient (k, m), and curvature (k (k+1) / 2, m) or None, of m people."""

    loglik: FloatArray
    gradient: FloatArray
    curvature: FloatArray | None = None


class Link(Protocol):
    """A model of the shares of p categories given k = p - 1 linear predictors."""

    @property
    def p(self) -> int:
        """The number of categories."""
        ...

    def shares(self, U: FloatArray) -> FloatArray:
        """Return the shares, shape (p, m), of predictors (p - 1, m)."""
        ...

    def of(self, U: FloatArray, R: FloatArray, *, curvature: bool = False) -> LinkDerivatives:
        """Return the log-likelihood of subsets and its derivatives."""
        ...

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return the derivatives of the shares, shape (p, p - 1, m)."""
        ...


@cache
def pairs(k: int) -> tuple[IntArray, IntArray]:
    """Return the two indices of each entry of an upper triangle."""
    first, second = np.triu_indices(k)
    return first, second


@cache
def _diagonal(k: int) -> IntArray:
    """Return the positions of the diagonal among the entries of an upper triangle."""
    i = np.arange(k)
    return i * k - i * (i - 1) // 2


@cache
def _others(p: int, category: int) -> IntArray:
    """Return the positions of p categories except one."""
    return np.delete(np.arange(p), category)


def outer_squares(G: FloatArray) -> FloatArray:
    """Return the upper triangle of the outer square of each column of G, shape (k (k+1) / 2, m)."""
    k = len(G)
    out = np.empty((k * (k + 1) // 2, *G.shape[1:]))
    for i, start in enumerate(_diagonal(k)):
        np.multiply(G[i], G[i:], out=out[start : start + k - i])
    return out


@frozen(eq=False, repr=False)
class MultinomialLogit:
    r"""The baseline-category logit: :math:`p_j \propto e^{u_j}`, with :math:`u = 0` for the baseline.

    The gradient is :math:`q - p` with the posterior :math:`q_j = r_j p_j / L`, and minus the Hessian is
    :math:`(D_p - pp^\top) - (D_q - qq^\top)`: the information of the values minus what the subsets hide.
    """

    p: int
    baseline: int

    @property
    def free(self) -> IntArray:
        """The positions of all categories except the baseline."""
        return _others(self.p, self.baseline)

    def _all(self, U: FloatArray) -> FloatArray:
        """Return the predictors with a row of zeros for the baseline."""
        out = np.empty((self.p, *U.shape[1:]))
        out[: self.baseline], out[self.baseline], out[self.baseline + 1 :] = U[: self.baseline], 0, U[self.baseline :]
        return out

    def shares(self, U: FloatArray) -> FloatArray:
        """Return the shares."""
        E = self._all(U)
        E -= E.max(axis=0)
        np.exp(E, out=E)
        E /= E.sum(axis=0)
        return E

    def of(self, U: FloatArray, R: FloatArray, *, curvature: bool = False) -> LinkDerivatives:
        """Return the log-likelihood of subsets and its derivatives."""
        H = self._all(U)
        H -= H.max(axis=0)
        P = np.exp(H)  # shares up to a factor
        every, inside = P.sum(axis=0), np.einsum("jm,jm->m", R, P)
        lost = inside < 1e-250  # the subset's probability is lost to rounding next to the rest
        if lost.any():
            return self._with_lost(H, R, lost, curvature=curvature)
        loglik = np.log(inside / every)
        if not curvature:  # q - p = p (r / inside - 1 / every)
            G = R / inside
            G -= 1 / every
            G *= P
            return LinkDerivatives(loglik, G[self.free])
        Q = R * P
        Q /= inside
        P /= every
        return self._derived(loglik, P, Q, curvature=True)

    def _with_lost(self, H: FloatArray, R: FloatArray, lost: BoolArray, *, curvature: bool) -> LinkDerivatives:
        """Return the same by logarithms, for subsets whose probability is lost to rounding."""
        P = np.exp(H)
        Q = R * P
        every, inside = P.sum(axis=0), Q.sum(axis=0)
        P /= every
        far = np.where(R[:, lost] > 0, H[:, lost], -np.inf)
        top = far.max(axis=0)
        Q[:, lost] = R[:, lost] * np.exp(far - top)
        inside[lost] = Q[:, lost].sum(axis=0)
        loglik = np.log(inside)
        loglik[lost] += top
        Q /= inside
        loglik -= np.log(every)
        return self._derived(loglik, P, Q, curvature=curvature)

    def _derived(self, loglik: FloatArray, P: FloatArray, Q: FloatArray, *, curvature: bool) -> LinkDerivatives:
        """Return the derivatives from shares and posteriors."""
        P, Q = P[self.free], Q[self.free]
        if not curvature:
            return LinkDerivatives(loglik, Q - P)
        G = Q - P
        C = outer_squares(Q)
        C -= outer_squares(P)
        C[_diagonal(self.p - 1)] -= G
        return LinkDerivatives(loglik, G, C)

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return the derivatives of the shares: p_j (1{j = k} - p_k)."""
        P = self.shares(U)
        out = -P[:, None, :] * P[self.free][None, :, :]
        out[self.free, np.arange(self.p - 1)] += P[self.free]
        return out

    def complete(self, U: FloatArray, D: FloatArray) -> LinkDerivatives:
        """Return the same for labels, or for indicators D of them, shape (p, m): sum_j D_j ln p_j."""
        H = self._all(U)
        H -= H.max(axis=0)
        P = np.exp(H)
        every = P.sum(axis=0)
        P /= every
        amount = D.sum(axis=0)  # 1 for indicators
        loglik = np.einsum("jm,jm->m", D, H) - amount * np.log(every)
        P = P[self.free]
        G = D[self.free] - amount * P
        first, second = pairs(self.p - 1)
        C = -amount * P[first] * P[second]
        C[first == second] += amount * P
        return LinkDerivatives(loglik, G, C)


@frozen(eq=False, repr=False)
class CumulativeLogit:
    r"""Proportional odds: :math:`P(X \le j) = F(u_j)` with the logistic F and increasing :math:`u_j`.

    With :math:`c_j = r_j - r_{j+1}`, :math:`L = r_p + \sum_j c_j F(u_j)`, the gradient is :math:`c_j f(u_j) / L` and
    the Hessian :math:`\mathrm{diag}(c_j f'(u_j)/L)` minus the outer square of the gradient.
    """

    p: int

    def shares(self, U: FloatArray) -> FloatArray:
        """Return the shares, accurate in both tails."""
        low, high = expit(U), expit(-U)
        inner = np.where(U[:-1] > 0, high[:-1] - high[1:], low[1:] - low[:-1])
        return np.concatenate([low[:1], inner, high[-1:]])

    def of(self, U: FloatArray, R: FloatArray, *, curvature: bool = False) -> LinkDerivatives:
        """Return the log-likelihood of subsets and its derivatives."""
        L = np.maximum(np.einsum("jm,jm->m", R, self.shares(U)), 1e-100)
        F, other = expit(U), expit(-U)
        c = (R[:-1] - R[1:]) / L
        G = c * F * other
        if not curvature:
            return LinkDerivatives(np.log(L), G)
        C = outer_squares(G)
        C[_diagonal(self.p - 1)] -= G * (other - F)
        return LinkDerivatives(np.log(L), G, C)

    def slopes(self, U: FloatArray) -> FloatArray:
        """Return the derivatives of the shares: f(u_k) for category k, minus that for category k + 1."""
        f = expit(U) * expit(-U)
        k = np.arange(self.p - 1)
        out = np.zeros((self.p, self.p - 1, U.shape[1]))
        out[k, k] = f
        out[k + 1, k] = -f
        return out

    def complete(self, U: FloatArray, D: FloatArray) -> LinkDerivatives:
        """Return the same for labels, or for indicators D of them, shape (p, m): sum_j D_j ln p_j."""
        P = np.maximum(self.shares(U), 1e-150)  # the square of which is not 0
        loglik = np.einsum("jm,jm->m", D, np.log(P))
        F, other = expit(U), expit(-U)
        f = F * other
        ratio, square = D / P, D / P**2
        G = f * (ratio[:-1] - ratio[1:])
        first, second = pairs(self.p - 1)
        C = np.zeros((len(first), U.shape[1]))
        C[first == second] = f**2 * (square[:-1] + square[1:]) - f * (other - F) * (ratio[:-1] - ratio[1:])
        C[second == first + 1] = -f[:-1] * f[1:] * square[1:-1]
        return LinkDerivatives(loglik, G, C)
