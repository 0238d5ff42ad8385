"""Compare log-linear models with larger ones: likelihood ratio tests, and residuals from the saturated model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, get_args

import numpy as np
from attrs import evolve

from subsetprivacy._checks import check_choice, check_count
from subsetprivacy._choices import TermTest
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray, Seed
from subsetprivacy._words import counted
from subsetprivacy.contingency.fitting import fit_table, has_matrix, toward_independence
from subsetprivacy.contingency.generators import Generators, bracketed, generators_of, without
from subsetprivacy.contingency.known_margins import Margins
from subsetprivacy.contingency.profile import is_quick
from subsetprivacy.contingency.shares import slopes_of
from subsetprivacy.contingency.structure import Structure
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.estimation.likelihood import observed_information, tangent_inverse
from subsetprivacy.estimation.mle import maximize as maximize_shares
from subsetprivacy.mechanism.simulate import simulate_informative
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import BOOTSTRAP_THE_TEST, SAME_TABLE
from subsetprivacy.regression.model_tests import ModelTests

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear

METHODS: tuple[TermTest, ...] = get_args(TermTest)
MAX_SATURATED = 4096  # up to so many cells, the saturated model is fitted for a test
TABLES = 99  # simulated for a test of fit
ZERO = 1e-3  # a share of fewer people is estimated as 0
_FITS_OF_INTERVAL = 10  # tables that take as long as a profile interval
_THIN = 5.0  # effective people per degree of freedom, as if asked directly; with fewer, chi-square is approximate
_MOST_CELLS = 1024
_NOTHING = 1e-6  # relative to the variance of a share: rounding, where the model does not restrict it


def terms_tests_of(
    fit: LogLinear, terms: str | Sequence[str] | None, method: TermTest, bootstrap: int, seed: Seed | None
) -> ModelTests:
    """Return a test of each term, against the model without it and without all terms that contain it."""
    check_choice(method, METHODS, "method")
    draws = check_count(bootstrap, "bootstrap")
    wanted = _chosen_terms(fit, terms)
    chosen = method if method != "auto" else "robust" if fit.is_robust else "lr"
    title = f"Terms of {fit.model}"
    if chosen != "lr":
        if draws:
            raise ArgumentError("`bootstrap` must be left out for Wald tests.")
        statistics = {name: _wald(fit, term) for name, term in wanted.items()}
        return ModelTests.of_forms(title, statistics, chosen, _lost(statistics))
    fit.require_likelihood("likelihood ratio tests")
    smaller = {name: fit.refitted(without(fit.terms, term)) for name, term in wanted.items()}
    return _ratios(title, fit, smaller, draws, seed)


def _chosen_terms(fit: LogLinear, terms: str | Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    """Return the terms to test, by name; by default the generators of two or more variables."""
    known = {":".join(term): term for term in fit.terms}
    if terms is None:
        chosen = {":".join(term): term for term in fit.generators if len(term) > 1 and not _is_known(fit, term)}
        if not chosen:
            raise ArgumentError("`terms` must name at least one term; the model has no free interaction.")
        return chosen
    out = {}
    for name in [terms] if isinstance(terms, str) else list(terms):
        key = ":".join(name) if isinstance(name, tuple) else name
        if key not in known:
            raise ArgumentError(f"`terms` must be terms of the model ({', '.join(known)}); got another one.")
        if _is_known(fit, known[key]):
            raise ArgumentError("`terms` must not be those that known margins fix; got one that they do.")
        out[key] = known[key]
    return out


def _is_known(fit: LogLinear, term: tuple[str, ...]) -> bool:
    return any(set(term) <= {fit.names[k] for k in variables} for variables in fit.margins)


def _ratios(title: str, fit: LogLinear, smaller: dict[str, LogLinear], draws: int, seed: Seed | None) -> ModelTests:
    statistics = {name: (_ratio(fit.loglik, model.loglik), fit.df - model.df) for name, model in smaller.items()}
    notes = _boundary_notes(fit, [*smaller.values()], draws)
    plain = ModelTests.of_forms(title, statistics, "lr", notes)
    if not draws:
        return plain
    generator = numpy_generator(seed)
    pvalues = [
        _simulated(fit, model, statistic, draws, generator)
        for model, (statistic, _) in zip(smaller.values(), statistics.values(), strict=True)
    ]
    text = f"p-values are from {counted(draws, 'table')} simulated from the smaller model."
    note = Note(NoteKind.NULL_LAW, text)
    return ModelTests(title, plain.names, plain.statistic, plain.df, np.array(pvalues), "lr", (note, *plain.notes))


def _ratio(larger: float, smaller: float) -> float:
    return max(2 * (larger - smaller), 0.0)


def _simulated(
    fit: LogLinear, smaller: LogLinear, statistic: float, draws: int, generator: np.random.Generator
) -> float:
    """Return the p-value from tables simulated from the smaller model."""
    if not fit.counts.design.is_known:
        raise ArgumentError(
            "`bootstrap` must be left out if the design is not known, because no table can be simulated."
        )
    w = smaller.w.ravel() / smaller.w.sum()
    hits = 0
    for _ in range(draws):
        drawn = simulate_informative(fit.counts.design, w, int(fit.counts.n), generator)
        values = [fit_table(drawn, model.structure, model.margins, starts=1, near=w).loglik for model in (fit, smaller)]
        hits += _ratio(*values) >= statistic - 1e-9
    return (1 + hits) / (1 + draws)


def _boundary_notes(fit: LogLinear, others: Sequence[LogLinear], draws: int) -> tuple[Note, ...]:
    """Return notes on why chi-square is approximate: shares fitted as 0, or few people per degree of freedom."""
    if draws:
        return ()
    if fit.separated or any(other.separated for other in others):
        text = (
            "Shares are fitted as 0, on the boundary of the model. All parameters are counted as degrees of freedom, "
            "and the chi-square distribution is approximate."
        )
        return (Note(NoteKind.BOUNDARY, text, BOOTSTRAP_THE_TEST),)
    return ()


def _wald(fit: LogLinear, term: tuple[str, ...]) -> tuple[float, int]:
    """Return Wald's statistic of all parameters of a term, and of terms that contain it."""
    terms = [k for k, other in enumerate(fit.terms) if set(term) <= set(other)]
    at = fit.structure.at(terms)
    b, V = fit.estimates[at], fit.cov[np.ix_(at, at)]
    if not (np.isfinite(b).all() and np.isfinite(V).all()):
        return float("nan"), len(at)
    return float(b @ np.linalg.solve(V, b)), len(at)


