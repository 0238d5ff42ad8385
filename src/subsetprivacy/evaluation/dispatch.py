"""`evaluate`: measure a classifier on a test set whose labels are subsets."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from subsetprivacy._checks import check_choice, check_count, check_same_index
from subsetprivacy._choices import CalibrationBins, EvaluationMeasure, WeightsKind
from subsetprivacy._types import AnyArray, ArrayLike, Distribution, FloatArray, IntArray, Label
from subsetprivacy.counting.columns import read_column
from subsetprivacy.data import SubsetData, check_allowed
from subsetprivacy.data.describing import note_of_missing
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, NoDataError, UnknownDesignError, warn_of
from subsetprivacy.estimation.indicator import in_chunks, require_indicators, rows_of, working_table
from subsetprivacy.evaluation import caveats
from subsetprivacy.evaluation.calibration import STRATEGIES, calibration
from subsetprivacy.evaluation.comparison import EvaluationComparison
from subsetprivacy.evaluation.confusion import confusion
from subsetprivacy.evaluation.inputs import read_compared, read_measures, read_names, read_prediction, read_weights
from subsetprivacy.evaluation.measures import Measured, measured
from subsetprivacy.evaluation.result import Evaluation
from subsetprivacy.evaluation.sample import ClassifierOutput, EvaluationSample, PersonWeights
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import SUBSET_LOSS_NEEDS_NO_DESIGN, UNCOVERED

_TRUST = 0.9  # weight of the predicted probabilities in the working distribution; the rest is uniform
_BLOCKS, _MOST_BLOCKS, _WORK = 64, 256, 1 << 20  # numbers of working distributions; more if it is fast


@overload
def evaluate(
    data: SubsetData | ArrayLike,
    *,
    proba: Any = ...,
    guess: Any = ...,
    compare: None = ...,
    names: tuple[str, str] = ...,
    design: Design | None = ...,
    classes: Iterable[Label] | None = ...,
    metrics: EvaluationMeasure | Sequence[EvaluationMeasure] | None = ...,
    weights: ArrayLike | None = ...,
    weights_kind: WeightsKind | None = ...,
    w: Distribution | AnyArray | None = ...,
    bins: int = ...,
    strategy: CalibrationBins = ...,
) -> Evaluation: ...
@overload
def evaluate(
    data: SubsetData | ArrayLike,
    *,
    proba: Any = ...,
    guess: Any = ...,
    compare: Any,
    names: tuple[str, str] = ...,
    design: Design | None = ...,
    classes: Iterable[Label] | None = ...,
    metrics: EvaluationMeasure | Sequence[EvaluationMeasure] | None = ...,
    weights: ArrayLike | None = ...,
    weights_kind: WeightsKind | None = ...,
    w: Distribution | AnyArray | None = ...,
    bins: int = ...,
    strategy: CalibrationBins = ...,
) -> EvaluationComparison: ...
def evaluate(
    data: SubsetData | ArrayLike,
    *,
    proba: Any = None,
    guess: Any = None,
    compare: Any = None,
    names: tuple[str, str] = ("first", "second"),
    design: Design | None = None,
    classes: Iterable[Label] | None = None,
    metrics: EvaluationMeasure | Sequence[EvaluationMeasure] | None = None,
    weights: ArrayLike | None = None,
    weights_kind: WeightsKind | None = None,
    w: Distribution | AnyArray | None = None,
    bins: int = 10,
    strategy: CalibrationBins = "quantile",
) -> Evaluation | EvaluationComparison:
    r"""Evaluate a classifier on a test set whose labels are subsets.

    The measures are those of the true labels, with standard errors and intervals. They are unbiased, and ratios such as
    recall are unbiased in large samples. The predictions must not depend on the subsets of these people: train the
    classifier on other people.

    Parameters
    ----------
    data
        The test set: `SubsetData`, or a column of codes with `design`.
    proba
        The predicted probabilities, shape (n, p), with columns in the order of ``data.categories`` or of `classes`.
        Or a data frame with a column per category, in any order. With two categories, one column with the probability
        of the second is enough.
    guess
        The predicted category of each person, as labels or positions; by default the most likely one.
    compare
        A second classifier on the same people: its probabilities, or its guesses. The result is then an
        `EvaluationComparison`, with paired standard errors.
    names
        The names of the two classifiers.
    design
        The design, if `data` is a column.
    classes
        The categories in the order of the columns of an array: scikit-learn's ``classifier.classes_``, which is sorted
        and may differ from the order of the data.
    metrics
        The measures: ``"accuracy"``, ``"balanced_accuracy"``, ``"brier"``, ``"log_loss"``, ``"subset_log_loss"``, and
        for each category ``"recall"``, ``"precision"``, ``"f1"``, ``"auc"``. By default all that the predictions
        allow.
    weights, weights_kind
        A weight per person, and its kind: ``"sampling"`` for survey weights, ``"frequency"`` if a row represents
        several people.
    w
        The working distribution of the unbiased indicators, as in `indicator`. By default 0.9 times the predicted
        probabilities plus 0.1/p, or the estimated shares if there are only guesses.
    bins, strategy
        The number of bins of the calibration curve, and whether they have the same number of people
        (``"quantile"``) or the same width (``"uniform"``).

    Raises
    ------
    DistributionError, MismatchError, CategoryError
        If predictions are not probabilities, or not of these people and categories.
    UnknownDesignError
        If the design is not known. Only the subset log loss does not need it.
    ArgumentError
        If the data contain dummy rows, or an argument is out of range.
    NotIdentifiableError
        If the design cannot tell some distributions apart.
    NoDataError
        If there is no informative subset.

    Warns
    -----
    SmallCountWarning
        If the share of a category is within four standard errors of 0. Its recall, F1 and AUC, and the balanced
        accuracy, would be too noisy and are NaN.

    Notes
    -----
    With the unbiased indicators :math:`D_{ij}` of `indicator`, accuracy is the mean of :math:`D_{i\hat y_i}`. The Brier
    score is the mean of :math:`\sum_j p_{ij}^2 - 2 \sum_j D_{ij} p_{ij} + 1` (the sum over categories, from 0 to 2,
    twice scikit-learn's score of two classes). The log loss is the mean of :math:`-\sum_j D_{ij} \ln p_{ij}`. Recall,
    precision and F1 are ratios of such means. The AUC of category j is
    :math:`\sum_{i \ne k} D_{ij}(1 - D_{kj})\kappa(p_{ij}, p_{kj}) / \sum_{i \ne k} D_{ij}(1 - D_{kj})`, where
    :math:`\kappa` is 1 if the first score is higher and 1/2 in a tie. The subset log loss is
    :math:`-\frac1n \sum_i \ln \sum_j r_{ij} p_{ij}`. It is a different quantity, which is also smallest for the true
    probabilities, and far less noisy. Use it to choose among classifiers.

    Standard errors come from influence functions. If every subset is a single value, all measures equal those of the
    labels.

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> rng = np.random.default_rng(1)
    >>> proba = rng.dirichlet([1, 1, 1, 1], size=20_000)
    >>> value = [rng.choice(4, p=row) for row in proba]
    >>> data = sp.privatize(value, sp.uniform(range(4)), seed=1)
    >>> found = sp.evaluate(data, proba=proba)
    >>> bool(abs(found.accuracy - proba.max(axis=1).mean()) < 2 * found.se("accuracy"))
    True
    >>> noisy = 0.7 * proba + 0.3 * rng.dirichlet([1, 1, 1, 1], size=20_000)
    >>> both = sp.evaluate(data, proba=proba, compare=noisy, metrics=["accuracy", "subset_log_loss"])
    >>> bool(both.pvalues[1] < 0.001)
    True
    """
    codes, drawn = read_column(data, design)
    check_allowed(codes, drawn)
    check_same_index({"data": data, "proba": proba, "guess": guess, "compare": compare, "weights": weights, "w": w})
    order = None if classes is None else list(classes)
    predictions = [read_prediction(proba, guess, drawn.categories, len(codes), order)]
    if compare is not None:
        predictions.append(read_compared(compare, drawn.categories, len(codes), order))
    both = read_names(names)
    chosen = read_measures(metrics, predictions)
    each = read_weights(weights, weights_kind, len(codes))
    check_count(bins, "bins", least=1)
    check_choice(strategy, STRATEGIES, "strategy")
    _check_design(drawn, chosen)
    people = _Evaluator(codes, drawn, each, predictions, chosen, w)
    evaluations = [people.evaluation(k, bins, strategy) for k in range(len(predictions))]
    for note in evaluations[0].notes:
        if note.kind == NoteKind.SMALL_COUNTS:
            warn_of(note)
    return evaluations[0] if compare is None else people.compared(evaluations[0], evaluations[1], both)


def needs_indicators(chosen: Sequence[EvaluationMeasure]) -> bool:
    """Tell whether any measure needs more than the probability of each subset."""
    return any(measure != "subset_log_loss" for measure in chosen)


def _check_design(design: Design, chosen: Sequence[EvaluationMeasure]) -> None:
    """Raise if such data do not allow the measures."""
    if design.covered is not None:
        raise ArgumentError(
            "`data` must contain people only; got a covered design, whose dummy rows have no value.", UNCOVERED
        )
    if not needs_indicators(chosen):
        return
    if not design.is_known:
        raise UnknownDesignError(
            "the design of these data must be known to evaluate a classifier; got subsets without one.",
            SUBSET_LOSS_NEEDS_NO_DESIGN,
        )
    require_indicators(design)


class _Evaluator:
    """The people of the test set with an informative subset, and everything that the measures need."""

    def __init__(
        self,
        codes: IntArray,
        design: Design,
        weights: PersonWeights,
        predictions: Sequence[ClassifierOutput],
        chosen: tuple[EvaluationMeasure, ...],
        w: Any,
    ) -> None:
        self.design, self.chosen = design, chosen
        kept = np.flatnonzero(~design.is_missing(codes) & (weights.each > 0))
        if not len(kept):
            raise NoDataError("`data` must contain at least one informative subset; got none.")
        self.n_missing = int(weights.count(design.is_missing(codes)))
        working = _working(predictions, design) if w is None else w
        self.predictions = [prediction.among(kept) for prediction in predictions]
        D = _indicators(codes, design, working, kept) if needs_indicators(chosen) else np.empty((0, len(kept)))
        self.sizes = [_sizes(codes[kept], design, prediction) for prediction in self.predictions]
        self.sample = EvaluationSample(PersonWeights(weights.each[kept], weights.are_frequencies), D)

    def _measured(self, k: int) -> Iterator[Measured]:
        return measured(self.sample, self.predictions[k], self.sizes[k], self.chosen)

    def evaluation(self, k: int, bins: int, strategy: CalibrationBins) -> Evaluation:
        """Return the evaluation of one classifier."""
        sample, prediction, labels = self.sample, self.predictions[k], tuple(self.design.categories.labels)
        rows = [
            (measured.measure, measured.category, measured.value, measured.se(sample)) for measured in self._measured(k)
        ]
        measures, positions, estimates, errors = zip(*rows, strict=True)
        known, both = sample.has_indicators, sample.has_indicators and prediction.has_proba
        made = Evaluation(
            categories=labels,
            measures=measures,
            positions=positions,
            estimates=np.array(estimates),
            errors=np.array(errors),
            n=sample.weights.people,
            n_missing=self.n_missing,
            shares=sample.shares if known else np.empty(0),
            shares_se=sample.shares_se if known else np.empty(0),
            confusion=confusion(sample, prediction, labels) if known else None,
            calibration=calibration(sample, prediction, labels, bins, strategy) if both else None,
        )
        return caveats.with_notes(made, sample, prediction, self.sizes[k], self._notes())

    def _notes(self) -> tuple[Note, ...]:
        return note_of_missing(self.n_missing, self.design)

    def compared(self, one: Evaluation, two: Evaluation, names: tuple[str, str]) -> EvaluationComparison:
        """Return the comparison of two evaluations, with errors from paired differences."""
        errors = []
        for first, second in zip(self._measured(0), self._measured(1), strict=True):
            if first.influence is None or second.influence is None:
                errors.append(float("nan"))
            else:
                errors.append(self.sample.weights.se(first.influence - second.influence))
        return EvaluationComparison(one, two, names, one.estimates - two.estimates, np.array(errors))


def _working(predictions: Sequence[ClassifierOutput], design: Design) -> FloatArray | None:
    """Return the working distributions that follow from the predictions, or None if there are only guesses."""
    given = [prediction.proba for prediction in predictions if prediction.has_proba]
    if not given:
        return None
    mean = given[0] if len(given) == 1 else sum(given[1:], start=given[0]) / len(given)
    return _TRUST * mean + (1 - _TRUST) / design.p


def _indicators(codes: IntArray, design: Design, w: Any, kept: IntArray) -> FloatArray:
    """Return the unbiased indicators of the people with an informative subset, a row per category."""
    few = design.enumerable and _MOST_BLOCKS * max(len(design.support()[0]), len(kept) // 64) <= _WORK
    table, block = working_table(codes, design, w, _MOST_BLOCKS if few else _BLOCKS)
    out = np.empty((design.p, len(kept)))
    start = 0
    for people, D in in_chunks(codes, table, block, kept):
        out[:, start : start + len(people)] = D
        start += len(people)
    return out


def _sizes(codes: IntArray, design: Design, prediction: ClassifierOutput) -> FloatArray:
    """Return r_a'p for each person: the predicted probability of the subset, up to the design's weight."""
    out = np.full(len(codes), np.nan)
    if not prediction.has_proba:
        return out
    step = max((1 << 20) // design.p, 1)
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        out[part] = np.einsum("ji,ij->i", rows_of(codes[part], design), prediction.proba[part])
    return out
