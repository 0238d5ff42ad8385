"""Caveats of a regression, as notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from subsetprivacy._words import counted
from subsetprivacy.estimation.survey_sample import note_of_sampling
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_regression import (
    CORRECTED,
    MEASURE_LEAKAGE,
    MERGE_OR_MORE,
    MORE_TERMS,
    MORE_TERMS_OR_CORRECTED,
    SHRINK,
)
from subsetprivacy.regression.maxima import told
from subsetprivacy.regression.price import price_text
from subsetprivacy.tables import label_text, number

if TYPE_CHECKING:
    from subsetprivacy.regression.result import Regression

_FEW = 10.0  # effective people per parameter of a category
_MOST_NAMED = 6
_NOTABLE = 0.01  # mentioned from this share of rows that are almost certain


def caveats(fit: Regression) -> tuple[Note, ...]:
    """Return the notes of a fit: its baseline, how well it fits, how informative the data are, and its caveats."""
    return (
        *_baseline(fit),
        *_fit(fit),
        *_price(fit),
        *_missing(fit),
        *_unknown_design(fit),
        *warned_notes(fit),
        *_specification(fit),
        *_errors(fit),
        _rows(fit),
    )


def warned_notes(fit: Regression) -> tuple[Note, ...]:
    """Return the notes that are also warnings: no convergence, several maxima, or infinite coefficients."""
    return (*_convergence(fit), *_several(fit), *_separated(fit), *_small(fit))


def _baseline(fit: Regression) -> tuple[Note, ...]:
    if fit.baseline is None:
        order = " < ".join(map(label_text, fit.categories.labels))
        return (Note(NoteKind.BASELINE, f"Order of the categories: {order}. A positive slope is a shift upward."),)
    chosen = "as asked" if fit.problem.options.baseline is not None else "the most frequent category"
    return (Note(NoteKind.BASELINE, f"Coefficients are log odds relative to {label_text(fit.baseline)}, {chosen}."),)


def _fit(fit: Regression) -> tuple[Note, ...]:
    text, r2 = f"Log-likelihood {number(fit.loglik, 3)} of the subsets", f"pseudo-R² {number(fit.pseudo_r2)}."
    if fit.method == "ml":
        text += f", AIC {number(fit.aic, 2)}, {r2} At most {max(fit.gap, 1e-8):.1g} is left to gain."
    else:
        text += f", {r2}"
    return (Note(NoteKind.MAXIMUM, text),)


def _price(fit: Regression) -> tuple[Note, ...]:
    text = price_text(fit.price, fit.n)
    return (Note(NoteKind.PRICE, text),) if text else ()


def _missing(fit: Regression) -> tuple[Note, ...]:
    if not fit.n_missing:
        return ()
    return (Note(NoteKind.MISSING, f"Left out because the subset is the full set: {counted(fit.n_missing, 'row')}."),)


def _unknown_design(fit: Regression) -> tuple[Note, ...]:
    design = fit.problem.design
    return () if design.is_known else (Note(NoteKind.UNKNOWN_DESIGN, f"Unknown design: {design.assumption}."),)


def _convergence(fit: Regression) -> tuple[Note, ...]:
    if fit.has_no_corrected_solution:
        named = ", ".join(label_text(fit.categories.labels[j]) for j in fit.fit.unsolved[:_MOST_NAMED])
        of = f" for {named}" if named else ""
        text = f"The corrected equations have no solution{of}: at some covariates the estimated count is negative."
        if fit.method == "ml":
            text += " These are maximum-likelihood estimates, which are biased if the model is wrong."
        return (Note(NoteKind.NOT_UNIQUE, text, MERGE_OR_MORE), *_not_converged(fit))
    return _not_converged(fit)


def _not_converged(fit: Regression) -> tuple[Note, ...]:
    if fit.method == "corrected":
        return ()
    if fit.converged and fit.fit.is_maximum:
        return ()
    what = f"about {fit.gap:.2g} of log-likelihood is left to gain" if not fit.converged else "it may be a saddle point"
    return (Note(NoteKind.NOT_CONVERGED, f"The fit did not converge: {what}.", MERGE_OR_MORE),)


def _several(fit: Regression) -> tuple[Note, ...]:
    text = told(fit.maxima, fit.fit.starts)
    return (Note(NoteKind.NOT_UNIQUE, text, MERGE_OR_MORE),) if text else ()


def _separated(fit: Regression) -> tuple[Note, ...]:
    if not fit.separated:
        return ()
    by_category: dict[str, list[str]] = {}
    for category, term in fit.separated:
        by_category.setdefault(label_text(category), []).append(term)
    parts = [f"{category} ({', '.join(terms[:_MOST_NAMED])})" for category, terms in by_category.items()]
    more = f" and {len(parts) - _MOST_NAMED} more" if len(parts) > _MOST_NAMED else ""
    named = f"{'; '.join(parts[:_MOST_NAMED])}{more}"
    text = f"These coefficients are infinite because the data do not bound them: {named}."
    if len(fit.separated) < fit.df:
        text += " The others are finite."
    return (Note(NoteKind.SEPARATED, text, SHRINK),)


def _small(fit: Regression) -> tuple[Note, ...]:
    each = fit.problem.n_effective / max(fit.problem.blocks.d, 1)
    if each >= _FEW or fit.problem.options.ridge > 0:
        return ()
    text = (
        f"Few people: the effective sample size is {each:.1f} per covariate. Normal approximations are usually "
        f"reliable from {_FEW:.0f}."
    )
    return (Note(NoteKind.SMALL_COUNTS, text, MERGE_OR_MORE),)


def _specification(fit: Regression) -> tuple[Note, ...]:
    test = fit.specification
    p = float(test.pvalue[0])
    corrected = fit.method == "corrected"
    right = "Corrected scores estimate what a fit on the values would, even if the model is wrong."
    if np.isnan(p):
        return (Note(NoteKind.SPECIFICATION, right),) if corrected else (*test.notes,)
    text = f"Specification test: {test.text()}."
    if corrected:
        text = f"{right}{_next_to_likelihood(fit)} {text}"
    if p < 0.05:
        advice = MORE_TERMS if corrected or fit.has_no_corrected_solution else MORE_TERMS_OR_CORRECTED
        return (Note(NoteKind.SPECIFICATION, f"{text} The model does not describe these data well.", advice),)
    if corrected:
        return (Note(NoteKind.SPECIFICATION, text),)
    # The test misses much of what biases the likelihood: in real data that it was 2.7 standard errors off, it rejected
    # in half of the samples.
    other = None if fit.has_no_corrected_solution else CORRECTED
    return (Note(NoteKind.SPECIFICATION, f"{text} The likelihood may be biased even so.", other),)


def _next_to_likelihood(fit: Regression) -> str:
    """Return how far the likelihood's estimates are from corrected ones."""
    likelihood = fit.fit.likelihood
    assert likelihood is not None
    se = fit._se("auto")
    apart = np.abs(likelihood.theta - fit.fit.theta) / se
    at = int(np.nanargmax(apart))
    category, term = fit.labels[at]
    smaller = 1 - float(np.nanmedian(np.sqrt(likelihood.covariance().diagonal()) / se))
    errors = f"{100 * abs(smaller):.0f}% {'smaller' if smaller >= 0 else 'larger'}"
    return (
        f" Maximum likelihood differs by at most {apart[at]:.2g} standard errors ({label_text(category)}: {term}); its "
        f"standard errors are {errors} (median)."
    )


