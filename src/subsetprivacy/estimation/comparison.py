"""`compare`: differences between several estimates, in pairs or from a baseline."""

from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal, overload

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._choices import ContrastMethod, Engine
from subsetprivacy._types import FloatArray
from subsetprivacy._words import group_text
from subsetprivacy.data import only_known, without_group
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError, SubsetPrivacyError
from subsetprivacy.estimation.contrast import chosen_method
from subsetprivacy.estimation.difference import KINDS, Difference, difference_of
from subsetprivacy.estimation.groups import EstimateBatch
from subsetprivacy.estimation.homogeneity import (
    NOT_TESTED,
    TESTS,
    JointTest,
    by_covariance,
    chi_square,
    inverse_and_rank,
    newton_step,
    same_distribution,
    why_not,
)
from subsetprivacy.estimation.shares import Shares
from subsetprivacy.estimation.survey_sample import joint_covariance
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages import Note, NoteKind, unique
from subsetprivacy.messages.for_estimates import ALL_ROWS, ESTIMATE_GROUPS, MARGINS_OF_ONE, NAME_ESTIMATES
from subsetprivacy.pvalues import p_equals, positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame, label_text, number, percent

_MOST_ROWS = 64
_MOST_PAIRS = 2000


@frozen(slots=False, eq=False, repr=False)
class Comparison(Result):
    """Several estimates and their differences; made by `compare`.

    Attributes
    ----------
    estimates
        The estimates by name, in order.
    baseline
        The name of the estimate that all others are compared with; None if all pairs are compared.
    remarks
        Notes on what is left out.
    """

    why_not_restored: ClassVar[str] = "save the counts of all with `counts.to_dict()` and estimate from them again"

    estimates: Mapping[Any, Shares]
    baseline: Any = None
    remarks: tuple[Note, ...] = ()

    @cached_property
    def differences(self) -> dict[tuple[Any, Any], Difference]:
        """The difference of each pair of names, the first minus the second, or of each name minus the baseline."""
        names = list(self.estimates)
        if self.baseline is not None:
            pairs = [(name, self.baseline) for name in names if name != self.baseline]
        else:
            pairs = list(combinations(names, 2))
        return {
            (a, b): difference_of(
                self.estimates[a], self.estimates[b], (group_text(a), group_text(b)), together=len(pairs)
            )
            for a, b in pairs
        }

    @property
    def categories(self) -> Categories:
        """The categories, in the order of the first estimate."""
        return next(iter(self.estimates.values())).categories

    @cached_property
    def test(self) -> JointTest:
        """The test that all distributions are the same: statistic, degrees of freedom, p-value, method."""
        return self._test("auto")

    def _test(self, method: ContrastMethod) -> JointTest:
        samples = list(self.estimates.values())
        if any(fit._base.survey is not None for fit in samples) and self.categories.p <= MAX_MATRIX:
            return self._test_of_surveys(samples)
        # One test for any number of pairs. With many pairs, only the rows of the table use standard errors.
        kinds = {chosen_method(fit, method) for fit in samples}
        kind = "wald" if "wald" in kinds else "score"
        if kind != "wald" and all(fit._base is fit for fit in samples):
            return same_distribution(samples, [self._order(fit) for fit in samples])
        if self.categories.p > MAX_MATRIX:
            return NOT_TESTED
        steps: list[tuple[FloatArray, FloatArray]] = [
            (fit.w, fit._cov) if kind == "wald" else newton_step(fit)  # type: ignore[attr-defined]
            for fit in samples
        ]
        orders = [self._order(fit) for fit in samples]
        values = [order.T @ w for order, (w, _) in zip(orders, steps, strict=True)]
        precisions = [inverse_and_rank(order.T @ V @ order) for order, (_, V) in zip(orders, steps, strict=True)]
        return chi_square(values, precisions, "wald" if kind == "wald" else "newton")

    def _test_of_surveys(self, samples: list[Shares]) -> JointTest:
        """Test with the joint covariance of all shares, since groups of one sample share its clusters."""
        p = self.categories.p
        orders = [self._order(fit).T for fit in samples]
        apart = np.kron(np.column_stack([-np.ones(len(samples) - 1), np.eye(len(samples) - 1)]), np.eye(p))
        w = np.concatenate([order @ fit.w for order, fit in zip(orders, samples, strict=True)])
        degrees = min(fit._base.degrees_of_freedom for fit in samples)
        return by_covariance(apart @ w, apart @ joint_covariance(samples, orders) @ apart.T, degrees=degrees)

    def _method(self, method: ContrastMethod) -> str:
        kinds = [each._method(method) for each in self.differences.values()]
        return "wald" if "wald" in kinds else kinds[0]

    def __getitem__(self, pair: tuple[Any, Any]) -> Difference:
        """Return the difference of two named estimates, the first minus the second."""
        if pair in self.differences:
            return self.differences[pair]
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(name in self.estimates for name in pair)):
            raise CategoryError(f"`pair` must be two of the {len(self.estimates)} names; got something else.")
        first, second = pair
        return difference_of(self.estimates[first], self.estimates[second], (group_text(first), group_text(second)))

    def _order(self, fit: Shares) -> FloatArray:
        """Return the matrix that reorders shares from the order of the first estimate to that of another."""
        p = self.categories.p
        out = np.zeros((p, p))
        out[[fit.categories.index(label) for label in self.categories], np.arange(p)] = 1.0
        return out

    @property
    def pvalue(self) -> float:
        """The p-value of the test that all distributions are the same."""
        return positive(self.test.pvalue)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is left out, and the caveats of the estimates."""
        notes = [
            Note(note.kind, f"{group_text(name)}: {note.text}", None)
            for name, fit in self.estimates.items()
            for note in fit._base.notes
        ]
        return unique((*self.remarks, *notes))

    def _columns(self, level: float = 0.95, method: ContrastMethod = "auto") -> dict[str, Any]:
        parts = [self._in_order(each, level, method) for each in self.differences.values()]
        p = self.categories.p
        names = [pair for pair in self.differences for _ in range(p)]
        joined = {
            name: [x for part in parts for x in part[name]]
            if name == "category"
            else np.concatenate([part[name] for part in parts])
            for name in parts[0]
        }
        return {
            "group": [a for a, _ in names],
            "against": [b for _, b in names],
            **joined,
            "adjusted_pvalue": holm(np.asarray(joined["pvalue"])),
        }

    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., engine: Literal["pandas"] = ...
    ) -> PandasFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., engine: Literal["polars"]
    ) -> PolarsFrame: ...
    @overload
    def to_frame(
        self, level: float = ..., *, method: ContrastMethod = ..., engine: Literal["pyarrow"]
    ) -> ArrowTable: ...
    def to_frame(self, level: float = 0.95, *, method: ContrastMethod = "auto", engine: Engine = "pandas") -> Frame:
        """Return a data frame with a row per pair and category, with raw and Holm-adjusted p-values.

        Parameters
        ----------
        level, method
            As in `Difference.interval`.
        engine
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        return frame(self._columns(level, method), engine)

    def to_dict(self, level: float = 0.95, *, method: ContrastMethod = "auto") -> dict[str, Any]:
        """Return the numbers as plain lists, for JSON."""
        return plain(
            {
                "names": list(self.estimates),
                "categories": list(self.categories),
                "method": self._method(method),
                "baseline": self.baseline,
                "test": self._test(method).to_dict(),
                "differences": self._columns(level, method),
                "notes": self.notes,
            }
        )

    def summary(self, level: float = 0.95, *, method: ContrastMethod = "auto") -> Table:
        """Return the table to print or to show in a notebook. The arguments are as in `Difference.interval`."""
        columns = self._columns(level, method)
        total = len(columns["group"])
        rows = tuple(
            (
                f"{group_text(columns['group'][k])} - {group_text(columns['against'][k])}",
                label_text(columns["category"][k]),
                *(number(columns[name][k]) for name in ("estimate", "se", "lower", "upper")),
                pvalue_text(columns["pvalue"][k]),
                pvalue_text(columns["adjusted_pvalue"][k]),
            )
            for k in range(min(total, _MOST_ROWS))
        )
        ends = (f"lower {percent(level)}", f"upper {percent(level)}")
        head = ("groups", "category", "difference", "std. error", *ends, "p-value", "adjusted p")
        title = f"Differences of shares between {', '.join(map(group_text, list(self.estimates)[:6]))}"
        text = f"Adjusted p: by Holm's method, for the {total} comparisons of this table together."
        notes = [
            self._test_note(self._test(method)),
            Note(NoteKind.INTERVAL_METHOD, KINDS[self._method(method)]),
            Note(NoteKind.ADJUSTED, text),
        ]
        if total > _MOST_ROWS:
            notes.append(Note(NoteKind.SHORTENED, f"The first {_MOST_ROWS} of {total} rows.", ALL_ROWS))
        return Table(title, head, rows, (*notes, *self.notes), text_columns=2)

    def _test_note(self, test: JointTest) -> Note:
        """Return a note with the result of the joint test."""
        if test.df == 0:
            return Note(NoteKind.NOT_TESTED, f"No test of all together: {why_not(test)}.")
        text = f"All together, {TESTS[test.method]} that the distributions are the same: {test.text}."
        return Note(NoteKind.NULL_LAW, text)

    def plot(
        self, *, level: float = 0.95, method: ContrastMethod = "auto", title: str | None = None
    ) -> "draw.Axes | draw.Figure":
        """Plot the differences with their intervals: on one axes for up to six pairs, otherwise a panel per category.

        Parameters
        ----------
        level, method
            As in `Difference.interval`.
        title
            The title. The default describes the plot.
        """
        labels = [label_text(label) for label in self.categories]
        differences = list(self.differences.values())
        bases = {each.names[1] for each in differences}
        which = f" from {bases.pop()}" if len(bases) == 1 and len(differences) > 1 else ""
        which = f", {differences[0].names[0]} minus {differences[0].names[1]}" if len(differences) == 1 else which
        heading = title or f"Differences of shares{which}, {100 * level:.6g}% intervals"
        if len(self.differences) <= 6:
            ax: Any = None
            for each in self.differences.values():
                at = self._places(each)
                bounds = each._bounds(level, method)[at]
                ax = draw.differences(
                    labels,
                    each.estimate[at],
                    bounds[:, 0],
                    bounds[:, 1],
                    level=level,
                    label=f"{each.names[0]} minus {each.names[1]}",
                    several=len(self.differences),
                    title=draw.Heading(heading),
                    ax=ax,
                )
            return ax
        ends = np.array([each._bounds(level, method)[self._places(each)] for each in differences])
        return draw.by_group(
            [f"{each.names[0]} − {each.names[1]}" for each in differences],
            labels,
            np.array([each.estimate[self._places(each)] for each in differences]),
            ends[..., 0],
            ends[..., 1],
            level=level,
            what="difference",
            points=True,
            title=heading,
        )

    def _in_order(self, each: Difference, level: float, method: ContrastMethod) -> dict[str, Any]:
        """Return the columns of a difference, with rows in the order of the first estimate."""
        at = self._places(each)
        columns = each._columns(level, method)
        return {name: [column[k] for k in at] for name, column in columns.items()}

    def _places(self, each: Difference) -> list[int]:
        """Return the positions in a difference of the categories of the first estimate; the orders may differ."""
        return [each.categories.index(label) for label in self.categories]

    def __repr__(self) -> str:
        names = ", ".join(map(group_text, list(self.estimates)[:6])) + (", …" if len(self.estimates) > 6 else "")
        return f"<Comparison of {len(self.estimates)} estimates ({names}), {p_equals(self.pvalue)}>"


