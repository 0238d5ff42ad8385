"""The notes of an audit: worst cases, the price of privacy, and caveats."""

from typing import TYPE_CHECKING

import numpy as np

from subsetprivacy.design import Covered
from subsetprivacy.estimation.caveats import with_interval_advice
from subsetprivacy.estimation.likelihood import least_cost
from subsetprivacy.incidence import MAX_MATRIX
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.privacy import metrics

_APART = 0.05  # two distributions of the value that differ by more get a note

if TYPE_CHECKING:
    from subsetprivacy.auditing.report import Audit


def caveats(audit: "Audit") -> tuple[Note, ...]:
    """Return the notes of an audit."""
    notes = [
        Note(NoteKind.LEGEND, "Leakage is what a subset reveals, coverage what remains unknown."),
        *_given(audit),
        *_worst_cases(audit),
        _epsilon(audit.design.epsilon),
        *revealed(audit.reveals),
    ]
    if audit.design.is_identifiable:
        notes.append(Note(NoteKind.PRICE, _price(audit)))
    if audit.covered is not None:
        notes += _dummies(audit.covered)
    if audit.has_prior:
        text = "With a separate prior, the attacker's gain is measured by that prior and can exceed the bounds."
        notes.append(Note(NoteKind.PRIOR, text))
    return (*notes, *_precision(audit), *_failures(audit))


def revealed(shares: dict[str, float]) -> list[Note]:
    """Return a note for each variable that some rows reveal."""
    return [
        Note(NoteKind.REVEALED, f"Revealed exactly: {name}, in {100 * share:.1f}% of the rows.")
        for name, share in shares.items()
        if share > 0
    ]


def _given(audit: "Audit") -> list[Note]:
    """Return the notes about rows with covariates, if the audit includes them."""
    if audit.given is None:
        return []
    legend = "In rows “given covariates”, “without data” means the covariates alone, without the subset."
    notes = [Note(NoteKind.LEGEND, legend), *audit.given.notes]
    apart = float(np.abs(audit.given.w - audit.setting.w).max())
    if apart > _APART:
        text = (
            "The average of the probabilities given covariates differs from the distribution of the audit, by up to "
            f"{apart:.2g} for a category. The rows “given covariates” use that average."
        )
        notes.append(Note(NoteKind.ASSUMPTION, text))
    return notes


def _worst_cases(audit: "Audit") -> list[Note]:
    design, posterior = audit.design, audit.largest_posterior
    smallest = f"Smallest set that can be reported: {design.smallest_set} of {design.p} categories; largest"
    certain = " (1 because a category has probability 0)" if posterior == 1 and design.smallest_set > 1 else ""
    knows = " who knows the distribution" if audit.has_prior else ""
    texts = (
        f"Maximal leakage {metrics.maximal_leakage(design):.4g} bit: on average over the subsets, the chance that "
        f"an attacker{knows} guesses right is multiplied by at most {design.S:.4g}, whatever is guessed.",
        f"{smallest if design.rules_out else 'Largest'} posterior {posterior:.4f}{certain}.",
    )
    return [Note(NoteKind.LEAKAGE, text) for text in texts]


def _epsilon(epsilon: float) -> Note:
    if epsilon == 0:
        value = "0, since nothing is reported"
    elif np.isfinite(epsilon):
        value = f"{epsilon:.3g}"
    else:
        value = "infinite, since values outside the subset are ruled out"
    return Note(NoteKind.EPSILON, f"Epsilon of local differential privacy: {value}.")


def _price(audit: "Audit") -> str:
    """Return the cost in people, or why it is missing, and the least cost of designs that reveal as much."""
    if np.isfinite(audit.cost):
        price = f"{_times(audit.cost)} times as many people as asking directly, for the same squared error"
    elif audit.setting.w.min() <= 0:
        price = "not known, because a category has probability 0"
    else:
        price = f"not computed, because it needs a list of the subsets and at most {MAX_MATRIX:,} categories"
    return (
        f"Price at these shares: {price}. At even shares, any design with this maximal leakage and epsilon needs at "
        f"least {_times(least_cost(audit.design))} times as many."
    )


def _times(factor: float) -> str:
    return f"{factor:.3g}" if factor < 1000 else f"{factor:,.0f}"


def _dummies(design: Covered) -> list[Note]:
    """Return the notes about the protection by dummy rows."""
    texts = [
        f"Floor: for any distribution, each report could come from at least {100 * design.share:.3g}% of the rows. "
        f"{100 * design.D * design.share:.3g}% of the rows are dummies. The numbers above are for someone who knows "
        "that a row belongs to a real person."
    ]
    if design.base.product is not None:
        each = ", ".join(
            f"{' x '.join(names)} {design.share * design.D / round(factor.S):.3g}"
            for names, factor in design.base.product.named().items()
        )
        texts.append(f"Floor for all variables together: {design.share:.3g}. For each alone: {each}.")
    return [Note(NoteKind.DUMMIES, text) for text in texts]


def _precision(audit: "Audit") -> list[Note]:
    """Return the caveats about the estimated distribution and the intervals."""
    notes: list[Note] = []
    if audit.has_tie:
        text = "The two most likely categories are hard to distinguish, so the prediction interval is too short."
        notes.append(Note(NoteKind.TIE, text))
    notes += with_interval_advice(audit.remarks, None)  # an audit has one kind of interval
    if audit.fit is not None and audit.design.p > MAX_MATRIX:
        text = f"No intervals: there are more than {MAX_MATRIX} categories."
        notes.append(Note(NoteKind.NO_STANDARD_ERRORS, text))
    if error := audit.simulation_error:
        text = f"Mutual information was simulated, standard error {error:.1e} bit. It has no interval."
        notes.append(Note(NoteKind.SIMULATED, text))
    return notes


def _failures(audit: "Audit") -> list[Note]:
    notes = []
    if not audit.design.is_subset_private:
        notes.append(Note(NoteKind.NOT_PRIVATE, "NOT subset-private: a single value can be reported."))
    if not audit.design.is_identifiable:
        text = "Not identifiable: the distribution cannot be estimated from this design."
        notes.append(Note(NoteKind.NOT_IDENTIFIABLE, text))
    return notes
