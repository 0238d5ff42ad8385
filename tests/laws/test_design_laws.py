"""The law of every report, P(A = a | X = j) = mu_a r_a(j), for every kind of design, exact wherever it can be."""

import json
from collections import Counter

import numpy as np
import pytest
from every_case import every_case
from lopsided import ASKED, BIT, COVERED, GROUPS, NEW, NUMBERED, RECORDED, SEVEN, TRIPLE, TWO_GROUPS, WARNER
from problems import Odometer, exact_counts, exact_shares, quietly, rising
from scipy.stats import chi2_contingency, chisquare
from scipy.stats.contingency import crosstab
from sources import Cycle, Grid

import subsetprivacy as sp
from subsetprivacy.design import Covered, Hadamard, Mixture
from subsetprivacy.design.hadamard import with_columns
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.errors import DesignDocumentError
from subsetprivacy.mechanism.cover import add_dummies
from subsetprivacy.mechanism.randomness import SeededSource
from subsetprivacy.mechanism.reports import draw_given

UNCOVERED = {name: design for name, design in NEW.items() if not isinstance(design, Covered)}
QUESTIONS = {name: design for name, design in NEW.items() if design.is_independent}


def rows_of(design, codes=None):
    """The rows r_a as a matrix."""
    incidence = design.support_incidence if codes is None else design.incidence(np.asarray(codes))
    return incidence.inner(np.eye(design.p)).T


def probabilities_given(design, j):
    """{code: P(a | j)}, of what is possible."""
    codes, mu = design.support()
    law = mu * rows_of(design)[:, j]
    return {int(a): pytest.approx(x, abs=1e-14) for a, x in zip(codes, law) if x > 0}


def seeded(seed):
    return SeededSource(np.random.default_rng(seed))


# What every design says of itself ---------------------------------------------------------------------------------


@every_case("name", NEW)
def test_reports_of_each_category_sum_to_one(name):
    totals = NEW[name].support_incidence.spread(NEW[name].support()[1])
    np.testing.assert_allclose(totals, 1, atol=1e-12)


@every_case("name", NEW)
def test_mu_is_that_of_the_support(name):
    design = NEW[name]
    codes, mu = design.support()
    assert (np.diff(codes) > 0).all()
    assert (mu > 0).all()
    assert 0 < codes[0] <= codes[-1] < 1 << design.code_bits <= 1 << 48
    np.testing.assert_allclose(design.mu(codes), mu, atol=1e-15)
    others = np.setdiff1d(np.arange(min(1 << design.code_bits, 5000)), codes)
    assert not design.mu(others).any()
    assert design.allows(codes).all()
    assert design.allows(np.array([design.missing_code])).all()
    assert design.is_missing(np.array([design.missing_code])).all()


@every_case("name", NEW)
def test_arrays_are_locked(name):
    # Not by trying: what is not locked would be changed for all tests that come after.
    assert not any(array.flags.writeable for array in (*NEW[name].support(), NEW[name].Q))


@every_case("name", NEW)
def test_rows_do_not_depend_on_the_company_they_are_asked_in(name):
    # A sample's few codes, in any order and with repetitions, have the rows that the whole support has.
    design = NEW[name]
    codes = design.support()[0]
    rng = np.random.default_rng(1)
    alone = np.vstack([rows_of(design, [code]) for code in codes[:200]])
    np.testing.assert_allclose(rows_of(design)[:200], alone, atol=1e-15)
    for size, again in ((2, False), (5, False), (min(len(codes), 200), False), (40, True)):
        for _ in range(10):
            at = rng.choice(min(len(codes), 200), min(size, len(codes)) if not again else size, replace=again)
            np.testing.assert_allclose(rows_of(design, codes[at]), alone[at], atol=1e-15)


@every_case("name", NEW)
def test_possible_is_what_has_a_chance_and_what_the_set_contains(name):
    design = NEW[name].exposed
    codes = design.support()[0][:300]
    possible = rows_of(design)[:300] > 0
    everything = np.arange(design.p)
    np.testing.assert_array_equal(design.possible(codes[:, None], everything), possible)
    np.testing.assert_array_equal(design.contains(codes[:, None], everything), possible)  # no kind reports other values
    np.testing.assert_array_equal(design.sizes(codes), possible.sum(axis=1))
    assert design.smallest_set == (rows_of(design) > 0).sum(axis=1).min()
    if design not in (RECORDED, NUMBERED) and "covered" not in name:  # a partition that is listed twice has two numbers
        texts = [design.format(int(code)) for code in codes]
        assert len(set(texts)) == len(texts)


