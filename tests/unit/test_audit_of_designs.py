"""The audit of the newer designs: what is revealed, to whom, and at what price."""

import json

import numpy as np
import pytest
from attrs import frozen
from every_case import every_case
from lopsided import NEW
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.auditing.report import Audit
from subsetprivacy.design import EnlargedDesign
from subsetprivacy.errors import ArgumentError, NotPrivateWarning
from subsetprivacy.estimation.likelihood import cost, least_cost
from subsetprivacy.messages import NoteKind

W4 = [0.1, 0.2, 0.3, 0.4]


def by_hand(design, w):
    """Mutual information, best guess and largest posterior from the whole channel P(a | j)."""
    _, mu = design.support()
    P = mu * design.support_incidence.inner(np.eye(design.p))  # rows j, columns a
    joint = np.asarray(w)[:, None] * P
    law = joint.sum(axis=0)
    seen = joint > 0
    ratio = joint / (np.asarray(w)[:, None] * law)
    return {
        "mi_leakage": (joint[seen] * np.log2(ratio[seen])).sum(),
        "prediction_leakage": joint.max(axis=0).sum(),
        "largest_posterior": (joint / law).max(),
        "maximal_leakage": np.log2(P.max(axis=0).sum()),
    }


@every_case(
    ("design", "w"),
    [
        (sp.warner(["no", "yes"], 0.3), [0.8, 0.2]),
        (sp.small(["no", "yes"], "bit", q=0.4, reveals=True), [0.35, 0.65]),
        (sp.small(["a", "b", "c"], "bit", q=0.3, reveals=True), [0.5, 0.2, 0.3]),
        (sp.fixed_size(list("abcde"), 3), [0.1, 0.15, 0.2, 0.25, 0.3]),
        (sp.partition(range(7), 3), np.arange(1, 8) / 28),
        (sp.hadamard(range(11)), np.arange(1, 12) / 66),
        (sp.product({"x": sp.uniform(list("abcd")), "y": sp.fixed_size(range(3), 2)}), np.arange(1, 13) / 78),
    ],
    ids=lambda x: getattr(x, "kind", ""),
)
def test_numbers_are_those_of_the_whole_channel(design, w):
    facts = sp.audit(design, w).to_dict()
    assert {key: facts[key] for key in by_hand(design, w)} == pytest.approx(by_hand(design, w), abs=1e-12)
    assert ("size_leakage" in facts) == (facts["epsilon"] is None)
    assert facts.get("size_leakage", 0) <= facts.get("size_nonprivate", 0) + 1e-12
    json.dumps(facts, allow_nan=False)


def test_what_the_routes_for_few_categories_reveal():
    assert sp.audit(sp.small(["n", "y"]), [0.5, 0.5]).reveals == {"the value": 0}
    assert sp.audit(sp.small(["n", "y"], "bit", reveals=True), [0.7, 0.3]).reveals["the value"] == pytest.approx(1 / 3)
    assert sp.audit(sp.small(["n", "y"], "dummies", reveals=True), [0.7, 0.3]).reveals["the value"] == pytest.approx(1)
    joined = sp.audit(sp.join({"s": ["f", "m"], "t": [0, 1]}, reveals=True), W4)
    assert joined.reveals == pytest.approx({"s": 1 / 3, "t": 1 / 3})
    assert "Revealed exactly: s, in 33.3% of the rows." in str(joined.summary())
    safe = sp.audit(sp.join({"s": ["f", "m"], "t": [0, 1]}), W4)
    assert safe.reveals == {"s": 0, "t": 0}
    assert "Revealed exactly" not in str(safe.summary())


def test_epsilon_is_finite_only_where_every_answer_leaves_every_value():
    assert sp.audit(sp.warner(["n", "y"]), [0.5, 0.5]).to_dict()["epsilon"] == pytest.approx(np.log(3))
    assert sp.audit(sp.uniform(list("abcd")), W4).to_dict()["epsilon"] is None
    assert sp.audit(sp.fully_private(list("abcd")), W4).to_dict()["epsilon"] == 0


