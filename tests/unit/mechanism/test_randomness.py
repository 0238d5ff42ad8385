import os
import ssl
import subprocess
import sys

import numpy as np
import pytest
from every_case import every_case
from refusals import refused
from sources import Grid

from subsetprivacy._seeds import numpy_generator, seed_number
from subsetprivacy.errors import ArgumentError
from subsetprivacy.mechanism import randomness
from subsetprivacy.mechanism.randomness import SecureSource, SeededSource, random_source


@every_case("width", [8, 16, 32, 64])
@every_case("source", [SecureSource(), SeededSource(np.random.default_rng(1))], ids=["secure", "seeded"])
def test_words_use_every_bit_evenly(source, width):
    words = source.bits(4096, width)
    assert words.shape == (4096,)
    assert words.dtype.itemsize * 8 == width
    assert words.dtype.kind == "u"
    shares = ((words[:, None] >> np.arange(width, dtype=words.dtype)) & words.dtype.type(1)).mean(axis=0)
    assert np.abs(shares - 0.5).max() < 8 * 0.5 / 64  # eight standard errors: the secure source has no seed
    assert source.bits(0, width).shape == (0,)


@pytest.fixture
def fresh_choice():
    """Let the source choose its generator anew, before and after."""
    randomness._openssl_bytes.cache_clear()
    yield
    randomness._openssl_bytes.cache_clear()


def spy(asked, byte):
    return lambda n: asked.append(n) or bytes([byte]) * n


def test_few_bits_are_the_operating_systems(monkeypatch, fresh_choice):
    asked = []
    monkeypatch.setattr("os.urandom", spy(asked, 1))
    monkeypatch.setattr("ssl.RAND_bytes", lambda n: pytest.fail("OpenSSL was asked"))
    assert random_source().bits(3, 16).tolist() == [257] * 3
    assert asked == [6]


def test_many_bits_are_openssls_with_fresh_ones_stirred_in_each_time(monkeypatch, fresh_choice):
    system, stirred, asked = [], [], []
    monkeypatch.setattr("os.urandom", lambda n: system.append(n) or bytes([len(system)]) * n)
    monkeypatch.setattr("ssl.RAND_add", lambda octets, entropy: stirred.append((octets, entropy)))
    monkeypatch.setattr("ssl.RAND_bytes", spy(asked, 2))
    for _ in range(2):
        assert set(random_source().bits(4096, 8).tolist()) == {2}
    assert asked == [4096] * 2
    assert stirred == [(b"\x01" * 32, 32.0), (b"\x02" * 32, 32.0)]


def test_without_openssl_the_operating_system_is_asked(monkeypatch, fresh_choice):
    asked = []
    monkeypatch.setitem(sys.modules, "ssl", None)  # as in a Python that was built without it
    monkeypatch.setattr("os.urandom", spy(asked, 2))
    assert set(random_source().bits(8192, 8).tolist()) == {2}
    assert set(random_source().bits(1024, 64).tolist()) == {0x0202020202020202}
    assert asked == [8192, 8192]


def test_a_generator_that_fails_is_not_replaced(monkeypatch, fresh_choice):
    def unseeded(n):
        raise ssl.SSLError("not seeded")

    monkeypatch.setattr("ssl.RAND_bytes", unseeded)
    with pytest.raises(ssl.SSLError, match="not seeded"):
        random_source().bits(4096, 8)


def test_more_bytes_than_one_call_gives_are_put_together(monkeypatch):
    calls = iter([b"\x01\x02\x03", b"\x04\x05\x06", b"\x07\x08"])
    asked = []
    monkeypatch.setattr(randomness, "_secure_bytes", lambda n: asked.append(n) or next(calls))
    monkeypatch.setattr(randomness, "_MOST_BYTES", 3)
    assert SecureSource().bits(4, 16).astype("<u2").tobytes() == bytes(range(1, 9))
    assert asked == [3, 3, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes_that_were_forked_draw_different_bits():
    SecureSource().bits(4096, 8)  # the generator is seeded before the fork: both processes start from its state
    drawn = [_bits_of_a_child() for _ in range(2)]
    assert len({*drawn, SecureSource().bits(4096, 8).tobytes()}) == 3


def _bits_of_a_child():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, SecureSource().bits(4096, 8).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        result = pipe.read()
    assert len(result) == 4096
    return result


def test_importing_the_package_does_not_load_openssl():
    code = "import subsetprivacy, subsetprivacy.mechanism.randomness, sys; print('ssl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_seeds_and_generators():
    expected = random_source(seed=7).bits(5, 32).tolist()
    assert random_source(seed=7).bits(5, 32).tolist() == expected
    assert random_source(seed=np.random.default_rng(7)).bits(5, 32).tolist() != expected  # a stream of its own
    assert random_source(seed=8).bits(5, 32).tolist() != expected
    assert random_source(seed=0).bits(5, 32).tolist() != random_source().bits(5, 32).tolist()  # 0 is a seed


def test_a_seed_means_the_same_on_every_machine():
    # Little-endian words of PCG64's bytes: published examples stay as they are.
    assert random_source(seed=7).bits(2, 32).tolist() == [1468171006, 3881102525]
    stream = np.random.default_rng(7).bytes(8)
    words = random_source(seed=np.random.default_rng(7)).bits(2, 32).tolist()
    assert words == [int.from_bytes(stream[k : k + 4], "little") for k in (0, 4)]


def test_any_source_of_bits_is_taken_as_it_is():
    grid = Grid()
    assert random_source(seed=grid) is grid


def test_a_source_that_knows_of_no_rows_is_shared_by_all():
    class Ones:
        def bits(self, n, width):
            return np.ones(n, f"u{width // 8}")

    source = random_source(seed=Ones())
    assert source.among(np.array([3, 5])).among(slice(0, 1)).bits(1, 8).tolist() == [1]


def test_sources_without_rows_of_their_own_are_their_own_parts():
    for source in (SecureSource(), SeededSource(np.random.default_rng(1))):
        assert source.among(np.array([3, 5])) is source
        assert source.among(slice(2, 4)) is source


@every_case("seed", [np.random.RandomState(1), -1, "abc", 1.5, True, [1, 2]], ids=repr)
@every_case("reader", [random_source, numpy_generator, seed_number])
def test_what_is_no_seed_is_refused_by_draws_and_simulations_alike(seed, reader):
    with refused(ArgumentError, "seed"):
        reader(seed)


def test_a_seed_sequence_starts_a_stream_that_its_children_do_not_share():
    sequence = np.random.SeedSequence(7)
    first = random_source(sequence).bits(5, 32).tolist()
    assert first == random_source(7).bits(5, 32).tolist()  # a number is the sequence of that number
    assert first == random_source(sequence).bits(5, 32).tolist()  # which is not moved on
    children = [random_source(child).bits(5, 32).tolist() for child in sequence.spawn(2)]
    assert len({tuple(words) for words in [first, *children]}) == 3
    assert numpy_generator(sequence).random() == np.random.default_rng(7).random()


def test_a_seed_becomes_a_number_that_can_be_stored():
    assert seed_number() is None
    assert seed_number(np.int64(7)) == 7
    generator = np.random.default_rng(1)
    assert seed_number(generator) != seed_number(generator)  # it moves on
    assert seed_number(np.random.SeedSequence(1)) == seed_number(np.random.default_rng(1))


def test_numpy_generators_pass_through():
    generator = np.random.default_rng(1)
    assert numpy_generator(generator) is generator
    assert numpy_generator(3).random() == np.random.default_rng(3).random()
    assert numpy_generator().random() != numpy_generator().random()
