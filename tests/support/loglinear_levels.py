"""How often tests and intervals of log-linear models keep their level. Run as a script it prints the table.

python tests/support/loglinear_levels.py [replications] [first letters of the populations to print]

Three variables, of which the outer two depend on the one in between. So the generator of the outer two is not needed,
and every p-value of it and of the saturated model should be even.
"""

import sys
import warnings

import numpy as np
from scipy.special import ndtri

import subsetprivacy as sp
from subsetprivacy._words import whole

SIZES = (500, 2000, 10_000)
POPULATIONS = {
    "2 x 2 x 2, warner": lambda: sp.product({name: sp.warner(["no", "yes"], 0.75) for name in "abc"}),
    "3 x 2 x 2, pairs, warner, seen": lambda: sp.product(
        {
            "a": sp.fixed_size(["low", "mid", "high"], 2),
            "b": sp.warner(["no", "yes"], 0.75),
            "c": sp.nonprivate(["no", "yes"]),
        }
    ),
    "4 x 2 x 2, uniform, seen, warner": lambda: sp.product(
        {
            "a": sp.uniform(["w", "x", "y", "z"]),
            "b": sp.nonprivate(["no", "yes"]),
            "c": sp.warner(["no", "yes"], 0.75),
        }
    ),
    "4 x 4 x 2, uniform, uniform, seen": lambda: sp.product(
        {"a": sp.uniform(["w", "x", "y", "z"]), "b": sp.uniform([1, 2, 3, 4]), "c": sp.nonprivate(["no", "yes"])}
    ),
}
LARGER, SMALLER = "all pairs", "[a b][b c]"


def truth(design):
    """Return shares under which a and c are independent given b, and the log odds ratios of a and b."""
    p, q, r = design.categories.shape
    rise = np.outer(np.linspace(-0.5, 0.5, p), np.linspace(-0.8, 0.8, q))
    other = np.outer(np.linspace(-0.6, 0.6, q), np.linspace(-0.5, 0.5, r))
    w = np.exp(rise[:, :, None] + other[None] + np.linspace(0.3, 0, p)[:, None, None])
    return (w / w.sum()).ravel(), rise


def replicate(design, n, seed):
    """Return two p-values, which intervals of log odds ratios hold the truth, and whether a parameter is infinite."""
    w, rise = truth(design)
    counts = sp.simulate(design, w, n, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        larger, smaller = (sp.loglinear(counts, model) for model in (LARGER, SMALLER))
    ratios = larger.odds_ratios("a", "b")
    (a, b), at = larger.structure.baselines[:2], design.categories.parts
    true = [
        rise[i, j] - rise[a, j] - rise[i, b] + rise[a, b]
        for i, j in ((at[0].labels.index(x), at[1].labels.index(y)) for x, y in ratios.pairs)
    ]
    half = ndtri(0.975) * ratios.log_se
    lower, upper = ratios.log_odds_ratio - half, ratios.log_odds_ratio + half
    held = np.where(np.isfinite(lower), (lower <= true) & (true <= upper), np.nan)
    pvalues = larger.compare(smaller).pvalue[0], smaller.goodness_of_fit.pvalue[0]
    return (*pvalues, held, bool(larger.separated))


def measured(name, n, replications, first=0):
    """Return the levels of the two tests, the coverage over all log odds ratios, and how often one was infinite."""
    design = POPULATIONS[name]()
    rows = [replicate(design, n, first + k) for k in range(replications)]
    nested, saturated = (np.mean([row[k] < 0.05 for row in rows]) for k in (0, 1))
    return nested, saturated, np.nanmean([row[2] for row in rows]), np.mean([row[3] for row in rows])


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    print("| population | people | nested models | against saturated | coverage | infinite |")
    print("|---|---|---|---|---|---|")
    for name in POPULATIONS:
        if name.startswith(wanted):
            for n in SIZES:
                shown = " | ".join(f"{100 * value:.1f}" for value in measured(name, n, replications))
                print(f"| {name} | {whole(n)} | {shown} |", flush=True)
