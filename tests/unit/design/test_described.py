"""A design says what it is: by name, in sentences, in numbers, in a formula, and to a browser."""

import numpy as np
import pytest
from every_case import every_case
from problems import lopsided, lopsided_conditional, mixture

import subsetprivacy as sp
from subsetprivacy.design import Mixture, document
from subsetprivacy.design.secret_bit import uniform_with_bit

CLASSES = [pytest.param(one, id=one.__name__) for classes in document.kinds().values() for one in classes]


@every_case("kind", CLASSES)
def test_every_kind_says_what_it_is(kind):
    design = kind.example()
    assert isinstance(design, kind)
    assert design.name == design.name.strip() != ""
    assert design.description.endswith(".")
    assert "  " not in design.description
    assert design.formula.reports
    assert r"P(a" in design.formula.probability
    assert sp.design_from_json(design.to_json()) == design


@every_case("kind", CLASSES)
def test_an_example_has_the_reports_that_it_counts(kind):
    design = kind.example()
    if not design.is_known:
        assert design.report_count is None
        return
    assert design.report_count == len(design.support()[0])


@every_case(
    ("design", "count"),
    [
        (sp.uniform(range(40)), 2**40 - 2 * 40 - 2),
        (sp.fixed_size(range(40), 20), 137846528820),
        (sp.partition(range(40), 3), 12033222880 + 23206929840),
        (sp.hadamard(1000), 2 * 1023),
        (sp.product({"x": sp.uniform(range(40)), "y": sp.uniform(range(4))}), 6 * (2**40 - 82)),
        (sp.covered(sp.uniform(range(40)), 0.1), 2 * (2**40 - 82)),
        (Mixture.of([sp.uniform(range(40)), sp.fixed_size(range(40), 3)], [1, 1]), None),
    ],
    ids=str,
)
def test_reports_that_nobody_could_list_are_counted(design, count):
    assert not design.enumerable or design.kind == "hadamard"
    assert design.report_count == count


def test_labels_tell_designs_of_one_kind_apart():
    labels = [
        design.label
        for design in (
            sp.hadamard(range(6)),
            sp.partition(range(6), 3),
            sp.fixed_size(range(6), 2),
            sp.warner(["no", "yes"], 0.3),
            uniform_with_bit(["no", "yes"]),
            sp.covered(sp.uniform(range(4)), 0.1),
        )
    ]
    assert labels == [
        "hadamard, 7 questions",
        "partition, 3 groups",
        "fixed_size, 2",
        "warner, q = 0.3",
        "artificial_bit",
        "uniform, floor 0.1",
    ]


# What a browser draws by --------------------------------------------------------------------------


def chances(design):
    """The probability of each report given each value, from the rule alone."""
    rule, p = design.browser_rule, design.p
    result = {}
    if rule["rule"] == "listed":
        total = sum(rule["weights"])
        for row, weight in zip(rule["questions"].tolist(), rule["weights"], strict=True):
            for code in row:
                for j in range(p):
                    if code >> j & 1:
                        result[code, j] = result.get((code, j), 0) + weight / total
        return result
    for j in range(p):
        around = {code: weight for code, weight in zip(rule["subsets"], rule["weights"], strict=True) if code >> j & 1}
        result |= {(int(code), j): weight / sum(around.values()) for code, weight in around.items()}
    return result


@every_case(
    "design",
    [
        lopsided(),
        lopsided_conditional(),
        sp.hadamard(range(6)),
        sp.partition(range(6), partitions=[[(0, 1), (2, 3), (4, 5)], [(0, 2), (1, 4), (3, 5)]]),
    ],
    ids=str,
)
def test_a_rule_that_lists_has_the_distribution_of_the_design(design):
    codes, mu = design.support()
    expected = {(int(code), j): m for code, m in zip(codes, mu, strict=True) for j in range(design.p) if code >> j & 1}
    assert chances(design) == pytest.approx(expected)
    rule = design.browser_rule
    assert design.list_length == len(rule["weights"])


