"""`Shares`: contrasts, differences and merged categories of any estimated shares."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from subsetprivacy._choices import Alternative, ContrastMethod
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy.results import Result
from subsetprivacy.subsets import Categories

if TYPE_CHECKING:
    from subsetprivacy.estimation.contrast import Contrast
    from subsetprivacy.estimation.difference import Difference
    from subsetprivacy.estimation.margins import Margin
    from subsetprivacy.estimation.result import Estimate


class Shares(Result):
    """Estimated shares of all categories, of one of several variables, or of merged categories."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields or properties of the subclasses

        @property
        def categories(self) -> Categories:
            """The categories, in the order of `w`."""

        @property
        def w(self) -> FloatArray:
            """The shares."""

        @property
        def in_simplex(self) -> bool:
            """Whether the method always returns a distribution."""

        @property
        def uncertainty(self) -> Any:
            """The source of variances and covariances."""

    @property
    @abstractmethod
    def _base(self) -> "Estimate":
        """The estimate that the shares come from."""

    @abstractmethod
    def _lift(self, c: FloatArray) -> FloatArray:
        """Return weights of the categories of the base estimate, given weights of these categories."""

    @property
    @abstractmethod
    def _shown_se(self) -> FloatArray:
        """The standard errors, without a warning."""

    def contrast(
        self,
        weights: Distribution,
        *,
        null: float | None = None,
        alternative: Alternative = "two-sided",
        level: float = 0.95,
        method: ContrastMethod = "auto",
    ) -> "Contrast":
        r"""Return a weighted sum of the shares with its standard error, interval and test.

        Parameters
        ----------
        weights
            ``{"red": 1, "blue": -1}`` for a difference, ``{"red": 1, "blue": 1}``
            for a total, ``{"red": 1}`` for one share; or one number per category.
        null
            The value to test, by default 0. A sum that cannot be 0 then has no test.
        alternative
            ``"two-sided"``, or ``"less"`` or ``"greater"`` for a one-sided test and a one-sided interval.
        level
            The confidence level.
        method
            ``"score"``: the score test and the values that it does not reject; reliable near 0 and 1.
            ``"profile"``: the likelihood ratio test. ``"wald"``: estimate and standard error. ``"auto"``: the score
            test for likelihood estimates of up to 64 categories, Wald's test otherwise.

        Notes
        -----
        With :math:`V` the variance of the sum and :math:`u` the slope of its profile log-likelihood at the tested
        value, the score statistic is :math:`z = u\sqrt V`. For a share that is observed directly, this gives Wilson's
        interval.

        Examples
        --------
        >>> import subsetprivacy as sp
        >>> design = sp.uniform(["black", "red", "green", "blue"])
        >>> fit = sp.estimate(sp.simulate(design, [0.1, 0.2, 0.3, 0.4], 2000, seed=1))
        >>> more = fit.contrast({"blue": 1, "green": -1}, alternative="greater")
        >>> more.pvalue < 0.05
        True
        """
        from subsetprivacy.estimation.contrast import ContrastOptions, chosen_method, contrast_of

        options = ContrastOptions.checked(level, null, alternative, method)
        if chosen_method(self, method) == "wald":
            self._base._warn_of_caveats(None)
        return contrast_of(self, weights, options)

    def difference(
        self, other: "Estimate | Margin", *, names: tuple[str, str] = ("first", "second"), same_people: bool = False
    ) -> "Difference":
        """Return the difference of each share from that of another estimate.

        Parameters
        ----------
        other
            The estimate to subtract. Its design may differ, but it must have the same categories, in any order. The two
            samples must be independent, or both must be margins of one joint estimate.
        names
            The names of the two estimates in output.
        same_people
            Whether the same people answered in both samples, as in a panel. Two separate estimates do not determine
            the standard error of their difference then, and the error message explains what to do instead.

        Examples
        --------
        >>> import subsetprivacy as sp
        >>> design = sp.uniform(["black", "red", "green", "blue"])
        >>> before = sp.estimate(sp.simulate(design, [0.1, 0.2, 0.3, 0.4], 2000, seed=1))
        >>> after = sp.estimate(sp.simulate(design, [0.2, 0.2, 0.3, 0.3], 2000, seed=2))
        >>> change = after.difference(before)
        >>> change.pvalue < 0.01
        True
        """
        from subsetprivacy.estimation.difference import difference_of

        return difference_of(self, other, names, same_people=same_people)

    def collapse(self, groups: Mapping[Label, Iterable[Label]]) -> "Margin":
        """Return the shares of merged categories, with their intervals.

        Parameters
        ----------
        groups
            New labels, and the categories that each replaces: ``{"often": ["weekly", "daily"]}``. Other categories stay
            as they are.

        Examples
        --------
        >>> import subsetprivacy as sp
        >>> design = sp.uniform(["never", "monthly", "weekly", "daily"])
        >>> fit = sp.estimate(sp.simulate(design, [0.4, 0.3, 0.2, 0.1], 2000, seed=1))
        >>> often = fit.collapse({"often": ["weekly", "daily"]})
        >>> list(often.categories)
        ['never', 'monthly', 'often']
        """
        from subsetprivacy.estimation.margins import collapsed

        return collapsed(self, groups)

    def _rounded(self) -> str:
        """Return the first shares with their standard errors, for representations."""
        from subsetprivacy.tables import label_text, number

        shown: list[Any] = list(zip(self.categories, self.w, self._shown_se, strict=True))
        text = ", ".join(f"{label_text(label)} {number(w)} (se {number(se)})" for label, w, se in shown[:8])
        return text if len(shown) <= 8 else f"{text}, …"
