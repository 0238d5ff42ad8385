"""Publishing with a key: the same person, the same subset."""

from zlib import crc32

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, DESIGNS, NEW, TRIPLE
from problems import quietly
from refusals import refused
from sources import keyed_stream

import subsetprivacy as sp
from subsetprivacy.design import Covered, Mixture, Product
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.mechanism import reports
from subsetprivacy.mechanism.keyed import keyed_source
from subsetprivacy.mechanism.publish import Publisher

KEY = bytes(range(7, 39))
PLAIN = {
    **{name: design for name, design in {**DESIGNS, **NEW}.items() if not isinstance(design, Covered)},
    "uniform, p=26": sp.uniform(range(26)),
    "mixture of many": Mixture.of(
        [sp.uniform(range(24)), sp.independent(range(24), {tuple(range(12)): 0.5, tuple(range(0, 24, 2)): 0.5})], [4, 1]
    ),
    "partition of many": sp.partition(range(40), 3),
}


def privatised(x, design, ids, **options):
    """The codes of people with values at positions x, a column for each factor."""
    columns = {"values": [design.categories.labels[j] for j in x], "ids": ids}
    with quietly():
        if isinstance(design, Product):
            return np.column_stack(sp.privatize(**columns, design=design, key=KEY, **options).columns)
        return sp.privatize(**columns, design=design, key=KEY, variable="v", **options).codes[:, None]


@every_case("name", PLAIN)
def test_neither_order_nor_batches_nor_blocks_matter(name, monkeypatch):
    design, n = PLAIN[name], 100
    rng = np.random.default_rng(3)
    x, ids = rng.integers(0, design.p, n), np.array([f"id {k}" for k in range(n)])
    codes = privatised(x, design, ids)
    order = rng.permutation(n)
    assert np.array_equal(privatised(x[order], design, ids[order]), codes[order])
    cuts = [slice(0, 1), slice(1, 90), slice(90, 91), slice(91, None)]
    assert np.array_equal(np.concatenate([privatised(x[cut], design, ids[cut]) for cut in cuts]), codes)
    monkeypatch.setattr(reports, "_BLOCK", 7)
    assert np.array_equal(privatised(x, design, ids), codes)
    assert np.array_equal(privatised(x[order], design, ids[order]), codes[order])


@every_case("name", ["uniform, p=7", "conditional", "fixed size, p=6", "hadamard, p=6", "bit, p=3"])
def test_missing_values_of_others_do_not_matter(name, monkeypatch):
    monkeypatch.setattr(reports, "_BLOCK", 16)
    design, n = PLAIN[name], 100
    x, gone = np.arange(n) % design.p, np.arange(n) % 3 == 1
    publisher = Publisher(design, missing="full")
    everybody = publisher.draw(x, None, keyed_source(KEY, range(n), "v"))
    some = publisher.draw(np.where(gone, -1, x), gone, keyed_source(KEY, range(n), "v"))
    assert np.array_equal(some[~gone], everybody[~gone])
    assert (some[gone] == design.missing_code).all()


def test_numbers_and_their_text_are_one_id():
    values = ["a", "b", "c", "d"] * 5
    as_numbers = sp.privatize(values, ASKED, key=KEY, ids=np.arange(20), variable="v").codes
    as_text = sp.privatize(values, ASKED, key=KEY, ids=[str(k) for k in range(20)], variable="v").codes
    assert as_numbers.tolist() == as_text.tolist()


# Checksums of the codes of sixty people. Next month's release must fit this month's: these may never change.
PUBLISHED = {
    "uniform, p=7": 2279501435,
    "independent": 1960784023,
    "conditional": 2115825965,
    "mixture, asked": 730117850,
    "fixed size, p=6": 2014408884,
    "partition": 4177124215,
    "partition, listed": 2717997745,
    "partition, recorded": 2652804931,
    "hadamard, p=6": 1450690661,
    "warner": 742961235,
    "bit, p=3": 3884546930,
    "joined": 3098295648,
}


@every_case("name", PUBLISHED)
def test_published_draws_stay_as_they_are(name):
    design = PLAIN[name]
    codes = privatised(np.arange(60) % design.p, design, [f"person {k}" for k in range(60)])
    assert crc32(codes.astype("<i8").tobytes()) == PUBLISHED[name]