def test_a_covered_design_is_audited_as_a_real_person_is_seen():
    base = sp.uniform(list("abcd"))
    report = sp.audit(sp.covered(base, 0.1), W4)
    plain = sp.audit(base, W4).to_dict()
    facts = report.to_dict()
    same = set(plain) - {"design", "cost", "notes"}
    assert {k: facts[k] for k in same} == {k: plain[k] for k in same}
    assert facts["cost"] > plain["cost"]
    assert facts["floor"] == 0.1
    assert facts["dummy_share"] == pytest.approx(0.2)
    text = str(report.summary())
    assert text.startswith("Privacy audit: covered uniform design")
    assert "Floor: for any distribution, each report could come from at least 10% of the rows" in text
    both = sp.covered(sp.product({"x": base, "y": sp.partition(range(6), 3)}), 0.05)
    assert "together: 0.05. For each alone: x 0.15, y 0.1." in str(sp.audit(both, np.full(24, 1 / 24)).summary())


def test_data_of_a_covered_design_are_audited_with_intervals():
    data = sp.privatize(list("abbccddddd") * 100, sp.covered(sp.uniform(list("abcd")), 0.1), seed=1)
    facts = sp.audit(data).to_dict()
    assert facts["mi_leakage_lower"] < facts["mi_leakage"] < facts["mi_leakage_upper"]
    assert facts["n"] == 1250


# The price ----------------------------------------------------------------------------------------


@frozen(slots=False, eq=False, repr=False)
class Channel(EnlargedDesign):
    """Any finite table P(report | value): the value of the enlarged variable is the report itself."""

    kind = name = description = "channel"
    example = formula = None

    def content(self):
        return {"lift": self.lift.tolist()}


def channel(P):
    """The design of a table with a row per report and a column per value."""
    return Channel(sp.Categories(range(P.shape[1])), sp.nonprivate(range(P.shape[0])), P)


def random_channel(rng):
    """A table with a few reports, some of which are unlikely or impossible for some values."""
    p = int(rng.integers(2, 6))
    P = rng.dirichlet(np.full(int(rng.integers(p, 3 * p + 1)), rng.choice([0.2, 1.0, 20.0])), p).T
    if rng.random() < 0.5:
        least = rng.choice([0.05, 0.1]) * P.max()
        P = np.where(least > P, 0, P)
    return P / P.sum(axis=0)


def price_by_enumeration(P):
    """n times the mean squared error at even shares over that of asking directly, from the table P(a | j) alone."""
    p = P.shape[1]
    B = np.linalg.svd(np.ones((1, p)))[2][1:].T
    rows = (P @ B) / np.sqrt(P.mean(axis=1))[:, None]
    return np.trace(np.linalg.inv(rows.T @ rows)) / (1 - 1 / p)


def table_of(design):
    codes, mu = design.support()
    return mu[:, None] * design.incidence(codes).inner(np.eye(design.p)).T


def test_no_channel_costs_less_than_its_bound():
    rng = np.random.default_rng(1)
    ratios, finite = [], 0
    for _ in range(400):
        P = random_channel(rng)
        P = P[P.max(axis=1) > 0]
        if np.linalg.matrix_rank(P) < P.shape[1] or np.linalg.cond(P) > 1e4:
            continue
        design = channel(P)
        finite += np.isfinite(design.epsilon)
        price = price_by_enumeration(P)
        assert cost(design, np.full(design.p, 1 / design.p)) == pytest.approx(price, rel=1e-6)
        ratios.append(price / least_cost(design))
    assert len(ratios) > 200
    assert 50 < finite < len(ratios) - 50  # with and without reports that rule values out
    assert min(ratios) >= 1 - 1e-9


@every_case("name", [name for name, design in NEW.items() if design.is_identifiable and design.enumerable])
def test_no_design_costs_less_than_its_bound(name):
    design = NEW[name].exposed
    price = price_by_enumeration(table_of(design))
    assert price >= least_cost(design) * (1 - 1e-9)
    found = cost(design, np.full(design.p, 1 / design.p))
    # A row of several variables of which one is a full set is not used, although it tells the others.
    assert found > price if design.product is not None and design.mu_full else found == pytest.approx(price, rel=1e-9)


@every_case("q", [0.06, 0.1, 0.25, 0.4, 0.49, 0.7, 0.94])
def test_warners_question_meets_its_bound(q):
    design = sp.warner(["no", "yes"], q)
    facts = sp.audit(design, [0.5, 0.5]).to_dict()
    assert facts["cost"] == pytest.approx(1 / (2 * q - 1) ** 2)
    assert facts["cost_bound"] == pytest.approx(facts["cost"])
    assert facts["cost"] == pytest.approx(price_by_enumeration(table_of(design)))


