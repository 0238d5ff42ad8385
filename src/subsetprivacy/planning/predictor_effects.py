r"""`predictor_power` and `means_power`: the power to find that an outcome depends on a private category.

The private category X has shares w, and the outcome y given X = j a mean :math:`\mu_j`. With an indicator
:math:`z_j` for each category, corrected scores solve :math:`\sum_i\sum_j D_{ij} z_j (y_i - \mu_j) = 0`, where the
unbiased indicators D have the working distribution of X given y. So n times the covariance of the estimates is
:math:`A^{-1} M A^{-1}` with :math:`A = \sum_j w_j v_j z_j z_j^\top`, the slopes :math:`v_j` of the means, and
:math:`M = E[\Psi(y)^\top E[DD^\top \mid y]\, \Psi(y)]`, where row j of :math:`\Psi(y)` is :math:`z_j (y - \mu_j)`.
The likelihood has the information of the mixture, with w and the spread of y among its parameters.
"""

from collections.abc import Mapping
from math import log
from typing import Any, get_args

import numpy as np
from attrs import frozen
from scipy.special import expit, gammaln, logit, pdtrik
from scipy.special import xlogy as x_log_y

from subsetprivacy._checks import check_choice, shown
from subsetprivacy._choices import OutcomeFamily, RegressionMethod
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.estimation.indicator import IndicatorTable
from subsetprivacy.messages.for_plans import EFFECT_BY_FAMILY, PILOT_COEFFICIENT, TWO_GROUPS
from subsetprivacy.planning.effect_result import EffectPower, planned
from subsetprivacy.planning.populations import gauss, require_listed, support_of
from subsetprivacy.planning.response_effects import read_effects, read_pair, read_positive, read_ratio, read_size
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.tables import label_text

FAMILIES: tuple[OutcomeFamily, ...] = get_args(OutcomeFamily)
_ARGUMENT = {"linear": "difference", "logit": "odds_ratio", "poisson": "rate_ratio"}
_EFFECT = {"linear": "difference of the means", "logit": "log odds ratio", "poisson": "log rate ratio"}
_NEGLIGIBLE = 1e-12  # probability of larger counts


@frozen(eq=False)
class Outcome:
    """An outcome given the private category.

    Attributes
    ----------
    family
        Its distribution.
    eta
        The linear predictor of each category.
    sd
        The standard deviation within each category; of a linear outcome only.
    """

    family: OutcomeFamily
    eta: FloatArray
    sd: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean of each category."""
        if self.family == "linear":
            return self.eta
        return np.asarray(expit(self.eta) if self.family == "logit" else np.exp(self.eta))

    @property
    def slope(self) -> FloatArray:
        """The derivative of each mean in its linear predictor."""
        if self.family == "linear":
            return np.ones(len(self.eta))
        return self.mean * (1 - self.mean) if self.family == "logit" else self.mean

    @property
    def variance(self) -> FloatArray:
        """The variance within each category."""
        return self.sd**2 if self.family == "linear" else self.slope

    def nodes(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return outcomes y, shape (m,), and the joint probabilities of y and each category, shape (m, p).

        Of a linear outcome these are the nodes of all categories, weighted by their own and shared out by Bayes' rule.
        """
        if self.family == "linear":
            t, weights = gauss()
            y = (self.mean[:, None] + self.sd[:, None] * t).ravel()
            amount = (w[:, None] * weights).ravel()
            return y, amount[:, None] * posterior(w, self.log_density(y))
        y = np.array([0.0, 1.0]) if self.family == "logit" else np.arange(float(_most(self.mean.max())) + 1)
        return y, w * np.exp(self.log_density(y))

    def log_density(self, y: FloatArray) -> FloatArray:
        """Return the logarithm of the density of y in each category, shape (m, p)."""
        if self.family == "linear":
            return np.asarray(-0.5 * ((y[:, None] - self.mean) / self.sd) ** 2 - np.log(self.sd))
        if self.family == "logit":
            return np.asarray(np.log(np.where(y[:, None] == 1, self.mean, 1 - self.mean)))
        return np.asarray(x_log_y(y[:, None], self.mean) - self.mean - gammaln(y[:, None] + 1))


