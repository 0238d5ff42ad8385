"""The power of tests of independence of gender and income (`sec_gender_income`, `fig:adult_power`)."""

from typing import Any

import numpy as np
from attrs import frozen
from scipy.stats import binom, chi2

from subsetprivacy._types import BoolArray, FloatArray
from subsetprivacy.draw import series
from subsetprivacy.planning.dependence_limits import NoncentralChiSquare
from subsetprivacy.reproduce.checks import MONTE_CARLO, Check, corrected, says, spread, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult, Run
from subsetprivacy.reproduce.gender_income import (
    ENLARGED,
    HELD,
    LEVEL,
    NAMES,
    TESTS,
    VALUES,
    false_rejections,
    independent,
    laws,
    open_rejections,
    rarest,
    ratio_rejections,
    rejections,
    size_at,
)
from subsetprivacy.reproduce.simulations import as_columns

ABOUT = """How many people does it take to detect that income depends on gender, if no one reports either? Both are
binary, so each is joined with a fair artificial bit (X becomes Y, with four values), and a random pair of values that
contains Y is reported. Four tests of the pairs, with permutation p-values, are compared with Pearson's test of the
values (PT:X) and of the values with their bits (PT:Y), all at the level 5%. Each line of the figure is the share of
samples in which a test finds the dependence. Dashed lines mark 80%. "LRT, fair bits" is ours: it uses the fact that the
bits are fair, and needs half the people.

A pair reveals gender in a third of the rows and nothing otherwise. The same holds for income, and a ninth of the rows
reveal both. The paper states that subsets take four times as many people as Y. The same test takes nine times as many.
This way of asking also reveals in a third of the rows what it was meant to protect. The package has better designs for
two categories.

People are drawn with replacement, so the distribution of the data is the population. The p-values of the pairs use 199
permutations, or 99 in the short form. To check that the tests reject in 5% of samples without dependence, we draw
people with the same margins whose gender and income are independent. The loss from using moments in the likelihood
ratio is too small to measure with 100 samples, so the long form draws more for that comparison."""

SIZES = tuple(50 * 2**i for i in range(10))
OPEN_SIZES = (100, 200, 400)  # for Pearson's tests of what is not private
NULL_SIZE, RATIO_SIZE = 1600, 3200
NULL_TIMES, OPEN_TIMES, RATIO_TIMES = 6, 20, 40  # as many replications as elsewhere, times these
TARGET, FEW, CHANCE = 0.8, 5, 1e-3
SLACK, SMALL = 0.05, 0.5
LOST = 0.05
FEWER = 2.0  # standard errors, in the short form: three would be missed by chance now and then


@frozen(eq=False)
class Decisions:
    """Which tests reject, 1 or 0, in arrays (sizes, samples, tests).

    Attributes
    ----------
    main
        All tests, at all sizes.
    null
        All tests where gender and income are independent, at one size: (samples, tests).
    open
        PT:X and PT:Y in many samples.
    ratio
        LRT:MLE and LRT:MoM in many samples of one size, (samples, 2); in the short form None.
    """

    main: FloatArray
    null: FloatArray
    open: FloatArray
    ratio: FloatArray | None = None

    def of(self, name: str) -> FloatArray:
        """Return the decisions of a test, (sizes, samples)."""
        return self.main[:, :, NAMES.index(name)]

    def power(self, name: str) -> FloatArray:
        """Return the share of samples that a test rejects, per size."""
        return np.asarray(self.of(name).mean(axis=1))

    def size_at(self, name: str) -> tuple[float, float]:
        """Return the log of the n at which the power of a test is 80%, and its standard error."""
        return size_at(SIZES, self.power(name), self.main.shape[1], TARGET)

    def gap(self, first: str, second: str, at: BoolArray | slice = slice(None)) -> tuple[float, float]:
        """Return the mean paired difference in power of two tests over sizes, and its standard error."""
        gaps = (self.of(first) - self.of(second))[at]
        return float(gaps.mean()), float(np.sqrt((gaps.var(axis=1, ddof=1) / gaps.shape[1]).sum()) / len(gaps))


