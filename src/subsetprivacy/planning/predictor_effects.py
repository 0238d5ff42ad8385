"""`predictor_power` and `means_power`: the power to find that an outcome depends on a private category."""

from collections.abc import Mapping
from math import log
from typing import Any, get_args

import numpy as np
from scipy.special import logit

from subsetprivacy._checks import check_choice, shown
from subsetprivacy._choices import OutcomeFamily, RegressionMethod
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy._words import whole
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.messages.for_plans import EFFECT_BY_FAMILY, PILOT_COEFFICIENT, TWO_GROUPS
from subsetprivacy.planning.effect_result import EffectPower, planned
from subsetprivacy.planning.outcomes import OutcomeModel, corrected_covariance, direct_covariance, likelihood_covariance
from subsetprivacy.planning.populations import require_listed
from subsetprivacy.planning.response_effects import read_effects, read_pair, read_positive, read_ratio, read_size
from subsetprivacy.planning.z_test import people_for
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.tables import label_text

FAMILIES: tuple[OutcomeFamily, ...] = get_args(OutcomeFamily)
_ARGUMENT = {"linear": "difference", "logit": "odds_ratio", "poisson": "rate_ratio"}
_EFFECT = {"linear": "difference of the means", "logit": "log odds ratio", "poisson": "log rate ratio"}


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
    alpha: float = 0.05,
    target: float | None = None,
    pilot: OutcomeRegression | None = None,
    term: str | None = None,
) -> EffectPower:
    r"""Return the power to find that an outcome depends on a private category, or the required number of people.

    Parameters
    ----------
    design
        The design of the survey.
    w
        The shares of the categories, none of them 0.
    n
        The number of people.
    category, baseline
        The two categories to compare. By default the baseline is the most frequent other category.
    family
        The model of the outcome: ``"linear"`` (default), ``"logit"`` for 0 and 1, or ``"poisson"`` for counts.
    difference, odds_ratio, rate_ratio
        The effect of `category` against `baseline`, in the form of the family: the difference of the means, the ratio
        of the odds or the ratio of the means. Other categories equal the baseline, unless a mapping gives their
        effects.
    sd
        The standard deviation of a linear outcome given the category and all other covariates of the model.
    mean
        The mean outcome of the baseline: a share for ``"logit"``, by default 0.5, or a number for ``"poisson"``, by
        default 1.
    method
        ``"corrected"`` (default) or ``"ml"``, as in `regress`.
    alpha
        The level of the two-sided z test, at most 0.5.
    target
        The required power, to compute the number of people. Omit `n` then.
    pilot
        Instead of the description of the survey, a fitted `OutcomeRegression`. Its people, design, coefficients and
        standard errors represent those of the planned survey.
    term
        The coefficient of the pilot, such as ``"race[Black]"``. The effect is that of the pilot, unless `difference`,
        `odds_ratio` or `rate_ratio` gives another.

    Raises
    ------
    ArgumentError
        If both or neither of `n` and `target` are given, the effect is not in the form of the family, or a number is
        out of range.
    CategoryError
        If a category does not belong to the design.
    TooLargeError
        If the design has too many subsets to list.

    Notes
    -----
    Other covariates are assumed to be independent of the private category. If they explain a share R² of the
    membership in it, divide the number of people by 1 - R². With corrected scores, the working distribution is that of
    the category given the outcome, as in `regress`. The standard errors of a pilot are scaled to the number of people,
    and the price of privacy is then the average over the coefficients of private predictors.

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
        return _by_pilot(pilot, term, given, read_size(n, target), alpha, target)
    if term is not None:
        raise ArgumentError("`term` must be left out without a pilot.", PILOT_COEFFICIENT)
    outcome, at, base, listed, shares = _read(design, w, category, baseline, family, given, sd, mean)
    check_choice(method, get_args(RegressionMethod), "method")
    size = read_size(n, target)
    cov = (corrected_covariance if method == "corrected" else likelihood_covariance)(listed, shares, outcome)
    labels = listed.categories.labels
    what = f"{_EFFECT[family]} of {label_text(labels[at])} against {label_text(labels[base])}"
    basis = f"Planned for a {family} model ({method}) whose other covariates are independent of the private one."
    return _planned(what, outcome, cov, shares, at, base, size, alpha, target, method, basis)


def means_power(
    design: Design,
    w: Distribution,
    n: int | None = None,
    *,
    groups: tuple[Label, Label],
    difference: float,
    sd: float | Mapping[Label, float] = 1.0,
    alpha: float = 0.05,
    target: float | None = None,
) -> EffectPower:
    r"""Return the power to find that the means of two private groups differ, or the required number of people.

    Parameters
    ----------
    design
        The design of the survey.
    w
        The shares of the groups, none of them 0.
    n
        The number of people in all groups together.
    groups
        The two groups to compare.
    difference
        The mean of the first group minus that of the second. All other groups have the mean of the second.
    sd
        The standard deviation within the groups, or one for each group by label.
    alpha
        The level of the two-sided z test, at most 0.5.
    target
        The required power, to compute the number of people. Omit `n` then.

    Raises
    ------
    ArgumentError
        If both or neither of `n` and `target` are given, or a number is out of range.
    CategoryError
        If a group does not belong to the design.
    TooLargeError
        If the design has too many subsets to list.

    Notes
    -----
    `group_means` weights people by unbiased indicators for any distribution of the outcome. The plan assumes a normal
    outcome, and working distributions for as many groups of similar outcomes as `group_means` would use.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["White", "Black", "Asian", "Other"])
    >>> plan = sp.means_power(design, [0.6, 0.2, 0.15, 0.05], 2000, groups=("Black", "White"), difference=-5, sd=15)
    >>> round(plan.power, 2), round(plan.direct_power, 2)
    (0.96, 1.0)
    """
    listed = require_listed(require_design(design))
    shares = read_positive(w, listed.categories.labels)
    if isinstance(groups, str) or not hasattr(groups, "__len__") or len(groups) != 2:
        raise ArgumentError("`groups` must be the two groups that are compared; got something else.", TWO_GROUPS)
    at, base = read_pair(groups[0], groups[1], listed, shares)
    eta: FloatArray = np.zeros(listed.p)
    eta[at] = _number(difference, "difference")
    outcome = OutcomeModel("linear", eta, _spreads(sd, listed))
    size = read_size(n, target)
    people = size or _settled(listed, shares, outcome, at, base, alpha, target)
    cov = corrected_covariance(listed, shares, outcome, people=people)
    labels = listed.categories.labels
    what = f"mean of {label_text(labels[at])} less that of {label_text(labels[base])}"
    basis = "Planned for a normal outcome, and unbiased indicators that follow it as far as so many people allow."
    return _planned(what, outcome, cov, shares, at, base, size, alpha, target, "corrected", basis)


def _settled(
    design: Design, w: FloatArray, outcome: OutcomeModel, at: int, base: int, alpha: float, target: float | None
) -> int:
    """Return the number of people at which the variance, which depends on that number, requires that number."""
    effect = float(outcome.eta[at] - outcome.eta[base])
    tried: list[int] = []
    n = people_for(effect, _between(corrected_covariance(design, w, outcome), at, base), alpha, target)
    while n not in tried:
        tried.append(n)
        n = people_for(effect, _between(corrected_covariance(design, w, outcome, people=n), at, base), alpha, target)
    return max(tried[tried.index(n) :])  # if two numbers alternate, the larger


def _planned(
    what: str,
    outcome: OutcomeModel,
    cov: FloatArray,
    shares: FloatArray,
    at: int,
    base: int,
    n: int | None,
    alpha: float,
    target: float | None,
    method: str,
    basis: str,
) -> EffectPower:
    variances = _between(cov, at, base), _between(direct_covariance(shares, outcome), at, base)
    effect = float(outcome.eta[at] - outcome.eta[base])
    kept = float(min(shares[at], shares[base]) * variances[1] / variances[0])
    return planned(what, effect, n, variances, alpha, target, method=method, basis=basis, kept=kept)


def _by_pilot(
    pilot: Any, term: str | None, given: Mapping[str, Any], n: int | None, alpha: float, target: float | None
) -> EffectPower:
    """Return the plan for a coefficient of a fitted regression, with its variance scaled to the number of people."""
    if not isinstance(pilot, OutcomeRegression) or pilot.categories is not None:
        raise ArgumentError(f"`pilot` must be an OutcomeRegression of an observed outcome; got {type(pilot).__name__}.")
    if pilot.problem.weighted == "sampling" or pilot.problem.sampling is not None:
        raise ArgumentError("`pilot` must be fitted to a simple random sample; got sampling weights.")
    if term not in pilot.labels:
        listed = ", ".join(map(str, pilot.labels[:12]))
        raise ArgumentError(f"`term` must be a coefficient of the pilot ({listed}); got another.", PILOT_COEFFICIENT)
    at = pilot.labels.index(term)
    variance = float(pilot.cov[at, at]) * (pilot.n + pilot.n_missing)
    effect = _pilot_effect(given, pilot.family, float(pilot.estimates[at]))
    if not np.isfinite(variance) or not np.isfinite(effect):
        raise ArgumentError("`pilot` must have a finite coefficient with a standard error; got none.")
    kept = 1 / max(float(pilot.price[at]), 1.0)
    basis = f"Planned for people like those of the pilot (n = {whole(pilot.n)}), fitted and asked in the same way."
    variances = variance, variance * kept
    # The effective number of people is not known by category, so there is no note about few people.
    what = f"coefficient of {term}"
    return planned(what, effect, n, variances, alpha, target, method=pilot.method, basis=basis, kept=kept)


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


# Arguments ----------------------------------------------------------------------------------------


def _read(
    design: Any,
    w: Any,
    category: Label,
    baseline: Label,
    family: OutcomeFamily,
    given: Mapping[str, Any],
    sd: Any,
    mean: Any,
) -> tuple[OutcomeModel, int, int, Design, FloatArray]:
    """Return the model of the outcome, the two categories, the design and the shares."""
    listed = require_listed(require_design(design))
    labels = listed.categories.labels
    if w is None:
        raise ArgumentError("`w` must be given, the shares of the categories, or a `pilot`; got neither.")
    shares = read_positive(w, labels)
    at, base = read_pair(category, baseline, listed, shares)
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
        return OutcomeModel(family, eta, _spreads(sd, listed)), at, base, listed, shares
    eta = read_effects(given[wanted], at, base, labels, wanted)
    return OutcomeModel(family, eta + _level(mean, family), np.ones(listed.p)), at, base, listed, shares


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
            raise CategoryError("`sd` must have a standard deviation for each group; got something else.")
        out = np.array([_number(sd[label], "sd") for label in labels])
    else:
        out = np.full(len(labels), _number(sd, "sd"))
    if not (out > 0).all():
        raise ArgumentError("`sd` must be above 0; got a smaller number.")
    return out


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        got = shown(value) if isinstance(value, (int, float)) else type(value).__name__
        raise ArgumentError(f"`{name}` must be a finite number; got {got}.")
    return float(value)
