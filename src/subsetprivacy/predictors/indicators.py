r"""Unbiased indicators of private cells, with a working distribution from everything observed about a person.

The indicators are unbiased for any working distribution w(v, y). The better it predicts the cell, the smaller the
variance of the estimates. It therefore comes from a logit of the cell on the observed columns and the outcome, fitted
to some of the people and rounded to one of 64 distributions, each with a table of indicators.
"""

from typing import cast

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.estimation.indicator import IndicatorTable, most_blocks, rows_of
from subsetprivacy.estimation.quantizing import nearest, quantize
from subsetprivacy.predictors.people import CellPeople, PeopleBlock
from subsetprivacy.regression.blocks import InMemoryBlocks
from subsetprivacy.regression.corrected import BLOCKS
from subsetprivacy.regression.models import Model
from subsetprivacy.regression.problem import (
    CovariateColumns,
    CovariateEncoder,
    Options,
    ResponseProblem,
    dependent_columns,
    make_problem,
)
from subsetprivacy.regression.solver import maximize
from subsetprivacy.regression.starting import shares_of_all

_SAMPLE = 20_000  # number of people in the fit of the working model
_TABLE = 1 << 22  # largest table of all indicators, in entries
_FINE = 1e-4  # tolerance of the working model, which does not have to be exact
_PER_PARAMETER = 2.0  # with fewer people per parameter, everyone has the same working distribution


@frozen(eq=False, repr=False)
class Features:
    """The standardized inputs of a working distribution: observed columns and the outcome, if it is not private.

    Attributes
    ----------
    columns
        The columns of V that are used.
    powers
        The powers of the outcome that are used.
    center, scale
        The center and scale of these columns and powers.
    y_center, y_scale
        The center and scale of the outcome before taking powers, because powers of a large number are nearly multiples.
    """

    columns: IntArray
    powers: tuple[int, ...]
    center: FloatArray
    scale: FloatArray
    y_center: float = 0.0
    y_scale: float = 1.0

    def of(self, V: FloatArray, y: FloatArray | None) -> FloatArray:
        """Return the features with a constant, shape (m, 1 + features)."""
        raw = _raw(V, None if y is None else (y - self.y_center) / self.y_scale, self.columns, self.powers)
        out = np.empty((len(V), 1 + raw.shape[1]))
        out[:, 0] = 1.0
        np.subtract(raw, self.center, out=out[:, 1:])
        out[:, 1:] /= self.scale
        return out


def _raw(V: FloatArray, y: FloatArray | None, columns: IntArray, powers: tuple[int, ...]) -> FloatArray:
    seen = V[:, columns]
    if y is None or not powers:
        return seen
    return np.concatenate([seen, np.stack([y**k for k in powers], axis=1)], axis=1)


def features_of(V: FloatArray, y: FloatArray | None, powers: tuple[int, ...]) -> Features:
    """Return linearly independent features."""
    everything = np.arange(V.shape[1])
    y_center, y_scale = (0.0, 1.0) if y is None or not len(y) else (float(y.mean()), float(y.std()) or 1.0)
    raw = _raw(V, None if y is None else (y - y_center) / y_scale, everything, powers)
    center, scale = raw.mean(axis=0), raw.std(axis=0)
    varies = np.flatnonzero(scale > 1e-7 * np.abs(center))
    standard = (raw[:, varies] - center[varies]) / scale[varies]
    lost = dependent_columns(standard.T @ standard / max(len(raw), 1))
    kept = np.delete(varies, lost)
    seen, more = kept[kept < V.shape[1]], kept[kept >= V.shape[1]] - V.shape[1]
    return Features(seen, tuple(powers[k] for k in more), center[kept], scale[kept], y_center, y_scale)


@frozen(eq=False, repr=False)
class CellModel:
    """A logit of the private cell given features.

    Attributes
    ----------
    features
        The features that the logit depends on.
    model, theta
        The logit and its parameters.
    """

    features: Features
    model: Model
    theta: FloatArray

    def shares(self, V: FloatArray, y: FloatArray | None) -> FloatArray:
        """Return the distribution of each person's cell, shape (cells, m)."""
        return self.model.link.shares(self.model.predictors(self.theta, self.features.of(V, y)))