def _lost(statistics: dict[str, tuple[float, int]]) -> tuple[Note, ...]:
    lost = [name for name, (statistic, _) in statistics.items() if np.isnan(statistic)]
    if not lost:
        return ()
    return (Note(NoteKind.NOT_TESTED, f"No test of {', '.join(lost)}: some of their parameters are infinite."),)


def compare_models(fit: LogLinear, smaller: LogLinear, bootstrap: int, seed: Seed | None) -> ModelTests:
    """Return the likelihood ratio test of a smaller model within a larger one."""
    for model in (fit, smaller):
        model.require_likelihood("likelihood ratio tests")
    if not _same_table(fit.counts, smaller.counts):
        raise MismatchError("`smaller` must be a fit to the same table; it is not.", SAME_TABLE)
    known = {name for name in fit.margins if name in smaller.margins}
    same = all(np.array_equal(fit.margins[name], smaller.margins[name]) for name in known)
    inside = set(smaller.terms) <= set(fit.terms) and len(known) == len(fit.margins) and same
    if not inside or fit.df <= smaller.df:
        raise MismatchError("`smaller` must have some of the terms of this model and no others; it does not.")
    draws = check_count(bootstrap, "bootstrap")
    name = smaller.model if not set(smaller.margins) - known else f"{smaller.model}, known margins"
    return _ratios(f"Within {fit.model}", fit, {name: smaller}, draws, seed)


def _same_table(first: SubsetCounts, second: SubsetCounts) -> bool:
    return (
        first.categories == second.categories
        and np.array_equal(first.observed_codes, second.observed_codes)
        and np.array_equal(first.n_a, second.n_a)
    )


