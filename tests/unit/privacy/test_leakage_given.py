"""What rows with covariates reveal: every number by brute force, the laws, the attacker's side, and bad input."""

import json
import pickle

import numpy as np
import pytest
from every_case import every_case
from lopsided import ABCD, ASKED, GIVEN, NUMBERED, RECORDED
from problems import mixture, with_full_question
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Mixture, coarse
from subsetprivacy.design.secret_bit import uniform_with_bit
from subsetprivacy.errors import (
    ArgumentError,
    CodeError,
    DistributionError,
    MismatchError,
    NoDataError,
    NotPrivateWarning,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.messages import NoteKind
from subsetprivacy.privacy import metrics, posteriors
from subsetprivacy.privacy.attacker import Setting
from subsetprivacy.privacy.given import alone_in_covariates, leakage_given

DESIGNS = {
    "asked": ASKED,
    "given": GIVEN,
    "uniform": sp.uniform(range(5)),
    "fixed size": sp.fixed_size(ABCD, 3),
    "partition": sp.partition(range(6), 3),
    "recorded partition": RECORDED,
    "with full sets": with_full_question(),
    "mixture": mixture(),
    "hadamard": sp.hadamard(range(6)),
    "numbered hadamard": sp.hadamard(range(50)),
    "warner": sp.warner(["no", "yes"], 0.2),
    "bit": uniform_with_bit(["x", "y", "z"], 0.3),
    "product": sp.product({"u": ASKED, "v": sp.warner(["no", "yes"])}),
    "product of numbers": NUMBERED,
    "nonprivate": sp.nonprivate(ABCD),
    "fully private": sp.fully_private(ABCD),
}
EVERY_DESIGN = every_case("design", DESIGNS.values(), ids=DESIGNS)
ATTACKERS = ("nothing", "subset", "covariates", "both")
QUANTITIES = ("best_guess", "information", "above_90", "above_95", "above_99", "largest_posterior", "size_leakage")


def model(p, n=7, seed=1, spread=0.3):
    """Probabilities of n rows, some of them nearly certain, one of them certain not to be the first category."""
    P = np.random.default_rng(seed).dirichlet(np.full(p, spread), n)
    P[0, 0] = 0
    return P / P.sum(axis=1, keepdims=True)


def reports(design):
    """P(a | j) of each report, from members and known parts alone; shape (reports, p)."""
    codes, mu = design.support()
    if hasattr(design, "lift"):  # a value and a bit
        inside = np.array([[design.inner.contains(code, np.int64(y)) for y in range(design.inner.p)] for code in codes])
        return mu[:, None] * (inside @ design.lift)
    if design.product is not None:
        first, second = map(reports, design.factors)
        return np.array([np.kron(a, b) for a in first for b in second])
    return mu[:, None] * np.array([[design.contains(code, np.int64(j)) for j in range(design.p)] for code in codes])


def entropy(w):
    return -sum(x * np.log2(x) for x in w if x > 0)


def average(cases, prior):
    """Average over (chance, posterior, size) cases, one by one."""
    told = sum(chance * entropy(posterior) for chance, posterior, _ in cases)
    tops = [(chance, max(posterior)) for chance, posterior, _ in cases if chance > 0]
    above = [sum(chance for chance, top in tops if top > t + 1e-12) for t in (0.9, 0.95, 0.99)]
    return (
        sum(chance * top for chance, top in tops),
        entropy(prior) - told,
        *above,
        max(top for _, top in tops),
        1 - sum(chance * size for chance, _, size in cases),
    )


def enumerated(design, P, v):
    """The four attackers by Bayes' rule, over all rows, reports and values. Without size if nothing is ruled out."""
    w, law = v @ P, reports(design)
    scale = design.support()[1]
    cases = {name: [] for name in ATTACKERS}
    cases["nothing"].append((1.0, w, 1.0))
    for i in range(len(P)):
        cases["covariates"].append((v[i], P[i], 1.0))
        for a in range(len(law)):
            joint, alone = law[a] * P[i], law[a] * w
            if joint.sum() > 0:
                chance = v[i] * joint.sum()
                cases["both"].append((chance, joint / joint.sum(), joint.sum() / scale[a]))
                cases["subset"].append((chance, alone / alone.sum(), alone.sum() / scale[a]))
    rules_out = bool((law == 0).any())
    return {name: dict(zip(QUANTITIES[: 6 + rules_out], average(result, w))) for name, result in cases.items()}


def numbers(views):
    known = QUANTITIES[: 6 + np.isfinite(views["both"].size_leakage)]
    return {who: {name: getattr(view, name) for name in known} for who, view in views.items()}


# Numbers ------------------------------------------------------------------------------------------


@EVERY_DESIGN
@every_case("weighted", [False, True])
def test_every_number_by_enumeration(design, weighted):
    P = model(design.p)
    weights = np.arange(1.0, 8) if weighted else None
    v = np.full(7, 1 / 7) if weights is None else weights / weights.sum()
    result = leakage_given(design, P, weights=weights)
    expected = enumerated(design, P, v)
    for who in ATTACKERS:
        assert numbers(result.expected)[who] == pytest.approx(expected[who], abs=1e-10), who
    assert result.w == pytest.approx(v @ P)
    assert result.added_information == pytest.approx(result.both.information - result.covariates.information)
    assert result.published is None
    assert result.simulation_error == 0


@EVERY_DESIGN
def test_rows_that_were_published_by_hand(design):
    P = model(design.p, n=9, spread=2.0)
    P[:, 0] = 0.1  # no row rules a value out
    P /= P.sum(axis=1, keepdims=True)
    codes = np.resize(np.append(design.support()[0], design.missing_code), 9)
    result = leakage_given(design, P, codes=codes)
    w = P.mean(axis=0)
    rows = {int(code): row / mu for code, row, mu in zip(design.support()[0], reports(design), design.support()[1])}
    rows.setdefault(design.missing_code, np.ones(design.p))
    for who, believed in (("subset", np.tile(w, (9, 1))), ("both", P)):
        joint = np.array([rows[int(code)] for code in codes]) * believed
        L = joint.sum(axis=1)
        expected = average([(1 / 9, q / L[i], L[i]) for i, q in enumerate(joint)], w)
        found = list(numbers(result.published)[who].values())
        assert found == pytest.approx(expected[: len(found)], abs=1e-10), who
    for who in ("nothing", "covariates"):
        assert result.published[who] == result.expected[who]


@EVERY_DESIGN
def test_without_covariates_the_subset_is_that_of_the_audit(design):
    w = model(design.p)[1]
    result, setting = leakage_given(design, np.tile(w, (3, 1))), Setting.of(design, w)
    assert result.subset.best_guess == pytest.approx(metrics.prediction_leakage(setting))
    assert result.subset.information == pytest.approx(metrics.mi_leakage(setting).value)
    size = metrics.size_leakage(setting) if design.rules_out else np.nan
    assert result.subset.size_leakage == pytest.approx(size, nan_ok=True)
    assert result.subset.largest_posterior == pytest.approx(design.largest_posterior(w))
    assert numbers(result.expected)["both"] == pytest.approx(numbers(result.expected)["subset"])
    assert numbers(result.expected)["covariates"] == pytest.approx(numbers(result.expected)["nothing"])


# Laws ---------------------------------------------------------------------------------------------


@EVERY_DESIGN
@every_case("spread", [0.1, 1.0, 10.0])
def test_laws_of_what_a_subset_adds(design, spread):
    result = leakage_given(design, model(design.p, n=40, seed=3, spread=spread))
    assert result.both.best_guess <= design.S * result.covariates.best_guess + 1e-9
    assert result.both.best_guess >= max(result.covariates.best_guess, result.subset.best_guess) - 1e-9
    assert -1e-9 <= result.added_information <= result.subset.information + 1e-9
    assert result.both.information <= entropy(result.w) + 1e-9
    # Q is positive semidefinite, so covariates never raise the share that is ruled out.
    assert not design.rules_out or result.both.size_leakage <= result.subset.size_leakage + 1e-9


def test_the_bound_holds_row_by_row_and_is_reached():
    P = np.array([[0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.1, 0.1]])
    with pytest.warns(NotPrivateWarning):
        rows = leakage_given(sp.uniform(ABCD), P).rows()
    assert rows["expected_best_guess"] == pytest.approx([0.5, 0.8])  # twice 0.25; less than twice 0.7
    assert rows["covariates_best_guess"] == pytest.approx([0.25, 0.7])


def test_the_extremes():
    P = model(4)
    open_, closed = (leakage_given(make(ABCD), P) for make in (sp.nonprivate, sp.fully_private))
    assert open_.both.above_99 == pytest.approx(1)
    assert open_.both.best_guess == pytest.approx(1)
    assert open_.both.information == pytest.approx(entropy(P.mean(axis=0)))
    assert numbers(closed.expected)["both"] == pytest.approx(numbers(closed.expected)["covariates"])
    assert numbers(closed.expected)["subset"] == pytest.approx(numbers(closed.expected)["nothing"])


def test_a_posterior_of_exactly_the_threshold_is_not_above_it():
    result = leakage_given(sp.fully_private(["a", "b"]), [[0.95, 0.05], [0.9, 0.1], [0.99, 0.01], [0.5, 0.5]])
    assert (result.both.above_90, result.both.above_95, result.both.above_99) == (0.5, 0.25, 0)


def test_the_order_of_categories_and_rows_is_irrelevant():
    P = model(4, n=30)
    back = leakage_given(sp.uniform(ABCD[::-1]), P[::-1, ::-1])
    assert numbers(back.expected)["both"] == pytest.approx(numbers(leakage_given(sp.uniform(ABCD), P).expected)["both"])


def test_a_weight_of_two_is_the_row_twice():
    P = model(4, n=3)
    twice = leakage_given(GIVEN, P[[0, 0, 1, 2]])
    assert numbers(leakage_given(GIVEN, P, weights=[2, 1, 1]).expected)["both"] == pytest.approx(
        numbers(twice.expected)["both"]
    )


def test_many_rows_and_many_subsets_are_worked_on_in_parts(monkeypatch):
    P = model(5, n=50)
    whole = leakage_given(sp.uniform(range(5)), P)
    monkeypatch.setattr(posteriors, "_CELLS", 16)
    assert numbers(leakage_given(sp.uniform(range(5)), P).expected)["both"] == pytest.approx(
        numbers(whole.expected)["both"]
    )


def test_the_marital_status_pattern_is_a_fact_of_bayes_rule():
    # Two values that covariates leave, one of which the subset rules out: 0 and 0 make a quarter.
    P = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    result = leakage_given(sp.uniform(ABCD), P)
    assert (result.subset.above_95, result.covariates.above_95) == (0, 0)
    assert result.both.above_95 == pytest.approx(2 / 3)


# Simulation ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["given", "warner", "mixture"])
def test_simulated_rows_agree_with_the_sum(name, monkeypatch):
    design = DESIGNS[name]
    P, weights = model(design.p), np.arange(1.0, 8)
    exact = leakage_given(design, P, weights=weights)
    monkeypatch.setattr(posteriors, "MOST_PRODUCTS", 0)
    result = leakage_given(design, P, weights=weights)
    assert 0 < result.simulation_error < 0.003
    for who in ATTACKERS:
        del (a := numbers(result.expected)[who])["largest_posterior"]
        del (b := numbers(exact.expected)[who])["largest_posterior"]
        assert a == pytest.approx(b, abs=4 * result.simulation_error), who
    assert result.both.largest_posterior <= exact.both.largest_posterior + 1e-12
    assert NoteKind.SIMULATED in {note.kind for note in result.notes}
    with pytest.warns(NotPrivateWarning):
        assert set(result.rows()) == {"covariates_best_guess"}


def test_a_design_that_cannot_be_listed_is_simulated():
    result = leakage_given(sp.uniform(range(40)), model(40, n=20))
    assert result.simulation_error > 0
    assert result.both.best_guess <= 2 * result.covariates.best_guess
    assert result.added_information <= result.subset.information + 4 * result.simulation_error


def test_a_design_that_can_neither_be_listed_nor_drawn_is_refused():
    design = Mixture.of([sp.fixed_size(range(40), 20), sp.fixed_size(range(40), 19)], [1, 1])
    with pytest.raises(TooLargeError):
        leakage_given(design, np.full((2, 40), 1 / 40))


# The attacker -------------------------------------------------------------------------------------


def test_an_attacker_with_bayes_rule_gets_the_reported_shares():
    rng = np.random.default_rng(5)
    n, labels = 4000, ["single", "married", "divorced", "widowed"]
    by_age = {"young": [0.9, 0.08, 0.02, 0.0], "middle": [0.15, 0.65, 0.18, 0.02], "old": [0.03, 0.47, 0.1, 0.4]}
    age = rng.choice(list(by_age), n)
    value = np.array([rng.choice(labels, p=by_age[a]) for a in age])
    data = sp.privatize(value, sp.uniform(labels), seed=rng)

    # What is published are the columns age and subset. The attacker has the shares by age from a table of the office.
    certain = right = 0
    for a, subset in zip(age, data.labels()):
        left = {label: share for label, share in zip(labels, by_age[a]) if label in subset}
        guess = max(left, key=left.get)
        certain += left[guess] / sum(left.values()) > 0.95
    result = leakage_given(data.design, [by_age[a] for a in age], codes=data.codes)
    assert result.published["both"].above_95 == pytest.approx(certain / n, abs=1e-12)
    # The draw differs from its expectation by chance only, and a guess is right as often as it claims.
    assert abs(result.both.above_95 - certain / n) < 4 * np.sqrt(0.25 / n)
    for a, subset, truth in zip(age, data.labels(), value):
        right += max((share, label) for label, share in zip(labels, by_age[a]) if label in subset)[1] == truth
    assert abs(result.both.best_guess - right / n) < 4 * np.sqrt(0.25 / n)


# Persons ------------------------------------------------------------------------------------------


@pytest.fixture
def made():
    rng = np.random.default_rng(2)
    P = model(5, n=60, seed=2, spread=0.7)
    x = [int(rng.choice(5, p=row)) for row in P]
    data = sp.privatize(x, sp.uniform(range(5)), seed=rng)
    return leakage_given(data.design, P, codes=data.codes, alone=np.arange(60) < 6), P, data


def test_rows_are_given_on_request_with_a_warning(made):
    result, P, _ = made
    with pytest.warns(NotPrivateWarning, match=r"guesses of the values of single people.*do not publish or store"):
        rows = result.rows()
    assert {column.shape for column in rows.values()} == {(60,)}
    assert rows["covariates_best_guess"] == pytest.approx(P.max(axis=1))
    for name in ("best_guess", "size_leakage", "above_95"):
        assert rows[f"expected_{name}"].mean() == pytest.approx(getattr(result.expected["both"], name))
        assert rows[f"published_{name}"].mean() == pytest.approx(getattr(result.published["both"], name))
    assert rows["expected_information"].mean() == pytest.approx(result.added_information)
    assert rows["largest_posterior"].max() == pytest.approx(result.both.largest_posterior)
    rows["published_best_guess"][:] = 0  # a copy
    with pytest.warns(NotPrivateWarning):
        assert result.rows()["published_best_guess"].max() > 0


def flat(facts):
    if isinstance(facts, dict):
        return [x for inner in facts.values() for x in flat(inner)]
    return [x for inner in facts for x in flat(inner)] if isinstance(facts, list) else [facts]


def test_nothing_that_is_written_holds_the_posterior_of_a_person(made):
    result, P, data = made
    with pytest.warns(NotPrivateWarning):
        rows = result.rows()
    private = np.concatenate([rows["published_best_guess"], P.max(axis=1), rows["expected_best_guess"]])
    largest = {view.largest_posterior for views in (result.expected, result.published) for view in views.values()}
    private = [x for x in private if not np.isclose(list(largest), x, atol=1e-9).any()]
    assert len(private) > 100
    for facts in (result.to_dict(), sp.audit(data, given=P).to_dict(), result.to_frame().to_dict("list")):
        written = np.array([x for x in flat(facts) if isinstance(x, float)])
        assert not np.isclose(written[:, None], private, rtol=0, atol=1e-9).any()
    texts = [str(result.summary()), repr(result), result._repr_html_(), json.dumps(result.to_dict())]
    assert not [x for x in private for text in texts if f"{x:.6f}" in text]


def test_files_have_no_rows(made):
    result = made[0]
    assert b"published_best_guess" not in pickle.dumps(result)
    for read in (pickle.loads(pickle.dumps(result)), sp.CovariateLeakage.from_dict(result.to_dict())):
        assert read.to_dict() == result.to_dict()
        with pytest.raises(ArgumentError, match=r"`rows` must be computed from the original result"):
            read.rows()


# Words --------------------------------------------------------------------------------------------


def kinds(found):
    return [note.kind for note in found.notes]


def test_the_first_line_is_the_share_above_95_with_the_part_of_the_covariates(made):
    table = made[0].summary()
    found = made[0]
    assert table.title == (
        f"Leakage given covariates: in {100 * found.both.above_95:.1f}% of the rows one value is more than 95% likely "
        f"({100 * found.covariates.above_95:.1f}% from covariates alone)"
    )
    assert table.rows[0][0] == "rows with one value above 95%"
    assert table.columns == ("quantity", *ATTACKERS, "subset, published", "both, published")
    assert kinds(found)[:2] == [NoteKind.NOT_PROTECTED, NoteKind.LEAKAGE]
    assert "promises less privacy than publishing subsets" in found.notes[0].text


def test_the_worst_number_is_named_with_what_to_do():
    both = leakage_given(sp.uniform(ABCD), [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]).notes[1]
    assert both.text.startswith(
        "Worst case: from subset and covariates together, one value has a probability above 95% in 66.7%"
    )
    assert both.advice.name == "publish_less"
    # A frequent value: covariates make it less certain.
    subset = leakage_given(sp.uniform(ABCD), [[*np.roll([0.05, 0.01, 0.01], k), 0.93] for k in range(3)])
    assert subset.subset.above_95 > subset.both.above_95
    assert "from the subset alone" in subset.notes[1].text
    assert "Covariates can also make a value less certain" in subset.notes[1].text
    none = leakage_given(sp.uniform(ABCD), [[0.25] * 4]).notes[1]
    assert none.text == "In no row does one value have a probability above 95%. The largest probability is 0.5000."
    assert none.advice is None


def test_shares_that_are_not_0_are_not_printed_as_0():
    P = np.tile([0.25] * 4, (5000, 1))
    P[0] = 0.97, 0.01, 0.01, 0.01
    result = leakage_given(sp.fully_private(ABCD), P)
    assert result.finding.endswith("(less than 0.1% from covariates alone)")
    sure = leakage_given(sp.fully_private(["a", "b"]), [[0.99999, 0.00001]])
    assert "The largest probability is more than 0.9999." in sure.notes[1].text


def test_rows_that_are_alone_in_their_covariates(made):
    found, P, data = made
    assert found.alone == 6
    with pytest.warns(NotPrivateWarning):
        assert found.alone_above_95 == pytest.approx(found.rows()["expected_above_95"][:6].mean())
    note = next(note.text for note in found.notes if "no other row has" in note.text)
    assert note.startswith("6 rows have covariates that no other row has.")
    assert f"In {100 * found.alone_above_95:.1f}% of such rows" in note
    none = leakage_given(data.design, P, alone=np.zeros(60, bool))
    assert none.alone == 0
    assert not any("no other row has" in note.text for note in none.notes)
    assert leakage_given(data.design, P).alone is None


def test_rows_are_compared_as_a_whole():
    X = np.array([[1, 2], [1, 3], [1, 2], [0.0, 5], [-0.0, 5], [7, 7]])
    assert alone_in_covariates(X).tolist() == [False, True, False, False, False, True]
    assert alone_in_covariates(np.empty((2, 0))).tolist() == [False, False]
    assert alone_in_covariates([[3.0]]).tolist() == [True]


def test_an_unknown_design_is_read_at_the_published_rows():
    data = sp.SubsetData([0b0011, 0b1100, 0b0001], coarse(ABCD))
    P = model(4, n=3, spread=3.0)
    result = leakage_given(data.design, P, codes=data.codes)
    assert result.expected is None
    assert result.both is result.published["both"]
    assert result.both.largest_posterior == 1
    assert np.isnan(result.S)
    assert kinds(result)[-1] is NoteKind.UNKNOWN_DESIGN
    assert sp.CovariateLeakage.from_dict(result.to_dict()).to_dict() == result.to_dict()
    with pytest.raises(UnknownDesignError):
        leakage_given(data.design, P)


def test_a_covered_design_is_read_as_its_base():
    covered = sp.covered(sp.uniform(ABCD), 0.1)
    P = model(4)
    assert numbers(leakage_given(covered, P).expected) == numbers(leakage_given(covered.base, P).expected)
    with refused(ArgumentError, "codes"):
        leakage_given(covered, P, codes=[3] * 7)


# Bad input ----------------------------------------------------------------------------------------

GOOD = np.full((3, 4), 0.25)


def changed(row, value):
    P = GOOD.copy()
    P[row] = value
    return P


BAD = {
    "sums": (changed(1, 0.3), DistributionError, "1 row that does not, first in row 1"),
    "percent": (GOOD * 100, DistributionError, "3 rows that do not, first in row 0"),
    "nan": (changed(2, np.nan), DistributionError, "1 row that is not, first in row 2"),
    "infinite": (changed(2, np.inf), DistributionError, "1 row that is not, first in row 2"),
    "negative": (changed(0, [1.5, -0.5, 0, 0]), DistributionError, "1 row that has one, first in row 0"),
    "classes": (np.full((3, 5), 0.2), MismatchError, r"shape \(3, 5\)"),
    "vector": ([0.25] * 4, MismatchError, r"shape \(4,\)"),
    "text": ([["a", "b", "c", "d"]], DistributionError, "list"),
    "ragged": ([[0.5, 0.5], [1.0]], DistributionError, "list"),
    "empty": (np.empty((0, 4)), NoDataError, "none"),
}


@every_case(("P", "error", "got"), BAD.values(), ids=BAD)
def test_probabilities_that_are_none(P, error, got):
    with pytest.raises(error, match=f"`P` .*; got {got}"):
        leakage_given(sp.uniform(ABCD), P)


@every_case(
    ("arguments", "error", "argument"),
    [
        ({"codes": [3, 3]}, MismatchError, "codes"),
        ({"codes": [3, 1, 3]}, CodeError, "codes"),
        ({"codes": ["a|b"] * 3}, CodeError, "codes"),
        ({"weights": [1, 1]}, MismatchError, "weights"),
        ({"weights": [1, -1, 1]}, ArgumentError, "weights"),
        ({"weights": [0, 0, 0]}, ArgumentError, "weights"),
        ({"weights": [1, np.nan, 1]}, ArgumentError, "weights"),
        ({"weights": ["x"] * 3}, ArgumentError, "weights"),
        ({"alone": [True]}, MismatchError, "alone"),
        ({"alone": [0, 1, 2]}, ArgumentError, "alone"),
    ],
)
def test_other_arguments_that_do_not_fit(arguments, error, argument):
    with refused(error, argument):
        leakage_given(sp.uniform(ABCD), GOOD, **arguments)


def test_subsets_that_their_probabilities_rule_out_are_counted_and_not_shown():
    P = [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0.25] * 4]
    with pytest.raises(MismatchError, match=r"must be possible under .*; got 1 code that is not, first in row 1\.$"):
        leakage_given(sp.uniform(ABCD), P, codes=[0b0011, 0b1100, 0b1100])


def test_messages_hold_no_number_of_a_row():
    P = changed(1, [0.123456, 0.2, 0.3, 0.4])
    with pytest.raises(DistributionError, match="first in row 1") as caught:
        leakage_given(sp.uniform(ABCD), P)
    assert "0.12" not in str(caught.value)
    assert "1.02" not in str(caught.value)
