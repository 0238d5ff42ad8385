"""Titles of variables: their labels, and more where a label is not enough."""

import pytest

from subsetprivacy.collect.survey.definition import titles_of


@pytest.mark.parametrize(
    ("labels", "titles"),
    [
        ({"a": "Sleep", "b": "Tea"}, ["Sleep", "Tea"]),
        ({"a": "Sleep", "b": "Sleep", "c": "Tea"}, ["Sleep (a)", "Sleep (b)", "Tea"]),
        ({"a": "Sleep", "b": "Sleep", "c": "Sleep (a)"}, ["Sleep (a)", "Sleep (b)", "Sleep (a) (c)"]),
        ({}, []),
    ],
)
def test_no_two_titles_are_the_same(labels, titles):
    made = titles_of(labels)
    assert list(made) == list(labels)
    assert len(set(made.values())) == len(labels)
    assert set(made.values()) == set(titles)