@every_case("p", [2, 3, 7])
def test_randomized_response_with_more_values_meets_its_bound(p):
    P = 0.4 * np.eye(p) + 0.6 / p
    assert price_by_enumeration(P) == pytest.approx(least_cost(channel(P)))


@every_case(
    "design",
    [
        *(sp.uniform(range(p)) for p in (4, 6, 9)),
        *(sp.fixed_size(range(6), k) for k in (2, 5)),
        *(sp.partition(range(8), m) for m in (2, 3)),
        *(sp.hadamard(p) for p in (4, 7, 8)),
    ],
    ids=lambda design: f"{design.label}, p={design.p}",
)
def test_the_price_meets_its_bound_for_balanced_designs(design):
    assert price_by_enumeration(table_of(design)) == pytest.approx(least_cost(design))
    assert cost(design, np.full(design.p, 1 / design.p)) == pytest.approx(least_cost(design))


def walsh_price(design):
    """The price of a Hadamard design at even shares, from signs alone: no side of a question is written out."""
    p, N = design.p, design.size
    signs = 1.0 - 2 * (np.bitwise_count(np.arange(1, N)[:, None] & design.columns) & 1)
    excess = signs.mean(axis=1)
    centered = signs - excess[:, None]
    information = (centered.T / (1 - excess**2)) @ centered / (N - 1)
    return (np.trace(np.linalg.inv(information + 1 / p)) - 1) / (1 - 1 / p)


@every_case("p", [6, 12, 47, 48, 49, 64, 65, 511, 512, 513, 600, 700, 900, 1000])
def test_the_price_of_hadamard_designs_at_even_shares(p):
    # Codes are masks up to 48 categories and rows of the matrix above.
    design = sp.hadamard(p)
    report = sp.audit(design, np.full(p, 1 / p))
    N = design.size
    assert report.cost == pytest.approx(walsh_price(design), rel=1e-9)
    assert p - 1 <= report.cost * (1 + 1e-9)
    assert report.cost <= p * (N - 1) / N * (1 + 1e-9)
    assert f"Price at these shares: {p - 1 if p > 600 else report.cost:.3g} times" in str(report.summary())


@every_case("p", [4097, 5000, 8192, 70_000])
def test_with_more_categories_than_fit_a_matrix_the_price_at_even_shares_is_its_bound(p):
    # Between p - 1 and p(N - 1)/N, see the cases below 4,097: a relative error below 1/p.
    report = sp.audit(sp.hadamard(p), np.full(p, 1 / p))
    assert report.cost == p - 1
    assert f"Price at these shares: {p - 1:,} times" in str(report.summary())


@every_case(
    ("design", "price"),
    [(sp.uniform(range(23)), 22), (sp.uniform(range(48)), 47), (sp.fixed_size(range(40), 10), 13)],
    ids=["23", "48", "size 10"],
)
def test_too_many_subsets_to_list_have_a_price_at_even_shares(design, price):
    assert sp.audit(design, np.full(design.p, 1 / design.p)).cost == pytest.approx(price)


@every_case(
    ("design", "w", "why"),
    [
        (sp.uniform(range(30)), np.arange(1.0, 31), "a list of the subsets"),
        (sp.hadamard(4097), np.arange(1.0, 4098), "at most 4,096 categories"),
        (sp.uniform(range(4)), np.arange(4.0), "a category has probability 0"),
    ],
    ids=["not listed", "too many", "a share of 0"],
)
def test_an_audit_says_why_a_price_is_missing(design, w, why):
    report = sp.audit(design, w / w.sum())
    assert np.isnan(report.cost)
    assert report.to_dict()["cost"] is None
    (note,) = [note.text for note in report.notes if note.kind is NoteKind.PRICE]
    assert why in note
    assert f"at least {design.p - 1:,} times" in note


def test_a_design_that_tells_nothing_has_no_price():
    assert least_cost(sp.fully_private(range(4))) == np.inf
    silent = sp.audit(sp.fully_private(range(4)), W4)
    assert {note.kind for note in silent.notes}.isdisjoint({NoteKind.PRICE})