def perform(run: Run) -> ExperimentResult:
    """Simulate every size, and compare the tests with their limit distributions and with each other."""
    W = run.adult.sex_income / run.adult.sex_income.sum()
    outcome, exact = simulate(run, W), laws(W)
    checks = [
        *ratios(outcome, exact),
        *information(outcome, exact),
        level(outcome),
        *ends(outcome),
        *better(outcome, exact),
    ]
    checks += [degrades(outcome), *limit_checks(outcome, exact, W), *people(outcome, exact)]
    names = ("population", "test", "n", "power", "replications", "limit_law")
    power = {name: outcome.power(name) for name in NAMES}
    rows: list[tuple[Any, ...]] = []
    for name in NAMES:
        law = exact[name].power(SIZES, LEVEL) if name in exact else np.full(len(SIZES), np.nan)
        rows += [("the data's", name, n, float(power[name][i]), run.k, float(law[i])) for i, n in enumerate(SIZES)]
    null_levels = zip(NAMES, outcome.null.mean(axis=0), strict=True)
    rows += [("independent", name, NULL_SIZE, float(share), len(outcome.null), LEVEL) for name, share in null_levels]
    heights = [(TARGET, f"{100 * TARGET:g}%")]
    axes = series(SIZES, power, levels=heights, log="x", xlabel="people", ylabel="power: share of samples that reject")
    axes.set_ylim(0, 1.03)
    return ExperimentResult(checks, as_columns(names, rows), axes.figure)


def simulate(run: Run, W: FloatArray) -> Decisions:
    """Draw all samples and test them."""
    there, nothing = tuple(W.ravel().tolist()), tuple(independent(W).ravel().tolist())
    permutations = 99 if run.quick else 199
    main = run.replicate(rejections, [(there, n, permutations) for n in SIZES])
    null = run.replicate(false_rejections, [(nothing, NULL_SIZE, permutations)], NULL_TIMES * run.k)
    seen = run.replicate(open_rejections, [(there, n) for n in OPEN_SIZES], OPEN_TIMES * run.k)
    if run.quick:
        return Decisions(np.array(main), null[0], np.array(seen))
    ratio = run.replicate(ratio_rejections, [(there, RATIO_SIZE, 99)], RATIO_TIMES * run.k)
    return Decisions(np.array(main), null[0], np.array(seen), ratio[0])


def ratios(outcome: Decisions, exact: dict[str, NoncentralChiSquare]) -> list[Check]:
    """Return the ratio of the people that subsets and Y need for a power of 80%, exact and simulated."""
    n = {name: limit.people(TARGET, LEVEL) for name, limit in exact.items()}
    at = [outcome.size_at(name) for name in ("LRT:MLE", ENLARGED)]
    log, error = at[0][0] - at[1][0], float(np.hypot(at[0][1], at[1][1]))
    same, wanted = n["LRT:MLE"] / n["LRT of Y"], n["LRT:MLE"] / n[ENLARGED]
    where = {"erratum": "fig:adult_power"}
    return [
        corrected(
            "people that subsets take, over those of Y, by the same test (likelihood ratio, limit distribution)",
            "four times that of data Y",
            f"{same:.2f} times: {n['LRT of X']} (X), {n['LRT of Y']} (Y), {n['LRT:MLE']} (subsets)",
            abs(same - 9) < 0.05,
            "9 within 0.05",
            **where,
        ),
        corrected(
            "people that LRT:MLE takes, over those of PT:Y, simulated",
            "four times that of data Y",
            f"{np.exp(log):.1f} times ({np.exp(log - 2 * error):.1f} to {np.exp(log + 2 * error):.1f})",
            abs(log - np.log(wanted)) <= MONTE_CARLO * error,
            f"{wanted:.1f} by the limit distributions of these two tests, within {MONTE_CARLO:g} standard errors",
            **where,
        ),
    ]


