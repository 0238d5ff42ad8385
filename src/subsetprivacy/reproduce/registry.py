"""All experiments, in the order of the paper; a file each, named after its label."""

import re
from difflib import get_close_matches
from fnmatch import fnmatchcase
from hashlib import sha256
from importlib import import_module
from inspect import getsource

from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_files import LIST_EXPERIMENTS, TAKE_A_SIMILAR_EXPERIMENT
from subsetprivacy.reproduce.experiment import Experiment

LABELS = (
    "toy_example",
    "thm_identi",
    "thm_consistency_mle",
    "thm_normality_mle",
    "gen_mom",
    "one_step",
    "thm_mom_dim",
    "tab:race_pop_dist",
    "fig:adult_race_l2_loss",
    "fig:race_diff",
    "fig:adult_privacy_leak",
    "fig:adult_privacy",
    "tab:cont_full",
    "fig:adult_power",
    "tab:consistency",
    "fig:dist",
    "fig:high_1",
    "fig:high_2",
    "fig:time1",
    "fig:time2",
    "fig:auc-rho",
    "fig:auc-n",
    "fig:auc-p",
    "fig:ct-time",
    "ours:frontier",
    "ours:large_p",
    "ours:level",
    "ours:power",
)
"""Labels of the paper, and names of our own."""


def file_name(label: str) -> str:
    """Return the label as the name of a module and of files: a low line for every colon and hyphen."""
    return label.replace(":", "_").replace("-", "_")


def load(label: str) -> Experiment:
    """Import one experiment."""
    experiment: Experiment = import_module(f"subsetprivacy.reproduce.{file_name(label)}").EXPERIMENT
    return experiment


def code_of(label: str) -> str:
    """Return a fingerprint of an experiment's file without the words about it: other code, other results."""
    module = import_module(f"subsetprivacy.reproduce.{file_name(label)}")
    source = re.sub(r'^ABOUT = f?""".*?"""$', "", getsource(module), flags=re.MULTILINE | re.DOTALL)
    return sha256(source.encode()).hexdigest()[:16]


def select(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that are meant, in the paper's order: ``all``, labels, and patterns such as ``fig:auc-*``.

    Raises
    ------
    ArgumentError
        If a word means no label.
    """
    chosen = set()
    for word in wanted:
        found = [label for label in LABELS if word == "all" or fnmatchcase(label, word)]
        if not found:
            near = get_close_matches(word, LABELS, 3, 0.5)
            advice = TAKE_A_SIMILAR_EXPERIMENT(labels=" or ".join(near)) if near else LIST_EXPERIMENTS()
            raise ArgumentError(f"`label` must be one of the experiments or all; got {word!r}.", advice)
        chosen.update(found)
    return tuple(label for label in LABELS if label in chosen)
