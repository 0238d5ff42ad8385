"""Independence given a third variable that is private too: fits against oracles, the test, refusals."""

import numpy as np
import pytest
from every_case import every_case
from problems import exact_counts, rising
from refusals import refused
from scipy.optimize import minimize
from scipy.stats import chi2

import subsetprivacy as sp
from subsetprivacy.design import coarse
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    ConvergenceWarning,
    NoDataError,
    NotIdentifiableError,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.independence.latent import latent_test
from subsetprivacy.independence.latent_fit import ConditionalIndependence, climb, resample, starting_points
from subsetprivacy.independence.latent_null import fit_null
from subsetprivacy.messages import NoteKind
from subsetprivacy.variables import JointCategories

# Lopsided: no two levels alike, and another number of them in every variable.
PI = np.array([0.4, 0.6])
F = np.array([[0.5, 0.2], [0.2, 0.3], [0.2, 0.4], [0.1, 0.1]])  # x given z
G = np.array([[0.6, 0.3], [0.3, 0.2], [0.1, 0.5]])  # y given z
W = np.einsum("z,xz,yz->xyz", PI, F, G)
SEEN = sp.product({"x": sp.nonprivate([*"abcd"]), "y": sp.nonprivate([*"rst"]), "z": sp.nonprivate([*"no"])})
PRIVATE = sp.product({"x": sp.uniform([*"abcd"]), "y": sp.fixed_size([*"rst"], 2), "z": sp.warner(["n", "y"], 0.2)})
SMALL = sp.product({"x": sp.fixed_size([*"abc"], 2), "y": sp.warner([*"rs"], 0.2), "z": sp.warner([*"no"], 0.1)})

PAIRS = sp.product({name: sp.fixed_size([*"abc"], 2) for name in "xyz"})


def tied(w, share):
    """Mix in people whose x and y go together, whatever z."""
    diagonal = np.zeros(w.shape)
    for k in range(min(w.shape[:2])):
        diagonal[k, k] = 1
    return (1 - share) * w + share * diagonal / diagonal.sum()


def counted(table, design):
    """Turn a table of people into counts under a design that reports the value."""
    at = np.nonzero(table)
    codes = design.join([np.int64(1) << axis for axis in at])
    return sp.SubsetCounts(codes, table[at], design)


# The model ------------------------------------------------------------------------------------------------------


def brute_force(u, x, y, given):
    """Multiply conditional probabilities cell by cell."""
    out = np.empty(u.shape)
    for at in np.ndindex(*u.shape):

        def total(*kept, at=at):
            return u[tuple(at[k] if k in kept else slice(None) for k in range(u.ndim))].sum()

        pair = total(x, *given) * total(y, *given) / total(*given)
        out[at] = pair * u[at] / total(x, y, *given)
    return out


@every_case(
    ("shape", "axes", "given"),
    [((4, 3, 2), (0, 1), (2,)), ((4, 3, 2), (2, 0), (1,)), ((3, 4), (0, 1), ()), ((2, 3, 4), (0, 2), ()),
     ((2, 3, 2, 3), (3, 1), (0,)), ((2, 2, 3, 2), (1, 2), (0, 3))],
)  # fmt: skip
def test_the_projection_is_the_product_of_conditional_laws(shape, axes, given):
    model = ConditionalIndependence(shape, axes, given)
    u = np.random.default_rng(3).dirichlet(np.ones(int(np.prod(shape))), size=2)
    projected = model.project(u)
    for before, after in zip(u, projected):
        assert after.reshape(shape) == pytest.approx(brute_force(before.reshape(shape), *axes, given))
    assert model.project(projected) == pytest.approx(projected)


def test_the_gap_is_the_steepest_way_to_change_one_part():
    counts = sp.simulate(PRIVATE, W.ravel(), 400, seed=3)
    model = ConditionalIndependence((4, 3, 2), (0, 1), (2,))
    inc, f = counts.incidence, counts.shares
    points = starting_points(np.full(24, 1 / 24), model, 8, np.random.default_rng(1))
    slopes = inc.spread(f / inc.inner(points))
    steepest = []
    for w, s in zip(points.reshape(-1, 4, 3, 2), slopes.reshape(-1, 4, 3, 2)):
        x_given_z, y_given_z = w.sum(1) / w.sum((0, 1)), w.sum(0) / w.sum((0, 1))
        # All weight on one x and one z, with y as it was given that z; and the same for y.
        by_x = [s[x, :, z] @ y_given_z[:, z] - 1 for x in range(4) for z in range(2)]
        by_y = [s[:, y, z] @ x_given_z[:, z] - 1 for y in range(3) for z in range(2)]
        steepest.append((max(by_x), max(by_y)))
    by_x, by_y = np.array(steepest).T
    assert (by_x > by_y).any()
    assert (by_y > by_x).any()
    assert model.gap(points, slopes) == pytest.approx(np.maximum(by_x, by_y))


