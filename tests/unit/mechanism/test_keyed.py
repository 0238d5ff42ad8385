"""A source with a key: every row has its own bits, and many rows follow the law of the design."""

import os
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, DESIGNS, NEW
from refusals import refused
from scipy.stats import chisquare
from sources import keyed_stream

from subsetprivacy.errors import ArgumentError, DataFileError, MismatchError, NotPrivateWarning
from subsetprivacy.mechanism.ids import read_ids
from subsetprivacy.mechanism.keyed import check_key, keyed_source, read_key
from subsetprivacy.mechanism.publish import Publisher

KEY = bytes(range(7, 39))
PLAIN = {**DESIGNS, **NEW}


class Reader:
    """Words of one stream, each at a multiple of its own size."""

    def __init__(self, octets):
        self._octets, self._at = octets, 0

    def word(self, width):
        size = width // 8
        self._at = -(-self._at // size) * size + size
        return int.from_bytes(self._octets[self._at - size : self._at], "little")


def test_every_row_reads_its_own_stream():
    who = ["ann", "bob", "çelik", "5"]
    source = keyed_source(KEY, ["ann", "bob", "çelik", 5], "race")
    readers = [Reader(keyed_stream(KEY, name, "race")) for name in who]
    rng = np.random.default_rng(1)
    for _ in range(60):  # some 220 bytes each: three or four blocks, at different times
        width = int(rng.choice([8, 16, 32, 64]))
        rows = np.flatnonzero(rng.random(4) < 0.7)
        words = source.among(rows).bits(len(rows), width)
        assert words.dtype == f"u{width // 8}"
        assert words.tolist() == [readers[row].word(width) for row in rows]


def test_parts_of_parts_and_slices_read_on_where_the_whole_stopped():
    source = keyed_source(KEY, list("abcdef"), "v")
    readers = [Reader(keyed_stream(KEY, name, "v")) for name in "abcdef"]

    def expected(rows, width):
        return [readers[row].word(width) for row in rows]

    assert source.bits(6, 16).tolist() == expected(range(6), 16)
    block = source.among(slice(2, 6))
    assert block.bits(4, 16).tolist() == expected([2, 3, 4, 5], 16)
    assert block.among(np.array([3, 1])).bits(2, 64).tolist() == expected([5, 3], 64)
    assert block.among(np.array([3, 1])).among(np.array([1])).bits(1, 8).tolist() == expected([3], 8)
    assert block.among(np.array([3, 1, 0])).among(slice(1, 3)).bits(2, 8).tolist() == expected([3, 2], 8)
    assert source.bits(6, 32).tolist() == expected(range(6), 32)
    assert block.bits(4, 64).tolist() == expected([2, 3, 4, 5], 64)


@every_case(
    "other",
    [
        {"key": KEY[:-1]},
        {"key": KEY + b"\0"},
        {"key": KEY[::-1]},
        {"variable": "Race"},
        {"variable": "rac"},
        {"ids": ["ann ", "bo"]},
    ],
)
def test_another_key_name_or_id_is_another_stream(other):
    base = {"key": KEY, "ids": ["ann", "bob"], "variable": "race"}
    one, two = (keyed_source(**given).bits(2, 64).tolist() for given in (base, base | other))
    assert not set(one) & set(two)


def test_name_and_id_do_not_run_into_each_other():
    assert keyed_source(KEY, ["bc"], "a").bits(1, 64) != keyed_source(KEY, ["c"], "ab").bits(1, 64)


def test_a_row_has_one_word_at_a_time():
    with pytest.raises(MismatchError, match="must draw one word per row; got 3 words for 2 rows"):
        keyed_source(KEY, [1, 2], "v").bits(3, 8)


@pytest.mark.parametrize("width", [8, 64])
def test_nobody_draws_nothing(width):
    assert keyed_source(KEY, [], "v").bits(0, width).tolist() == []


def test_neither_key_nor_ids_are_shown():
    source = keyed_source(b"secret secret secret", ["secret"], "v")
    assert repr(source) == "<bits of a key for 1 row>"
    assert repr(source.among(np.array([], int))) == "<bits of a key for 0 rows>"


# Everybody together, the law of the design ----------------------------------------------------------

MANY = 100_000
LAWS = [
    *("uniform, p=7", "independent", "conditional", "mixture, asked", "fixed size, p=6", "partition"),
    *("partition, recorded", "hadamard, p=6", "bit, p=3", "joined"),
]


@pytest.fixture(scope="module")
def many():
    return read_ids(np.arange(MANY))


@every_case("name", LAWS)
def test_many_ids_follow_mu(name, many):
    design, j = PLAIN[name], 1
    codes = Publisher(design).draw(np.full(MANY, j), None, keyed_source(KEY, many, name))
    support, mu = design.support()
    law = mu * design.support_incidence.inner(np.eye(design.p)[j])
    seen = np.bincount(np.searchsorted(support, codes), minlength=len(support))
    assert seen[law == 0].sum() == 0
    assert chisquare(seen[law > 0], MANY * law[law > 0]).pvalue > 1e-4


def test_two_variables_of_one_person_are_drawn_independently(many):
    one, two = (
        Publisher(ASKED).draw(np.zeros(MANY, np.int64), None, keyed_source(KEY, many, name)) for name in ("u", "v")
    )
    pairs = np.bincount(np.searchsorted([3, 5, 9], one) * 3 + np.searchsorted([3, 5, 9], two), minlength=9)
    nu = np.array([0.5, 0.3, 0.2])
    assert chisquare(pairs, MANY * np.outer(nu, nu).ravel()).pvalue > 1e-4


# Key files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [16, 32, 64])
@pytest.mark.parametrize("form", ["{}", "{}\n", "\ufeff{}\r\n", "  {}  \n\n"])
def test_a_key_file_of_any_length_that_a_key_may_have(size, form, tmp_path):
    key, path = bytes(range(size)), tmp_path / "secret.key"
    for digits in (key.hex(), key.hex().upper(), key.hex(" ", 2), key.hex("\n", 8)):
        path.write_text(form.format(digits), encoding="utf-8")
        path.chmod(0o600)
        assert read_key(path) == read_key(path.as_uri()) == check_key(key)


@pytest.mark.parametrize(
    "content", ["", "zz" * 32, "ab" * 15, "ab" * 65, "abc" * 11, "geheim ä", "ab" * 32 + " " * 5000]
)
def test_a_key_file_that_is_none(content, tmp_path):
    path = tmp_path / "secret.key"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(DataFileError) as caught:
        read_key(path)
    assert not content or content not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_key_file_that_is_not_there(tmp_path):
    with pytest.raises(DataFileError):
        read_key(tmp_path / "none.key")


@pytest.mark.skipif(os.name != "posix", reason="absent: permissions of POSIX")
def test_a_key_file_that_others_may_read(tmp_path):
    path = tmp_path / "secret.key"
    path.write_text("ab" * 32)
    path.chmod(0o644)
    with pytest.warns(NotPrivateWarning, match="other users of this machine may read"):
        assert read_key(path) == b"\xab" * 32


@pytest.mark.parametrize("key", ["ab" * 32, Path("secret.key")])
def test_text_is_no_key_and_is_not_repeated(key):
    with refused(ArgumentError, "key") as caught:
        check_key(key)
    assert "abab" not in str(caught.value)
