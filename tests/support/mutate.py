"""Break each promise in turn, and see whether its tests fail.

    python tests/support/mutate.py                          # all: the better part of an hour
    python tests/support/mutate.py --only promise.once T1   # those whose names begin so

The mutations are those of tests/collect/claims.toml. Each is made alone, in a copy of the sources, and the tests that
it names are run there. A mutation is killed if a test fails; one that only breaks an import or a fixture is not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "tests/collect/claims.toml"
COPIED = ("src", "tests", "docs", "pyproject.toml", "README.md")
MOST_SECONDS = 600
MOST_LETTERS = 120  # of a failure
PATIENCE = "15000"  # milliseconds that a browser waits for a screen that a mutation has taken away


def read_claims() -> dict[str, dict[str, Any]]:
    """Return the entries of all claims, by their names."""
    claims: dict[str, dict[str, Any]] = tomllib.loads(CLAIMS.read_text("utf-8"))["claims"]
    return claims


def mutations(only: list[str]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each claim whose name begins with one of these, or any where none is given, with each of its mutations."""
    for name, claim in read_claims().items():
        if not only or any(name.startswith(start) for start in only):
            for mutation in claim.get("mutations", ()):
                yield name, claim, mutation


def mutated(text: str, mutation: dict[str, Any]) -> str:
    """Return a text with the mutation made; what it looks for must be there once."""
    times = text.count(mutation["find"])
    if times != 1:
        raise ValueError(f"`find` must occur once in {mutation['file']}; got {times} times: {mutation['find']!r}")
    return text.replace(mutation["find"], mutation["replace"])


class Tree:
    """A copy of the repository in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._changes = 0
        unwanted = shutil.ignore_patterns("__pycache__", "_build", ".*")
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
            else:
                shutil.copy2(ROOT / name, folder / name)

    def change(self, file: str, text: str) -> None:
        """Write a file, each time with another date: compiled files are told apart by whole seconds."""
        path = self.folder / file
        path.write_text(text, encoding="utf-8")
        self._changes += 1
        when = path.stat().st_mtime + 10 * self._changes
        os.utime(path, (when, when))

    def fails(self, tests: list[str]) -> tuple[bool, str]:
        """Run tests up to the first failure; return whether there is one, and how it failed or what happened."""
        report = self.folder / "report.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += [f"--junitxml={report}", *tests]
        environment = os.environ | {"PYTHONPATH": str(self.folder / "src"), "BROWSER_PATIENCE": PATIENCE}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each run would compile everything again
        try:
            ended = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return False, f"not done within {MOST_SECONDS} seconds"
        (self.folder / "output.txt").write_text(ended.stdout + ended.stderr, encoding="utf-8")
        if not report.exists():
            return False, f"pytest ended with {ended.returncode}"
        (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
        counted = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
        if ended.returncode == 1 and counted["failures"]:
            failure = next(suite.iter("failure"))
            return True, " ".join(failure.get("message", "").split())[:MOST_LETTERS]
        return False, ", ".join(f"{number} {name}" for name, number in counted.items() if number)

    def output(self) -> str:
        """Return what pytest printed last."""
        return (self.folder / "output.txt").read_text("utf-8")


def tests_of(claim: dict[str, Any], mutation: dict[str, Any]) -> list[str]:
    """Return the tests that must notice a mutation: its own selection, or all of the claim."""
    tests: list[str] = mutation.get("tests", claim["tests"])
    return tests


def run(only: list[str], tree: Tree, *, show: bool) -> int:
    """Try every mutation, print a line for each, and return how many were not killed."""
    chosen = list(mutations(only))
    wanted = sorted({test for _, claim, mutation in chosen for test in tests_of(claim, mutation)})
    fails, how = tree.fails(wanted)
    if fails or "errors" in how:
        print(tree.output())
        raise SystemExit("The tests must pass before anything is broken.")
    survived = 0
    print("killed | seconds | claim | adversary | mutation | tests | how", flush=True)
    for name, claim, mutation in chosen:
        tests = tests_of(claim, mutation)
        original = (tree.folder / mutation["file"]).read_text("utf-8")
        begun = datetime.now(UTC)
        tree.change(mutation["file"], mutated(original, mutation))
        killed, how = tree.fails(tests)
        tree.change(mutation["file"], original)
        seconds = f"{(datetime.now(UTC) - begun).total_seconds():.0f}"
        survived += not killed
        short = ", ".join(test.removeprefix("tests/collect/") for test in tests)
        verdict = "yes" if killed else "NO"
        print(" | ".join((verdict, seconds, name, claim["adversary"], mutation["what"], short, how)), flush=True)
        if show:
            print(tree.output())
    print(f"{len(chosen)} mutations, {survived} not killed")
    return survived


def main() -> None:
    """Run the mutations that are asked for; exit with 1 if one was not noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="claims whose names begin so")
    parser.add_argument("--show", action="store_true", help="print what the tests said of every mutation")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        sys.exit(bool(run(given.only, Tree(Path(folder)), show=given.show)))


if __name__ == "__main__":
    main()
