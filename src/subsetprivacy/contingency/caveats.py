"""Caveats of a log-linear model, as notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from subsetprivacy._words import counted
from subsetprivacy.contingency.fitting import MAX_PARAMETERS
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import SMALLER_MODEL
from subsetprivacy.regression.maxima import told
from subsetprivacy.tables import label_text, number

if TYPE_CHECKING:
    from subsetprivacy.contingency.result import LogLinear

_FEW = 10.0  # effective people per parameter, as if asked directly
_MOST_NAMED = 6


def caveats(fit: LogLinear) -> tuple[Note, ...]:
    """Return the notes of a fit: baselines, goodness of fit, precision and caveats."""
    return (
        _baselines(fit),
        _fit(fit),
        *_against_all(fit),
        *_known(fit),
        *_price(fit),
        *_missing(fit),
        *warning_notes(fit),
        *_errors(fit),
    )


def warning_notes(fit: LogLinear) -> tuple[Note, ...]:
    """Return the notes that are also warnings: the fit did not converge, is not unique, or is infinite."""
    return (*_convergence(fit), *_several(fit), *_separated(fit), *_small(fit))


def _baselines(fit: LogLinear) -> Note:
    named = ", ".join(f"{name} {label_text(label)}" for name, label in fit.baseline.items())
    return Note(NoteKind.BASELINE, f"Parameters are log odds and log odds ratios relative to: {named}.")


def _fit(fit: LogLinear) -> Note:
    text = f"Log-likelihood {number(fit.loglik, 3)} of the subsets, AIC {number(fit.aic, 2)}, BIC {number(fit.bic, 2)}."
    return Note(NoteKind.MAXIMUM, f"{text} At most {max(fit.gap, 1e-8):.1g} is left to gain.")


def _against_all(fit: LogLinear) -> tuple[Note, ...]:
    test = fit.goodness_of_fit
    p = float(test.pvalue[0])
    if np.isnan(p):
        return test.notes
    result = test.text()
    finding = " The model does not describe the table well." if p < 0.05 else " There is no sign of lack of fit."
    if any(note.kind is NoteKind.BOUNDARY for note in test.notes):
        finding = ""  # the p-value is not reliable enough
    return (Note(NoteKind.SPECIFICATION, f"Against the saturated model: {result}.{finding}"), *test.notes)


def _known(fit: LogLinear) -> tuple[Note, ...]:
    if not fit.margins:
        return ()
    named = "; ".join(" x ".join(fit.names[k] for k in variables) for variables in fit.margins)
    fixed = fit.structure.size - fit.df
    text = (
        f"Known margins ({named}) fix {fixed} of {counted(fit.structure.size, 'parameter')}. Totals become more "
        "precise, conditional shares hardly."
    )
    return (Note(NoteKind.ASSUMPTION, text),)


def _price(fit: LogLinear) -> tuple[Note, ...]:
    if fit.fit.undetermined or not fit.n_effective < 0.999 * fit.n:
        return ()
    price = fit.price[np.isfinite(fit.price)]
    text = (
        f"On average over these parameters, {fit.n:,.0f} people are as informative as about {fit.n_effective:,.0f} "
        f"people asked directly. The price of a parameter is {price.min():.3g} to {price.max():.3g}, with a median of "
        f"{np.median(price):.3g}: so many times as many people are needed as if they were asked directly."
    )
    return (Note(NoteKind.PRICE, text),)


def _missing(fit: LogLinear) -> tuple[Note, ...]:
    if not fit.n_missing:
        return ()
    what = counted(fit.n_missing, "row") if fit.counts.squares is None else f"{fit.n_missing:.0f} of the weight"
    return (Note(NoteKind.MISSING, f"Left out because an answer is missing: {what}."),)


def _convergence(fit: LogLinear) -> tuple[Note, ...]:
    if fit.converged and fit.fit.is_maximum:
        return ()
    what = f"about {fit.gap:.2g} of log-likelihood is left to gain" if not fit.converged else "it may be a saddle point"
    return (Note(NoteKind.NOT_CONVERGED, f"The fit did not converge: {what}.", SMALLER_MODEL),)


def _several(fit: LogLinear) -> tuple[Note, ...]:
    if fit.fit.undetermined:
        named = _named([label for label, sign in zip(fit.labels, fit.fit.infinite, strict=True) if np.isnan(sign)])
        text = f"The reported subsets do not determine these parameters: {named}."
        return (Note(NoteKind.NOT_UNIQUE, text, SMALLER_MODEL),)
    text = told(fit.maxima, fit.fit.starts)
    return (Note(NoteKind.NOT_UNIQUE, text, SMALLER_MODEL),) if text else ()


def _separated(fit: LogLinear) -> tuple[Note, ...]:
    if not fit.separated or fit.fit.undetermined:
        return ()
    text = f"These parameters are infinite, because shares are fitted as 0: {_named(fit.separated)}."
    if len(fit.separated) < len(fit.labels):
        text += " The others are finite."
    zeros = fit.zeros
    if zeros:
        text += f" Fitted as 0: {_named([label_text(cell) for cell in zeros])}."
    return (Note(NoteKind.SEPARATED, text, SMALLER_MODEL),)


def _named(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _small(fit: LogLinear) -> tuple[Note, ...]:
    each = fit.n_effective / max(fit.df, 1)
    if not each < _FEW:
        return ()
    text = (
        f"Few people: the effective sample size is {each:.1f} per parameter. Normal approximations are usually "
        f"reliable from {_FEW:.0f}."
    )
    return (Note(NoteKind.SMALL_COUNTS, text, SMALLER_MODEL),)


def _errors(fit: LogLinear) -> tuple[Note, ...]:
    if fit.fit.cov is None:
        why = "the fit did not converge" if not fit.converged else "there are too many parameters or cells"
        limit = f" (at most {MAX_PARAMETERS} parameters)" if fit.converged else ""
        return (Note(NoteKind.NO_STANDARD_ERRORS, f"No standard errors: {why}{limit}."),)
    if fit.is_robust:
        text = "Standard errors are robust (sandwich), because of sampling weights."
        return (Note(NoteKind.INTERVAL_METHOD, text),)
    return ()
