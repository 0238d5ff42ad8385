"""The parts of `check_honesty`: goodness-of-fit tests and the share of random answers."""

from collections.abc import Mapping
from typing import Any, Literal, Self, overload

import numpy as np
from attrs import field, frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import Engine
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import p_equals, positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import (
    ArrowTable,
    Frame,
    PandasFrame,
    PolarsFrame,
    Table,
    frame,
    label_text,
    number,
    percent,
)

_NAMES = {
    "answers": "answers: some distribution fits",
    "draws": "draws: as the design states",
    "random": "random answers: there are none",
    "rest": "answers, allowing for random ones",
}
COLUMNS = ("what is tested", "statistic", "df", "p-value", "distribution")
FACTS = ("test", "statistic", "df", "pvalue", "law", "least_expected")
Wald = Literal["wald"]


@frozen(slots=False, eq=False, repr=False)
class GoodnessOfFit(Result):
    """A goodness-of-fit test.

    Attributes
    ----------
    name
        ``"answers"``, ``"draws"``, ``"random"`` or ``"rest"``.
    statistic, df, pvalue
        Pearson's statistic, its degrees of freedom and its p-value.
    law
        The distribution behind the p-value.
    least_expected
        The smallest expected count.
    """

    name: str
    statistic: float
    df: int
    pvalue: float = field(converter=positive)
    law: str
    least_expected: float
    remarks: tuple[Note, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """The caveats."""
        return self.remarks

    def __repr__(self) -> str:
        return (
            f"<GoodnessOfFit of {_NAMES[self.name]}; statistic {self.statistic:.2f}, df {self.df}, p-value "
            f"{pvalue_text(self.pvalue)}>"
        )

    def row(self) -> tuple[str, ...]:
        """Return the test as a row of a table."""
        return (_NAMES[self.name], number(self.statistic, 2), str(self.df), pvalue_text(self.pvalue), self.law)

    def facts(self) -> dict[str, Any]:
        """Return the test as a row of a data frame."""
        values = (self.name, self.statistic, self.df, self.pvalue, self.law, self.least_expected)
        return dict(zip(FACTS, values, strict=True))

    def summary(self) -> Table:
        """Return the table to print."""
        return Table("Honesty check", COLUMNS, (self.row(),), self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return plain({**self.facts(), "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the test that `to_dict` wrote."""
        notes = tuple(map(Note.from_dict, facts["notes"]))
        numbers = (facts["statistic"], facts["df"], facts["pvalue"], facts["law"], facts["least_expected"])
        return cls(facts["test"], *numbers, notes)

    def _columns(self) -> dict[str, Any]:
        return {name: [value] for name, value in self.facts().items()}


@frozen(slots=False, eq=False, repr=False)
class RandomAnswers(Result):
    """The share of people who answer at random.

    Attributes
    ----------
    share, se
        The share of people and its standard error. It is unbiased, and can be negative if there are few or none.
    test
        The test that there are none.
    detectable
        The share that the test detects in 80 of 100 such samples, about 2.5 standard errors.
    categories
        The categories, in the order of `w`.
    w, w_se
        The distribution of the other people and its standard errors; NaN if almost all answer at random, or if it is
        not identifiable.
    """

    share: float
    se: float
    test: GoodnessOfFit
    categories: tuple[Label, ...]
    w: FloatArray
    w_se: FloatArray

    @property
    def detectable(self) -> float:
        """The share that the test at 5% detects in 80 of 100 such samples: z(0.95) + z(0.8) standard errors."""
        return float(ndtri(0.95) + ndtri(0.8)) * self.se

    def interval(self, level: float) -> FloatArray:
        """Return the confidence interval, cut to [0, 1]."""
        half = float(ndtri(0.5 + check_level(level) / 2)) * self.se
        return np.clip(np.array([self.share - half, self.share + half]), 0.0, 1.0)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The share that would be detected, and the caveats of the test."""
        return (Note(NoteKind.RANDOM_ANSWERS, _detectable_line(self.detectable)), *self.test.notes)

    def __repr__(self) -> str:
        p = pvalue_text(self.test.pvalue)
        return f"<RandomAnswers: share {self.share:.4f}, std. error {self.se:.4f}, p-value {p}>"

    def _table(self, level: float, method: Wald) -> dict[str, Any]:
        """Return the share of random answers and the distribution of the other people, with intervals."""
        check_choice(method, ("wald",), "method")
        z = float(ndtri(0.5 + check_level(level) / 2))
        values, errors = np.append(self.share, self.w), np.append(self.se, self.w_se)
        return {
            "quantity": ["random answers", *map(label_text, self.categories)],
            "estimate": values,
            "se": errors,
            "lower": np.clip(values - z * errors, 0.0, 1.0),
            "upper": np.clip(values + z * errors, 0.0, 1.0),
            "level": [level] * len(values),
        }

    def _columns(self) -> dict[str, Any]:
        return self._table(0.95, "wald")

    def summary(self, level: float = 0.95, *, method: Wald = "wald") -> Table:
        """Return the table to print: the share of random answers and the distribution of the other people.

        Parameters
        ----------
        level
            The confidence level of each interval.
        method
            ``"wald"``: estimate and standard error, cut to [0, 1].
        """
        columns = self._table(level, method)
        numbers = zip(*(columns[name] for name in ("estimate", "se", "lower", "upper")), strict=True)
        rows = ((name, *map(number, row)) for name, row in zip(columns["quantity"], numbers, strict=True))
        head = ("share", "estimate", "std. error", f"lower {percent(level)}", f"upper {percent(level)}")
        title = f"Share of random answers (test that there are none: {p_equals(self.test.pvalue)}), and the others"
        return Table(title, head, tuple(rows), self.notes)

    @overload
    def to_frame(self, level: float = ..., *, method: Wald = ..., engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, method: Wald = ..., engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, level: float = ..., *, method: Wald = ..., engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: Wald = "wald", engine: Engine = "pandas") -> Frame:
        """Return a data frame with `quantity, estimate, se, lower, upper, level`. The arguments are as in `summary`."""
        return frame(self._table(level, method), engine)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return plain(
            {
                "share": self.share,
                "se": self.se,
                "detectable": self.detectable,
                "test": self.test.to_dict(),
                "categories": self.categories,
                "w": self.w,
                "w_se": self.w_se,
                "notes": self.notes,
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote."""
        labels = tuple(tuple(label) if isinstance(label, list) else label for label in facts["categories"])
        w, w_se = (np.array([unknown_as_nan(value) for value in facts[name]]) for name in ("w", "w_se"))
        share, se = unknown_as_nan(facts["share"]), unknown_as_nan(facts["se"])
        return cls(share, se, GoodnessOfFit.from_dict(facts["test"]), labels, w, w_se)

    def plot(self, level: float = 0.95, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the share of random answers and the distribution of the other people, with intervals.

        Parameters
        ----------
        level
            The confidence level.
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        columns = self._table(level, "wald")
        heading = draw.Heading(f"Share of random answers, and shares of the others, {percent(level)} intervals")
        return draw.estimate(
            columns["quantity"],
            columns["estimate"],
            columns["lower"],
            columns["upper"],
            level=level,
            title=heading if title is None else title,
            ax=ax,
        )


def _detectable_line(share: float) -> str:
    if share >= 1:
        return (
            "Too few people to find random answers: even if everyone answered at random, fewer than 80 of 100 such "
            "samples would show it."
        )
    return (
        f"A share of about {number(share, 2)} would be found in 80 of 100 such samples (test at 5%), a smaller one "
        "less often."
    )
