"""The draw that a browser makes: the same as Python's on the shared examples, and even by a test of many draws."""

import json
from collections import Counter
from itertools import combinations, permutations

import pytest
from scipy.stats import chisquare
from vectors import FEW, FILE, GIVEN

import subsetprivacy as sp
from subsetprivacy.collect.survey.rules import asking

VECTORS = json.loads(FILE.read_text("utf-8"))

# The script of the page, under the policy of the page.
LOAD = """
const script = await import(document.querySelector("script").src);
const { Stream, sha256, utf8, hex, unhex, base32 } = script;
const draw = ({ kind, draw }, value, stream) => {
  if (kind === "local") return script.drawAround(draw, value, stream);
  return kind === "bit" ? script.drawBit(draw, stream) : script.drawQuestion(draw, stream);
};
"""


@pytest.fixture(scope="module")
def visitor(house):
    if house.browser is None:
        yield None
        return
    with house.visitor(tolerated=("status of 404",), locale="en-GB") as held:
        held.open(f"{house.origin}/s/aaaaaaaaaaaaaaaa", "problem")
        yield held


@pytest.fixture
def run(house, visitor, need):
    """Run a program that uses the page's script, with an argument."""
    house.fresh(need)

    def result(program, given):
        whole = f"async (given) => {{ {LOAD} {program} }}"
        # As text: the driver of the browser is slow with long lists.
        through = f"async (text) => JSON.stringify(await ({whole})(JSON.parse(text)))"
        return json.loads(visitor.page.evaluate(through, json.dumps(given)))

    return result


def test_ten_thousand_draws_equal_those_of_python(run):
    drawn = run(
        """
        const seed = (i) => sha256(utf8(given.seed_prefix + i));
        return given.draws.map(([rule, i, label, value]) =>
          draw(given.rules[rule], value, new Stream(seed(i), ...given.labels[label])));
        """,
        VECTORS,
    )
    assert len(drawn) == 10_000
    assert drawn == [result for *_, result in VECTORS["draws"]]


WORDS_AND_BOUNDS = """
const seed = (i) => sha256(utf8(given.seed_prefix + i));
return [
  given.words.map(([i, label, words]) => {
    const stream = new Stream(seed(i), ...given.labels[label]);
    return words.map(() => stream.word());
  }),
  given.below.map(([i, label, bounds]) => {
    const stream = new Stream(seed(i), ...given.labels[label]);
    return bounds.map((bound) => stream.below(bound));
  }),
];
"""


def test_words_and_bounds_equal_those_of_python(run):
    words, below = run(WORDS_AND_BOUNDS, VECTORS)
    assert words == [row[2] for row in VECTORS["words"]]
    assert below == [row[3] for row in VECTORS["below"]]


def test_bounds_that_no_word_meets_are_refused(run):
    program = """
    return given.map((bound) => {
      try { return new Stream(new Uint8Array(32), "s", "v").below(bound); } catch (error) { return error.message; }
    });
    """
    assert run(program, [0, -1, 1.5, None, "3"]) == ["unsafe"] * 5
    assert run(program, [2**48 + 1, 2**53]) == ["unsafe"] * 2  # these would look for a word for ever
    assert all(isinstance(drawn, int) for drawn in run(program, [1, 2**48]))


def test_a_draw_with_modulo_bias_would_be_noticed(run):
    program = "const honest = Stream.prototype.below;"
    program += "Stream.prototype.below = function (bound) { return this.word() % bound; };"
    program += f"try {{ {WORDS_AND_BOUNDS} }} finally {{ Stream.prototype.below = honest; }}"
    _, below = run(program, VECTORS)
    assert below != [row[3] for row in VECTORS["below"]]