def test_a_uniform_draw_worked_out_by_hand():
    # The first byte whose low four bits are a pair, and that pair or what it leaves out: whichever has the value.
    ids, values = [f"person {k}" for k in range(200)], [*"abcd"] * 50
    codes = sp.privatize(values, sp.uniform(list("abcd")), key=KEY, ids=ids, variable="race").codes
    for who, value, code in zip(ids, values, codes.tolist(), strict=True):
        pair = next(byte & 15 for byte in keyed_stream(KEY, who, "race") if (byte & 15).bit_count() == 2)
        assert code == (pair if pair >> "abcd".index(value) & 1 else 15 - pair)


def test_a_product_draws_each_variable_under_its_own_name():
    n = 60
    columns = {"x": [*"abcd"] * 15, "y": ["x", "y", "z"] * 20, "z": ["no", "yes"] * 30}
    table = sp.privatize(columns, TRIPLE, key=KEY, ids=range(n))
    for name, factor, codes in zip("xyz", TRIPLE.factors, table.columns, strict=True):
        alone = sp.privatize(columns[name], factor, key=KEY, ids=range(n), variable=name)
        assert alone.codes.tolist() == codes.tolist()


def test_joined_variables_have_a_joint_name():
    design = sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]})
    columns = {"sex": ["f", "m"] * 30, "view": ["no", "so", "yes"] * 20}
    named = sp.privatize(columns, design, key=KEY, ids=range(60), variable="sex x view").codes
    assert sp.privatize(columns, design, key=KEY, ids=range(60)).codes.tolist() == named.tolist()
    assert sp.privatize(columns, design, key=KEY, ids=range(60), variable="both").codes.tolist() != named.tolist()


# Arguments ------------------------------------------------------------------------------------------


@every_case(
    ("key", "message"),
    [
        ("a secret password", "`key` must be bytes; got str. Hint: sp.read_key"),
        (b"secret too short", None),
        (b"secret to short", "`key` must have 16 to 64 bytes; got 15"),
        (b"secret" * 11, "`key` must have 16 to 64 bytes; got 66"),
        (1234567, "`key` must be bytes; got int"),
    ],
)
def test_a_key_is_sixteen_bytes_at_least(key, message):
    if message is None:
        assert len(keyed_source(key, [1], "v")) == 1
        return
    for call in (
        lambda: keyed_source(key, [1], "v"),
        lambda: sp.privatize(["a"], ASKED, key=key, ids=[1], variable="v"),
    ):
        with pytest.raises(ArgumentError, match=message) as caught:
            call()
        assert "secret" not in str(caught.value).removesuffix(
            "Hint: secrets.token_bytes(32) makes one; keep it as safe as the data."
        )


@every_case("variable", [None, "", 5])
def test_a_key_needs_the_name_of_the_variable(variable):
    with refused(ArgumentError, "variable"):
        sp.privatize(["a"], ASKED, key=KEY, ids=[1], variable=variable)


@every_case(
    ("design", "options", "argument"),
    [
        (ASKED, {"key": KEY, "ids": [1], "seed": 1}, "key"),
        (ASKED, {"key": KEY, "ids": [1], "seed": np.random.default_rng(1)}, "key"),
        (ASKED, {"key": KEY, "variable": "v"}, "key"),
        (ASKED, {"ids": [1]}, "ids"),
        (ASKED, {"variable": "v"}, "ids"),
        (sp.covered(ASKED, 0.1), {"key": KEY, "ids": [1], "variable": "v"}, "key"),
        (TRIPLE, {"key": KEY, "ids": [1], "variable": "v"}, "variable"),
        (ASKED, {"key": KEY, "ids": [None], "variable": "v"}, "ids"),
    ],
)
def test_what_does_not_go_with_a_key(design, options, argument):
    with refused(ArgumentError, argument):
        sp.privatize(["a"], design, **options)


def test_ids_are_one_per_value_and_distinct():
    with refused(MismatchError, "ids"):
        sp.privatize(list("abc"), ASKED, key=KEY, ids=[1, 2], variable="v")
    with pytest.raises(ArgumentError, match=r"`ids` must be .* first in row 2"):
        sp.privatize(list("abc"), ASKED, key=KEY, ids=[1, 2, "1"], variable="v")
