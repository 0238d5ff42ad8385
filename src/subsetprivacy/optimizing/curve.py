"""`frontier`: the least loss at every leakage, compared with the named designs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, frozen

from subsetprivacy import draw
from subsetprivacy._checks import check_choice, read_only
from subsetprivacy._choices import Criterion, Leakage, OptimalKind, Over, Solver
from subsetprivacy._types import Distribution, FloatArray, Label
from subsetprivacy._words import counted
from subsetprivacy.design import nonprivate
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.optimizing import measure
from subsetprivacy.optimizing.arguments import DesignTask, read_budget, read_design_task
from subsetprivacy.optimizing.feasible import least, most
from subsetprivacy.optimizing.measure import Mark, marks
from subsetprivacy.optimizing.program import METRICS, Program, as_leakage
from subsetprivacy.optimizing.result import NAMES, Optimum
from subsetprivacy.optimizing.search import MAX_ITER, TOLERANCE, search, write
from subsetprivacy.results import Result, plain
from subsetprivacy.tables import Table, number

_ROUNDING = 1e-9  # so that the least leakage itself is feasible
_SAME = 1e-9
_BEND = 2  # points are closer together near the least leakage, where the loss rises steeply


@frozen(eq=False, repr=False)
class Frontier(Result):
    """The least loss at every leakage. `frontier` returns one.

    Attributes
    ----------
    metric
        The leakage on the horizontal axis.
    kind, criterion, smallest
        The kind of designs, the criterion, and the smallest set.
    leakage, loss
        The curve: budgets of leakage in ascending order, and the least loss
        for each.
    bound
        A lower bound on the loss of any design at the same leakages. None if
        the bound does not apply.
    optima
        The best design at each point.
    marks
        The named designs, sorted by leakage.
    least
        The least leakage of any identifiable design of the kind.
    """

    why_not_restored: ClassVar[str] = "keep the designs, `frontier.optima[k].design.to_json()`"

    metric: Leakage
    kind: OptimalKind
    criterion: Criterion
    smallest: int
    leakage: FloatArray
    loss: FloatArray
    bound: FloatArray | None
    optima: tuple[Optimum, ...]
    marks: tuple[Mark, ...]
    least: float

    @property
    def direct_loss(self) -> float:
        """The loss of reporting the value itself."""
        return self.optima[0].direct_loss

    @property
    def p(self) -> int:
        """The number of categories."""
        return self.optima[0].design.p

    def best(self, leakage: float) -> float:
        """Return the least loss at a leakage, interpolated. It is slightly too large, as the curve is convex."""
        inside = float(np.interp(leakage, self.leakage, self.loss))
        return inside if leakage >= self.leakage[0] else np.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that are unknown or not finite are None."""
        marked = [
            {
                "design": mark.name,
                "leakage": mark.leakage,
                "loss": mark.loss,
                "best_loss": self._best_alike(mark),
                "attainable": mark.attainable,
            }
            for mark in self.marks
        ]
        names = ("metric", "kind", "criterion", "smallest", "p", "least", "direct_loss", "leakage", "loss", "bound")
        facts: dict[str, Any] = plain(
            {**{name: getattr(self, name) for name in names}, "marks": marked, "notes": self.notes}
        )
        return facts

    def _columns(self) -> Mapping[str, Any]:
        columns: dict[str, Any] = {
            "leakage": self.leakage.tolist(),
            "loss": self.loss.tolist(),
            "people": (self.loss / self.direct_loss).tolist(),
            "gap": [optimum.gap for optimum in self.optima],
            "subsets": [optimum.questions for optimum in self.optima],
        }
        if self.bound is not None:
            columns["bound"] = self.bound.tolist()
        return columns

    def _best_alike(self, mark: Mark) -> float:
        """Return the least loss at the leakage of a named design, NaN if the two are not comparable."""
        return self.best(mark.leakage) if mark.attainable else float("nan")

    def summary(self) -> Table:
        """Return a table that compares each named design with the best one at the same leakage."""
        rows = []
        for mark in self.marks:
            best = self._best_alike(mark)
            cells = (mark.leakage, mark.loss, mark.loss / self.direct_loss, best, best / mark.loss)
            rows.append((mark.name, *(number(cell) for cell in cells)))
        columns = ("design", f"{self.metric} leakage", "loss", "people", "best loss", "efficiency")
        title = f"Frontier of {self.kind} designs on {self.p} categories, {self.criterion}-criterion"
        return Table(title, columns, tuple(rows), self.notes)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The meaning of the columns, the certificate, and the ends of the curve."""
        means = (
            f"Best loss: the least loss of {self.kind} designs with the same leakage and sets of {self.smallest} or "
            "more, interpolated between the points and therefore slightly too large. A dash means that the design is "
            "not of that kind, or leaks less than the curve shows."
        )
        gap = max(optimum.gap for optimum in self.optima)
        proved = f"Largest certified gap of {counted(len(self.optima), 'point')}: {gap:.1g}."
        notes = [
            Note(NoteKind.LEGEND, means),
            Note(NoteKind.LEAKAGE, f"The least leakage is {self.least:.4f}."),
            Note(NoteKind.CERTIFIED, proved),
        ]
        if self._flat:
            beyond = self.optima[-1].leakage[self.metric]
            notes.append(Note(NoteKind.LEAKAGE, f"Beyond {beyond:.4f} no more can be gained."))
        return tuple(notes)

    def plot(self, *others: "Frontier", title: str | None = None, ax: draw.AxesOrNone = None) -> draw.Axes:
        """Draw loss against leakage, with the named designs and other frontiers of the same problem.

        Notes
        -----
        A hollow mark is a named design that is not of the kind of any curve. The dashed line is the bound (p-1)/(S-1)
        times the loss of asking directly. At nonuniform distributions it holds only for the D-criterion, not for the
        mean squared error, and is not drawn for the latter.
        """
        for other in others:
            self._check(other)
        drawn = (self, *others)
        names = [f"best {curve.kind}" for curve in drawn]
        if len(set(names)) < len(names):
            names = [f"best {curve.kind}, sets of {curve.smallest} or more" for curve in drawn]
        reach = max(*(mark.leakage for mark in self.marks), *(curve.leakage[-1] for curve in drawn))
        possible = [any(curve.marks[k].attainable for curve in drawn) for k in range(len(self.marks))]
        return draw.tradeoff(
            {name: curve._line(reach) for name, curve in zip(names, drawn, strict=True)},
            [(mark.name, mark.leakage, mark.loss, filled) for mark, filled in zip(self.marks, possible, strict=True)],
            bound=self._lowest_bound(others),
            unit=self.direct_loss,
            xlabel=NAMES[self.metric],
            ylabel="loss: n × mean squared error" if self.criterion == "A" else "loss: n × geometric mean variance",
            title=draw.Heading(f"The least loss for each leakage, {self.p} categories") if title is None else title,
            ax=ax,
        )

    @property
    def _flat(self) -> bool:
        """Whether the last point does not use its whole budget, so that more leakage gains nothing."""
        return self.metric not in self.optima[-1].saturated

    def _line(self, reach: float) -> tuple[FloatArray, FloatArray]:
        """Return the curve, with its flat end if it has one."""
        if not self._flat or reach <= self.leakage[-1]:
            return self.leakage, self.loss
        return np.append(self.leakage, reach), np.append(self.loss, self.loss[-1])

    def _lowest_bound(self, others: tuple["Frontier", ...]) -> tuple[FloatArray, FloatArray] | None:
        """Return the lowest bound of all curves, if there is one."""
        bounds = [(curve.leakage, curve.bound) for curve in (self, *others) if curve.bound is not None]
        return min(bounds, key=lambda line: line[1][-1], default=None)

    def _check(self, other: Any) -> None:
        if not isinstance(other, Frontier):
            raise ArgumentError(f"`others` must be frontiers; got {type(other).__name__}.")
        mine, theirs = ((curve.metric, curve.criterion, curve.optima[0].over) for curve in (self, other))
        if mine != theirs or not np.array_equal(self.optima[0].w, other.optima[0].w):
            raise MismatchError(
                "frontiers in one picture must have the same leakage, criterion and w; got different ones."
            )

    def __repr__(self) -> str:
        return (
            f"<Frontier of {self.kind} designs on {self.p} categories: loss {self.loss[0]:.4g} at {self.metric} "
            f"{self.leakage[0]:.4g} to {self.loss[-1]:.4g} at {self.leakage[-1]:.4g}, "
            f"{counted(len(self.optima), 'point')}>"
        )


def frontier(
    categories: Iterable[Label],
    w: Distribution | Sequence[Distribution],
    *,
    leakage: Leakage = "mi",
    kind: OptimalKind = "independent",
    criterion: Criterion = "A",
    points: int | Iterable[float] = 25,
    smallest: int = 2,
    budget: Mapping[str, float] | None = None,
    over: Over = "average",
    full_set: bool = False,
    solver: Solver = "interior",
    progress: Callable[[str], object] | None = None,
) -> Frontier:
    r"""Find the least loss at every leakage.

    Parameters
    ----------
    categories, w, kind, criterion, smallest, over, full_set, solver
        As in `optimal`.
    leakage
        ``"mi"``, ``"size"``, ``"prediction"`` or ``"maximal"``.
    points
        The number of points above the least leakage, up to the leakage of the
        best design without a budget. The least leakage itself is the first
        point if an identifiable design attains it. Or a list of leakages.
    budget
        Other budgets, which apply at every point.
    progress
        A function that is called with a line of text after every point, for
        example ``print``.

    Raises
    ------
    ArgumentError
        If no identifiable design leaks as little as one of the given points.

    Notes
    -----
    At every w, :math:`\operatorname{tr}(I(w)(\operatorname{diag} w - ww^\top)) = S - 1`, so by the inequality of the
    means the D-criterion is at least (p-1)/(S-1) times that of asking directly, and at the uniform distribution the
    A-criterion too. `Frontier.bound` uses the largest S that the leakage allows. For the mean squared error at other
    distributions there is no such bound: Adult race costs 3.33 < 4 with the uniform design.

    Examples
    --------
    >>> curve = frontier(["a", "b", "c", "d", "e"], [0.4, 0.3, 0.15, 0.1, 0.05], points=4)
    >>> curve.loss.round(2).tolist()
    [30.24, 7.68, 3.59, 2.63]
    """
    check_choice(leakage, METRICS, "leakage")
    task = read_design_task(
        categories,
        w,
        kind=kind,
        criterion=criterion,
        smallest=smallest,
        over=over,
        full_set=full_set,
        solver=solver,
        tol=TOLERANCE,
        max_iter=MAX_ITER,
        progress=progress,
    )
    columns, others = write(task), read_budget(budget)
    if leakage in others:
        raise ArgumentError(
            f"`budget` must limit other leakages than {leakage!r}, which varies along the curve; got one for it."
        )
    lowest = as_leakage(leakage, least(columns.limited(others), leakage).value)
    optima = _curve(task, columns, others, leakage, lowest, points)
    budgets = np.array(list(optima))
    return Frontier(
        leakage,
        kind,
        criterion,
        task.smallest,
        read_only(budgets),
        read_only(np.array([optimum.loss for optimum in optima.values()])),
        _bound(task, columns, others, leakage, budgets),
        tuple(optima.values()),
        marks(task.categories, task.w, leakage, criterion, task.worst, kind, task.smallest),
        lowest,
    )


def _curve(
    task: DesignTask, columns: Program, others: dict[str, float], metric: str, lowest: float, points: Any
) -> dict[float, Optimum]:
    """Return the best design for each leakage, in ascending order."""
    quiet = evolve(task, progress=None)
    free = search(quiet, columns, others)
    budgets = _grid(points, lowest, free.leakage[metric])
    optima: dict[float, Optimum] = {}
    if not np.iterable(points) and free.leakage[metric] - lowest >= _SAME:
        with suppress(ArgumentError):  # if only designs that are not identifiable attain it
            optima[lowest] = search(quiet, columns, {**others, metric: lowest})
    for k, most_leaked in enumerate(budgets.tolist()):
        enough = most_leaked >= free.leakage[metric]
        optima[most_leaked] = free if enough else search(quiet, columns, {**others, metric: most_leaked})
        if task.progress is not None:
            loss = optima[most_leaked].loss
            task.progress(f"point {k + 1} of {len(budgets)}: {metric} {most_leaked:.4g}, loss {loss:.4g}")
    return optima


def _grid(points: Any, lowest: float, highest: float) -> FloatArray:
    if isinstance(points, (int, np.integer)) and not isinstance(points, bool):
        if points < 1:
            raise ArgumentError(f"`points` must be at least 1; got {points}.")
        if highest - lowest < _SAME:  # up to rounding there is no trade-off
            return np.array([highest])
        steps = np.linspace(0, 1, int(points) + 1)[1:] ** _BEND
        return np.unique(lowest + (highest - lowest) * steps)
    try:
        given = np.unique(np.asarray(list(points), np.float64))
    except (TypeError, ValueError):
        raise ArgumentError(f"`points` must be a number, or a list of leakages; got {type(points).__name__}.") from None
    if not len(given) or not np.isfinite(given).all():
        raise ArgumentError("`points` must be finite leakages, at least one; got none, or one that is not finite.")
    return given


def _bound(
    task: DesignTask, columns: Program, others: dict[str, float], metric: str, budgets: FloatArray
) -> FloatArray | None:
    """Return the loss of asking directly times (p-1)/(S-1), with the largest possible S at each leakage."""
    if task.criterion == "A" and np.ptp(task.w) > 1e-9:
        return None
    direct = measure.loss(nonprivate(task.categories.labels), task.w, task.criterion, task.worst)
    S = [most(columns.limited({**others, metric: budget + _ROUNDING}), "maximal") for budget in budgets.tolist()]
    return np.asarray(read_only(direct * (columns.p - 1) / (np.array(S) - 1)))
