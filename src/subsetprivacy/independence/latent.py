r"""Independence given a third variable, if all three are private.

Under the hypothesis :math:`w_{xyz} = \pi_z f(x \mid z) g(y \mid z)`. No one's z is known, so there
are no strata to test. The test is the likelihood ratio test, with samples drawn from the fit for its distribution.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve
from scipy.special import chdtrc

from subsetprivacy._checks import check_count, shown
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import Seed
from subsetprivacy.data import SubsetCounts, as_counts, count_codes
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    NotUniqueWarning,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.estimation.mle import mle
from subsetprivacy.estimation.result import Estimate
from subsetprivacy.independence import latent_fit
from subsetprivacy.independence.latent_null import STARTS, NullFit, fit_null
from subsetprivacy.independence.null_distributions import NullDistribution, PermutationOptions, affordable
from subsetprivacy.independence.result import IndependenceResult
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import CROSS_BY_COLUMN, JOIN_RARE, PICK_SOME, WITHOUT_WEIGHTS
from subsetprivacy.variables import JointCategories

MAX_CELLS = 4096
LEAST_REPLICATIONS = 19  # with fewer, no p-value can be 5%
_ZERO = 1e-6


def latent_test(
    counts: SubsetCounts,
    first: str,
    second: str,
    given: str | None = None,
    *,
    replications: int = 199,
    starts: int = STARTS,
    seed: Seed | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> IndependenceResult:
    r"""Test whether two variables are independent given a third, if all are private.

    Parameters
    ----------
    counts
        Joint counts. Variables that are not named, and share no code with those that are, are summed out.
    first, second, given
        Names of variables. Without `given`, the test is of plain independence, for two variables joined into one code.
    replications
        The number of samples drawn from the fitted hypothesis.
    starts
        The number of starts for fitting the hypothesis to the data (5 for each drawn sample).
    seed
        A number or a NumPy generator.
    progress
        Called with the number of samples done and their total.

    Raises
    ------
    CategoryError, ArgumentError
        If a name is not a variable or occurs twice, or if counts are sums of sampling weights.
    NoDataError, TooLargeError, NotIdentifiableError, UnknownDesignError
        If there are no people, the table has more than 4,096 cells, or the design is not identifiable or not known.

    Notes
    -----
    :math:`T = 2n\{\max_w l(w) - \max_{H_0} l(w)\}`. The first maximum is certified. The second is the best of many EM
    runs; if there were a higher one, T would be smaller. The p-value is :math:`(1 + \#\{T_b \ge T\})/(B + 1)` with B
    samples from the fitted hypothesis, each fitted both ways. The chi-square distribution is no substitute: if the free
    table has zeros, as in small samples with many cells, the statistic is much smaller (for 4 x 4 x 4 cells and
    2,000 people, mean 22 instead of 36).

    Examples
    --------
    >>> from subsetprivacy.design import fixed_size, product
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> three = product({name: fixed_size(list("abc"), 2) for name in "xyz"})
    >>> test = latent_test(simulate(three, [1 / 27] * 27, 2000, seed=1), "x", "y", "z", replications=39, seed=1)
    >>> test.df, test.pvalue > 0.05
    (12, True)
    """
    number = check_count(replications, "replications", least=LEAST_REPLICATIONS)
    table, (x, y, *z) = _read_names(as_counts(counts), first, second, given)
    generator = numpy_generator(seed)
    with warnings.catch_warnings():
        # If several tables fit best, they have the same likelihood, and only that matters here.
        warnings.simplefilter("ignore", NotUniqueWarning)
        alternative = mle(table)
    null = fit_null(table, (x, y), tuple(z), starts=starts, generator=generator, free=alternative.w)
    # The null fit is also a free table. If rounding makes it better, it is the free fit.
    statistic = 2 * max(alternative.loglik - null.loglik, 0.0)
    drawn, late = latent_fit.resample(table, null.w.ravel(), null.model, number, generator, progress)
    law = NullDistribution("bootstrap", drawn)
    condition = "" if given is None else f" given {given}"
    name = " x ".join(part for part in (first, second, given) if part is not None)
    return IndependenceResult(
        f"{first} and {second} are independent{condition}",
        "lrt",
        statistic,
        null.model.df,
        law.pvalue(statistic),
        float(chdtrc(null.model.df, statistic)),
        law,
        {name: table},
        {"null": null},
        _notes(null, alternative, late),
        alternative={name: alternative},
    )


def _read_names(
    counts: SubsetCounts, first: str, second: str, given: str | None
) -> tuple[SubsetCounts, tuple[int, ...]]:
    """Return the checked counts of the named variables, and their axes."""
    if counts.squares is not None:
        raise ArgumentError(
            "a table must count people, because samples are drawn person by person; got sums of sampling weights.",
            WITHOUT_WEIGHTS,
        )
    joint = counts.categories
    variables = joint.names if isinstance(joint, JointCategories) else ()
    least = 2 if given is None else 3
    if len(variables) < least:
        raise ArgumentError(f"`counts` must have {least} variables or more; got {max(len(variables), 1)}.")
    named = {"first": first, "second": second} | ({} if given is None else {"given": given})
    for argument, name in named.items():
        if not isinstance(name, str) or name not in variables:
            raise CategoryError(f"`{argument}` must be one of the variables {', '.join(variables)}; got {shown(name)}.")
    if len(set(named.values())) < len(named):
        raise ArgumentError(f"{', '.join(f'`{argument}`' for argument in named)} must be different variables.")
    table = _require(_summed(counts, tuple(named.values())))
    assert isinstance(table.categories, JointCategories)
    return table, tuple(table.categories.axis(name) for name in named.values())


def _summed(counts: SubsetCounts, names: tuple[str, ...]) -> SubsetCounts:
    """Return the counts without the factors that contain none of the names."""
    design = counts.design.product or counts.design.covered
    if design is None or design.exposed.product is None:
        return counts
    codes = design.select_codes(counts.codes, names)
    return count_codes(codes, design.select(names), counts.counts.astype(np.float64))


def _require(counts: SubsetCounts) -> SubsetCounts:
    """Return counts that can be fitted and simulated, or raise."""
    if not counts.design.is_known:
        raise UnknownDesignError("the design must be known, because the p-value uses samples drawn with it.")
    if counts.categories.p > MAX_CELLS:
        raise TooLargeError(f"the table must have at most {MAX_CELLS} cells; got {counts.categories.p}.", JOIN_RARE)
    counts.design.require_rows(counts.total)
    counts.design.require_identifiable()
    return counts.require_data()


def _notes(null: NullFit, alternative: Estimate, late: int) -> tuple[Note, ...]:
    """Return notes on what is not proven and what is unreliable."""
    text = (
        f"The hypothesis was fitted by EM, the best of {null.starts} starts, which {null.agreeing} reached. It is not "
        "proven that no better fit exists. A better fit would make the statistic smaller."
    )
    notes = [Note(NoteKind.MAXIMUM, text)]
    zeros = [int((w < _ZERO).sum()) for w in (null.w, alternative.w)]
    if any(zeros):
        text = (
            f"The chi-square p-value is unreliable: of {alternative.w.size} shares {zeros[0]} are 0 in the fit of the "
            f"hypothesis, {zeros[1]} in the free one."
        )
        notes.append(Note(NoteKind.BOUNDARY, text))
    if late:
        text = f"In {late} of the drawn samples the fit of the hypothesis stopped early: the p-value may be too large."
        notes.append(Note(NoteKind.NOT_CONVERGED, text))
    return tuple(notes)


def run_latent_test(
    table: Any,
    given: str | None,
    options: dict[str, Any],
    settings: PermutationOptions,
    starts: int,
) -> IndependenceResult:
    """Test independence of two variables, optionally given a third, by the likelihood ratio and simulated samples.

    Parameters
    ----------
    table
        Counts of exactly these variables.
    given
        The third variable, or None.
    options
        The options of the other tests, of which only some values are valid here.
    settings
        The number of samples and the random generator.
    starts
        The number of starts of the fit of the null hypothesis.
    """
    counts = as_counts(table)
    first, second = _others(counts, given)
    wanted = {"method": ("lrt",), "null": (None, "bootstrap"), "df": ("corrected",)}
    why = "for a private third variable" if given else "for variables that share one code"
    for name, allowed in wanted.items():
        if not isinstance(options[name], str | None) or options[name] not in allowed:
            raise ArgumentError(f"`{name}` must be {allowed[-1]!r} {why}; got {shown(options[name])}.")
    check_count(settings.permutations, "permutations", least=LEAST_REPLICATIONS)
    size, notes = affordable(
        _cost(counts), settings, fewest=LEAST_REPLICATIONS, always=True, what="samples", stacklevel=4
    )
    result = latent_test(
        counts,
        first,
        second,
        given,
        replications=size,
        starts=starts,
        seed=settings.generator,
        progress=settings.progress,
    )
    return evolve(result, remarks=(*notes, *result.remarks))


def _cost(counts: SubsetCounts) -> float:
    """Return the approximate seconds for the fits of one simulated sample, on a typical machine."""
    design = counts.design
    cells = len(design.support()[0]) if design.enumerable else counts.n
    return 1e-3 + 1e-7 * min(cells, 16 * counts.n) * counts.categories.p


def _others(counts: SubsetCounts, given: str | None) -> tuple[str, str]:
    """Return the two variables to test."""
    joint = counts.categories
    names = joint.names if isinstance(joint, JointCategories) else ()
    if given is not None and (not isinstance(given, str) or given not in names):
        raise ArgumentError(
            f"`given` must be one of the variables {', '.join(names) or '(there is one)'}; got {shown(given)}.",
            None if isinstance(given, str) else CROSS_BY_COLUMN,
        )
    left = [name for name in names if name != given]
    if len(left) != 2:
        wanted = "three variables" if given else "two variables"
        raise ArgumentError(f"`table` must have {wanted}; got {len(names)}: {', '.join(names)}.", PICK_SOME)
    return left[0], left[1]
