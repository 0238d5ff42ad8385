"""An outcome and private predictors in memory: from arrays to a regression."""

from typing import Any, get_args

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import OutcomeFamily, RegressionMethod, WeightsKind
from subsetprivacy._types import BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import counted, people
from subsetprivacy.data import check_allowed
from subsetprivacy.design import Design
from subsetprivacy.design.product import Product
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, MismatchError, NoDataError, warn_of
from subsetprivacy.estimation.indicator import require_indicators
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_regression import CENTER_THE_COLUMN, FEWER_TERMS, LEAVE_COLUMNS_OUT
from subsetprivacy.predictors.atoms import Atoms
from subsetprivacy.predictors.caveats import warned_notes
from subsetprivacy.predictors.fitting import fit
from subsetprivacy.predictors.layout import ModelLayout
from subsetprivacy.predictors.people import CellPeople
from subsetprivacy.predictors.problem import OutcomeProblem
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.regression.blocks import BLOCK
from subsetprivacy.regression.inputs import read_clusters, read_offset, read_weights, used_rows
from subsetprivacy.regression.problem import dependent_columns, require_response
from subsetprivacy.regression.solver import OnStep
from subsetprivacy.regression.starting import shares_of_all
from subsetprivacy.sampling import Sampling
from subsetprivacy.tables import label_text
from subsetprivacy.variables import JointCategories

_FAR = 30_000  # a column further from 0, in standard deviations, has the squares of a constant up to rounding
_CONSTANT = 1e-12  # a column that varies by less, relative to its mean, is constant


def most_frequent(codes: IntArray, design: Design) -> Label:
    """Return the category with the largest estimated share, the default baseline of a private predictor."""
    informative = codes[~design.is_missing(codes)]
    distinct, amounts = np.unique(informative, return_counts=True)
    return design.categories.labels[int(shares_of_all(distinct, amounts.astype(np.float64), design).argmax())]


def fit_outcome(
    name: str,
    y: FloatArray | IntArray,
    V: FloatArray,
    codes: IntArray,
    design: Design,
    layout: ModelLayout,
    *,
    family: OutcomeFamily = "linear",
    method: RegressionMethod = "corrected",
    response_design: Design | None = None,
    baseline: Label | None = None,
    weights: Any = None,
    weights_kind: WeightsKind | None = None,
    clusters: Any = None,
    sampling: Sampling | None = None,
    offset: Any = None,
    table: Any = None,
    notes: tuple[Note, ...] = (),
    starts: int | None = None,
    on_step: OnStep | None = None,
    stacklevel: int = 2,
) -> OutcomeRegression:
    """Fit an outcome to observed columns and private predictors in memory.

    Parameters
    ----------
    name, y
        The outcome: its name and a number for each person, or a code for each person with `response_design`.
    V
        The observed columns, shape (n, d), including a column of ones.
    codes, design
        The subsets of the private predictor. For several predictors, the subsets of their `product`, in the order of
        ``layout.private``.
    layout
        The columns of the model.
    family
        ``"linear"``, ``"logit"`` (an outcome of 0 and 1, or a private outcome) or ``"poisson"`` (counts).
    method
        ``"corrected"`` (default) or ``"ml"``.
    response_design, baseline
        The design of a private outcome and its baseline category. The default baseline is the most frequent category,
        or the first of two categories, so that the other is modeled.
    weights, weights_kind, clusters, sampling, offset
        One for each person, as in `regress`; `sampling` replaces weights and clusters.
    table
        The observed columns as given, for adjusted values and effects.
    notes
        Notes that the result shows first.
    starts
        The number of starts of the likelihood; None chooses it by the size of the sample.
    """
    check_choice(family, get_args(OutcomeFamily), "family")
    check_choice(method, get_args(RegressionMethod), "method")
    sampling = None if sampling is None else sampling.of_people(len(codes))
    answers = _answers(name, y, V, codes, design, layout, family, method, response_design, baseline)
    weight, kind = _weights(weights, weights_kind, clusters, sampling, len(codes))
    cluster, shift = (
        read_clusters(clusters, len(codes)),
        read_offset(offset, len(codes), used_rows(weights, sampling, len(codes))),
    )
    answered = ~answers.missing if weight is None else ~answers.missing & (weight > 0)
    if not answered.any():
        raise NoDataError("`data` must contain at least one informative subset; got none.")
    if answers.categories is None:
        _check_varies(name, answers.y[answered])
    missing = float(answers.missing.sum() if kind != "frequency" or weight is None else weight[answers.missing].sum())
    if weight is not None and kind == "sampling":
        weight = weight * (answered.sum() / weight[answered].sum())
    kept = None if answered.all() else answered
    sample = _sample(answers, V, layout, weight, None if shift is None else shift[:, 0], kept)
    _check_columns(sample)
    if cluster is not None:
        cluster = np.unique(_part(cluster, kept), return_inverse=True)[1]
        if cluster.max() < 1:
            raise ArgumentError("`clusters` must have at least two clusters; got one.")
    problem = OutcomeProblem(
        sample, family, method, answers.categories, kept, kind, cluster, sampling, starts=starts, table=table
    )
    made = OutcomeRegression(name, problem, fit(problem, on_step=on_step), missing, notes)
    for note in warned_notes(made):
        warn_of(note, stacklevel=stacklevel)
    return made