def _most(mean: float) -> float:
    return float(np.ceil(max(pdtrik(1 - _NEGLIGIBLE, mean), 10.0)))


def posterior(w: FloatArray, log_density: FloatArray) -> FloatArray:
    """Return the probabilities of the categories given each outcome, shape (m, p)."""
    q = w * np.exp(log_density - log_density.max(axis=1, keepdims=True))
    return np.asarray(q / q.sum(axis=1, keepdims=True))


def corrected_covariance(design: Design, w: FloatArray, outcome: Outcome) -> FloatArray:
    """Return n times the covariance of the linear predictors of all categories, by corrected scores."""
    y, joint = outcome.nodes(w)
    amount = joint.sum(axis=1)
    given = joint / amount[:, None]
    rows, mu = support_of(design, design.p)
    told = np.ptp(rows, axis=1) > 0  # full sets say nothing and are left out of a fit
    rows, mu = rows[told], mu[told] / mu[told].sum()
    table = IndicatorTable(design, given)
    M = np.zeros((design.p, design.p))
    for k in range(len(y)):
        D = table.of(rows.T, np.full(len(rows), k))
        # The weights of reports: mu_a r_a'P, which is their probability, for informative reports of one person.
        each = mu * (rows @ given[k])
        rest = y[k] - outcome.mean
        M += amount[k] / each.sum() * (rest[:, None] * ((D * each) @ D.T) * rest)
    A = w * outcome.slope
    return np.asarray(M / np.outer(A, A) / (1 - design.mu_full))


def likelihood_covariance(design: Design, w: FloatArray, outcome: Outcome) -> FloatArray:
    """Return n times the covariance of the linear predictors of all categories, by likelihood of the mixture."""
    y, joint = outcome.nodes(w)
    p = design.p
    rest = (y[:, None] - outcome.mean) / (outcome.sd**2 if outcome.family == "linear" else 1.0)
    spread = ((y[:, None] - outcome.mean) / outcome.sd) ** 2 - 1 if outcome.family == "linear" else None
    size = 2 * p - 1 + (spread is not None)
    J = np.zeros((size, size))
    for row, weight in zip(*support_of(design, p), strict=True):
        if np.ptp(row) == 0:  # people who say nothing are left out of a fit
            continue
        together = joint * row
        amount = together.sum(axis=1)
        q = np.divide(together, amount[:, None], out=np.zeros_like(together), where=amount[:, None] > 0)
        scores = [q * rest, (q - w)[:, 1:]]
        if spread is not None:
            scores.append((q * spread).sum(axis=1, keepdims=True))
        s = np.concatenate(scores, axis=1)
        J += weight * (s.T * amount) @ s
    return np.asarray(np.linalg.inv(J)[:p, :p])


def direct_covariance(w: FloatArray, outcome: Outcome) -> FloatArray:
    """Return n times the covariance of the linear predictors if the values are known."""
    return np.diag(outcome.variance / (w * outcome.slope**2))


def _between(cov: FloatArray, at: int, base: int) -> float:
    return float(cov[at, at] + cov[base, base] - 2 * cov[at, base])


