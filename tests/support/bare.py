"""Python as it is after `pip install ".[extra]"`: everything else that is installed here is hidden."""

import os
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HIDING = Path(__file__).with_name("hiding")
PACKAGE = "subsetprivacy"


@cache
def installed_with(*extras: str) -> frozenset[str]:
    """Return the distributions that pip would install with these extras, as far as they are installed here."""
    found: set[str] = set()
    wanted = [(PACKAGE, frozenset(extras))]
    seen = set(wanted)
    while wanted:
        name, asked = wanted.pop()
        found.add(name)
        for text in _requires(name):
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in asked | {""}):
                each = (canonicalize_name(needed.name), frozenset(needed.extras))
                if each not in seen:
                    seen.add(each)
                    wanted.append(each)
    return frozenset(found)


def _requires(name: str) -> list[str]:
    try:
        return distribution(name).requires or []
    except PackageNotFoundError:
        return []


@cache
def hidden_with(*extras: str) -> str:
    """Return the top-level modules that are installed here and that these extras do not bring."""
    kept = installed_with(*extras)
    owners = {module: {canonicalize_name(name) for name in names} for module, names in packages_distributions().items()}
    return " ".join(sorted(module for module, names in owners.items() if not names & kept))


def python(*arguments: str | Path, extras: tuple[str, ...] = (), cwd: Path | None = None, stdin: str | None = None):
    """Run Python where only the package, what it depends on and some extras can be imported."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))},
        "PYTHONPATH": str(HIDING),
        "HIDDEN_MODULES": hidden_with(*extras),
        "PYTHONWARNINGS": "default",
    }
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
