"""`Optimum`: the best design with its cost, its leakage and its certificate."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._choices import Criterion, Over, Solver
from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted
from subsetprivacy.design import Design, nonprivate, uniform
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.optimizing import measure
from subsetprivacy.optimizing.program import METRICS
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number

NAMES = {
    "size": "size leakage (share of people ruled out)",
    "mi": "mutual information leakage (bits)",
    "prediction": "prediction leakage (chance of a right guess)",
    "maximal": "maximal leakage (bits)",
}
_USED_UP = 1e-6


@frozen(eq=False, repr=False)
class Optimum(Result):
    """The design of least loss within a budget. `optimal` returns one.

    Attributes
    ----------
    design
        An identifiable independent or conditional design, reduced to few
        subsets that give the same information.
    criterion, over
        The criterion, and whether it is the average or the worst over several w.
    w
        The distributions at which it was minimized, one per row.
    budget
        The allowed leakages.
    loss
        A: the limit of n times the mean squared error. D: the geometric mean
        of the limit variances along the axes of their ellipsoid.
    gap
        The certificate: no design of the kind saves more than this share of
        the loss.
    leakage
        The leakage by metric, at the w with the largest leakage.
    uniform_loss, direct_loss
        The loss of the uniform design (NaN below four categories), and of
        reporting the value itself.
    steps
        The number of Newton steps, or of steps of the conic solver.
    """

    why_not_restored: ClassVar[str] = "keep the design, `optimum.design.to_json()`"

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
        """The metrics whose budgets are used up."""
        return tuple(
            metric for metric, most in self.budget.items() if self.leakage[metric] > most - _USED_UP * max(most, 1.0)
        )

    @property
    def questions(self) -> int:
        """The number of questions, or of subsets for a conditional design."""
        return self.design.list_length

    def summary(self) -> Table:
        """Return a table that compares the design with the uniform design and with the value itself."""
        rows = []
        for row in self._rows():
            leaks = [number(row[metric]) for metric in METRICS]
            rows.append(
                (row["design"], number(row["loss"]), number(row["people"], 2), *leaks, f"{row['smallest_set']}")
            )
        columns = ("design", "loss", "people", "size", "mi", "prediction", "maximal", "smallest set")
        title = f"Best {self.design.kind} design on {self.design.p} categories, {self.criterion}-criterion"
        return Table(title, columns, tuple(rows), self.notes)

    def _rows(self) -> list[dict[str, Any]]:
        """Return the numbers of the design, of the uniform design and of the value itself."""
        labels = self.design.categories.labels
        designs = {"optimal": self.design}
        if self.design.p >= 4:
            designs["uniform"] = uniform(labels)
        designs["value itself"] = nonprivate(labels)
        rows = []
        for name, design in designs.items():
            loss = measure.loss(design, self.w, self.criterion, self.over == "worst" and len(self.w) > 1)
            leaks = measure.leakage(design, self.w)
            row: dict[str, Any] = {"design": name, "loss": loss, "people": loss / self.direct_loss}
            row.update({metric: leaks[metric] for metric in METRICS})
            row["smallest_set"] = design.smallest_set
            rows.append(row)
        return rows

    def _columns(self) -> Mapping[str, Any]:
        rows = self._rows()
        return {name: [row[name] for row in rows] for name in rows[0]}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that are unknown or not finite are None."""
        names = ("criterion", "over", "w", "budget", "loss", "gap", "leakage", "uniform_loss", "direct_loss")
        facts: dict[str, Any] = plain(
            {
                "kind": self.design.kind,
                "p": self.design.p,
                "fingerprint": self.design.fingerprint,
                **{name: getattr(self, name) for name in names},
                "saturated": self.saturated,
                "questions": self.questions,
                "steps": self.steps,
                "solver": self.solver,
                "notes": self.notes,
            }
        )
        return facts

    @property
    def notes(self) -> tuple[Note, ...]:
        """The certificate, the meaning of the columns, and the budgets that are used up."""
        what = "questions" if self.design.is_independent else "subsets"
        proved = (
            f"{self.questions} {what}; no {self.design.kind} design saves more than {max(self.gap, 1e-16):.1g} "
            "of the loss (certified)."
        )
        loss = "mean squared error" if self.criterion == "A" else "geometric mean variance"
        means = f"Loss: n times the {loss}, in the limit. People: how many are needed for each person asked directly."
        notes = [Note(NoteKind.CERTIFIED, proved), Note(NoteKind.LEGEND, means)]
        if len(self.w) > 1:
            how = "the largest" if self.over == "worst" else "the average"
            over = (
                f"Loss is {how} over {len(self.w)} distributions, and leakage is the largest. The budgets hold at "
                "each of them."
            )
            notes.append(Note(NoteKind.ASSUMPTION, over))
        for metric, most in self.budget.items():
            used = "is used up" if metric in self.saturated else f"is not used up: {self.leakage[metric]:.4f}"
            notes.append(Note(NoteKind.LEAKAGE, f"The budget {metric} <= {most:g} {used}."))
        return tuple(notes)

    def __repr__(self) -> str:
        used = f", uses up {', '.join(self.saturated)}" if self.saturated else ""
        saved = "" if np.isnan(self.uniform_loss) else f" (uniform {self.uniform_loss:.4f})"
        return (
            f"<Optimum: {self.design.kind} design of {counted(self.questions, 'subset')} on {self.design.p} "
            "categories, "
            f"loss {self.loss:.4f}{saved}{used}, gap {self.gap:.1e}>"
        )
