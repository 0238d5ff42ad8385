"""`Optimum`: the best design, what it costs and leaks, and the proof that it is the best."""

import numpy as np
from attrs import frozen

from subsetprivacy._choices import Criterion, Over, Solver
from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted
from subsetprivacy.design import Design, Independent, nonprivate, uniform
from subsetprivacy.optimizing import measure
from subsetprivacy.optimizing.program import METRICS
from subsetprivacy.tables import Table, number

NAMES = {
    "size": "size leakage (share of people ruled out)",
    "mi": "mutual information leakage (bits)",
    "prediction": "prediction leakage (chance of a right guess)",
    "maximal": "maximal leakage (bits)",
}
_USED_UP = 1e-6


@frozen(eq=False, repr=False)
class Optimum:
    """The design of least loss within a budget; made by `optimal`.

    Attributes
    ----------
    design
        An independent or a conditional design, identifiable, with as few
        subsets as the same information can be had from.
    criterion, over
        What was minimised, and over several w: their average or the worst.
    w
        The distributions it was minimised at, a row each.
    budget
        The most that was allowed to leak.
    loss
        A: the limit of n times the mean squared error. D: the geometric mean
        of the limit variances along the axes of their ellipsoid.
    gap
        The certificate: no design of the kind saves more than this share of
        the loss.
    leakage
        What leaks, by metric, at the w where it is most.
    uniform_loss, direct_loss
        The loss of the uniform design (NaN below four categories), and of
        reporting the value itself.
    steps
        Newton steps, or those of the conic solver.
    """

    design: Design
    criterion: Criterion
    over: Over
    w: FloatArray
    budget: dict[str, float]
    loss: float
    gap: float
    leakage: dict[str, float]
    uniform_loss: float
    direct_loss: float
    steps: int
    solver: Solver

    @property
    def saturated(self) -> tuple[str, ...]:
        """The budgets that are used up."""
        return tuple(
            metric for metric, most in self.budget.items() if self.leakage[metric] > most - _USED_UP * max(most, 1.0)
        )

    @property
    def questions(self) -> int:
        """The number of questions, or of subsets for a conditional design."""
        return len(self.design.nu if isinstance(self.design, Independent) else self.design.support()[0])

    def summary(self) -> Table:
        """Return a table: the design beside the uniform one and the value itself."""
        labels = self.design.categories.labels
        designs = {"optimal": self.design}
        if self.design.p >= 4:
            designs["uniform"] = uniform(labels)
        designs["value itself"] = nonprivate(labels)
        rows = []
        for name, design in designs.items():
            loss = measure.loss(design, self.w, self.criterion, self.over == "worst" and len(self.w) > 1)
            leaks = measure.leakage(design, self.w)
            cells = [number(loss), number(loss / self.direct_loss, 2), *(number(leaks[metric]) for metric in METRICS)]
            rows.append((name, *cells, str(design.smallest_set)))
        columns = ("design", "loss", "people", "size", "mi", "prediction", "maximal", "smallest set")
        title = f"Best {self.design.kind} design on {self.design.p} categories, {self.criterion}-criterion"
        return Table(title, columns, tuple(rows), tuple(self._notes()))

    def _notes(self) -> list[str]:
        what = "questions" if isinstance(self.design, Independent) else "subsets"
        lines = [
            f"{self.questions} {what}; no {self.design.kind} design saves more than {max(self.gap, 1e-16):.1g} "
            "of the loss (certified).",
            "Loss: "
            + ("n times the mean squared error" if self.criterion == "A" else "n times the geometric mean variance")
            + ", in the limit. People: how many for one asked directly.",
        ]
        if len(self.w) > 1:
            how = "the largest" if self.over == "worst" else "the average"
            lines.append(
                f"Loss is {how} over {len(self.w)} distributions; leakage is the largest, budgets hold at each."
            )
        for metric, most in self.budget.items():
            used = "is used up" if metric in self.saturated else f"is not used up: {self.leakage[metric]:.4f}"
            lines.append(f"The budget {metric} <= {most:g} {used}.")
        return lines

    def __repr__(self) -> str:
        used = f", uses up {', '.join(self.saturated)}" if self.saturated else ""
        saved = "" if np.isnan(self.uniform_loss) else f" (uniform {self.uniform_loss:.4f})"
        return (
            f"<Optimum: {self.design.kind} design of {counted(self.questions, 'subset')} on {self.design.p} "
            "categories, "
            f"loss {self.loss:.4f}{saved}{used}, gap {self.gap:.1e}>"
        )

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