def predictor_power(
    design: Design | None = None,
    w: Distribution | None = None,
    n: int | None = None,
    *,
    category: Label = None,
    baseline: Label = None,
    family: OutcomeFamily = "linear",
    difference: float | Mapping[Label, float] | None = None,
    odds_ratio: float | Mapping[Label, float] | None = None,
    rate_ratio: float | Mapping[Label, float] | None = None,
    sd: float = 1.0,
    mean: float | None = None,
    method: RegressionMethod = "corrected",
    level: float = 0.05,
    target: float | None = None,
    pilot: OutcomeRegression | None = None,
    term: str | None = None,
) -> EffectPower:
    r"""Return the power to find that an outcome depends on a private category, or the people it takes.

    Parameters
    ----------
    design
        The design that people will be asked with.
    w
        The shares of the categories, none of them 0.
    n
        The people.
    category, baseline
        The two categories that are compared. The baseline is by default the most frequent other one.
    family
        The model of the outcome: ``"linear"`` (default), ``"logit"`` for 0 and 1, or ``"poisson"`` for counts.
    difference, odds_ratio, rate_ratio
        The effect of `category` against `baseline`, in the form of the family: the difference of the means, the ratio
        of the odds or the ratio of the means. Other categories are like the baseline, unless a mapping says more.
    sd
        The standard deviation of a linear outcome given the category and all other covariates of the model.
    mean
        The mean outcome of the baseline: a share for ``"logit"``, by default 0.5; a number for ``"poisson"``, by
        default 1.
    method
        ``"corrected"`` (default) or ``"ml"``, as in `regress`.
    level
        The level of the two-sided z test.
    target
        The power wanted; then the people are worked out and `n` is left out.
    pilot
        Instead of all that describes the survey, a fitted `OutcomeRegression`, whose people, design, coefficients and
        standard errors stand for those to come.
    term
        The coefficient of the pilot, such as ``"race[Black]"``. The effect is that of the pilot, or the coefficient
        that `difference`, `odds_ratio` or `rate_ratio` gives.

    Raises
    ------
    ArgumentError
        If it is not clear what is worked out, the effect is not in the form of the family, or a number is out of range.
    CategoryError
        If a category is none of the design.
    TooLargeError
        If the design has too many subsets to list.

    Notes
    -----
    Other covariates are taken to be independent of the private category. Where they explain a share R² of the
    membership in it, divide the people by 1 - R². With corrected scores, the working distribution is that of the
    category given the outcome, as in `regress`. A pilot's standard errors are scaled to the number of people, and the
    price of privacy is then the average one over the coefficients of private predictors.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["White", "Black", "Asian", "Other"])
    >>> shares = [0.6, 0.2, 0.15, 0.05]
    >>> plan = sp.predictor_power(design, shares, category="Black", difference=-0.4, target=0.8)
    >>> plan.n, plan.direct
    (787, 328)
    """
    given = {"difference": difference, "odds_ratio": odds_ratio, "rate_ratio": rate_ratio}
    if pilot is not None:
        if design is not None or w is not None or category is not None:
            raise ArgumentError("`design`, `w` and `category` must be left out with a pilot, which has them.")
        return _by_pilot(pilot, term, given, read_size(n, target), level, target)
    if term is not None:
        raise ArgumentError("`term` must be left out without a pilot.", PILOT_COEFFICIENT)
    outcome, at, base, held, shares = _read(design, w, category, baseline, family, given, sd, mean)
    check_choice(method, get_args(RegressionMethod), "method")
    size = read_size(n, target)
    cov = (corrected_covariance if method == "corrected" else likelihood_covariance)(held, shares, outcome)
    labels = held.categories.labels
    what = f"{_EFFECT[family]} of {label_text(labels[at])} against {label_text(labels[base])}"
    basis = f"Planned for a {family} model ({method}) whose other covariates are independent of the private one."
    return _planned(what, outcome, cov, shares, at, base, size, level, target, method, basis)