def goodness_of_fit_of(fit: LogLinear) -> ModelTests:
    """Return the likelihood ratio test of the model against the saturated model.

    The chi-square distribution does not apply if a share is estimated as 0, in the model or in the saturated one, or if
    there are few people for the cells. The p-value is then from simulated tables.
    """
    title = f"{fit.model} within the saturated model"
    if reason := _why_not(fit):
        note = Note(NoteKind.NOT_TESTED, f"Not tested against the saturated model: {reason}.")
        return ModelTests.of_forms(title, {"saturated": (float("nan"), 0)}, "lr", (note,))
    w, top = saturated(fit.counts, fit.structure, fit.margins, fit.w.ravel())
    df = fit.structure.cells - 1 - fit.structure.size
    statistic = _ratio(top, fit.loglik)
    plain = ModelTests.of_forms(title, {"saturated": (statistic, df)}, "lr")
    zeros = bool(fit.separated) or float(w.min()) * fit.counts.total < ZERO
    if not zeros and not fit.n_effective < _THIN * df:
        return plain
    why = "Shares are estimated as 0" if zeros else "There are few people for so many cells"
    if not (fit.counts.design.is_known and is_quick(fit, TABLES // _FITS_OF_INTERVAL)):
        text = f"{why}, so the chi-square distribution of the test of fit is a rough approximation."
        return evolve(plain, notes=(Note(NoteKind.BOUNDARY, text),))
    pvalue = _simulated_fit(fit, statistic)
    text = f"{why}, so the p-value of the test of fit is from {counted(TABLES, 'table')} simulated from the model."
    return evolve(plain, pvalue=np.array([pvalue]), notes=(Note(NoteKind.NULL_LAW, text),))


def _simulated_fit(fit: LogLinear, statistic: float) -> float:
    """Return the p-value of the test of fit from tables simulated from the model.

    The estimate is closer to the boundary than the truth, and in tables simulated from it the statistic is too small.
    They are simulated halfway between the estimate and independence, with the terms of the model.
    """
    generator = np.random.default_rng(0)  # the same data have the same p-value
    w = fit.fit.w / fit.fit.w.sum()
    if not fit.margins:  # known joint margins would change
        w = toward_independence(fit.structure, w)
    hits = 0
    for _ in range(TABLES):
        drawn = simulate_informative(fit.counts.design, w, round(fit.counts.total), generator)
        smaller = fit_table(drawn, fit.structure, fit.margins, starts=1, near=w).loglik
        hits += _ratio(saturated(drawn, fit.structure, fit.margins, w)[1], smaller) >= statistic - 1e-9
    return (1 + hits) / (1 + TABLES)


def _why_not(fit: LogLinear) -> str:
    """Return why there is no test against the saturated model; empty if there is one."""
    if fit.structure.size == fit.structure.cells - 1:
        return "this is the saturated model"
    if fit.is_robust:
        return "people have sampling weights"
    if fit.structure.cells > MAX_SATURATED:
        return "there are too many cells"
    if not fit.converged:
        return "the fit did not converge"
    if not fit.counts.is_unique:
        return "the reported subsets do not determine all shares"
    return ""


def saturated(
    counts: SubsetCounts, structure: Structure, margins: Margins, near: FloatArray
) -> tuple[FloatArray, float]:
    """Return the shares and the log-likelihood of the saturated model, with the same known margins."""
    if not margins:
        w = saturated_shares(counts)
        return w, float(counts.n_a @ np.log(counts.incidence.inner(w)))
    full = saturated_structure(structure)
    if not has_matrix(full, counts.incidence.rows):
        return near, float("nan")
    fit = fit_table(counts, full, margins, near=near)
    return fit.w, fit.loglik


def saturated_shares(counts: SubsetCounts) -> FloatArray:
    """Return the shares of the saturated model, to a total gap of 1e-8 in log-likelihood if possible."""
    tol = float(np.clip(1e-8 / counts.total, 1e-13, 1e-9))
    return maximize_shares(counts.incidence, counts.shares, tol).w


def saturated_structure(structure: Structure) -> Structure:
    """Return the structure of the saturated model of the same table."""
    variables = range(len(structure.shape))
    terms = tuple(term for k in variables for term in combinations(variables, k + 1))
    return Structure(structure.categories, terms, structure.baselines)


def named_generators(terms: Generators, names: Sequence[str]) -> str:
    """Return terms as text, by their generators."""
    return bracketed(generators_of(terms, names))


def residuals_of(fit: LogLinear) -> FloatArray:
    """Return the saturated shares minus the fitted ones, in standard errors of the difference.

    The estimate of the model is efficient, so the variance of the difference is the difference of the variances.
    """
    cells, saturated = fit.structure.cells, saturated_structure(fit.structure)
    out = np.full(fit.structure.shape, np.nan)
    if fit.fit.cov is None or cells > _MOST_CELLS or fit.is_robust or not has_matrix(saturated, 0):
        return out
    if fit.margins:
        full = fit_table(fit.counts, saturated, fit.margins, near=fit.fit.w)
        w, variance = full.w, _variances(full.w, saturated.rows, full.cov)
    else:
        w = saturated_shares(fit.counts)
        information = observed_information(fit.counts.incidence, fit.counts.shares, w)
        variance = np.diag(tangent_inverse(information)) / fit.counts.total
    slopes = slopes_of(fit, np.arange(cells), cells)
    fitted = np.einsum("ks,st,kt->k", slopes, fit.fit.cov, slopes, optimize=True)
    left = variance - fitted
    known = np.isfinite(left) & (left > _NOTHING * variance) & (w > 1e-9)
    z = np.divide(w - fit.fit.w, np.sqrt(np.where(known, left, 1.0)), out=np.full(cells, np.nan), where=known)
    return z.reshape(fit.structure.shape)


def _variances(w: FloatArray, Z: FloatArray, cov: FloatArray | None) -> FloatArray:
    if cov is None:
        return np.full(len(w), np.nan)
    slopes = ((Z - (Z @ w)[:, None]) * w).T
    return np.asarray(np.einsum("ks,st,kt->k", slopes, cov, slopes, optimize=True))
