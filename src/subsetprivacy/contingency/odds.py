"""Conditional odds ratios of two variables of a log-linear model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from attrs import field, frozen
from scipy.special import ndtr

from subsetprivacy import draw
from subsetprivacy._checks import check_level, read_only
from subsetprivacy._choices import Engine, ParameterInterval
from subsetprivacy._types import FloatArray, Label
from subsetprivacy.contingency.presenting import interval_note, parameter_text
from subsetprivacy.contingency.profile import interval_of
from subsetprivacy.contingency.shares import axes_of
from subsetprivacy.data.describing import joined_columns
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, percent

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear


@frozen(slots=False, eq=False, repr=False)
class OddsRatios(Result):
    """Conditional odds ratios of two variables relative to the baselines; made by `LogLinear.odds_ratios`.

    Attributes
    ----------
    names, baseline
        The two variables, and the baseline category of each.
    pairs
        The categories of each odds ratio.
    log_odds_ratio, log_se
        The logarithms of the odds ratios and their standard errors.
    given
        The categories of other variables that they apply to; empty if they are the same for all.
    contrasts
        The weights of the parameters in each logarithm.
    fit
        The model.
    """

    why_not_restored: ClassVar[str] = (
        "save `odds.fit.counts.to_dict()` and fit the model to it again, or pickle the fit"
    )

    names: tuple[str, str]
    baseline: tuple[Label, Label]
    pairs: tuple[tuple[Label, Label], ...]
    log_odds_ratio: FloatArray = field(converter=read_only)
    log_se: FloatArray = field(converter=read_only)
    given: Mapping[str, Label]
    contrasts: FloatArray = field(converter=read_only)
    fit: LogLinear
    notes: tuple[Note, ...] = ()

    @property
    def n(self) -> float:
        """The number of people."""
        return self.fit.n

    @property
    def model(self) -> str:
        """The model in brackets."""
        return self.fit.model

    @property
    def estimate(self) -> FloatArray:
        """The odds ratios."""
        return np.asarray(np.exp(self.log_odds_ratio))

    @property
    def se(self) -> FloatArray:
        """The standard errors of the odds ratios, by the delta method; intervals use the log scale."""
        return np.asarray(self.estimate * self.log_se)

    @property
    def pvalues(self) -> FloatArray:
        """The p-values of Wald's tests that each odds ratio is 1."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(2 * ndtr(-np.abs(self.log_odds_ratio) / self.log_se))

    def interval(self, level: float = 0.95, *, method: ParameterInterval = "auto") -> FloatArray:
        """Return a confidence interval for each odds ratio, shape (ratios, 2).

        Parameters
        ----------
        level
            The confidence level.
        method
            As in `LogLinear.interval`; Wald's intervals are computed on the log scale.
        """
        with np.errstate(over="ignore"):
            return np.exp(self._log_interval(level, method))

    def _log_interval(self, level: float, method: ParameterInterval) -> FloatArray:
        chosen = self.fit._interval_method(method, len(self.pairs))
        return interval_of(self.fit, self.contrasts, self.log_odds_ratio, self.log_se, check_level(level), chosen)

    def _title(self) -> str:
        where = f" where {', '.join(f'{name} is {label_text(label)}' for name, label in self.given.items())}"
        first, second = self.names
        return f"Odds ratios of {first} and {second}{where if self.given else ''}, {self.model}"

    def summary(self, *, level: float = 0.95, method: ParameterInterval = "auto") -> Table:
        """Return the table to print or to show in a notebook."""
        first, second = self.names
        rows = tuple(
            (label_text(a), label_text(b), *map(parameter_text, (ratio, low, high)), pvalue_text(positive(p)))
            for (a, b), ratio, (low, high), p in zip(
                self.pairs, self.estimate, self.interval(level, method=method), self.pvalues, strict=True
            )
        )
        head = (first, second, "odds ratio", f"lower {percent(level)}", f"upper {percent(level)}", "p-value")
        base = Note(NoteKind.BASELINE, f"Relative to {' and '.join(map(label_text, self.baseline))}.")
        how = interval_note(self.fit._interval_method(method, len(self.pairs)))
        return Table(f"{self._title()}, n = {self.n:,.0f}", head, rows, (base, how, *self.notes), text_columns=2)

    def to_dict(self, *, level: float = 0.95) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        lower, upper = self.interval(level).T
        return plain(
            {
                "names": self.names,
                "baseline": self.baseline,
                "pairs": self.pairs,
                "log_odds_ratio": self.log_odds_ratio,
                "log_se": self.log_se,
                "estimate": self.estimate,
                "se": self.se,
                "lower": lower,
                "upper": upper,
                "pvalue": [positive(p) for p in self.pvalues],
                "interval": self.fit._interval_method("auto", len(self.pairs)),
                "level": level,
                "given": dict(self.given),
                "n": self.n,
                "model": self.model,
                "notes": self.notes,
            }
        )

    def _columns(self, *, level: float = 0.95, method: ParameterInterval = "auto") -> dict[str, Any]:
        ends = self.interval(level, method=method)
        ours = {
            "estimate": self.estimate,
            "se": self.se,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "log_odds_ratio": self.log_odds_ratio,
            "log_se": self.log_se,
            "pvalue": np.array([positive(p) for p in self.pvalues]),
            "level": np.full(len(ends), level),
            "interval": [self.fit._interval_method(method, len(ends))] * len(ends),
        }
        named = {name: [pair[k] for pair in self.pairs] for k, name in enumerate(self.names)}
        return joined_columns(named, ours)

    @overload
    def to_frame(
        self, *, engine: Literal["pandas"] = ..., level: float = ..., method: ParameterInterval = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["polars"], level: float = ..., method: ParameterInterval = ...
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, *, engine: Literal["pyarrow"], level: float = ..., method: ParameterInterval = ...
    ) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas", level: float = 0.95, method: ParameterInterval = "auto") -> Frame:
        """Return a data frame with a row per pair of categories."""
        return frame(self._columns(level=level, method=method), engine)

    def plot(self, *, level: float = 0.95, method: ParameterInterval = "auto", title: str | None = None) -> draw.Figure:
        """Plot the odds ratios with their intervals, on a logarithmic scale."""
        lower, upper = self._log_interval(level, method).T
        return draw.forest(
            [label_text(pair) for pair in self.pairs],
            [f"relative to {' & '.join(map(label_text, self.baseline))}"],
            self.log_odds_ratio[None],
            lower[None],
            upper[None],
            level=level,
            what="odds ratio (log scale)",
            title=title or f"{self._title()}, {percent(level)} intervals",
            ratios=True,
        )

    def __repr__(self) -> str:
        return f"<OddsRatios of {' and '.join(self.names)}: {len(self.pairs)} pairs, {self.model}>"