@every_case("name", NEW)
def test_pairs_and_the_sum_of_maxima(name):
    design = NEW[name]
    rows, mu = rows_of(design), design.support()[1]
    np.testing.assert_allclose(design.Q, (rows.T * mu) @ rows, atol=1e-12)
    exposed = NEW[name].exposed
    best = rows_of(exposed).max(axis=1)
    assert pytest.approx(exposed.support()[1] @ best, abs=1e-12) == design.S
    if design.pair_probability is not None:
        off = design.Q[~np.eye(design.p, dtype=bool)]
        np.testing.assert_allclose(off, design.pair_probability, atol=1e-12)


@every_case("name", NEW)
def test_the_full_set_says_nothing(name):
    design = NEW[name]
    row = rows_of(design, [design.missing_code])[0]
    assert np.ptp(row) == pytest.approx(0, abs=1e-15)
    held = design.contains(np.int64(design.missing_code), np.arange(design.p))
    assert held.all()


@every_case("name", NEW)
def test_identifiability_is_the_rank_of_the_rows(name):
    design = NEW[name]
    assert design.is_identifiable == (np.linalg.matrix_rank(rows_of(design)) == design.p)
    assert design.is_identifiable
    assert design.null_direction() is None


# Exact laws: scripted words ---------------------------------------------------------------------------------------

WORDS4 = [3, 5, 6, 9, 10, 12]  # the admissible questions about four categories
SCRIPTS = {
    "three, pairs": (sp.fixed_size(["x", "y", "z"], 2), 2, [("below", 2, 1)]),
    "five, triples": (sp.fixed_size(range(5), 3), 12, [("below", 3, 4), ("below", 4, 1)]),
    "five, all but one": (sp.fixed_size(range(5), 4), 24, [("below", 2, 12), ("below", 3, 4), ("below", 4, 1)]),
    # Two groups of 2 and 3: two people of five are in the smaller one.
    "two groups": (
        sp.partition(range(5), 2),
        60,
        [("grid", 5, 12), ("below", 4, 1), ("below", 3, 4), ("below", 4, 1)],
    ),
    # Groups of 3, 2 and 2.
    "three groups": (
        sp.partition(SEVEN, 3),
        210,
        [("grid", 7, 30), ("below", 6, 1), ("below", 5, 6), ("below", 6, 1)],
    ),
    "listed groups": (GROUPS, 5, [("below", 5, 1)]),
    "recorded groups": (RECORDED, 5, [("below", 5, 1)]),
    "two listed groups": (TWO_GROUPS, 5, [("below", 5, 1)]),
    "warner": (WARNER, 10, [("grid", 10, 1), ("grid", 10, 1)]),
    "bit": (BIT, 60, [("grid", 10, 6), (WORDS4, 6, 1)]),
    "product": (
        TRIPLE,
        1000,
        [("grid", 10, 100), ("grid", 10, 10), ("grid", 10, 1), ("grid", 10, 1)],
    ),
    "product, one joined": (
        sp.product({"pair": sp.join({"s": [0, 1], "t": [0, 1]}), "x": ASKED}),
        60,
        [("below", 2, 30), ("below", 3, 10), ("grid", 10, 1)],
    ),
}


@every_case(("name", "j"), [(name, j) for name in SCRIPTS for j in range(SCRIPTS[name][0].p)])
def test_the_law_given_a_value_is_mu_times_the_row(name, j):
    design, n, steps = SCRIPTS[name]
    drawn = draw_given(np.full(n, j), design, Odometer(*steps))
    assert {code: times / n for code, times in Counter(drawn.tolist()).items()} == probabilities_given(design, j)


