"""What can be asked of shares, whether they are an estimate itself or read off one."""

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
    """Estimated shares: of all categories, of one of several variables, or of merged categories."""

    __slots__ = ()

    if TYPE_CHECKING:  # what the two classes have, as a field or as a property

        @property
        def categories(self) -> Categories:
            """The categories, in the order of `w`."""

        @property
        def w(self) -> FloatArray:
            """The shares."""

        @property
        def in_simplex(self) -> bool:
            """Whether the method stays in the simplex by construction."""

        @property
        def uncertainty(self) -> Any:
            """How the error is asked for."""

    @property
    @abstractmethod
    def _base(self) -> "Estimate":
        """The estimate that the shares are read off."""

    @abstractmethod
    def _lift(self, c: FloatArray) -> FloatArray:
        """Return weights of the base's categories, from weights of these."""

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
            The value that is tested, by default 0; a sum that cannot be 0 has no test then.
        alternative
            ``"two-sided"``; or ``"less"`` or ``"greater"``: a one-sided test, and an interval with one end.
        level
            The confidence level.
        method
            ``"score"``: the score test and the values that it does not reject, reliable near 0 and 1.
            ``"profile"``: the likelihood ratio test. ``"wald"``: estimate and standard error. ``"auto"``: score for
            up to 64 categories where the estimate is by likelihood, else Wald's.

        Notes
        -----
        With :math:`V` the variance of the sum and :math:`u` the slope of its profile log-likelihood at the tested
        value, the score statistic is :math:`z = u\sqrt V`. For a share that is seen directly it is that of Wilson's
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
        """Return by how much each share differs from that of another sample.

        Parameters
        ----------
        other
            The estimate that is subtracted. It may be of another design; the categories must be the same, in any
            order. The two samples must be independent; or both are margins of one joint estimate.
        names
            What the two are called in output.
        same_people
            Whether the two samples are answers of the same people, as in a panel. Then their difference cannot be had
            from two separate estimates, and the error says what is needed.

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
        """Return the shares of merged categories, with intervals of their own.

        Parameters
        ----------
        groups
            ``{"often": ["weekly", "daily"]}``: new labels, and the categories that each replaces. Categories that are
            not named stay as they are.

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
