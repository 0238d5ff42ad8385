"""What a check of honesty found."""

from typing import Any

import numpy as np
from attrs import field, frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.honesty.residuals import Residuals
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.tables import Table, number, percent

_NAMES = {
    "answers": "answers: some distribution fits",
    "draws": "draws: questions as the design says",
    "random": "random answers: nobody",
    "rest": "answers, random ones allowed for",
}


@frozen(slots=False, eq=False, repr=False)
class GoodnessOfFit:
    """One test.

    Attributes
    ----------
    name
        ``"answers"``, ``"draws"``, ``"random"`` or ``"rest"``.
    statistic, df, pvalue
        Pearson's statistic, its degrees of freedom, and the probability of at least as large a one.
    law
        What the p-value rests on.
    least_expected
        The smallest expected count.
    notes
        What to bear in mind.
    """

    name: str
    statistic: float
    df: int
    pvalue: float = field(converter=positive)
    law: str
    least_expected: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<{_NAMES[self.name]}: statistic {self.statistic:.2f}, df {self.df}, p-value {pvalue_text(self.pvalue)}>"
        )

    def row(self) -> tuple[str, ...]:
        """Return the test as a row of a table."""
        return (_NAMES[self.name], number(self.statistic, 2), str(self.df), pvalue_text(self.pvalue), self.law)

    def summary(self) -> Table:
        """Return the table to print."""
        return Table("Honesty check", _COLUMNS, (self.row(),), self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {
            "statistic": self.statistic,
            "df": self.df,
            "pvalue": self.pvalue,
            "law": self.law,
            "least_expected": self.least_expected,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


_COLUMNS = ("what is tested", "statistic", "df", "p-value", "law")


@frozen(slots=False, eq=False, repr=False)
class RandomAnswers:
    """How many answer by chance.

    Attributes
    ----------
    share, se
        The share of people and its standard error. Unbiased: it can be negative where there are few or none.
    test
        The test that there are none.
    detectable
        The share that the test would find in 80 of 100 such samples, about 2.5 standard errors.
    w, w_se
        The distribution of the others, with that share taken out, and its standard errors; not a number where
        nearly all answer by chance, or the questions do not tell it.
    """

    share: float
    se: float
    test: GoodnessOfFit
    w: FloatArray
    w_se: FloatArray

    @property
    def detectable(self) -> float:
        """The share that the test at 5 % finds in 80 of 100 such samples: z(.95) + z(.8) standard errors."""
        return float(ndtri(0.95) + ndtri(0.8)) * self.se

    def interval(self, level: float) -> FloatArray:
        """Return the values from 0 to 1 within so many standard errors."""
        half = float(ndtri(0.5 + level / 2)) * self.se
        return np.clip(np.array([self.share - half, self.share + half]), 0.0, 1.0)


def _found_line(share: float) -> str:
    if share >= 1:
        return "Too few people to find random answers: if all were, fewer than 80 of 100 such samples would show it."
    return (
        f"A share of about {number(share, 2)} would be found in 80 of 100 such samples (test at 5 %), a smaller one "
        "less often."
    )


@frozen(slots=False, eq=False, repr=False)
class HonestyCheck:
    """Whether the answers fit the design; made by `check_honesty`.

    Attributes
    ----------
    counts
        What was checked.
    answers
        The test that some distribution explains the answers.
    draws
        The test that the questions were drawn as stated; None where that cannot be seen.
    random
        The share of people who answer by chance; None where that cannot be told.
    rest
        The test of the answers with random ones allowed for; None where nothing is left to spare.
    residuals
        Observed and expected counts; `residuals.summary()` lists the answers that fit worst.
    level
        The level of the interval.
    notes
        What could not be tested, and why; where p-values rest on small counts.
    """

    counts: SubsetCounts
    answers: GoodnessOfFit
    draws: GoodnessOfFit | None
    random: RandomAnswers | None
    rest: GoodnessOfFit | None
    residuals: Residuals
    level: float
    notes: tuple[str, ...]

    @property
    def random_share(self) -> float:
        """The estimated share of random answers, unbiased; not a number where it cannot be told."""
        return self.random.share if self.random else np.nan

    @property
    def random_share_se(self) -> float:
        """Its standard error."""
        return self.random.se if self.random else np.nan

    @property
    def random_share_interval(self) -> tuple[float, float]:
        """Its confidence interval, within 0 and 1."""
        if self.random is None:
            return np.nan, np.nan
        low, high = self.random.interval(self.level)
        return float(low), float(high)

    @property
    def parts(self) -> tuple[GoodnessOfFit, ...]:
        """The tests that were possible."""
        chance = self.random.test if self.random else None
        return tuple(part for part in (self.answers, self.draws, chance, self.rest) if part)

    def __repr__(self) -> str:
        found = ", ".join(f"{part.name} {pvalue_text(part.pvalue)}" for part in self.parts)
        return f"<HonestyCheck of a {self.counts.design.kind} design, p-values: {found}>"

    def summary(self) -> Table:
        """Return the table to print: the tests, then the share of random answers."""
        title = (
            f"Honesty check: {self.counts.design.kind} design, {self.counts.design.p} categories, {self.counts.n_text}"
        )
        lines = [] if self.random is None else [self._share_line(), _found_line(self.random.detectable)]
        return Table(title, _COLUMNS, tuple(part.row() for part in self.parts), (*lines, *self.notes))

    def _share_line(self) -> str:
        low, high = self.random_share_interval
        below = " (below 0: no sign of any)" if self.random_share < 0 else ""
        return (
            f"Share of random answers {number(self.random_share)}{below}, std. error {number(self.random_share_se)}, "
            f"{percent(self.level)} interval {number(low)} to {number(high)}."
        )

    def plot(self, most: int = 20, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the standardised residuals of the answers that fit worst, one for each question, the worst on top.

        The dashed line is what the worst of all stays within in 95 of 100 samples of honest people (Bonferroni).
        Of the two answers to a yes/no question the one that was given too often is drawn.

        Parameters
        ----------
        most
            How many answers are drawn.
        title, ax
            A heading, and the matplotlib axes to draw in; by default those of a new figure.

        Raises
        ------
        NotIdentifiableError
            If the fit leaves no freedom to any answer, or the table is too large for residuals.
        MissingDependencyError
            If matplotlib is not installed.
        """
        return self.residuals.plot(most, title=title, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON; what could not be tested is None."""
        chance = self.random
        low, high = self.random_share_interval
        told = chance is not None and bool(np.isfinite(chance.w).all())
        return {
            "design": self.counts.design.kind,
            "categories": list(self.counts.categories),
            "n": self.counts.n,
            "level": self.level,
            "answers": self.answers.to_dict(),
            "draws": self.draws.to_dict() if self.draws else None,
            "random": chance.test.to_dict() if chance else None,
            "rest": self.rest.to_dict() if self.rest else None,
            "random_share": chance.share if chance else None,
            "random_share_se": chance.se if chance else None,
            "random_share_detectable": chance.detectable if chance else None,
            "random_share_lower": low if chance else None,
            "random_share_upper": high if chance else None,
            "honest_w": chance.w.tolist() if chance and told else None,
            "honest_w_se": chance.w_se.tolist() if chance and told else None,
            "notes": list(self.notes),
        }

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