def cell_problem(people: CellPeople, features: Features) -> ResponseProblem:
    """Return the prepared problem of the private cell given features."""
    y = None if people.private_outcome else people.y
    names = tuple(f"f{k}" for k in range(1 + len(features.center)))
    columns = CovariateColumns(names, {name: (k,) for k, name in enumerate(names)}, 0, cast(CovariateEncoder, None))
    sample = InMemoryBlocks(features.of(people.V, y), people.codes, people.design, people.weight)
    return make_problem(sample, columns, Options(shrink=True, starts=1), *sample.amounts(), rows=len(people))


def fit_cells(people: CellPeople, powers: tuple[int, ...]) -> CellModel | None:
    """Fit the working model to some of the people, or return None if there are too few."""
    some = people.some(_SAMPLE)
    features = features_of(some.V, None if some.private_outcome else some.y, powers)
    if len(some) < _PER_PARAMETER * (1 + len(features.center)) * (people.design.p - 1):
        return None
    problem = cell_problem(some, features)
    objective = problem.objective()
    result = maximize(objective, problem.coordinates(objective), problem.start(), polish=False, tolerance=_FINE)
    return CellModel(features, objective.model, result.theta)


class Indicators:
    """The indicators of people's cells.

    Parameters
    ----------
    people
        The people.
    table
        The indicators of the design.
    number
        The number of each person's working distribution; None if all have the same.
    """

    def __init__(self, people: CellPeople, table: IndicatorTable, number: IntArray | None) -> None:
        self.people, self.table = people, table
        self._number = None if table.ignores_w or table.blocks == 1 else number
        self._listed: FloatArray | None = None
        blocks = 1 if self._number is None else table.blocks
        if blocks * len(people.distinct) * people.design.p <= _TABLE:
            self._listed = self._tabulated(blocks)
        self._at = people.index
        if self._number is not None and self._listed is not None:
            self._at = self._number.astype(np.int32) * np.int32(len(people.distinct)) + people.index

    def _tabulated(self, blocks: int) -> FloatArray:
        """Return the indicators of every working distribution and subset, shape (cells, blocks * subsets)."""
        rows = rows_of(self.people.distinct, self.people.design)
        parts = [self.table.of(rows, np.full(rows.shape[1], b)) for b in range(blocks)]
        return np.concatenate(parts, axis=1)

    def __call__(self, part: slice) -> FloatArray:
        """Return the indicators of some people, shape (cells, m)."""
        if self._listed is not None:
            return np.take(self._listed, self._at[part], axis=1)
        number = None if self._number is None else self._number[part]
        return self.table.of(self.people.rows(part), number)


def working_indicators(people: CellPeople, powers: tuple[int, ...]) -> Indicators:
    """Return indicators of people's cells, with working distributions given everything observed."""
    design = people.design
    cells = fit_cells(people, powers) if design.enumerable else None
    if cells is None:
        amounts = np.bincount(people.index, people.weight, minlength=len(people.distinct)).astype(np.float64)
        return Indicators(people, IndicatorTable(design, shares_of_all(people.distinct, amounts, design)), None)
    some = people.some(_SAMPLE)
    shares = _shares(cells, some, some.block(slice(0, len(some))))
    centers = quantize(np.ascontiguousarray(shares.T), min(BLOCKS, most_blocks(design.p)))[0]
    table = IndicatorTable(design, centers)
    number = np.empty(len(people), np.int16)
    for block in people.blocks():
        number[block.part] = nearest(np.ascontiguousarray(_shares(cells, people, block).T), table.w)
    return Indicators(people, table, number)


def _shares(cells: CellModel, people: CellPeople, block: PeopleBlock) -> FloatArray:
    return cells.shares(block.V, None if people.private_outcome else block.y[0])
