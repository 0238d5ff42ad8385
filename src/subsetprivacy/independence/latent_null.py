"""The best fit of a model of (conditional) independence, among many starts."""

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_count, read_only
from subsetprivacy._seeds import numpy_generator
from subsetprivacy._types import FloatArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.errors import warn_of
from subsetprivacy.estimation.mle import check_stopping, maximise
from subsetprivacy.independence import latent_fit
from subsetprivacy.independence.latent_fit import MAX_ITERATIONS, TOLERANCE, ConditionalIndependence
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_tests import MORE_ITERATIONS

STARTS = 20
_AGREE = 1e-6  # nats in all; ends that differ by less are one maximum


@frozen(slots=False, eq=False, repr=False)
class NullFit:
    """The best fit found of a model of (conditional) independence.

    Attributes
    ----------
    w
        The fitted table, an axis for every variable.
    model
        Which axes are independent given which.
    loglik
        The log-likelihood in nats, of all people together.
    gap
        At most this much per person is to be gained by changing one part of the model with the others held: zero
        at a stationary point. That no other maximum is higher is not proved.
    iterations, converged
        How the best climb ended.
    starts, agreeing
        How many starts there were, and how many reached the best likelihood within 1e-6 (or what their gap leaves).
    shortfall
        By how much the worst start fell short of the best, in nats.
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
        The numbers of the two variables, and of those they are independent given; any others are left free.
    starts
        How many starts: the projection of the free estimate, the product of its margins, and random ones.
    generator
        A NumPy generator or a seed for the random ones.
    tol, max_iter
        The gap to reach, in log-likelihood per person, and the most iterations, of three EM updates each.
    free
        The free maximum likelihood estimate, where it is known.

    Raises
    ------
    ArgumentError, NoDataError
        If the axes are no different variables of these counts, or there is nobody.

    Warns
    -----
    ConvergenceWarning
        If the best start did not arrive.

    Notes
    -----
    EM: :math:`u = w \odot \sum_a (f_a/1_a^\top w) 1_a`, then :math:`w_{xyz} = u_{x+z}u_{+yz}/u_{++z}`, which never
    lowers the likelihood. It is not concave: several maxima are possible, and the highest one found is returned.

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
    near = maximise(inc, f, TOLERANCE).w if free is None else free
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