# Nothing is ruled out -----------------------------------------------------------------------------


@every_case("name", NEW)
def test_a_share_that_is_ruled_out_is_shown_only_where_values_are_ruled_out(name):
    design = NEW[name]
    rules_out = bool((table_of(design.exposed) == 0).any())
    w = np.arange(1, design.p + 1) / np.arange(1, design.p + 1).sum()
    report = sp.audit(design, w)
    if not isinstance(report, Audit):  # several variables are audited one by one
        return
    codes = design.support()[0][:3]
    people = sp.person_leakage(sp.SubsetData(codes, design), w)
    given = sp.audit(design, w, given=np.tile(w, (3, 1)))
    assert ("size_leakage" in report.to_dict()) == rules_out
    assert ("size" in report.to_frame()["metric"].tolist()) == rules_out
    assert ("ruled out" in str(report.summary()).partition("Leakage is")[0]) == rules_out
    assert ("Smallest set" in str(report.summary())) == rules_out
    assert ("size_leakage" in people.to_frame()) == ("size_leakage" in people.to_dict()) == rules_out
    assert ("size leakage" in str(people.summary())) == rules_out
    assert ("given covariates: size" in str(given.summary())) == rules_out
    assert ("size_leakage" in given.given.to_frame()) == rules_out
    assert ("size_leakage" in given.given.to_dict()["expected"]["both"]) == rules_out
    assert ("size leakage" in str(given.given.summary())) == rules_out
    with pytest.warns(NotPrivateWarning):
        assert ("expected_size_leakage" in given.given.rows()) == rules_out


def test_more_hadamard_questions_are_cheaper_where_the_distribution_is_uneven():
    w = np.array([0.6, 0.2, 0.08, 0.05, 0.03, 0.02, 0.01, 0.01])
    costs = [sp.audit(sp.hadamard(range(8), questions=q), w).cost for q in (None, 15, 31)]
    assert costs[0] > costs[1] > costs[2]


def product_of_two():
    return sp.product({"x": sp.uniform(list("abcd")), "y": sp.partition(range(6), 3)})


def test_several_variables_add_up_in_the_worst_case():
    survey, w = product_of_two(), {"x": W4, "y": np.full(6, 1 / 6)}
    report = sp.audit(survey, w)
    total = report.totals()
    rng = np.random.default_rng(1)
    for _ in range(20):  # whatever the dependence, within the same margins
        table = rng.dirichlet(np.full(24, 0.2)).reshape(4, 6)
        for _ in range(200):
            table *= (np.array(W4) / table.sum(axis=1))[:, None]
            table *= (np.full(6, 1 / 6) / table.sum(axis=0))[None, :]
        joint = sp.audit(survey, table.ravel() / table.sum()).to_dict()
        assert joint["mi_leakage"] <= total["mi_leakage"] + 1e-9
        assert joint["maximal_leakage"] == pytest.approx(total["maximal_leakage"])
        assert joint["prediction_leakage"] <= total["prediction_leakage"] + 1e-9
        assert joint["largest_posterior"] <= total["largest_posterior"]
    assert "the worst case over all joint distributions" in str(report.summary())
    assert report.to_frame()["variable"].tolist() == ["x", "y", "together"]
    assert set(report.to_dict()["variables"]) == {"x", "y"}
    assert "<caption>" in report._repr_html_()
    assert "2.58 bit at most" in repr(report)


def test_a_table_is_audited_at_its_joint_distribution():
    survey = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("abcd"))})
    x = np.random.default_rng(2).choice(list("abcd"), 20_000)
    report = sp.audit(sp.privatize({"x": x, "y": x}, survey, seed=3))  # the second variable is a copy of the first
    truth = sp.audit(survey, np.diag([0.25] * 4).ravel()).to_dict()
    assert report.totals()["prediction_leakage"] == pytest.approx(truth["prediction_leakage"], abs=0.03)
    assert report.totals()["largest_posterior"] > 0.9
    # One answer leaves two values, the other too: the two pairs meet in one value in two thirds of all rows.
    assert report.guesses["x"] == pytest.approx(1 / 3 * 0.5 + 2 / 3, abs=0.03)
    assert "an answer to one also reveals something about the others" in str(report.summary())


