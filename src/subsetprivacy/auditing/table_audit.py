"""`TableAudit`: what one person reveals through several variables."""

from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._words import counted
from subsetprivacy.auditing.caveats import revealed
from subsetprivacy.auditing.report import Audit
from subsetprivacy.data import JointCounts, SubsetTable
from subsetprivacy.design import Product
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number

MAX_JOINT = 1024  # the most combinations for which the joint distribution is estimated


@frozen(slots=False, eq=False, repr=False)
class TableAudit(Result):
    """What each variable of a product reveals, and what they reveal together.

    Attributes
    ----------
    design
        The product design.
    parts
        An audit for each factor alone, by the names of its variables.
    joint
        The audit at the joint distribution, or None if it is unknown. In that
        case the totals are bounds that hold for every dependence.
    """

    why_not_restored: ClassVar[str] = "keep the design and the distributions, or the counts, and audit them again"

    design: Product
    parts: dict[tuple[str, ...], Audit]
    joint: Audit | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the totals and each factor's numbers under stable names."""
        each = {" x ".join(names): part.to_dict() for names, part in self.parts.items()}
        known = {"joint_known": self.joint is not None, **self.totals()}
        return plain({"design": "product", **known, "variables": each, "notes": self.notes})

    def totals(self) -> dict[str, float]:
        """Return what one person reveals through all variables.

        Maximal leakages add up exactly for every dependence. Without the
        joint distribution the other numbers are the worst case over all joint
        distributions: mutual information is at most the sum, the chance to
        guess all variables at once is at most S times the best guess without
        data, and a posterior can be 1.
        """
        numbers = [part.facts() for part in self.parts.values()]
        shared = {
            "maximal_leakage": sum(part["maximal_leakage"] for part in numbers),
            "smallest_set": prod(part["smallest_set"] for part in numbers),
            "combinations": self.design.p,
        }
        keys = ("mi_leakage", "prediction_leakage", "prediction_baseline", "largest_posterior")
        if self.joint is not None:
            known = self.joint.facts()
            return {**shared, **{key: known[key] for key in keys}}
        baseline = min(part["prediction_baseline"] for part in numbers)
        return {
            **shared,
            "mi_leakage": sum(part["mi_leakage"] for part in numbers),
            "prediction_leakage": min(1.0, self.design.S * baseline),
            "prediction_baseline": baseline,
            "largest_posterior": 1.0,
        }

    @cached_property
    def guesses(self) -> dict[str, float]:
        """How often each variable is guessed right from all answers. Empty without the joint distribution."""
        if self.joint is None:
            return {}
        setting, categories = self.joint.setting, self.design.categories
        _, mu = setting.design.support()
        at = categories.coordinates(np.arange(categories.p))
        out = {}
        for k, (name, part) in enumerate(zip(categories.names, categories.parts, strict=True)):
            chances = [setting.rows.inner(np.where(at[k] == value, setting.w, 0.0)) for value in range(part.p)]
            out[name] = float(mu @ np.max(chances, axis=0))
        return out

    def _rows(self) -> list[tuple[Any, ...]]:
        keys = ("mi_leakage", "maximal_leakage", "prediction_leakage", "prediction_baseline", "smallest_set")
        facts = {" x ".join(names): part.facts() for names, part in self.parts.items()}
        facts["together"] = self.totals()
        return [(name, *(numbers[key] for key in (*keys, "largest_posterior"))) for name, numbers in facts.items()]

    def summary(self) -> Table:
        """Return a table with a row per factor alone, and one for all together."""
        columns = (
            "variable",
            "mutual information (bits)",
            "maximal leakage (bits)",
            "best guess right",
            "without data",
            "smallest set",
            "largest posterior",
        )
        rows = tuple(
            (name, *(number(x) for x in four), str(smallest), number(posterior))
            for name, *four, smallest, posterior in self._rows()
        )
        title = f"Privacy audit of {counted(len(self.parts), 'answer')} of one person"
        return Table(title, columns, rows, self.notes)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The meaning of the rows, and the variables that are revealed."""
        legend = "Each variable alone, then all together. Maximal leakage adds up exactly."
        if self.joint is not None:
            named = ", ".join(f"{name} {chance:.4f}" for name, chance in self.guesses.items())
            together = (
                "Together: at the joint distribution, where the best guess is for all variables at once. If "
                "variables depend on each other, an answer to one also reveals something about the others. How often "
                f"each is guessed right from all answers: {named}."
            )
        else:
            together = (
                "Together: the worst case over all joint distributions, since the joint distribution is not known. "
                "Mutual information is at most the sum, the best guess is at most S times that without data, and a "
                "posterior can be 1."
            )
        exactly = [note for part in self.parts.values() for note in revealed(part.reveals)]
        return unique([Note(NoteKind.LEGEND, legend), Note(NoteKind.LEAKAGE, together), *exactly])

    def _columns(self) -> dict[str, Any]:
        names = ("variable", *(f"{m}_leakage" for m in ("mi", "maximal", "prediction")), "prediction_baseline")
        columns = (*names, "smallest_set", "largest_posterior")
        return dict(zip(columns, map(list, zip(*self._rows(), strict=True)), strict=True))

    def plot(self, *, title: str | None = None) -> draw.Figure:
        """Draw what each variable and all together reveal, with a panel per metric and a bar per variable.

        Parameters
        ----------
        title
            A title, by default a description of the picture.
        """
        columns = self._columns()
        return draw.leakage(
            columns["variable"],
            {
                "mutual information": columns["mi_leakage"],
                "maximal leakage": columns["maximal_leakage"],
                "best guess": columns["prediction_leakage"],
            },
            units={"mutual information": "bits", "maximal leakage": "bits", "best guess": "chance that it is right"},
            title=title or "What each variable reveals about a person, and all of them together",
        )

    def __repr__(self) -> str:
        total = self.totals()
        return f"<TableAudit of {self.design.categories.preview()}: {total['maximal_leakage']:.3g} bit at most>"


def audit_table(table: SubsetTable) -> TableAudit:
    """Audit each factor of a table at its own estimate, and all at the joint estimate if it has few enough cells."""
    design = table.design
    parts = {
        names: Audit(Setting.of(factor.exposed, estimate(table[names[0]]).w), 0.95)
        for names, factor in design.named().items()
    }
    joint = None
    if design.enumerable and design.p <= MAX_JOINT:
        joint = Audit(Setting.of(design, estimate(table.counts()).w), 0.95)
    return TableAudit(design, parts, joint)


def audit_joint(counts: JointCounts, level: float) -> TableAudit:
    """Audit counts of several variables like a table, each variable at the people who answered it."""
    design = counts.design
    parts = {}
    for (names, factor), name in zip(design.named().items(), counts.names, strict=True):
        margin = counts.margin(name)
        fit = estimate(margin)
        parts[names] = Audit(Setting.of(factor.exposed, fit.w), level, fit=fit, counts=margin, remarks=fit.notes)
    joint = None
    if design.enumerable and design.p <= MAX_JOINT:
        joint = Audit(Setting.of(design, estimate(counts).w), level)
    return TableAudit(design, parts, joint)


def audit_margins(design: Product, w: Mapping[Any, Any]) -> TableAudit:
    """Audit each factor at a given distribution, without the joint distribution.

    Raises
    ------
    ArgumentError
        If a factor has no distribution.
    """
    if not isinstance(w, Mapping):
        raise ArgumentError(f"`w` must map variables to distributions; got {type(w).__name__}.")
    parts = {}
    for names, factor in design.named().items():
        key = next((key for key in (names, " x ".join(names), names[0]) if key in w), None)
        if key is None:
            raise ArgumentError(f"`w` must give a distribution for each variable; got none for {', '.join(names)}.")
        parts[names] = Audit(Setting.of(factor.exposed, w[key]), 0.95)
    return TableAudit(design, parts)
