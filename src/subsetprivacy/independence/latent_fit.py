r"""Fit conditional independence of private variables by EM from many starts at once.

The distribution is :math:`w_{xyz} = \pi_z f(x \mid z) g(y \mid z)` and each of x, y, z is known up to a subset. The
likelihood of such a latent class model is not concave: EM converges to some maximum, which may not be the highest. So
it runs from many starts, and the best result is kept.
"""

from collections.abc import Callable

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.data import SubsetCounts
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.likelihood import MANY
from subsetprivacy.estimation.mle import maximize
from subsetprivacy.estimation.newton_many import newton_many
from subsetprivacy.estimation.simplex import lifted
from subsetprivacy.incidence import Cells, Incidence, Listable
from subsetprivacy.mechanism.simulate import simulate, subset_probabilities
from subsetprivacy.messages.for_tests import PRODUCT_OF_DESIGNS
from subsetprivacy.variables import JointCategories

TOLERANCE = 1e-9
MAX_ITERATIONS = 3000
RESAMPLED_STARTS = 5  # for a drawn sample: in 300 samples, 20 found nothing better (3 did once, 2 twice)
_INSIDE = 1e-2  # the share of the uniform distribution in every start, since EM never leaves a face
_LONGEST = 1e8  # a longer extrapolation would overflow if two steps are almost equal
_TINY = 1e-300
_CELLS = 1 << 21  # numbers in one array of a batch of samples: 16 MB


