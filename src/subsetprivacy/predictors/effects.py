r"""Predictions of an outcome, adjusted means and marginal effects, with standard errors.

A mean over the fitted people is :math:`\frac1n\sum_i\sum_j D_{ij}\,\mu(x_{it(j)}^\top\theta)`, where t(j) is the cell
j, possibly with one private predictor set to a category. Its standard error, from each person's influence, includes the
variation of the coefficients, of the people and of the draws of their subsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from subsetprivacy._choices import PredictedQuantity
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_regression import FITTED_FROM_A_TABLE
from subsetprivacy.predictors.atoms import Atoms
from subsetprivacy.predictors.fitting import corrected_objective, mixture_objective, rare_combinations
from subsetprivacy.predictors.influence import Scores, covariance_of
from subsetprivacy.regression.blocks import BLOCK
from subsetprivacy.regression.prediction import MarginalEffects, Prediction, row_names
from subsetprivacy.tables import label_text

if TYPE_CHECKING:
    from subsetprivacy.predictors.people import PeopleBlock
    from subsetprivacy.predictors.result import OutcomeRegression

_STEP = 1e-4  # step of a numerical derivative, in standard deviations
_QUANTITIES: dict[str, PredictedQuantity] = {"linear": "mean", "logit": "share", "poisson": "count"}


def labels_of(fit: OutcomeRegression) -> tuple[Label, ...]:
    """Return the categories of a private outcome, baseline first, or the name of the outcome."""
    return (fit.response,) if fit.problem.categories is None else fit.problem.categories


def _means(fit: OutcomeRegression, U: FloatArray) -> FloatArray:
    """Return means (shares of all categories of a private outcome), shape (means, ...)."""
    M = fit.problem.model.mean(U)
    return np.concatenate([1 - M, M]) if fit.problem.categories is not None and len(M) == 1 else M


def _slopes(fit: OutcomeRegression, U: FloatArray) -> FloatArray:
    """Return the derivatives of the means in the predictors, shape (means, r, ...)."""
    S = fit.problem.model.slopes(U)
    return np.concatenate([-S, S]) if fit.problem.categories is not None and len(S) == 1 else S


def predict_rows(fit: OutcomeRegression, V: FloatArray, cells: IntArray, offset: FloatArray | None) -> Prediction:
    """Predict the outcome of rows whose private cells are known."""
    X = fit.layout.expand(V, cells)
    theta = fit.fit.theta.reshape(fit.problem.model.predictors, -1)
    estimate, errors = np.empty((len(V), len(labels_of(fit)))), np.full((len(V), len(labels_of(fit))), np.nan)
    cov = fit._usable_cov
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        U = theta @ X[part].T + (0.0 if offset is None else offset[part])
        estimate[part] = _means(fit, U).T
        if cov is None:
            continue
        for k, slopes in enumerate(_slopes(fit, U)):
            G = (slopes[:, None] * X[part].T).reshape(len(cov), -1)
            errors[part, k] = np.sqrt(np.maximum(np.einsum("sm,sm->m", cov @ G, G), 0.0))
    uses = (X != 0) @ fit.fit.rare.reshape(len(theta), -1).any(axis=0)
    estimate[uses], errors[uses] = np.nan, np.nan
    return Prediction("row", row_names(range(len(V))), labels_of(fit), estimate, errors, fit.n, **_stated(fit))


def _stated(fit: OutcomeRegression) -> dict[str, Any]:
    """Return the facts that all predictions share."""
    is_share = fit.modeled is not None or fit.categories is not None
    return {"quantity": "share" if is_share else _QUANTITIES[fit.family], "degrees_of_freedom": fit.degrees_of_freedom}


@frozen(eq=False, repr=False)
class Average:
    """A mean over people.

    Attributes
    ----------
    value
        Shape (means,).
    each
        Each person's part, shape (n, means).
    gradient
        Shape (means, parameters).
    by_cell
        Each person's part if the private cell were known, shape (private cells, n, means), in a sample from a finite
        population.
    """

    value: FloatArray
    each: FloatArray
    gradient: FloatArray
    by_cell: FloatArray | None = None

    def __sub__(self, other: Average) -> Average:
        cells = None if self.by_cell is None or other.by_cell is None else self.by_cell - other.by_cell
        return Average(self.value - other.value, self.each - other.each, self.gradient - other.gradient, cells)


@frozen(eq=False, repr=False)
class _Influence:
    """The influence of people on averages: their scores times `pull`, and their centered parts."""

    scores: Scores
    pull: FloatArray
    centered: FloatArray
    by_cell: FloatArray | None

    def __call__(self, block: PeopleBlock) -> FloatArray:
        """Return the influence of some people, shape (m, k)."""
        return self.scores(block) @ self.pull.T + self.centered[block.part]

    def over_draws(self, block: PeopleBlock) -> tuple[Iterator[FloatArray], FloatArray]:
        """Return the mean influence over the draws in each cell, and unbiased indicators."""
        assert self.by_cell is not None
        means, D = self.scores.over_draws(block)
        parts = np.repeat(self.by_cell[:, block.part], len(D) // len(self.by_cell), axis=0)
        return (mean @ self.pull.T + part for mean, part in zip(means, parts, strict=True)), D


def _average(
    fit: OutcomeRegression, V: FloatArray, cells: IntArray | None = None, times: FloatArray | None = None
) -> Average:
    """Return the mean outcome of the people with other observed columns or other private cells.

    Parameters
    ----------
    V
        The observed columns of the people.
    cells
        The replacement of each private cell; None keeps the cells.
    times
        Numbers by which each person's mean is multiplied.
    """
    problem = fit.problem
    people, model, layout = problem.people, problem.model, problem.layout
    Z = layout.Z if cells is None else layout.Z[cells]
    atoms = Atoms(Z, layout.seen, V.shape[1])
    theta = fit.fit.theta.reshape(model.predictors, -1)
    count = len(labels_of(fit))
    each = np.empty((len(people), count))
    gradient = np.zeros((count, len(fit.fit.theta)))
    same = cells is not None and bool((cells == cells[0]).all())
    finite = problem.sampling is not None and problem.sampling.is_finite
    by_cell = np.empty((layout.cells, len(people), count)) if finite else None
    for block in people.blocks():
        rows = V[block.part]
        D = np.zeros((layout.cells, len(rows)))
        if same:
            D[0] = 1.0
        else:
            D = problem.indicators(block.part).reshape(layout.cells, people.outcomes, -1).sum(axis=1)
        if times is not None:
            D = D * times[block.part]
        U = atoms.predictors(theta, rows, block.offset)
        means = _means(fit, U)
        each[block.part] = np.einsum("kjm,jm->mk", means, D)
        if by_cell is not None:
            known = means[:, :1] if same else means
            by_cell[:, block.part] = np.moveaxis(known if times is None else known * times[block.part], 0, -1)
        for k, slopes in enumerate(_slopes(fit, U)):
            A = atoms.collected(slopes * block.weighted(D))
            gradient[k] += atoms.gradient(A, rows).ravel()
    weight = people.weight
    return Average(np.average(each, axis=0, weights=weight), each, gradient / people.n, by_cell)


def _given(fit: OutcomeRegression, averages: Sequence[Average]) -> tuple[FloatArray, FloatArray]:
    """Return means over people and their standard errors, shape (averages, means); NaN if too few determine a mean."""
    shape = (len(averages), len(labels_of(fit)))
    estimate, errors = np.array([average.value for average in averages]).reshape(shape), _errors(fit, averages)
    if averages and fit.fit.rare.any():
        weights = np.concatenate([average.gradient for average in averages])
        rare = rare_combinations(fit.problem, fit.fit, weights).reshape(shape)
        estimate[rare], errors[rare] = np.nan, np.nan
    return estimate, errors


def _errors(fit: OutcomeRegression, averages: Sequence[Average]) -> FloatArray:
    """Return the standard errors of means over people, shape (averages, means)."""
    bread, problem = fit.fit.bread, fit.problem
    shape = (len(averages), len(labels_of(fit)))
    if bread is None or not averages:
        return np.full(shape, np.nan)
    method_is_ml = problem.method == "ml"
    objective: Any = mixture_objective(problem) if method_is_ml else corrected_objective(problem)
    G = np.concatenate([average.gradient for average in averages])
    pull = G @ bread[: G.shape[1]]
    centered = np.concatenate([average.each - average.value for average in averages], axis=1) / problem.n
    cells = [average.by_cell - average.value for average in averages if average.by_cell is not None]
    by_cell = np.concatenate(cells, axis=2) / problem.n if cells else None
    influence = _Influence(Scores(objective, fit.fit.parameters), pull, centered, by_cell)
    cov = covariance_of(problem, influence, len(G))
    return np.sqrt(np.maximum(cov.diagonal(), 0.0)).reshape(shape)


# Adjusted means -----------------------------------------------------------------------------------------------------


def adjusted_means(fit: OutcomeRegression, variable: str, values: Sequence[Any] | None) -> Prediction:
    """Return the mean outcome with a variable set to each of the given values."""
    _require_variable(fit, variable)
    chosen: list[Any]
    if variable in fit.layout.private:
        levels = fit.layout.levels(variable)
        places = {label: j for j, label in enumerate(fit.layout.private[variable].labels)} | levels
        chosen = list(levels) if values is None else list(values)
        unknown = [label for label in chosen if label not in places]
        if unknown:
            known = ", ".join(map(label_text, list(levels)[:12]))
            raise ArgumentError(f"`values` must be categories of {variable} ({known}); got {len(unknown)} others.")
        V = fit.problem.people.V
        averages = [_average(fit, V, _set(fit, variable, places[label])) for label in chosen]
    else:
        seen = _encoder(fit).levels.get(variable)
        default = list(seen) if seen is not None else _quartiles(fit, variable)
        chosen = default if values is None else list(values)
        averages = [_average(fit, _replaced(fit, variable, value)) for value in chosen]
    names = row_names([f"{value:.4g}" if isinstance(value, float) else value for value in chosen])
    return Prediction(variable, names, labels_of(fit), *_given(fit, averages), fit.n, **_stated(fit))


def _set(fit: OutcomeRegression, variable: str, j: int) -> IntArray:
    """Return, for each private cell, the cell with one private predictor set to a category."""
    layout = fit.layout
    at = list(np.unravel_index(np.arange(layout.cells), layout.shape))
    at[list(layout.private).index(variable)] = np.full(layout.cells, j)
    return np.asarray(np.ravel_multi_index(tuple(at), layout.shape))


def _encoder(fit: OutcomeRegression) -> Any:
    encoder = fit.layout.encoder
    if encoder is None or fit.problem.table is None:
        raise ArgumentError("the model must be fitted from a table for this; got arrays.", FITTED_FROM_A_TABLE)
    return encoder


def _require_variable(fit: OutcomeRegression, variable: str) -> None:
    encoder = fit.layout.encoder
    known = [*fit.layout.private, *(() if encoder is None else encoder.variables)]
    if variable not in known:
        raise ArgumentError(f"`variable` must be a variable of the model ({', '.join(known)}); got another one.")


def _replaced(fit: OutcomeRegression, variable: str, value: Any) -> FloatArray:
    """Return the people's observed columns with a variable set to one value, or to a value for each person."""
    encoder = _encoder(fit)
    V: FloatArray = encoder.matrix(encoder.replace_variable(fit.problem.table, variable, value))
    return V if fit.problem.answered is None else V[fit.problem.answered]


