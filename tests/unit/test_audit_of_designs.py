"""The audit of the newer designs: what is revealed, to whom, and at what price."""

import json

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.auditing import price
from subsetprivacy.errors import ArgumentError

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


@pytest.mark.parametrize(
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
    assert facts["size_leakage"] <= facts["size_nonprivate"] + 1e-12
    json.dumps(facts, allow_nan=False)


def test_what_the_routes_for_few_categories_reveal():
    assert sp.audit(sp.small(["n", "y"]), [0.5, 0.5]).reveals == {"the value": 0}
    assert sp.audit(sp.small(["n", "y"], "bit", reveals=True), [0.7, 0.3]).reveals["the value"] == pytest.approx(1 / 3)
    assert sp.audit(sp.small(["n", "y"], "dummies", reveals=True), [0.7, 0.3]).reveals["the value"] == pytest.approx(1)
    joined = sp.audit(sp.join({"s": ["f", "m"], "t": [0, 1]}, reveals=True), W4)
    assert joined.reveals == pytest.approx({"s": 1 / 3, "t": 1 / 3})
    assert "Revealed exactly: s, in 33.3 % of the rows." in str(joined.summary())
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
    assert {key: facts[key] for key in plain if key != "design"} == {k: v for k, v in plain.items() if k != "design"}
    assert facts["floor"] == 0.1
    assert facts["dummy_share"] == pytest.approx(0.2)
    text = str(report.summary())
    assert text.startswith("Privacy audit: covered uniform design")
    assert "Floor: every row could have been sent by 10 % of the rows at least" in text
    both = sp.covered(sp.product({"x": base, "y": sp.partition(range(6), 3)}), 0.05)
    assert "0.05 for all together; alone, x 0.15, y 0.1." in str(sp.audit(both, np.full(24, 1 / 24)).summary())


def test_data_of_a_covered_design_are_audited_with_intervals():
    data = sp.privatize(list("abbccddddd") * 100, sp.covered(sp.uniform(list("abcd")), 0.1), seed=1)
    facts = sp.audit(data).to_dict()
    assert facts["mi_leakage_lower"] < facts["mi_leakage"] < facts["mi_leakage_upper"]
    assert facts["n"] == 1250


def test_the_price_meets_its_bound_for_balanced_designs():
    for design in (sp.uniform(range(7)), sp.partition(range(9), 3), sp.fixed_size(range(6), 2), sp.hadamard(range(16))):
        even = np.full(design.p, 1 / design.p)
        assert price.cost(design, even) == pytest.approx(price.bound(design), rel=1e-9)
    assert np.isnan(price.cost(sp.uniform(range(4)), np.array([0, 0.5, 0.25, 0.25])))
    assert price.bound(sp.fully_private(range(4))) == np.inf


def test_more_hadamard_questions_are_cheaper_where_the_distribution_is_uneven():
    w = np.array([0.6, 0.2, 0.08, 0.05, 0.03, 0.02, 0.01, 0.01])
    costs = [sp.audit(sp.hadamard(range(8), questions=q), w).cost for q in (None, 15, 31)]
    assert costs[0] > costs[1] > costs[2]


def test_several_variables_add_up():
    survey = sp.product({"x": sp.uniform(list("abcd")), "y": sp.partition(range(6), 3)})
    w = {"x": W4, "y": np.full(6, 1 / 6)}
    report = sp.audit(survey, w)
    total, joint = report.totals(), sp.audit(survey, np.kron(W4, np.full(6, 1 / 6))).to_dict()
    assert total["mi_leakage"] == pytest.approx(joint["mi_leakage"])  # independent variables: the sum is exact
    assert total["maximal_leakage"] == pytest.approx(joint["maximal_leakage"])
    assert total["prediction_leakage"] == pytest.approx(joint["prediction_leakage"])
    assert total["smallest_set"] == joint["smallest_set"]
    assert total["largest_posterior"] == pytest.approx(joint["largest_posterior"])
    assert "together" in str(report.summary())
    assert report.to_frame().index.tolist() == ["x", "y", "together"]
    assert set(report.to_dict()["variables"]) == {"x", "y"}
    assert "<caption>" in report._repr_html_()
    assert "2.58 bit at most" in repr(report)


def test_dependent_variables_leak_at_most_the_sum():
    survey = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("abcd"))})
    same = np.diag(W4).ravel()  # the second answer says nothing new of the person, but much of the first
    parts = sp.audit(survey, {"x": W4, "y": W4}).totals()["mi_leakage"]
    assert sp.audit(survey, same).to_dict()["mi_leakage"] < parts


def test_a_table_is_audited_from_its_columns():
    survey = sp.product({"x": sp.uniform(list("abcd")), "y": sp.uniform(list("rstu"))})
    table = sp.privatize({"x": list("abcd") * 500, "y": list("rstu") * 500}, survey, seed=3)
    report = sp.audit(table)
    fit = sp.estimate(table["x"])
    assert report.parts["x",].setting.w == pytest.approx(fit.w)
    with pytest.raises(ArgumentError, match="one variable at a time"):
        sp.audit(table, prior={"x": W4, "y": W4})
    with pytest.raises(ArgumentError, match="got none for y"):
        sp.audit(survey, {"x": W4})
