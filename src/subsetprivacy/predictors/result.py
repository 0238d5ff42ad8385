"""The result of a regression on private predictors."""

from typing import Any, ClassVar

from attrs import frozen

from subsetprivacy.predictors.layout import Layout
from subsetprivacy.results import Result


@frozen(slots=False, eq=False, repr=False)
class OutcomeRegression(Result):
    """A model of an outcome given private predictors; made by `regress`.

    Attributes
    ----------
    name
        The outcome.
    layout
        The columns of the model.
    """

    why_not_restored: ClassVar[str] = "keep the data and fit again, or pickle the fit, which holds the data"

    name: str
    layout: Layout

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON: nothing of any person."""
        raise NotImplementedError