def _values(fit: OutcomeRegression, variable: str) -> FloatArray:
    """Return everyone's numbers of an observed variable."""
    return np.asarray(_encoder(fit).frame(fit.problem.table)[variable], np.float64)


def _quartiles(fit: OutcomeRegression, variable: str) -> list[float]:
    column = _values(fit, variable)
    fitted = column if fit.problem.answered is None else column[fit.problem.answered]
    return sorted(set(np.quantile(fitted, [0.25, 0.5, 0.75], method="inverted_cdf").tolist()))


# Marginal effects ---------------------------------------------------------------------------------------------------


def marginal_effects(fit: OutcomeRegression, variables: str | Sequence[str] | None) -> MarginalEffects:
    """Return the mean change of the outcome with each variable."""
    encoder = fit.layout.encoder
    seen = () if encoder is None or fit.problem.table is None else encoder.variables
    wanted = [*seen, *fit.layout.private] if variables is None else variables
    names: list[str] = []
    changes: list[Average] = []
    for variable in [wanted] if isinstance(wanted, str) else wanted:
        _require_variable(fit, variable)
        for name, change in _changes(fit, variable):
            names.append(name)
            changes.append(change)
    return MarginalEffects(tuple(names), labels_of(fit), *_given(fit, changes), fit.n, **_stated(fit))


