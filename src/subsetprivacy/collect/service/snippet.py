"""`python_snippet`: a short program that makes the dashboard's numbers from an export, or from one file of it."""

from subsetprivacy.collect.service.results_counts import seed_of
from subsetprivacy.collect.service.results_honesty import LARGE
from subsetprivacy.collect.service.results_pairs import FEWER, HEAVY, MOST_PAIRS, MOST_ROWS, PERMUTATIONS, budget_for
from subsetprivacy.collect.service.results_shares import PROFILE_OPTIONS, PROFILE_WORK
from subsetprivacy.collect.survey.tallies import Released

FOLDER = "data"

_HEAD = '''\
"""Makes the numbers of the dashboard from exported files.

    pip install "subsetprivacy[frames]"
    python analyse.py          all files of the archive that this program was in
    python analyse.py FILE     a CSV or Parquet file that was saved alone
"""

import sys
import warnings
from itertools import combinations
from pathlib import Path

import subsetprivacy as sp
from subsetprivacy.errors import SubsetPrivacyError, SubsetPrivacyWarning

warnings.simplefilter("ignore", SubsetPrivacyWarning)  # doubts, which the dashboard prints as notes


def show_variable(counts):
    """Print shares with standard errors and 95% intervals, and what an answer gives away."""
    try:
        fit = sp.estimate(counts)  # maximum likelihood
    except SubsetPrivacyError as error:
        print(f"  no estimate: {error}")
        return
    p, subsets = len(fit.w), len(counts.observed_codes)
    rough = fit.on_boundary or fit.smallest_size * fit.n < 5
    method = "profile" if rough and p <= @OPTIONS@ and subsets * p**2 <= @WORK@ else "wald"
    ends = fit.interval(0.95, method=method)
    for label, w, se, (lower, upper) in zip(counts.categories, fit.w, fit.se, ends):
        print(f"  {label!r}: share {w:.6f} se {se:.6f} lower {lower:.6f} upper {upper:.6f}")
    leak = sp.audit(counts.design, fit.w).to_dict()
    print(f"  information {leak['mi_leakage']:.6f} guess {leak['prediction_leakage']:.6f}", end=" ")
    print(f"maximal {leak['maximal_leakage']:.6f} posterior {leak['largest_posterior']:.6f}")
    print("  moments", *(f"{w:.6f}" for w in sp.estimate(counts, "mom").w))
    if subsets * p**2 <= @LARGE@:
        show_honesty(counts)


def show_honesty(counts):
    """Print the share of answers given by chance, where the design can tell it."""
    try:
        check = sp.check_honesty(counts, method="chi-square")
    except SubsetPrivacyError as error:
        print(f"  no check of the answers: {error}")
    else:
        if check.random is not None:
            print(f"  by chance {check.random_share:.6f} se {check.random_share_se:.6f}")


def show_pair(both, seed):
    """Print joint shares, Cramér's V and the test of independence."""
    heavy = len(both.observed_codes) * both.categories.p > @HEAVY@
    try:
        fit = sp.estimate(both, "mom").projected() if heavy else sp.estimate(both)
    except SubsetPrivacyError as error:
        print(f"  no estimate: {error}")
        return
    ends = fit.interval(0.95, method="wald")
    for k, row in enumerate(fit.table()):
        print("  shares", *(f"{w:.6f}" for w in row))
        for name, side in zip(("lower", "upper"), ends[k * len(row) : (k + 1) * len(row)].T):
            print(f"  {name}", *(f"{w:.6f}" for w in side))
    try:
        raw, less = (sp.association(fit).cramers_v(corrected=yes) for yes in (False, True))
    except SubsetPrivacyError as error:
        print(f"  no strength: {error}")
    else:  # without the bias that chance adds, where more than that is left
        value = f"{less.value:.6f} " if less.value**2 > raw.value**2 / 2 else ""
        print(f"  strength {value}lower {less.lower:.6f} upper {less.upper:.6f}")
    try:
        if heavy:
            test = sp.independence_test(both, "bonferroni", permutations=0)
        else:
            test = sp.independence_test(both, permutations=@PERMUTATIONS@, budget=@BUDGET@, seed=seed)
            if test.null == "asymptotic" and len(both.observed_codes) <= @ROWS@:
                test = sp.independence_test(both, "lrt-mom", permutations=@FEWER@, budget=None, seed=seed)
    except SubsetPrivacyError as error:
        print(f"  no test: {error}")
        return
    print(f"  statistic {test.statistic:.6f} pvalue {test.pvalue:.6f}")


# The random tables of the tests follow from the seal of the last release.
SEEDS = @SEEDS@

for path in sys.argv[1:] or sorted(Path(__file__).with_name("@FOLDER@").glob("*.csv")):
    release = sp.read_release(path)
    for name in release.names:
        counts = release.count(name)
        print(f"{name!r}: people {counts.n + counts.n_missing} answered {counts.n} skipped {counts.n_missing}")
        if counts.n:
            show_variable(counts)
    for one, two in combinations(release.names, 2):
        if (one, two) in SEEDS:
            print(f"{one!r} and {two!r}:")
            try:
                both = release.crosstab(one, two)
            except SubsetPrivacyError as error:
                print(f"  no table: {error}")
            else:
                show_pair(both, SEEDS[one, two])
'''


def python_snippet(released: Released) -> str:
    """Return the program: run beside an unpacked export it prints the dashboard's estimates, leaks and tests.

    Parameters
    ----------
    released
        The survey and its released counters.
    """
    pairs = [pair for group in released.manifest.groups for pair in _pairs(released, group)]
    every = sum(len(group) * (len(group) - 1) // 2 for group in released.manifest.groups)
    seeds = "".join(f"    {names!r}: {seed_of(released, 'pair', *names)},\n" for names in pairs)
    filled = {
        "OPTIONS": PROFILE_OPTIONS,
        "LARGE": f"{LARGE:_}",
        "WORK": f"{PROFILE_WORK:_}",
        "HEAVY": f"{HEAVY:_}",
        "PERMUTATIONS": PERMUTATIONS,
        "FEWER": FEWER,
        "ROWS": f"{MOST_ROWS:_}",
        "BUDGET": repr(budget_for(min(every, MOST_PAIRS))),
        "SEEDS": f"{{\n{seeds}}}" if seeds else "{}",
        "FOLDER": FOLDER,
    }
    text = _HEAD
    for name, value in filled.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def _pairs(released: Released, group: tuple[int, ...]) -> list[tuple[str, str]]:
    ids = [str(released.manifest.variables[k]["id"]) for k in group]
    found = [(one, two) for k, one in enumerate(ids) for two in ids[k + 1 :]]
    return found[:MOST_PAIRS]
