"""Notes: the caveats of a result, as data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from subsetprivacy.messages.advice import Advice, Hint, as_hint
from subsetprivacy.messages.rendering import for_python, with_hint


class NoteKind(StrEnum):
    """What a note is about, as stable words for programs and tests."""

    # Estimates and intervals
    BOUNDARY = "boundary"  # a share is estimated as 0
    SMALL_COUNTS = "small_counts"  # too few people for the normal approximation
    TOO_FEW_PEOPLE = "too_few_people"  # for so many categories
    NOT_UNIQUE = "not_unique"  # several estimates fit equally well
    NOT_CONVERGED = "not_converged"
    UNIQUENESS_UNCHECKED = "uniqueness_unchecked"
    UNKNOWN_DESIGN = "unknown_design"  # coarsening at random is assumed
    UNKNOWN_ERRORS = "unknown_errors"  # nothing varies in the sample
    MOMENTS = "moments"  # an estimate by moments, outside the simplex or projected
    MAXIMUM = "maximum"  # how close the estimate is to the maximum of the likelihood
    INTERVAL_METHOD = "interval_method"  # how the intervals were made
    SIMULTANEOUS = "simultaneous"  # the level holds for all intervals together
    NEAR_ZERO = "near_zero"  # a comparison depends on a share near 0
    NO_ESTIMATE = "no_estimate"  # nothing to estimate it from
    BIASED = "biased"  # a number that is too large or too small on average
    NO_STANDARD_ERRORS = "no_standard_errors"  # too many categories to have them, or none exist
    SHORTENED = "shortened"  # some rows are shown, not all
    # Data
    MISSING = "missing"  # people who said nothing
    MARGINS = "margins"  # known margins, and how much they help
    SAMPLING = "sampling"  # how the people were drawn
    # Tests
    WEIGHTED = "weighted"
    IMPOSSIBLE = "impossible"  # a report that the hypothesis rules out
    UNOBSERVED = "unobserved"  # pairs or subsets that can be reported but were not
    TOO_MANY_CELLS = "too_many_cells"  # to list
    DEGREES_OF_FREEDOM = "degrees_of_freedom"
    BUDGET = "budget"  # less was computed than requested
    NOT_TESTED = "not_tested"  # what cannot be tested, and why
    NULL_LAW = "null_law"  # the null distribution of a p-value
    ADJUSTED = "adjusted"  # p-values adjusted for their number
    RANDOM_ANSWERS = "random_answers"
    TESTED_TOGETHER = "tested_together"  # draws and answers, if subsets do not determine the questions
    LEFT_OUT = "left_out"  # people or groups that a test does not use
    SCORES = "scores"  # the scores of ordered categories and groups
    # Regression
    SEPARATED = "separated"  # coefficients that diverge
    SPECIFICATION = "specification"  # whether the model fits
    PENALIZED = "penalized"  # coefficients are shrunk on purpose
    BASELINE = "baseline"  # the category that others are compared with
    MERGED = "merged"  # categories that share their coefficients
    OUTCOME = "outcome"  # which level of a response is modeled, and how
    # Multiple imputation
    IMPUTED = "imputed"  # guesses of a model, not people's values
    IMPROPER = "improper"  # sets that vary less than the values are uncertain
    MORE_SETS = "more_sets"  # pooled numbers depend on the draws
    # Privacy
    LEAKAGE = "leakage"
    EPSILON = "epsilon"  # of local differential privacy
    TIE = "tie"  # the most likely categories are hard to distinguish
    NOT_PRIVATE = "not_private"  # a single value can be reported
    NOT_PROTECTED = "not_protected"  # columns that are published unchanged
    NOT_IDENTIFIABLE = "not_identifiable"
    REVEALED = "revealed"  # a variable is known exactly in some rows
    DUMMIES = "dummies"
    PRIOR = "prior"  # attackers with their own prior
    SIMULATED = "simulated"  # a number was simulated
    REPEATED = "repeated"  # asking a person again
    # Planning
    RECOMMENDED = "recommended"
    ALTERNATIVE = "alternative"  # the next cheaper design
    PRICE = "price"  # what privacy costs
    PER_GROUP = "per_group"  # how many people of each group
    ASSUMPTION = "assumption"  # the assumptions of a plan
    CERTIFIED = "certified"  # how close a design is to the best
    LEGEND = "legend"  # what columns mean


@dataclass(frozen=True, slots=True, init=False)
class Note:
    """A caveat of a result.

    Attributes
    ----------
    kind
        What it is about.
    text
        The finding, without advice.
    advice
        What to do about it. None if there is nothing to do.
    """

    kind: NoteKind
    text: str
    advice: Hint | None

    def __init__(self, kind: NoteKind, text: str, advice: Advice | Hint | None = None) -> None:
        for name, value in (("kind", kind), ("text", text), ("advice", as_hint(advice))):
            object.__setattr__(self, name, value)

    def with_advice(self, advice: Advice | Hint | None) -> "Note":
        """Return the note with other advice, or with none."""
        return Note(self.kind, self.text, advice)

    def __str__(self) -> str:
        """Return the note with its advice, for users of the library."""
        return with_hint(self.text, for_python(self.advice))

    def to_dict(self) -> dict[str, Any]:
        """Return the note for JSON."""
        return {
            "kind": self.kind.value,
            "text": self.text,
            "advice": None if self.advice is None else self.advice.to_dict(),
        }

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> "Note":
        """Return the note that `to_dict` wrote."""
        advice = facts["advice"]
        return cls(NoteKind(facts["kind"]), facts["text"], None if advice is None else Hint.from_dict(advice))


def unique(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return different notes, each once, in order."""
    return tuple({(note.kind, note.text): note for note in reversed(list(notes))}.values())[::-1]
