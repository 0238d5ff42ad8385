import numpy as np
import pytest
from attrs.exceptions import FrozenInstanceError
from every_case import every_case
from lopsided import ABCD, ABCDE, ASKED, GIVEN, GIVEN3, UNKNOWN
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.data import as_counts, count_codes
from subsetprivacy.errors import ArgumentError, CodeError, MismatchError, NoDataError

UNIFORM = sp.uniform(ABCD)
BLOCKS = sp.conditional(ABCD, {("a", "b"): 1.0, ("c", "d"): 1.0})


# One subset per person --------------------------------------------------------------------------


@every_case(
    ("codes", "told"),
    [
        ([3.0, 5.0], "got dtype float64. Hint: a column with gaps"),
        ([3.0, np.nan], "got dtype float64"),
        (["3"], "must be integers"),
        ([[3, 5]], "one-dimensional"),
        ([3, 5, 0, 0], r"got 2 codes .*first in row 2 \(0, the empty set\)"),
        ([3, -5], r"got 1 code .*first in row 1 \(outside the categories\)"),
        ([3, 16], r"got 1 code .*first in row 1 \(outside the categories\)"),
        ([2**40, 3], r"got 1 code .*first in row 0 \(outside the categories\)"),
        (np.array([3, 2**63 + 3], np.uint64), "got 1 code .*first in row 1"),
        ([3, 7, 1, 5], "the uniform design.*got 2 codes .*first in row 1. Hint: is this the"),
    ],
)
def test_codes_that_the_design_cannot_produce_are_refused(codes, told):
    with pytest.raises(CodeError, match=told):
        sp.SubsetData(codes, UNIFORM)


@pytest.mark.parametrize("make", [lambda d: sp.SubsetData([3], d), lambda d: sp.SubsetCounts([3], [1], d)])
def test_the_design_must_be_one(make):
    with refused(ArgumentError, "design"):
        make(ABCD)


def test_rows_keep_their_order():
    data = sp.SubsetData([12, 3, 15, 3], UNIFORM)
    assert len(data) == 4
    assert data.labels() == [("c", "d"), ("a", "b"), ABCD, ("a", "b")]
    assert data.categories == UNIFORM.categories
    assert data.subset_shares() == {"a|b": 0.5, "c|d": 0.25, "a|b|c|d": 0.25}


def test_data_share_nothing_with_the_caller():
    mine = np.array([3, 5, 12])
    data = sp.SubsetData(mine, UNIFORM)
    mine[:] = 0
    assert data.codes.tolist() == [3, 5, 12]
    assert mine.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0] = 5
    with pytest.raises(FrozenInstanceError):  # its text depends on the version of attrs
        data.codes = mine


def test_codes_of_any_integer_type_become_int64():
    for dtype in (np.uint8, np.int16, np.uint64):
        assert sp.SubsetData(np.array([3, 12], dtype), UNIFORM).codes.dtype == np.int64


def test_no_people():
    data = sp.SubsetData([], UNIFORM)
    assert data.labels() == []
    assert data.subset_shares() == {}
    assert data.counts().n == 0


def test_looks_never_list_people():
    # What is printed reaches notebooks and logs.
    design = "<uniform design on 4 categories: 'a', 'b', 'c', 'd'>"
    data = sp.SubsetData([3, 5, 12] * 50, UNIFORM)
    assert repr(data) == str(data) == f"<SubsetData: 150 people, {design}>"
    counts = sp.SubsetCounts([3, 5, 15], [60, 40, 7], UNIFORM)
    assert repr(counts) == str(counts) == f"<SubsetCounts: n = 100, 2 distinct subsets, 7 missing, {design}>"
    batch = sp.CountsBatch([3, 5], [[1, 2], [3, 4]], UNIFORM)
    assert repr(batch) == str(batch) == f"<CountsBatch: 2 samples, 2 subsets, {design}>"


