"""Measure this library against its peers and against what the machine allows, side by side in one run.

Run it with ``make bench`` or ``python benchmarks/run.py [--quick] [--only TEXT]``. It prints a table of medians of
processor time, then what was checked. Nothing fails if a target is missed.
"""

import one_thread  # noqa: F401  (before NumPy)

# isort: split
import argparse
import platform
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import classification
import large
import peers
import private_predictors
import regression
import tests_of_independence as independence
import work
from attrs import frozen
from work import Timing

COLUMNS = ("", "work / other", "ours", "other", "ratio", "to reach", "reached")
ALIGNED = "<<>>>>>"


@frozen
class Task:
    """One row of the table.

    With ``>=`` the ratio is how many times faster we are, with ``<=`` how many times the other's time we take.
    """

    name: str
    run: Callable[[int], Timing]
    bound: str
    target: float

    def cells(self, timing: Timing) -> tuple[str, ...]:
        """Return what stands in the row."""
        if self.bound == ">=":
            ratio = timing.other / timing.ours
            reached = ratio >= self.target
        else:
            ratio = timing.ours / timing.other
            reached = ratio <= self.target
        shown = f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 2 else f"{ratio:.2f}"
        goal = f"{self.bound} {self.target:g}"
        return self.name, duration(timing.ours), duration(timing.other), shown, goal, "yes" if reached else "no"


def tasks() -> list[Task]:
    """Return every row, in the order of the table."""
    mle = f"MLE p={{}} n={work.PEOPLE}"
    lrt = f"LRT with {independence.PERMUTATIONS} permutations p=q={independence.CATEGORIES}"
    drawing = "privatize 10^7 values p=16"
    return [
        *(
            Task(f"{mle.format(p)} {kind} nu / CVXPY on counts", partial(work.against_cvxpy, p, kind), ">=", 100)
            for kind in ("random", "uniform")
            for p in (4, 8, 12)
        ),
        *(
            Task(f"{mle.format(p)} / CVXPY, a row per person", partial(work.against_cvxpy_by_person, p), ">=", 500)
            for p in (4, 8)
        ),
        *(Task(f"{mle.format(p)} / EM on counts", partial(work.against_em, p), ">=", 10) for p in (4, 8, 12)),
        Task("MLE p=12 n=2000 / R's mixsqp", partial(work.against_mixsqp, 12, 2000), ">=", 5),
        Task("MLE p=16 n=100000 / R's mixsqp", partial(work.against_mixsqp, 16, 100_000), ">=", 100),
        Task("1000 MLEs p=8 n=1000 / EM, a row per person", partial(work.batch_against_em_by_person, 1000), ">=", 100),
        Task(f"{drawing} / 8 bytes each of AES-128-CTR", partial(work.drawing, peers.keystream), "<=", 3),
        Task(f"{drawing} / the same, in one call", partial(work.drawing, peers.keystream_at_once), "<=", 3),
        Task(f"{drawing} / 8 bytes each of os.urandom", partial(work.drawing, peers.system_bytes), "<=", 3),
        Task("count 10^7 codes p=16 / one sum of the array", work.counting, "<=", 6),
        Task("privatize, count, moments p=10^5 n=10^7 / draw and count bare codes", large.moments, "<=", 3),
        Task(f"{lrt} n=10^6 / the same n=10^3", partial(independence.many_people, 10**3, 10**6), "<=", 1.2),
        Task(
            f"{lrt} n=10^4 / 999 shuffles, EM, a row per person",
            partial(independence.against_em_by_person, 10**4),
            ">=",
            200,
        ),
        Task(f"{lrt} n=10^4 / 999 shuffles, EM on counts", partial(independence.against_em_on_cells, 10**4), ">=", 10),
        Task(
            "LRT:MLE p=q=16 n=10^5, certified / EM, accelerated, 1000 updates",
            partial(independence.many_categories, 16, 10**5),
            ">=",
            1,
        ),
        *regressions(),
    ]


