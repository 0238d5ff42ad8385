"""Generators of log-linear models: brackets, words and lists."""

import pytest

from subsetprivacy.contingency.generators import bracketed, generators_of, read_generators, terms_of, without
from subsetprivacy.errors import ArgumentError

NAMES = ["race", "sex", "income last year"]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("race sex", "in brackets; it is not"),
        ("[race sex", "in brackets; it is not"),
        ("[race sex] income", "in brackets; it is not"),
        ("[]", "at least one variable in each generator"),
        ("[race 'sex]", "closing quote"),
        ("[race age]", r"variables of the table; got 'age'.*its variables are race, sex"),
        ("[race race]", "got one twice"),
        ([], "at least one generator"),
        ([()], "at least one variable in each generator"),
        ([("race", 3)], "got 3"),
        (4, "a list of tuples of names; got 4"),
    ],
)
def test_other_models_are_refused(model, message):
    with pytest.raises(ArgumentError, match=message):
        read_generators(model, NAMES)


def test_terms_are_all_parts_and_come_by_size():
    terms = terms_of((("a", "b", "c"), ("c", "d")), "abcd")
    assert [len(term) for term in terms] == [1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert generators_of(terms, "abcd") == (("c", "d"), ("a", "b", "c"))


def test_a_term_takes_what_contains_it_along():
    terms = terms_of((("a", "b", "c"),), "abc")
    assert without(terms, ("a", "b")) == (("a",), ("b",), ("c",), ("a", "c"), ("b", "c"))
