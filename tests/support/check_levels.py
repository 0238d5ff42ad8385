"""How often the checks of the data raise an alarm: where people are honest, and where they are not.

`python tests/support/check_levels.py` prints the tables of `docs/measured-levels.md`. It takes about a quarter of an
hour. The slow tests run the same cases with fewer samples.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from asking import HONEST, Manners, ask, options

import subsetprivacy as sp
from subsetprivacy.honesty.alarms import Alarm
from subsetprivacy.honesty.check import run_honesty_check
from subsetprivacy.honesty.draws import run_draws_check
from subsetprivacy.honesty.leaning import run_leaning_check, shares_for
from subsetprivacy.honesty.skips import run_skips_check

RUNS = 1000
LEVELS = (0.05, 0.01)
ONE_TEST, MANY_TESTS = 1, 24  # how many tests share the chance of 1%
BY_VALUE = Manners(skips=lambda shown, truth: np.where(truth == 0, 0.3, 0.1))  # on the value alone: harmless

# Designs, people, and manners of honest people.
DRAWS = {
    "uniform, 5 options, 25 people": (sp.uniform(options(5)), 25),
    "uniform, 16 options, 300 people": (sp.uniform(options(16)), 300),
    "uniform, 16 options, 3000 people": (sp.uniform(options(16)), 3000),
    "two groups of 8 options, 1000 people": (sp.partition(options(16), 2), 1000),
}
LEANING = {
    "uniform, 5 options, 25 people": (sp.uniform(options(5)), 25),
    "uniform, 8 options, 2000 people": (sp.uniform(options(8)), 2000),
    "hadamard, 12 options, 300 people": (sp.hadamard(options(12)), 300),
    "three groups of 3 options, 300 people": (sp.partition(options(9), 3), 300),
}
SKIPS = {
    "uniform, 5 options, 300 people": (sp.uniform(options(5)), 300),
    "uniform, 5 options, 2000 people": (sp.uniform(options(5)), 2000),
    "uniform, 8 options, 2000 people": (sp.uniform(options(8)), 2000),
    "uniform, 48 options, 300 people": (sp.uniform(options(48)), 300),
    "three groups of 3 options, 300 people": (sp.partition(options(9), 3), 300),
}
HONESTY = {
    "uniform, 5 options, 500 people": (sp.uniform(options(5)), 500),
    "uniform, 5 options, 2000 people": (sp.uniform(options(5)), 2000),
    "uniform, 8 options, 2000 people": (sp.uniform(options(8)), 2000),
    "hadamard, 12 options, 1000 people": (sp.hadamard(options(12)), 1000),
}
SIX = {
    "a": sp.uniform(options(8)),
    "b": sp.uniform(options(6)),
    "c": sp.hadamard(options(12)),
    "d": sp.partition(options(9), 3),
    "e": sp.uniform(options(5)),
    "f": sp.uniform(options(12)),
}


def samples(design: sp.Design, n: int, manners: Manners, runs: int, w: Any = None) -> Iterator[tuple[int, Any, Any]]:
    """Yield seeds with the questions and counts of as many people, whose shares rise from option to option."""
    shares = np.arange(1.0, design.p + 1) if w is None else w
    for seed in range(runs):
        yield seed, *ask(design, shares, n, 1000 + seed, manners)


def draws_tests(design: sp.Design, n: int, runs: int, manners: Manners = HONEST) -> list[Any]:
    """Return the checks of the draws of so many samples."""
    return [run_draws_check(counts, asked, seed) for seed, asked, counts in samples(design, n, manners, runs)]


def leaning_tests(design: sp.Design, n: int, runs: int, manners: Manners = HONEST) -> list[Any]:
    """Return the checks of leaning of so many samples."""
    found = samples(design, n, manners, runs)
    return [run_leaning_check(asked, shares_for(counts), seed) for seed, asked, counts in found]


def skips_tests(design: sp.Design, n: int, runs: int, manners: Manners = BY_VALUE, w: Any = None) -> list[Any]:
    """Return the checks of skips of so many samples; by default skipping depends on the value alone."""
    return [run_skips_check(asked, seed) for seed, asked, _ in samples(design, n, manners, runs, w)]


def honesty_tests(design: sp.Design, n: int, runs: int, manners: Manners = HONEST, w: Any = None) -> list[Any]:
    """Return the checks of honesty of so many samples."""
    return [run_honesty_check(counts, seed) for seed, _, counts in samples(design, n, manners, runs, w)]


def rates(tests: list[Any], levels: tuple[float, ...] = LEVELS) -> list[float]:
    """Return how often p-values are at most each level."""
    pvalues = np.array([test.pvalue for test in tests])
    return [float((pvalues <= level).mean()) for level in levels]


def alarms(checks: list[Any], tests: int, pick: Callable[[Any], Any] = lambda check: check.test) -> float:
    """Return how often a test is an alarm where so many tests share the chance."""
    return float(np.mean([pick(check.settled(Alarm(tests))).is_alarm for check in checks]))


def any_alarm(n: int, runs: int, manners: Manners) -> tuple[float, float]:
    """Return how often six variables raise any alarm, and how many tests are made on average."""
    found, made = 0, 0
    for seed in range(runs):
        people = {
            name: ask(design, np.arange(1.0, design.p + 1), n, 10 * seed + k, manners)
            for k, (name, design) in enumerate(SIX.items())
        }
        checks = sp.check_all(
            {name: one[1] for name, one in people.items()}, {name: one[0] for name, one in people.items()}
        )
        found += checks.is_alarm
        made += len(checks.tests)
    return found / runs, made / runs


def redrawing(share: float) -> Manners:
    """Return the manners of people of whom a share draws again, once, if the smaller side holds their answer."""

    def steers(shown: Any, truth: Any, rng: np.random.Generator) -> Any:
        sizes = np.bitwise_count(shown)
        smaller = np.where(sizes[:, 0] <= sizes[:, 1], shown[:, 0], shown[:, 1])
        again = (smaller >> truth & 1 == 1) & (rng.random(len(shown)) < share)
        return np.where(again[:, None], shown[rng.permutation(len(shown))], shown)

    return Manners(steers=steers)


def skipping(rate: float) -> Manners:
    """Return the manners of people with the last option, who skip that often when it is asked about; others 2%."""

    def skips(shown: Any, truth: Any) -> Any:
        p = int(shown[0].sum()).bit_length()
        return np.where((truth == p - 1) & (shown[:, 0] >> (p - 1) & 1 == 1), rate, 0.02)

    return Manners(skips=skips)


# Tables -------------------------------------------------------------------------------------------


def _levels(runs: int) -> None:
    print("\n| check | samples | at 5% | at 1% |\n|---|---|---|---|")

    def row(check: str, case: str, tests: list[Any]) -> None:
        five, one = rates(tests)
        print(f"| {check} | {case} | {100 * five:.1f} | {100 * one:.1f} |", flush=True)

    for case, (design, n) in DRAWS.items():
        checks = draws_tests(design, n, runs)
        row("draws", case, [check.test for check in checks])
        row("draws, sides", case, [check.sides for check in checks])
    for case, (design, n) in LEANING.items():
        row("leaning", case, [check.test for check in leaning_tests(design, n, runs)])
    for case, (design, n) in SKIPS.items():
        row("skips", case, [check.test for check in skips_tests(design, n, runs)])
    for case, (design, n) in HONESTY.items():
        checks = honesty_tests(design, n, runs)
        row("honesty, answers", case, [check.answers_test for check in checks])
        row("honesty, random", case, [check.random_test for check in checks])


def _families(runs: int) -> None:
    print("\n| people | surveys | tests in a survey | any alarm, in percent |\n|---|---|---|---|")
    some = Manners(skips=lambda shown, truth: 0.05)
    for n in (60, 400):
        found, made = any_alarm(n, runs, some)
        print(f"| {n} | {runs} | {made:.1f} | {100 * found:.1f} |", flush=True)


def _powers(runs: int) -> None:
    print("\n| behavior | samples | one test | 24 tests | stated |\n|---|---|---|---|---|")
    eight, five = sp.uniform(options(8)), sp.uniform(options(5))

    def row(what: str, case: str, checks: list[Any], pick: Any = lambda check: check.test, stated: str = "") -> None:
        found = [alarms(checks, tests, pick) for tests in (ONE_TEST, MANY_TESTS)]
        print(f"| {what} | {case} | {100 * found[0]:.0f} | {100 * found[1]:.0f} | {stated} |", flush=True)

    for share in (0.05, 0.15):
        checks = leaning_tests(eight, 2000, runs, Manners(always_yes=share))
        power = [np.mean([check.settled(Alarm(tests)).power for check in checks]) for tests in (ONE_TEST, MANY_TESTS)]
        stated = f"{100 * power[0]:.0f}, {100 * power[1]:.0f}" if share == 0.05 else ""
        row(f"{share:.0%} always say yes", "uniform, 8 options, 2000 people", checks, stated=stated)
    for share in (0.1, 0.2, 0.3):
        for design in (five, eight):
            even = np.ones(design.p)
            checks = honesty_tests(design, 2000, runs, Manners(at_random=share), even)
            case = f"uniform, {design.p} options, even shares, 2000 people"
            row(f"{share:.0%} answer by chance", case, checks, lambda check: check.random_test)
    for share in (0.1, 0.3, 1.0):
        checks = draws_tests(five, 2000, runs, redrawing(share))
        row(f"{share:.0%} draw again, once, for their answer", "uniform, 5 options, 2000 people", checks)
    for rate in (0.1, 0.2, 0.5):
        for design in (five, eight):
            w = np.r_[np.ones(design.p - 1), design.p - 1.0]
            case = f"uniform, {design.p} options, 1500 people, half with the last option"
            checks = skips_tests(design, 1500, runs, skipping(rate), w)
            row(f"{rate:.0%} skip when their option, the last, is asked about, others 2%", case, checks)


def _five_percent(runs: int) -> None:
    print("\n| answers by chance, test at 5% | 10% | 15% | 20% | 30% |\n|---|---|---|---|---|")
    for p in (5, 8):
        found = []
        for share in (0.1, 0.15, 0.2, 0.3):
            checks = honesty_tests(sp.uniform(options(p)), 2000, runs, Manners(at_random=share), np.ones(p))
            found.append(rates([check.random_test for check in checks])[0])
        cells = " | ".join(f"{100 * share:.0f}" for share in found)
        print(f"| uniform, {p} options, even shares, 2000 people | {cells} |", flush=True)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    for table in (_levels, _powers, _five_percent, _families):
        table(number)