def means_power(
    design: Design,
    w: Distribution,
    n: int | None = None,
    *,
    groups: tuple[Label, Label],
    difference: float,
    sd: float | Mapping[Label, float] = 1.0,
    level: float = 0.05,
    target: float | None = None,
) -> EffectPower:
    r"""Return the power to find that the means of two private groups differ, or the people it takes.

    Parameters
    ----------
    design
        The design that people will be asked with.
    w
        The shares of the groups, none of them 0.
    n
        The people, of all groups together.
    groups
        The two groups that are compared.
    difference
        The mean of the first less that of the second. All other groups have the mean of the second.
    sd
        The standard deviation within the groups; or one for each group, by label.
    level
        The level of the two-sided z test.
    target
        The power wanted; then the people are worked out and `n` is left out.

    Raises
    ------
    ArgumentError
        If it is not clear what is worked out, or a number is out of its range.
    CategoryError
        If a group is none of the design.
    TooLargeError
        If the design has too many subsets to list.

    Notes
    -----
    `group_means` weighs people by unbiased indicators, whatever the distribution of the outcome. The plan is for a
    normal one, and for indicators that follow the outcome.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["White", "Black", "Asian", "Other"])
    >>> plan = sp.means_power(design, [0.6, 0.2, 0.15, 0.05], 2000, groups=("Black", "White"), difference=-5, sd=15)
    >>> round(plan.power, 2), round(plan.direct_power, 2)
    (0.96, 1.0)
    """
    held = require_listed(require_design(design))
    shares = read_positive(w, held.categories.labels)
    if isinstance(groups, str) or not hasattr(groups, "__len__") or len(groups) != 2:
        raise ArgumentError("`groups` must be the two groups that are compared; got something else.", TWO_GROUPS)
    at, base = read_pair(groups[0], groups[1], held, shares)
    eta: FloatArray = np.zeros(held.p)
    eta[at] = _number(difference, "difference")
    outcome = Outcome("linear", eta, _spreads(sd, held))
    size = read_size(n, target)
    cov = corrected_covariance(held, shares, outcome)
    labels = held.categories.labels
    what = f"mean of {label_text(labels[at])} less that of {label_text(labels[base])}"
    basis = "Planned for a normal outcome and unbiased indicators that follow it."
    return _planned(what, outcome, cov, shares, at, base, size, level, target, "corrected", basis)


def _planned(
    what: str,
    outcome: Outcome,
    cov: FloatArray,
    shares: FloatArray,
    at: int,
    base: int,
    n: int | None,
    level: float,
    target: float | None,
    method: str,
    basis: str,
) -> EffectPower:
    variances = _between(cov, at, base), _between(direct_covariance(shares, outcome), at, base)
    effect = float(outcome.eta[at] - outcome.eta[base])
    kept = float(min(shares[at], shares[base]) * variances[1] / variances[0])
    return planned(what, effect, n, variances, level, target, method=method, basis=basis, kept=kept)


def _by_pilot(
    pilot: Any, term: str | None, given: Mapping[str, Any], n: int | None, level: float, target: float | None
) -> EffectPower:
    """Return the plan by the coefficient of a fitted regression, its variance scaled to the number of people."""
    if not isinstance(pilot, OutcomeRegression) or pilot.categories is not None:
        raise ArgumentError(f"`pilot` must be an OutcomeRegression of a seen outcome; got {type(pilot).__name__}.")
    if pilot.problem.weighted == "sampling" or pilot.problem.sampling is not None:
        raise ArgumentError("`pilot` must be fitted to people who were drawn alike; got sampling weights.")
    if term not in pilot.labels:
        listed = ", ".join(map(str, pilot.labels[:12]))
        raise ArgumentError(f"`term` must be a coefficient of the pilot ({listed}); got another.", PILOT_COEFFICIENT)
    at = pilot.labels.index(term)
    variance = float(pilot.cov[at, at]) * (pilot.n + pilot.n_missing)
    effect = _pilot_effect(given, pilot.family, float(pilot.estimates[at]))
    if not np.isfinite(variance) or not np.isfinite(effect):
        raise ArgumentError("`pilot` must have a finite coefficient with a standard error; got none.")
    kept = pilot.n_effective / pilot.n
    basis = f"Planned for people like those of the pilot (n = {pilot.n:.0f}), fitted and asked in the same way."
    variances = variance, variance * kept
    # As many people as the precision of the coefficient amounts to: not known by category here, so no note of few.
    what = f"coefficient of {term}"
    return planned(what, effect, n, variances, level, target, method=pilot.method, basis=basis, kept=kept)


