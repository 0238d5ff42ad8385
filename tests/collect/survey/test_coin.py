"""The coin flip: neither side can choose, and everything it shows belongs to one use."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subsetprivacy.collect.survey import coin

SECRET, KEY = bytes(range(32)), bytes(range(32, 64))
TICKET, HALF = bytes(range(10)), bytes(range(10, 20))
STEADY = settings(derandomize=True, deadline=None)  # the same every time, however busy the machine is


def test_the_seed_depends_on_every_part():
    def flip(secret, key, ticket):
        return coin.seed(coin.share(key, ticket, coin.commit(secret)), secret)

    other = b"\xff"
    flips = {
        flip(SECRET, KEY, TICKET),
        flip(SECRET[:-1] + other, KEY, TICKET),
        flip(SECRET, KEY[:-1] + other, TICKET),
        flip(SECRET, KEY, TICKET[:-1] + other),
    }
    assert len(flips) == 4


def test_the_functions_are_apart():
    """The same bytes in different roles: no value of one use is one of another."""
    shown = [
        coin.commit(SECRET),
        coin.commit_key(SECRET),
        coin.share(SECRET, TICKET, SECRET),
        coin.seed(b"", SECRET),
        coin.open_ticket(SECRET, TICKET + SECRET),
        coin.ticket_mark("", SECRET),
        coin.wrap(bytes(32), SECRET, SECRET),
    ]
    assert all(len(value) == 32 for value in shown)
    assert all(a != b for a, b in itertools.combinations(shown, 2))


@STEADY
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=10, max_size=10))
def test_wrapping_twice_is_back(secret, half):
    commitment = coin.commit(secret)
    wrapped = coin.wrap(secret, half, commitment)
    assert wrapped != secret
    assert coin.wrap(wrapped, half, commitment) == secret


@STEADY
@given(st.lists(st.binary(min_size=32, max_size=32), min_size=2, max_size=4, unique=True))
def test_the_number_of_one_wave_does_not_open_that_of_another(secrets):
    """The server sees the numbers of two waves wrapped under one half, and one of them opened with the answers."""
    wrapped = [coin.wrap(secret, HALF, coin.commit(secret)) for secret in secrets]
    pads = {_xor(*pair) for pair in zip(secrets, wrapped, strict=True)}
    assert len(pads) == len(secrets)
    assert _xor(*wrapped[:2]) != _xor(*secrets[:2])


def _xor(one, other):
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def test_wrapping_needs_a_whole_secret():
    with pytest.raises(ValueError, match=r"zip\(\) argument"):
        coin.wrap(SECRET[:-1], HALF, coin.commit(SECRET))


@STEADY
@given(st.binary(min_size=10, max_size=10), st.binary(min_size=10, max_size=10))
def test_a_code_is_read_back(ticket, half):
    text = coin.code_text(ticket, half)
    assert re.fullmatch("[a-z2-7]{32}", text)
    assert coin.read_code(text) == (ticket, half)
    assert coin.read_code(text.upper()) == (ticket, half)


CODE = coin.code_text(TICKET, HALF)


@pytest.mark.parametrize(
    "text",
    [
        "",
        CODE[:-1],
        CODE + "a",
        CODE[:-1] + "1",
        CODE[:-1] + "=",
        CODE[:24],
        CODE[:-2] + "ß",
        CODE[:-1] + "ſ",
        CODE[:-1] + " ",
    ],
)
def test_what_is_no_code_is_refused(text):
    with pytest.raises(ValueError, match=r"code must have|[Ii]ncorrect padding|[Nn]on-base32|Non-alphabet"):
        coin.read_code(text)


def test_marks_of_one_ticket_in_two_surveys_cannot_be_joined():
    assert coin.ticket_mark("a" * 16, TICKET) != coin.ticket_mark("b" * 16, TICKET)


def test_tickets_of_one_browser_in_two_surveys_cannot_be_joined():
    assert coin.open_ticket(SECRET, b"\1" * 32) != coin.open_ticket(SECRET, b"\2" * 32)
