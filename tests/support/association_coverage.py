"""How often intervals of measures of association contain the truth. Run as a script it prints the table.

python tests/support/association_coverage.py [replications] [first letters of the populations to print]
"""

import sys
import warnings

import numpy as np

import subsetprivacy as sp
from subsetprivacy._words import whole

SIZES = (400, 1000, 4000)
_EVERY = 5  # of tables with more than 4 cells, conditional shares are computed for every fifth sample only


def _private(k):
    return sp.warner(range(2), 0.75) if k == 2 else sp.uniform(range(k))


def _pairs(k):
    return sp.fixed_size(range(k), 2)


def _design(first, second):
    return sp.product({"x": first, "y": second})


def _even(k, diagonal):
    return (1 - diagonal) * np.full((k, k), 1 / k**2) + diagonal * np.eye(k) / k


_SMALL, _RARE = np.array([[0.10, 0.42], [0.16, 0.32]]), np.array([[0.02, 0.38], [0.20, 0.40]])
_BOTH, _SEEN = _design(_private(2), _private(2)), _design(_private(2), sp.nonprivate(range(2)))
POPULATIONS = {
    "2 x 2, both by warner": (_BOTH, _SMALL),
    "2 x 2, both by warner, independent": (_BOTH, np.outer([0.7, 0.3], [0.6, 0.4])),
    "2 x 2, both by warner, near 0": (_BOTH, _RARE),
    "2 x 2, warner and seen": (_SEEN, _SMALL),
    "2 x 2, warner and seen, near 0": (_SEEN, _RARE),
    "3 x 3, both by pairs": (_design(_pairs(3), _pairs(3)), _even(3, 0.2)),
    "3 x 3, both by pairs, independent": (_design(_pairs(3), _pairs(3)), _even(3, 0.0)),
    "4 x 4, both uniform": (_design(_private(4), _private(4)), _even(4, 0.2)),
    "4 x 4, both uniform, independent": (_design(_private(4), _private(4)), _even(4, 0.0)),
    "4 x 4, both uniform, strong": (_design(_private(4), _private(4)), _even(4, 0.5)),
    "4 x 4, both uniform, near 0": (
        _design(_private(4), _private(4)),
        0.7 * np.outer([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]) + 0.3 * np.eye(4) / 4,
    ),
    "4 x 2, uniform and seen": (
        _design(_private(4), sp.nonprivate(range(2))),
        np.array([[0.10, 0.15], [0.10, 0.15], [0.20, 0.05], [0.20, 0.05]]),
    ),
}
MEASURES = ("odds ratio", "ratio", "difference", "conditional", "V")


def truth(table):
    """Return the true measures: those of two shares are of the first column, in the first and the last row."""
    (a, b), (c, d) = table[np.ix_([0, -1], [0, -1])]
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    x, y = a / rows[0], c / rows[-1]
    apart = np.abs(table - np.outer(rows, columns))
    V = np.sqrt((apart**2 / np.outer(rows, columns)).sum() / (min(table.shape) - 1))
    exact = {"odds ratio": a * d / (b * c), "ratio": x / y, "difference": x - y, "V": V if V > 1e-8 else 0.0}
    return {**exact, "conditional": table / rows[:, None]}


def intervals(result, name, method):
    """Return the ends of the intervals of a measure, the last axis."""
    last = [part.p - 1 for part in result.pair.categories.parts]
    if name == "V":
        measure = result.cramers_v()
    elif name == "conditional":
        return result.conditional().interval(method="wald" if method == "delta" else method)
    elif name == "odds ratio":
        measure = result.odds_ratio((0, last[0]), (0, last[1]), method=method)
    else:
        ask = result.difference if name == "difference" else result.risk_ratio
        measure = ask(0, (0, last[0]), method=method)
    return np.array([measure.lower, measure.upper])


def measured(name, n, replications, seed=1, measures=MEASURES, methods=("auto", "delta")):
    """Return the coverage and the median length of each measure's intervals, by measure and method."""
    design, table = POPULATIONS[name]
    true = truth(table)
    asked = [(measure, method) for measure in measures for method in methods if measure != "V" or method == "auto"]
    inside, lengths = {key: [] for key in asked}, {key: [] for key in asked}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, counts in enumerate(sp.simulate_many(design, table.ravel(), n, replications, seed=seed)):
            result = sp.association(counts)
            for measure, method in asked:
                if measure == "conditional" and table.size > 4 and k % _EVERY:
                    continue
                ends = intervals(result, measure, method)
                lower, upper = ends[..., 0], ends[..., 1]
                known = ~np.isnan(lower)
                held = (lower <= true[measure] + 1e-12) & (true[measure] - 1e-12 <= upper)
                inside[measure, method].append(np.where(known, held, np.nan))
                lengths[measure, method].append(upper - lower)
    return {key: (np.nanmean(inside[key]), np.nanmedian(lengths[key])) for key in asked}


def _length(value):
    return "∞" if np.isinf(value) else f"{value:.3g}"


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    print(f"| population | people | {' | '.join(MEASURES)} |")
    print("|---" * (2 + len(MEASURES)) + "|")
    for name in POPULATIONS:
        if name.startswith(wanted):
            for n in SIZES:
                found = measured(name, n, replications)
                shown = []
                for measure in MEASURES:
                    pairs = [found[key] for key in found if key[0] == measure]
                    coverage = ", ".join(f"{100 * inside:.1f}" for inside, _ in pairs)
                    shown.append(f"{coverage} ({', '.join(_length(length) for _, length in pairs)})")
                print(f"| {name} | {whole(n)} | {' | '.join(shown)} |", flush=True)
