"""What each person's subset reveals."""

from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_distribution
from subsetprivacy._types import BoolArray, Distribution, FloatArray, IntArray, Label
from subsetprivacy._words import counted, people
from subsetprivacy.data import SubsetData
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import ALL_PEOPLE
from subsetprivacy.privacy import metrics
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import Table, label_text, number


@frozen(slots=False, eq=False, repr=False)
class PersonLeakage(Result):
    """Leakage of every person's subset, in the order of the data.

    Attributes
    ----------
    codes
        The subsets.
    candidates
        The number of values in each subset.
    size_leakage
        1 - L(a), the share of the population ruled out. NaN if the design
        rules no one out; tables then leave it out.
    mi_leakage
        -log2 L(a) bits.
    guess
        The position of the most likely member.
    guess_posterior
        The probability that the attacker assigns to that guess.
    guess_correct
        The paper's person-level prediction leakage: whether the guess is the
        person's value. None unless the values were given.
    """

    why_not_restored: ClassVar[str] = "keep the data and the distribution, and ask again"

    codes: IntArray
    design: Design
    belief: FloatArray
    candidates: IntArray
    size_leakage: FloatArray
    mi_leakage: FloatArray
    guess: IntArray
    guess_posterior: FloatArray
    guess_correct: BoolArray | None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def categories(self) -> Categories:
        """The categories of the variable."""
        return self.design.categories

    def __repr__(self) -> str:
        worst = f", largest posterior {self.guess_posterior.max():.3f}" if len(self) else ""
        return f"<PersonLeakage of {people(len(self))}{worst}>"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Whether the result discloses values."""
        if self.guess_correct is None:
            return ()
        text = "This table discloses values: it shows whose value is guessed right. Do not publish it."
        return (Note(NoteKind.REVEALED, text),)

    def summary(self, most: int = 20) -> Table:
        """Return a table of the first people.

        Parameters
        ----------
        most
            The number of people to list.
        """
        shown = range(min(most, len(self)))
        columns = {
            "person": [str(k) for k in shown],
            "subset": [self.design.format(int(self.codes[k])) for k in shown],
            "size leakage": [number(self.size_leakage[k], 3) for k in shown],
            "MI leakage (bits)": [number(self.mi_leakage[k], 3) for k in shown],
            "best guess": [label_text(self.categories.labels[self.guess[k]]) for k in shown],
            "posterior": [number(self.guess_posterior[k], 3) for k in shown],
        }
        if not self.design.rules_out:
            del columns["size leakage"]
        if self.guess_correct is not None:
            columns["guess correct"] = ["yes" if self.guess_correct[k] else "no" for k in shown]
        rows = tuple(zip(*columns.values(), strict=True))
        text = f"The first {most} of {people(len(self))}."
        cut = (Note(NoteKind.SHORTENED, text, ALL_PEOPLE),) if len(self) > most else ()
        return Table("Leakage of each person's subset", tuple(columns), rows, (*cut, *self.notes))

    def _columns(self) -> dict[str, Any]:
        """Return a row per person, without values unless they were given for comparison."""
        subsets, at = np.unique(self.codes, return_inverse=True)
        texts = [self.design.format(code) for code in subsets.tolist()]
        labels = [label_text(label) if isinstance(label, tuple) else label for label in self.categories.labels]
        columns = {
            "person": np.arange(len(self)),
            "subset": [texts[k] for k in at.tolist()],
            "candidates": self.candidates,
            "size_leakage": self.size_leakage,
            "mi_leakage": self.mi_leakage,
            "guess": [labels[j] for j in self.guess.tolist()],
            "guess_posterior": self.guess_posterior,
        }
        if not self.design.rules_out:
            del columns["size_leakage"]
        return columns if self.guess_correct is None else columns | {"guess_correct": self.guess_correct}

    def to_dict(self) -> dict[str, Any]:
        """Return the columns of `to_frame` as lists, for JSON. Numbers that are unknown or not finite are None."""
        return plain({**self._columns(), "notes": self.notes})

    def plot(
        self,
        *,
        most: int = 8,
        truth: Any = None,
        names: Any = None,
        title: str | None = None,
        ax: draw.AxesOrNone = None,
    ) -> draw.Axes:
        """Draw the first people as rows of balls, one per category, with areas proportional to the shares.

        Parameters
        ----------
        most
            The number of people to draw.
        truth
            Their values, if they are known and may be shown.
        names
            Row names.
        title
            The title. The default says how many people are drawn.
        ax
            The Matplotlib axes to draw on; by default a new figure.
        """
        first = self.codes[:most]
        left = self.design.possible(first[:, None], np.arange(self.design.p))
        positions = None if truth is None else _checked_values(list(truth)[:most], first, self.design)[0]
        labels = [label_text(label) for label in self.categories]
        which = f"the first {len(first)} of " if len(first) < len(self.codes) else ""
        heading = draw.Heading(f"What the subsets of {which}{people(len(self.codes))} reveal")
        return draw.cases(
            labels, self.belief, left, truth=positions, names=names, title=heading if title is None else title, ax=ax
        )


def person_leakage(data: SubsetData, w: Distribution, *, values: Any = None) -> PersonLeakage:
    """Return what each person's subset reveals to someone who knows the distribution w.

    Parameters
    ----------
    data
        One subset per person.
    w
        The distribution the attacker knows, in category order or by label.
    values
        The true values, for the paper's person-level prediction leakage. A
        missing value counts as not guessed. **The result then discloses
        values**: a right guess is the value, and a wrong guess from a pair
        leaves the other one. Do not publish it.

    Notes
    -----
    In a covered release every row, including dummy rows, is treated as a real
    person's row, as seen by someone who knows that it is.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> urn = uniform(["black", "red", "green", "blue"])
    >>> seen = SubsetData([urn.categories.code(["black", "red"])], urn)
    >>> person_leakage(seen, [0.01, 0.1, 0.2, 0.69]).size_leakage.round(2)
    array([0.89])
    """
    if not isinstance(data, SubsetData):
        raise ArgumentError(f"`data` must be SubsetData, one subset per person; got {type(data).__name__}.")
    labels: tuple[Label, ...] = data.categories.labels
    belief = check_distribution(w, labels)
    design, codes = data.design.exposed, data.design.expose(data.codes)
    rows = design.incidence(codes)
    L = np.minimum(rows.inner(belief), 1.0)
    guess = design.best_guess(codes, belief)
    with np.errstate(invalid="ignore"):
        posterior = rows.peak(belief) / L
    correct = None if values is None else _compare(guess, values, design, codes)
    bits = metrics.bits_of_subsets(L) if design.noise is None else metrics.bits_of_rows(rows, belief, L)
    size = metrics.size_leakage_of_subsets(L) if design.rules_out else np.full(len(L), np.nan)
    return PersonLeakage(codes, design, belief, design.sizes(codes), size, bits, guess, posterior, correct)


def _compare(guess: IntArray, values: Any, design: Design, codes: IntArray) -> BoolArray:
    x, missing = _checked_values(values, codes, design)
    correct = guess == x
    return np.asarray(correct if missing is None else correct & ~missing)


def _checked_values(values: Any, codes: IntArray, design: Design) -> tuple[IntArray, BoolArray | None]:
    """Return the positions of the true values, and check that they are in their subsets without showing any."""
    x, missing = design.categories.positions(values)
    if len(x) != len(codes):
        raise MismatchError(f"`values` must have one entry per person; got {len(x)} for {people(len(codes))}.")
    known = np.ones(len(x), np.bool_) if missing is None else ~missing
    for what, wrong in (
        ("be categories", (x < 0) & known),
        ("fit their reports", known & ~design.possible(codes, np.maximum(x, 0))),
    ):
        if wrong.any():
            raise CategoryError(
                f"`values` must {what}; got {counted(wrong.sum(), 'value that does not', 'values that do not')}, "
                f"first in row {int(wrong.argmax())}."
            )
    return x, missing
