"""`response_power`: the power to find that a private category depends on a covariate."""

from collections.abc import Mapping
from math import log
from typing import Any, get_args

import numpy as np

from subsetprivacy._checks import check_choice, check_distribution, shown
from subsetprivacy._choices import Family, RegressionMethod
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy._words import whole
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.messages.for_plans import EFFECT_POWER_OF_80, PILOT_TERMS, POSITIVE_SHARES, RATIO_OF_ONE
from subsetprivacy.planning.demand import read_people
from subsetprivacy.planning.effect_result import EffectPower, planned
from subsetprivacy.planning.populations import Nodes, cut_points, logit_intercepts, require_listed
from subsetprivacy.regression.links import CumulativeLogit, MultinomialLogit
from subsetprivacy.regression.models import Model, SeparateSlopes, SharedSlopes
from subsetprivacy.regression.presenting import METHODS, model_columns
from subsetprivacy.regression.result import Regression
from subsetprivacy.regression.specification import Support, expected_curvature
from subsetprivacy.tables import label_text

_PILOT_ROWS = 4000  # people of a pilot who represent all


def response_power(
    design: Design | None = None,
    w: Distribution | None = None,
    n: int | None = None,
    *,
    odds_ratio: float | Mapping[Label, float] | None = None,
    category: Label = None,
    baseline: Label = None,
    spread: float = 1.0,
    share: float | None = None,
    family: Family = "logit",
    method: RegressionMethod = "corrected",
    alpha: float = 0.05,
    target: float | None = None,
    pilot: Regression | None = None,
    term: str | None = None,
) -> EffectPower:
    r"""Return the power to find that a private category depends on a covariate, or the required number of people.

    Parameters
    ----------
    design
        The design of the survey, by default that of the pilot.
    w
        The shares of the categories among all people, none of them 0.
    n
        The number of people.
    odds_ratio
        The factor by which the odds of `category` against `baseline` change if the covariate increases by 1. Use
        ``{category: odds ratio}`` if several categories change. For ordered categories, the odds of a higher category.
    category, baseline
        The two categories to compare. By default the baseline is the most frequent other category. Omit both for
        ordered categories.
    spread
        The standard deviation of a normal covariate.
    share
        For a binary covariate, the share of people for whom it is 1.
    family
        ``"logit"`` (default) or ``"ordinal"``, as in `regress`.
    method
        ``"corrected"`` (default) or ``"ml"``, as in `regress`. With a pilot it is that of the pilot.
    alpha
        The level of the two-sided z test, at most 0.5.
    target
        The required power, to compute the number of people. Omit `n` then.
    pilot
        Instead of `w` and a covariate, a fitted `Regression` whose people and coefficients represent those of the
        planned survey.
    term
        The covariate of the pilot. The effect is that of the pilot, or `odds_ratio` if it is given.

    Raises
    ------
    ArgumentError
        If both or neither of `n` and `target` are given, or a number is out of range.
    CategoryError
        If a category does not belong to the design.
    TooLargeError
        If the design has too many subsets to list.

    Notes
    -----
    The variance of maximum likelihood is the inverse of :math:`\sum_i x_i x_i^\top \otimes I(x_i)` with the
    information :math:`I(x)` of one person's subset about the linear predictors. Corrected scores have the sandwich
    variance with the information of the values and the variance of the corrected scores, so they need a few more
    people. Intercepts are chosen so that the mean shares are `w`.

    Examples
    --------
    >>> import subsetprivacy as sp
    >>> design = sp.uniform(["never", "once", "often", "daily"])
    >>> plan = sp.response_power(design, [0.5, 0.2, 0.2, 0.1], odds_ratio=1.5, category="daily", target=0.8)
    >>> plan.n, plan.direct, round(plan.price, 1)
    (3250, 599, 5.4)
    """
    if pilot is not None:
        return _by_pilot(pilot, term, design, w, category, odds_ratio, n, alpha, target)
    if term is not None:
        raise ArgumentError("`term` must be left out without a pilot.", PILOT_TERMS)
    listed = require_listed(require_design(design))
    labels = listed.categories.labels
    shares = _shares(w, labels)
    size = read_size(n, target)
    x = Nodes.normal(spread) if share is None else Nodes.binary(share)
    check_choice(method, get_args(RegressionMethod), "method")
    if check_choice(family, ("logit", "ordinal"), "family") == "ordinal":
        return _ordered(listed, shares, x, odds_ratio, size, alpha, target, method)
    at, base = read_pair(category, baseline, listed, shares)
    slopes = read_effects(odds_ratio, at, base, labels, "odds_ratio")
    a = logit_intercepts(shares, slopes, x)
    model = SeparateSlopes(MultinomialLogit(listed.p, base), 2)
    theta = np.delete(np.column_stack([a - a[base], slopes - slopes[base]]), base, axis=0).ravel()
    position = 2 * (at - (at > base)) + 1
    variances = _variances(model, theta, x.X, x.weights, listed, position, method)
    what = f"log odds ratio of {label_text(labels[at])} against {label_text(labels[base])}, per unit of the covariate"
    basis = f"Planned for {x.words}, and a logit fitted by {METHODS[method]}."
    kept = min(shares[at], shares[base]) * variances[1] / variances[0]
    return planned(
        what, float(slopes[at]), size, variances, alpha, target, method=method, basis=basis, kept=float(kept)
    )


