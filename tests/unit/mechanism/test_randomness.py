import numpy as np
import pytest
from sources import Grid

from subsetprivacy.errors import ArgumentError
from subsetprivacy.mechanism.randomness import SecureSource, SeededSource, numpy_generator, random_source


@pytest.mark.parametrize("width", [8, 16, 32, 64])
@pytest.mark.parametrize("source", [SecureSource(), SeededSource(np.random.default_rng(1))], ids=["secure", "seeded"])
def test_words_use_every_bit_evenly(source, width):
    words = source.bits(4096, width)
    assert words.shape == (4096,)
    assert words.dtype.itemsize * 8 == width
    assert words.dtype.kind == "u"
    shares = ((words[:, None] >> np.arange(width, dtype=words.dtype)) & words.dtype.type(1)).mean(axis=0)
    assert np.abs(shares - 0.5).max() < 8 * 0.5 / 64  # eight standard errors: the secure source has no seed
    assert source.bits(0, width).shape == (0,)


def test_the_default_is_the_operating_systems(monkeypatch):
    asked = []
    monkeypatch.setattr("os.urandom", lambda n: asked.append(n) or b"\x01" * n)
    assert random_source().bits(3, 16).tolist() == [257] * 3
    assert asked == [6]


def test_seeds_and_generators():
    expected = random_source(seed=7).bits(5, 32).tolist()
    assert random_source(seed=7).bits(5, 32).tolist() == expected
    assert random_source(rng=np.random.default_rng(7)).bits(5, 32).tolist() != expected  # a stream of its own
    assert random_source(seed=8).bits(5, 32).tolist() != expected
    assert random_source(seed=0).bits(5, 32).tolist() != random_source().bits(5, 32).tolist()  # 0 is a seed


def test_a_seed_means_the_same_on_every_machine():
    # Little-endian words of PCG64's bytes: published examples stay as they are.
    assert random_source(seed=7).bits(2, 32).tolist() == [1468171006, 3881102525]
    stream = np.random.default_rng(7).bytes(8)
    words = random_source(rng=np.random.default_rng(7)).bits(2, 32).tolist()
    assert words == [int.from_bytes(stream[k : k + 4], "little") for k in (0, 4)]


def test_any_source_of_bits_is_taken_as_it_is():
    grid = Grid()
    assert random_source(rng=grid) is grid


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": 1, "rng": np.random.default_rng(1)}, "only one of `seed` and `rng` must be given; got both"),
        ({"rng": 5}, "`rng` must be a numpy.random.Generator; got int. Hint: try seed=1"),
        ({"rng": np.random.RandomState(1)}, "`rng` must be a numpy.random.Generator; got RandomState"),
        ({"seed": -1}, "`seed` must be a whole number of at least 0; got -1"),
        ({"seed": "abc"}, "`seed` must be a whole number of at least 0; got str"),
        ({"seed": 1.5}, "`seed` must be a whole number of at least 0; got float"),
    ],
)
def test_what_is_no_source_is_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        random_source(**arguments)


def test_numpy_generators_pass_through():
    generator = np.random.default_rng(1)
    assert numpy_generator(generator) is generator
    assert numpy_generator(3).random() == np.random.default_rng(3).random()
    assert numpy_generator().random() != numpy_generator().random()
