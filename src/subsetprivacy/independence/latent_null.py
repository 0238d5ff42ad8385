"""The best fit of a model of (conditional) independence, among many starts."""

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count, read_only
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import warn_of
from subsetprivacy.estimation.mle import check_stopping, maximize
from subsetprivacy.independence import latent_fit
from subsetprivacy.independence.latent_fit import MAX_ITERATIONS, TOLERANCE, ConditionalIndependence
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import MORE_ITERATIONS

STARTS = 20
_AGREE = 1e-6  # in nats; results that differ by less are the same maximum


@frozen(slots=False, eq=False, repr=False)
class NullFit:
    """The best fit of a model of (conditional) independence that was found.

    Attributes
    ----------
    w
        The fitted table, an axis for every variable.
    model
        Which axes are independent given which.
    loglik
        The total log-likelihood in nats.
    gap
        A bound on the gain per person from changing one part of the model with the others fixed: zero at a stationary
        point. It is not proven that no other maximum is higher.
    iterations, converged
        The iterations of the best run, and whether it converged.
    starts, agreeing
        The number of starts, and how many reached the best likelihood within 1e-6 (or within their gap).
    shortfall
        The difference between the best and the worst start, in nats.
    """

    w: FloatArray
    model: ConditionalIndependence
    loglik: float
    gap: float
    iterations: int
    converged: bool
    starts: int
    agreeing: int
    shortfall: float

    def __repr__(self) -> str:
        return f"<NullFit: log-likelihood {self.loglik:.3f}, reached by {self.agreeing} of {self.starts} starts>"


def fit_null(
    counts: SubsetCounts,
    axes: tuple[int, int],
    given: tuple[int, ...] = (),
    *,
    starts: int = STARTS,
    generator: np.random.Generator | int | None = None,
    tol: float = TOLERANCE,
    max_iter: int = MAX_ITERATIONS,
    free: FloatArray | None = None,
) -> NullFit:
    r"""Fit independence of two variables, given others, by EM from many starts.

    Parameters
    ----------
    counts
        Joint counts of several variables.
    axes, given
        The positions of the two variables, and of those they are independent given; the others are unrestricted.
    starts
        The number of starts: the projection of the free estimate, the product of its margins, and random ones.
    generator
        A NumPy generator or a seed for the random starts.
    tol, max_iter
        The gap to reach, in log-likelihood per person, and the maximum number of iterations, of three EM updates each.
    free
        The free maximum likelihood estimate, if known.

    Raises
    ------
    ArgumentError, NoDataError
        If the axes are not different variables of these counts, or there are no people.

    Warns
    -----
    ConvergenceWarning
        If the best start did not converge.

    Notes
    -----
    EM: :math:`u = w \odot \sum_a (f_a/1_a^\top w) 1_a`, then :math:`w_{xyz} = u_{x+z}u_{+yz}/u_{++z}`, which never
    lowers the likelihood. The likelihood is not concave: several maxima are possible, and the highest one found is
    returned.

    Examples
    --------
    >>> from subsetprivacy.design import fixed_size, product
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> three = product({name: fixed_size(list("abc"), 2) for name in "xyz"})
    >>> fit = fit_null(simulate(three, [1 / 27] * 27, 5000, seed=1), (0, 1), (2,), generator=1)
    >>> fit.w.shape, fit.converged, fit.starts
    ((3, 3, 3), True, 20)
    """
    model = latent_fit.read_axes(counts, axes, given)
    number = check_count(starts, "starts", least=1)
    check_stopping(tol, max_iter)
    inc, f, n = counts.require_data().incidence, counts.shares, counts.total
    near = maximize(inc, f, TOLERANCE).w if free is None else free
    begin = latent_fit.starting_points(near, model, number, numpy_generator(generator))
    ends = latent_fit.climb(inc, f, begin, model, tol=tol, max_iter=max_iter)
    best = int(ends.loglik.argmax())
    lack = n * (ends.loglik[best] - ends.loglik)
    gap = float(ends.gap[best])
    if gap > tol:
        text = f"Not converged: EM of the null model stopped with a gap of {gap:.2g} per person, above tol = {tol:.2g}."
        warn_of(Note(NoteKind.NOT_CONVERGED, text, MORE_ITERATIONS))
    return NullFit(
        w=read_only(ends.w[best].reshape(model.shape)),
        model=model,
        loglik=float(n * ends.loglik[best]),
        gap=gap,
        iterations=int(ends.iterations[best]),
        converged=gap <= tol,
        starts=number,
        agreeing=int((lack <= np.maximum(_AGREE, n * ends.gap)).sum()),
        shortfall=float(lack.max()),
    )
