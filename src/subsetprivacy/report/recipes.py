"""How to compute every number of the page again, in Python and on the command line."""

import shlex

from attrs import frozen

from subsetprivacy.finding.settings import BUDGET, LEVEL, PERMUTATIONS


@frozen
class Recipe:
    """The arguments of the call that made a page.

    Attributes
    ----------
    file
        The name of the file.
    columns
        The chosen columns. Empty for all.
    earlier
        The name of the file of an earlier wave. Empty for none.
    """

    file: str
    columns: tuple[str, ...] = ()
    level: float = LEVEL
    tests: bool = True
    permutations: int = PERMUTATIONS
    budget: float | None = BUDGET
    seed: int | None = None
    by: tuple[str, ...] = ()
    earlier: str = ""

    def _changed(self) -> dict[str, object]:
        """Return the arguments that differ from the defaults."""
        given = {
            "columns": list(self.columns) or None,
            "level": None if self.level == LEVEL else self.level,
            "tests": None if self.tests else False,
            "by": list(self.by) or None,
            "permutations": None if self.permutations == PERMUTATIONS else self.permutations,
            "seed": self.seed,
        }
        return {name: value for name, value in given.items() if value is not None}

    def python(self) -> str:
        """Return a program that prints the numbers of the page."""
        arguments = "".join(f", {name}={value!r}" for name, value in self._changed().items())
        if self.earlier:
            arguments += f", earlier=sp.read_release({self.earlier!r})"
        if self.budget != BUDGET:
            arguments += f", budget={self.budget!r}"
        return "\n".join(
            [
                "import subsetprivacy as sp",
                "",
                f"found = sp.findings(sp.read_release({self.file!r}){arguments})",
                "for column in found:",
                "    print(column.fit.summary() if column.fit else column.problem)",
                "print(found.to_json())  # every number of the page",
            ]
        )

    def shell(self) -> str:
        """Return commands that print the same numbers."""
        options = "".join(f" --column {shlex.quote(name)}" for name in self.columns)
        options += "" if self.level == LEVEL else f" --level {self.level}"
        options += "".join(f" --by {shlex.quote(name)}" for name in self.by)
        options += "" if self.tests else " --no-tests"
        options += "" if self.permutations == PERMUTATIONS else f" --permutations {self.permutations}"
        options += "" if self.seed is None else f" --seed {self.seed}"
        options += f" --earlier {shlex.quote(self.earlier)}" if self.earlier else ""
        file = shlex.quote(self.file)
        return f"subsetprivacy check {file}{options}\nsubsetprivacy check {file}{options} --json"