@frozen(eq=False, repr=False)
class _Answers:
    """Everyone's outcomes (by cell if private), the codes of their cells, and who did not answer."""

    y: FloatArray
    codes: IntArray
    design: Design
    missing: BoolArray
    categories: tuple[Label, ...] | None


def _answers(
    name: str,
    y: FloatArray | IntArray,
    V: FloatArray,
    codes: IntArray,
    design: Design,
    layout: ModelLayout,
    family: OutcomeFamily,
    method: RegressionMethod,
    response_design: Design | None,
    baseline: Label | None,
) -> _Answers:
    """Return checked outcomes and subsets. With a private outcome, subsets join predictors and outcome."""
    n = len(codes)
    if V.shape != (n, len(layout.V_names)) or len(y) != n:
        raise MismatchError(
            f"outcome and observed columns must have a row per person; got {len(y)} and {len(V)} rows for {people(n)}."
        )
    if design.p != layout.cells:
        raise MismatchError(f"`layout` must be of the {design.p} categories of the design; got {layout.cells} cells.")
    _check_codes(codes, design, method)
    missing = design.is_missing(codes)
    if response_design is None:
        return _Answers(_checked_outcome(name, np.asarray(y, np.float64), family), codes, design, missing, None)
    if family != "logit":
        raise ArgumentError(f"`family` must be 'logit' for a private outcome; got {family!r}.")
    response: IntArray = np.asarray(y, np.int64)
    _check_codes(response, response_design, method)
    silent = response_design.is_missing(response)
    order = _order(response[~silent], response_design, baseline)
    categories = tuple(response_design.categories.labels[k] for k in order)
    by_cell = np.tile(np.argsort(order).astype(np.float64), layout.cells)
    return _Answers(by_cell, *_joined(codes, design, response, response_design), missing | silent, categories)


def _sample(
    answers: _Answers,
    V: FloatArray,
    layout: ModelLayout,
    weight: FloatArray | None,
    offset: FloatArray | None,
    kept: BoolArray | None,
) -> CellPeople:
    """Return the people with informative subsets."""
    private = answers.categories is not None
    return CellPeople(
        _part(V, kept),
        answers.y if private else _part(answers.y, kept),
        _part(answers.codes, kept),
        answers.design,
        layout,
        private_outcome=private,
        weight=_part(weight, kept),
        offset=_part(offset, kept),
    )


# Checks -------------------------------------------------------------------------------------------------------------


def _check_codes(codes: IntArray, design: Design, method: RegressionMethod) -> None:
    """Raise unless the codes belong to a design that allows this regression."""
    require_response(design)
    if method == "corrected":
        require_indicators(design)
    name = ", ".join(design.categories.names) if isinstance(design.categories, JointCategories) else "subsets"
    try:
        check_allowed(codes, design)
    except CodeError as error:
        raise CodeError(f"{name}: {error.message}", error.advice) from None


def _weights(
    weights: Any, kind: WeightsKind | None, clusters: Any, sampling: Sampling | None, n: int
) -> tuple[FloatArray | None, WeightsKind | None]:
    """Return the weight of each person, and the meaning of the weights."""
    if sampling is None:
        weight, frequency = read_weights(weights, kind, n)
        return weight, None if weight is None else "frequency" if frequency else "sampling"
    if weights is not None or clusters is not None:
        raise ArgumentError("`weights` and `clusters` must be left out with `sampling`; got both.")
    return sampling.weights, "sampling"


