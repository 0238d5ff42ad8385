"""Three and more columns together: the links that the library's own model finds, and what pages say of them."""

import json
import warnings

import numpy as np
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import SubsetPrivacyWarning
from subsetprivacy.finding import tables
from subsetprivacy.messages import NoteKind
from subsetprivacy.presenting.links import links_section, links_sentences
from subsetprivacy.presenting.text import plain_text
from subsetprivacy.presenting.words import LANGUAGES, words_of
from subsetprivacy.report import report_html

DESIGNS = {"a": sp.uniform(list("wxyz")), "b": sp.warner(["no", "yes"], 0.85), "c": sp.warner(["s", "t"], 0.85)}


def people(n=6000, *, bent=False, seed=1):
    """Return a table in which a and c depend on b, and on each other only through it; unless it is bent."""
    rng = np.random.default_rng(seed)
    b = rng.integers(0, 2, n)
    a = (rng.integers(0, 4, n) + 2 * b * (rng.random(n) < 0.7)).clip(0, 3)
    c = np.where(rng.random(n) < 0.7, b, rng.integers(0, 2, n))
    if bent:
        c = np.where(a > 1, c, 1 - c)
    values = {"a": np.array(list("wxyz"))[a], "b": np.array(["no", "yes"])[b], "c": np.array(["s", "t"])[c]}
    # A seed of its own for each column: with one for all, their draws would be the same.
    codes = {name: sp.privatize(values[name], DESIGNS[name], seed=k).codes for k, name in enumerate(DESIGNS)}
    return sp.SubsetTable(codes, sp.product(DESIGNS))


@pytest.fixture(scope="module")
def made():
    return sp.findings(people(), permutations=0, budget=0)


def test_links_are_those_of_the_library(made):
    (result,) = made.tables
    fit = sp.loglinear(people(), "all pairs")
    tests = fit.test()
    assert [link.names for link in result.links] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [link.test.statistic for link in result.links] == pytest.approx(tests.statistic, abs=1e-4)
    assert [link.test.pvalue for link in result.links] == pytest.approx(tests.pvalue, rel=1e-4)
    assert [link.test.rejects for link in result.links] == [True, False, True]
    assert result.model == "[a b][b c]"
    assert result.alpha == pytest.approx(0.05 / 3)
    assert result.pairs_suffice.statistic == pytest.approx(fit.goodness_of_fit.statistic[0], abs=1e-4)
    assert (result.n, result.incomplete) == (fit.n, fit.n_missing)


def test_a_pair_that_goes_together_need_not_be_linked_directly(made):
    pair = next(one for one in made.pairs if one.names == ("a", "c"))
    assert pair.test.rejects
    assert not made.tables[0].links[1].test.rejects


def test_what_a_third_column_changes_is_told():
    (result,) = sp.findings(people(bent=True, n=20_000), permutations=0, budget=0).tables
    assert result.pairs_suffice.rejects
    assert "depends on a third" in " ".join(links_sentences(words_of("en"), result, {}))


def test_two_columns_chosen_pairs_and_untested_ones_have_no_table():
    table = people(300)
    assert sp.findings(table, columns=["a", "b"], permutations=0, budget=0).tables == ()
    assert sp.findings(table, tests=False).tables == ()
    assert sp.findings({name: table[name] for name in "abc"}, permutations=0, budget=0).tables == ()


def test_tables_that_are_too_large_say_so(monkeypatch):
    made = sp.findings(people(300), permutations=0, budget=0)
    for name, limit in (("MOST_COLUMNS", 2), ("MOST_CELLS", 8), ("HEAVY", 10)):
        with monkeypatch.context() as patch:
            patch.setattr(tables, name, limit)
            result = tables.table_findings(made.source, ("a", "b", "c"), 0.95)
        assert result.problem.kind is NoteKind.NOT_TESTED
        assert result.links == ()
        said = plain_text(links_section(words_of("en"), result, {}))
        assert said.startswith("Direct links of a, b, c cannot be determined. There are ")


def test_few_people_and_shares_of_0_are_noted():
    (result,) = sp.findings(people(60), permutations=0, budget=0).tables
    assert {NoteKind.SMALL_COUNTS, NoteKind.SEPARATED} & {note.kind for note in result.notes}
    assert all(note.advice is None for note in result.notes), "a page cannot change the model"


def test_the_document_has_them_and_is_the_same_for_the_same_counts(made):
    document = json.loads(made.to_json())
    assert document["version"] == 3
    assert document["tables"][0]["model"] == "[a b][b c]"
    assert document["tables"][0]["links"][0].keys() == {"names", "test"}
    again = people()
    order = np.random.default_rng(0).permutation(len(again))
    mixed = sp.SubsetTable([column[order] for column in again.columns], again.design)
    assert sp.findings(mixed, permutations=0, budget=0).to_json() == made.to_json()


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_say_it_in_every_language(made, language):
    words = words_of(language)
    (result,) = made.tables
    said = plain_text(links_section(words, result, {"a": "Alpha"}))
    assert "Alpha – b" in said
    assert said.count(words("links.yes")) >= 2
    assert words("links.no") in said
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)
        page = report_html(made, language=language)
    assert 'id="links"' in page
    assert words("report.links") in page
    for sentence in links_sentences(words, result, {}):
        assert sentence in page
