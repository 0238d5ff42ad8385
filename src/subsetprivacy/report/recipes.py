"""How every number of the page is got again: in Python and on the command line."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from subsetprivacy.report.crossing import Effort, Pair
from subsetprivacy.report.gathering import Column


def in_python(path: Path, columns: Sequence[Column], pairs: Sequence[Pair], effort: Effort) -> str:
    """Return a program that prints the numbers of the page."""
    out = ["import subsetprivacy as sp", "", f"release = sp.read_release({path.name!r})"]
    for column in columns:
        out += ["", f"counts = release.count({column.name!r})"]
        if column.fit is None:
            continue
        method = f", method={'mom'!r}" if column.fit.method.startswith("mom") else ""
        out += [
            f"print(sp.estimate(counts{method}).summary({effort.level}))",
            f"print(sp.audit(counts, level={effort.level}).summary())",
        ]
    seed = "" if effort.seed is None else f", seed={effort.seed!r}"
    for pair in pairs:
        if pair.problem:
            continue
        what = f"release.count({pair.inside!r})" if pair.inside else f"release.crosstab({_quoted(pair.names)})"
        out += ["", f"counts = {what}"]
        if effort.tests:
            out.append(f"print(sp.independence_test(counts, permutations={effort.permutations}{seed}).summary())")
        if pair.measure is not None and all(_is_single(columns, name) or pair.inside for name in pair.names):
            out.append(f"print(sp.association(counts).cramers_v(level={effort.level}))")
    if len(columns) > 1:
        out += ["", f"print(sp.audit(release.crosstab({_quoted([one.name for one in columns])})).summary())"]
    return "\n".join(out)


def on_the_command_line(path: Path, columns: Sequence[Column], pairs: Sequence[Pair], effort: Effort) -> str:
    """Return commands that print the same numbers."""
    file = shlex.quote(path.name)
    seed = "" if effort.seed is None else f" --seed {effort.seed}"
    level = "" if effort.level == 0.95 else f" --level {effort.level}"
    out = []
    for column in columns:
        name = shlex.quote(column.name)
        method = " --method mom" if column.fit is not None and column.fit.method.startswith("mom") else ""
        out += [
            f"subsetprivacy estimate {file} --column {name}{method}{level}",
            f"subsetprivacy audit {file} --column {name}{level}",
        ]
    for pair in pairs:
        if effort.tests and not pair.problem:
            named = " ".join(shlex.quote(name) for name in ((pair.inside,) if pair.inside else pair.names))
            out.append(f"subsetprivacy test {file} {named} --permutations {effort.permutations}{seed}")
    return "\n".join(out)


def _is_single(columns: Sequence[Column], name: str) -> bool:
    """Whether a column holds one variable, so that the counts as they are read have two."""
    held = next((column for column in columns if column.name == name), None)
    return held is not None and not hasattr(held.design.categories, "names")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)
