"""`impute`: draw several completed sets of values, given each person's subset."""

from typing import Any

import numpy as np

from subsetprivacy._checks import check_count, shown
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import ArrayLike, FloatArray, IntArray, Seed
from subsetprivacy.counting.columns import read_column
from subsetprivacy.data import SubsetData, SubsetTable, check_allowed
from subsetprivacy.design import Design
from subsetprivacy.engines import refuse_counts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.indicator import rows_of
from subsetprivacy.imputation.models import (
    ImputationModel,
    check_possible,
    given_model,
    regression_model,
    shares_model,
)
from subsetprivacy.imputation.result import Imputations
from subsetprivacy.messages.for_analyses import PEOPLE_ONLY, PROBABILITIES_OR_FIT
from subsetprivacy.regression.result import Regression
from subsetprivacy.subsets import name_of
from subsetprivacy.variables import JointCategories

_CHUNK = 1 << 15  # people at a time


def impute(
    data: SubsetData | SubsetTable | ArrayLike,
    m: int = 20,
    given: Any = None,
    *,
    design: Design | None = None,
    name: str | None = None,
    prior: float = 0.5,
    seed: Seed | None = None,
) -> Imputations:
    r"""Draw several completed sets of private values, given each person's subset.

    Fit any model of any library to each set, and combine the fits with `pool`. The pooled estimate is valid if the
    imputation model includes what the analysis uses. For the effect of race on income, impute race given income.

    Parameters
    ----------
    data
        A subset per person: `SubsetData`, or codes with their `design`. The variables of a `SubsetTable` are drawn
        together, from their joint distribution.
    m
        The number of sets.
    given
        What the values depend on besides the subset. With None, everyone has the same distribution, estimated from the
        data. Otherwise a `Regression` of the private value, fitted to the same people, whose covariates include
        everything that the analysis uses, including the outcome. Or probabilities: an array or data frame with a row
        per person and a column per category, or an array of shape (m, n, p) with probabilities for each set.
    design
        The design of codes; by default that of the fit.
    name
        The name of the variable; by default that of the fit or of the data, or "value".
    prior
        Without `given`, the number of people that the prior adds to each category.
    seed
        A number or a NumPy generator. By default the draw is not repeatable.

    Returns
    -------
    Imputations
        The sets. Their values are guesses about individuals, and are marked as such.

    Raises
    ------
    MismatchError
        If the fit or the probabilities are not of these people.
    ArgumentError
        If a fit has infinite coefficients, or the data contain dummy rows.
    DistributionError
        If probabilities rule out every value of someone's subset.

    Notes
    -----
    For each set, the parameters are drawn from their posterior, and then each person's value from
    :math:`P(X = j \mid A, x) \propto r_A(j)\, p_j(x)`, so that the sets reflect the uncertainty (Rubin 1987). Without
    `given`, data augmentation draws from the posterior of the shares under a Dirichlet prior, which is exact even near
    0. With a regression, the posterior is approximated by a normal distribution with the fit's covariance. A drawn
    value is always one that the person's subset allows.

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> rng = np.random.default_rng(1)
    >>> race = rng.choice(["a", "b", "c", "d"], 3000, p=[0.4, 0.3, 0.2, 0.1])
    >>> income = rng.normal(size=3000) + (race == "b")
    >>> data = sp.privatize(race, sp.uniform(["a", "b", "c", "d"]), seed=1)
    >>> fit = sp.regress(data, {"income": income})
    >>> imputed = sp.impute(data, m=10, given=fit, name="race", seed=1)
    >>> imputed
    <Imputations: 10 sets of race of 3,000 people, guesses and not people's values>
    >>> means = [
    ...     (frame["income"][frame["race_imputed"] == "b"].mean(), frame["income"].var() / 900)
    ...     for frame in imputed.frames({"income": income})
    ... ]
    >>> sp.pool(means).estimates.round(1)
    array([1.1])
    """
    check_count(m, "m", least=2)
    codes, design_of_codes = _people(data, given, design)
    rng = numpy_generator(seed)
    model = _model(given, codes, design_of_codes, m, _read_prior(prior), rng)
    values = draw_values(model, codes, design_of_codes, m, rng)
    joint = isinstance(design_of_codes.categories, JointCategories)
    if joint and name is not None:
        raise ArgumentError("`name` must be left out for several variables, which have names.")
    named = given.name if isinstance(given, Regression) and given.name != "response" else name_of(data) or "value"
    names = (
        design_of_codes.categories.names
        if isinstance(design_of_codes.categories, JointCategories)
        else (name or named,)
    )
    return Imputations(names, design_of_codes.categories, values, model.description, model.notes)


def _people(data: Any, given: Any, design: Design | None) -> tuple[IntArray, Design]:
    """Return the codes of the people and their design."""
    if design is None and isinstance(given, Regression) and not isinstance(data, (SubsetData, SubsetTable)):
        design = given.problem.design
    refuse_counts(data)
    codes, design_of_codes = read_column(data, design)
    check_allowed(codes, design_of_codes)
    if design_of_codes.covered is not None:
        raise ArgumentError(
            "`data` must contain people only; got a covered design, whose dummy rows have no value.", PEOPLE_ONLY
        )
    if design_of_codes.is_known:
        design_of_codes.require_identifiable()
    return codes, design_of_codes


def _read_prior(prior: Any) -> float:
    if isinstance(prior, bool) or not isinstance(prior, (int, float, np.number)) or not 0 < prior < np.inf:
        got = shown(prior) if isinstance(prior, (int, float)) else type(prior).__name__
        raise ArgumentError(f"`prior` must be a number above 0; got {got}.")
    return float(prior)


def _model(
    given: Any, codes: IntArray, design: Design, m: int, prior: float, rng: np.random.Generator
) -> ImputationModel:
    if given is None:
        return shares_model(codes, design, m, prior, rng)
    if isinstance(given, Regression):
        return regression_model(given, codes, design, m, rng)
    if isinstance(given, (str, bytes, dict)) or not hasattr(given, "__len__"):
        raise ArgumentError(
            f"`given` must be a Regression or probabilities for each person; got {type(given).__name__}.",
            PROBABILITIES_OR_FIT,
        )
    return given_model(given, design, len(codes), m)


def draw_values(model: ImputationModel, codes: IntArray, design: Design, m: int, rng: np.random.Generator) -> IntArray:
    """Return m draws of each person's value given the subset, as category positions, shape (m, n)."""
    values = np.empty((m, len(codes)), np.int16 if design.p < 1 << 15 else np.int32)
    for start in range(0, len(codes), _CHUNK):
        part = slice(start, min(start + _CHUNK, len(codes)))
        distinct, at = np.unique(codes[part], return_inverse=True)
        rows = rows_of(distinct, design).T[at]
        for k in range(m):
            q = model.probabilities(k, part) * rows
            check_possible(q.sum(axis=1), start)
            values[k, part] = _categorical(q, rng)
    return values


def _categorical(q: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return a draw from each row of weights. An entry with weight 0 is never drawn."""
    reached = np.cumsum(q, axis=1)
    # Stay below the last sum despite rounding: the first sum that exceeds it belongs to a positive weight.
    place = np.minimum(rng.random(len(q)) * reached[:, -1], np.nextafter(reached[:, -1], 0.0))
    return np.asarray((reached > place[:, None]).argmax(axis=1))