def _ordered(
    design: Design,
    shares: FloatArray,
    x: Nodes,
    odds_ratio: Any,
    n: int | None,
    alpha: float,
    target: float | None,
    method: RegressionMethod,
) -> EffectPower:
    if isinstance(odds_ratio, Mapping):
        raise ArgumentError("`odds_ratio` must be one number for ordered categories; got a mapping.")
    effect = log(read_ratio(odds_ratio, "odds_ratio"))
    model = SharedSlopes(CumulativeLogit(design.p), 1)
    theta = np.append(cut_points(shares, effect, x), effect)
    variances = _variances(model, theta, x.X[:, 1:], x.weights, design, design.p - 1, method)
    basis = f"Planned for {x.words}, and proportional odds fitted by {METHODS[method]}."
    what = "log odds ratio of a higher category, per unit of the covariate"
    kept = float(shares.min() * variances[1] / variances[0])
    return planned(what, effect, n, variances, alpha, target, method=method, basis=basis, kept=kept)


def _by_pilot(
    pilot: Any,
    term: str | None,
    design: Design | None,
    w: Any,
    category: Label,
    odds_ratio: Any,
    n: Any,
    alpha: float,
    target: float | None,
) -> EffectPower:
    """Return the plan with the people and coefficients of a fitted regression."""
    if not isinstance(pilot, Regression):
        raise ArgumentError(f"`pilot` must be a Regression of a private response; got {type(pilot).__name__}.")
    if w is not None:
        raise ArgumentError("`w` must be left out with a pilot, which has shares.")
    listed = require_listed(pilot.problem.design if design is None else require_design(design))
    if listed.categories != pilot.categories:
        raise MismatchError("`design` must have the categories of the pilot; got other categories.")
    size = read_size(n, target)
    position, what = _position(pilot, term, category)
    theta = pilot.estimates.copy()
    if odds_ratio is not None:
        theta[position] = log(read_ratio(odds_ratio, "odds_ratio"))
    if not np.isfinite(theta).all():
        raise ArgumentError("`pilot` must have finite coefficients; got infinite ones.")
    rows = pilot._require_rows()
    some = slice(None, None, max(len(rows.X) // _PILOT_ROWS, 1))
    X = model_columns(rows.X, pilot)[some]
    weight = np.ones(len(X)) if rows.weight is None else rows.weight[some]
    variances = _variances(pilot.model, theta, X, weight / weight.sum(), listed, position, pilot.method)
    basis = f"Planned for people like those of the pilot (n = {whole(pilot.n)}), and a fit by {METHODS[pilot.method]}."
    kept = float(pilot.problem.w.min() * variances[1] / variances[0])
    effect = float(theta[position])
    return planned(what, effect, size, variances, alpha, target, method=pilot.method, basis=basis, kept=kept)


def _position(pilot: Regression, term: str | None, category: Label) -> tuple[int, str]:
    """Return the position of the planned parameter of the pilot, and its description."""
    names = [name for name in pilot.columns.names if name != "Intercept"]
    if term not in names:
        raise ArgumentError(
            f"`term` must be a column of the pilot ({', '.join(names[:12])}); got another.", PILOT_TERMS
        )
    if pilot.family == "ordinal":
        return pilot.categories.p - 1 + list(pilot.columns.names).index(str(term)), f"coefficient of {term}"
    wanted = [label for label in pilot.categories.labels if label != pilot.baseline]
    if category not in wanted:
        raise CategoryError(
            f"`category` must be one that the pilot compares with its baseline ({', '.join(map(label_text, wanted))}); "
            "got another."
        )
    against = f"{label_text(category)} against {label_text(pilot.baseline)}"
    row = wanted.index(category)
    return row * len(pilot.columns.names) + list(pilot.columns.names).index(str(term)), (
        f"coefficient of {term} for {against}"
    )


def _variances(
    model: Model,
    theta: FloatArray,
    X: FloatArray,
    weights: FloatArray,
    design: Design,
    position: int,
    method: RegressionMethod,
) -> tuple[float, float]:
    """Return n times the variance of a parameter, from subsets and from values."""
    U = model.predictors(theta, X)
    unit = np.zeros(len(theta))
    unit[position] = 1.0

    def summed(support: Support, *, corrected: bool = False) -> FloatArray:
        return model.information(expected_curvature(model.link, U, support, corrected=corrected) * weights, X)

    of_values = np.linalg.solve(summed(Support(np.eye(design.p), np.ones(design.p))), unit)
    if method == "corrected":
        first = of_values @ summed(Support.of(design), corrected=True) @ of_values
    else:
        first = np.linalg.solve(summed(Support.of(design)), unit)[position]
    told = 1 - design.mu_full  # a full set carries no information
    return float(first) / told, float(of_values[position])


# Arguments ----------------------------------------------------------------------------------------


def read_size(n: Any, target: Any) -> int | None:
    """Return the number of people, or None if it is to be computed."""
    if (n is None) == (target is None):
        both = "neither" if n is None else "both"
        raise ArgumentError(f"either `n` or `target` must be given; got {both}.", EFFECT_POWER_OF_80)
    return None if n is None else read_people(n, "n")


def _shares(w: Any, labels: tuple[Label, ...]) -> FloatArray:
    if w is None:
        raise ArgumentError("`w` must be given, the shares of the categories, or a `pilot`; got neither.")
    return read_positive(w, labels)


def read_positive(w: Any, labels: tuple[Label, ...]) -> FloatArray:
    """Return the shares if all are above 0."""
    shares = check_distribution(w, labels)
    if shares.min() <= 0:
        raise ArgumentError("`w` must be above 0 for every category; got a share of 0.", POSITIVE_SHARES)
    return shares


def read_pair(category: Label, baseline: Label, design: Design, shares: FloatArray) -> tuple[int, int]:
    """Return the positions of the two categories to compare."""
    if category is None:
        raise ArgumentError("`category` must be given, the one whose effect is planned for; got none.")
    at = design.categories.index(category)
    if baseline is None:
        base = int(np.where(np.arange(design.p) == at, -1.0, shares).argmax())
    else:
        base = design.categories.index(baseline)
    if at == base:
        raise ArgumentError("`baseline` must be another category than `category`; got the same.")
    return at, base


def read_effects(ratio: Any, at: int, base: int, labels: tuple[Label, ...], name: str) -> FloatArray:
    """Return the log ratio of each category, from one ratio for the compared category or from a mapping."""
    out: FloatArray = np.zeros(len(labels))
    if not isinstance(ratio, Mapping):
        out[at] = log(read_ratio(ratio, name))
        return out
    for label, each in ratio.items():
        if label not in labels:
            raise CategoryError(f"`{name}` must name categories of the design; got another label.")
        out[labels.index(label)] = log(read_ratio(each, name))
    return np.asarray(out - out[base])


def read_ratio(ratio: Any, name: str) -> float:
    """Return a ratio of odds or rates."""
    if isinstance(ratio, bool) or not isinstance(ratio, (int, float, np.number)) or not 0 < ratio < np.inf:
        got = shown(ratio) if isinstance(ratio, (int, float)) else type(ratio).__name__
        raise ArgumentError(f"`{name}` must be a ratio above 0; got {got}.", RATIO_OF_ONE)
    return float(ratio)
