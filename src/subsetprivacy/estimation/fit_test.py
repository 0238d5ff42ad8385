"""`fit_test`: whether a sample fits a known distribution."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, get_args

import numpy as np
from attrs import field, frozen
from scipy.special import chdtrc

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_count, check_distribution
from subsetprivacy._choices import FitNull
from subsetprivacy._types import Distribution, FloatArray, Label, Seed
from subsetprivacy._words import whole
from subsetprivacy.data import SubsetCounts, SubsetData, as_counts
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.likelihood import MANY, mean_loglik
from subsetprivacy.estimation.mle import maximize
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.incidence import Cells
from subsetprivacy.mechanism.simulate import simulate_many
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_estimates import CHI_SQUARE_NULL, UNWEIGHTED
from subsetprivacy.pvalues import positive, pvalue_text
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, label_text, number

NULLS: tuple[FitNull, ...] = get_args(FitNull)
_BLOCK = 2_000_000  # counts that are fitted in one batch
_TOLERANCE = 1e-9


@frozen(slots=False, eq=False, repr=False)
class FitTest(Result):
    """A test that the values have a known distribution; made by `fit_test`.

    Attributes
    ----------
    categories, estimate, reference
        The categories, their estimated shares and the shares under the null hypothesis.
    statistic, df
        The likelihood ratio statistic and its degrees of freedom. It is twice the loss of log-likelihood of the
        reference.
    pvalue
        From samples drawn under the reference, or from the chi-square distribution.
    pvalue_se
        The Monte Carlo standard error of `pvalue`; 0 for the chi-square distribution.
    chi_square_pvalue
        The p-value from the chi-square distribution, which is only approximate if a share is near 0.
    null
        The source of `pvalue`: ``"bootstrap"`` or ``"chi-square"``.
    replications
        The number of samples drawn.
    n
        The number of people with an informative subset.
    statistics
        The statistics of the samples; `to_dict` leaves them out.
    """

    categories: tuple[Label, ...]
    estimate: FloatArray
    reference: FloatArray
    statistic: float
    df: int
    pvalue: float = field(converter=positive)
    chi_square_pvalue: float = field(converter=positive)
    null: FitNull
    replications: int
    n: float
    notes: tuple[Note, ...] = ()
    statistics: FloatArray = field(factory=lambda: np.empty(0))

    _NUMBERS: ClassVar[tuple[str, ...]] = (
        "statistic",
        "df",
        "pvalue",
        "chi_square_pvalue",
        "null",
        "replications",
        "n",
    )

    @property
    def pvalue_se(self) -> float:
        """The Monte Carlo standard error of the p-value."""
        if not self.replications:
            return 0.0
        return float(np.sqrt(self.pvalue * (1 - self.pvalue) / (self.replications + 1)))

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: the shares, with the test below."""
        rows = tuple(
            (label_text(label), number(w), number(known), number(w - known))
            for label, w, known in zip(self.categories, self.estimate, self.reference, strict=True)
        )
        title = f"Fit to a known distribution: n = {whole(self.n)}, p-value {pvalue_text(self.pvalue)}"
        return Table(title, ("category", "estimate", "reference", "difference"), rows, (self._line, *self.notes))

    @property
    def _line(self) -> Note:
        asymptotic = pvalue_text(self.chi_square_pvalue)
        law = (
            f"p-value {pvalue_text(self.pvalue)} from {self.replications} samples drawn under the reference "
            f"(standard error {number(self.pvalue_se)}); by chi-square {asymptotic}"
            if self.null == "bootstrap"
            else f"p-value {asymptotic} by chi-square"
        )
        return Note(NoteKind.NULL_LAW, f"Likelihood ratio {number(self.statistic, 2)}, df {self.df}; {law}.")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        arrays = {name: getattr(self, name) for name in ("categories", "estimate", "reference")}
        return plain({**arrays, **{name: getattr(self, name) for name in self._NUMBERS}, "notes": self.notes})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the test that `to_dict` wrote, without the statistics of the samples."""
        numbers = {name: facts[name] for name in cls._NUMBERS}
        # Infinite if someone reported a subset that is impossible under the reference.
        numbers["statistic"] = np.inf if numbers["statistic"] is None else numbers["statistic"]
        return cls(
            categories=tuple(tuple(label) if isinstance(label, list) else label for label in facts["categories"]),
            estimate=np.array(facts["estimate"]),
            reference=np.array(facts["reference"]),
            notes=tuple(map(Note.from_dict, facts["notes"])),
            **numbers,
        )

    def _columns(self) -> dict[str, Any]:
        return {"category": list(self.categories), "share": self.estimate, "reference": self.reference}

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Plot the statistic with its distribution under the reference, simulated and chi-square."""
        if not np.isfinite(self.statistic):
            raise ArgumentError(
                "a picture must have a finite statistic; this one is infinite, which no sample reaches."
            )
        return draw.null_distribution(
            self.statistics,
            self.statistic,
            weights=None,
            df=self.df if self.df > 0 else None,
            pvalue=self.pvalue,
            title=draw.Heading(f"Null hypothesis: the known distribution, n = {self.n:,.0f}")
            if title is None
            else title,
            ax=ax,
        )

    def __repr__(self) -> str:
        return (
            f"<FitTest: likelihood ratio {number(self.statistic, 2)}, df {self.df}, p-value "
            f"{pvalue_text(self.pvalue)} ({self.null}), n = {whole(self.n)}>"
        )


