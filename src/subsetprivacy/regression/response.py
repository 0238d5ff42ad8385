"""A private response in memory: from codes and a matrix to a regression."""

from typing import Any, Literal

import numpy as np
from attrs import evolve

from subsetprivacy._choices import WeightsKind
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy._words import people
from subsetprivacy.data import check_allowed
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NoDataError, warn_of
from subsetprivacy.messages.for_regression import LOGIT_FAMILY
from subsetprivacy.regression.blocks import Blocks, InMemoryBlocks, grouped
from subsetprivacy.regression.caveats import warned_notes
from subsetprivacy.regression.covariance import SamplingCovariance
from subsetprivacy.regression.crossvalidation import choose_lasso, choose_ridge
from subsetprivacy.regression.fitting import OnStep, fit
from subsetprivacy.regression.inputs import read_clusters, read_offset, read_weights, used_rows
from subsetprivacy.regression.problem import CovariateColumns, Options, make_problem, require_response
from subsetprivacy.regression.result import FittedPeople, Regression
from subsetprivacy.sampling import Sampling

CHOSEN = "cv"  # given instead of a penalty: choose it by cross-validation


def fit_response(
    name: str,
    codes: IntArray,
    design: Design,
    X: FloatArray,
    columns: CovariateColumns,
    options: Options,
    *,
    table: Any = None,
    weights: Any = None,
    weights_kind: WeightsKind | None = None,
    clusters: Any = None,
    offset: Any = None,
    sampling: Sampling | None = None,
    ridge: float | Literal["cv"] = 0.0,
    lasso: float | Literal["cv"] = 0.0,
    on_step: OnStep | None = None,
    stacklevel: int = 2,
) -> Regression:
    """Fit a private response to covariates in memory.

    Parameters
    ----------
    name, codes, design
        The response: its name, a code for each person, and the design.
    X, columns
        The matrix of covariates, shape (n, d), and a description of its columns.
    options
        The options of the fit.
    table
        The covariates as given, for effects and adjusted shares.
    weights, weights_kind, clusters, offset
        One for each person, as in `regress`.
    sampling
        How people were drawn, instead of weights and clusters.
    ridge, lasso
        Penalties, or ``"cv"``.
    """
    n = len(codes)
    if len(X) != n:
        raise MismatchError(f"covariates must have a row for each person; got {len(X)} rows for {people(n)}.")
    require_response(design)
    try:
        check_allowed(codes, design)
    except CodeError as error:
        raise CodeError(f"{name}: {error.message}", error.advice) from None
    if sampling is not None:
        sampling = sampling.of_people(n)
        weights, weights_kind = sampling.weights, "sampling"
    weight, frequency = read_weights(weights, weights_kind, n)
    answered = ~design.is_missing(codes)
    if weight is not None:
        answered &= weight > 0
    missing = float(n - answered.sum()) if weight is None else float(weight[design.is_missing(codes)].sum())
    if not answered.any():
        raise NoDataError("`data` must contain at least one informative subset; got none.")
    cluster = read_clusters(clusters, n)
    shift = read_offset(offset, n, used_rows(weights, sampling, n))
    if not answered.all():
        X, codes = X[answered], codes[answered]
        weight, cluster, shift = (None if each is None else each[answered] for each in (weight, cluster, shift))
    if cluster is not None:
        cluster = np.unique(cluster, return_inverse=True)[1]
        if cluster.max() < 1:
            raise ArgumentError("`clusters` must have at least two clusters; got one.")
    rows = FittedPeople(table, None if answered.all() else answered, X, codes, weight)
    if options.family == "ordinal" and columns.intercept is not None:
        X = np.ascontiguousarray(np.delete(X, columns.intercept, axis=1))
        columns = columns.without_intercept()
    scaled = weight if weight is None or frequency else weight * (len(weight) / weight.sum())
    drawn = (
        None
        if sampling is None or weight is None
        else SamplingCovariance(sampling, answered, len(weight) / float(weight.sum()))
    )
    sample = InMemoryBlocks(X, codes, design, scaled, shift)
    reported = sample.amounts()
    if cluster is None and (weight is None or frequency):
        sample = grouped(sample)
    made = fit_sample(
        name,
        sample,
        columns,
        options,
        *reported,
        rows=len(codes),
        frequency=frequency,
        clusters=cluster,
        drawn=drawn,
        ridge=ridge,
        lasso=lasso,
        on_step=on_step,
    )
    kind: WeightsKind | None = None if weights is None else "frequency" if frequency else "sampling"
    made = evolve(made, n_missing=missing, weighted=kind, clusters=cluster, sampling=sampling, fitted_people=rows)
    for note in warned_notes(made):
        warn_of(note, stacklevel=stacklevel)
    return made


def fit_sample(
    name: str,
    blocks: Blocks,
    columns: CovariateColumns,
    options: Options,
    codes: IntArray,
    amounts: FloatArray,
    *,
    rows: float,
    frequency: bool = True,
    clusters: IntArray | None = None,
    drawn: SamplingCovariance | None = None,
    ridge: float | Literal["cv"] = 0.0,
    lasso: float | Literal["cv"] = 0.0,
    on_step: OnStep | None = None,
) -> Regression:
    """Fit people in blocks, in memory or elsewhere.

    Parameters
    ----------
    codes, amounts
        The distinct codes, and the total weight of the people who reported each.
    rows
        The number of people.
    """
    _check_penalties(options, ridge, lasso)
    amounts_asked = [1.0 if isinstance(each, str) else float(each) for each in (ridge, lasso)]
    asked = evolve(options, ridge=amounts_asked[0], lasso=amounts_asked[1])
    problem = make_problem(blocks, columns, asked, codes, amounts, rows=rows)
    chosen = {}
    if ridge == CHOSEN:
        choice = choose_ridge(problem)
        problem, chosen = evolve(problem, options=evolve(asked, ridge=choice.penalty)), {"ridge": choice.to_dict()}
    elif lasso == CHOSEN:
        choice = choose_lasso(problem)
        problem, chosen = evolve(problem, options=evolve(asked, lasso=choice.penalty)), {"lasso": choice.to_dict()}
    result = fit(problem, frequency=frequency, clusters=clusters, drawn=drawn, on_step=on_step)
    return Regression(name, problem, result, clusters=clusters, chosen=chosen)


def _check_penalties(options: Options, ridge: Any, lasso: Any) -> None:
    """Raise unless at most one penalty is given and it is compatible with the other options."""
    for name, value in (("ridge", ridge), ("lasso", lasso)):
        fine = value == CHOSEN if isinstance(value, str) else not isinstance(value, bool) and np.isreal(value)
        if not fine or (not isinstance(value, str) and not 0 <= value < np.inf):
            raise ArgumentError(f"`{name}` must be a number of at least 0, or 'cv'; got something else.")
    penalties = [each for each in (ridge, lasso) if each == CHOSEN or each > 0]
    if len(penalties) + options.shrink > 1:
        raise ArgumentError("only one of `ridge`, `lasso` and `shrink` must be given; got more than one.")
    if lasso != 0 and options.family == "ordinal":
        raise ArgumentError("`lasso` must be 0 for ordered categories; got a penalty.", LOGIT_FAMILY)
    if penalties and options.method == "corrected":
        raise ArgumentError("`method` must be 'ml' with a penalty; got 'corrected'.")