@frozen
class ConditionalIndependence:
    r"""The tables in which two axes are independent given others; the remaining axes are unrestricted.

    Attributes
    ----------
    shape
        The number of categories of every variable.
    axes
        The two independent axes.
    given
        The axes to condition on; none for plain independence.

    Notes
    -----
    :math:`w_{xyzr} = w_{x+z+}\, w_{+yz+} / w_{++z+} \cdot w_{xyzr} / w_{xyz+}`, with r for the axes that are not named.
    """

    shape: tuple[int, ...]
    axes: tuple[int, int]
    given: tuple[int, ...] = ()

    @property
    def df(self) -> int:
        """The number of parameters it has less than the free table: t(p-1)(q-1)."""
        p, q = (self.shape[axis] for axis in self.axes)
        return (p - 1) * (q - 1) * int(np.prod([self.shape[axis] for axis in self.given], dtype=np.int64))

    def others(self, *kept: int) -> tuple[int, ...]:
        """Return the axes to sum over, counted from the end, so that leading axes do not matter."""
        return tuple(axis - len(self.shape) for axis in range(len(self.shape)) if axis not in kept)

    def project(self, u: FloatArray) -> FloatArray:
        """Return the member of the model that maximizes the sum of u ln w, for (..., p) arrays of weights u."""
        table = u.reshape(*u.shape[:-1], *self.shape)
        xz, y_given_z, rest = self._parts(table)
        return (xz * y_given_z * rest).reshape(u.shape)

    def _parts(self, table: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the margin of x and z, the distribution of y given z, and that of the rest given all three."""
        xz = table.sum(self.others(self.axes[0], *self.given), keepdims=True)
        z = table.sum(self.others(*self.given), keepdims=True)
        yz = table.sum(self.others(self.axes[1], *self.given), keepdims=True)
        y_given_z = _ratio(yz, z, self.shape[self.axes[1]])
        free = self.others(*self.axes, *self.given)
        if not free:
            return xz, y_given_z, np.ones(())
        many = int(np.prod([self.shape[axis] for axis in free]))
        return xz, y_given_z, _ratio(table, table.sum(free, keepdims=True), many)

    def gap(self, w: FloatArray, s: FloatArray) -> FloatArray:
        r"""Return a bound on the gain per person from changing one part of w with the others fixed.

        Parameters
        ----------
        w, s
            Members of the model and the gradients of the mean log-likelihood there, (..., p).

        Notes
        -----
        The likelihood is concave in :math:`\pi_z f(x \mid z)` alone, in :math:`\pi_z g(y \mid z)` alone and in the
        distribution of the rest alone. In each, the gradient bounds the gain, as for the free table. All three bounds
        are zero if w is stationary. They do not bound changes of several parts at once.
        """
        table, slope = (array.reshape(*array.shape[:-1], *self.shape) for array in (w, s))
        xz, y_given_z, rest = self._parts(table)
        z = table.sum(self.others(*self.given), keepdims=True)
        x_given_z = _ratio(xz, z, self.shape[self.axes[0]])
        free = self.others(*self.axes, *self.given)
        weighed = (slope * rest).sum(free, keepdims=True)
        lead = (*w.shape[:-1], -1)
        along_x = (weighed * y_given_z).sum(self.others(self.axes[0], *self.given)).reshape(lead).max(axis=-1)
        along_y = (weighed * x_given_z).sum(self.others(self.axes[1], *self.given)).reshape(lead).max(axis=-1)
        # Without other axes, this is the sum of w s, which is one.
        within = (table.sum(free) * slope.max(free)).reshape(lead).sum(axis=-1)
        return np.maximum(np.maximum(np.maximum(along_x, along_y), within) - 1, 0.0)


def read_axes(counts: SubsetCounts, axes: tuple[int, int], given: tuple[int, ...]) -> ConditionalIndependence:
    """Return the model of these axes of the counts, or raise if they are invalid."""
    if not isinstance(counts.categories, JointCategories):
        raise ArgumentError("`counts` must have several variables; got one.", PRODUCT_OF_DESIGNS)
    shape = counts.categories.shape
    named = (*axes, *given)
    if len(axes) != 2 or len(set(named)) < len(named) or not set(named) <= set(range(len(shape))):
        raise ArgumentError(
            f"`axes` and `given` must be different numbers from 0 to {len(shape) - 1}, two of them `axes`; got {named}."
        )
    return ConditionalIndependence(shape, (axes[0], axes[1]), tuple(given))


def _ratio(part: FloatArray, whole: FloatArray, many: int) -> FloatArray:
    """Return part/whole, or an equal share where the whole is 0."""
    return np.where(whole > 0, part / np.maximum(whole, _TINY), 1 / many)


@frozen(slots=False, eq=False)
class LocalMaxima:
    """The results of many EM runs: distributions, mean log-likelihoods, gaps, iterations."""

    w: FloatArray
    loglik: FloatArray
    gap: FloatArray
    iterations: IntArray


def climb(
    inc: Incidence, f: FloatArray, w: FloatArray, model: ConditionalIndependence, *, tol: float, max_iter: int
) -> LocalMaxima:
    r"""Run accelerated EM from every start in w (k, p) to a gap of `tol`, or for `max_iter` iterations.

    Parameters
    ----------
    inc, f
        Rows and shares: (rows,), or one sample for every start, (k, rows). A share may be 0.
    w
        The starts: members of the model without zeros.
    model, tol, max_iter
        The model, the gap to reach and the maximum number of iterations, of three updates each.

    Notes
    -----
    An update is :math:`u = w \sum_a (f_a/L_a) 1_a`, then `project`. Each iteration extrapolates along two updates
    (Varadhan and Roland 2008), or keeps the two updates if that does not help, so the likelihood never decreases. Runs
    that have converged are dropped.
    """
    ends = LocalMaxima(w.copy(), np.empty(len(w)), np.empty(len(w)), np.zeros(len(w), np.int64))
    live = np.arange(len(w))
    L = inc.inner(w)
    for iteration in range(max_iter + 1):
        s = inc.spread(f / np.maximum(L, _TINY))
        gap = model.gap(w, s)
        stay = (gap > tol) & (iteration < max_iter)
        if not stay.all():
            at = live[~stay]
            ends.w[at], ends.loglik[at], ends.gap[at] = w[~stay], _loglik(f, L)[~stay], gap[~stay]
            ends.iterations[at] = iteration
            live, w, L, s = live[stay], w[stay], L[stay], s[stay]
            f = f if f.ndim == 1 else f[stay]
            if not live.size:
                break
        w, L = _accelerated(inc, f, w, s, model)
    return ends


def _accelerated(
    inc: Incidence, f: FloatArray, w: FloatArray, s: FloatArray, model: ConditionalIndependence
) -> tuple[FloatArray, FloatArray]:
    """Return the better of two updates and of an update after their extrapolation, with its L(a)."""
    once = model.project(w * s)
    twice = _update(inc, f, once, inc.inner(once), model)
    r = once - w
    v = (twice - once) - r
    ratio = np.linalg.norm(r, axis=-1) / np.maximum(np.linalg.norm(v, axis=-1), _TINY)
    length = np.clip(ratio, 1.0, _LONGEST)[:, None]
    far = w + 2 * length * r + length**2 * v
    inside = far.min(axis=-1) > 0
    accelerated = model.project(
        np.where(inside[:, None], far, twice)
    )  # the model is not linear, so a straight line leaves it
    accelerated = _update(inc, f, accelerated, inc.inner(accelerated), model)
    L_twice, L_accelerated = inc.inner(twice), inc.inner(accelerated)
    better = (_loglik(f, L_accelerated) >= _loglik(f, L_twice))[:, None]
    return np.where(better, accelerated, twice), np.where(better, L_accelerated, L_twice)


def _update(inc: Incidence, f: FloatArray, w: FloatArray, L: FloatArray, model: ConditionalIndependence) -> FloatArray:
    w = model.project(w * inc.spread(f / np.maximum(L, _TINY)))
    return w / w.sum(axis=-1, keepdims=True)


def _loglik(f: FloatArray, L: FloatArray) -> FloatArray:
    return np.asarray((f * np.log(np.maximum(L, _TINY))).sum(axis=-1))


def starting_points(
    free: FloatArray, model: ConditionalIndependence, number: int, generator: np.random.Generator
) -> FloatArray:
    """Return starts in the model: close to the free estimate, the product of its margins, and random ones."""
    margins = np.ones(())
    for axis in range(len(model.shape)):
        margins = np.multiply.outer(margins, free.reshape(model.shape).sum(axis=model.others(axis)))
    # The conditional distributions are sums of this many cells, so each cell has a correspondingly smaller parameter.
    spread = 1 / max(model.shape[axis] for axis in model.axes)
    random = generator.dirichlet(np.full(len(free), spread), size=max(number - 2, 0))
    return projected_to_model(np.vstack([free, margins.ravel(), random])[:number], model)


def projected_to_model(w: FloatArray, model: ConditionalIndependence) -> FloatArray:
    """Return the members of the model closest to w, away from its faces."""
    return model.project((1 - _INSIDE) * w + _INSIDE / w.shape[-1])


def resample(
    counts: SubsetCounts,
    w: FloatArray,
    model: ConditionalIndependence,
    size: int,
    generator: np.random.Generator,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FloatArray, int]:
    """Return the likelihood ratios of samples drawn from a fitted w, and how many null fits did not converge.

    `progress` is called with the number of samples done and their total.
    """
    n = int(counts.total)
    grid = _listed(counts.design, n)
    tol = min(1e-6, 1e-3 / n)  # a thousandth of a nat in total: far below any relevant difference
    block = max(_CELLS // (RESAMPLED_STARTS * len(counts.design.support()[0])), 1) if grid else 1
    ratios = np.empty(size)
    late = 0
    for done in range(0, size, block):
        here = slice(done, min(done + block, size))
        inc, f, total = _draw(counts.design, w, n, here.stop - done, generator, grid)
        free = _free(inc, f, lifted(w, 1e-3 / len(w)), tol)
        near = projected_to_model(w[None], model)
        begin = [
            np.vstack([near, starting_points(estimate, model, RESAMPLED_STARTS - 1, generator)]) for estimate in free
        ]
        ends = _best(inc, f, np.array(begin), model, tol)
        late += int((ends.gap > tol).sum())
        ratios[here] = 2 * total * np.maximum(_loglik(f, inc.inner(free)) - ends.loglik, 0.0)
        if progress is not None:
            progress(here.stop, size)
    return ratios, late


def _free(inc: Listable, f: FloatArray, start: FloatArray, tol: float) -> FloatArray:
    """Return the maximum likelihood distribution of every sample without any hypothesis."""
    if inc.p <= MANY and len(f) > 1:
        return newton_many(inc, f, start=start, tol=tol).w
    return np.array([maximize(*_observed_cells(inc, row), tol, start).w for row in f])


def _best(inc: Incidence, f: FloatArray, begin: FloatArray, model: ConditionalIndependence, tol: float) -> LocalMaxima:
    """Run all starts (samples, starts, p) to a coarse tolerance, then finish the best start of each sample."""
    samples, starts, p = begin.shape
    each = np.repeat(f, starts, axis=0)
    rough = climb(inc, each, begin.reshape(-1, p), model, tol=100 * tol, max_iter=MAX_ITERATIONS)
    best = np.arange(samples) * starts + rough.loglik.reshape(samples, starts).argmax(axis=1)
    return climb(inc, f, rough.w[best], model, tol=tol, max_iter=MAX_ITERATIONS)


def _listed(design: Design, n: int) -> bool:
    """Return whether samples are stored as counts over the whole support, so that they are fitted as a batch."""
    if design.covered is not None or not design.enumerable:
        return False
    return len(design.support()[0]) <= max(16 * n, 1 << 12)


def _draw(
    design: Design, w: FloatArray, n: int, size: int, generator: np.random.Generator, grid: bool
) -> tuple[Listable, FloatArray, float]:
    """Return rows, the shares of each sample, and the number n of people with an informative subset."""
    if grid:
        codes, probabilities = subset_probabilities(design, w)
        probabilities = np.where(design.is_missing(codes), 0.0, probabilities)
        return design.support_incidence, generator.multinomial(n, probabilities / probabilities.sum(), size=size) / n, n
    sample = simulate(design, w, design.people_in(n), seed=generator)
    return sample.incidence, sample.shares[None], sample.total


def _observed_cells(inc: Listable, f: FloatArray) -> tuple[Incidence, FloatArray]:
    at = np.flatnonzero(f)
    return (inc, f) if len(at) == len(f) else (Cells(inc, at), f[at])