def people(outcome: Decisions, exact: dict[str, NoncentralChiSquare]) -> list[Check]:
    """State how many people the tests take for a power of 80%, simulated and by their limit distributions."""
    checks = []
    for name in NAMES:
        log, error = outcome.size_at(name)
        law = f"; {exact[name].people(TARGET, LEVEL)} by its limit distribution" if name in exact else ""
        obtained = f"{np.exp(log):.0f} simulated, factor {np.exp(error):.2f} of error{law}"
        checks.append(stated(f"people for a power of 80%, {name}", obtained))
    return checks


def information(outcome: Decisions, exact: dict[str, NoncentralChiSquare]) -> list[Check]:
    """Check that X is more informative than Y, and Y than subsets, in power and in people."""
    pairs = (
        (VALUES, ENLARGED, "the transformation from the original data X to intermediate data Y loses some information"),
        (ENLARGED, "LRT:MLE", "the subset sampling further loses information"),
    )
    checks = []
    for first, second, printed in pairs:
        high, low = (np.asarray(exact[name].power(SIZES, LEVEL)) for name in (first, second))
        mean, error = outcome.gap(first, second, (high >= 0.1) & (low <= 0.9))
        n = [exact[name].people(TARGET, LEVEL) for name in (first, second)]
        checks.append(
            says(
                f"power of {first} minus that of {second}, and people for a power of 80%",
                printed,
                f"{spread(mean, error, 3)}; {n[0]} and {n[1]} people by the limit distributions",
                mean > MONTE_CARLO * error and n[0] < n[1],
                f"above 0 by {MONTE_CARLO:g} standard errors of the paired difference where the distributions give one "
                "at least 0.1 and the other at most 0.9; fewer people",
            )
        )
    return checks


def level(outcome: Decisions) -> Check:
    """Return whether each of the four tests rejects 5% of samples in which there is nothing to find."""
    k = len(outcome.null)
    rejected = dict(zip(NAMES, outcome.null.sum(axis=0).astype(int).tolist(), strict=True))
    least, most = (int(binom.ppf(chance, k, LEVEL)) for chance in (CHANCE / 8, 1 - CHANCE / 8))
    return says(
        f"type I error of the four tests, n = {NULL_SIZE}, gender and income independent",
        "controlling the probability of type I error to be 5%",
        ", ".join(f"{name} {rejected[name] / k:.3f}" for name in TESTS),
        all(least <= rejected[name] <= most for name in TESTS),
        f"{least} to {most} of {k} samples each, which chance leaves once in {1 / CHANCE:g} runs",
    )


def ends(outcome: Decisions) -> list[Check]:
    """Return whether all tests find the dependence in the largest samples, and the levels of ours and of the others."""
    power = {name: float(outcome.power(name)[-1]) for name in TESTS}
    rest = ", ".join(f"{name} {outcome.null[:, NAMES.index(name)].mean():.3f}" for name in (HELD, VALUES, ENLARGED))
    return [
        says(
            f"power of the four tests, n = {SIZES[-1]}",
            "when the sample size is sufficiently large, all the methods can identify the dependence",
            ", ".join(f"{name} {value:.2f}" for name, value in power.items()),
            min(power.values()) >= 0.9,
            "at least 0.9",
        ),
        stated(f"type I error of the other tests, n = {NULL_SIZE}", rest),
    ]


