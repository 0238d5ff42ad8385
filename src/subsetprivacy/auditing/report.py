"""`Audit`: the result of an audit of one variable, with a baseline for every number."""

from functools import cached_property
from typing import Any, ClassVar, Literal, get_args, overload

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice
from subsetprivacy._choices import AuditPicture
from subsetprivacy.auditing.caveats import caveats
from subsetprivacy.data import SubsetCounts, SubsetData
from subsetprivacy.design import Covered, Design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.likelihood import cost, least_cost
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_tests import AUDIT_DATA
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting, entropy_bits
from subsetprivacy.privacy.given_result import CovariateLeakage
from subsetprivacy.privacy.metrics import Bits
from subsetprivacy.privacy.person import PersonLeakage, person_leakage
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number, percent


@frozen(slots=False, eq=False, repr=False)
class Audit(Result):
    """What a design reveals at a distribution.

    `to_dict()` returns the numbers, `summary()` the table and `plot()` the
    picture. With data, `persons()` returns each person's leakage. With
    covariates, `given` is the `CovariateLeakage` of rows that include them.
    """

    why_not_restored: ClassVar[str] = "keep the design and the distribution, or the counts, and audit them again"

    setting: Setting
    level: float
    fit: Estimate | None = None
    data: SubsetData | None = None
    counts: SubsetCounts | None = None
    remarks: tuple[Note, ...] = ()
    covered: Covered | None = None
    given: CovariateLeakage | None = None

    @property
    def design(self) -> Design:
        """The audited design."""
        return self.setting.design

    @property
    def kind(self) -> str:
        """The kind of design, by the name of the function that makes it."""
        return self.design.maker if self.covered is None else f"covered {self.design.maker}"

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Worst cases, the price of privacy, and caveats."""
        return caveats(self)

    @cached_property
    def largest_posterior(self) -> float:
        """The largest probability of a single value, over all subsets that can be reported."""
        return metrics.largest_posterior(self.setting)

    @property
    def simulation_error(self) -> float:
        """The Monte Carlo standard error of the mutual information; 0 if it was computed exactly."""
        return self._mi.simulation_error

    @cached_property
    def _mi(self) -> Bits:
        return metrics.mi_leakage(self.setting)

    @cached_property
    def _numbers(self) -> dict[str, tuple[float, float, float, float]]:
        """For each metric: leakage, coverage, leakage without data, and leakage if values were published."""
        s, bits = self.setting, self._mi.value
        size = (metrics.size_leakage(s), metrics.size_coverage(s), metrics.size_baseline(), metrics.size_nonprivate(s))
        return {
            **({"size": size} if self.design.rules_out else {}),  # a share that is ruled out, if one can be
            "mi": (bits, metrics.mi_coverage(s, bits), metrics.mi_baseline(), metrics.mi_nonprivate(s)),
            "prediction": (
                metrics.prediction_leakage(s),
                metrics.prediction_coverage(s),
                metrics.prediction_baseline(s),
                metrics.prediction_nonprivate(),
            ),
        }

    @cached_property
    def _standard_errors(self) -> dict[str, float]:
        """Delta-method errors of the three leakages from the estimated distribution; empty without data."""
        if self.fit is None or self.design.p > MAX_MATRIX:
            return {}
        slopes = {"size": metrics.size_gradient(self.setting), "prediction": metrics.guess_weights(self.setting)}
        if self.design.enumerable:
            slopes["mi"] = metrics.mi_gradient(self.setting)
        variances = {
            name: self.fit.uncertainty.along(self.fit, slopes[name]) for name in self._numbers if name in slopes
        }
        return {name: float(np.sqrt(max(v, 0.0))) for name, v in variances.items() if np.isfinite(v)}

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under stable names, with `_lower` and `_upper` only if there are data."""
        return plain({**self.facts(), "notes": self.notes})

    def facts(self) -> dict[str, Any]:
        """Return the numbers of `to_dict`, without the notes."""
        out: dict[str, Any] = {"design": self.kind, "categories": list(self.design.categories)}
        for name, (leaked, covered, base, top) in self._numbers.items():
            out |= {f"{name}_leakage": leaked, f"{name}_coverage": covered, f"{name}_baseline": base}
            out[f"{name}_nonprivate"] = top
            if name in self._standard_errors:
                lower, upper = self._interval(name)
                out |= {f"{name}_leakage_lower": lower, f"{name}_leakage_upper": upper}
        if self.simulation_error:
            out["mi_simulation_error"] = self.simulation_error
        out["maximal_leakage"] = metrics.maximal_leakage(self.design)
        out["smallest_set"] = self.design.smallest_set
        out["largest_posterior"] = self.largest_posterior
        out["identifiable"] = self.design.is_identifiable
        out["subset_private"] = self.design.is_subset_private
        out |= {"epsilon": self.design.epsilon, "reveals": self.reveals}
        out |= {"cost": self.cost, "cost_bound": least_cost(self.design)}
        if self.covered is not None:
            out |= {"floor": self.covered.floor, "dummy_share": self.covered.D * self.covered.share}
        if self.counts is not None:
            out |= {"n": self.counts.n, "level": self.level}
        if self.given is not None:
            out["given"] = self.given.to_dict()
        return out

    def _columns(self) -> dict[str, Any]:
        """Return a row per metric. Numbers that need data are NaN without data."""
        numbers = np.array(list(self._numbers.values())).T
        bounds = np.array([self._bounds(name) for name in self._numbers])
        known = np.isfinite(bounds[:, 0])
        return {
            "metric": list(self._numbers),
            "leakage": numbers[0],
            "lower": bounds[:, 0],
            "upper": bounds[:, 1],
            "level": np.where(known, self.level, np.nan),
            "coverage": numbers[1],
            "baseline": numbers[2],
            "nonprivate": numbers[3],
        }

    def _bounds(self, name: str) -> tuple[float, float]:
        return self._interval(name) if name in self._standard_errors else (np.nan, np.nan)

    @cached_property
    def reveals(self) -> dict[str, float]:
        """The share of rows that reveal the value, or each joined variable. Empty if the subsets cannot be listed."""
        return metrics.revealed_shares(self.setting) if self.design.enumerable else {}

    @cached_property
    def cost(self) -> float:
        """How many times as many people the estimate needs as asking directly, at this distribution."""
        return cost(self.covered or self.design, self.setting.w)

    def _interval(self, name: str) -> tuple[float, float]:
        leaked = self._numbers[name][0]
        half = float(ndtri(0.5 + self.level / 2)) * self._standard_errors[name]
        # Intervals are truncated only at bounds that hold for every distribution. Others would reduce coverage.
        most = float(np.log2(self.design.p)) if name == "mi" else 1.0
        return max(leaked - half, 0.0), min(leaked + half, most)

    def summary(self) -> Table:
        """Return a table of each leakage, compared with no data and with the value itself, and the worst cases."""
        ranged = bool(self._standard_errors)
        columns = ["metric", "leakage", "coverage", "without data", "value published"]
        if ranged:
            columns[2:2] = [f"lower {percent(self.level)}", f"upper {percent(self.level)}"]
        names = {
            "size": "size (share of people ruled out)",
            "mi": "mutual information (bits)",
            "prediction": "prediction (best guess right)",
        }
        rows = []
        for name, (leaked, covered, base, top) in self._numbers.items():
            row = [names[name], number(leaked), number(covered), number(base), number(top)]
            if ranged:
                row[2:2] = map(number, self._bounds(name))
            rows.append(tuple(row))
        rows += self._given_rows(ranged)
        people = "" if self.counts is None else f", {self.counts.n_text}"
        belief = ", attacker's own prior" if self.has_prior else ""
        title = f"Privacy audit: {self.kind} design, {self.design.p} categories{people}{belief}"
        return Table(title, tuple(columns), tuple(rows), self.notes)

    def _given_rows(self, ranged: bool) -> list[tuple[str, ...]]:
        """Return the rows of the table for rows with covariates, the share above 95% first."""
        if self.given is None:
            return []
        known, both = self.given.covariates, self.given.both
        entropy = entropy_bits(self.given.w)
        numbers = {
            "one value above 95%": (both.above_95, 1 - both.above_95, known.above_95, 1.0),
            "size": (both.size_leakage, 1 - both.size_leakage, known.size_leakage, np.nan),
            "mutual information (bits)": (
                self.given.added_information,
                entropy - both.information,
                0.0,
                entropy - known.information,
            ),
            "prediction": (both.best_guess, 1 - both.best_guess, known.best_guess, 1.0),
        }
        gap = ("-", "-") if ranged else ()
        return [
            (f"given covariates: {name}", number(leaked), *gap, *map(number, others))
            for name, (leaked, *others) in numbers.items()
            if self.design.rules_out or name != "size"
        ]

    @property
    def has_tie(self) -> bool:
        """Whether the two largest shares are within two standard errors, so that the best guess is uncertain."""
        if "prediction" not in self._standard_errors or self.fit is None:
            return False
        first, second = np.argsort(-self.setting.w, kind="stable")[:2]
        difference = np.zeros(self.design.p)
        difference[[first, second]] = 1, -1
        variance = self.fit.uncertainty.along(self.fit, difference)
        return bool(self.setting.w[first] - self.setting.w[second] < 2 * np.sqrt(max(float(variance), 0.0)))

    @property
    def has_prior(self) -> bool:
        """Whether the attacker has a separate prior."""
        return self.setting.belief is not self.setting.w

    def persons(self, values: Any = None) -> PersonLeakage:
        """Return each person's leakage. This needs an audit of data with a row per person.

        Parameters
        ----------
        values
            The true values, as in `person_leakage`. **The result then discloses values.**
        """
        if self.data is None:
            raise ArgumentError(
                "`persons` must have a subset per person; this audit is of a design or of counts.", AUDIT_DATA
            )
        return person_leakage(self.data, self.setting.belief, values=values)

    @overload
    def plot(self, kind: Literal["designs"] = ...) -> draw.Figure: ...
    @overload
    def plot(
        self,
        kind: Literal["persons"],
        *,
        most: int = ...,
        truth: Any = ...,
        names: Any = ...,
        ax: draw.AxesOrNone = ...,
    ) -> draw.Axes: ...
    def plot(self, kind: AuditPicture = "designs", **options: Any) -> "draw.Figure | draw.Axes":
        """Draw the leakage compared with reporting the value and reporting nothing, or the leakage of single people.

        Parameters
        ----------
        kind
            ``"designs"``: bars of three designs by three metrics
            (`fig:adult_privacy_leak`). ``"persons"``: rows of balls
            (`fig:adult_privacy`), which needs an audit of data.
        **options
            Passed to `PersonLeakage.plot`, for ``"persons"``.
        """
        check_choice(kind, get_args(AuditPicture), "kind")
        if kind == "persons":
            return self.persons().plot(**options)
        if options:
            raise ArgumentError(
                f"`{next(iter(options))}` must be left out for kind 'designs', which draws a figure of several panels."
            )
        titles = {"size": "size", "mi": "mutual information", "prediction": "prediction"}
        return draw.leakage(
            ["value published", self.kind, "nothing published"],
            {titles[name]: [each[k] for k in (3, 0, 2)] for name, each in self._numbers.items()},
            baselines={titles["prediction"]: self._numbers["prediction"][2]},
            units={
                titles["size"]: "share of people ruled out",
                titles["mi"]: "bits",
                titles["prediction"]: "chance of a right guess",
            },
            title=f"What a subset of the {self.kind} design reveals",
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {leaked:.4f}" for name, (leaked, *_) in self._numbers.items())
        return f"<Audit of a {self.kind} design, leakage: {parts}>"
