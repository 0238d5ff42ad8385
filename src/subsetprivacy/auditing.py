"""`audit`: what a design, or a published column, gives away, every number beside its baseline (`subsec_quantity`)."""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen
from scipy.special import ndtri

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, check_level
from subsetprivacy.data import SubsetCounts, SubsetData, as_counts
from subsetprivacy.design import Design, fully_private, nonprivate
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.privacy import information, maximal, prediction, size
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.privacy.information import Bits
from subsetprivacy.privacy.person import PersonLeakage, person_leakage
from subsetprivacy.tables import Table, number, percent

METRICS = ("size", "mi", "prediction")


@frozen(slots=False, eq=False, repr=False)
class Audit:
    """What a design gives away at a distribution.

    Read `to_dict()` for the numbers, `summary()` for the table, `plot()` for
    the picture. With data, `persons()` has each person's leakage.
    """

    setting: Setting
    level: float
    fit: Estimate | None = None
    data: SubsetData | None = None
    counts: SubsetCounts | None = None
    notes: tuple[str, ...] = ()

    @property
    def design(self) -> Design:
        """The audited design."""
        return self.setting.design

    @cached_property
    def _mi(self) -> Bits:
        return information.leakage(self.setting)

    @cached_property
    def _numbers(self) -> dict[str, tuple[float, float, float, float]]:
        """Leakage, coverage, baseline and value-published leakage of each metric."""
        s, bits = self.setting, self._mi.value
        return {
            "size": (size.leakage(s), size.coverage(s), size.baseline(), size.nonprivate(s)),
            "mi": (bits, information.coverage(s, bits), information.baseline(), information.nonprivate(s)),
            "prediction": (
                prediction.leakage(s),
                prediction.coverage(s),
                prediction.baseline(s),
                prediction.nonprivate(),
            ),
        }

    @cached_property
    def _standard_errors(self) -> dict[str, float]:
        """Delta-method errors of the three leakages from the estimated distribution; empty without data."""
        if self.fit is None:
            return {}
        slopes = {"size": size.gradient(self.setting), "prediction": prediction.guess_weights(self.setting)}
        if self.design.enumerable:
            slopes["mi"] = information.gradient(self.setting)
        variances = {name: self.fit.uncertainty.along(self.fit, g) for name, g in slopes.items()}
        return {name: float(np.sqrt(max(v, 0.0))) for name, v in variances.items() if np.isfinite(v)}

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers under stable names; `_lower` and `_upper` only where there are data."""
        out: dict[str, Any] = {"design": self.design.kind, "categories": list(self.design.categories)}
        for name in METRICS:
            leaked, covered, base, top = self._numbers[name]
            out |= {f"{name}_leakage": leaked, f"{name}_coverage": covered, f"{name}_baseline": base}
            out[f"{name}_nonprivate"] = top
            if name in self._standard_errors:
                lower, upper = self._interval(name)
                out |= {f"{name}_leakage_lower": lower, f"{name}_leakage_upper": upper}
        if self._mi.simulation_error:
            out["mi_simulation_error"] = self._mi.simulation_error
        out["maximal_leakage"] = maximal.maximal_leakage(self.design)
        out["smallest_set"] = self.design.smallest_set
        out["largest_posterior"] = maximal.largest_posterior(self.setting)
        out["identifiable"] = self.design.is_identifiable
        out["subset_private"] = self.design.is_subset_private
        if self.counts is not None:
            out |= {"n": self.counts.n, "level": self.level}
        return out

    def _interval(self, name: str) -> tuple[float, float]:
        leaked = self._numbers[name][0]
        half = float(ndtri(0.5 + self.level / 2)) * self._standard_errors[name]
        # Only what is true of every distribution may cut an interval: estimated bounds would cost coverage.
        most = float(np.log2(self.design.p)) if name == "mi" else 1.0
        return max(leaked - half, 0.0), min(leaked + half, most)

    def summary(self) -> Table:
        """Return the table: each leakage between no data and the value itself, then the worst cases as notes."""
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
        for name in METRICS:
            leaked, covered, base, top = self._numbers[name]
            row = [names[name], number(leaked), number(covered), number(base), number(top)]
            if ranged:
                bounds = self._interval(name) if name in self._standard_errors else (np.nan, np.nan)
                row[2:2] = [number(bounds[0]), number(bounds[1])]
            rows.append(tuple(row))
        people = "" if self.counts is None else f", {self.counts.n_text}"
        belief = ", attacker's own prior" if self._has_prior else ""
        title = f"Privacy audit: {self.design.kind} design, {self.design.p} categories{people}{belief}"
        return Table(title, tuple(columns), tuple(rows), tuple(self._worst_cases()))

    @property
    def _has_tie(self) -> bool:
        """Whether the two likeliest categories are within two standard errors: a maximum has no slope at a tie."""
        if "prediction" not in self._standard_errors or self.fit is None:
            return False
        second, first = np.argsort(self.setting.w)[-2:]
        difference = np.zeros(self.design.p)
        difference[[first, second]] = 1, -1
        variance = self.fit.uncertainty.along(self.fit, difference)
        return bool(self.setting.w[first] - self.setting.w[second] < 2 * np.sqrt(max(float(variance), 0.0)))

    @property
    def _has_prior(self) -> bool:
        return self.setting.belief is not self.setting.w

    def _worst_cases(self) -> list[str]:
        posterior = maximal.largest_posterior(self.setting)
        certain = " (1 because a category has probability 0)" if posterior == 1 and self.design.smallest_set > 1 else ""
        knows = " who knows the distribution" if self._has_prior else ""
        lines = [
            "Leakage is what a subset gives away, coverage what remains.",
            f"Maximal leakage {maximal.maximal_leakage(self.design):.4g} bit: on average over the subsets, the chance "
            f"that an attacker{knows} guesses right is multiplied by at most {self.design.S:.4g}, whatever is guessed.",
            f"Smallest set that can be reported: {self.design.smallest_set} of {self.design.p} categories; largest "
            f"posterior {posterior:.4f}{certain}.",
            "Epsilon of local differential privacy: infinite, since values outside the subset are ruled out.",
        ]
        if self.design.kind == "fully_private":
            lines[-1] = "Epsilon of local differential privacy: 0, since nothing is reported."
        if self._has_prior:
            lines.append(
                "With a prior of their own, attackers gain in their own belief; that gain can exceed the bounds."
            )
        if self._has_tie:
            lines.append("The two likeliest categories can hardly be told apart: the prediction interval is too short.")
        lines += self.notes
        if self._mi.simulation_error:
            error = self._mi.simulation_error
            lines.append(f"Mutual information was simulated, standard error {error:.1e} bit; it has no interval.")
        if not self.design.is_subset_private:
            lines.append("NOT subset-private: a single value can be reported.")
        if not self.design.is_identifiable:
            lines.append("Not identifiable: the distribution cannot be estimated from this design.")
        return lines

    def persons(self, values: Any = None) -> PersonLeakage:
        """Return each person's leakage; needs an audit of data with a row per person."""
        if self.data is None:
            raise ArgumentError("`persons` must have a subset per person; this audit is of a design or of counts.")
        return person_leakage(self.data, self.setting.belief, values=values)

    def plot(self, kind: str = "designs", **options: Any) -> Any:
        """Draw the leakage beside that of reporting the value and reporting nothing, or individual cases.

        Parameters
        ----------
        kind
            ``"designs"``: bars of three designs by three metrics
            (`fig:adult_privacy_leak`). ``"persons"``: rows of balls
            (`fig:adult_privacy`); needs an audit of data.
        **options
            Passed to `PersonLeakage.plot`.
        """
        check_choice(kind, ("designs", "persons"), "kind")
        if kind == "persons":
            return self.persons().plot(**options)
        labels = self.design.categories.labels
        others = [audit(make(labels), self.setting.w) for make in (nonprivate, fully_private)]
        columns = [others[0], self, others[1]]
        titles = {"size": "size", "mi": "mutual information", "prediction": "prediction"}
        return draw.leakage(
            ["value published", self.design.kind, "nothing published"],
            {titles[name]: [column._numbers[name][0] for column in columns] for name in METRICS},
            baselines={titles["prediction"]: self._numbers["prediction"][2]},
            units={
                titles["size"]: "share of people ruled out",
                titles["mi"]: "bits",
                titles["prediction"]: "chance of a right guess",
            },
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {self._numbers[name][0]:.4f}" for name in METRICS)
        return f"<Audit of a {self.design.kind} design, leakage: {parts}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def audit(what: Design | SubsetData | SubsetCounts, w: Any = None, *, prior: Any = None, level: float = 0.95) -> Audit:
    """Say in numbers what a design or a column of subsets gives away.

    Parameters
    ----------
    what
        A design, then `w` is needed; or data or counts, then w is estimated
        and the leakages get intervals.
    w
        The distribution of the value, in category order or by label.
    prior
        An attacker's own belief about the distribution; by default w.
    level
        The confidence level of the intervals.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> report = audit(uniform(["black", "red", "green", "blue"]), [0.01, 0.1, 0.2, 0.69])
    >>> round(report.to_dict()["size_coverage"], 4), round(report.to_dict()["mi_leakage"], 4)
    (0.6841, 0.7076)
    """
    check_level(level)
    if isinstance(what, Design):
        if w is None:
            raise ArgumentError("`w` must be given to audit a design. Hint: try audit(design, fit.w), or audit(data).")
        return Audit(Setting.of(what, w, prior), level)
    counts = as_counts(what)
    data = what if isinstance(what, SubsetData) else None
    if w is not None:
        return Audit(Setting.of(counts.design, w, prior), level, data=data, counts=counts)
    fit = estimate(counts)
    setting = Setting.of(counts.design, fit.w, prior)
    # An interval needs the belief to move with w; against a fixed prior only the numbers are given.
    known = fit if prior is None else None
    return Audit(setting, level, fit=known, data=data, counts=counts, notes=fit.notes)