def regressions() -> list[Task]:
    """Return the rows of regressions on subsets, next to the same on labels."""
    people = f"n={regression.PEOPLE}"
    peer = {"high income": "Logit", "education, ordered": "OrderedModel"}
    multinomial = [name for name in regression.RESPONSES if name not in peer]
    large = [(n, d) for n in (10**5, 10**6) for d in (20, 100)]
    return [
        *(
            Task(
                f"regress {name} p={len(response.shares)} d={len(response.columns)} {people} / statsmodels "
                f"{peer.get(name, 'MNLogit')} on labels",
                partial(regression.against_statsmodels, name),
                "<=",
                1,
            )
            for name, response in regression.RESPONSES.items()
        ),
        *(
            Task(
                f"ridge {name} {people} / scikit-learn's lbfgs on labels",
                partial(regression.ridge_against_scikit_learn, name),
                "<=",
                1,
            )
            for name in multinomial
        ),
        *(
            Task(
                f"regress p=5 d={d} n={n:,} / statsmodels MNLogit on labels",
                partial(regression.large_against_statsmodels, n, d),
                "<=",
                4,
            )
            for n, d in large
        ),
        *(
            Task(
                f"ridge p=5 d={d} n={n:,} / scikit-learn's lbfgs on labels",
                partial(regression.large_against_scikit_learn, n, d),
                "<=",
                4,
            )
            for n, d in large
        ),
        *(
            Task(
                f"corrected {family} with private predictor, p={private_predictors.P} d={private_predictors.D} "
                f"n={private_predictors.N:,} / statsmodels {model} HC0 on values",
                partial(private_predictors.against_statsmodels, family),
                "<=",
                3,
            )
            for family, model in private_predictors.MODELS.items()
        ),
        *(
            Task(
                f"classify {name} from subsets / the better of CC and RC by Adam",
                partial(classification.against_partial_labels, name),
                "<=",
                0.2,
            )
            for name in classification.REPLICATIONS
        ),
    ]


def duration(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def measure(chosen: list[Task], rounds: int) -> tuple[list[tuple[str, ...]], list[str]]:
    """Run the tasks; return the rows of the table and the notes to them."""
    rows, notes = [], []
    for number, task in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {task.name}", file=sys.stderr)
        try:
            timing = task.run(rounds)
        except peers.Skip as reason:
            rows.append((f"{number}", task.name, "", "", "", f"{task.bound} {task.target:g}", "skipped"))
            notes.append(f"({number}) skipped: {reason}")
        else:
            rows.append((f"{number}", *task.cells(timing)))
            notes += [f"({number}) {text}" for text in (timing.check, *timing.remarks)]
    return rows, notes


def show(rows: list[tuple[str, ...]]) -> None:
    table = [COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(f"{c:{side}{width}}" for c, side, width in zip(row, ALIGNED, widths, strict=True)).rstrip())


def environment() -> str:
    names = ("subsetprivacy", "numpy", "scipy", "cvxpy", "clarabel", "cryptography", "statsmodels", "scikit-learn")
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in names)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", metavar="TEXT", default="", help="only the rows whose name holds this text")
    options = parser.parse_args()
    chosen = [task for task in tasks() if options.only.lower() in task.name.lower()]
    if not chosen:
        parser.error("--only must match a row; the rows are: " + "; ".join(task.name for task in tasks()))
    rows, notes = measure(chosen, rounds=1 if options.quick else 5)
    show(rows)
    print("\nNotes")
    print(f"- {environment()}.")
    print(
        "- One process and one thread (BLAS, OpenMP and Rayon are told so); medians of processor time, in blocks that"
    )
    print("  alternate; each fit starts from fresh counts, on a design that has been used before.")
    for note in notes:
        print(f"- {note}.")


if __name__ == "__main__":
    main()