def test_degrees_of_freedom_are_the_difference_in_parameters():
    assert ConditionalIndependence((4, 3, 2), (0, 1), (2,)).df == 23 - (1 + 2 * 3 + 2 * 2)
    assert ConditionalIndependence((4, 3), (0, 1)).df == 6


# Fits -----------------------------------------------------------------------------------------------------------


def test_without_privacy_the_fit_is_a_closed_form_and_the_statistic_is_g_squared():
    table = np.random.default_rng(8).multinomial(500, tied(W, 0.2).ravel()).reshape(W.shape)
    test = latent_test(counted(table, SEEN), "x", "y", "z", replications=19, seed=1)
    expected = np.einsum("xz,yz->xyz", table.sum(1), table.sum(0)) / table.sum((0, 1))
    assert test.null_estimates["null"].w == pytest.approx(expected / 500, abs=1e-9)
    seen = table > 0
    g_squared = 2 * (table[seen] * np.log(table[seen] / expected[seen])).sum()
    assert test.statistic == pytest.approx(g_squared, abs=1e-6)
    assert test.asymptotic_pvalue == pytest.approx(chi2.sf(g_squared, 12))
    assert test.null_estimates["null"].agreeing == 20


@pytest.mark.parametrize(("axes", "given"), [((0, 1), (2,)), ((2, 1), (0,))])
def test_no_other_optimizer_finds_a_better_fit(axes, given):
    rows = SMALL.support_incidence.inner(np.eye(12)).T
    counts = sp.simulate(SMALL, np.random.default_rng(2).dirichlet(np.ones(12)), 300, seed=4)
    n_a = np.zeros(len(rows))
    n_a[np.searchsorted(SMALL.support()[0], counts.codes)] = counts.counts
    shape, (x, y), (z,) = (3, 2, 2), axes, given
    p, q, t = shape[x], shape[y], shape[z]
    back = np.argsort((x, y, z))

    def minus(theta):
        pi, f, g = theta[:t], theta[t : t + p * t].reshape(p, t), theta[t + p * t :].reshape(q, t)
        soft = [np.exp(part - part.max(0)) / np.exp(part - part.max(0)).sum(0) for part in (pi, f, g)]
        w = np.einsum("z,xz,yz->xyz", *soft).transpose(back).ravel()
        return -(n_a @ np.log(np.maximum(rows @ w, 1e-300)))

    fit = fit_null(counts, axes, given, generator=1)
    assert fit.loglik == pytest.approx(n_a @ np.log(rows @ fit.w.ravel()), abs=1e-8)
    # Where a start of the optimizer ends does not matter: no point that it reaches may be better, and the best is near.
    starts = np.random.default_rng(6).normal(0, 2, (8, t * (1 + p + q)))
    reached = max(-minimize(minus, start, method="L-BFGS-B").fun for start in starts)
    assert fit.loglik > reached - 1e-6
    assert fit.loglik == pytest.approx(reached, abs=1e-3)  # it ended at the maximum, from some start
    assert fit.gap < 1e-9


def test_expected_counts_give_back_the_distribution():
    # 15,000 times the product of mu and L are whole numbers.
    counts = exact_counts(PRIVATE, W.ravel(), 15_000)
    fit = fit_null(counts, (0, 1), (2,), generator=1)
    assert fit.w == pytest.approx(W, abs=1e-5)
    test = latent_test(counts, "x", "y", "z", replications=19, starts=3, seed=1)
    assert 0 <= test.statistic < 1e-3
    assert test.pvalue == 1