def test_as_counts():
    data = sp.SubsetData([3, 3, 5], UNIFORM)
    counts = data.counts()
    assert as_counts(counts) is counts
    assert as_counts(data).counts.tolist() == [2, 1]
    with refused(ArgumentError, "data"):
        as_counts({3: 5})
    with refused(ArgumentError, "data"):
        as_counts([3, 5])


# Counts -----------------------------------------------------------------------------------------


@every_case(
    ("codes", "counts", "error", "argument"),
    [
        ([3, 5, 3], [1, 2, 3], CodeError, "codes"),
        ([3, 0], [1, 2], CodeError, "codes"),
        ([3, 7], [1, 2], CodeError, "codes"),
        ([3, 2**40], [1, 2], CodeError, "codes"),
        ([3.0, 5.0], [1, 2], CodeError, "codes"),
        ([3, 5], [1], MismatchError, "counts"),
        ([3, 5], [1, 2, 3], MismatchError, "counts"),
        ([3, 5], [[1, 2]], MismatchError, "counts"),
        ([3, 5], 4, MismatchError, "counts"),
        ([3, 5], [1, -2], CodeError, "counts"),
        ([3, 5], [1, np.nan], CodeError, "counts"),
        ([3, 5], [1, np.inf], CodeError, "counts"),
        ([3, 5], [1, 2.5], CodeError, "counts"),
        ([3, 5], [1, 1e300], CodeError, "counts"),
        ([3, 5], ["1", "2"], CodeError, "counts"),
        ([3, 5], [True, False], CodeError, "counts"),
        ([3, 5], [1j, 2], CodeError, "counts"),
        ([3, 5], None, CodeError, "counts"),
        ([3, 5], [[1], [1, 2]], CodeError, "counts"),
    ],
)
def test_counts_are_checked(codes, counts, error, argument):
    with refused(error, argument):
        sp.SubsetCounts(codes, counts, UNIFORM)


@every_case(
    ("squares", "error", "argument"),
    [
        ([1.0], MismatchError, "squares"),
        ([1.0, -1.0], CodeError, "squares"),
        (["x", "y"], CodeError, "squares"),
    ],
)
def test_squares_are_checked(squares, error, argument):
    with refused(error, argument):
        sp.SubsetCounts([3, 5], [1.5, 2.5], UNIFORM, squares)


def test_counts_are_sorted_with_their_codes():
    counts = sp.SubsetCounts([15, 12, 3], [7, 40, 60], UNIFORM)
    assert counts.codes.tolist() == [3, 12, 15]
    assert counts.counts.tolist() == [60, 40, 7]
    weighted = sp.SubsetCounts([12, 3], [4.5, 6.0], UNIFORM, [9.0, 12.0])
    assert weighted.counts.tolist() == [6, 4.5]
    assert weighted.squares.tolist() == [12, 9]


def test_counts_share_nothing_with_the_caller():
    codes, amounts, squares = np.array([3, 5]), np.array([1.5, 2.5]), np.array([3.0, 4.0])
    counts = sp.SubsetCounts(codes, amounts, UNIFORM, squares)
    for array in (codes, amounts, squares):
        array[:] = 0
    assert (counts.codes.tolist(), counts.counts.tolist(), counts.squares.tolist()) == ([3, 5], [1.5, 2.5], [3, 4])


def everything_made():
    u = sp.SubsetCounts([3, 5], [1, 2], UNIFORM)
    batch = sp.simulate_many(UNIFORM, [0.1, 0.2, 0.3, 0.4], 50, 3, seed=1)
    return {
        "given": u,
        "counted": sp.SubsetData([3, 3, 5], UNIFORM).counts(),
        "weighted": sp.count([3, 5], design=UNIFORM, weights=[1.5, 2], weights_kind="sampling"),
        "added": u + sp.SubsetCounts([3], [1], ASKED),
        "simulated": sp.simulate(UNIFORM, [0.1, 0.2, 0.3, 0.4], 50, seed=1),
        "batch": batch,
        "of a batch": batch[1],
        "large": sp.count([3, 3], design=sp.uniform(range(30))),
    }


