"""Notes of a regression on private predictors, including its caveats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from subsetprivacy._words import counted
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_regression import CORRECTED_IF_WRONG, LINEAR_OR_MERGE, MERGE_OR_MORE, MERGE_PREDICTOR
from subsetprivacy.regression.caveats import note_of_sandwich
from subsetprivacy.regression.maxima import told
from subsetprivacy.regression.price import price_text
from subsetprivacy.tables import label_text, number

if TYPE_CHECKING:
    from subsetprivacy.predictors.result import OutcomeRegression

_FEW = 10.0  # effective people per coefficient
_MOST_NAMED = 6


def caveats(fit: OutcomeRegression) -> tuple[Note, ...]:
    """Return the notes of a fit."""
    return (
        *_baselines(fit),
        *_likelihood(fit),
        *_price(fit),
        *_missing(fit),
        *_unknown_design(fit),
        *warned_notes(fit),
        *_comparison(fit),
        *_errors(fit),
    )


def warned_notes(fit: OutcomeRegression) -> tuple[Note, ...]:
    """Return the notes that are also warnings: no solution, or an uncertain one."""
    return (*_unsolved(fit), *_several(fit), *_separated(fit), *_rare(fit), *_small(fit))


def _baselines(fit: OutcomeRegression) -> tuple[Note, ...]:
    layout = fit.layout
    compared = {name: label_text(layout.level_of(name, label)) for name, label in layout.baselines.items()}
    own = {name for name, label in compared.items() if f"{name}[{label}]" in layout.names}  # without an intercept
    parts = [f"{name} is compared with {label}" for name, label in compared.items() if name not in own]
    if fit.categories is not None:
        parts.append(f"coefficients are log odds relative to {label_text(fit.categories[0])}")
    return (Note(NoteKind.BASELINE, f"{'; '.join(parts)}."),) if parts else ()


def _likelihood(fit: OutcomeRegression) -> tuple[Note, ...]:
    if fit.loglik is None or fit.aic is None:
        return ()
    text = f"Log-likelihood {number(fit.loglik, 3)} of outcomes and subsets, AIC {number(fit.aic, 2)}."
    return (Note(NoteKind.MAXIMUM, f"{text} At most {max(fit.gap, 1e-8):.1g} is left to gain."),)


def _price(fit: OutcomeRegression) -> tuple[Note, ...]:
    text = price_text(fit.price, fit.n)
    return (Note(NoteKind.PRICE, text),) if text else ()


def _missing(fit: OutcomeRegression) -> tuple[Note, ...]:
    if not fit.n_missing:
        return ()
    text = f"Left out because a subset is the full set: {counted(fit.n_missing, 'row')}."
    return (Note(NoteKind.MISSING, text),)


def _unknown_design(fit: OutcomeRegression) -> tuple[Note, ...]:
    design = fit.problem.design
    return () if design.is_known else (Note(NoteKind.UNKNOWN_DESIGN, f"Unknown design: {design.assumption}."),)


def _unsolved(fit: OutcomeRegression) -> tuple[Note, ...]:
    if not fit.fit.solved:
        named = ", ".join(fit.fit.unsolved[:_MOST_NAMED])
        what = {"linear": "people", "logit": "people with one of the outcomes", "poisson": "events"}[fit.family]
        text = (
            f"The corrected equations have no solution, most likely because of {named}: the estimated number of {what} "
            "is not positive there, overall or at some values of the observed columns."
        )
        linear = fit.family != "linear" and fit.categories is None
        advice = LINEAR_OR_MERGE if linear else MERGE_PREDICTOR
        return (Note(NoteKind.NOT_UNIQUE, text, advice(name=fit.fit.unsolved[0].partition("[")[0])),)
    if fit.converged and fit.fit.is_maximum:
        return ()
    what = f"about {fit.gap:.2g} of log-likelihood is left to gain" if not fit.converged else "it may be a saddle point"
    return (Note(NoteKind.NOT_CONVERGED, f"The fit did not converge: {what}.", MERGE_OR_MORE),)


def _several(fit: OutcomeRegression) -> tuple[Note, ...]:
    text = told(fit.maxima, fit.fit.starts)
    return (Note(NoteKind.NOT_UNIQUE, text, MERGE_OR_MORE),) if text else ()


def _separated(fit: OutcomeRegression) -> tuple[Note, ...]:
    if not fit.separated:
        return ()
    text = f"These coefficients are infinite because the data do not bound them: {_named(fit.separated)}."
    return (Note(NoteKind.SEPARATED, text, MERGE_OR_MORE),)


def _rare(fit: OutcomeRegression) -> tuple[Note, ...]:
    if not fit.rare:
        return ()
    people = "the estimated number of people"
    who = people if fit.family == "linear" else f"{people}, or of outcomes,"
    text = f"Not given, because {who} behind them is not clearly above 0: {_named(fit.rare)}."
    return (Note(NoteKind.SMALL_COUNTS, text, MERGE_OR_MORE),)


def _named(coefficients: tuple[Any, ...]) -> str:
    """Return the names of coefficients, of which those of a private outcome are pairs."""
    names = [name if isinstance(name, str) else f"{label_text(name[0])} {name[1]}" for name in coefficients]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


def _small(fit: OutcomeRegression) -> tuple[Note, ...]:
    each = fit.n * fit.problem.information_kept / max(len(fit.layout.names), 1)
    if each >= _FEW:
        return ()
    text = (
        f"Few people: the effective sample size is {each:.1f} per coefficient. Normal approximations are usually "
        f"reliable from {_FEW:.0f}."
    )
    return (Note(NoteKind.SMALL_COUNTS, text, MERGE_OR_MORE),)


def _comparison(fit: OutcomeRegression) -> tuple[Note, ...]:
    test = fit.specification
    p = float(test.pvalue[0])
    if np.isnan(p):
        return test.notes
    text = f"Corrected scores and the likelihood compared: {test.text()}."
    if p >= 0.05:
        return (Note(NoteKind.SPECIFICATION, f"{text} The test finds no difference."), *test.notes)
    if fit.method == "corrected":
        why = "They differ, so a maximum-likelihood fit would be misleading here. Corrected scores are not affected."
        return (Note(NoteKind.SPECIFICATION, f"{text} {why}"), *test.notes)
    why = "They differ: the model of the outcome or of the private value does not describe these data."
    return (Note(NoteKind.SPECIFICATION, f"{text} {why}", CORRECTED_IF_WRONG), *test.notes)


def _errors(fit: OutcomeRegression) -> tuple[Note, ...]:
    problem = fit.problem
    if fit.fit.robust is None:
        return (Note(NoteKind.NO_STANDARD_ERRORS, "No standard errors: there is no fit."),)
    if not problem.is_robust:
        return ()
    if problem.sampling is not None:
        text = (
            f"Standard errors follow the sampling ({problem.sampling.method}), with "
            f"{counted(problem.sampling.degrees_of_freedom, 'degree of freedom', 'degrees of freedom')}."
        )
        return (Note(NoteKind.INTERVAL_METHOD, text), *_design_effects(fit))
    why = "sampling weights" if problem.weighted == "sampling" else "corrected scores"
    return (note_of_sandwich(why, problem.degrees_of_freedom),)


def _design_effects(fit: OutcomeRegression) -> tuple[Note, ...]:
    effects = fit.design_effects
    if effects is None or not np.isfinite(effects).all():
        return ()
    text = (
        f"Design effects of the coefficients: {number(float(effects.min()), 2)} to {number(float(effects.max()), 2)}."
    )
    return (Note(NoteKind.WEIGHTED, text),)