def test_the_order_of_names_and_labels_does_not_matter():
    w = tied(W, 0.3)
    other = sp.product({name: PRIVATE.by_name()[name] for name in ("z", "x", "y")})
    counts = sp.simulate(PRIVATE, w.ravel(), 700, seed=5)
    turned = sp.SubsetCounts(other.join([PRIVATE.split(counts.codes)[k] for k in (2, 0, 1)]), counts.counts, other)
    one = fit_null(counts, (0, 1), (2,), generator=1)
    two = fit_null(turned, (2, 1), (0,), generator=2)
    assert two.loglik == pytest.approx(one.loglik, abs=1e-6)
    assert two.w.transpose(1, 2, 0) == pytest.approx(one.w, abs=1e-4)


def rare_combinations(z, x_given_z, y_given_z):
    """Three by three by three, some combinations rare: several maxima are common where there are few people."""
    return np.einsum("z,zx,zy->xyz", z, x_given_z, y_given_z).ravel()


def test_the_likelihood_never_falls():
    # A sample in which some extrapolation lowers the likelihood, and has to be taken back.
    source, rarely = np.random.default_rng(5), np.full(3, 0.6)
    x_given_z, y_given_z, z = source.dirichlet(rarely, 3), source.dirichlet(rarely, 3), source.dirichlet(rarely)
    counts = sp.simulate(PAIRS, rare_combinations(z, x_given_z, y_given_z), 80, seed=2)
    model = ConditionalIndependence((3, 3, 3), (0, 1), (2,))
    begin = starting_points(np.full(27, 1 / 27), model, 10, np.random.default_rng(2))
    values = [climb(counts.incidence, counts.shares, begin, model, tol=1e-12, max_iter=k).loglik for k in range(12)]
    assert (np.diff(values, axis=0) > -1e-13).all()
    assert (values[-1] > values[0] + 1e-3).all()


def test_a_batch_of_samples_gives_what_each_gives_alone():
    samples = list(sp.simulate_many(PRIVATE, W.ravel(), 300, 3, seed=2))
    model = ConditionalIndependence((4, 3, 2), (0, 1), (2,))
    begin = starting_points(np.full(24, 1 / 24), model, 3, np.random.default_rng(4))
    f = np.array([sample.counts / 300 for sample in samples])
    rows = PRIVATE.incidence(samples[0].codes)
    together = climb(rows, f, begin, model, tol=1e-9, max_iter=3000)
    for k, sample in enumerate(samples):
        alone = climb(sample.incidence, sample.shares, begin[[k]], model, tol=1e-9, max_iter=3000)
        assert together.loglik[k] == pytest.approx(alone.loglik[0], abs=1e-10)
        assert together.gap[k] <= 1e-9


def test_variables_that_share_a_code_are_independent_or_not():
    # One question about the combination: no margin fits exist, and the third variable is left free.
    joined = sp.join({"x": ["a", "b"], "u": ["r", "s", "t"]})
    design = sp.product({"xu": joined, "y": sp.warner(["n", "y"], 0.2)})
    w_x, w_u, w_y = np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.6])
    apart = np.einsum("x,u,y->xuy", w_x, w_u, w_y)
    follows = np.einsum("xu,uy->xuy", np.outer(w_x, w_u), np.array([[0.9, 0.1], [0.4, 0.6], [0.1, 0.9]]))
    flat = sp.simulate(joined, apart.sum(2).ravel(), 2000, seed=1)
    assert latent_test(flat, "x", "u", replications=19, seed=1).pvalue > 0.05
    counts = sp.simulate(design, follows.ravel(), 4000, seed=1)
    fit = fit_null(counts, (0, 2), generator=1)
    pair = fit.w.sum(1)
    assert pair == pytest.approx(np.outer(pair.sum(1), pair.sum(0)))
    assert not np.allclose(fit.w.sum(0), np.outer(fit.w.sum((0, 2)), fit.w.sum((0, 1))), atol=0.03)
    x_and_y = latent_test(counts, "x", "y", replications=39, seed=1)
    u_and_y = latent_test(counts, "u", "y", replications=39, seed=1)
    assert (x_and_y.df, u_and_y.df) == (1, 2)
    assert x_and_y.pvalue > 0.05 > u_and_y.pvalue


def test_a_fit_that_stops_early_says_so():
    counts = sp.simulate(PRIVATE, W.ravel(), 300, seed=1)
    with pytest.warns(ConvergenceWarning, match="EM of the null model stopped with a gap"):
        fit = fit_null(counts, (0, 1), (2,), generator=1, max_iter=1)
    assert not fit.converged
    assert fit.gap > 1e-9
    assert fit.iterations == 1


