"""An observed response, of numbers or two levels, and its default family."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_choice
from subsetprivacy._choices import Family, OutcomeFamily
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.covariates import Covariates, LabelColumn, number_levels
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_regression import (
    COUNTS_OR_LINEAR,
    LEVELS_OF_THE_MODEL,
    LINEAR_OR_TWO_LEVELS,
    OTHER_LEVEL,
    PRIVATE_RESPONSE_OF_LEVELS,
)
from subsetprivacy.tables import label_text

OUTCOME_FAMILIES: tuple[OutcomeFamily, ...] = get_args(OutcomeFamily)


@frozen(eq=False, repr=False)
class ObservedOutcome:
    """An observed response.

    Attributes
    ----------
    name
        The column.
    y
        A number for each person; for two levels, 1 for the second.
    family
        The model, as given or as chosen from the column.
    levels
        The two levels, the second of which is modeled; None for other numbers.
    chosen
        Whether the family was chosen from the column.
    """

    name: str
    y: FloatArray
    family: OutcomeFamily
    levels: tuple[Label, Label] | None = None
    chosen: bool = False

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the modeled level and the chosen family."""
        if self.levels is None or (self.levels == (0, 1) and not self.chosen):
            return ()
        first, second = map(label_text, self.levels)
        what = "log odds" if self.family == "logit" else "share"
        text = f"{self.name} is {second} or {first}; modeled is the {what} of {second}."
        if self.levels == (0, 1):
            return (Note(NoteKind.OUTCOME, text, LINEAR_OR_TWO_LEVELS),)
        written = repr(self.levels[1])  # 'True' is not a level of a column of True and False
        return (Note(NoteKind.OUTCOME, text, OTHER_LEVEL(name=self.name, level=second, written=written, other=first)),)


def observed_outcome(
    covariates: Covariates, name: str, family: Family | None = None, baseline: Any = None, place: Any = "row {}".format
) -> ObservedOutcome:
    """Read an observed response.

    Parameters
    ----------
    covariates
        The rows, with a column of the response.
    name
        The column.
    family
        The model; by default logit for two levels and for 0 and 1, otherwise linear.
    baseline
        The one of two levels that is not modeled, by default the first.
    place
        Returns the position of a row in words.

    Raises
    ------
    ArgumentError
        If values are missing or infinite, or do not fit the family.
    CategoryError
        If the baseline is not a level.
    """
    if family is not None:
        check_choice(family, OUTCOME_FAMILIES, "family")
    column = covariates.columns[name]
    problems = CovariateProblems(place if covariates.ordered else None)
    if isinstance(column, LabelColumn):
        problems.add(f"column {name}", "missing", column.codes < 0)
        problems.refuse()
        levels = _two(column.levels(), name)
        y = (column.codes == column.labels.index(levels[1])).astype(np.float64)
        return _of_levels(name, y, levels, family, baseline)
    y = np.array(column.part(0, covariates.rows), np.float64)
    problems.add(f"column {name}", "missing", np.isnan(y))
    problems.add(f"column {name}", "infinite", np.isinf(y))
    problems.refuse()
    few = np.unique(y[:1000])
    numbers = set(np.unique(y).tolist()) if len(few) <= 2 else set()
    if column.boolean or numbers == {0.0, 1.0} or (family == "logit" and len(numbers) == 2):
        levels = _two(number_levels(numbers, name, column.boolean), name)
        y = (y == max(numbers)).astype(np.float64)
        return _of_levels(name, y, levels, family, baseline)
    if baseline is not None:
        raise ArgumentError(f"`baseline` must be a level of a column of levels; got one of {name}, which has numbers.")
    return ObservedOutcome(name, y, _family_of_numbers(y, name, family), chosen=family is None)


def _of_levels(
    name: str, y: FloatArray, levels: tuple[Label, Label], family: Family | None, baseline: Any
) -> ObservedOutcome:
    if baseline is not None and baseline not in levels:
        listed = ", ".join(map(label_text, levels))
        raise CategoryError(
            f"`baseline` must be one of the levels of {name}; got another label.", LEVELS_OF_THE_MODEL(levels=listed)
        )
    if baseline is not None and baseline == levels[1]:
        y, levels = 1.0 - y, (levels[1], levels[0])
    chosen: OutcomeFamily = "logit" if family is None else family  # type: ignore[assignment]
    return ObservedOutcome(name, y, chosen, levels, family is None)


def _two(levels: Sequence[Label], name: str) -> tuple[Label, Label]:
    if len(levels) == 2:
        return levels[0], levels[1]
    if len(levels) < 2:
        raise ArgumentError(f"the response {name} must vary; got the same value in all rows.")
    raise ArgumentError(
        f"the response {name} must be numbers, or have two levels; got {counted(len(levels), 'level')}.",
        PRIVATE_RESPONSE_OF_LEVELS,
    )


def _family_of_numbers(y: FloatArray, name: str, family: Family | None) -> OutcomeFamily:
    if len(y) and y.min() == y.max():
        raise ArgumentError(f"the response {name} must vary; got the same value in all rows.")
    if family == "logit":
        raise ArgumentError(
            f"the response {name} must have two levels for a logit; got other numbers.", COUNTS_OR_LINEAR
        )
    if family == "poisson" and (y < 0).any():
        bad = y < 0
        raise ArgumentError(
            f"the response {name} must be counts for a Poisson model, at least 0; got {int(bad.sum())} below, first "
            f"in row {int(bad.argmax())}.",
            COUNTS_OR_LINEAR,
        )
    return "poisson" if family == "poisson" else "linear"
