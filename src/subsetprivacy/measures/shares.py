"""A share of joint categories, and the likelihood with two shares fixed."""

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation.likelihood import mean_loglik
from subsetprivacy.estimation.newton import newton
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.incidence import DenseRows, Mapped
from subsetprivacy.messages.for_analyses import DELTA_OR_FEWER_VARIABLES

MAX_COLUMNS = 1024  # columns of T; with more, a single interval takes minutes
ZERO = 1e-9  # a smaller share counts as zero, as for an estimate on the boundary
_IMPOSSIBLE = -1e3
_TOLERANCE = 1e-11
_FEW = 1 << 15  # up to so many entries, an explicit matrix is faster than products with the factors


@frozen
class Share:
    """A part of a whole, given by positions of joint categories: P(part | part or rest)."""

    part: IntArray
    rest: IntArray

    def member(self, which: str, p: int) -> FloatArray:
        """Return the indicator of the ``"part"``, of the ``"rest"``, or of both, the ``"whole"``."""
        out = np.zeros(p)
        for name, positions in (("part", self.part), ("rest", self.rest)):
            if which in (name, "whole"):
                out[positions] = 1.0
        return out

    def whole(self, w: FloatArray) -> float:
        """Return the total weight of part and rest."""
        return float(w[self.part].sum() + w[self.rest].sum())

    def of(self, w: FloatArray) -> float:
        """Return the share; NaN if the whole has no weight."""
        whole = self.whole(w)
        if whole < ZERO:
            return float("nan")
        part = float(w[self.part].sum()) / whole
        # Zero by the same rule as for the estimate, to avoid a ratio of rounding errors.
        return 0.0 if abs(part) < ZERO else 1.0 if abs(1 - part) < ZERO else part

    def gradient(self, w: FloatArray) -> FloatArray:
        """Return the derivative of the share with respect to w."""
        out = np.zeros(len(w))
        share = self.of(w)
        out[self.part] = (1 - share) / self.whole(w)
        out[self.rest] = -share / self.whole(w)
        return out

    def fixed(self, value: float, p: int) -> FloatArray:
        r"""Return columns that span the distributions on the whole with this share.

        Notes
        -----
        A distribution on part and rest has the share v if and only if it is a mixture of the columns
        :math:`v e_\alpha + (1-v) e_\beta`, one for each :math:`\alpha` of the part and :math:`\beta` of the rest. These
        are the vertices of that polytope. With several categories on both sides there are more columns than
        dimensions, so the weights are not unique, but the distribution is.
        """
        columns = np.zeros((p, len(self.part), len(self.rest)))
        for k, alpha in enumerate(self.part):
            columns[alpha, k, :] = value
        for k, beta in enumerate(self.rest):
            columns[beta, :, k] = 1 - value
        return columns.reshape(p, -1)


class TwoShares:
    """The log-likelihood per person, maximized with two shares fixed; they have no category in common."""

    def __init__(self, counts: SubsetCounts, first: Share, second: Share) -> None:
        self._inc, self._f, self._p = counts.incidence, counts.shares, counts.categories.p
        self._one, self._two = first, second
        covered = np.concatenate([first.part, first.rest, second.part, second.rest])
        self._free = np.delete(np.eye(self._p), covered, axis=1)
        columns = len(first.part) * len(first.rest) + len(second.part) * len(second.rest) + self._free.shape[1]
        if columns > MAX_COLUMNS:
            raise TooLargeError(
                f"a profile interval must have at most {MAX_COLUMNS} free directions; got {columns}.",
                DELTA_OR_FEWER_VARIABLES,
            )
        few = self._inc.rows * self._p <= _FEW
        self._matrix = self._inc.inner(np.eye(self._p)).T if few else None
        self._near: FloatArray | None = None

    def height(self, x: float, y: float) -> float:
        """Return the maximum, or a large negative number if some observed subset becomes impossible."""
        T = np.hstack([self._one.fixed(x, self._p), self._two.fixed(y, self._p), self._free])
        rows = Mapped(self._inc, T) if self._matrix is None else DenseRows(self._matrix @ T)
        if rows.inner(np.full(rows.p, 1 / rows.p)).min() <= 0:
            return _IMPOSSIBLE
        u = newton(rows, self._f, start=self._near, tol=_TOLERANCE).w
        # The next shares are close to these. Off the boundary, since no step leaves a face.
        self._near = lifted(u, 1e-4 / rows.p)
        return mean_loglik(rows, self._f, u)
