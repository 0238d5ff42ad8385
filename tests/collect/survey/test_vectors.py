"""The shared vectors: the file is what its generator makes, and a second reading of the protocol agrees with it."""

import hashlib
import json
from base64 import b32encode
from itertools import count

import pytest
import vectors

HELD = json.loads(vectors.FILE.read_text(encoding="utf-8"))


def test_the_file_is_what_the_generator_makes():
    assert vectors.FILE.read_text(encoding="utf-8") == vectors.vectors_text()


def test_the_file_is_small_and_covers_every_rule():
    assert vectors.FILE.stat().st_size < 1_000_000
    assert len(HELD["draws"]) == 10_000
    kinds = {(rule["kind"], rule["draw"]["rule"]) for rule in HELD["rules"]}
    assert kinds == {
        ("yes_no", "uniform"),
        ("yes_no", "listed"),
        ("yes_no", "groups"),
        ("groups", "listed"),
        ("groups", "groups"),
        ("bit", "bit"),
        ("local", "companions"),
        ("local", "given"),
    }
    sizes = {rule["draw"]["p"] for rule in HELD["rules"]}
    assert min(sizes) == 2
    assert max(sizes) == 48
    used = [row[0] for row in HELD["draws"]]
    assert min(used.count(k) for k in range(len(HELD["rules"]))) >= 100
    assert {row[2] for row in HELD["draws"]} == set(range(len(HELD["labels"])))


# A second reading of the protocol, from its description and with nothing of the package: HMAC by its definition,
# words cut out of one long number, sets of positions in the place of codes.


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def hmac(key, message):
    padded = key.ljust(64, b"\0")
    return sha(bytes(b ^ 0x5C for b in padded), sha(bytes(b ^ 0x36 for b in padded), message))


def seed(number):
    return sha(HELD["seed_prefix"].encode(), str(number).encode())


def words(number, label):
    study, variable = HELD["labels"][label]
    for block in count():
        message = f"subsetprivacy draw v1\0{study}\0{variable}\0".encode() + block.to_bytes(4, "big")
        left = int(hmac(seed(number), message).hex(), 16) >> 16  # the last two bytes are not used
        for k in range(4, -1, -1):
            yield left >> 48 * k & (2**48 - 1)


def below(source, bound):
    while True:
        word = next(source)
        if word // bound < 2**48 // bound:
            return word % bound


def shuffled(source, items):
    for last in reversed(range(1, len(items))):
        other = below(source, last + 1)
        items[last], items[other] = items[other], items[last]
    return items


def weighted(source, weights):
    drawn = below(source, sum(weights))
    return next(k for k in range(len(weights)) if drawn < sum(weights[: k + 1]))


def code(positions):
    return int("".join("1" if j in positions else "0" for j in reversed(range(48))), 2)


def question(rule, source):
    p = rule["p"]
    if rule["rule"] == "uniform":
        while True:
            bits = f"{below(source, 2**p):b}"
            if 2 <= bits.count("1") <= p - 2:
                return [int(bits, 2), 2**p - 1 - int(bits, 2)]
    if rule["rule"] == "listed":
        return shuffled(source, list(rule["questions"][weighted(source, rule["weights"])]))
    order = shuffled(source, list(range(p)))
    ends = [sum(rule["sizes"][: k + 1]) for k in range(len(rule["sizes"]))]
    return shuffled(source, [code(order[end - size : end]) for end, size in zip(ends, rule["sizes"])])


def around(rule, value, source):
    if rule["rule"] == "given":
        holding = [(a, weight) for a, weight in zip(rule["subsets"], rule["weights"]) if a // 2**value % 2]
        return holding[weighted(source, [weight for _, weight in holding])][0]
    others = [j for j in range(rule["p"]) if j != value]
    for k in range(rule["size"] - 1):
        other = k + below(source, len(others) - k)
        others[k], others[other] = others[other], others[k]
    return code([value, *others[: rule["size"] - 1]])


@pytest.mark.parametrize("number", range(len(HELD["rules"])))
def test_draws(number):
    kind, rule = HELD["rules"][number]["kind"], HELD["rules"][number]["draw"]
    for which, start, label, value, expected in HELD["draws"]:
        if which == number:
            source = words(start, label)
            if kind == "bit":
                assert (1 if next(source) < rule["ones"] else 0) == expected
            else:
                assert (around(rule, value, source) if kind == "local" else question(rule, source)) == expected


def test_words_and_bounds():
    for start, label, expected in HELD["words"]:
        source = words(start, label)
        assert [next(source) for _ in expected] == expected
    for start, label, bounds, expected in HELD["below"]:
        source = words(start, label)
        assert [below(source, bound) for bound in bounds] == expected


def test_some_words_were_refused():
    """The rejection must show in the vectors: a client that takes the remainder only would else pass."""
    refused = 0
    for start, label, bounds, expected in HELD["below"]:
        source = words(start, label)
        refused += [next(source) % bound for bound in bounds] != expected
    assert refused > 10


def test_coin():
    raw = bytes.fromhex
    coin = HELD["coin"]
    named = lambda name: f"subsetprivacy {name} v1\0".encode()  # noqa: E731
    assert all(sha(named("commit"), raw(c)).hex() == out for c, out in coin["commit"])
    assert all(hmac(raw(k), named("share") + raw(t) + raw(c)).hex() == out for k, t, c, out in coin["share"])
    assert all(sha(named("seed"), raw(s), raw(c)).hex() == out for s, c, out in coin["seed"])
    assert all(sha(named("key"), raw(k)).hex() == out for k, out in coin["commit_key"])
    assert all(hmac(raw(d), named("ticket") + raw(f)).hex() == out for d, f, out in coin["open_ticket"])
    assert all(sha(named("mark"), s.encode(), b"\0", raw(t)).hex() == out for s, t, out in coin["ticket_mark"])
    for secret, half, commitment, out in coin["wrap"]:
        assert int(secret, 16) ^ int(hmac(raw(half), named("wrap") + raw(commitment)).hex(), 16) == int(out, 16)
    for ticket, half, text in coin["code_text"]:
        assert b32encode(raw(ticket + half)).decode().lower() == text
    assert min(len(rows) for rows in coin.values()) >= 8


def test_manifests():
    for held in HELD["manifests"]:
        digest = sha(held["text"].encode())
        assert digest.hex() == held["fingerprint"]
        assert b32encode(digest).decode().lower().startswith(held["id"])
        assert len(held["id"]) == 26
        assert held["length"] == _longest(json.loads(held["text"]))


def _longest(manifest):
    """Return the length of the longest submission in code mode, counted letter by letter."""
    (variable,) = manifest["variables"]
    rule = variable["draw"]
    longest = {
        "bit": lambda: '{"answer":null}',
        "local": lambda: '{"kept":null}',  # of three options: no set has four digits
        "yes_no": lambda: '{"asked":[%s,%s],"answer":null}' % ((2 ** rule["p"] - 1,) * 2),
    }[variable["kind"]]()
    envelope = '{"fingerprint":"","ticket":"","opening":"","answers":{"":}}'
    return len(envelope) + 64 + 20 + 64 + len(variable["id"]) + len(longest)
