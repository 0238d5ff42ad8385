"""`audit(..., given=)`: probabilities of rows in every form, and what the audit then says."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_case import every_case
from oracles import assert_alike
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, DistributionError, MismatchError
from subsetprivacy.messages import NoteKind
from subsetprivacy.privacy.given import leakage_given

LABELS = ("a", "b", "c", "d")
DESIGN = sp.uniform(LABELS)
P = np.random.default_rng(1).dirichlet(np.full(4, 0.5), 50)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    return sp.privatize([rng.choice(LABELS, p=row) for row in P], DESIGN, seed=rng)


class Fit:
    """What a regression looks like from here: other order of categories, probabilities as a property."""

    categories = LABELS[::-1]
    probabilities = P[:, ::-1]


FORMS = {
    "array": P,
    "lists": P.tolist(),
    "pandas": pd.DataFrame(P, columns=list(LABELS)),
    "pandas, other order": pd.DataFrame(P[:, [2, 0, 3, 1]], columns=list("cadb"), index=range(100, 150)),
    "pandas, numbered": pd.DataFrame(P),
    "polars": pl.DataFrame(P, schema=list(LABELS)),
    "pyarrow, with an id": pa.table({"id": range(50), **{name: P[:, j] for j, name in enumerate(LABELS)}}),
    "fit": Fit(),
}


@every_case("given", FORMS.values(), ids=FORMS)
def test_probabilities_come_in_every_form(given):
    assert_alike(sp.audit(DESIGN, given=given).given.to_dict(), leakage_given(DESIGN, P).to_dict())


def test_labels_that_are_numbers_are_found_by_name():
    design = sp.uniform([2, 0, 1, 3])
    expected = leakage_given(design, P).to_dict()
    for columns in ([2, 0, 1, 3], ["2", "0", "1", "3"]):
        frame = pd.DataFrame(P, columns=columns)[sorted(columns)]
        assert_alike(sp.audit(design, given=frame).given.to_dict(), expected)


def test_a_design_needs_no_data_and_no_distribution():
    result = sp.audit(DESIGN, given=P)
    assert result.setting.w == pytest.approx(P.mean(axis=0))
    assert result.to_dict()["given"] == result.given.to_dict()
    assert "given" not in sp.audit(DESIGN, P.mean(axis=0)).to_dict()
    json.dumps(result.to_dict(), allow_nan=False)


def test_data_are_read_row_by_row_and_counts_are_not(data):
    result = sp.audit(data, given=P)
    assert_alike(result.given.to_dict(), leakage_given(DESIGN, P, codes=data.codes).to_dict())
    assert_alike(sp.audit(data.counts(), given=P[:20]).given.to_dict(), leakage_given(DESIGN, P[:20]).to_dict())
    assert sp.audit(data, [0.25] * 4, given=P).given.published is not None
    covered = sp.privatize(["a", "b"] * 20, sp.covered(DESIGN, 0.1), seed=1)
    assert sp.audit(covered, given=P).given.published is None


def test_a_fit_may_leave_out_people_whose_subset_says_nothing(data):
    silent = sp.SubsetData(np.append(data.codes, [0b1111, 0b1111]), DESIGN)
    assert_alike(sp.audit(silent, given=Fit()).given.to_dict(), leakage_given(DESIGN, P, codes=data.codes).to_dict())
    with pytest.raises(MismatchError, match=r"a row for each of the 52 people; got 50"):
        sp.audit(silent, given=P)  # an array does not say which


def test_the_summary_shows_the_block_and_its_notes(data):
    for result, width in ((sp.audit(DESIGN, given=P), 5), (sp.audit(data, given=P), 7)):
        table, block = result.summary(), result.given
        assert {len(row) for row in table.rows} == {width} == {len(table.columns)}
        names = [row[0] for row in table.rows]
        assert names[3] == "given covariates: one value above 95%"
        rows = {row[0]: row for row in table.rows}
        first = rows["given covariates: one value above 95%"]
        assert (first[1], first[-2]) == (f"{block.both.above_95:.4f}", f"{block.covariates.above_95:.4f}")
        bits = rows["given covariates: mutual information (bits)"]
        assert float(bits[-1]) == pytest.approx(float(bits[1]) + float(bits[-3]), abs=2e-4)
        guess = rows["given covariates: prediction"]
        assert (guess[1], guess[-2]) == (f"{block.both.best_guess:.4f}", f"{block.covariates.best_guess:.4f}")
        assert set(block.notes) <= set(result.notes)
        assert block.notes[0].kind is NoteKind.NOT_PROTECTED
    assert len(sp.audit(data).summary().rows) == 3


def test_another_distribution_than_the_average_is_said():
    near, far = (
        sp.audit(DESIGN, P.mean(axis=0) + np.array([0.01, -0.01, 0, 0]), given=P),
        sp.audit(DESIGN, [0.1] * 3 + [0.7], given=P),
    )
    texts = [
        [note.text for note in result.notes if "differs from the distribution of the audit" in note.text]
        for result in (near, far)
    ]
    assert texts[0] == []
    assert len(texts[1]) == 1


def test_findings_are_as_before(data):
    assert "given" not in sp.findings({"x": data.counts()}).to_dict()["variables"][0]["privacy"]


BAD = {
    "other rows": (P[:20], MismatchError, r"`given` must have a row for each of the 50 people; got 20"),
    "sums": (P * 2, DistributionError, r"each row of `given` must sum to 1; got 50 rows that do not, first in row 0"),
    "classes": (P[:, :3], MismatchError, r"`given` must have a column for each of the 4 categories"),
    "columns": (pd.DataFrame(P, columns=list("abcx")), CategoryError, r"column for each category; got none for 'd'"),
    "gaps": (pd.DataFrame({name: [0.25] * 49 + [None] for name in LABELS}), DistributionError, r"be finite; got 1"),
    "text": ("probabilities.csv", ArgumentError, r"`given` must be probabilities for each row; got str"),
    "mapping": ({"a": 0.5}, ArgumentError, r"`given` must be probabilities for each row; got dict"),
    "lazy": (pl.LazyFrame({"a": [1.0]}), ArgumentError, r"`given` must be probabilities for each row; got LazyFrame"),
    "number": (0.5, ArgumentError, r"`given` must be probabilities for each row; got float"),
}


@every_case(("given", "error", "message"), BAD.values(), ids=BAD)
def test_what_is_not_a_model_is_refused(given, error, message, data):
    with pytest.raises(error, match=message):
        sp.audit(data, given=given)


def test_a_fit_of_other_categories_is_refused():
    class Other:
        categories = ("a", "b", "c", "x")
        probabilities = P

    with pytest.raises(CategoryError):
        sp.audit(DESIGN, given=Other())


def test_one_variable_and_one_belief_at_a_time():
    both = sp.product({"x": DESIGN, "y": sp.warner(["no", "yes"])})
    even = {"x": [0.25] * 4, "y": [0.5, 0.5]}
    table = sp.privatize({"x": list("abcd"), "y": ["no", "yes"] * 2}, both, seed=1)
    for what, w in ((both, even), (table, None), (table.counts(), None)):
        with refused(ArgumentError, "given"):
            sp.audit(what, w, given=P)
    with refused(ArgumentError, "prior"):
        sp.audit(DESIGN, [0.25] * 4, prior=[0.25] * 4, given=P)
    joint = np.full((3, 8), 1 / 8)
    assert sp.audit(both, given=joint).given.both.best_guess == pytest.approx(3 / 8)