@every_case("how", everything_made())
def test_arrays_are_locked_however_counts_were_made(how):
    made = everything_made()[how]
    for array in (made.codes, made.counts, getattr(made, "squares", None)):
        if array is not None:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_the_full_set_is_kept_apart():
    counts = sp.SubsetCounts([3, 12, 15], [60, 40, 7], UNIFORM)
    assert counts.n == 100
    assert counts.n_missing == 7
    assert counts.total == 100
    assert counts.informative.tolist() == [0, 1]
    assert counts.observed_codes.tolist() == [3, 12]
    assert counts.n_a.tolist() == [60, 40]
    assert counts.shares.tolist() == [0.6, 0.4]
    assert counts.incidence.inner(np.array([0.1, 0.2, 0.3, 0.4])).tolist() == pytest.approx([0.3, 0.7])
    assert counts.subset_shares() == pytest.approx({"a|b": 60 / 107, "c|d": 40 / 107, "a|b|c|d": 7 / 107})


def test_codes_that_nobody_reported_are_not_observed():
    counts = sp.SubsetCounts([3, 5, 12, 15], [60, 0, 40, 0], UNIFORM)
    assert counts.observed_codes.tolist() == [3, 12]
    assert counts.n_missing == 0
    assert counts.subset_shares().keys() == {"a|b", "c|d"}


def test_numbers_of_people_are_whole():
    counts = sp.SubsetCounts([3, 15], [60.0, 7.0], UNIFORM)
    assert counts.counts.dtype == np.int64
    assert type(counts.n) is int
    assert type(counts.n_missing) is int


def test_kish_counts_the_effective_number():
    counts = sp.SubsetCounts([3, 12, 15], [30.0, 10.0, 5.0], UNIFORM, [300.0, 20.0, 25.0])
    assert counts.total == 40
    assert counts.n == 40**2 / 320
    assert counts.n_missing == 5
    assert "weighted" in repr(counts)
    assert sp.SubsetCounts([15], [5.0], UNIFORM, [25.0]).n == 0


def test_require_data():
    counts = sp.SubsetCounts([3], [1], UNIFORM)
    assert counts.require_data() is counts
    with pytest.raises(NoDataError):
        sp.SubsetCounts([], [], UNIFORM).require_data()
    with pytest.raises(NoDataError):
        sp.SubsetCounts([15, 3], [7, 0], UNIFORM).require_data()


def test_what_a_sample_cannot_see():
    few = sp.SubsetCounts([3, 12], [5, 5], UNIFORM)
    assert not few.is_unique
    assert sorted(few.null_direction().items()) in ([("a", -1), ("b", 1)], [("a", 1), ("b", -1)])
    enough = sp.SubsetCounts([3, 5, 9, 15], [5, 5, 5, 0], UNIFORM)
    assert enough.is_unique
    assert enough.null_direction() is None


def test_different_subsets_never_share_an_entry_of_the_shares():
    counts = sp.SubsetCounts([5, 6], [1, 3], sp.uniform([1, "1", 2, 3]))
    assert counts.subset_shares() == {"1|2": 0.25, "'1'|2": 0.75}


# Adding -----------------------------------------------------------------------------------------


def test_waves_under_one_design_add_up():
    total = sp.SubsetCounts([3, 12, 15], [60, 40, 1], UNIFORM) + sp.SubsetCounts([5, 3, 15], [30, 10, 2], UNIFORM)
    assert total.codes.tolist() == [3, 5, 12, 15]
    assert total.counts.tolist() == [70, 30, 40, 3]
    assert total.n == 140
    assert total.n_missing == 3
    assert total.design is UNIFORM


def test_small_integers_do_not_overflow():
    half = sp.SubsetCounts([3], np.array([200], np.uint8), UNIFORM)
    assert (half + half).counts.tolist() == [400]
    assert half.counts.dtype == np.int64