def test_the_coin_equals_that_of_python(run):
    made = run(
        """
        const coin = script;
        const bytes = (text) => unhex(text, text.length / 2);
        const by = (name, f) => given.coin[name].map((row) => f(...row.slice(0, -1)));
        return {
          commit: by("commit", (secret) => hex(coin.commit(bytes(secret)))),
          seed: by("seed", (share, secret) => hex(coin.seedOf(bytes(share), bytes(secret)))),
          wrap: by("wrap", (...given) => hex(coin.wrap(...given.map(bytes)))),
          open_ticket: by("open_ticket", (seed, print) => hex(coin.openTicket(bytes(seed), bytes(print)))),
          code_text: by("code_text", (ticket, half) => base32([...bytes(ticket), ...bytes(half)])),
          codes: given.coin.code_text.map(([ticket, half, code]) => {
            const read = coin.readCode(code.toUpperCase() + ".");
            return [read.ticket, hex(read.half)];
          }),
          manifests: given.manifests.map(({ text }) => {
            const digest = sha256(utf8(text));
            const { study, variables } = JSON.parse(text);
            const seed = new Uint8Array(32);
            const answers = new script.Answers(study, variables, { question: seed, device: seed });
            answers.give(0, null);
            const envelope = { fingerprint: hex(digest), ticket: hex(seed.subarray(22)), opening: hex(seed) };
            return [hex(digest), base32(digest).slice(0, 26), answers.body(envelope).length];
          }),
        };
        """,
        VECTORS,
    )
    for name in ("commit", "seed", "wrap", "open_ticket", "code_text"):
        assert made[name] == [row[-1] for row in VECTORS["coin"][name]], name
    assert made["codes"] == [row[:2] for row in VECTORS["coin"]["code_text"]]
    assert made["manifests"] == [[held["fingerprint"], held["id"], held["length"]] for held in VECTORS["manifests"]]


def test_sha256_of_every_length_around_a_block(run):
    from hashlib import sha256

    lengths = [*range(0, 140), 1000, 65_537]
    made = run("return given.map((n) => hex(sha256(new Uint8Array(n).fill(n % 251))));", lengths)
    assert made == [sha256(bytes([n % 251]) * n).hexdigest() for n in lengths]


def _sides(p):
    """Every list of 2 to p - 2 options with the rest, all alike."""
    full = (1 << p) - 1
    sets = [sum(1 << j for j in chosen) for size in range(2, p - 1) for chosen in combinations(range(p), size)]
    return {(code, full - code): 1 for code in sets}


def _orders(groups):
    """Every order of every choice of groups of these sizes."""
    p, law = sum(groups), Counter()
    for order in permutations(range(p)):
        at, codes = 0, []
        for size in groups:
            codes.append(sum(1 << j for j in order[at : at + size]))
            at += size
        for shown in permutations(codes):
            law[shown] += 1
    return law


def _code(names):
    return sum(1 << "abcd".index(name) for name in names)


# Each rule with the law of what it draws, up to a factor, found by counting; for marks, of the value 1.
LAWS = {
    "uniform": (sp.uniform(range(5)), _sides(5)),
    "listed": (
        sp.independent(list("abcd"), FEW),
        {pair: nu for names, nu in FEW.items() for pair in permutations((_code(names), 15 - _code(names)))},
    ),
    "hadamard": (sp.hadamard(range(4)), _sides(4)),
    "halves": (sp.partition(range(5), 2), _orders((2, 3))),
    "groups": (sp.partition(range(6), 3), _orders((2, 2, 2))),
    "bit": (sp.warner(list("ab"), 0.3), {0: 0.7, 1: 0.3}),
    "companions": (
        sp.fixed_size(range(5), 3),
        {2 | 1 << i | 1 << j: 1 for i, j in combinations((0, 2, 3, 4), 2)},
    ),
    "given": (
        sp.conditional(list("abcd"), GIVEN),
        {_code(names): mu for names, mu in GIVEN.items() if "b" in names},
    ),
}
COUNT = """
const counts = new Map();
const number = new DataView(new ArrayBuffer(32));
for (let k = 0; k < given.times; k++) {
  if (!given.secret) number.setUint32(0, k);
  const seed = given.secret ? script.random(32) : new Uint8Array(number.buffer);
  const drawn = String(draw(given.rule, 1, new Stream(seed, "s", "v")));
  counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
}
return [...counts];
"""


def _pvalue(run, name, times, *, secret):
    design, law = LAWS[name]
    kind, rule = asking(design)
    counts = dict(run(COUNT, {"rule": {"kind": kind, "draw": rule}, "times": times, "secret": secret}))
    law = {
        ",".join(map(str, drawn)) if isinstance(drawn, tuple) else str(drawn): weight for drawn, weight in law.items()
    }
    assert counts.keys() <= law.keys()
    total = sum(law.values())
    expected = [times * weight / total for weight in law.values()]
    return chisquare([counts.get(drawn, 0) for drawn in law], expected).pvalue


def test_draws_follow_their_law(run):
    for name in LAWS:  # fixed seeds: the same draws each time
        assert _pvalue(run, name, 3_000, secret=False) > 1e-4, name


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_a_million_draws_follow_their_law(run, name):
    # From the browser's own numbers, so that a fair draw may fail by chance: once in ten thousand million runs.
    assert _pvalue(run, name, 1_000_000, secret=True) > 1e-11
