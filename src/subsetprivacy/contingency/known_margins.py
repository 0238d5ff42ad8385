r"""Known margins: the parameters that they determine, and the free ones.

In addition to :math:`\theta`, a log-linear model has mean parameters: the margins of its generators. Some may be known,
and the :math:`\theta` of all other terms stay free. For any values of these, exactly one distribution of the model has
the known margins, and raking finds it. So a fit with known margins is an unconstrained fit of the free parameters.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from attrs import frozen
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from subsetprivacy._checks import check_distribution, shown
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.contingency.likelihood import TableDerivatives, TableLikelihood, softmax
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.errors import ArgumentError, DistributionError, MismatchError
from subsetprivacy.messages.for_analyses import GENERATOR_FOR_THE_MARGIN, VARIABLES_OF_THE_TABLE
from subsetprivacy.variables import JointCategories

Margins = Mapping[tuple[int, ...], FloatArray]
_AGREE = 1e-6  # the tolerance for the agreement of two margins
_RAKED = 1e-13
_STEPS = 200


def read_margins(known: Any, categories: JointCategories) -> dict[tuple[int, ...], FloatArray]:
    """Return known margins as tables of shares, by the positions of their variables.

    Parameters
    ----------
    known
        ``{"race": {"White": 0.8, ...}}``, or for several variables
        ``{("race", "sex"): {("White", "Male"): 0.4, ...}}``.
    categories
        The variables.
    """
    if not isinstance(known, Mapping) or not known:
        raise ArgumentError(f"`known` must map variables to their shares; got {type(known).__name__}.")
    out: dict[tuple[int, ...], FloatArray] = {}
    for name, shares in known.items():
        names = (name,) if isinstance(name, str) else tuple(name) if isinstance(name, Sequence) else (name,)
        axes = _axes(names, categories)
        if tuple(sorted(axes)) in out:
            raise ArgumentError("`known` must give each margin once; got one twice.")
        labels = JointCategories({categories.names[k]: categories.parts[k] for k in axes}).labels
        if len(axes) == 1:
            labels = categories.parts[axes[0]].labels
        table = check_distribution(shares, labels, "known").reshape([categories.shape[k] for k in axes])
        if not table.min() > 0:
            raise DistributionError(
                f"`known` must be above 0 in every category; got a share of 0 for {', '.join(names)}."
            )
        out[tuple(sorted(axes))] = np.transpose(table / table.sum(), np.argsort(axes))
    _check_agreement(out, categories)
    return out


def _axes(names: tuple[Any, ...], categories: JointCategories) -> list[int]:
    for name in names:
        if name not in categories.names:
            raise ArgumentError(
                f"`known` must name variables of the model; got {shown(name)}.",
                VARIABLES_OF_THE_TABLE(names=", ".join(categories.names)),
            )
    if len(set(names)) < len(names):
        raise ArgumentError("`known` must name a variable once in a margin; got one twice.")
    return [categories.names.index(name) for name in names]


def _check_agreement(margins: Margins, categories: JointCategories) -> None:
    """Raise if two margins disagree about the variables that they share."""
    for (first, table), (second, other) in combinations(margins.items(), 2):
        shared = tuple(k for k in first if k in second)
        if shared and np.abs(_summed(table, first, shared) - _summed(other, second, shared)).max() > _AGREE:
            names = ", ".join(categories.names[k] for k in shared)
            raise MismatchError(
                f"`known` must have margins that agree with each other; two of them give different shares of {names}."
            )


def _summed(table: FloatArray, variables: tuple[int, ...], kept: tuple[int, ...]) -> FloatArray:
    """Return the margin of some variables of a table."""
    return table.sum(axis=tuple(at for at, k in enumerate(variables) if k not in kept))


@frozen(slots=False, eq=False, repr=False)
class Parameters:
    """Which parameters are free, and how known margins determine the others.

    Attributes
    ----------
    structure
        The model matrix.
    fixed
        The positions of the parameters that known margins determine.
    means
        The known means of their columns: the share of people with the levels of each parameter.
    """

    structure: Structure
    fixed: IntArray
    means: FloatArray

    @classmethod
    def of(cls, structure: Structure, margins: Margins) -> "Parameters":
        """Return the parameters of a model with known margins.

        Raises
        ------
        ArgumentError
            If no generator of the model contains a known margin, since the model would then restrict it.
        """
        for variables in margins:
            if variables not in structure.terms:
                names = " ".join(structure.categories.names[k] for k in variables)
                raise ArgumentError(
                    f"`known` must have margins of terms of the model; the model has no term of {names}.",
                    GENERATOR_FOR_THE_MARGIN(names=names),
                )
        fixed, means = [], []
        for k, term in enumerate(structure.terms):
            holder = next((variables for variables in margins if set(term) <= set(variables)), None)
            if holder is None:
                continue
            table = np.zeros(structure.shape)
            # Spread evenly over the other variables, so that sums over the structure give the margin.
            shares = margins[holder].reshape([n if j in holder else 1 for j, n in enumerate(structure.shape)])
            table += shares / (structure.cells / margins[holder].size)
            fixed.append(structure.at([k]))
            means.append(structure.adjoint(table.ravel())[structure.parts[k]])
        none: Any = [np.zeros(0)]
        return cls(structure, np.concatenate(fixed or none).astype(int), np.concatenate(means or none))

    @cached_property
    def free(self) -> IntArray:
        """The positions of the other parameters."""
        return np.setdiff1d(np.arange(self.structure.size), self.fixed)

    def theta(self, psi: FloatArray, start: FloatArray | None = None) -> FloatArray:
        """Return all parameters, given the free ones; raking finds those of known margins."""
        out = np.zeros(self.structure.size)
        out[self.free] = psi
        if not len(self.fixed):
            return out
        base = self.structure.apply(out)
        out[self.fixed] = _raked(
            base, self.structure.rows[self.fixed], self.means, np.zeros(len(self.fixed)) if start is None else start
        )
        return out

    def directions(self, w: FloatArray) -> FloatArray:
        """Return the derivative of all parameters with respect to the free ones, shape (parameters, free)."""
        out = np.zeros((self.structure.size, len(self.free)))
        out[self.free, np.arange(len(self.free))] = 1.0
        if len(self.fixed):
            rows = self.structure.rows
            Z = rows[self.fixed] - (rows[self.fixed] @ w)[:, None]
            out[self.fixed] = -np.linalg.solve((Z * w) @ Z.T, (Z * w) @ rows[self.free].T)
        return out


def _raked(base: FloatArray, Z: FloatArray, means: FloatArray, lam: FloatArray) -> FloatArray:
    """Return lam with Z softmax(base + Z'lam) = means, by Newton's method on the concave dual."""

    def dual(lam: FloatArray) -> float:
        eta = base + lam @ Z
        top = eta.max()
        return float(lam @ means - top - np.log(np.exp(eta - top).sum()))

    value = dual(lam)
    for _ in range(_STEPS):
        w = softmax(base + lam @ Z)
        rest = means - Z @ w
        if np.abs(rest).max() <= _RAKED:
            break
        centered = Z - (Z @ w)[:, None]
        H = (centered * w) @ centered.T
        try:
            step = cho_solve(cho_factor(H), rest)
        except LinAlgError:
            step = np.linalg.lstsq(H, rest, rcond=None)[0]
        length = 1.0
        while length > 1e-6 and not (there := dual(lam + length * step)) >= value - 1e-15:
            length /= 2
        lam, before, value = lam + length * step, value, there
        if length == 1.0 and np.abs(rest).max() < 1e-10 and value <= before:
            break  # no further improvement in floating point
    return lam


@frozen(eq=False, repr=False)
class ReducedLikelihood:
    """The likelihood at some values of the free parameters.

    Attributes
    ----------
    psi
        The free parameters.
    full
        The likelihood at all parameters.
    N
        The derivative of all parameters with respect to the free ones.
    gradient, information, complete
        As in `full`, for the free parameters.
    """

    psi: FloatArray
    full: TableDerivatives
    N: FloatArray
    gradient: FloatArray
    information: FloatArray
    complete: FloatArray

    @property
    def value(self) -> float:
        """The log-likelihood."""
        return self.full.value


def reduced(
    likelihood: TableLikelihood, parameters: Parameters, psi: FloatArray, start: FloatArray | None
) -> ReducedLikelihood:
    r"""Return the likelihood and its derivatives with respect to the free parameters.

    Notes
    -----
    With Lagrange multipliers :math:`\lambda` of the known means, the Hessian in the free parameters is that of
    :math:`\ell - \lambda^\top \mu(\theta)` along the directions N. Second derivatives of means are third moments.
    """
    there = likelihood.full(parameters.theta(psi, start))
    if not len(parameters.fixed):
        return ReducedLikelihood(psi, there, np.eye(len(psi)), there.gradient, there.information, there.complete)
    w, rows = there.w, parameters.structure.rows
    N = parameters.directions(w)
    Z = rows - (rows @ w)[:, None]
    K = Z[parameters.fixed]
    lam = np.linalg.solve((K * w) @ K.T, there.gradient[parameters.fixed])
    J = there.information + (Z * (w * (lam @ K))) @ Z.T
    return ReducedLikelihood(psi, there, N, N.T @ there.gradient, N.T @ J @ N, N.T @ there.complete @ N)