def better(outcome: Decisions, exact: dict[str, NoncentralChiSquare]) -> list[Check]:
    """Return whether the likelihood ratio tests are more powerful than the other two, where there is a difference."""
    law = np.asarray(exact["LRT:MLE"].power(SIZES, LEVEL))
    at = (law >= 0.5) & (law <= 0.9)
    where = " and ".join(str(n) for n, here in zip(SIZES, at, strict=True) if here)
    by, why = (FEWER, ", as the short form has few samples") if outcome.ratio is None else (MONTE_CARLO, "")
    checks = []
    for first, second in ((first, second) for first in ("LRT:MLE", "LRT:MoM") for second in ("Pearson", "Bon")):
        mean, error = outcome.gap(first, second, at)
        checks.append(
            says(
                f"power of {first} minus that of {second}, n = {where}",
                "the LRT:MLE and LRT:MoM are better than other tests",
                spread(mean, error, 3),
                mean > by * error,
                f"above 0 by {by:g} standard errors of the paired difference{why}; where LRT:MLE has 0.5 to 0.9",
            )
        )
    return checks


def degrades(outcome: Decisions) -> Check:
    """Return what moments lose in the likelihood ratio: a little, which only many samples show."""
    if outcome.ratio is None:
        mean, error = outcome.gap("LRT:MLE", "LRT:MoM")
        claim = "power of LRT:MLE minus that of LRT:MoM, mean over the sizes"
        return stated(claim, spread(mean, error, 3), "the long form draws enough samples to tell it from 0")
    gaps = outcome.ratio[:, 0] - outcome.ratio[:, 1]
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    return corrected(
        f"power of LRT:MLE minus that of LRT:MoM, n = {RATIO_SIZE}, {len(gaps)} samples",
        "we experimentally find that the statistical power does not degrade",
        spread(mean, error),
        MONTE_CARLO * error < mean < LOST - MONTE_CARLO * error,
        f"above 0 and below {LOST}, both by {MONTE_CARLO:g} standard errors of the paired difference",
        erratum="Approximated LRT",
        how="it does by a little",
    )


def limit_checks(outcome: Decisions, exact: dict[str, NoncentralChiSquare], W: FloatArray) -> list[Check]:
    """Return the simulated powers next to their limit distributions, over the sizes where those are reliable."""
    rare, large = rarest(W), ("LRT:MLE", "Pearson", HELD)
    cheap = [(name, OPEN_SIZES, outcome.open[:, :, i]) for i, name in enumerate((VALUES, ENLARGED))]
    rest = [(name, SIZES, outcome.of(name)) for name in large]
    return [_limit_check(name, np.array(n), of, exact[name], rare[name]) for name, n, of in (*cheap, *rest)]


def _limit_check(name: str, sizes: Any, decisions: FloatArray, limit: NoncentralChiSquare, rare: float) -> Check:
    """Add up squared deviations beyond what a limit distribution is allowed, in standard errors, as a chi-squared."""
    law = np.asarray(limit.power(sizes, LEVEL))
    at = (sizes * rare >= FEW) & (law >= 0.1) & (law <= 0.9)
    n, power, law, k = sizes[at], decisions[at].mean(axis=1), law[at], decisions.shape[1]
    allowed = np.maximum(SLACK, SMALL / (n * rare))
    beyond = np.maximum(np.abs(power - law) - allowed, 0) / np.sqrt(law * (1 - law) / k)
    most = float(chi2.ppf(1 - CHANCE, len(n)))
    return says(
        f"{name}: power by its limit distribution, {k} samples each",
        "",
        "; ".join(f"n = {m}: {a:.3f} for {b:.3f}" for m, a, b in zip(n, power, law, strict=True)),
        bool((beyond**2).sum() <= most),
        f"beyond {SLACK} (or {SMALL} over the people expected in the rarest cell, if more), squared and in standard "
        f"errors, at most {most:.1f} in all; where {FEW} people are expected in every cell, power from 0.1 to 0.9",
        source="theory",
    )


EXPERIMENT = Experiment(
    "fig:adult_power",
    "Power of tests of gender and income from subsets",
    ABOUT,
    perform,
    adult=True,
    quick=60,
    full=100,
)