# The test -------------------------------------------------------------------------------------------------------


def test_dependence_is_found_and_the_result_is_complete():
    seen = []
    counts = sp.simulate(PRIVATE, tied(W, 0.8).ravel(), 1500, seed=2)
    test = latent_test(counts, "x", "y", "z", replications=39, seed=1, progress=lambda *at: seen.append(at))
    assert test.pvalue == 1 / 40
    assert test.pvalue_se == pytest.approx(np.sqrt(1 / 40 * 39 / 40 / 39))
    assert (test.df, test.law.statistics.shape, test.joint.method) == (12, (39,), "mle")
    assert test.statistic == pytest.approx(2 * (test.joint.loglik - test.null_estimates["null"].loglik))
    assert seen[-1] == (39, 39)
    assert not test.law.statistics.flags.writeable
    assert not test.null_estimates["null"].w.flags.writeable
    assert test.notes[0].kind is NoteKind.MAXIMUM
    assert "statistic" in repr(test)
    again = latent_test(counts, "x", "y", "z", replications=39, seed=1)
    assert (again.law.statistics == test.law.statistics).all()


def test_a_third_variable_that_explains_is_not_taken_for_dependence():
    explained = np.einsum("z,xz,yz->xyz", [0.5, 0.5], [[0.9, 0.1], [0.05, 0.1], [0.05, 0.8]], [[0.9, 0.1], [0.1, 0.9]])
    counts = sp.simulate(SMALL, explained.ravel(), 6000, seed=3)
    assert latent_test(counts, "x", "y", "z", replications=39, seed=1).pvalue > 0.05
    assert latent_test(counts, "x", "y", replications=39, seed=1).pvalue == 1 / 40


def test_variables_not_named_are_summed_out():
    design = sp.product({**PRIVATE.by_name(), "extra": sp.uniform([*"efgh"])})
    counts = sp.simulate(design, np.multiply.outer(W, rising(4)).ravel(), 500, seed=1)
    part = sp.SubsetData(design.select_codes(np.repeat(counts.codes, counts.counts), "xyz"), design.select("xyz"))
    one = latent_test(counts, "y", "x", "z", replications=19, seed=4)
    two = latent_test(part, "y", "x", "z", replications=19, seed=4)
    assert one.statistic == pytest.approx(two.statistic, abs=1e-9)
    assert one.null_estimates["null"].w.shape == (4, 3, 2)


@pytest.mark.slow
def test_five_starts_for_drawn_samples_find_what_twenty_find():
    # Of the four samples one has a lower maximum next to the fit it was drawn from: one start is not enough.
    source, rarely = np.random.default_rng(7), np.full(3, 0.6)
    z, x_given_z, y_given_z = source.dirichlet(rarely), source.dirichlet(rarely, 3), source.dirichlet(rarely, 3)
    counts = sp.simulate(PAIRS, rare_combinations(z, x_given_z, y_given_z), 300, seed=source)
    fit = fit_null(counts, (0, 1), (2,), generator=1)
    few, late = resample(counts, fit.w.ravel(), fit.model, 4, np.random.default_rng(2))
    samples = np.random.default_rng(2).multinomial(300, _probabilities(PAIRS, fit.w), size=4)
    for sample, ratio in zip(samples, few):
        drawn = sp.SubsetCounts(PAIRS.support()[0], sample, PAIRS)
        many = fit_null(drawn, (0, 1), (2,), tol=1e-7, generator=2)
        assert ratio == pytest.approx(2 * (sp.estimate(drawn).loglik - many.loglik), abs=2e-3)
    assert late == 0


def _probabilities(design, w):
    law = design.support()[1] * design.support_incidence.inner(w.ravel())
    return law / law.sum()


def test_samples_too_large_to_list_and_dummy_rows_are_drawn_person_by_person():
    large = sp.product({"x": sp.uniform(range(7)), "y": sp.uniform(range(6))})
    counts = sp.simulate(large, np.outer(rising(7), rising(6)).ravel(), 200, seed=1)
    test = latent_test(counts, "x", "y", replications=19, starts=2, seed=1)
    assert test.pvalue > 0.05
    assert (test.law.statistics >= 0).all()
    covered = sp.covered(sp.product({"x": sp.uniform([*"abcd"]), "y": sp.uniform([*"rstu"])}), 0.05)
    table = sp.simulate(covered, np.outer(rising(4), rising(4)).ravel(), 400, seed=1)
    test = latent_test(table, "x", "y", replications=19, seed=1)
    assert test.pvalue > 0.05
    assert test.df == 9