def _errors(fit: Regression) -> tuple[Note, ...]:
    options = fit.problem.options
    notes = []
    if options.ridge > 0 or options.lasso > 0:
        kind = f"ridge = {options.ridge:.4g}" if options.ridge > 0 else f"lasso = {options.lasso:.4g}"
        text = f"Penalized ({kind}): estimates are biased toward 0, so they have no standard errors."
        notes.append(Note(NoteKind.PENALIZED, text))
    elif options.shrink:
        more = fit.problem.blocks.d * (1 if fit.family == "ordinal" else fit.categories.p - 1)
        text = f"Shrunk: {counted(more, 'pseudo-person', 'pseudo-people')} with the overall shares were added."
        notes.append(Note(NoteKind.PENALIZED, text))
    elif fit.fit.observed is None and fit.fit.robust is None:
        why = "there is no fit" if not fit.converged else f"{fit.df} parameters are too many"
        notes.append(Note(NoteKind.NO_STANDARD_ERRORS, f"No standard errors: {why}."))
    if fit.sampling is not None and fit.fit.robust is not None:
        notes.append(note_of_sampling(fit.sampling))
    elif fit.is_robust and fit.fit.robust is not None:
        why = "sampling weights" if fit.weighted == "sampling" else "corrected scores"
        notes.append(note_of_sandwich(why, fit.degrees_of_freedom))
    return tuple(notes)


def note_of_sandwich(why: str, degrees_of_freedom: float) -> Note:
    """Return the note why standard errors are robust. Finite degrees of freedom mean clusters."""
    if np.isfinite(degrees_of_freedom):
        why = f"clusters, with {counted(degrees_of_freedom, 'degree of freedom', 'degrees of freedom')}"
    return Note(NoteKind.INTERVAL_METHOD, f"Standard errors are robust (sandwich), because of {why}.")


def _rows(fit: Regression) -> Note:
    text = (
        "A row with covariates reveals more than its subset. Publishing such rows promises less privacy than "
        "publishing subsets."
    )
    if fit.shares_above_95 is not None and fit.shares_above_95[0] > _NOTABLE:
        both, alone = (f"{100 * share:.1f}%" for share in fit.shares_above_95)
        text += f" Here one value has a probability over 95% in {both} of the rows, and in {alone} by covariates only."
    return Note(NoteKind.NOT_PROTECTED, text, MEASURE_LEAKAGE)
