"""`Contrast`: a weighted sum of estimated shares, with its interval and test."""

from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from attrs import evolve, field, frozen
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from subsetprivacy._checks import check_choice, check_level
from subsetprivacy._choices import Alternative, ContrastMethod
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.estimation.intervals import SignedScore, is_affordable, search_end
from subsetprivacy.estimation.linear_profile import LinearProfile
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_estimates import (
    CONTRAST_BY_WALD,
    WEIGHTS_BY_LABEL,
)
from subsetprivacy.pvalues import p_equals, positive, pvalue_text
from subsetprivacy.results import Result, plain, unknown_as_nan
from subsetprivacy.subsets import Categories
from subsetprivacy.tables import Table, label_text, number, percent

if TYPE_CHECKING:
    from subsetprivacy.estimation.shares import Shares

METHODS: tuple[ContrastMethod, ...] = get_args(ContrastMethod)
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
AGAINST = {"two-sided": "", "less": "at least ", "greater": "at most "}  # the null hypothesis in words
_SHOWN = 8


@frozen(eq=False, repr=False)
class Contrast(Result):
    """A weighted sum of shares; made by `Estimate.contrast`.

    Attributes
    ----------
    weights
        The weight of each category that has one.
    value, se
        The estimate and its standard error. `estimate` is the same as `value`.
    lower, upper, level
        The confidence interval and its level. A one-sided alternative gives a one-sided interval.
    null, alternative
        The tested value and the alternative.
    zscore, pvalue
        The test statistic and its p-value; NaN if the sum is known.
    method
        The method of interval and test: ``"wald"``, ``"score"`` or ``"profile"``.
    """

    weights: Mapping[Label, float]
    value: float
    se: float
    lower: float
    upper: float
    level: float
    null: float
    alternative: Alternative
    zscore: float
    pvalue: float = field(converter=positive)
    method: str
    notes: tuple[Note, ...] = ()

    @property
    def estimate(self) -> float:
        """The estimate."""
        return self.value

    @property
    def name(self) -> str:
        """The sum in words: ``red - blue``."""
        terms = [_term(label, weight) for label, weight in list(self.weights.items())[:_SHOWN]]
        text = " ".join(terms).removeprefix("+ ")
        return text if len(self.weights) <= _SHOWN else f"{text} …"

    def __str__(self) -> str:
        test = "no test"
        if self.pvalue == self.pvalue:
            test = f"{p_equals(self.pvalue)} against {AGAINST[self.alternative]}{self.null:g}"
        return (
            f"{self.name}: {number(self.value)} (std. error {number(self.se)}, {percent(self.level)} interval "
            f"{number(self.lower)} to {number(self.upper)}, {test})"
        )

    def __repr__(self) -> str:
        return f"<Contrast {self}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        level = percent(self.level)
        head = ("contrast", "estimate", "std. error", f"lower {level}", f"upper {level}", "z", "p-value")
        numbers = [number(x) for x in (self.value, self.se, self.lower, self.upper)]
        row = (self.name, *numbers, number(self.zscore, 2), pvalue_text(self.pvalue))
        title = "Weighted sum of shares"
        if self.pvalue == self.pvalue:
            title += f". Null hypothesis: it is {AGAINST[self.alternative]}{self.null:g}"
        return Table(title, head, (row,), (f"Interval and test by method '{self.method}'.", *self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        names = ("se", "lower", "upper", "level", "null", "alternative", "zscore", "pvalue", "method", "notes")
        return plain(
            {
                "categories": list(self.weights),
                "weights": list(self.weights.values()),
                "estimate": self.value,
                **{name: getattr(self, name) for name in names},
            }
        )

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the contrast that `to_dict` wrote."""
        labels = [tuple(label) if isinstance(label, list) else label for label in facts["categories"]]
        numbers = {name: unknown_as_nan(facts[name]) for name in ("se", "level", "null", "zscore", "pvalue")}
        return cls(
            weights=dict(zip(labels, facts["weights"], strict=True)),
            value=unknown_as_nan(facts["estimate"]),
            lower=_end_of(facts["lower"], -np.inf),
            upper=_end_of(facts["upper"], np.inf),
            alternative=facts["alternative"],
            method=facts["method"],
            notes=tuple(map(Note.from_dict, facts["notes"])),
            **numbers,
        )

    def _columns(self) -> dict[str, Any]:
        names = ("estimate", "se", "lower", "upper", "level", "null", "alternative", "zscore", "pvalue", "method")
        return {"contrast": [self.name], **{name: [getattr(self, name)] for name in names}}


def _term(label: Label, weight: float) -> str:
    size = "" if abs(weight) == 1 else f"{abs(weight):g} "
    return f"{'-' if weight < 0 else '+'} {size}{label_text(label)}"


def _end_of(value: float | None, infinite: float) -> float:
    return infinite if value is None else float(value)


@frozen
class ContrastOptions:
    """Level, null value, alternative and method of a contrast."""

    level: float
    null: float
    alternative: Alternative
    method: ContrastMethod
    is_default: bool = False
    degrees: float = np.inf

    @classmethod
    def checked(
        cls, level: float, null: float | None, alternative: Alternative, method: ContrastMethod
    ) -> "ContrastOptions":
        """Return the options, or raise if an argument is invalid."""
        check_level(level)
        check_choice(alternative, ALTERNATIVES, "alternative")
        check_choice(method, METHODS, "method")
        if null is None:
            return cls(level, 0.0, alternative, method, is_default=True)
        if not isinstance(null, Real) or isinstance(null, bool):
            raise ArgumentError(f"`null` must be a number; got {type(null).__name__}.")
        if not np.isfinite(float(null)):
            raise ArgumentError("`null` must be finite; it is not.")
        return cls(level, float(null), alternative, method)

    @property
    def quantile(self) -> float:
        """The distance of an end of the interval from the estimate, in standard errors."""
        below = self.level if self.alternative != "two-sided" else 0.5 + self.level / 2
        return float(ndtri(below) if np.isinf(self.degrees) else stdtrit(self.degrees, below))

    def ends(self, lower: float, upper: float, least: float, most: float) -> tuple[float, float]:
        """Return both ends; of a one-sided interval, one end and the end of the range."""
        return (
            least if self.alternative == "less" else lower,
            most if self.alternative == "greater" else upper,
        )

    def pvalue(self, z: float) -> float:
        """Return the p-value of a statistic with a normal or t distribution."""
        if self.alternative == "two-sided":
            return 2 * self._below(-abs(z))
        return self._below(z if self.alternative == "less" else -z)

    def _below(self, z: float) -> float:
        return float(ndtr(z) if np.isinf(self.degrees) else stdtr(self.degrees, z))


def contrast_of(fit: "Shares", weights: Distribution, options: ContrastOptions) -> Contrast:
    """Return c'w with its standard error, interval and test."""
    c = read_weights(weights, fit.categories)
    options = evolve(options, degrees=fit._base.degrees_of_freedom)
    order = weights if isinstance(weights, Mapping) else fit.categories
    named = {label: float(x) for label in order if (x := c[fit.categories.index(label)])}
    value = float(c @ fit.w)
    if fit.in_simplex and np.ptp(c) == 0:  # a multiple of the sum of all shares, which is known
        return _made(named, options, "wald", (value, 0.0, value, value, np.nan, np.nan))
    variance = fit.uncertainty.along(fit, c)
    se = float(np.sqrt(max(variance, 0.0))) if variance == variance else float("inf")
    # The sum of a distribution stays in the range of the weights; that of a moment estimate may not.
    least, most = (float(c.min()), float(c.max())) if fit.in_simplex else (-np.inf, np.inf)
    outside = not least <= options.null <= most
    if outside and not options.is_default:
        raise ArgumentError(
            f"`null` must be a value that the sum can have, from {least:g} to {most:g}; got {options.null:g}."
        )
    if outside:  # a sum that cannot be 0, such as a mean score, has no default test
        options = evolve(options, null=np.nan)
    method = chosen_method(fit, options.method)
    if method == "wald":
        half = options.quantile * se
        lower, upper = options.ends(value - half, value + half, least, most)
        gap = value - options.null
        z = gap / se if se > 0 else (float(np.copysign(np.inf, gap)) if gap else 0.0)
        return _made(named, options, method, (value, se, max(lower, least), min(upper, most), z, options.pvalue(z)))
    profile = LinearProfile(fit._base._peak(), fit._lift(c))
    z = np.nan if options.null != options.null else signed_statistic(profile, options.null, score=method == "score")
    lower, upper = (
        search_end(
            profile, end, SignedScore(options.quantile, score=method == "score", start=profile.start), options.quantile
        )
        for end in (profile.least, profile.most)
    )
    return _made(named, options, method, (value, se, *options.ends(lower, upper, least, most), z, options.pvalue(z)))


def _made(named: Mapping[Label, float], options: ContrastOptions, method: str, numbers: tuple[float, ...]) -> Contrast:
    value, se, lower, upper, z, pvalue = numbers
    return Contrast(
        named,
        value,
        se,
        lower,
        upper,
        options.level,
        options.null,
        options.alternative,
        z,
        pvalue=pvalue,
        method=method,
    )


def chosen_method(fit: "Shares", method: ContrastMethod, comparisons: int = 1) -> str:
    """Return the method; for ``"auto"``, the score test where it is available and fast, Wald's otherwise."""
    if method == "wald":
        return method
    if method == "auto":
        return "score" if is_affordable(fit._base, comparisons) else "wald"
    if not fit._base.has_ratio:
        raise ArgumentError(
            f"`method` {method!r} must be used with a likelihood estimate of few categories; got an estimate by "
            f"{fit._base.method} with {fit._base.categories.p} categories.",
            CONTRAST_BY_WALD,
        )
    return method


def signed_statistic(profile: LinearProfile, v: float, *, score: bool) -> float:
    """Return the signed statistic of the value v, positive if the estimate is larger."""
    point = profile.at(v)
    if point is None:  # an observed subset would be impossible
        return float(np.copysign(np.inf, profile.top - v))
    return float(np.copysign(SignedScore(0.0, score=score, start=profile.start)(point), profile.top - v))


def read_weights(weights: Distribution, categories: Categories) -> FloatArray:
    """Return a weight for each category."""
    if isinstance(weights, str):
        raise CategoryError("`weights` must map labels to numbers; got a string.", WEIGHTS_BY_LABEL)
    try:
        if isinstance(weights, Mapping):
            c = np.zeros(categories.p)
            if not all(isinstance(weight, Real) for weight in weights.values()):
                raise TypeError
            c[[categories.index(label) for label in weights]] = list(weights.values())
        else:
            c = np.asarray(weights, np.float64)
    except CategoryError:
        raise
    except (TypeError, ValueError):
        raise ArgumentError("`weights` must be numbers; got something else.") from None
    if not c.any():
        empty = not c.size or (isinstance(weights, Mapping) and not weights)
        raise ArgumentError(
            f"`weights` must have an entry other than 0; got {'no entries' if empty else 'only zeros'}."
        )
    if c.shape == (categories.p,) and not np.isfinite(c).all():
        raise ArgumentError("`weights` must be finite; got a number that is not.")
    if c.shape != (categories.p,):
        raise ArgumentError(f"`weights` must be {categories.p} finite numbers, one per category; got shape {c.shape}.")
    return c
