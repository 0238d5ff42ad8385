"""`IndependencePower`: the result of `independence_power`."""

from collections.abc import Mapping, Sequence
from math import isfinite, nan, sqrt
from typing import Any, Self

import numpy as np
from attrs import frozen

from subsetprivacy import draw
from subsetprivacy._types import FloatArray
from subsetprivacy._words import people, whole
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.planning.dependence_limits import ENLARGED, VALUES, NoncentralChiSquare
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number, percent

_NUMBERS = ("n", "power", "se", "limit_power", "noncentrality", "df", "price")
_COUNTS = ("alpha", "rejected", "replications", "direct")


@frozen(repr=False)
class PowerOfTest(Result):
    """The power of one test.

    Attributes
    ----------
    name
        The method, ``"PT:X"`` for Pearson's test of the values themselves, or ``"PT:Y"`` for Pearson's test of the
        values with the known bits.
    n
        The number of people.
    alpha
        The level of the test, at most 0.5.
    limit
        The limit distribution of its statistic, or None.
    rejected, replications
        The number of rejections, and the number of simulated samples. Both are 0 if nothing was simulated.
    direct
        The number of people that Pearson's test of the values needs for the same power, if a target was given;
        else None.
    power
        The simulated probability of rejection, or that of the limit distribution if nothing was simulated.
    se
        The standard error of the simulated power, or NaN.
    limit_power
        The power according to the limit distribution, or NaN if there is none.
    noncentrality, df
        The parameters of the limit distribution with n people.
    price
        `n` over `direct`, the price of privacy for this test.
    """

    name: str
    n: int
    alpha: float
    limit: NoncentralChiSquare | None
    rejected: int = 0
    replications: int = 0
    direct: int | None = None

    @property
    def power(self) -> float:
        """The probability of rejection: simulated if samples were drawn, else from the limit distribution."""
        return self.rejected / self.replications if self.replications else self.limit_power

    @property
    def se(self) -> float:
        """The standard error of the simulated power, with two rejections in four samples added, so that it is not 0."""
        if not self.replications:
            return nan
        share = (self.rejected + 2) / (self.replications + 4)
        return sqrt(share * (1 - share) / (self.replications + 4))

    @property
    def limit_power(self) -> float:
        """The power according to the limit distribution."""
        return nan if self.limit is None else float(self.limit.power(self.n, self.alpha))

    @property
    def noncentrality(self) -> float:
        """The noncentrality of the limit distribution with n people."""
        return nan if self.limit is None else self.n * self.limit.rate

    @property
    def df(self) -> float:
        """The degrees of freedom of the limit distribution."""
        return nan if self.limit is None else self.limit.df

    @property
    def price(self) -> float:
        """How many times as many people it needs as Pearson's test of the values."""
        return nan if self.direct is None else self.n / self.direct

    @property
    def notes(self) -> tuple[Note, ...]:
        """Always empty. `IndependencePower` has the caveats of all tests."""
        return ()

    def __repr__(self) -> str:
        return f"<PowerOfTest {self.name}: {self.power:.4f} with {people(self.n)}>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""
        rows = (
            ("people", whole(self.n)),
            ("power", number(self.power)),
            ("std. error", number(self.se)),
            ("limit power", number(self.limit_power)),
            ("noncentrality", number(self.noncentrality, 2)),
            ("df", number(self.df, 0)),
            ("times PT:X", number(self.price, 2)),
        )
        return Table(f"Test of independence {self.name} at {percent(self.alpha)}", ("", "value"), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that do not exist are None."""
        numbers = {name: getattr(self, name) for name in (*_NUMBERS, *_COUNTS)}
        rate = None if self.limit is None else self.limit.rate
        facts: dict[str, Any] = plain({"name": self.name, **numbers, "rate": rate, "notes": self.notes})
        return facts

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote."""
        limit = None if facts["rate"] is None else NoncentralChiSquare(facts["rate"], facts["df"])
        return cls(facts["name"], facts["n"], limit=limit, **{name: facts[name] for name in _COUNTS})

    def _columns(self) -> Mapping[str, Any]:
        return _columns([self])


def _columns(tests: Sequence[PowerOfTest]) -> dict[str, Any]:
    columns: dict[str, Any] = {name: [getattr(test, name) for test in tests] for name in ("name", *_NUMBERS, "alpha")}
    # A test without a limit distribution has NaN degrees of freedom, which need floats.
    return {**columns, "df": [float(df) for df in columns["df"]]}


@frozen(eq=False, repr=False)
class IndependencePower(Result):
    """The power of a test of independence, and of other tests for comparison.

    Attributes
    ----------
    variables
        The names of the two variables.
    test
        The requested test.
    comparison
        All tests by name, or only the requested one without a comparison.
    rows
        The same as a tuple.
    target
        The required power, or None.
    permutations
        The number of random tables for each simulated p-value.
    notes
        The caveats.
    method, n, power, se, limit_power, noncentrality, df, alpha
        The numbers of `test`.
    """

    variables: tuple[str, str]
    test: PowerOfTest
    comparison: Mapping[str, PowerOfTest]
    target: float | None
    permutations: int
    notes: tuple[Note, ...] = ()

    @property
    def rows(self) -> tuple[PowerOfTest, ...]:
        """All tests."""
        return tuple(self.comparison.values())

    @property
    def method(self) -> str:
        """The requested test."""
        return self.test.name

    @property
    def n(self) -> int:
        """The number of people: as given, or the smallest that reaches the target."""
        return self.test.n

    @property
    def power(self) -> float:
        """The probability of rejection: simulated if samples were drawn, else from the limit distribution."""
        return self.test.power

    @property
    def se(self) -> float:
        """The standard error of the simulated power, NaN if nothing was simulated."""
        return self.test.se

    @property
    def limit_power(self) -> float:
        """The power according to the limit distribution, NaN if there is none."""
        return self.test.limit_power

    @property
    def noncentrality(self) -> float:
        """The noncentrality of the limit distribution with n people."""
        return self.test.noncentrality

    @property
    def df(self) -> float:
        """The degrees of freedom of the limit distribution."""
        return self.test.df

    @property
    def alpha(self) -> float:
        """The level of the test."""
        return self.test.alpha

    @property
    def replications(self) -> int:
        """The number of simulated samples."""
        return self.test.replications

    def __repr__(self) -> str:
        how = f"simulated, std. error {self.se:.3f}" if self.replications else "limit distribution"
        return f"<IndependencePower of {self.method}: {self.power:.4f} with {people(self.n)} ({how})>"

    def summary(self) -> Table:
        """Return the table to print or to show in a notebook: a row per test."""
        solved, simulated = self.target is not None, self.replications > 0
        columns = ["test", "people", *(["times PT:X"] if solved else []), "power"]
        columns += [*(["std. error", "limit power"] if simulated else []), "noncentrality", "df"]
        rows = tuple(self._row(test, solved, simulated) for test in self.rows)
        wanted = f", for a power of {self.target:g}" if solved else ""
        title = f"Tests of independence of {' and '.join(self.variables)} at {percent(self.alpha)}{wanted}"
        return Table(title, tuple(columns), rows, (*self._explained(), *self.notes))

    def _row(self, test: PowerOfTest, solved: bool, simulated: bool) -> tuple[str, ...]:
        # Without a limit distribution and a simulation the number of people has no power.
        people = whole(test.n) if isfinite(test.power) else "-"
        cells = [test.name, people, *([number(test.price, 2)] if solved else []), number(test.power)]
        cells += [number(test.se), number(test.limit_power)] if simulated else []
        return (*cells, number(test.noncentrality, 2), "-" if test.df != test.df else f"{test.df:g}")

    def _explained(self) -> list[Note]:
        """Return the notes that explain the table."""
        notes = []
        if VALUES in self.comparison:
            text = "PT:X is Pearson's test on the values, without privacy."
            notes.append(Note(NoteKind.LEGEND, text))
        if ENLARGED in self.comparison:
            text = "PT:Y is Pearson's test on the values with the known bits added."
            notes.append(Note(NoteKind.LEGEND, text))
        if self.replications:
            tables = f"{self.permutations} random tables each" if self.permutations else "limit distributions"
            text = f"Power in {self.replications} simulated samples, p-values by {tables}."
            notes.append(Note(NoteKind.SIMULATED, text))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that do not exist are None."""
        return {
            "variables": list(self.variables),
            "method": self.method,
            "alpha": self.alpha,
            "target": self.target,
            "replications": self.replications,
            "permutations": self.permutations,
            **{name: value for name, value in self.test.to_dict().items() if name in _NUMBERS},
            "comparison": [test.to_dict() for test in self.rows],
            "notes": plain(self.notes),
        }

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote."""
        tests = {test["name"]: PowerOfTest.from_dict(test) for test in facts["comparison"]}
        first, second = facts["variables"]
        notes = tuple(Note.from_dict(note) for note in facts["notes"])
        return cls((first, second), tests[facts["method"]], tests, facts["target"], facts["permutations"], notes)

    def _columns(self) -> Mapping[str, Any]:
        return _columns(self.rows)

    def plot(self, *, title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw the power of every test against the number of people: lines for limits, dots for results.

        Parameters
        ----------
        title, ax
            The title, and the Matplotlib axes to draw on; by default a new figure.
        """
        n = self._people()
        heading = f"Power to find that {' depends on '.join(self.variables)}, tests at {percent(self.alpha)}"
        return draw.power_curves(
            n,
            {test.name: test.limit.power(n, self.alpha) for test in self.rows if test.limit},
            points={test.name: (test.n, test.power, test.se) for test in self.rows if isfinite(test.power)},
            alpha=self.alpha,
            target=self.target,
            title=draw.Heading(heading) if title is None else title,
            ax=ax,
        )

    def _people(self) -> FloatArray:
        """Return numbers of people for the horizontal axis, from almost no power to almost full power."""
        ends = [float(test.n) for test in self.rows]
        rest = 1 - self.alpha
        for test in self.rows:
            if test.limit is not None:
                ends += [test.limit.size(self.alpha + share * rest, self.alpha) for share in (0.05, 0.99)]
        finite = [end for end in ends if isfinite(end)]
        low, high = max(min(finite), 1.0), max(finite)
        return np.geomspace(low / 1.1, high * 1.1, 200) if high > 2 * low else np.geomspace(low / 10, high * 10, 200)
