"""Fit a log-linear model: starts, maxima, covariances and infinite parameters."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from attrs import field, frozen
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray
from subsetprivacy.contingency.known_margins import Margins, Parameters
from subsetprivacy.contingency.likelihood import TableLikelihood, softmax
from subsetprivacy.contingency.solver import ARRIVED, TableMaximum, climb, maximize
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import TooLargeError
from subsetprivacy.estimation.mle import maximize as maximize_shares
from subsetprivacy.incidence import Listable
from subsetprivacy.messages.for_analyses import SMALLER_MODEL
from subsetprivacy.regression.maxima import SMALL, BestMaximum, search

MAX_PARAMETERS = 2000  # up to so many parameters, there is an information matrix
MAX_MATRIX = 1 << 25  # parameters times cells, or times distinct reports, for such a matrix: 268 MB
MANY = 1024  # with more cells, a fit does not start at the estimate of all cells
_LIFT = 1e-3
_LOOSE = 1e-3
_OPEN = 1e-2  # information of complete answers in a direction on which the reports have no information
_EM_STEPS = 30


@frozen(eq=False, repr=False)
class TableFit:
    """The numbers of a fit.

    Attributes
    ----------
    theta, w
        The parameters, all finite (see `infinite`), and the shares of the cells.
    loglik
        The log-likelihood of the subsets.
    cov
        The covariance of the parameters, a sandwich with sampling weights; None if there is none.
    df
        The number of free parameters.
    gap, converged, is_maximum, steps
        The certificate, as for a regression.
    maxima, starts
        The values of the maxima found, largest first, and the number of starts.
    infinite
        For each parameter, 0 if it is finite, its sign if it is infinite, NaN if it is undetermined.
    price
        For each parameter, its variance relative to that from complete answers; NaN if it is infinite, and if there is
        no information matrix.
    open_directions
        A basis of the directions of the parameters in which the reports do not determine shares, shape (parameters, r).
    """

    theta: FloatArray = field(converter=read_only)
    w: FloatArray = field(converter=read_only)
    loglik: float
    cov: FloatArray | None
    df: int
    gap: float
    converged: bool
    is_maximum: bool
    steps: int
    maxima: tuple[float, ...]
    starts: int
    infinite: FloatArray = field(converter=read_only)
    price: FloatArray = field(converter=read_only)
    open_directions: FloatArray | None = None

    @property
    def information_kept(self) -> float:
        """The mean share of information about a parameter that the subsets keep; NaN if there is none."""
        return _kept(self.price)

    @property
    def undetermined(self) -> bool:
        """Whether the data do not determine some shares."""
        return self.open_directions is not None


def has_matrix(structure: Structure, rows: int) -> bool:
    """Return whether the information matrix fits in memory."""
    return structure.size <= MAX_PARAMETERS and structure.size * max(structure.cells, rows) <= MAX_MATRIX


def all_shares(incidence: Listable, f: FloatArray) -> FloatArray:
    """Return shares of all cells to start from: the maximum for few cells, a few steps toward it for many."""
    if incidence.p <= MANY:
        return maximize_shares(incidence, f, 1e-7).w
    w = np.full(incidence.p, 1 / incidence.p)
    for _ in range(_EM_STEPS):
        w = w * incidence.spread(f / incidence.inner(w))
    return np.asarray(w / w.sum())


def fit_table(
    counts: SubsetCounts,
    structure: Structure,
    margins: Margins,
    *,
    starts: int | None = None,
    near: FloatArray | None = None,
) -> TableFit:
    """Fit a log-linear model.

    Parameters
    ----------
    counts
        The counts of the table's variables.
    structure, margins
        The model matrix, and known margins.
    starts
        The number of starts; by default one, or as in `regression.maxima.search` if there are few people.
    near
        Shares of the cells close to those of the fit, if available.
    """
    likelihood = TableLikelihood(structure, counts.incidence, counts.n_a)
    parameters = Parameters.of(structure, margins)
    target = all_shares(counts.incidence, counts.shares) if near is None else near
    if not has_matrix(structure, counts.incidence.rows):
        if margins:
            raise TooLargeError(
                f"a model with known margins must have at most {MAX_PARAMETERS} parameters and fewer cells; got "
                f"{structure.size} parameters of {structure.cells} cells.",
                SMALLER_MODEL,
            )
        return _fit_many(likelihood, target)
    climb = partial(maximize, likelihood, parameters)
    first = climb(project(structure, target))
    found = BestMaximum(first, (first.value,), 1)
    if starts or _has_few_people(counts, structure, first):
        found = search(climb, first, _more_starts(structure, first), asked=starts)
    return _finished(counts, likelihood, parameters, found.best, found.values, found.starts)


def _has_few_people(counts: SubsetCounts, structure: Structure, first: TableMaximum) -> bool:
    """Tell whether there are so few people that there may be several maxima, and a start takes no second."""
    kept = _kept(_price(first, np.zeros(structure.size)))
    effective = counts.n * (kept if kept == kept else 0.0) / max(structure.size, 1)
    return effective < SMALL and structure.size * structure.cells < 1 << 16


def _more_starts(structure: Structure, first: TableMaximum) -> Iterator[FloatArray]:
    """Yield parameters of independence, and then random ones."""
    yield np.where([len(structure.terms[structure.term_of(k)]) > 1 for k in range(structure.size)], 0.0, first.theta)
    rng = np.random.default_rng(0)  # depends only on the problem, so the same data give the same fit
    while True:
        yield np.clip(first.theta, -3.0, 3.0) + rng.standard_normal(structure.size)


def _price(best: TableMaximum, infinite: FloatArray) -> FloatArray:
    """Return the variance of each parameter relative to that from complete answers."""
    N = best.at.N
    subsets = np.einsum("kr,rs,ks->k", N, best.inverse(best.at.information), N)
    complete = np.einsum("kr,rs,ks->k", N, best.inverse(best.at.complete), N)
    known = (infinite == 0) & (subsets > 0) & (complete > 0)
    return np.divide(subsets, complete, out=np.full(len(N), np.nan), where=known)


def _kept(price: FloatArray) -> float:
    known = price[np.isfinite(price)]
    return float((1 / known).mean()) if len(known) else float("nan")


def _finished(
    counts: SubsetCounts,
    likelihood: TableLikelihood,
    parameters: Parameters,
    best: TableMaximum,
    maxima: tuple[float, ...],
    starts: int,
) -> TableFit:
    cov = None
    if best.gap <= ARRIVED:
        inverse = best.inverse(best.at.information)
        if counts.squares is not None:
            meat = likelihood.meat(best.at.full.w, counts.squares[counts.informative])
            inverse = inverse @ best.at.N.T @ meat @ best.at.N @ inverse
        cov = best.at.N @ inverse @ best.at.N.T
        cov = (cov + cov.T) / 2
    infinite, open_directions = _infinite(best)
    return TableFit(
        theta=best.theta,
        w=best.at.full.w,
        loglik=best.value,
        cov=cov,
        df=len(parameters.free),
        gap=best.gap,
        converged=best.converged,
        is_maximum=best.is_maximum,
        steps=best.steps,
        maxima=maxima,
        starts=starts,
        infinite=infinite,
        open_directions=open_directions,
        price=_price(best, infinite),
    )


def _infinite(best: TableMaximum) -> tuple[FloatArray, FloatArray | None]:
    """Return which parameters are infinite, and in which directions the data do not determine shares.

    In the direction of an infinite parameter, shares do not change any more, so complete answers would have no
    information either. If they would have information, the subsets do not determine the shares.
    """
    size = len(best.theta)
    if not best.flat.shape[1]:
        return np.zeros(size), None
    eigenvalues, turned = np.linalg.eigh(best.flat.T @ best.at.complete @ best.flat)
    flat = best.flat @ turned
    is_open = eigenvalues > _OPEN
    moving = best.at.N @ flat
    loose = np.sqrt((moving**2).sum(axis=1))
    loose = loose > _LOOSE * loose.max()
    ends = flat[:, ~is_open]
    values = np.einsum("kr,kl,lr->r", ends, best.at.information, ends)
    step = moving[:, ~is_open] @ ((ends.T @ best.at.gradient) / np.maximum(np.abs(values), 1e-300))
    out = np.where(loose, np.nan, 0.0)
    runs = loose & (np.abs(step) > 0.2 * np.abs(step).max(initial=0.0))
    out[runs] = np.sign(step[runs])
    return out, moving[:, is_open] if is_open.any() else None


def _fit_many(likelihood: TableLikelihood, target: FloatArray) -> TableFit:
    """Fit a model with many parameters or cells, without a matrix and without standard errors."""
    structure = likelihood.structure
    there, gap, converged, steps = climb(likelihood, _main_effects(structure, target))
    return TableFit(
        theta=there.theta,
        w=there.w,
        loglik=there.value,
        cov=None,
        df=structure.size,
        gap=gap,
        converged=converged,
        is_maximum=converged,
        steps=steps,
        maxima=(there.value,),
        starts=1,
        infinite=np.zeros(structure.size),
        price=np.full(structure.size, np.nan),
    )


def _main_effects(structure: Structure, w: FloatArray) -> FloatArray:
    """Return the parameters of the independence model with the margins of shares w."""
    theta = np.zeros(structure.size)
    table = w.reshape(structure.shape)
    for term, part in zip(structure.terms, structure.parts, strict=True):
        if len(term) == 1:
            k = term[0]
            share = np.maximum(table.sum(axis=tuple(j for j in range(table.ndim) if j != k)), 1e-4)
            logs = np.log(share / share[structure.baselines[k]])
            theta[part] = np.delete(logs, structure.baselines[k])
    return theta


def toward_independence(structure: Structure, w: FloatArray) -> FloatArray:
    """Return shares of the model halfway between shares and those of independent variables with the same margins."""
    alone = softmax(structure.apply(_main_effects(structure, w)))
    return softmax(structure.apply(project(structure, (w + alone) / 2)))


def project(structure: Structure, target: FloatArray) -> FloatArray:
    """Return the parameters with the margins of given shares: the fit if these were observed directly.

    The shares are moved slightly toward independence, so that all parameters are finite.
    """
    theta = _main_effects(structure, target)
    v = (1 - _LIFT) * target + _LIFT * softmax(structure.apply(theta))
    means, Z = structure.adjoint(v), structure.rows
    value = _cross(structure, theta, v)
    for _ in range(50):
        w = softmax(structure.apply(theta))
        g = means - structure.adjoint(w)
        centered = Z - (Z @ w)[:, None]
        H = (centered * w) @ centered.T
        try:
            step: Any = cho_solve(cho_factor(H + 1e-12 * np.eye(len(H))), g)
        except LinAlgError:
            break
        if float(g @ step) < 1e-8:
            break
        length = min(1.0, 6.0 / max(float(np.abs(structure.apply(step)).max()), 1e-9))
        while length > 1e-6 and (there := _cross(structure, theta + length * step, v)) < value:
            length /= 2
        if length <= 1e-6:
            break
        theta, value = theta + length * step, there
    return theta


def _cross(structure: Structure, theta: FloatArray, v: FloatArray) -> float:
    eta = structure.apply(theta)
    top = eta.max()
    return float(v @ eta - top - np.log(np.exp(eta - top).sum()))
