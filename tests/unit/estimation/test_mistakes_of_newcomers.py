"""What first users and a review found, each as it was tried."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError, InvalidDesignError, MismatchError
from subsetprivacy.estimation.limit_quantiles import largest_error_quantile
from subsetprivacy.messages import NoteKind

ANSWERS = ["never", "monthly", "weekly", "daily"]
DESIGN = sp.uniform(ANSWERS)
W = [0.4, 0.3, 0.2, 0.1]
COUNTS = sp.simulate(DESIGN, W, 2000, seed=1)
FIT = sp.estimate(COUNTS)


def test_groups_that_list_their_categories_otherwise_are_put_in_order():
    turned = sp.simulate(sp.fixed_size(ANSWERS[::-1], 2), W[::-1], 2500, seed=3)
    fits = sp.estimate_many({"a": COUNTS, "b": turned})
    assert fits.w[1] == pytest.approx(sp.estimate(turned).w[::-1])
    assert fits.se[1] == pytest.approx(sp.estimate(turned)._se[::-1])
    assert fits.interval()[1] == pytest.approx(sp.estimate(turned).interval()[::-1])
    frame = fits.to_frame().set_index(["group", "category"])
    assert frame.loc[("b", "never"), "estimate"] == pytest.approx(fits["b"].w[3])


def test_groups_with_other_categories_are_refused():
    other = sp.simulate(sp.uniform(list("abcd")), W, 500, seed=1)
    with pytest.raises(MismatchError):
        sp.estimate_many({"a": COUNTS, "b": other})
    for wrong in (None, COUNTS, 3):
        with refused(ArgumentError, "batch"):
            sp.estimate_many(wrong)


def test_a_list_of_one_column_names_groups_by_their_value():
    table = pd.DataFrame({"x": sp.privatize(ANSWERS * 100, DESIGN, seed=1).codes, "sex": ["f", "m"] * 200})
    fits = sp.estimate_many(sp.count(table, "x", design=DESIGN, by=["sex"]))
    assert set(fits.to_frame()["sex"]) == {"f", "m"}
    assert fits.difference("f", "m").names == ("f", "m")


def test_the_mean_of_an_ordered_variable_has_an_interval_and_no_test_of_zero():
    mean = FIT.contrast([1, 2, 3, 4])
    assert mean.value == pytest.approx(FIT.w @ [1, 2, 3, 4])
    assert mean.lower < mean.value < mean.upper
    assert np.isnan(mean.pvalue)
    assert "no test" in str(mean)
    assert FIT.contrast([1, 2, 3, 4], null=2.0).pvalue == pytest.approx(FIT.contrast([0, 1, 2, 3], null=1.0).pvalue)
    with refused(ArgumentError, "null"):
        FIT.contrast([1, 2, 3, 4], null=0)


@every_case("level", [0.5, 0.95, 0.999, 0.9999, 0.999999])
def test_intervals_that_hold_together_are_never_shorter_than_single_ones(level):
    single, together = (FIT.interval(level, method="wald", simultaneous=many) for many in (False, True))
    assert (np.diff(together) >= np.diff(single)).all()
    assert largest_error_quantile(np.eye(4), level) >= largest_error_quantile(np.eye(1), level)


def test_labels_and_groups_that_json_has_not_are_text():
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)]
    fit = sp.estimate(sp.simulate(sp.uniform(days), W, 500, seed=1))
    groups = sp.estimate_many(dict.fromkeys(days[:2], COUNTS))
    for result in (fit, fit.contrast({days[0]: 1}), groups, fit.collapse({"first": days[:2]})):
        assert "2024-01-01" in json.dumps(result.to_dict(), allow_nan=False) or "first" in str(result.to_dict())


def test_shares_minus_themselves_are_refused():
    joint = sp.estimate(sp.simulate(sp.product({"x": DESIGN, "y": DESIGN}), np.full(16, 1 / 16), 1000, seed=1))
    merged = {"often": ["weekly", "daily"]}
    for one, two in ((FIT.collapse(merged), FIT.collapse(merged)), (joint.margin("x"), joint.margin("x"))):
        with pytest.raises(MismatchError):
            one.difference(two)
    with refused(ArgumentError, "names"):
        joint.margin("x").difference(joint.margin("y"), names=("x", "x"))


def test_a_reference_that_is_ruled_out_says_so():
    test = sp.fit_test(COUNTS, [0.5, 0.5, 0, 0], seed=1)
    assert [note.kind for note in test.notes] == [NoteKind.IMPOSSIBLE]
    with pytest.raises(ArgumentError):
        test.plot()


@every_case("wrong", [{}, None, [], {"statistic": 1}])
@every_case("kind", [sp.FitTest, sp.Contrast, sp.SubsetCounts, sp.Power, sp.PairTests, sp.GroupedCounts])
def test_what_no_result_wrote_is_not_read_back(kind, wrong):
    with refused(ArgumentError, "facts"):
        kind.from_dict(wrong)


def test_an_estimate_in_the_place_of_counts_is_recognized():
    with refused(ArgumentError, "data"):
        sp.fit_test(FIT, W)


def test_advice_reads_as_a_sentence():
    with pytest.raises(InvalidDesignError) as caught:
        sp.independent(list("abcd"), {"ab": 0.5, "cd": 0.5})
    assert "Hint" not in caught.value.message
    assert str(caught.value.advice) == "write ('a', 'b')"
    moments = sp.estimate(sp.simulate(sp.uniform(range(6)), [0.01, 0.01, 0.08, 0.2, 0.3, 0.4], 60, seed=3), "mom")
    (note,) = [note for note in moments.notes if note.kind is NoteKind.MOMENTS]
    assert note.to_dict()["advice"]["text"] == "projected() gives a distribution"


def test_the_test_below_a_table_is_by_its_method():
    other = sp.estimate(sp.simulate(DESIGN, [0.3, 0.3, 0.2, 0.2], 2500, seed=2))
    change = FIT.difference(other)
    assert "score test that no share differs" in str(change.summary())
    assert "Wald test that no share differs" in str(change.summary(method="wald"))
    assert change.to_dict(method="wald")["test"]["method"] == "wald"
    merged = {"often": ["weekly", "daily"]}
    assert FIT.collapse(merged).difference(other.collapse(merged)).test.method == "newton"


def test_many_comparisons_are_by_standard_errors():
    fits = {k: sp.estimate(sp.simulate(DESIGN, W, 300, seed=k)) for k in range(40)}
    result = sp.compare(fits).to_dict()
    assert (result["method"], result["test"]["method"]) == ("wald", "score")  # one test, however many pairs
    with refused(CategoryError, "pair"):
        sp.compare(fits)[0, "other"]
    assert sp.compare(fits, baseline=0)._method("auto") == "score"
    design, even = sp.uniform(range(32)), np.full(32, 1 / 32)
    many, other = (sp.estimate(sp.simulate(design, even, 2000, seed=seed)) for seed in (1, 2))
    assert many.difference(other).to_dict()["method"] == "wald"