def fit_test(
    data: SubsetData | SubsetCounts,
    reference: Distribution,
    *,
    null: FitNull = "bootstrap",
    replications: int = 999,
    seed: Seed | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FitTest:
    r"""Test whether the values have a known distribution.

    Parameters
    ----------
    data
        Subsets or their counts.
    reference
        The known distribution, such as ``{"red": 0.2, …}``, or one number per category.
    null
        The source of the p-value. ``"bootstrap"`` (default): samples of the same size drawn under the reference.
        ``"chi-square"``: the limit distribution, which is fast but only approximate if a share is near 0.
    replications, seed
        The number of samples and their seed.
    progress
        Called with the number of samples done and their total.

    Notes
    -----
    The statistic is :math:`2n\{l(\hat w) - l(w_0)\}`. The p-value is :math:`(1+k)/(1+B)` if k of B samples have at
    least that statistic. Its level is exact up to the spacing 1/(1+B), even if some shares are 0. To plan this test,
    use `power`.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["black", "red", "green", "blue"])
    >>> counts = sp.simulate(design, [0.1, 0.2, 0.3, 0.4], 2000, seed=1)
    >>> sp.fit_test(counts, [0.1, 0.2, 0.3, 0.4], seed=1).pvalue > 0.05
    True
    >>> sp.fit_test(counts, [0.25, 0.25, 0.25, 0.25], seed=1).pvalue
    0.001
    """
    counts = as_counts(data).require_data()
    check_choice(null, NULLS, "null")
    check_count(replications, "replications", least=19)
    w0 = check_distribution(reference, counts.categories.labels, "reference")
    if counts.squares is not None:
        raise ArgumentError("`data` must count people without weights; got sampling weights.", UNWEIGHTED)
    if counts.design.is_known:
        counts.design.require_identifiable()
    w, statistic = _statistic(counts, w0)
    df = counts.categories.p - 1
    asymptotic = float(chdtrc(df, statistic))
    notes = () if min(w.min(), w0.min()) > 1e-9 else (Note(NoteKind.BOUNDARY, _BOUNDARY),)
    if not np.isfinite(statistic):
        notes = (Note(NoteKind.IMPOSSIBLE, _IMPOSSIBLE),)
    shared: dict[str, Any] = {
        "categories": counts.categories.labels,
        "estimate": w,
        "reference": w0,
        "statistic": statistic,
        "df": df,
    }
    if null == "chi-square":
        return FitTest(
            **shared,
            pvalue=asymptotic,
            chi_square_pvalue=asymptotic,
            null=null,
            replications=0,
            n=counts.n * counts.design.real_share,
            notes=notes,
        )
    drawn = _drawn(counts, w0, replications, seed, progress)
    pvalue = (1 + int((drawn >= statistic - 1e-9 * max(statistic, 1.0)).sum())) / (1 + replications)
    return FitTest(
        **shared,
        pvalue=pvalue,
        chi_square_pvalue=asymptotic,
        null=null,
        replications=replications,
        n=counts.n * counts.design.real_share,
        notes=notes,
        statistics=drawn,
    )


_IMPOSSIBLE = "The reference is ruled out: some people reported a subset that has probability 0 under it."
_BOUNDARY = (
    "On the boundary: some share is 0 in the estimate or in the reference. The chi-square distribution is then only "
    "approximate."
)


def _statistic(counts: SubsetCounts, w0: FloatArray) -> tuple[FloatArray, float]:
    """Return the maximum of the likelihood, and the likelihood ratio statistic."""
    w = maximize(counts.incidence, counts.shares, _TOLERANCE).w
    top, there = (mean_loglik(counts.incidence, counts.shares, x) for x in (w, w0))
    return w, max(2 * counts.total * (top - there), 0.0)


def _drawn(
    counts: SubsetCounts, w0: FloatArray, replications: int, seed: Any, progress: Callable[[int, int], None] | None
) -> FloatArray:
    """Return the statistics of samples drawn under the reference."""
    if not counts.design.is_known:
        raise ArgumentError(
            "`data` must have a known design to draw samples from; got subsets of an unknown one.", CHI_SQUARE_NULL
        )
    # Some people draw the full set, which has no information. Dummy rows are not people and are drawn in addition.
    people = round(counts.total * counts.design.real_share / (1 - counts.design.mu_full))
    samples = simulate_many(counts.design, w0, n=people, size=replications, seed=seed)
    seen = ~samples.design.is_missing(samples.codes)
    codes, table = samples.codes[seen], samples.counts[:, seen].astype(np.float64)
    inc = counts.design.incidence(codes)
    at_null = inc.inner(w0)
    block = max(_BLOCK // max(len(codes), 1), 1)
    statistics = []
    for start in range(0, replications, block):
        if progress is not None:
            progress(start, replications)
        n_a = table[start : start + block]
        total = n_a.sum(axis=1, keepdims=True)
        f = n_a / np.maximum(total, 1.0)
        if counts.categories.p <= MANY:
            L = inc.inner(newton_many(inc, f, start=None, tol=_TOLERANCE).w)
        else:
            fits = [maximize(Cells(inc, np.flatnonzero(row)), row[row > 0], _TOLERANCE).w for row in f]
            L = inc.inner(np.array(fits))
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(f > 0, f * (np.log(L) - np.log(at_null)), 0.0).sum(axis=1)
        statistics.append(2 * total[:, 0] * np.maximum(gain, 0.0))
    if progress is not None:
        progress(replications, replications)
    return np.concatenate(statistics)
