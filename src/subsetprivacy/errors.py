"""Every error and warning of the package.

::

    SubsetPrivacyError
    ├── InvalidDesignError      weights or subsets that do not form a design
    ├── NotIndependentError     a design that no yes/no question realizes
    ├── NotIdentifiableError    the design cannot tell some distributions apart
    ├── UnknownDesignError      the design is needed and was not given
    ├── DesignDocumentError     a JSON document that is not a design, or was altered
    ├── CategoryError           labels: unknown, missing, repeated
    ├── CodeError               subset codes: not integer, empty, outside the design
    ├── DistributionError       numbers that are not a probability distribution
    ├── DataFileError           a file or table that cannot be read, computed or written
    ├── NoDataError             nothing to estimate from
    ├── MismatchError           two things that do not fit together
    ├── ArgumentError           any other argument out of its range
    └── TooLargeError           exact computation refused because of its size
    MissingDependencyError      an optional extra is not installed

    SubsetPrivacyWarning
    ├── ConvergenceWarning      an iteration stopped before its tolerance
    ├── NotUniqueWarning        the sample leaves several estimates equally likely
    ├── BoundaryWarning         an estimate of zero: its standard error is approximate
    ├── SmallCountWarning       too few people for the normal approximation
    ├── SeparationWarning       the data do not limit some coefficients
    ├── BudgetWarning           less was computed than requested, to stay within a budget
    └── NotPrivateWarning       output, or part of it, that is not private

All errors except the last are also a ``ValueError``. Messages contain row
numbers and counts but never a person's value, because messages reach logs.

Each error has a `message` without advice, and `advice` as data.
``str(error)`` returns both, with the advice in terms of the library.
"""

import warnings

from subsetprivacy.messages.advice import Advice, Hint, as_hint
from subsetprivacy.messages.note import Note, NoteKind
from subsetprivacy.messages.rendering import for_python, with_hint


class Advised(Exception):
    """An error or a warning with advice.

    Attributes
    ----------
    message
        What is wrong, without advice.
    advice
        What to do about it, or None.
    """

    advice: Hint | None

    def __init__(self, message: str = "", advice: Advice | Hint | None = None) -> None:
        super().__init__(message)
        self.advice = as_hint(advice)

    @property
    def message(self) -> str:
        """What is wrong, without advice."""
        return str(self.args[0]) if self.args else ""

    def __str__(self) -> str:
        return with_hint(self.message, for_python(self.advice))


class SubsetPrivacyError(Advised, ValueError):
    """Base of the package's errors."""


class InvalidDesignError(SubsetPrivacyError):
    """The weights or subsets do not form a design."""


class NotIndependentError(SubsetPrivacyError):
    """No yes/no question realizes this design."""


class NotIdentifiableError(SubsetPrivacyError):
    """Different distributions of the value give the same distribution of subsets (assumption `pd` fails)."""


class UnknownDesignError(SubsetPrivacyError):
    """The computation needs the design of the data, but none was given."""


class DesignDocumentError(SubsetPrivacyError):
    """A JSON document is not a design, or its fingerprint does not match."""


class CategoryError(SubsetPrivacyError):
    """Labels are unknown, missing, repeated or otherwise unusable."""


class CodeError(SubsetPrivacyError):
    """Subset codes are not integers, denote the empty set or lie outside the design."""


class DistributionError(SubsetPrivacyError):
    """The numbers given as a distribution do not form one."""


class DataFileError(SubsetPrivacyError):
    """A file or table cannot be read or computed, or cannot be written."""


class NoDataError(SubsetPrivacyError):
    """The data contain no informative subset."""


class MismatchError(SubsetPrivacyError):
    """Two arguments do not belong together."""


class ArgumentError(SubsetPrivacyError):
    """An argument is out of its range."""


class TooLargeError(SubsetPrivacyError):
    """An exact computation would be too large."""


class MissingDependencyError(Advised, ImportError):
    """An optional dependency is not installed."""


class SubsetPrivacyWarning(Advised, UserWarning):
    """Base of the package's warnings."""


class ConvergenceWarning(SubsetPrivacyWarning):
    """An iteration stopped before it reached its tolerance."""


class NotUniqueWarning(SubsetPrivacyWarning):
    """The sample does not determine the estimate (assumption `unique` fails)."""


class BoundaryWarning(SubsetPrivacyWarning):
    """An estimate lies on the boundary of the simplex, where normal theory is approximate."""


class SmallCountWarning(SubsetPrivacyWarning):
    """A subset is expected so rarely that the normal approximation is unreliable (`boundeddensity`)."""


class SeparationWarning(SubsetPrivacyWarning):
    """The likelihood increases without bound in some coefficients: no subset requires one of the categories."""


class BudgetWarning(SubsetPrivacyWarning):
    """Less was computed than requested, because it would have taken too long."""


class NotPrivateWarning(SubsetPrivacyWarning):
    """Something in the output, or a secret that it depends on, is not private."""


_WARNINGS: dict[NoteKind, type[SubsetPrivacyWarning]] = {
    NoteKind.BOUNDARY: BoundaryWarning,
    NoteKind.TOO_FEW_PEOPLE: BoundaryWarning,
    NoteKind.NEAR_ZERO: BoundaryWarning,
    NoteKind.SMALL_COUNTS: SmallCountWarning,
    NoteKind.NOT_UNIQUE: NotUniqueWarning,
    NoteKind.NOT_CONVERGED: ConvergenceWarning,
    NoteKind.SEPARATED: SeparationWarning,
    NoteKind.BUDGET: BudgetWarning,
}


def warn_of(note: Note, *, stacklevel: int = 2) -> None:
    """Issue the warning of a note, in the class of its kind. `stacklevel` counts from the caller."""
    kind = _WARNINGS.get(note.kind, SubsetPrivacyWarning)
    warnings.warn(kind(note.text, note.advice), stacklevel=stacklevel + 1)