def _checked_outcome(name: str, y: FloatArray, family: OutcomeFamily) -> FloatArray:
    """Return the outcome if it suits the family."""
    bad = ~np.isfinite(y)
    if bad.any():
        raise ArgumentError(
            f"the outcome {name} must be known and finite; got {counted(bad.sum(), 'row')} that {_is(bad)} not, first "
            f"in row {int(bad.argmax())}."
        )
    if family == "logit":
        bad, what = (y != 0) & (y != 1), "0 or 1 for a logit"
    elif family == "poisson":
        bad, what = (y < 0) | (y != np.floor(y)), "a count, a whole number of at least 0, for a Poisson model"
    if bad.any():
        raise ArgumentError(
            f"the outcome {name} must be {what}; got {counted(bad.sum(), 'row')} that {_is(bad)} not, first in row "
            f"{int(bad.argmax())}."
        )
    return y


def _check_varies(name: str, y: FloatArray) -> None:
    if (y == y[0]).all():
        raise NoDataError(f"the outcome {name} must vary; got the same for everyone.")


def _is(bad: BoolArray) -> str:
    return "is" if bad.sum() == 1 else "are"


def _order(codes: IntArray, design: Design, baseline: Label | None) -> IntArray:
    """Return the positions of a private outcome's categories, baseline first."""
    labels = design.categories.labels
    if baseline is None:
        baseline = labels[0] if design.p == 2 else most_frequent(codes, design)
    if baseline not in labels:
        known = ", ".join(map(label_text, labels[:12]))
        raise CategoryError(f"`baseline` must be one of the categories ({known}); got another label.")
    at = labels.index(baseline)
    return np.array([at, *(k for k in range(design.p) if k != at)])


def _joined(codes: IntArray, design: Design, response: IntArray, other: Design) -> tuple[IntArray, Design]:
    """Return joint codes of private predictors and outcome, and the product of their designs."""
    several = design.product
    factors = [design] if several is None else list(several.factors)
    parts = [codes] if several is None else several.split(codes)
    names = (f"x{k}" for k in range(10_000))  # never shown
    named = {tuple(next(names) for _ in range(_variables(each))): each for each in [*factors, other]}
    both = Product.of(named)
    return both.join([*parts, response]), both


def _variables(design: Design) -> int:
    return len(design.categories.names) if isinstance(design.categories, JointCategories) else 1


def _part(values: Any, kept: BoolArray | None) -> Any:
    return values if values is None or kept is None else values[kept]


def _check_far(people_: CellPeople) -> None:
    """Raise if an observed column is so far from 0 that rounding makes its squares constant."""
    layout, V = people_.layout, people_.V
    used = [k for k in np.unique(layout.seen).tolist() if k != layout.constant]
    ratio = {k: float(V[:, k].std()) / max(abs(float(V[:, k].mean())), 1e-300) for k in used}
    far = [layout.V_names[k] for k in used if _CONSTANT < ratio[k] < 1 / _FAR]
    if far:
        raise ArgumentError(
            f"an observed column must vary by more than 1/{_FAR} of its mean; got {', '.join(far)}.", CENTER_THE_COLUMN
        )


def _check_columns(people_: CellPeople) -> None:
    """Raise if observed columns are not finite, or columns of the model are combinations of each other."""
    layout = people_.layout
    atoms = Atoms(layout.Z, layout.seen, people_.V.shape[1])
    M = np.zeros((atoms.C, atoms.C))
    even = np.full((layout.cells, BLOCK), 1 / layout.cells)
    with np.errstate(invalid="ignore", over="ignore"):
        for block in people_.blocks():
            M += atoms.information(even[:, : len(block.V)], block.V)
    if not np.isfinite(M).all():
        raise ArgumentError("observed columns must be finite numbers that can be squared; got others.")
    _check_far(people_)
    zero = np.flatnonzero(M.diagonal() == 0)
    dependent = zero.tolist() or dependent_columns(M)
    if dependent:
        raise ArgumentError(
            "columns of the model must not be 0 or combinations of each other; got "
            f"{', '.join(layout.names[k] for k in dependent)}.",
            LEAVE_COLUMNS_OUT,
        )
    if len(people_) < atoms.C:
        raise ArgumentError(
            f"`data` must have at least as many people as the model has columns; got {people(len(people_))} for "
            f"{counted(atoms.C, 'column')}.",
            FEWER_TERMS,
        )