def test_sum_of_waves():
    waves = [sp.SubsetCounts([3], [n], UNIFORM) for n in (1, 2, 3)]
    assert sum(waves).counts.tolist() == [6]
    assert sum(waves[:1]) is waves[0]


def test_waves_under_different_designs_make_a_mixture():
    total = sp.SubsetCounts([3, 12], [60, 40], ASKED) + sp.SubsetCounts([12, 7], [250, 50], GIVEN)
    assert dict(zip(total.design.components, total.design.shares)) == {ASKED: 0.25, GIVEN: 0.75}
    assert total.codes.tolist() == [3, 7, 12]
    assert total.counts.tolist() == [60, 50, 290]
    more = total + sp.SubsetCounts([3], [400], ASKED)
    shares = dict(zip(more.design.components, more.design.shares))
    assert shares == pytest.approx({ASKED: 500 / 800, GIVEN: 300 / 800})


def test_missing_people_do_not_move_the_shares():
    # Nobody knows under which design a missing answer says what.
    total = sp.SubsetCounts([3, 15], [50, 900], ASKED) + sp.SubsetCounts([3], [50], UNIFORM)
    assert total.design.shares == (0.5, 0.5)


def test_shares_count_those_who_drew_the_full_set():
    # GIVEN3 draws the full set for 40 % of the people: 60 others stand for 100 who were asked.
    pairs = sp.conditional(["x", "y", "z"], {3: 0.5, 5: 0.5, 6: 0.5})
    total = sp.SubsetCounts([3, 7], [60, 40], GIVEN3) + sp.SubsetCounts([3], [100], pairs)
    assert total.design.shares == pytest.approx((0.5, 0.5))
    # So the expected share of each subset among those who said something is right.
    codes, L = np.array([3, 5, 6]), np.array([0.5, 0.7, 0.8])  # of w = (.2, .3, .5)
    one, two, mixed = (design.mu(codes) * L for design in (GIVEN3, pairs, total.design))
    pooled = 60 * one / one.sum() + 100 * two / two.sum()
    np.testing.assert_allclose(mixed / mixed.sum(), pooled / pooled.sum(), atol=1e-15)


def test_a_wave_without_answers_lends_no_identifiability():
    total = sp.SubsetCounts([], [], UNIFORM) + sp.SubsetCounts([3, 12], [5, 5], BLOCKS)
    assert total.design == BLOCKS
    assert not total.design.is_identifiable


def test_with_an_unknown_wave_the_whole_is_unknown():
    total = sp.SubsetCounts([1, 3], [5, 5], UNKNOWN) + sp.SubsetCounts([3, 12], [5, 5], UNIFORM)
    assert total.design == UNKNOWN
    assert total.counts.tolist() == [5, 10, 5]


def test_weighted_waves_add_their_squares():
    one = sp.SubsetCounts([3], [1.5], UNIFORM, [2.25])
    two = sp.SubsetCounts([3, 5], [0.5, 2.0], UNIFORM, [0.25, 4.0])
    assert (one + two).counts.tolist() == [2, 2]
    assert (one + two).squares.tolist() == [2.5, 4]


def test_what_cannot_be_added():
    one = sp.SubsetCounts([3], [1], UNIFORM)
    for labels in (ABCDE, ("b", "a", "c", "d")):
        with pytest.raises(MismatchError):
            one + sp.SubsetCounts([3], [1], sp.uniform(labels))
    with pytest.raises(MismatchError, match=r"weighted and unweighted counts cannot be added. Hint: count all rows"):
        one + sp.SubsetCounts([3], [1.5], UNIFORM, [2.25])
    with pytest.raises(TypeError, match="unsupported operand"):
        one + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + one


# Counting codes ---------------------------------------------------------------------------------


