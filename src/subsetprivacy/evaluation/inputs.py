"""Read the arguments of `evaluate`: predictions, weights and measures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from subsetprivacy._checks import check_choice, shown
from subsetprivacy._choices import EvaluationMeasure, WeightsKind
from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy._words import counted
from subsetprivacy.counting.columns import FIT, check_kind
from subsetprivacy.engines import is_table
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.estimation.probabilities import read_probabilities
from subsetprivacy.evaluation.measures import MEASURES, NEED_PROBA
from subsetprivacy.evaluation.sample import ClassifierOutput, PersonWeights
from subsetprivacy.messages.for_analyses import GIVE_PROBA, GUESS_CATEGORIES
from subsetprivacy.subsets import Categories


def read_prediction(
    proba: Any, guess: Any, categories: Categories, n: int, classes: Sequence[Label] | None
) -> ClassifierOutput:
    """Return a classifier's output for each person. The default guess is the most likely category."""
    if proba is None and guess is None:
        raise ArgumentError("`proba` or `guess` must be given, the classifier's output for each person; got neither.")
    if proba is None:
        return ClassifierOutput.of_guesses(_read_guess(guess, categories, n, "guess"))
    likely = _read_proba(proba, categories, n, classes, "proba")
    return ClassifierOutput(
        likely.argmax(axis=1) if guess is None else _read_guess(guess, categories, n, "guess"), likely
    )


def read_compared(compare: Any, categories: Categories, n: int, classes: Sequence[Label] | None) -> ClassifierOutput:
    """Return the output of the second classifier: probabilities if there are several columns, otherwise guesses."""
    if is_table(compare) or np.ndim(compare) == 2:
        likely = _read_proba(compare, categories, n, classes, "compare")
        return ClassifierOutput(likely.argmax(axis=1), likely)
    return ClassifierOutput.of_guesses(_read_guess(compare, categories, n, "compare"))


def _read_proba(proba: Any, categories: Categories, n: int, classes: Sequence[Label] | None, name: str) -> FloatArray:
    if categories.p == 2 and not is_table(proba) and np.ndim(proba) == 1:
        try:
            second = np.asarray(proba, np.float64)  # as in scikit-learn: the probability of the second class
        except (TypeError, ValueError):
            second = np.asarray([])
        proba = np.column_stack([1 - second, second]) if len(second) else proba
    return read_probabilities(proba, categories, n, name, classes=classes)


def _read_guess(guess: Any, categories: Categories, n: int, name: str) -> IntArray:
    """Return the position of each guessed category, from labels or from positions."""
    x, _ = categories.positions(guess)
    if len(x) != n:
        raise MismatchError(
            f"`{name}` must have one guess per person; got {len(x)} for {counted(n, 'person', 'people')}."
        )
    if n and (x < 0).all():
        numbers = np.asarray(guess)
        if np.issubdtype(numbers.dtype, np.integer) and numbers.min() >= 0 and numbers.max() < categories.p:
            return numbers.astype(np.int64)
    if (x < 0).any():
        raise CategoryError(
            f"`{name}` must be one of the categories {categories.preview()} in each row; got "
            f"{counted((x < 0).sum(), 'value that is not', 'values that are not')}, first row "
            f"{int((x < 0).argmax())}.",
            GUESS_CATEGORIES,
        )
    return x


def read_names(names: Any) -> tuple[str, str]:
    """Return the names of the two classifiers."""
    if isinstance(names, str) or not isinstance(names, Sequence) or len(names) != 2 or names[0] == names[1]:
        raise ArgumentError(f"`names` must be two different names of the classifiers; got {shown(names)}.")
    return str(names[0]), str(names[1])


def read_weights(weights: Any, kind: WeightsKind | None, n: int) -> PersonWeights:
    """Return the weight of each person."""
    frequencies = check_kind(weights, kind)
    if weights is None:
        if kind is not None:
            raise ArgumentError("`weights` must be given with `weights_kind`; got the kind alone.")
        return PersonWeights(np.ones(n), True)
    try:
        each = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(f"`weights` must be numbers; got {type(weights).__name__}.") from None
    if each.shape != (n,):
        raise MismatchError(f"`weights` must have one number per person; got shape {each.shape} for {n}.")
    wrong = ~np.isfinite(each) | (each < 0) | (frequencies & (each != np.floor(each)))
    if wrong.any():
        fit = FIT["frequency" if frequencies else "sampling"]
        raise ArgumentError(
            f"`weights` must be {fit}; got {counted(wrong.sum(), 'weight that is not', 'weights that are not')}, "
            f"first row {int(wrong.argmax())}."
        )
    return PersonWeights(each, frequencies)


def read_measures(
    metrics: str | Sequence[str] | None, predictions: Sequence[ClassifierOutput]
) -> tuple[EvaluationMeasure, ...]:
    """Return the measures to compute: the given ones, or all that the predictions allow."""
    guesses_only = any(not prediction.has_proba for prediction in predictions)
    if metrics is None:
        return tuple(measure for measure in MEASURES if not (guesses_only and measure in NEED_PROBA))
    if not isinstance(metrics, str) and not isinstance(metrics, Sequence):
        raise ArgumentError(f"`metrics` must be names of measures; got {shown(metrics)}.")
    wanted: list[Any] = [metrics] if isinstance(metrics, str) else list(metrics)
    for measure in wanted:
        check_choice(measure, MEASURES, "metrics")
        if guesses_only and measure in NEED_PROBA:
            raise ArgumentError(
                f"`metrics` must be measures of guesses if a classifier has no probabilities; got {measure!r}.",
                GIVE_PROBA,
            )
    if not wanted:
        raise ArgumentError("`metrics` must name at least one measure; got none.")
    return tuple(measure for measure in MEASURES if measure in wanted)