def compare(estimates: Mapping[Any, Shares] | EstimateBatch, *, baseline: Any = None) -> Comparison:
    """Compare several estimates from independent samples, such as waves, groups or countries.

    Parameters
    ----------
    estimates
        Estimates by name, such as ``{"2024": fit, "2025": other}``, or the result of `estimate_many` for named groups.
        All must have the same categories; designs may differ. People whose group is missing (None) are left out, as in
        all tests.
    baseline
        The name of the estimate to subtract from all others. By default all pairs are compared, and the estimate named
        later is subtracted (2023 - 2025, not 2025 - 2023).

    Returns
    -------
    Comparison
        Differences with intervals, raw and Holm-adjusted p-values, and a joint test.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["black", "red", "green", "blue"])
    >>> waves = {
    ...     year: sp.estimate(sp.simulate(design, w, 2000, seed=year))
    ...     for year, w in {2023: [0.1, 0.2, 0.3, 0.4], 2024: [0.1, 0.2, 0.3, 0.4], 2025: [0.3, 0.2, 0.3, 0.2]}.items()
    ... }
    >>> compared = sp.compare(waves)
    >>> compared.pvalue < 0.001
    True
    >>> frame = compared.to_frame()
    >>> frame[frame.adjusted_pvalue < 0.001][["group", "against", "category"]].values.tolist()[0]
    [2023, 2025, 'black']
    """
    named = dict(estimates.items()) if isinstance(estimates, (Mapping, EstimateBatch)) else None
    if named is None:
        raise ArgumentError(f"`estimates` must be named; got {type(estimates).__name__} without names.", NAME_ESTIMATES)
    wrong = [type(fit).__name__ for fit in named.values() if not isinstance(fit, Shares)]
    if wrong:
        raise ArgumentError(f"`estimates` must be estimates or margins; got {wrong[0]}.", ESTIMATE_GROUPS)
    remarks = tuple(without_group({name: fit._base.counts for name, fit in named.items()}))
    named = only_known(named)
    if len(named) < 2:
        raise ArgumentError(f"`estimates` must be two or more; got {len(named)}.", NAME_ESTIMATES)
    if baseline is not None and baseline not in list(named):
        raise ArgumentError(f"`baseline` must be one of the {len(named)} names; got another one.")
    pairs = len(named) - 1 if baseline is not None else len(named) * (len(named) - 1) // 2
    if pairs > _MOST_PAIRS:
        raise ArgumentError(
            f"there must be at most {_MOST_PAIRS} pairs to compare; got {pairs}. A baseline leaves {len(named) - 1}."
        )
    made = Comparison(named, baseline, remarks)
    try:
        made.differences  # noqa: B018  # to raise now where some cannot be compared
    except SubsetPrivacyError as error:
        raise type(error)(f"`estimates` cannot be compared: {error.message}", error.advice) from error
    bases = [id(fit._base) for fit in named.values()]
    if len(set(bases)) < len(bases):
        raise MismatchError(
            "`estimates` must come from independent samples; got two margins of the same estimate.", MARGINS_OF_ONE
        )
    return made


def holm(pvalues: FloatArray) -> FloatArray:
    """Return p-values adjusted for multiple testing (Holm 1979), so that the level holds for all of them jointly.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, np.float64)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = len(order) - np.arange(len(order))
    out = np.full(len(p), np.nan)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return out