def _pilot_effect(given: Mapping[str, Any], family: OutcomeFamily, estimate: float) -> float:
    named = [name for name, value in given.items() if value is not None]
    if not named:
        return estimate
    if named != [_ARGUMENT[family]] or isinstance(given[named[0]], Mapping):
        raise ArgumentError(
            f"the effect must be one number given as `{_ARGUMENT[family]}` for family={family!r}; got another form.",
            EFFECT_BY_FAMILY,
        )
    value = given[named[0]]
    return _number(value, "difference") if family == "linear" else log(read_ratio(value, named[0]))


# What is asked ------------------------------------------------------------------------------------


def _read(
    design: Any,
    w: Any,
    category: Label,
    baseline: Label,
    family: OutcomeFamily,
    given: Mapping[str, Any],
    sd: Any,
    mean: Any,
) -> tuple[Outcome, int, int, Design, FloatArray]:
    """Return the outcome that is planned for, the two categories, the design and the shares."""
    held = require_listed(require_design(design))
    labels = held.categories.labels
    if w is None:
        raise ArgumentError("`w` must be given, the shares of the categories, or a `pilot`; got neither.")
    shares = read_positive(w, labels)
    at, base = read_pair(category, baseline, held, shares)
    wanted = _ARGUMENT[check_choice(family, FAMILIES, "family")]
    if [name for name, value in given.items() if value is not None] != [wanted]:
        got = " and ".join(name for name, value in given.items() if value is not None) or "none"
        raise ArgumentError(
            f"the effect must be given as `{wanted}` for family={family!r}; got {got}.", EFFECT_BY_FAMILY
        )
    if family == "linear":
        eta = _differences(given[wanted], at, base, labels)
        if mean is not None:
            raise ArgumentError("`mean` must be left out for a linear outcome: its differences do not depend on it.")
        return Outcome(family, eta, _spreads(sd, held)), at, base, held, shares
    eta = read_effects(given[wanted], at, base, labels, wanted)
    return Outcome(family, eta + _level(mean, family), np.ones(held.p)), at, base, held, shares


def _level(mean: Any, family: OutcomeFamily) -> float:
    """Return the linear predictor of the baseline."""
    value = (0.5 if family == "logit" else 1.0) if mean is None else mean
    top = 1.0 if family == "logit" else np.inf
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < top:
        limit = "a share above 0 and below 1" if family == "logit" else "above 0"
        got = shown(value) if isinstance(value, (int, float)) else type(value).__name__
        raise ArgumentError(f"`mean` must be {limit} for family={family!r}; got {got}.")
    return float(logit(value) if family == "logit" else np.log(value))


def _differences(difference: Any, at: int, base: int, labels: tuple[Label, ...]) -> FloatArray:
    out: FloatArray = np.zeros(len(labels))
    if not isinstance(difference, Mapping):
        out[at] = _number(difference, "difference")
        return out
    for label, each in difference.items():
        if label not in labels:
            raise CategoryError("`difference` must name categories of the design; got another label.")
        out[labels.index(label)] = _number(each, "difference")
    return np.asarray(out - out[base])


def _spreads(sd: Any, design: Design) -> FloatArray:
    """Return the standard deviation of each group."""
    labels = design.categories.labels
    if isinstance(sd, Mapping):
        absent = [label for label in labels if label not in sd]
        if absent or len(sd) != len(labels):
            raise CategoryError("`sd` must have a standard deviation for each group; it does not.")
        out = np.array([_number(sd[label], "sd") for label in labels])
    else:
        out = np.full(len(labels), _number(sd, "sd"))
    if not (out > 0).all():
        raise ArgumentError("`sd` must be above 0; got a number that is not.")
    return out


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        got = shown(value) if isinstance(value, (int, float)) else type(value).__name__
        raise ArgumentError(f"`{name}` must be a finite number; got {got}.")
    return float(value)