@every_case("name", ["hadamard, p=6", "hadamard, p=7", "hadamard, p=60"])
def test_every_row_of_the_matrix_is_as_likely(name):
    design = NEW[name]
    n = design.questions
    for j in range(0, design.p, max(design.p // 7, 1)):
        drawn = draw_given(np.full(n, j), design, Cycle(design.size.bit_length() - 1))
        assert {code: times / n for code, times in Counter(drawn.tolist()).items()} == probabilities_given(design, j)


@every_case("x", "abcd")
def test_a_covered_release_is_its_law_row_for_row(x):
    # 40 people of one value and 20 dummy rows per category: every cell, real and dummy, comes as often as it should.
    design = sp.covered(ASKED, 0.25)
    asked, answered = ("grid", 10, 2), ("below", 2, 1)
    steps = [("grid", 10, 4), ("below", 2, 2), asked, answered, asked, answered, ("grid", 80, 1)]
    data = sp.privatize([x] * 40, design, seed=Odometer(*steps))
    assert (data.design.people, data.design.dummies, len(data)) == (40, 20, 80)
    codes, mu = data.design.support()
    law = mu * rows_of(data.design)[:, "abcd".index(x)]
    assert law.sum() == pytest.approx(1)
    assert dict(Counter(data.codes.tolist())) == {
        int(a): pytest.approx(80 * share, abs=1e-10) for a, share in zip(codes, law) if share > 0
    }


def test_dummy_reports_of_groups_are_as_likely_as_mu():
    # Of nobody: each partition, then each of its groups.
    for design in (GROUPS, RECORDED):
        drawn = design.draw_any(15, Odometer(("below", 5, 3), ("below", 3, 1)))
        codes, mu = design.support()
        assert Counter(drawn.tolist()) == dict(zip(codes.tolist(), np.rint(15 * mu / 3).astype(int).tolist()))


# Sampled frequencies: a million draws ---------------------------------------------------------------------------


def chi_square(x, codes, design):
    """The p-value of the table value x code, given the values; rare cells of a value are pooled."""
    support, mu = design.support()
    at = np.searchsorted(support, codes)
    assert (support[np.minimum(at, len(support) - 1)] == codes).all()
    law = (rows_of(design) * mu[:, None]).T
    cells = np.bincount(x * len(support) + at, minlength=design.p * len(support)).reshape(law.shape)
    assert not cells[law == 0].any()
    seen, expected = [], []
    for j in range(design.p):
        e = cells[j].sum() * law[j]
        often = e >= 5
        seen += [*cells[j][often], cells[j][~often].sum()]
        expected += [*e[often], e[~often].sum()]
    kept = np.array(expected) > 0
    seen, expected = np.array(seen)[kept], np.array(expected)[kept]
    return chisquare(seen, expected * seen.sum() / expected.sum(), ddof=design.p - 1).pvalue


@every_case("name", UNCOVERED)
def test_a_million_draws_follow_the_law(name):
    design = UNCOVERED[name]
    x = np.random.default_rng(5).choice(design.p, 1_000_000, p=rising(design.p))
    codes = draw_given(x, design, seeded(6))
    assert design.contains(codes, x).all()
    assert chi_square(x, codes, design) > 1e-4


@pytest.mark.parametrize("name", [name for name in NEW if name not in UNCOVERED])
def test_a_million_rows_of_a_covered_release_follow_the_law(name):
    planned = NEW[name].planned()
    w = rising(planned.p)
    n = 600_000
    x = np.random.default_rng(7).choice(planned.p, n, p=w)
    codes, design = add_dummies(draw_given(x, planned.base, seeded(8)), planned, seeded(9))
    support, mu = design.support()
    w_seen = np.bincount(x, minlength=design.p) / n
    law = mu * design.support_incidence.inner(w_seen)
    cells = np.bincount(np.searchsorted(support, codes), minlength=len(support))
    assert len(codes) == n + design.D * design.dummies
    assert cells.sum() == len(codes)
    assert chisquare(cells, law * len(codes) / law.sum()).pvalue > 1e-4


@every_case("name", ["fixed size, p=6", "partition", "partition, recorded", "hadamard, p=7", "bit", "product"])
def test_neighbors_are_drawn_independently(name):
    design = NEW[name]
    codes = draw_given(np.tile([0, 1], 50_000), design, seeded(10))
    for one, two in ((codes[::2], codes[1::2]), (codes[1:-1:2], codes[2::2])):
        table = crosstab(one, two).count
        assert chi2_contingency(table).pvalue > 1e-4


# The collector's side --------------------------------------------------------------------------------------------


@every_case("name", QUESTIONS)
def test_yes_no_designs_can_be_asked(name):
    # Whatever says that it can be asked as yes/no questions: asking and answering has the law of the design.
    design = QUESTIONS[name]
    n = 200_000
    questions = sp.draw_questions(design, n, seed=3)
    x = np.random.default_rng(4).choice(design.p, n, p=rising(design.p))
    if design in (WARNER, BIT) or "bit" in name:
        y = 2 * x + (np.random.default_rng(5).random(n) < design.q)
        inside = questions >> y & 1 == 1
    else:
        inside = design.contains(questions, x)
    data = sp.resolve(questions, inside, design)
    assert chi_square(x, data.codes, design) > 1e-4


@every_case("name", ["partition", "partition, listed", "partition, recorded"])
def test_groups_can_be_asked(name):
    design = NEW[name]
    n = 50_000
    questions = sp.draw_questions(design, n, seed=3)
    x = np.random.default_rng(4).choice(design.p, n, p=rising(design.p))
    inside = design.contains(questions, x[:, None])
    assert (inside.sum(axis=1) == 1).all()
    data = sp.resolve(questions, inside.argmax(axis=1), design)
    assert chi_square(x, data.codes, design) > 1e-4


# Documents --------------------------------------------------------------------------------------------------------

NESTED = {
    **NEW,
    "plan of a covered design": COVERED.planned(),
    "covered product of groups": sp.covered(sp.product({"g": sp.partition(SEVEN, 3), "h": sp.hadamard(range(6))}), 0.1),
    "singles": sp.small(["x", "y", "z"], "dummies", reveals=True).base,
    "product with bits": sp.product({"b": BIT, "w": WARNER, "c": RECORDED}),
    "product of joined": sp.product({"one": sp.join({"s": [0, 1], "t": ["u", "v"]}), "two": sp.uniform(list("wxyz"))}),
    "mixture": Mixture.of([sp.fixed_size(SEVEN, 3), sp.partition(SEVEN, 3), GROUPS, sp.hadamard(SEVEN)], [1, 2, 3, 4]),
    "mixture of products": Mixture.of(
        [TRIPLE, sp.product({"x": sp.uniform(list("abcd")), "y": sp.fixed_size(["x", "y", "z"], 2), "z": WARNER})],
        [1, 3],
    ),
}


@every_case("name", NESTED)
def test_documents_are_read_back(name):
    design = NESTED[name]
    again = sp.design_from_json(design.to_json())
    assert again == design
    assert type(again) is type(design)
    assert again.fingerprint == design.fingerprint
    assert hash(again) == hash(design)
    assert again.categories == design.categories
    assert again.code_space == design.code_space
    for one, two in zip(again.support(), design.support()):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(rows_of(again), rows_of(design))


@every_case("name", NESTED)
def test_every_number_of_a_document_is_under_its_fingerprint(name):
    text = NESTED[name].to_json()
    document = json.loads(text)

    def alter(part):
        """Change the first number or word that is found deep inside."""
        for key in part if isinstance(part, dict) else range(len(part)):
            if key in ("fingerprint", "format", "version", "kind"):
                continue
            if isinstance(part[key], (dict, list)) and part[key]:
                return alter(part[key])
            part[key] = "other" if isinstance(part[key], str) else 1 + part[key]
            return None
        raise AssertionError("nothing to alter")

    alter(document)
    with pytest.raises(DesignDocumentError):
        sp.design_from_json(json.dumps(document))


JUNK = [None, True, -1, 1.5, 1e30, 1 << 70, "", "x", "nan", "-1", [], {}, [[]], ["a"], [[1, "0.5"]]]


def places(part, before=()):
    """Where the values of a document stand."""
    for key in part if isinstance(part, dict) else range(len(part)):
        yield (*before, key)
        if isinstance(part[key], (dict, list)):
            yield from places(part[key], (*before, key))


@every_case("name", [name for name in NESTED if name != "hadamard, p=60"])
def test_a_document_of_nonsense_is_refused_by_name(name):
    # Whatever stands where: a design that is one, or the one error that says that this is no document of one.
    document = NESTED[name].document()
    document.pop("fingerprint")
    for place in list(places(document))[:40]:
        for junk in JUNK:
            altered = json.loads(json.dumps(document))
            part = altered
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = junk
            try:
                made = sp.design_from_json(json.dumps(altered))
            except DesignDocumentError:
                continue
            totals = made.support_incidence.spread(made.support()[1]) if made.kind != "coarse" else 1
            np.testing.assert_allclose(totals, 1, atol=1e-9)


def test_no_two_designs_are_equal():
    fingerprints = {design.fingerprint for design in NESTED.values()}
    assert len(fingerprints) == len({*NESTED.values()}) == len(NESTED)


# Estimators ---------------------------------------------------------------------------------------------------------

TIGHT = {"mle": {"tol": 1e-12}, "em": {"tol": 1e-12, "accelerate": True}, "mom": {}, "mom-conditional": {}}


def methods(design):
    given_questions = design.strata(design.support()[0]) is not None
    return [m for m in TIGHT if m != "mom-conditional" or given_questions]


@every_case(("name", "method"), [(n, m) for n in UNCOVERED for m in methods(UNCOVERED[n])])
def test_expected_counts_return_the_distribution(name, method):
    design = UNCOVERED[name]
    w = rising(design.p)
    fit = sp.estimate(exact_shares(design, w), method, **TIGHT[method])
    assert fit.w == pytest.approx(w, abs=2e-6)


@every_case("method", methods(COVERED))
def test_expected_rows_of_a_covered_release_return_the_distribution(method):
    counts = exact_counts(COVERED, [0.1, 0.2, 0.3, 0.4], 800)
    assert sp.estimate(counts, method, **TIGHT[method]).w == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-6)


def moved(name, design, order):
    """The same design with its categories in another order."""
    labels = [design.categories.labels[j] for j in order]
    if name.startswith("fixed"):
        return sp.fixed_size(labels, design.k)
    if isinstance(design, Hadamard):
        return with_columns(sp.Categories(labels), design.size, design.columns[order].tolist())
    if name == "warner":
        return sp.warner(labels, 1 - design.q)
    if name == "bit":
        return uniform_with_bit(labels, design.q)
    listed = getattr(design, "groups", None)
    if listed is None:
        return sp.partition(labels, design.m)
    groups = [[design.categories.members(int(code)) for code in row] for row in listed]
    return sp.partition(labels, partitions=groups, record=design.recorded)


MOVABLE = [name for name in UNCOVERED if not name.startswith(("product", "joined", "bit, p=3"))]


def matched(design, other, order):
    """For each code of the support, the code of the other design's with the same row of the moved categories."""
    one, two = rows_of(design)[:, order], rows_of(other)
    mu_one, mu_two = design.support()[1], other.support()[1]
    # Equal rows are interchangeable, as long as their weights are the same.
    by_one = np.lexsort([*np.round(one.T, 9), np.round(mu_one, 9)])
    by_two = np.lexsort([*np.round(two.T, 9), np.round(mu_two, 9)])
    np.testing.assert_allclose(one[by_one], two[by_two], atol=1e-12)
    np.testing.assert_allclose(mu_one[by_one], mu_two[by_two], atol=1e-12)
    out = np.empty(len(by_one), np.int64)
    out[by_one] = other.support()[0][by_two]
    return out


@every_case(("name", "method"), [(n, m) for n in MOVABLE for m in methods(UNCOVERED[n])])
def test_relabelling_permutes_the_answer(name, method):
    design = UNCOVERED[name]
    order = np.random.default_rng(3).permutation(design.p) if design.p > 2 else np.array([1, 0])
    other = moved(name, design, order)
    codes = design.support()[0]
    counts = sp.simulate(design, rising(design.p), 3000, seed=4)
    # Numbers of recorded groups stay as they are; masks move.
    there = counts.codes if design is RECORDED else matched(design, other, order)[np.searchsorted(codes, counts.codes)]
    fit = sp.estimate(counts, method, **TIGHT[method])
    again = sp.estimate(sp.SubsetCounts(there, counts.counts, other), method, **TIGHT[method])
    assert again.w == pytest.approx(fit.w[order], abs=1e-5)
    with quietly():
        assert again.se == pytest.approx(fit.se[order], rel=1e-3)


FAST = [(n, m) for n in UNCOVERED for m in methods(UNCOVERED[n]) if m != "em" or UNCOVERED[n].p < 8]


@every_case(("name", "method"), FAST)
def test_frequency_weight_two_is_the_row_twice(name, method):
    design = UNCOVERED[name]
    x = np.random.default_rng(3).choice(design.p, 2000, p=rising(design.p))
    codes = draw_given(x, design, seeded(11))
    weights = 1 + np.arange(2000) % 2
    weighted = sp.estimate(sp.count(codes, design=design, weights=weights, weights_kind="frequency"), method)
    repeated = sp.estimate(sp.SubsetData(np.repeat(codes, weights), design), method)
    with quietly():
        assert np.array_equal(weighted.w, repeated.w)
        assert np.array_equal(weighted.se, repeated.se)


def test_words_of_the_grid_are_those_of_the_tenths():
    # The odometer's grid is the even grid that the other laws are tested with.
    np.testing.assert_array_equal(Odometer(("grid", 10, 1)).bits(10, 64), Grid().bits(10, 64))