def odds_ratios_of(fit: LogLinear, first: str, second: str, given: Mapping[str, Label]) -> OddsRatios:
    """Return the conditional odds ratios of two variables."""
    i, j = axes_of(fit, (first, second))
    needed = _needed(fit, first, second)
    _check_given(fit, needed, given)
    at = list(fit.structure.baselines)
    for name in needed:
        k = fit.names.index(name)
        at[k] = fit.categories.parts[k].labels.index(given[name])
    places = [(a, b) for a in range(fit.categories.shape[i]) for b in range(fit.categories.shape[j])]
    places = [(a, b) for a, b in places if a != at[i] and b != at[j]]
    contrasts = np.array([_contrast(fit, at, (i, a), (j, b)) for a, b in places])
    logs, se = contrasts @ fit.fit.theta, np.full(len(places), np.nan)
    loose = (contrasts[:, fit.fit.infinite != 0] != 0).any(axis=1)
    if fit.fit.cov is not None:
        se = np.sqrt(np.maximum(np.einsum("ks,st,kt->k", contrasts, fit.fit.cov, contrasts), 0.0))
    se[loose] = np.nan
    logs[loose] = [_limit(contrast, fit.fit.infinite) for contrast in contrasts[loose]]
    one_labels, two_labels = (fit.categories.parts[k].labels for k in (i, j))
    pairs = tuple((one_labels[a], two_labels[b]) for a, b in places)
    notes: tuple[Note, ...] = ()
    if loose.any():
        text = f"Infinite or not determined, because shares are fitted as 0: {int(loose.sum())} of {len(pairs)}."
        notes = (Note(NoteKind.SEPARATED, text),)
    base = (one_labels[at[i]], two_labels[at[j]])
    return OddsRatios(
        (first, second), base, pairs, logs, se, {name: given[name] for name in needed}, contrasts, fit, notes
    )


def _needed(fit: LogLinear, first: str, second: str) -> list[str]:
    """Return the variables that the odds ratio depends on: those that share a term with both."""
    together = {name for term in fit.terms if {first, second} <= set(term) for name in term}
    return [name for name in fit.names if name in together - {first, second}]


def _check_given(fit: LogLinear, needed: list[str], given: Mapping[str, Label]) -> None:
    absent = [name for name in needed if name not in given]
    if absent:
        raise ArgumentError(
            f"`given` must have the category of {', '.join(absent)}, because the odds ratios depend on it; got none."
        )
    for name, label in given.items():
        (k,) = axes_of(fit, (name,))
        if label not in fit.categories.parts[k].labels:
            raise CategoryError(f"`given` must be a category of {name}; got another one.")


def _contrast(fit: LogLinear, at: list[int], first: tuple[int, int], second: tuple[int, int]) -> FloatArray:
    """Return the weights of the parameters in a log odds ratio."""
    out = np.zeros(fit.structure.size)
    for levels, sign in ((dict([first, second]), 1.0), (dict([first]), -1.0), (dict([second]), -1.0), ({}, 1.0)):
        place = [levels.get(k, position) for k, position in enumerate(at)]
        cell = int(np.ravel_multi_index(place, fit.structure.shape))
        out += sign * fit.structure.rows[:, cell]
    return out


def _limit(contrast: FloatArray, infinite: FloatArray) -> float:
    """Return the limit of a log odds ratio with infinite parameters: plus or minus infinity, or NaN if unknown."""
    parts = contrast[infinite != 0] * infinite[infinite != 0]
    parts = parts[contrast[infinite != 0] != 0]
    if np.isnan(parts).any() or not (np.sign(parts) == np.sign(parts[0])).all():
        return float("nan")
    return float(np.copysign(np.inf, parts[0]))
