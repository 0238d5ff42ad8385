r"""The best design as a convex program, with one column per subset or question.

The unknowns are weights :math:`x_i \ge 0`. For a conditional design they are the :math:`\mu_a` of all subsets,
with :math:`\sum_{a \ni j} \mu_a = 1` for every j (`cond_design`). For an independent one they are the
probabilities of all questions {a, its complement}, which sum to one; then both answers have
:math:`\mu_a = x_i` (`ind_design`). Fisher information on the simplex, with an orthonormal B, B'1 = 0, and every
leakage are linear in x:

- :math:`B^\top I(w) B = \sum_i x_i c_i v_i v_i^\top` with :math:`v_i = B^\top 1_a` and
  :math:`c_i = 1/L(a)`, for a question :math:`1/L(a) + 1/L(a^c)`, since :math:`B^\top 1_{a^c} = -v_i`;
- size :math:`\sum_a \mu_a L(a)(1 - L(a))`, mutual information :math:`-\sum_a \mu_a L(a)\log_2 L(a)`,
  prediction :math:`\sum_a \mu_a \max_{j\in a} w_j`, and :math:`S = \sum_a \mu_a`, whose logarithm is maximal leakage.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import get_args

import numpy as np
from attrs import evolve, frozen
from scipy.special import xlogy

from subsetprivacy._choices import Leakage
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.subsets import Categories, bits, sizes

METRICS: tuple[Leakage, ...] = get_args(Leakage)


@frozen(slots=False, eq=False)
class Program:
    """The data of the program: columns, their information, their leakage, and the budgets.

    Attributes
    ----------
    codes
        The subset of each column. For a question, its smaller side.
    V
        Rows v_i, shape (columns, p-1).
    c
        The information per unit of weight at each w, shape (number of w, columns).
    A
        Rows of the equalities A x = 1.
    leaks
        For each metric, the leakage per unit of weight, a row per w. One row of S for "maximal".
    G, h
        The budgets G x <= h.
    limits
        The metric that each row of G belongs to.
    """

    categories: Categories
    kind: str
    codes: IntArray
    V: FloatArray
    c: FloatArray
    A: FloatArray
    leaks: dict[str, FloatArray]
    G: FloatArray
    h: FloatArray
    limits: tuple[str, ...] = ()

    @property
    def p(self) -> int:
        """The number of categories."""
        return self.categories.p

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The upper triangle of a symmetric matrix of order p-1, and the factors that make it an isometry."""
        rows, columns = np.triu_indices(self.p - 1)
        return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))

    def limited(self, budget: Mapping[str, float]) -> "Program":
        """Return the program with these budgets instead of its own.

        A row of G is shifted by a combination of the equalities and scaled, which does not change the solutions.
        Otherwise rounding would dominate leakages that are nearly the same for all columns. A row that vanishes is the
        same for all designs and is left out.
        """
        names = [name for name in budget for _ in self.leaks[name]]
        raw = np.concatenate([np.empty((0, len(self.codes))), *(self.leaks[name] for name in budget)])
        most = np.array([as_linear(name, budget[name]) for name in names])
        shift = np.linalg.lstsq(self.A.T, raw.T, rcond=None)[0]
        G, h = raw - shift.T @ self.A, most - shift.sum(axis=0)
        scale = np.abs(G).max(axis=1, initial=0)
        # If all designs leak the same there is nothing to choose. A smaller budget is refused elsewhere.
        kept = (scale > 1e-12) | (h < -1e-9)
        scale = np.where(scale > 1e-12, scale, 1.0)[kept]
        limits = tuple(name for name, keep in zip(names, kept, strict=True) if keep)
        return evolve(self, G=G[kept] / scale[:, None], h=h[kept] / scale, limits=limits)

    def restricted(self, columns: IntArray) -> "Program":
        """Return the program with only some of its columns."""
        return evolve(
            self,
            codes=self.codes[columns],
            V=self.V[columns],
            c=self.c[:, columns],
            A=self.A[:, columns],
            leaks={name: rows[:, columns] for name, rows in self.leaks.items()},
            G=self.G[:, columns],
        )


def as_linear(metric: str, value: float) -> float:
    """Return a leakage as a number that is linear in the weights: S for maximal leakage."""
    return float(2**value) if metric == "maximal" else value


def as_leakage(metric: str, value: float) -> float:
    """Return the leakage for a number that is linear in the weights."""
    return float(np.log2(value)) if metric == "maximal" else value


def program(categories: Categories, w: FloatArray, kind: str, smallest: int, full_set: bool) -> Program:
    """Return the program without budgets, at the rows of w."""
    p = categories.p
    codes = _columns(p, kind, smallest, full_set)
    members = bits(codes, p)
    L = np.minimum(w @ members.T, 1.0)
    V = members @ tangent_basis(p)
    V[codes == categories.full] = 0.0
    guess = (w[:, None, :] * members).max(axis=-1)
    leaks = {"size": L * (1 - L), "mi": xlogy(L, 1 / L) / np.log(2), "prediction": guess}
    if kind == "conditional":
        A, c, S = members.T, 1 / L, np.ones(len(codes))
    else:
        rest = 1 - L
        A, S = np.ones((1, len(codes))), np.where(codes == categories.full, 1.0, 2.0)
        c = 1 / L + 1 / np.where(codes == categories.full, 1.0, rest)
        leaks["size"] = 2 * L * rest
        leaks["mi"] = leaks["mi"] - xlogy(rest, rest) / np.log(2)
        leaks["prediction"] = guess + (w[:, None, :] * (1 - members)).max(axis=-1)
    none = np.empty((0, len(codes)))
    return Program(
        categories, kind, codes, V, c, np.ascontiguousarray(A), {**leaks, "maximal": S[None]}, none, np.empty(0)
    )


def _columns(p: int, kind: str, smallest: int, full_set: bool) -> IntArray:
    codes = np.arange(1, (1 << p) - 1, dtype=np.int64)
    size = sizes(codes)
    if kind == "conditional":
        codes = codes[size >= smallest]
    else:  # one side of each question: the smaller, or in a tie the side with the first category
        codes = codes[(size >= smallest) & ((2 * size < p) | ((2 * size == p) & (codes & 1 == 1)))]
    return np.append(codes, (1 << p) - 1) if full_set else codes


def tangent_basis(p: int) -> FloatArray:
    """Return an orthonormal basis of the vectors that sum to zero, one per column."""
    basis, _ = np.linalg.qr(np.vstack([np.eye(p - 1), -np.ones(p - 1)]))
    return np.asarray(basis)