@every_case("weights", [None, "frequency", "sampling"])
def test_counting_by_cells_and_by_sorting_agree(weights, monkeypatch):
    rng = np.random.default_rng(1)
    design = sp.uniform(range(12))
    codes = sp.privatize(rng.integers(12, size=20_000), design, seed=1).codes
    amounts = None if weights is None else rng.integers(0, 4, 20_000) / (1 if weights == "frequency" else 2)
    by_cells = count_codes(codes, design, amounts, frequency=weights != "sampling")
    monkeypatch.setattr("subsetprivacy.data.tally.MAX_DENSE_BITS", 4)
    by_sorting = count_codes(codes, design, amounts, frequency=weights != "sampling")
    assert by_cells.codes.tolist() == by_sorting.codes.tolist()
    assert by_cells.counts.tolist() == by_sorting.counts.tolist()
    assert by_cells.counts.dtype == by_sorting.counts.dtype
    if weights == "sampling":
        assert by_cells.squares.tolist() == by_sorting.squares.tolist()
    reference = np.zeros(1 << 12)
    np.add.at(reference, codes, 1 if amounts is None else amounts)
    assert by_cells.counts.tolist() == reference[reference > 0].tolist()


def test_few_codes_of_many_categories():
    full = (1 << 48) - 1
    counts = count_codes(np.array([full, 3, full - 3, 3]), sp.uniform(range(48)))
    assert counts.codes.tolist() == [3, full - 3, full]
    assert counts.counts.tolist() == [2, 1, 1]
    assert counts.n_missing == 1


@every_case("p", [4, 30])
@every_case("weights", [None, np.ones(4), np.array([1.0, 1.0, 1.0, 0.0])], ids=["plain", "ones", "zero"])
@every_case("bad", [0, -3, 1, 2**40, 2**33])
def test_errors_name_the_row_on_every_path(p, weights, bad):
    # A huge code must neither fill the memory nor pass because its weight is zero.
    codes = np.array([3, 5, 3, bad])
    with pytest.raises(CodeError, match=r"got 1 code that (does not|is not), first in row 3"):
        count_codes(codes, sp.uniform(range(p)), weights)


def test_many_people_are_counted_block_by_block(monkeypatch):
    monkeypatch.setattr("subsetprivacy.data.tally._COUNT_BLOCK", 64)
    codes = np.array([3, 5, 12] * 100)
    assert count_codes(codes, UNIFORM).counts.tolist() == [100, 100, 100]
    with pytest.raises(CodeError, match="got 1 code that does not, first in row 300"):
        count_codes(np.append(codes, 99), UNIFORM)


# Batches ----------------------------------------------------------------------------------------


def test_a_batch_is_a_row_of_counts_per_sample():
    batch = sp.CountsBatch([12, 3, 15], [[4, 6, 1], [0, 5, 0]], UNIFORM)
    assert len(batch) == 2
    assert batch.codes.tolist() == [3, 12, 15]
    assert batch[0].counts.tolist() == [6, 4, 1]
    assert [(sample.n, sample.n_missing) for sample in batch] == [(10, 1), (5, 0)]
    assert batch[1].observed_codes.tolist() == [3]


@every_case(
    ("codes", "counts", "error", "argument"),
    [
        ([3, 3], [[1, 2]], CodeError, "codes"),
        ([3, 7], [[1, 2]], CodeError, "codes"),
        ([3, 5], [1, 2], MismatchError, "counts"),
        ([3, 5], [[1, 2, 3]], MismatchError, "counts"),
        ([3, 5], 7, MismatchError, "counts"),
        ([3, 5], [[1, -2]], CodeError, "counts"),
        ([3, 5], [[1, 2.5]], CodeError, "counts"),
    ],
)
def test_batches_are_checked(codes, counts, error, argument):
    with refused(error, argument):
        sp.CountsBatch(codes, counts, UNIFORM)


def test_a_slice_of_a_batch_is_a_batch():
    batch = sp.simulate_many(UNIFORM, [0.1, 0.2, 0.3, 0.4], 50, 5, seed=1)
    part = batch[1:3]
    assert len(part) == 2
    assert part[0].counts.tolist() == batch[1].counts.tolist()
    with pytest.raises(TypeError, match="integer"):
        batch["first"]
