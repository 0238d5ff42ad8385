"""All experiments, in the order of the paper, each in a file named after its label."""

import ast
from difflib import get_close_matches
from fnmatch import fnmatchcase
from hashlib import sha256
from importlib import import_module
from inspect import getsource
from typing import TypeGuard

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
"""Labels of the paper, and names of our own experiments."""


def file_name(label: str) -> str:
    """Return the label as a module and file name, with an underscore for every colon and hyphen."""
    return label.replace(":", "_").replace("-", "_")


def load(label: str) -> Experiment:
    """Import one experiment."""
    experiment: Experiment = import_module(f"subsetprivacy.reproduce.{file_name(label)}").EXPERIMENT
    return experiment


def code_of(label: str) -> str:
    """Return a fingerprint of an experiment's code: results stored under another fingerprint are out of date.

    Only statements count. Docstrings, comments, imports and the text `ABOUT` may change without a new run.
    """
    source = getsource(import_module(f"subsetprivacy.reproduce.{file_name(label)}"))
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node):
            first, last = node.lineno, node.end_lineno or node.lineno
            lines[first - 1 : last] = [""] * (last - first + 1)
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return sha256("\n".join(kept).encode()).hexdigest()[:16]


def _is_text(node: ast.AST) -> TypeGuard[ast.stmt]:
    """Tell whether a statement is a docstring or sets `ABOUT`."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "ABOUT" for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def select(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the selected labels in the paper's order: ``all``, labels, and patterns such as ``fig:auc-*``.

    Raises
    ------
    ArgumentError
        If a word matches no label.
    """
    chosen = set()
    for word in wanted:
        matching = [label for label in LABELS if word == "all" or fnmatchcase(label, word)]
        if not matching:
            near = get_close_matches(word, LABELS, 3, 0.5)
            advice = TAKE_A_SIMILAR_EXPERIMENT(labels=" or ".join(near)) if near else LIST_EXPERIMENTS()
            raise ArgumentError(f"`label` must be one of the experiments or all; got {word!r}.", advice)
        chosen.update(matching)
    return tuple(label for label in LABELS if label in chosen)
