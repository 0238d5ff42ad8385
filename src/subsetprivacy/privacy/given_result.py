"""The result of `leakage_given`: what each of four attackers learns from the rows."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import asdict, field, fields, frozen

from subsetprivacy import draw
from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError, NotPrivateWarning
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import ASK_FOR_ROWS_AGAIN, PUBLISH_LESS
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import Table, number

ATTACKERS = ("nothing", "subset", "covariates", "both")
_FEW_ROWS = 0.01  # no advice up to this share of rows above 95%


@frozen
class AttackerView:
    """What one attacker learns about the value, on average over the rows.

    Attributes
    ----------
    best_guess
        The chance that the best guess is right.
    information
        The information about the value in bits: H(X) minus the remaining entropy.
    above_90, above_95, above_99
        The share of rows in which one value has a probability above 0.9, 0.95, 0.99.
    largest_posterior
        The largest probability of one value in any row.
    size_leakage
        The share of people ruled out. With the subset alone it refers to all people, with both to the people with the
        same covariates. NaN if the subsets rule no one out.
    """

    best_guess: float
    information: float
    above_90: float
    above_95: float
    above_99: float
    largest_posterior: float
    size_leakage: float = float("nan")


_QUANTITIES = {
    "above_95": "rows with one value above 95%",
    "above_90": "rows with one value above 90%",
    "above_99": "rows with one value above 99%",
    "best_guess": "best guess right",
    "largest_posterior": "largest probability of one value",
    "information": "information (bits)",
    "size_leakage": "size leakage (share ruled out)",
}


@frozen(slots=False, eq=False, repr=False)
class CovariateLeakage(Result):
    """What rows with covariates reveal, compared with the subset alone and the covariates alone.

    `fit.leakage()` and the audit's `given` return one. There are four attackers. ``"nothing"`` knows the distribution
    of the value. ``"subset"`` also knows the subset. ``"covariates"`` knows the model of the value given the
    covariates. ``"both"`` knows that model and the subset.

    Attributes
    ----------
    design
        The kind of design.
    categories, w
        The categories, and their probabilities averaged over the rows.
    n
        The number of rows.
    S
        The most by which a subset can multiply the chance of a right guess. NaN if the design is unknown.
    expected
        An `AttackerView` per attacker, averaged over the draw of the subsets. None if the design is unknown.
    published
        The same for the subsets that were drawn. None if they were not given.
    simulation_error
        The largest standard error of the expected averages if rows were simulated, else 0.
    alone, alone_above_95
        The number of rows with covariates that no other row has, and the share of them in which one value has a
        probability above 0.95 for an attacker with both. None and NaN if `alone` was not given.
    """

    design: str
    categories: tuple[Label, ...]
    w: FloatArray
    n: int
    S: float
    expected: dict[str, AttackerView] | None
    published: dict[str, AttackerView] | None = None
    simulation_error: float = 0.0
    alone: int | None = None
    alone_above_95: float = float("nan")
    _row_numbers: Mapping[str, FloatArray] = field(factory=dict, alias="row_numbers")

    _NUMBERS: ClassVar[tuple[str, ...]] = ("design", "n", "S", "simulation_error", "alone", "alone_above_95")

    @property
    def views(self) -> dict[str, AttackerView]:
        """The attackers averaged over the draw, or for the published rows if the design is unknown."""
        known = self.published if self.expected is None else self.expected
        assert known is not None
        return known

    @property
    def nothing(self) -> AttackerView:
        """An attacker who knows only the distribution of the value."""
        return self.views["nothing"]

    @property
    def subset(self) -> AttackerView:
        """An attacker who sees the subset alone."""
        return self.views["subset"]

    @property
    def covariates(self) -> AttackerView:
        """An attacker who sees the covariates alone."""
        return self.views["covariates"]

    @property
    def both(self) -> AttackerView:
        """An attacker who sees the subset and the covariates."""
        return self.views["both"]

    @property
    def added_information(self) -> float:
        """I(X;A|x), the bits that the subset adds to the covariates. At most the information of the subset alone."""
        return self.both.information - self.covariates.information

    @property
    def finding(self) -> str:
        """The share of rows above 95%, with both and with covariates alone, as a sentence without a period."""
        return (
            f"in {_percent(self.both.above_95)} of the rows one value is more than 95% likely "
            f"({_percent(self.covariates.above_95)} from covariates alone)"
        )

    def rows(self) -> dict[str, FloatArray]:
        """Return the numbers of each row, in the order of the table, as arrays.

        They concern individual people. Summaries, reports, files and pickles leave them out, and this method warns.

        Returns
        -------
        dict
            ``covariates_best_guess``; then ``expected_best_guess``, ``expected_information``,
            ``expected_size_leakage``, ``expected_above_95`` and ``largest_posterior`` over the draw, unless rows were
            simulated; and ``published_best_guess`` (the largest posterior of the row), ``published_information``,
            ``published_size_leakage`` and ``published_above_95`` where subsets were given. All but the first are for
            an attacker with both; information is what the subset adds. Without size if subsets rule no one out.

        Raises
        ------
        ArgumentError
            If the result was read back from a file, which does not contain rows.

        Warns
        -----
        NotPrivateWarning
            Always.
        """
        if not self._row_numbers:
            raise ArgumentError(
                "`rows` must be computed from the original result; this one was read from a file.", ASK_FOR_ROWS_AGAIN
            )
        text = "these numbers are guesses of the values of single people; do not publish or store them."
        warnings.warn(NotPrivateWarning(text), stacklevel=2)
        return {name: column.copy() for name, column in self._row_numbers.items()}

    # Notes ------------------------------------------------------------------------------------

    @property
    def notes(self) -> tuple[Note, ...]:
        """What publishing such rows means, the worst number, the bounds that still hold, and the caveats."""
        promise = (
            "Publishing rows with covariates promises less privacy than publishing subsets. The design limits what a "
            "subset adds to the covariates, not what the covariates reveal."
        )
        notes = [Note(NoteKind.NOT_PROTECTED, promise), self._worst(), self._information()]
        if np.isfinite(self.S):
            notes.append(Note(NoteKind.LEAKAGE, self._bound()))
        if self.alone:
            notes.append(Note(NoteKind.NOT_PROTECTED, self._alone()))
        assumed = (
            "The attacker knows the model behind these probabilities. An attacker with a better model, or with more "
            "covariates, learns more."
        )
        return (*notes, Note(NoteKind.ASSUMPTION, assumed), *self._caveats())

    def _worst(self) -> Note:
        who = max(("both", "subset", "covariates"), key=lambda name: self.views[name].above_95)  # the first in a tie
        view = self.views[who]
        source = {"both": "subset and covariates together", "subset": "the subset alone"}.get(who, "covariates alone")
        if not view.above_95:
            text = (
                f"In no row does one value have a probability above 95%. The largest probability is {_rounded(view)}."
            )
            return Note(NoteKind.LEAKAGE, text)
        text = (
            f"Worst case: from {source}, one value has a probability above 95% in {_percent(view.above_95)} of the "
            f"rows. The largest probability is {_rounded(view)}."
        )
        if who == "subset":
            text += " Covariates can also make a value less certain."
        return Note(NoteKind.LEAKAGE, text, PUBLISH_LESS if view.above_95 > _FEW_ROWS else None)

    def _information(self) -> Note:
        text = (
            f"The subset adds {number(self.added_information, 3)} bits to the "
            f"{number(self.covariates.information, 3)} bits of the covariates. Alone it has "
            f"{number(self.subset.information, 3)} bits."
        )
        if self.expected is not None:
            text += " On average over the draw, covariates never raise what a subset adds."
        return Note(NoteKind.LEAKAGE, text)

    def _bound(self) -> str:
        return (
            f"Whatever the covariates, the chance of a right guess is multiplied by at most {self.S:.4g} on average "
            f"over the draw. Here it rises from {number(self.covariates.best_guess, 3)} to "
            f"{number(self.both.best_guess, 3)}."
        )

    def _alone(self) -> str:
        rows = counted(self.alone or 0, "row has", "rows have")
        text = f"{rows} covariates that no other row has. Anyone who knows these covariates of a person finds the row."
        if np.isfinite(self.alone_above_95):
            text += f" In {_percent(self.alone_above_95)} of such rows one value has a probability above 95%."
        return text

    def _caveats(self) -> list[Note]:
        if self.expected is None:
            text = "The design is not known: the numbers are those of the published rows, coarsened at random."
            return [Note(NoteKind.UNKNOWN_DESIGN, text)]
        if not self.simulation_error:
            return []
        text = (
            f"Expected numbers were simulated, standard error at most {self.simulation_error:.1e}. The largest "
            "probability is that of the simulated rows."
        )
        return [Note(NoteKind.SIMULATED, text)]

    # Output -----------------------------------------------------------------------------------

    @property
    def _quantities(self) -> set[str]:
        """The quantities of the tables: without the size if the subsets rule no one out."""
        return {name for name in _QUANTITIES if name != "size_leakage" or np.isfinite(self.subset.size_leakage)}

    def _facts(self, views: dict[str, AttackerView] | None) -> dict[str, dict[str, float]] | None:
        if views is None:
            return None
        return {
            who: {name: value for name, value in asdict(view).items() if name in self._quantities}
            for who, view in views.items()
        }

    def summary(self) -> Table:
        """Return the table with a row per quantity and a column per attacker. The share of rows above 95% is first."""
        columns = [(name, self.views[name]) for name in ATTACKERS]
        if self.expected is not None and self.published is not None:
            columns += [(f"{name}, published", self.published[name]) for name in ("subset", "both")]
        rows = tuple(
            (text, *(number(getattr(view, quantity)) for _, view in columns))
            for quantity, text in _QUANTITIES.items()
            if quantity in self._quantities
        )
        title = f"Leakage given covariates: {self.finding}"
        return Table(title, ("quantity", *(name for name, _ in columns)), rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the averages of each attacker, for JSON, without single rows."""
        views = {name: self._facts(getattr(self, name)) for name in ("expected", "published")}
        numbers = {name: getattr(self, name) for name in self._NUMBERS}
        return plain({**numbers, "categories": self.categories, "w": self.w, **views, "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the averages that `to_dict` wrote, without the rows."""
        numbers = {name: facts[name] for name in cls._NUMBERS}
        numbers |= {name: unknown_as_nan(facts[name]) for name in ("S", "alone_above_95")}
        expected, published = (_from_facts(facts[name]) for name in ("expected", "published"))
        if expected is None and published is None:
            raise ValueError
        labels = tuple(tuple(label) if isinstance(label, list) else label for label in facts["categories"])
        w = np.array(facts["w"])
        return cls(categories=labels, w=w, expected=expected, published=published, **numbers)

    def _columns(self) -> dict[str, Any]:
        """Return a row per attacker, averaged over the draw and then for the published subsets."""
        rows = [
            (basis, who, views[who])
            for basis, views in (("expected", self.expected), ("published", self.published))
            if views is not None
            for who in ATTACKERS
        ]
        columns: dict[str, Any] = {"basis": [row[0] for row in rows], "attacker": [row[1] for row in rows]}
        names = [attribute.name for attribute in fields(AttackerView) if attribute.name in self._quantities]
        return columns | {name: np.array([getattr(view, name) for *_, view in rows]) for name in names}

    def plot(self, *, title: str | None = None) -> draw.Figure:
        """Draw what each attacker learns, with a panel per quantity and a bar per attacker.

        Parameters
        ----------
        title
            A title, by default the share of rows above 95% in words.
        """
        names = ("nothing", "subset alone", "covariates alone", "subset and covariates")
        views = [self.views[who] for who in ATTACKERS]
        return draw.leakage(
            names,
            {
                "one value above 95%": [view.above_95 for view in views],
                "best guess": [view.best_guess for view in views],
                "information": [view.information for view in views],
            },
            units={
                "one value above 95%": "share of the rows",
                "best guess": "chance that it is right",
                "information": "bits about the value",
            },
            title=f"{self.finding[0].upper()}{self.finding[1:]}" if title is None else title,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_row_numbers": {}}  # numbers of single rows are not stored

    def __repr__(self) -> str:
        return f"<CovariateLeakage of {counted(self.n, 'row')}: {self.finding}>"


def _from_facts(facts: Mapping[str, Mapping[str, float]] | None) -> dict[str, AttackerView] | None:
    return None if facts is None else {who: AttackerView(**facts[who]) for who in ATTACKERS}


def _percent(share: float) -> str:
    """Return a share as a percentage. A positive share is not printed as 0."""
    return "less than 0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"


def _rounded(view: AttackerView) -> str:
    """Return the largest probability as text, as 1 only if it is exactly 1."""
    top = view.largest_posterior
    return "more than 0.9999" if 0.99995 <= top < 1 else number(top)