@every_case(
    ("design", "rule"),
    [
        (sp.uniform(range(5)), {"rule": "uniform"}),
        (sp.partition(range(7), 3), {"rule": "groups", "sizes": [3, 2, 2]}),
        (sp.fixed_size(range(5), 2), {"rule": "companions", "size": 2}),
        (sp.fixed_size(range(6), 3), {"rule": "groups", "sizes": [3, 3]}),
        (sp.warner(["no", "yes"], 0.2), {"rule": "bit", "q": 0.2}),
        (uniform_with_bit(["no", "yes"]), None),
        (sp.covered(lopsided(), 0.1), None),
        (mixture(), None),
        (sp.partition(range(6), partitions=[[(0, 1), (2, 3), (4, 5)]], record=True), None),
    ],
    ids=str,
)
def test_a_rule_without_a_list(design, rule):
    assert design.browser_rule == rule


# What it is asked by others -----------------------------------------------------------------------


@every_case("design", [sp.uniform(range(6)), sp.fixed_size(range(5), 3), lopsided(), sp.hadamard(50)])
def test_the_most_telling_report_is_that_of_the_largest_posterior(design):
    w = np.arange(1, design.p + 1) ** 2 / (np.arange(1, design.p + 1) ** 2).sum()
    code, j = design.most_telling(w)
    inside = design.contains(np.int64(code), np.arange(design.p))
    assert inside[j]
    assert design.mu(np.array([code]))[0] > 0
    assert w[j] / w[inside].sum() == pytest.approx(design.largest_posterior(w))


def test_the_most_telling_answer_about_a_secret_number_is_in_words():
    design = sp.warner(["no", "yes"], 0.2)
    code, j = design.most_telling(np.array([0.9, 0.1]))
    assert (design.report_text(code), j) == ("the numbers are the same", 0)


@every_case("design", [sp.uniform(range(6)), sp.fixed_size(range(6), 3), lopsided(), sp.hadamard(range(6))])
def test_reports_within_a_set_are_those_of_the_support(design):
    support = design.support()[0]
    for held in range(1, 1 << design.p):
        listed = any(code & ~held == 0 for code in support.tolist())
        assert design.reports_within(np.array([held])) == listed


def test_a_design_without_dummies_has_none_and_needs_no_rows():
    design = sp.uniform(range(4))
    assert (design.dummy_rows(100), design.dummy_share, design.dummy_categories) == (0, 0.0, 0)
    design.require_rows(17)
    assert design.planned() is design


def test_people_behind_rows():
    full = sp.conditional(range(4), {(0, 1): 0.5, (2, 3): 0.5, (0, 1, 2, 3): 0.5})
    assert full.people_in(100) == 200
    assert sp.covered(sp.uniform(range(4)), 0.1).realized(1000).people_in(1250) == 1000


@every_case(
    ("design", "asked"),
    [
        (sp.uniform(range(4)), True),
        (sp.fixed_size(range(3), 2), True),
        (sp.fixed_size(range(5), 2), False),
        (sp.nonprivate(range(5)), True),
        (sp.fully_private(range(5)), True),
        (lopsided_conditional(), False),
        (sp.covered(sp.uniform(range(4)), 0.1), True),
        (sp.product({"x": sp.uniform(range(4)), "y": sp.fixed_size(range(5), 2)}), False),
    ],
    ids=str,
)
def test_which_designs_can_be_asked(design, asked):
    assert design.can_be_asked is asked


def test_other_categories_keep_everything_else():
    joined = sp.join({"sex": ["f", "m"], "view": ["no", "so", "yes"]})
    plain = sp.Categories(joined.categories.labels)
    for design in (joined, Mixture.of([joined, sp.fixed_size(joined.categories, 4)], [1, 3])):
        changed = design.with_categories(plain)
        assert changed.categories == plain
        assert changed.content() == design.content()


def test_a_covered_design_changes_the_categories_of_its_base():
    changed = sp.covered(sp.uniform(list("abcd")), 0.1).with_categories(sp.Categories(range(4)))
    assert changed == sp.covered(sp.uniform(range(4)), 0.1)
