"""Estimates pooled over several imputed sets, and their joint test."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import ceil, inf, isfinite, sqrt
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
from attrs import field, frozen
from scipy.special import fdtrc, ndtr, ndtri, stdtr, stdtrit

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level, read_only
from subsetprivacy._choices import Engine, PooledInterval
from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import COVARIANCES, MORE_SETS
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, number, percent

INTERVALS: tuple[PooledInterval, ...] = ("t", "normal")
_STEADY = 0.1  # largest relative standard deviation of a standard error between draws without a note
_STEADIER = 0.05


@frozen(slots=False, eq=False, repr=False)
class Pooled(Result):
    """Estimates pooled over several imputed sets by Rubin's rules, returned by `pool`.

    Attributes
    ----------
    names
        The names of the parameters.
    estimates
        Their means over the sets.
    within
        The mean of the covariances within the sets, shape (k, k).
    between
        The covariance of the estimates between the sets.
    m
        The number of sets.
    complete_df
        The residual degrees of freedom of the complete data; infinite if not known.
    """

    names: tuple[str, ...]
    estimates: FloatArray = field(converter=read_only)
    within: FloatArray = field(converter=read_only)
    between: FloatArray = field(converter=read_only)
    m: int
    complete_df: float = inf

    # Rubin's rules ----------------------------------------------------------------------------

    @cached_property
    def cov(self) -> FloatArray:
        """The total covariance: within, plus (1 + 1/m) times between."""
        return read_only(self.within + (1 + 1 / self.m) * self.between)

    @property
    def se(self) -> FloatArray:
        """The standard errors."""
        return np.sqrt(self.cov.diagonal())

    @property
    def _added(self) -> FloatArray:
        """The variance that the imputation adds to each parameter."""
        return (1 + 1 / self.m) * self.between.diagonal()

    @property
    def relative_increase(self) -> FloatArray:
        """The increase of each variance because values are not known, relative to complete data."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self._added > 0, self._added / self.within.diagonal(), 0.0))

    @property
    def df(self) -> FloatArray:
        """The degrees of freedom of each parameter (Barnard and Rubin 1999)."""
        total = self.cov.diagonal()
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(total > 0, self._added / total, 0.0)
            old = (self.m - 1) / share**2
            if not isfinite(self.complete_df):
                return old
            seen = (self.complete_df + 1) / (self.complete_df + 3) * self.complete_df * (1 - share)
            return np.asarray(1 / (1 / old + 1 / seen))

    @property
    def missing(self) -> FloatArray:
        """The fraction of missing information of each parameter."""
        r, df = self.relative_increase, self.df
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(r), (r + 2 / (df + 3)) / (r + 1), 1.0)

    @property
    def pvalues(self) -> FloatArray:
        """The p-value of each parameter for the hypothesis that it is 0, from the t distribution."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(self.estimates) / self.se
        return np.array([positive(float(p)) if p == p else p for p in 2 * _lower_tail(-t, self.df)])

    def interval(self, level: float = 0.95, *, method: PooledInterval = "t") -> FloatArray:
        """Return confidence intervals of all parameters, shape (k, 2).

        Parameters
        ----------
        level
            The confidence level.
        method
            ``"t"`` (default): from the t distribution with `df`. ``"normal"``: as if there were very many sets.
        """
        tail = (1 + check_level(level)) / 2
        normal = np.full(len(self.names), float(ndtri(tail)))
        if check_choice(method, INTERVALS, "method") == "t":
            finite = np.where(np.isfinite(self.df), self.df, 1.0)
            normal = np.where(np.isfinite(self.df), stdtrit(finite, tail), normal)
        return np.asarray(self.estimates[:, None] + (normal * self.se)[:, None] * np.array([-1.0, 1.0]))

    def test(self, names: str | Sequence[str] | None = None) -> "PooledTest":
        r"""Test whether several parameters are all 0.

        Parameters
        ----------
        names
            The parameters; by default all except the intercept.

        Raises
        ------
        ArgumentError
            If a name is not a parameter, or the covariances of the fits are not known.

        Notes
        -----
        The statistic is D1 of Li, Raghunathan and Rubin (1991),
        :math:`\bar Q^\top \bar U^{-1} \bar Q / (k(1 + r))` with
        :math:`r = (1 + 1/m)\,\mathrm{tr}(B \bar U^{-1})/k`, compared with the F distribution. It assumes the same
        fraction of missing information for all parameters.
        """
        return _tested(self, self._chosen(names))

    def _chosen(self, names: str | Sequence[str] | None) -> list[int]:
        if names is None:
            chosen = [at for at, name in enumerate(self.names) if name.lower() not in ("intercept", "const")]
        else:
            wanted = [names] if isinstance(names, str) else list(names)
            unknown = [name for name in wanted if name not in self.names]
            if unknown:
                raise ArgumentError(f"`names` must be parameters ({', '.join(self.names[:12])}); got another one.")
            chosen = [self.names.index(name) for name in dict.fromkeys(wanted)]
        if not chosen:
            raise ArgumentError("`names` must be at least one parameter; got none.")
        return chosen

    # Output -----------------------------------------------------------------------------------

    @property
    def _unsteady(self) -> float:
        """The largest relative standard deviation of the standard errors between sets of draws."""
        return float(self.missing.max(initial=0.0)) / sqrt(2 * (self.m - 1))

    @property
    def notes(self) -> tuple[Note, ...]:
        """A note if there are too few sets."""
        if self._unsteady <= _STEADY:
            return ()
        most = float(self.missing.max())
        more = ceil(1 + 0.5 * (most / _STEADIER) ** 2)
        text = (
            f"With {self.m} sets, other draws would give standard errors that differ by about {self._unsteady:.0%}. "
            f"With {more} sets, it would be {_STEADIER:.0%}."
        )
        return (Note(NoteKind.MORE_SETS, text, MORE_SETS(m=more)),)

    def _columns(self, *, level: float = 0.95, method: PooledInterval = "t") -> dict[str, Any]:
        ends = self.interval(level, method=method)
        return {
            "parameter": list(self.names),
            "estimate": self.estimates,
            "se": self.se,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "level": np.full(len(ends), level),
            "df": self.df,
            "pvalue": self.pvalues,
            "missing_information": self.missing,
            "relative_increase": self.relative_increase,
        }

    @overload
    def to_frame(
        self, *, engine: Literal["pandas"] = ..., level: float = ..., method: PooledInterval = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["polars"], level: float = ..., method: PooledInterval = ...
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["pyarrow"], level: float = ..., method: PooledInterval = ...
    ) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", level: float = 0.95, method: PooledInterval = "t") -> Frame:
        """Return a data frame with a row for each parameter."""
        return frame(self._columns(level=level, method=method), engine)

    def summary(self, *, level: float = 0.95, method: PooledInterval = "t") -> Table:
        """Return a table to print or show in a notebook."""
        lower, upper = self.interval(level, method=method).T
        head = ("parameter", "estimate", "se", f"lower {percent(level)}", f"upper {percent(level)}")
        rows = tuple(
            (
                name,
                *(number(float(each[k])) for each in (self.estimates, self.se, lower, upper)),
                pvalue_text(self.pvalues[k]) if self.pvalues[k] == self.pvalues[k] else "-",
                number(float(self.df[k]), 1) if isfinite(self.df[k]) else "∞",
                number(float(self.missing[k]), 2),
            )
            for k, name in enumerate(self.names)
        )
        title = f"Estimates pooled over {self.m} imputed sets (Rubin's rules)"
        return Table(title, (*head, "p-value", "df", "missing information"), rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names for JSON."""
        names = ("names", "estimates", "se", "within", "between", "m", "complete_df", "df", "missing", "notes")
        return plain({name: getattr(self, name) for name in names})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote."""
        within, between = (
            np.array([list(map(unknown_as_nan, row)) for row in facts[name]]) for name in ("within", "between")
        )
        df = inf if facts["complete_df"] is None else float(facts["complete_df"])
        return cls(tuple(facts["names"]), np.array(facts["estimates"], np.float64), within, between, facts["m"], df)

    def plot(self, *, level: float = 0.95, method: PooledInterval = "t", title: str | None = None) -> draw.Figure:
        """Draw the estimates, except the intercept, with their intervals and a line at zero."""
        kept = [at for at, name in enumerate(self.names) if name.lower() not in ("intercept", "const")]
        ends = self.interval(level, method=method)[kept]
        heading = f"Estimates pooled over {self.m} imputed data sets, {percent(level)} intervals"
        names = [self.names[at] for at in kept]
        values = self.estimates[kept][None]
        return draw.forest(
            names,
            [""],
            values,
            ends[:, 0][None],
            ends[:, 1][None],
            level=level,
            what="estimate",
            title=heading if title is None else title,
        )

    def __repr__(self) -> str:
        k = counted(len(self.names), "parameter")
        return f"<Pooled: {k} from {self.m} sets, largest missing information {self.missing.max():.2f}>"


def _lower_tail(t: FloatArray, df: FloatArray) -> FloatArray:
    """Return the probability below t; normal if the degrees of freedom are infinite."""
    finite = np.where(np.isfinite(df), df, 1.0)
    return np.asarray(np.where(np.isfinite(df), stdtr(finite, t), ndtr(t)))


def _tested(pooled: Pooled, chosen: list[int]) -> "PooledTest":
    at = np.ix_(chosen, chosen)
    U, B, Q, k, m = pooled.within[at], pooled.between[at], pooled.estimates[chosen], len(chosen), pooled.m
    if not np.isfinite(U).all():
        raise ArgumentError(
            "a test of several parameters must have their covariances; got variances only.", COVARIANCES
        )
    if np.linalg.matrix_rank(U, hermitian=True) < k:
        raise ArgumentError("the parameters must not determine each other; got a singular covariance.")
    r = (1 + 1 / m) * float(np.trace(np.linalg.solve(U, B))) / k
    statistic = float(Q @ np.linalg.solve(U, Q)) / (k * (1 + r))
    names = tuple(pooled.names[each] for each in chosen)
    df = _denominator(k, m, r)
    pvalue = float(fdtrc(k, min(df, 1e10), max(statistic, 0.0)))
    return PooledTest(names, statistic, k, df, positive(pvalue), r, m)


def _denominator(k: int, m: int, r: float) -> float:
    """Return the degrees of freedom of the denominator of D1."""
    t = k * (m - 1)
    if r <= 0:
        return inf
    if t > 4:
        return 4 + (t - 4) * (1 + (1 - 2 / t) / r) ** 2
    return t * (1 + 1 / k) * (1 + 1 / r) ** 2 / 2


@frozen(repr=False)
class PooledTest(Result):
    """A joint test that several pooled parameters are 0, returned by `Pooled.test`.

    Attributes
    ----------
    names
        The parameters.
    statistic
        D1 of Li, Raghunathan and Rubin (1991).
    df, denominator_df
        The degrees of freedom of its F distribution.
    pvalue
        The p-value.
    relative_increase
        The average increase of the variance because values are not known.
    m
        The number of sets.
    """

    names: tuple[str, ...]
    statistic: float
    df: int
    denominator_df: float
    pvalue: float
    relative_increase: float
    m: int

    _NUMBERS: ClassVar[tuple[str, ...]] = ("statistic", "df", "denominator_df", "pvalue", "relative_increase", "m")

    @property
    def notes(self) -> tuple[Note, ...]:
        """Always empty."""
        return ()

    def summary(self) -> Table:
        """Return a table to print or show in a notebook."""
        below = number(self.denominator_df, 1) if isfinite(self.denominator_df) else "∞"
        row = (", ".join(self.names), number(self.statistic, 3), f"{self.df}", below, pvalue_text(self.pvalue))
        title = f"Are these parameters 0? Pooled Wald test of {self.m} imputed sets (D1)"
        return Table(title, ("parameters", "F", "df", "denominator df", "p-value"), (row,))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names for JSON."""
        return plain({"names": self.names, **{name: getattr(self, name) for name in self._NUMBERS}, "notes": ()})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote."""
        numbers = {name: facts[name] for name in cls._NUMBERS}
        return cls(tuple(facts["names"]), **{**numbers, "denominator_df": _or_inf(facts["denominator_df"])})

    def _columns(self) -> dict[str, Any]:
        return {"parameters": [", ".join(self.names)], **{name: [getattr(self, name)] for name in self._NUMBERS}}

    def __repr__(self) -> str:
        of = counted(len(self.names), "parameter")
        return f"<PooledTest of {of}: F {self.statistic:.3f}, p-value {pvalue_text(self.pvalue)}>"


def _or_inf(value: float | None) -> float:
    return inf if value is None else float(value)