def test_a_table_too_large_for_its_joint_says_the_worst():
    survey = sp.product({name: sp.uniform(range(6)) for name in "abcd"})
    rng = np.random.default_rng(4)
    report = sp.audit(sp.privatize({name: rng.integers(0, 6, 2000) for name in "abcd"}, survey, seed=3))
    assert report.joint is None
    assert report.guesses == {}
    assert report.totals()["largest_posterior"] == 1


def test_arguments_of_an_audit_of_a_table():
    survey = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
    table = sp.privatize({"x": list("abcd") * 50, "y": list("rstu") * 50}, survey, seed=3)
    for what in (table, survey):
        with refused(ArgumentError, "prior"):
            sp.audit(what, {"x": W4, "y": W4}, prior={"x": W4, "y": W4})
        with pytest.raises(ArgumentError, match="got none for y"):
            sp.audit(what, {"x": W4})
    with refused(ArgumentError, "w"):
        sp.audit(table, W4)


def test_persons_of_a_covered_release_are_seen_as_the_base_shows_them():
    w = [0.7, 0.2, 0.07, 0.03]
    data = sp.privatize(
        np.random.default_rng(5).choice(list("abcd"), 4000, p=w), sp.covered(sp.uniform(list("abcd")), 0.2)
    )
    people = sp.person_leakage(data, w)
    pair = people.codes == 0b1100
    assert people.guess_posterior[pair] == pytest.approx(np.full(pair.sum(), 0.7))  # .07 of .1
    assert people.guess[pair].tolist() == [2] * pair.sum()


def test_persons_beside_a_bit_tell_on_average_what_the_audit_says():
    w, design = [0.7, 0.3], sp.warner(["n", "y"])
    data = sp.privatize(np.random.default_rng(6).choice(["n", "y"], 200_000, p=w), design, seed=7)
    people = sp.person_leakage(data, w)
    assert people.mi_leakage.mean() == pytest.approx(sp.audit(design, w).to_dict()["mi_leakage"], abs=2e-3)


def test_a_mixture_of_products_with_a_bit_is_the_whole_channel():
    bit = sp.warner(["n", "y"])
    parts = [sp.product({"s": bit, "x": other}) for other in (sp.uniform(list("abcd")), sp.fixed_size(list("abcd"), 3))]
    counts = sum(sp.simulate(part, np.full(8, 1 / 8), 1000, seed=1) for part in parts)
    w = np.arange(1, 9) / 36
    facts = sp.audit(counts.design, w).to_dict()
    assert {key: facts[key] for key in by_hand(counts.design, w)} == pytest.approx(by_hand(counts.design, w))
    assert facts["size_leakage"] <= facts["size_nonprivate"]


def test_the_price_of_a_cover_counts_people():
    design, w = sp.covered(sp.uniform(list("abcd")), 0.1), np.array(W4)
    counts = sp.simulate(design, w, 200_000, seed=8)
    fit = sp.estimate(counts)
    direct = (w * (1 - w)).sum() / 200_000
    assert sp.audit(design, w).cost == pytest.approx(float((fit.se**2).sum() / direct), rel=0.03)


def test_very_many_categories_can_be_drawn():
    assert sp.audit(sp.hadamard(60), np.full(60, 1 / 60)).plot() is not None


# Names --------------------------------------------------------------------------------------------


@every_case(
    ("name", "design"),
    {
        "uniform": sp.uniform(range(4)),
        "independent": sp.independent(range(4), {(0, 1): 0.5, (0, 2): 0.3, (0, 3): 0.2}),
        "fixed_size": sp.fixed_size(range(3), 2),
        "partition": sp.partition(range(6), 3),
        "hadamard": sp.hadamard(range(6)),
        "warner": sp.warner(["no", "yes"]),
        "nonprivate": sp.nonprivate(range(3)),
        "fully_private": sp.fully_private(range(3)),
    }.items(),
)
def test_a_design_is_called_by_the_function_that_makes_it(name, design):
    report = sp.audit(design, np.full(design.p, 1 / design.p))
    assert report.to_dict()["design"] == name
    assert str(report.summary()).startswith(f"Privacy audit: {name} design")
    assert repr(report).startswith(f"<Audit of a {name} design")
    assert callable(getattr(sp, name))