# Refusals -------------------------------------------------------------------------------------------------------


@every_case(
    ("names", "error", "argument"),
    [
        (("q", "y", "z"), CategoryError, "first"),
        (("x", "q", "z"), CategoryError, "second"),
        (("x", "y", "q"), CategoryError, "given"),
        (("x", "y", "x"), ArgumentError, "first"),
        (("x", "x"), ArgumentError, "first"),
    ],
)
def test_names_must_be_different_variables(names, error, argument):
    counts = sp.simulate(PRIVATE, W.ravel(), 50, seed=1)
    with refused(error, argument):
        latent_test(counts, *names)


def test_what_cannot_be_tested_is_refused():
    design = sp.product({"x": sp.uniform([*"abcd"]), "y": sp.uniform([*"rstu"])})
    two = sp.simulate(design, np.full(16, 1 / 16), 50, seed=1)
    with refused(ArgumentError, "counts"):
        latent_test(two, "x", "y", "z")
    with refused(ArgumentError, "counts"):
        latent_test(sp.simulate(sp.uniform([*"abcd"]), rising(4), 50, seed=1), "x", "y")
    weighted = sp.SubsetCounts(two.codes, two.counts * 1.5, two.design, squares=two.counts * 2.25)
    with pytest.raises(ArgumentError):
        latent_test(weighted, "x", "y")
    with refused(ArgumentError, "replications"):
        latent_test(two, "x", "y", replications=9)
    with refused(ArgumentError, "starts"):
        latent_test(two, "x", "y", starts=0)
    with pytest.raises(NoDataError):
        latent_test(sp.SubsetCounts(two.codes, 0 * two.counts, two.design), "x", "y")
    large = sp.product({"x": sp.hadamard(70), "y": sp.hadamard(70)})
    with pytest.raises(TooLargeError):
        latent_test(sp.simulate(large, np.full(4900, 1 / 4900), 50, seed=1), "x", "y")
    blind = sp.product({"x": sp.uniform([*"abcd"]), "y": sp.fully_private([*"rs"])})
    codes = blind.support()[0]
    unknown = sp.SubsetCounts([3, 12], [5, 4], coarse(JointCategories({"x": ["a", "b"], "y": ["r", "s"]})))
    with pytest.raises(UnknownDesignError):
        latent_test(unknown, "x", "y")
    with pytest.raises(NotIdentifiableError):
        latent_test(sp.SubsetCounts(codes, np.ones(len(codes), int), blind), "x", "y")


@every_case(("axes", "given"), [((0, 0), ()), ((0, 1), (1,)), ((0, 3), ()), ((0,), (1,))])
def test_axes_must_be_different_and_exist(axes, given):
    counts = sp.simulate(PRIVATE, W.ravel(), 50, seed=1)
    with refused(ArgumentError, "axes"):
        fit_null(counts, axes, given)


def test_one_variable_has_no_null():
    with refused(ArgumentError, "counts"):
        fit_null(sp.simulate(sp.uniform([*"abcd"]), rising(4), 50, seed=1), (0, 1))


# Level and power ------------------------------------------------------------------------------------------------

THREE = sp.product({"x": sp.fixed_size([*"abc"], 2), "y": sp.fixed_size([*"rst"], 2), "z": sp.warner(["n", "y"], 0.2)})
LAW = np.einsum("z,zx,zy->xyz", PI, [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], [[0.6, 0.3, 0.1], [0.25, 0.35, 0.4]])


def rejected(w, n, samples, seed):
    """How often the test rejects at 5 %."""
    source, hits = np.random.default_rng(seed), 0
    for _ in range(samples):
        counts = sp.simulate(THREE, w.ravel(), n, seed=source)
        hits += latent_test(counts, "x", "y", "z", replications=99, seed=source).pvalue <= 0.05
    return hits / samples


@pytest.mark.slow
def test_the_level_is_kept():
    assert abs(rejected(LAW, 800, 400, seed=11) - 0.05) < 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.slow
def test_a_clear_dependence_is_found():
    assert rejected(tied(LAW, 0.5), 800, 60, seed=12) > 0.8
