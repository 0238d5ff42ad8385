"""`EffectPower`: the power to find an effect in a regression or a difference of means."""

from collections.abc import Mapping
from math import ceil, sqrt
from typing import Any, ClassVar, Self

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._types import FloatArray
from subsetprivacy._words import counted, people, whole
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_plans import FEWER_OR_MERGED
from subsetprivacy.planning.z_test import chance, critical, people_for
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number, percent

_FEW = 30.0  # people of a category, in terms of asking directly: with fewer, the normal limit is unreliable


@frozen(repr=False)
class EffectPower(Result):
    """The power of a test for an effect. `response_power`, `predictor_power` and `means_power` return one.

    Attributes
    ----------
    what
        The effect, in words.
    effect
        Its size: a log odds ratio, a log rate ratio or a difference of means.
    n
        The number of people: as given, or the smallest that reaches the target.
    variance, direct_variance
        n times the variance of the estimate, from subsets and from people who are asked directly.
    alpha
        The level of the two-sided z test, at most 0.5.
    target
        The required power, or None.
    method
        The estimation method: ``"ml"`` or ``"corrected"``.
    basis
        The assumptions of the plan, in words.
    effective
        The number of people in the rarer of the two categories, in terms of people who are asked directly.
    """

    what: str
    effect: float
    n: int
    variance: float
    direct_variance: float
    alpha: float
    target: float | None
    method: str
    basis: str
    effective: float

    _FACTS: ClassVar[tuple[str, ...]] = (
        "what",
        "effect",
        "n",
        "variance",
        "direct_variance",
        "alpha",
        "target",
        "method",
        "basis",
        "effective",
    )

    @property
    def se(self) -> float:
        """The standard error of the estimate."""
        return sqrt(self.variance / self.n)

    @property
    def power(self) -> float:
        """The probability that the test finds the effect."""
        return chance(self.effect, self.se, critical(self.alpha))

    @property
    def direct_power(self) -> float:
        """The power if the same number of people are asked directly."""
        return chance(self.effect, sqrt(self.direct_variance / self.n), critical(self.alpha))

    @property
    def price(self) -> float:
        """How many times as many people it needs as asking directly."""
        return self.variance / self.direct_variance

    @property
    def direct(self) -> int:
        """The number of people who give the same power if asked directly."""
        if self.target is not None:
            return people_for(self.effect, self.direct_variance, self.alpha, self.target)
        return max(ceil(self.n / self.price * (1 - 1e-12)), 1)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The assumptions, the price of privacy, and whether there are too few people."""
        out = [Note(NoteKind.ASSUMPTION, self.basis)]
        asked = f"Asked directly, {people(self.direct)} would have the same power"
        price = f"{asked}. With privacy, {self.price:.2f} times as many are needed."
        out.append(Note(NoteKind.PRICE, price))
        if self.effective < _FEW:
            text = (
                f"The rarer category has the information of {counted(round(self.effective), 'person', 'people')} asked "
                "directly: the normal approximation is unreliable, and some samples have no solution."
            )
            out.append(Note(NoteKind.SMALL_COUNTS, text, FEWER_OR_MERGED))
        return tuple(out)

    def __repr__(self) -> str:
        return f"<EffectPower {self.power:.4f} with {people(self.n)}: {self.what}, effect {self.effect:.4g}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        direct = sqrt(self.direct_variance / self.n)
        rows = (
            ("people", whole(self.n), whole(self.n)),
            ("effect", number(self.effect), number(self.effect)),
            ("standard error", number(self.se), number(direct)),
            ("power", number(self.power), number(self.direct_power)),
            ("people for this power", whole(self.n), whole(self.direct)),
        )
        wanted = "" if self.target is None else f", for a power of {self.target:g}"
        title = f"{self.what[:1].upper()}{self.what[1:]}: two-sided z test at {percent(self.alpha)}{wanted}"
        return Table(title, ("", "subsets", "asked directly"), rows, self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON."""
        more = ("power", "se", "direct", "direct_power", "price", "notes")
        return plain({name: getattr(self, name) for name in (*self._FACTS, *more)})

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote."""
        return cls(**{name: facts[name] for name in cls._FACTS})

    def _columns(self) -> dict[str, Any]:
        names = ("what", "effect", "n", "power", "se", "alpha", "direct", "direct_power", "price", "method")
        return {name: [getattr(self, name)] for name in names}

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the power against the number of people, compared with asking directly.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        z = critical(self.alpha)
        n: FloatArray = np.geomspace(max(min(self.n, self.direct) / 5, 1), max(self.n, self.direct) * 5, 200)
        both = {"subsets": self.variance, "asked directly": self.direct_variance}
        curves = {
            name: [chance(self.effect, sqrt(each / size), z) for size in n.tolist()] for name, each in both.items()
        }
        minus = "\N{MINUS SIGN}" if self.effect < 0 else ""
        heading = f"Power to find an effect of {minus}{abs(self.effect):.3g}, test at {percent(self.alpha)}"
        return draw.power_curves(
            n,
            curves,
            points={
                "subsets": (self.n, self.power, float("nan")),
                "asked directly": (self.direct, self.power, float("nan")),
            },
            alpha=self.alpha,
            target=self.target,
            title=draw.Heading(heading) if title is None else title,
            ax=ax,
        )


def planned(
    what: str,
    effect: float,
    n: int | None,
    variances: tuple[float, float],
    alpha: float,
    target: float | None,
    *,
    method: str,
    basis: str,
    kept: float,
) -> EffectPower:
    """Return the plan, with the number of people computed if a target is given.

    Parameters
    ----------
    variances
        n times the variance of the estimate, from subsets and from people who are asked directly.
    kept
        The share of people in the rarer category, times the share of their information that subsets preserve.
    """
    size = people_for(effect, variances[0], alpha, target) if n is None else n
    critical(alpha)  # raises unless it is a alpha
    return EffectPower(what, effect, size, *variances, alpha, target, method, basis, size * kept)
