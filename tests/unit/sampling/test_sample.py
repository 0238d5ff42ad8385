"""How a sample was drawn: what is kept, what is refused, and covariances against sums written out."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.sampling.calibration import Calibration

RNG = np.random.default_rng(5)
# Strata of 2, 3 and 4 clusters, whose ids repeat; clusters of 1 to 5 people; weights that differ.
SIZES = {(0, 0): 3, (0, 1): 1, (1, 0): 2, (1, 1): 5, (1, 2): 2, (2, 0): 1, (2, 1): 4, (2, 2): 2, (2, 3): 3}
STRATA = np.array([h for (h, _), size in SIZES.items() for _ in range(size)])
CLUSTERS = np.array([c for (_, c), size in SIZES.items() for _ in range(size)])
N = len(STRATA)
WEIGHTS = RNG.uniform(0.5, 3, N)
SCORES = RNG.normal(size=(N, 2))


def written_out(weights, strata, clusters, scores, fraction=lambda h: 0.0):
    """Return the covariance of a stratified sample of clusters, drawn with replacement, one term after the other."""
    total = np.zeros((scores.shape[1],) * 2)
    for h in sorted(set(strata)):
        sums = []
        for c in sorted(set(clusters[strata == h])):
            rows = (strata == h) & (clusters == c)
            sums.append(sum(weights[i] * scores[i] for i in np.flatnonzero(rows)))
        mean = sum(sums) / len(sums)
        spread = sum(np.outer(one - mean, one - mean) for one in sums)
        total += (1 - fraction(h)) * len(sums) / (len(sums) - 1) * spread
    return total


def full():
    return sp.Sampling(WEIGHTS, strata=STRATA, clusters=CLUSTERS)


def test_covariance_is_the_sum_over_strata():
    wanted = written_out(WEIGHTS, STRATA, CLUSTERS, SCORES)
    np.testing.assert_allclose(full().covariance(SCORES), wanted, rtol=1e-12)


def test_ids_of_clusters_may_repeat_between_strata():
    distinct = sp.Sampling(WEIGHTS, strata=STRATA, clusters=[f"{h}-{c}" for h, c in zip(STRATA, CLUSTERS, strict=True)])
    assert full().units.number == len(SIZES) == distinct.units.number
    np.testing.assert_allclose(full().covariance(SCORES), distinct.covariance(SCORES), rtol=1e-12)


@pytest.mark.parametrize("given", ["shares", "numbers"])
def test_finite_populations(given):
    drawn = {0: 2, 1: 3, 2: 4}
    there = {0: 2, 1: 10, 2: 5}
    fpc = np.array([drawn[h] / there[h] if given == "shares" else there[h] for h in STRATA])
    sampling = sp.Sampling(WEIGHTS, strata=STRATA, clusters=CLUSTERS, fpc=fpc)
    wanted = written_out(WEIGHTS, STRATA, CLUSTERS, SCORES, lambda h: drawn[h] / there[h])
    np.testing.assert_allclose(sampling.covariance(SCORES), wanted, rtol=1e-12)


def test_weights_alone_are_a_sample_of_people():
    z = WEIGHTS[:, None] * SCORES
    wanted = N * np.cov(z.T)
    np.testing.assert_allclose(sp.Sampling(WEIGHTS).covariance(SCORES), wanted, rtol=1e-12)
    assert sp.Sampling(WEIGHTS).degrees_of_freedom == N - 1
    one = sp.Sampling(clusters=np.arange(N))  # everyone a cluster, weight 1
    np.testing.assert_allclose(one.covariance(SCORES), N * np.cov(SCORES.T), rtol=1e-12)


def test_order_of_rows_does_not_matter():
    order = RNG.permutation(N)
    moved = sp.Sampling(WEIGHTS[order], strata=STRATA[order], clusters=CLUSTERS[order])
    np.testing.assert_allclose(moved.covariance(SCORES[order]), full().covariance(SCORES), rtol=1e-12)


def test_rows_of_a_domain_are_kept():
    inside = (STRATA == 1) | (CLUSTERS == 0)
    within = full().within(inside)
    assert within.n == N
    assert within.degrees_of_freedom == full().degrees_of_freedom == len(SIZES) - 3
    wanted = written_out(WEIGHTS, STRATA, CLUSTERS, SCORES * inside[:, None])
    np.testing.assert_allclose(within.covariance(SCORES), wanted, rtol=1e-12)
    dropped = sp.Sampling(WEIGHTS[inside], clusters=CLUSTERS[inside] + 10 * STRATA[inside])
    assert abs(dropped.covariance(SCORES[inside])[0, 0] / wanted[0, 0] - 1) > 0.01  # which is why


def test_lonely_strata_are_refused_with_their_number():
    strata = np.where(STRATA == 2, 2 + CLUSTERS, STRATA)  # four strata of one cluster
    sampling = sp.Sampling(WEIGHTS, strata=strata, clusters=CLUSTERS)
    with pytest.raises(ArgumentError) as caught:
        sampling.covariance(SCORES)
    assert "lonely='center'" in str(caught.value)
    with pytest.raises(ArgumentError):
        sampling.with_replicates("jackknife")


def test_lonely_strata_can_be_compared_with_all_units():
    strata = np.where(STRATA == 0, CLUSTERS, STRATA + 5)  # two strata of one cluster, and two more
    sampling = sp.Sampling(WEIGHTS, strata=strata, clusters=CLUSTERS, lonely="center")
    totals = np.array([(WEIGHTS[:, None] * SCORES)[(h == STRATA) & (c == CLUSTERS)].sum(axis=0) for h, c in SIZES])
    apart = totals[:2] - totals.mean(axis=0)
    rest = STRATA > 0
    wanted = written_out(WEIGHTS[rest], STRATA[rest], CLUSTERS[rest], SCORES[rest]) + apart.T @ apart
    np.testing.assert_allclose(sampling.covariance(SCORES), wanted, rtol=1e-12)


def test_a_stratum_taken_with_certainty_is_not_lonely():
    fpc = np.where(STRATA == 0, 1, 20)
    strata = STRATA
    clusters = np.where(STRATA == 0, 0, CLUSTERS)
    sampling = sp.Sampling(WEIGHTS, strata=strata, clusters=clusters, fpc=fpc)
    rest = STRATA > 0
    wanted = written_out(WEIGHTS[rest], STRATA[rest], CLUSTERS[rest], SCORES[rest], lambda h: {1: 3 / 20, 2: 4 / 20}[h])
    np.testing.assert_allclose(sampling.covariance(SCORES), wanted, rtol=1e-12)


# Replicates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("strata", [None, STRATA])
def test_jackknife_equals_linearized_for_a_sum(strata):
    clusters = CLUSTERS + 10 * STRATA
    sampling = sp.Sampling(WEIGHTS, strata=strata, clusters=clusters)
    jack = sampling.with_replicates("jackknife")
    assert jack.method == "jackknife"
    np.testing.assert_allclose(jack.covariance(SCORES), sampling.covariance(SCORES), rtol=1e-10)
    assert jack.degrees_of_freedom == sampling.degrees_of_freedom


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_balanced_replicates_equal_linearized_for_a_sum(rho):
    strata = np.repeat(np.arange(5), 6)
    clusters = np.tile([0, 0, 0, 1, 1, 1], 5)
    weights, scores = RNG.uniform(1, 2, 30), RNG.normal(size=(30, 3))
    sampling = sp.Sampling(weights, strata=strata, clusters=clusters)
    brr = sampling.with_replicates("brr", rho=rho)
    assert brr.replicate_weights.shape == (8, 30)
    np.testing.assert_allclose(brr.covariance(scores), sampling.covariance(scores), rtol=1e-10)
    assert brr.degrees_of_freedom == 5
    np.testing.assert_allclose(brr.replicate_weights.mean(axis=0), weights, rtol=1e-12)


def test_bootstrap_agrees_with_linearized_up_to_its_number():
    # The variance of R normal replicates has a relative standard error of sqrt(2/R); five of them.
    count = 4000
    boot = full().with_replicates("bootstrap", count, seed=3)
    ratio = np.diag(boot.covariance(SCORES)) / np.diag(full().covariance(SCORES))
    np.testing.assert_allclose(ratio, 1, atol=5 * np.sqrt(2 / count))
    again = full().with_replicates("bootstrap", count, seed=3)
    np.testing.assert_array_equal(boot.replicate_weights, again.replicate_weights)
    assert boot.degrees_of_freedom == full().degrees_of_freedom


def test_bootstrap_with_finite_populations():
    fpc = np.array([2.5, 4, 8])[STRATA]
    sampling = sp.Sampling(WEIGHTS, strata=STRATA, clusters=CLUSTERS, fpc=fpc)
    count = 4000
    boot = sampling.with_replicates("bootstrap", count, seed=4)
    ratio = np.diag(boot.covariance(SCORES)) / np.diag(sampling.covariance(SCORES))
    np.testing.assert_allclose(ratio, 1, atol=5 * np.sqrt(2 / count))
    jack = sampling.with_replicates("jackknife")
    np.testing.assert_allclose(jack.covariance(SCORES), sampling.covariance(SCORES), rtol=1e-10)


def test_replicates_that_are_given():
    made = full().with_replicates("jackknife")
    weights = made.replicate_weights.T
    sizes = np.array([2, 3, 4])[[h for h, _ in SIZES]]
    options = {"replicate_method": "jackknife", "rscales": (sizes - 1) / sizes}
    given = sp.Sampling(WEIGHTS, replicates=weights, **options)
    np.testing.assert_allclose(given.covariance(SCORES), full().covariance(SCORES), rtol=1e-10)
    assert given.degrees_of_freedom == 6
    factors = sp.Sampling(WEIGHTS, replicates=weights / WEIGHTS[:, None], combined=False, **options)
    np.testing.assert_allclose(factors.covariance(SCORES), full().covariance(SCORES), rtol=1e-10)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_replicates_are_published_and_read_back(method):
    made = full().with_replicates(method, **({"count": 30, "seed": 1} if method == "bootstrap" else {}))
    again = sp.Sampling(
        made.weights,
        replicates=made.replicate_weights.T,
        replicate_method=method,
        scale=made.scale,
        rscales=made.rscales,
    )
    np.testing.assert_allclose(again.covariance(SCORES), made.covariance(SCORES), rtol=1e-12)


def test_the_center_of_replicates():
    replicates = RNG.uniform(0, 2, (N, 6))
    about = {
        center: sp.Sampling(WEIGHTS, replicates=replicates, replicate_method="bootstrap", center=center)
        for center in ("estimate", "mean")
    }
    sums = replicates.T @ SCORES
    np.testing.assert_allclose(about["mean"].covariance(SCORES), np.cov(sums.T, bias=True), rtol=1e-12)
    apart = sums - WEIGHTS @ SCORES
    np.testing.assert_allclose(about["estimate"].covariance(SCORES), apart.T @ apart / 6, rtol=1e-12)


def test_replicates_within_a_domain():
    inside = CLUSTERS > 0
    made = full().with_replicates("jackknife")
    given = sp.Sampling(WEIGHTS, replicates=made.replicate_weights.T, replicate_method="jackknife", scale=1)
    for sampling in (made, given):
        within = sampling.within(inside)
        np.testing.assert_allclose(within.covariance(SCORES), sampling.covariance(SCORES * inside[:, None]), rtol=1e-12)
        assert (within.replicate_weights[:, ~inside] == 0).all()


def test_design_effect_of_equal_weights_is_one():
    plain = sp.Sampling(np.full(N, 3.0))
    np.testing.assert_allclose(plain.simple_random(SCORES), plain.covariance(SCORES), rtol=1e-12)


# Columns --------------------------------------------------------------------------------------


TABLE = {"w": WEIGHTS, "region": [f"r{h}" for h in STRATA], "school": CLUSTERS}


@every_case("make", [dict, pd.DataFrame, pl.DataFrame, lambda t: pl.DataFrame(t).lazy(), pa.table])
def test_columns_of_any_table(make):
    named = sp.Sampling("w", strata="region", clusters="school")
    assert named.columns == ("w", "region", "school")
    resolved = named.of(make(TABLE))
    assert resolved.of(None) is resolved
    np.testing.assert_allclose(resolved.covariance(SCORES), full().covariance(SCORES), rtol=1e-12)


def test_columns_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    frame = pd.DataFrame(TABLE)  # noqa: F841 (named in the query)
    resolved = sp.Sampling("w", strata="region", clusters="school").of(duckdb.sql("select * from frame"))
    np.testing.assert_allclose(resolved.covariance(SCORES), full().covariance(SCORES), rtol=1e-12)


def test_columns_of_replicates():
    replicates = RNG.uniform(0, 2, (N, 3))
    table = pd.DataFrame({"w": WEIGHTS, **{f"rep{r}": column for r, column in enumerate(replicates.T)}})
    named = sp.Sampling("w", replicates=["rep0", "rep1", "rep2"], replicate_method="brr")
    np.testing.assert_array_equal(named.of(table).replicate_weights, replicates.T)
    assert repr(named) == "<Sampling: weights 'w', replicates, columns of a table>"


def test_names_must_be_resolved():
    named = sp.Sampling("w")
    with pytest.raises(ArgumentError):
        named.covariance(SCORES)
    with pytest.raises(ArgumentError):
        named.of(pd.DataFrame({"v": [1.0]}))
    with refused(ArgumentError, "table"):
        named.of([1, 2])


# Bad input ------------------------------------------------------------------------------------


@every_case(
    ("arguments", "error", "match"),
    [
        ({}, ArgumentError, "one of `weights`, `strata`, `clusters`, `fpc` and `replicates` must be given"),
        ({"weights": [1, -2]}, ArgumentError, "`weights`.*got 1 number.*first in row 1"),
        ({"weights": [1, np.nan]}, ArgumentError, "`weights`.*got 1 number.*first in row 1"),
        ({"weights": [0, 0]}, ArgumentError, "`weights` must not all be 0"),
        ({"weights": ["secret", 1]}, ArgumentError, "`weights` must be numbers"),
        ({"weights": [[1, 2]]}, MismatchError, "`weights` must be one number per person"),
        ({"weights": [1, 2], "strata": [1]}, MismatchError, r"`strata` must be one label per person; got shape \(1,\)"),
        ({"weights": [1, 2], "strata": ["secret", None]}, ArgumentError, "got 1 without one, first in row 1"),
        ({"weights": [1, 2], "clusters": [["secret"], 1]}, ArgumentError, "must contain labels; got list in row 0"),
        ({"weights": [1, 2], "clusters": 7}, ArgumentError, "`clusters` must be one label per person; got int"),
        ({"weights": [1, 2], "lonely": "drop"}, ArgumentError, "`lonely` must be one of error, center"),
        ({"weights": [1, 2], "replicates": [[1, 2]] * 2}, ArgumentError, "must be given together"),
        ({"weights": [1], "replicates": [[1, 2]], "replicate_method": "jk"}, ArgumentError, "must be one of bootstrap"),
        ({"weights": [1, 1], "replicates": [[1, 2]], "replicate_method": "brr"}, MismatchError, r"got shape \(1, 2\)"),
        (
            {"weights": [1], "replicates": [[1, -2]], "replicate_method": "brr"},
            ArgumentError,
            "`replicates`.*got 1 number.*first in row 0",
        ),
        (
            {"weights": [1], "replicates": [["secret", 2]], "replicate_method": "brr"},
            ArgumentError,
            "`replicates` must be numbers",
        ),
    ],
)
def test_bad_input(arguments, error, match):
    with pytest.raises(error, match=match) as caught:
        sp.Sampling(**arguments)
    assert "secret" not in str(caught.value)


def test_bad_corrections():
    with pytest.raises(ArgumentError, match="the same for all people of a stratum; got 1 that differ, first in row 1"):
        sp.Sampling([1, 1, 1], strata=[0, 0, 0], fpc=[5, 6, 5]).units  # noqa: B018
    with refused(ArgumentError, "fpc"):
        sp.Sampling([1, 1, 1], strata=[0, 0, 0], fpc=2).units  # noqa: B018
    with refused(ArgumentError, "fpc") as caught:
        sp.Sampling([1, 1], fpc=-1)
    assert "weight" not in str(caught.value)


def test_bad_scales():
    given = {"replicates": np.ones((3, 2)), "replicate_method": "jackknife"}
    for wrong, match in (
        ({"rscales": [1]}, "`rscales` must be 2 numbers"),
        ({"scale": -1}, "`scale` must be a positive number"),
        ({"rho": 0.5}, "`rho` must be at least 0 and below 1, and is given for 'brr' only"),
    ):
        with pytest.raises(ArgumentError, match=match):
            sp.Sampling([1, 1, 1], **given, **wrong).covariance(np.ones((3, 1)))


def test_bad_scores_and_replicates():
    with pytest.raises(MismatchError, match="`scores` must have one row per person"):
        full().covariance(SCORES[:3])
    with pytest.raises(MismatchError, match="one row per replicate; got no replicates"):
        full().replicated(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ArgumentError):
        full().with_replicates("brr")
    with refused(ArgumentError, "count"):
        full().with_replicates("jackknife", 10)
    with pytest.raises(MismatchError):
        full().within([1, 0])


# What it shows --------------------------------------------------------------------------------


def test_repr_has_no_ones_data():
    sampling = sp.Sampling([1.5, 731.25, 2, 2], strata=["secret", "secret", "hidden", "hidden"])
    assert repr(sampling) == "<Sampling: 4 people, weighted, 2 strata, 2 degrees of freedom>"
    made = full().with_replicates("jackknife")
    assert repr(made) == (
        f"<Sampling: {N} people, weighted, 3 strata, 9 clusters, 9 jackknife replicates, 6 degrees of freedom>"
    )


def test_arrays_are_copies_that_cannot_be_written():
    weights = WEIGHTS.copy()
    sampling = sp.Sampling(weights, strata=STRATA)
    weights[0] = 99
    assert sampling.weights[0] == WEIGHTS[0]
    with pytest.raises(ValueError, match="read-only"):
        sampling.weights[0] = 1


def test_can_be_pickled():
    for sampling in (full(), full().with_replicates("jackknife"), sp.Sampling("w")):
        again = pickle.loads(pickle.dumps(sampling))
        assert repr(again) == repr(sampling)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(full())).covariance(SCORES), full().covariance(SCORES))


def test_kish():
    assert full().kish == pytest.approx(WEIGHTS.sum() ** 2 / (WEIGHTS**2).sum())
    assert full().kish < N


@every_case("kind", ["linearized", "jackknife", "given", "center", "calibrated", "people"])
@every_case("part", [False, True])
def test_sums_of_groups_are_those_of_indicators(kind, part):
    group = RNG.integers(-1, 4, N)
    sampling = full()
    if kind == "jackknife":
        sampling = sampling.with_replicates("jackknife")
    elif kind == "given":
        replicates = RNG.uniform(0, 2, (N, 6))
        sampling = sp.Sampling(WEIGHTS, replicates=replicates, replicate_method="bootstrap")
    elif kind == "center":
        strata = np.where(STRATA == 0, CLUSTERS, STRATA + 5)
        sampling = sp.Sampling(WEIGHTS, strata=strata, clusters=CLUSTERS, lonely="center")
    elif kind == "calibrated":
        columns = np.column_stack([np.ones(N), RNG.normal(size=N)])
        sampling = sampling.calibrated(WEIGHTS, None, Calibration(columns, WEIGHTS))
    elif kind == "people":
        sampling = sp.Sampling(WEIGHTS, strata=STRATA)
    sampling = sampling.within(CLUSTERS < 2) if part else sampling
    wanted = sampling.covariance((group[:, None] == np.arange(4)).astype(float))
    np.testing.assert_allclose(sampling.covariance_of_groups(group, 4), wanted, rtol=1e-9, atol=1e-12)


def test_residuals_are_those_of_least_squares():
    columns = np.column_stack([np.ones(N), RNG.normal(size=N), np.ones(N)])  # one twice
    calibration = Calibration(columns, WEIGHTS)
    slopes = np.linalg.lstsq(columns * np.sqrt(WEIGHTS)[:, None], SCORES * np.sqrt(WEIGHTS)[:, None])[0]
    np.testing.assert_allclose(calibration.residuals(SCORES), SCORES - columns @ slopes, atol=1e-10)


def test_a_part_keeps_the_degrees_of_freedom_of_all_replicates():
    rng = np.random.default_rng(5)
    weights = rng.uniform(1, 3, 60)
    factors = rng.multinomial(60, np.full(60, 1 / 60), 20).T.astype(float)
    part = np.arange(60) < 5
    parts = [
        sp.Sampling(weights, replicates=given, replicate_method="bootstrap", combined=combined).within(part)
        for given, combined in ((factors * weights[:, None], True), (factors, False))
    ]
    assert parts[0].degrees_of_freedom == parts[1].degrees_of_freedom == 19
