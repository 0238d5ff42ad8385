"""How often tests and intervals of log-linear models keep their level. Run as a script it prints the tables.

python tests/support/loglinear_levels.py dependent [replications] [first letters of the populations to print]
python tests/support/loglinear_levels.py independent [replications] [first letters of the populations to print]

*Dependent* are three variables, of which the outer two depend on the one in between. So the generator of the outer two
is not needed, and every p-value of it and of the saturated model should be even. This table has p-values by chi-square
and Wald intervals. Three *independent* variables are in each model, so all its parameters are known. This table
compares the default intervals and tests of fit with these.
"""

import sys
import warnings

import numpy as np
from scipy.special import chdtrc

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
    """Return two p-values by chi-square, which Wald intervals hold the truth, and whether a parameter is infinite."""
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
    with np.errstate(divide="ignore"):
        held = holds(np.log(ratios.interval(method="wald")), np.array(true))
    against = smaller.goodness_of_fit
    pvalues = larger.compare(smaller).pvalue[0], chdtrc(against.df[0], against.statistic[0])
    return (*pvalues, held, bool(larger.separated))


def holds(ends, true):
    """Return whether each interval contains the truth, NaN where there is no interval."""
    return np.where(np.isnan(ends).any(axis=1), np.nan, (ends[:, 0] <= true) & (true <= ends[:, 1]))


def measured(name, n, replications, first=0):
    """Return the levels of the two tests, the coverage of odds ratios, and how often a parameter was infinite."""
    design = POPULATIONS[name]()
    rows = [replicate(design, n, first + k) for k in range(replications)]
    nested, saturated = (np.mean([row[k] < 0.05 for row in rows]) for k in (0, 1))
    return nested, saturated, np.nanmean([row[2] for row in rows]), np.mean([row[3] for row in rows])


# Independent variables ----------------------------------------------------------------------------

INDEPENDENT = ("2 x 2 x 2, warner", "3 x 2 x 2, pairs, warner, seen")
MARGINS = {"even": {2: (0.55, 0.45), 3: (0.4, 0.3, 0.3)}, "sparse": {2: (0.75, 0.25), 3: (0.65, 0.25, 0.1)}}
MODELS = ("independence", "all pairs", "saturated")
METHODS = ("profile", "wald")


def fits_of(design, margins, n, seed):
    """Return a fit of each model to one sample, with the first categories as baselines."""
    shares = [MARGINS[margins][part.p] for part in design.categories.parts]
    w = np.einsum("i,j,k->ijk", *shares).ravel()
    counts = sp.simulate(design, w, n, seed=seed)
    names = design.categories.names
    baseline = {name: part.labels[0] for name, part in zip(names, design.categories.parts, strict=True)}
    logs = {
        name: dict(zip(part.labels, np.log(share) - np.log(share[0]), strict=True))
        for name, part, share in zip(names, design.categories.parts, shares, strict=True)
    }
    known = {f"{name}[{label}]": value for name, values in logs.items() for label, value in values.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [sp.loglinear(counts, model, baseline=baseline) for model in MODELS]
    return [(fit, np.array([known.get(label, 0.0) for label in fit.labels])) for fit in fits]


def fit_levels(name, margins, n, replications, models=MODELS, first=0):
    """Return for each model: coverage of parameters by method, the share that is infinite, and how often the test of
    fit and chi-square reject at 5%, and how often shares were estimated as 0."""
    design, rows = POPULATIONS[name](), {model: [] for model in models}
    for k in range(replications):
        for model, (fit, true) in zip(MODELS, fits_of(design, margins, n, first + k), strict=True):
            if model not in models:
                continue
            held = [np.nanmean(holds(fit.interval(method=method), true)) for method in METHODS]
            test = fit.goodness_of_fit
            chi_square = chdtrc(max(test.df[0], 1), test.statistic[0]) <= 0.05
            simulated = any("simulated" in note.text for note in test.notes)
            infinite = np.mean(fit.fit.infinite != 0)
            rows[model].append((*held, infinite, test.pvalue[0] <= 0.05, chi_square, simulated))
    return {model: np.nanmean(rows[model], axis=0) for model in models}


def table_of_dependent(replications, wanted):
    yield "| population | people | nested models | against saturated | coverage | infinite |"
    yield "|---" * 6 + "|"
    for name in POPULATIONS:
        if name.startswith(wanted):
            for n in SIZES:
                shown = " | ".join(f"{100 * value:.1f}" for value in measured(name, n, replications))
                yield f"| {name} | {whole(n)} | {shown} |"


def table_of_independent(replications, wanted):
    yield "| population | people | model | profile | Wald | infinite | test of fit | chi-square | simulated |"
    yield "|---" * 9 + "|"
    for name in INDEPENDENT:
        for margins in MARGINS:
            for n in SIZES[:2]:
                if name.startswith(wanted):
                    for model, values in fit_levels(name, margins, n, replications).items():
                        shown = [f"{100 * value:.1f}" for value in values]
                        if model == "saturated":
                            shown[3:] = ["-"] * 3
                        yield f"| {name}, {margins} | {whole(n)} | {model} | {' | '.join(shown)} |"


if __name__ == "__main__":
    tables = {"dependent": table_of_dependent, "independent": table_of_independent}
    replications = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    for line in tables[sys.argv[1]](replications, sys.argv[3] if len(sys.argv) > 3 else ""):
        print(line, flush=True)
