"""Generators of log-linear models: brackets, words and lists."""

from every_case import every_case
from refusals import refused

from subsetprivacy.contingency.generators import bracketed, generators_of, read_generators, terms_of, without
from subsetprivacy.errors import ArgumentError

NAMES = ["race", "sex", "income last year"]


@every_case(
    ("model", "generators"),
    [
        ("[race sex]", (("race", "sex"),)),
        ("[sex race] [`income last year`]", (("race", "sex"), ("income last year",))),
        ("['income last year', race]", (("race", "income last year"),)),
        ('["income last year"][race][sex]', (("income last year",), ("race",), ("sex",))),
        ("[race][race sex][sex]", (("race", "sex"),)),
        ([("race", "sex"), "income last year"], (("race", "sex"), ("income last year",))),
        ("Saturated", (tuple(NAMES),)),
        ("independence", (("race",), ("sex",), ("income last year",))),
        ("all pairs", (("race", "sex"), ("race", "income last year"), ("sex", "income last year"))),
    ],
)
def test_generators_are_read(model, generators):
    assert read_generators(model, NAMES) == generators
    assert read_generators(bracketed(generators), NAMES) == generators


@every_case(
    ("model", "argument"),
    [
        ("race sex", "model"),
        ("[race sex", "model"),
        ("[race sex] income", "model"),
        ("[]", "model"),
        ("[race 'sex]", "model"),
        ("[race age]", "model"),
        ("[race race]", "model"),
        ([], "model"),
        ([()], "model"),
        ([("race", 3)], "model"),
        (4, "model"),
    ],
)
def test_other_models_are_refused(model, argument):
    with refused(ArgumentError, argument):
        read_generators(model, NAMES)


def test_terms_are_all_parts_and_come_by_size():
    terms = terms_of((("a", "b", "c"), ("c", "d")), "abcd")
    assert [len(term) for term in terms] == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert generators_of(terms, "abcd") == (("c", "d"), ("a", "b", "c"))


def test_a_term_takes_what_contains_it_along():
    terms = terms_of((("a", "b", "c"),), "abc")
    assert without(terms, ("a", "b")) == (("a",), ("b",), ("c",), ("a", "c"), ("b", "c"))
