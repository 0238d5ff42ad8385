"""What is doubtful about an estimate: sentences below its summary, warnings with its standard errors."""

from typing import TYPE_CHECKING

from subsetprivacy._types import Label
from subsetprivacy.errors import BoundaryWarning, SmallCountWarning
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.tables import label_text

if TYPE_CHECKING:
    from subsetprivacy.estimation.result import Estimate

BETTER = " Hint: interval(method='auto')."
_NAMES = 6
_TOO_FEW = (
    "So many zeros mean too few people for so many categories: the other shares are pulled down as well, and intervals "
    "may miss them. Hint: method='mom' is unbiased, with honest errors."
)


def doubts(fit: "Estimate") -> list[tuple[type[Warning], str]]:
    """Return each doubt about the standard errors, with the class of its warning."""
    if fit.on_boundary:
        text = f"On the boundary: the estimate for {_listed(fit.on_boundary)} is 0. Standard errors are rough then"
        if fit.categories.p > MANY and 3 * len(fit.on_boundary) > fit.categories.p:
            return [(BoundaryWarning, f"{text}. {_TOO_FEW}")]
        return [(BoundaryWarning, f"{text}, and rather too wide.{_advice(fit)}")]
    if fit.smallest_size < 5 / fit.n:
        text = (
            f"Small counts: some subset has a fitted probability of {fit.smallest_size:.2g}, below 5/n = "
            f"{5 / fit.n:.2g}; normal theory is doubtful."
        )
        return [(SmallCountWarning, text + _advice(fit))]
    return []


def _listed(labels: tuple[Label, ...]) -> str:
    names = ", ".join(label_text(label) for label in labels[:_NAMES])
    return names if len(labels) <= _NAMES else f"{names}, … ({len(labels)} in all)"


def _advice(fit: "Estimate") -> str:
    """Name the better interval, where there is one."""
    return BETTER if fit.has_ratio else ""
