import hashlib
import itertools

import numpy as np
import pytest
from every_case import every_case
from refusals import refused
from scipy.linalg import hadamard

from subsetprivacy.errors import ArgumentError, InvalidDesignError, TooLargeError
from subsetprivacy.incidence.walsh import Walsh, choose_columns, transform


def sign(r, c):
    # Spelt out, so that the reference shares nothing with the code under test.
    return -1.0 if f"{r & c:b}".count("1") % 2 else 1.0


def dense(row, side, columns):
    return np.array([[(1 + (2 * s - 1) * sign(r, c)) / 2 for c in columns] for r, s in zip(row, side)])


# The transform -----------------------------------------------------------------------------------


@every_case("lead", [(), (3,), (2, 3), (0,)], ids=str)
@every_case("N", [1, 2, 8, 64, 128, 512, 1024])
def test_transform_multiplies_by_the_matrix(N, lead):
    v = np.random.default_rng(N).integers(-99, 99, (*lead, N))
    np.testing.assert_array_equal(transform(v), v @ hadamard(N))


def test_transform_of_a_transposed_array():
    v = np.random.default_rng(5).integers(-99, 99, (256, 3))
    np.testing.assert_array_equal(transform(v.T), v.T @ hadamard(256))


def test_transform_leaves_its_argument_alone():
    v = np.arange(8.0)
    transform(v)
    np.testing.assert_array_equal(v, np.arange(8.0))


