"""Tests of a fitted model: of its terms, against a smaller model, and of its assumptions."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import read_only
from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note
from subsetprivacy.pvalues import chi_square_or_f, df_text, p_equals, positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import Table, number


def _pvalues(values: Any) -> FloatArray:
    return read_only(
        np.array([value if np.isnan(value) else positive(float(value)) for value in np.atleast_1d(values)])
    )


@frozen(slots=False, eq=False, repr=False)
class ModelTests(Result):
    """One or several chi-square or F tests of a fit, returned by its methods.

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
    denominator_df
        The denominator degrees of freedom of F statistics, which come from a sampling or from clusters; infinite for
        chi-square.
    """

    title: str
    names: tuple[str, ...]
    statistic: FloatArray = field(converter=read_only)
    df: FloatArray = field(converter=read_only)
    pvalue: FloatArray = field(converter=_pvalues)
    method: str
    notes: tuple[Note, ...] = ()
    denominator_df: FloatArray = field(converter=read_only)

    @denominator_df.default
    def _of_chi_square(self) -> FloatArray:
        return np.full(len(self.names), np.inf)

    _FACTS: ClassVar[tuple[str, ...]] = (
        "title",
        "names",
        "statistic",
        "df",
        "denominator_df",
        "pvalue",
        "method",
        "notes",
    )

    @classmethod
    def of_forms(
        cls,
        title: str,
        tests: Mapping[str, tuple[float, int]] | Sequence[tuple[str, tuple[float, int]]],
        method: str,
        notes: tuple[Note, ...] = (),
        degrees: float = np.inf,
    ) -> Self:
        """Return tests of quadratic forms, from their values and numbers of directions by name.

        The statistics have chi-square distributions, or F distributions if the covariance itself has finite degrees of
        freedom; see `pvalues.chi_square_or_f`.
        """
        named = list(tests.items()) if isinstance(tests, Mapping) else tests
        found = [chi_square_or_f(form, df, degrees) for _, (form, df) in named]
        statistic, denominator, pvalue = np.array(found).reshape(-1, 3).T
        df = np.array([df for _, (_, df) in named], np.int64)
        return cls(title, tuple(name for name, _ in named), statistic, df, pvalue, method, notes, denominator)

    @property
    def is_f(self) -> bool:
        """Whether the statistics are F, not chi-square."""
        return bool(np.isfinite(self.denominator_df).any())

    def __getitem__(self, name: str) -> "ModelTests":
        """Return one of the tests."""
        if name not in self.names:
            raise ArgumentError(f"`name` must be the name of a test ({', '.join(self.names)}); got another one.")
        at = self.names.index(name)
        part = slice(at, at + 1)
        return ModelTests(
            self.title,
            (name,),
            self.statistic[part],
            self.df[part],
            self.pvalue[part],
            self.method,
            self.notes,
            self.denominator_df[part],
        )

    def summary(self) -> Table:
        """Return a table to print or show in a notebook."""
        rows = tuple(
            (
                name,
                number(statistic, 3),
                str(int(df)),
                *(["-" if np.isnan(statistic) else number(denominator, 0)] if self.is_f else []),
                "-" if np.isnan(p) else pvalue_text(p),
            )
            for name, statistic, df, denominator, p in zip(
                self.names, self.statistic, self.df, self.denominator_df, self.pvalue, strict=True
            )
        )
        of_f = ("F", "df", "denominator df")
        return Table(self.title, ("test", *(of_f if self.is_f else ("chi-square", "df")), "p-value"), rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return plain({name: getattr(self, name) for name in self._FACTS})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the tests that `to_dict` wrote."""
        numbers = {name: np.array(list(map(unknown_as_nan, facts[name]))) for name in ("statistic", "pvalue")}
        known = [np.inf if denominator is None else denominator for denominator in facts["denominator_df"]]
        return cls(
            facts["title"],
            tuple(facts["names"]),
            numbers["statistic"],
            np.array(facts["df"], np.int64),
            numbers["pvalue"],
            facts["method"],
            tuple(map(Note.from_dict, facts["notes"])),
            np.array(known, np.float64),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "test": list(self.names),
            "statistic": self.statistic,
            "df": self.df,
            "denominator_df": self.denominator_df,
            "pvalue": self.pvalue,
            "method": [self.method] * len(self.names),
        }

    def __repr__(self) -> str:
        more = f", and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return f"<ModelTests ({self.method}) {self.names[0]}: {self.text(0)}{more}>"

    def text(self, k: int = 0) -> str:
        """Return a test in words: the statistic, its degrees of freedom and the p-value."""
        denominator, p = float(self.denominator_df[k]), float(self.pvalue[k])
        name, degrees = "F" if np.isfinite(denominator) else "chi-square", df_text(int(self.df[k]), denominator)
        return f"{name} {number(float(self.statistic[k]), 2)}, {degrees}, {p_equals(p)}"
