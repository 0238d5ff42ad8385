"""Tests of a fitted model: of its terms, against a smaller model, and of its assumptions."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from scipy.special import chdtrc, fdtrc

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import Table, number


def _pvalues(values: Any) -> FloatArray:
    return read_only(
        np.array([value if np.isnan(value) else positive(float(value)) for value in np.atleast_1d(values)])
    )


@frozen(slots=False, eq=False, repr=False)
class ModelTests(Result):
    """One or several chi-square tests of a regression, returned by the methods of `Regression`.

    Attributes
    ----------
    title
        What is tested.
    names
        A name for each test: the term or the assumption.
    statistic, df, pvalue
        The statistics, their degrees of freedom and p-values; NaN if a test cannot be computed.
    method
        ``"lr"``, ``"wald"``, ``"robust"`` or ``"score"``.
    """

    title: str
    names: tuple[str, ...]
    statistic: FloatArray = field(converter=read_only)
    df: FloatArray = field(converter=read_only)
    pvalue: FloatArray = field(converter=_pvalues)
    method: str
    notes: tuple[Note, ...] = ()

    _FACTS: ClassVar[tuple[str, ...]] = ("title", "names", "statistic", "df", "pvalue", "method", "notes")

    @classmethod
    def chi_square(
        cls,
        title: str,
        tests: Mapping[str, tuple[float, int]],
        method: str,
        notes: tuple[Note, ...] = (),
        degrees: float = np.inf,
    ) -> Self:
        """Return tests whose statistics have chi-square distributions with the given degrees of freedom.

        If the covariance itself has finite degrees of freedom, p-values come from the F distribution.
        """
        statistic = np.array([value for value, _ in tests.values()], np.float64)
        df = np.array([degrees for _, degrees in tests.values()], np.int64)
        k, size = np.maximum(df, 1), np.maximum(statistic, 0)
        if np.isinf(degrees):
            tail = chdtrc(k, size)
        else:
            left = degrees - k + 1
            tail = np.where(left > 0, fdtrc(k, np.maximum(left, 1), size * left / (degrees * k)), np.nan)
        pvalue = np.where(np.isnan(statistic) | (df == 0), np.nan, tail)
        return cls(title, tuple(tests), statistic, df, pvalue, method, notes)

    def __getitem__(self, name: str) -> "ModelTests":
        """Return one of the tests."""
        if name not in self.names:
            raise ArgumentError(f"`name` must be the name of a test ({', '.join(self.names)}); got another one.")
        at = self.names.index(name)
        part = slice(at, at + 1)
        return ModelTests(
            self.title, (name,), self.statistic[part], self.df[part], self.pvalue[part], self.method, self.notes
        )

    def summary(self) -> Table:
        """Return a table to print or show in a notebook."""
        rows = tuple(
            (name, number(statistic, 3), str(int(df)), "-" if np.isnan(p) else pvalue_text(p))
            for name, statistic, df, p in zip(self.names, self.statistic, self.df, self.pvalue, strict=True)
        )
        return Table(self.title, ("test", "chi-square", "df", "p-value"), rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return plain({name: getattr(self, name) for name in self._FACTS})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the tests that `to_dict` wrote."""
        numbers = {name: np.array(list(map(unknown_as_nan, facts[name]))) for name in ("statistic", "pvalue")}
        return cls(
            facts["title"],
            tuple(facts["names"]),
            numbers["statistic"],
            np.array(facts["df"], np.int64),
            numbers["pvalue"],
            facts["method"],
            tuple(map(Note.from_dict, facts["notes"])),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "test": list(self.names),
            "statistic": self.statistic,
            "df": self.df,
            "pvalue": self.pvalue,
            "method": [self.method] * len(self.names),
        }

    def __repr__(self) -> str:
        first = f"{self.names[0]}: chi-square {number(float(self.statistic[0]), 2)}, df {int(self.df[0])}, p-value "
        p = float(self.pvalue[0])
        more = f", and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return f"<ModelTests ({self.method}) {first}{'-' if np.isnan(p) else pvalue_text(p)}{more}>"