@pytest.mark.parametrize("digits", [17, 20])
def test_large_transforms(digits):
    N = 1 << digits
    v = np.random.default_rng(1).integers(-99, 99, N)
    h = transform(v)
    np.testing.assert_array_equal(transform(h), N * v)
    for r in (1, 5, N // 2, N - 77_777):
        assert h[r] == np.where(np.bitwise_count(np.arange(N) & r) % 2, -v, v).sum()


@every_case(("v", "length"), [(np.ones(12), 12), (np.ones((4, 0)), 0), (1.0, 0)])
def test_other_lengths_are_refused(v, length):
    with pytest.raises(ArgumentError, match=f"`v` must have a power of two as its length; got {length}"):
        transform(v)


# The rows ----------------------------------------------------------------------------------------

# No order, no symmetry: rows with both sides and with one, the full set (0, 1) and the empty one (0, 0).
ROW = np.array([5, 0, 13, 5, 2, 15, 0, 9, 1, 12, 4])
SIDE = np.array([1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1])
COLUMNS = np.array([3, 14, 0, 9, 8, 7, 2, 12, 5])
MADE = {
    "nine of 16": (ROW, SIDE, COLUMNS, 16),
    "all of 8": (np.array([7, 1, 3, 3]), np.array([0, 1, 1, 0]), np.arange(8), 8),
    "in a plane of 64": (np.arange(64) % 16 + 3, np.arange(64) // 16 % 2, np.array([1, 2, 4, 7, 33, 34, 36]), 64),
    "one row": (np.array([6]), np.array([0]), COLUMNS, 16),
    "no row": (np.empty(0, np.int64), np.empty(0, np.int64), COLUMNS, 16),
}


@every_case("lead", [(), (3,), (2, 3), (1,), (0,)], ids=str)
@every_case("name", MADE)
def test_products_agree_with_the_matrix(name, lead):
    made, M = Walsh(*MADE[name]), dense(*MADE[name][:3]).reshape(-1, len(MADE[name][2]))
    rows, p = M.shape
    assert (made.rows, made.p) == (rows, p)
    rng = np.random.default_rng(2)
    w, r = rng.normal(size=(*lead, p)), rng.normal(size=(*lead, rows))
    np.testing.assert_allclose(made.inner(w), w @ M.T, atol=1e-13)
    np.testing.assert_allclose(made.spread(r), r @ M, atol=1e-13)
    np.testing.assert_allclose(made.gram(r), np.einsum("...a,ai,aj->...ij", r, M, M), atol=1e-13)
    best = np.where(M > 0, w[..., None, :], -np.inf).max(axis=-1, initial=-np.inf)
    np.testing.assert_array_equal(made.peak(w), best)


def test_the_empty_set_has_no_weight_and_the_full_one_all():
    w = np.random.default_rng(3).random((20, 1000))
    L = Walsh(np.array([0, 0]), np.array([0, 1]), np.arange(1000), 1024).inner(w)
    np.testing.assert_array_equal(L[:, 0], 0)  # exactly, whatever the order in which w is added up
    np.testing.assert_allclose(L[:, 1], w.sum(axis=1), rtol=1e-14)


def test_a_subset_that_is_listed_twice_counts_twice():
    twice = Walsh(np.array([5, 5, 5]), np.array([1, 0, 1]), COLUMNS, 16)
    once = Walsh(np.array([5, 5]), np.array([1, 0]), COLUMNS, 16)
    np.testing.assert_allclose(twice.spread(np.array([0.2, 0.5, 0.3])), once.spread(np.array([0.5, 0.5])))


@every_case("seed", range(8))
def test_best_guesses_with_ties_and_in_the_order_of_the_columns(seed):
    # Falling weights in the order of the columns: the first 2^k columns are a plane, where few categories help.
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.permutation(64)[: 20 + 5 * seed])
    code = rng.permutation(128)[:90]
    w = np.sort(rng.integers(0, 12, len(columns)) / 12)[::-1]
    M = dense(code >> 1, code & 1, columns.tolist())
    np.testing.assert_array_equal(
        Walsh(code >> 1, code & 1, columns, 64).peak(w), np.where(M > 0, w, -np.inf).max(axis=1)
    )


def test_few_categories_are_asked_for_the_best_guess():
    made = Walsh(np.arange(1, 4096), np.ones(4095, np.int64), np.arange(3000), 4096)
    asked = list(made._best_guesses(1 / np.arange(1.0, 3001)))
    assert asked == [0, *(1 << k for k in range(12))]  # an affine basis, and nothing else


def test_a_matrix_that_does_not_fit_is_refused():
    made = Walsh(np.array([1, 2]), np.array([1, 0]), np.arange(4097), 8192)
    with pytest.raises(TooLargeError):
        made.gram(np.ones(2))


# The choice of columns ---------------------------------------------------------------------------


def smallest_side(columns, size):
    """Count both sides of every question by a matrix."""
    yes = (hadamard(size)[1:][:, columns] == 1).sum(axis=1)
    return int(np.minimum(yes, len(columns) - yes).min())


def sizes_to_try(p):
    fewest = 1 << (p - 1).bit_length()
    return [fewest << k for k in range(4)]


@every_case("p", [*range(4, 24), *range(30, 36), 63, 64, 65, 100, 129, 200])
def test_every_answer_leaves_two_categories(p):
    for size in sizes_to_try(p):
        if p == 5 or size > 2 ** (p - 2 - p % 2):
            with pytest.raises(InvalidDesignError):
                choose_columns(p, size)
            continue
        columns = choose_columns(p, size)
        assert len(set(columns.tolist())) == p
        assert columns.tolist() == sorted(columns)
        assert columns[0] >= 0
        assert columns[-1] < size
        assert smallest_side(columns, size) >= 2


@pytest.mark.slow
def test_every_answer_leaves_two_categories_for_all_p_up_to_600():
    for p in range(6, 601):
        for size in sizes_to_try(p):
            if size <= 2 ** (p - 2 - p % 2):
                chosen = np.zeros(size)
                chosen[choose_columns(p, size)] = 1
                assert chosen.sum() == p
                assert np.abs(transform(chosen)[1:]).max() <= p - 4


@every_case("p", [9, 17, 33])
def test_the_first_columns_would_not_do(p):
    size = 1 << (p - 1).bit_length()
    assert smallest_side(np.arange(p), size) == 1
    assert smallest_side(choose_columns(p, size), size) > p / 4


def choice_exists(p, size):
    """Go through all choices; adding the same column to all swaps sides only, so column 0 may be one of them."""
    H = hadamard(size).astype(np.int8)[1:]
    others = itertools.combinations(range(1, size), p - 1)
    while block := list(itertools.islice(others, 20_000)):
        yes = np.zeros((size - 1, len(block)), np.int8)
        for column in np.array(block).T:
            yes += H[:, column] == 1
        yes += 1  # column 0 is always a yes
        if ((yes >= 2) & (yes <= p - 2)).all(axis=0).any():
            return True
    return False


@every_case(
    ("p", "size", "possible"),
    [
        *((4, 4, True), (4, 8, False), (4, 16, False)),
        *((5, 8, False), (5, 16, False), (5, 32, False)),
        *((6, 8, True), (6, 16, True), (6, 32, False)),
        *((7, 8, True), (7, 16, True), (8, 16, True), (8, 32, True)),
    ],
)
def test_an_exhaustive_search_agrees_on_what_is_possible(p, size, possible):
    assert choice_exists(p, size) is possible
    if possible:
        choose_columns(p, size)
    else:
        with pytest.raises(InvalidDesignError):
            choose_columns(p, size)


@every_case(("p", "size"), [(7, 32), (8, 128), (9, 128), (10, 512)])
def test_larger_matrices_are_impossible_too(p, size):
    # Columns on one side of some question fail; all others can be turned so that 0, 1, 2, 4, … are among them.
    m = size.bit_length() - 1
    basis = [0, *(1 << k for k in range(m))]
    rest = [c for c in range(size) if c not in basis]
    assert 0 <= p - len(basis) <= 1
    assert all(smallest_side([*basis, *more], size) < 2 for more in itertools.combinations(rest, p - len(basis)))
    with pytest.raises(InvalidDesignError, match=f"`size` must be at most {size // 2} for {p} categories.*got {size}"):
        choose_columns(p, size)


@every_case("p", [4, 8, 64, 1024])
def test_all_columns_split_in_halves(p):
    columns = choose_columns(p, p)
    np.testing.assert_array_equal(columns, np.arange(p))
    assert smallest_side(columns, p) == p // 2


@every_case(("p", "size", "least"), [(1000, 1024, 480), (1000, 2048, 440), (600, 1024, 270), (40, 64, 15)])
def test_sizes_are_nearly_even(p, size, least):
    assert smallest_side(choose_columns(p, size), size) >= least


@pytest.mark.parametrize(("p", "size"), [(100_000, 1 << 17), (1_000_000, 1 << 20)])
def test_a_million_categories(p, size):
    columns = choose_columns(p, size)
    assert len(np.unique(columns)) == p
    for r in np.random.default_rng(4).integers(1, size, 8):
        yes = p - int((np.bitwise_count(columns & r) & 1).sum())
        assert min(yes, p - yes) > 0.49 * p


# A stored design lists its columns, but whoever makes the same design again must get the same. Never change these.
PINNED = {
    (6, 8): "1564cd7d",
    (8, 64): "18798610",
    (9, 16): "7b7e4460",
    (9, 64): "68a1e33b",
    (33, 64): "672c80ad",
    (99, 512): "2155e966",  # the last of 64 tries
    (100, 128): "ad62659a",
    (1000, 8192): "87360e0d",
    (100000, 131072): "89ac1b9b",
}


@every_case(("p", "size"), PINNED)
def test_the_choice_stays_the_same_for_ever(p, size):
    words = choose_columns(p, size).astype("<i8").tobytes()
    assert hashlib.sha256(words).hexdigest()[:8] == PINNED[p, size]


def test_more_than_two_can_be_asked_for():
    assert smallest_side(choose_columns(20, 32, smallest=8), 32) == 8
    with refused(InvalidDesignError, "smallest"):
        choose_columns(20, 32, smallest=9)


@every_case(
    ("arguments", "error", "argument"),
    [
        ((3, 4), InvalidDesignError, None),
        ((5, 8), InvalidDesignError, None),
        ((9, 8), InvalidDesignError, "size"),
        ((9, 24), InvalidDesignError, "size"),
        ((9.5, 16), ArgumentError, "p"),
        ((9, 16.0), ArgumentError, "size"),
        ((9, 16, 1), ArgumentError, "smallest"),
    ],
)
def test_choices_that_cannot_be_made(arguments, error, argument):
    with refused(error, argument):
        choose_columns(*arguments)
