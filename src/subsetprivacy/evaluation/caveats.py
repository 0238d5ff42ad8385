"""Notes and caveats of an evaluation."""

import numpy as np
from attrs import evolve

from subsetprivacy._types import FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.evaluation.measures import FEWEST, LOSSES, TINY
from subsetprivacy.evaluation.result import WORDS, Evaluation
from subsetprivacy.evaluation.sample import ClassifierOutput, EvaluationSample
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_analyses import RARE_CATEGORIES, SUBSET_LOSS_INSTEAD
from subsetprivacy.tables import label_text

_FEW = 50  # with fewer people, normal theory is unreliable
_MOST_NAMED = 6


def with_notes(
    made: Evaluation, sample: EvaluationSample, prediction: ClassifierOutput, sizes: FloatArray, notes: tuple[Note, ...]
) -> Evaluation:
    """Return an evaluation with its caveats."""
    all_notes = [*notes, *_rare(made, sample), *_few_guesses(made, sample, prediction), *_few_people(made)]
    all_notes += [*_zeros(made, prediction, sizes), *_outside(made)]
    return evolve(made, notes=tuple(all_notes))


def _rare(made: Evaluation, sample: EvaluationSample) -> list[Note]:
    """Return which categories are too rare, and what is not given for this reason."""
    if not any(name in made.measures for name in ("balanced_accuracy", "recall", "f1", "auc")):
        return []
    notes = []
    own = [WORDS[name] for name in ("recall", "f1", "auc") if name in made.measures]
    lost = ["balanced accuracy"] if "balanced_accuracy" in made.measures else []
    lost += [f"their {', '.join(own)}"] if own else []
    if sample.rare:
        notes.append(
            Note(
                NoteKind.SMALL_COUNTS,
                f"Too rare in this sample, with a share within 4 standard errors of 0: "
                f"{_named(made.categories, sample.rare)}. Not given because too noisy: {' and '.join(lost)}.",
                RARE_CATEGORIES,
            )
        )
    whole = [j for j in sample.everyone if j not in sample.rare]
    if whole and "auc" in made.measures:
        text = (
            f"Nearly everyone is {_named(made.categories, tuple(whole))}. The AUC has too few others and is not given."
        )
        notes.append(Note(NoteKind.SMALL_COUNTS, text, RARE_CATEGORIES))
    return notes


def _few_guesses(made: Evaluation, sample: EvaluationSample, prediction: ClassifierOutput) -> list[Note]:
    if "precision" not in made.measures:
        return []
    few = [j for j in range(len(made.categories)) if sample.weights.count(prediction.guess == j) < FEWEST]
    if not few:
        return []
    named = _named(made.categories, tuple(few))
    return [Note(NoteKind.NO_ESTIMATE, f"No precision, because fewer than {FEWEST} people are guessed: {named}.")]


def _few_people(made: Evaluation) -> list[Note]:
    if made.n >= _FEW:
        return []
    text = f"Only {counted(made.n, 'person', 'people')}: standard errors and intervals are rough."
    return [Note(NoteKind.SMALL_COUNTS, text)]


def _zeros(made: Evaluation, prediction: ClassifierOutput, sizes: FloatArray) -> list[Note]:
    """Return the notes about probabilities of 0 in logarithms."""
    notes = []
    if "log_loss" in made.measures:
        zeros = int((prediction.proba < TINY).any(axis=1).sum())
        if zeros:
            text = (
                f"Log loss: a probability of 0, which {counted(zeros, 'person has', 'people have')} for some category, "
                f"counts as {TINY:.1e}."
            )
            notes.append(Note(NoteKind.ASSUMPTION, text, SUBSET_LOSS_INSTEAD))
    if "subset_log_loss" in made.measures and (sizes < TINY).any():
        people = counted(int((sizes < TINY).sum()), "person", "people")
        text = f"The classifier rules out the subset of {people}. The subset log loss uses the probability {TINY:.1e}."
        notes.append(Note(NoteKind.IMPOSSIBLE, text))
    return notes


def _outside(made: Evaluation) -> list[Note]:
    """Return a note if some estimates are outside their range."""
    shares = np.array([name not in LOSSES for name in made.measures])
    outside = shares & ((made.estimates < 0) | (made.estimates > 1))
    if not outside.any():
        return []
    names = dict.fromkeys(WORDS[made.measures[k]] for k in np.flatnonzero(outside))
    text = f"Below 0 or above 1, as unbiased estimates can be in small samples: {', '.join(names)}."
    return [Note(NoteKind.MOMENTS, text)]


def _named(categories: tuple[Label, ...], positions: tuple[int, ...]) -> str:
    shown = ", ".join(label_text(categories[j]) for j in positions[:_MOST_NAMED])
    return shown + (", …" if len(positions) > _MOST_NAMED else "")