def _changes(fit: OutcomeRegression, variable: str) -> list[tuple[str, Average]]:
    """Return the changes with one variable: each level compared with the first, or a number by one unit."""
    if variable in fit.layout.private:
        V = fit.problem.people.V
        baseline = fit.layout.level_of(variable, fit.layout.baselines[variable])
        at = {label: _average(fit, V, _set(fit, variable, j)) for label, j in fit.layout.levels(variable).items()}
        others = [label for label in at if label != baseline]
        return [(_instead(variable, label, baseline), at[label] - at[baseline]) for label in others]
    levels = _encoder(fit).levels.get(variable)
    if levels is not None:
        first = _average(fit, _replaced(fit, variable, levels[0]))
        return [
            (_instead(variable, level, levels[0]), _average(fit, _replaced(fit, variable, level)) - first)
            for level in levels[1:]
        ]
    return [(f"{variable} (+1)", _derivative(fit, variable))]


def _instead(variable: str, label: Any, other: Any) -> str:
    return f"{variable}: {label_text(label)} instead of {label_text(other)}"


def _derivative(fit: OutcomeRegression, variable: str) -> Average:
    """Return the mean derivative of the outcome in a number. Zeros and ones are compared directly."""
    column = _values(fit, variable)
    if set(np.unique(column).tolist()) <= {0.0, 1.0}:
        return _average(fit, _replaced(fit, variable, 1.0)) - _average(fit, _replaced(fit, variable, 0.0))
    step, ends = _STEP * (float(column.std()) or 1.0), (column.min(), column.max())
    below, above = (np.clip(column + sign * step, *ends) for sign in (-1, 1))
    times = 1 / (above - below)
    times = times if fit.problem.answered is None else times[fit.problem.answered]
    return _average(fit, _replaced(fit, variable, above), times=times) - _average(
        fit, _replaced(fit, variable, below), times=times
    )
