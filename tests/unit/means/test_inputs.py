"""What `group_means` takes and refuses; no message shows a value."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.design import Coarse
from subsetprivacy.errors import (
    ArgumentError,
    CategoryError,
    CodeError,
    MismatchError,
    NoDataError,
    SubsetPrivacyError,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.messages import NoteKind

LABELS = ["red", "blue", "green", "black"]
DESIGN = sp.uniform(LABELS)
SECRET = 31_337.25


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)
    color = rng.choice(LABELS, size=900)
    y = np.where(color == "red", 5.0, 3.0) + rng.normal(size=900)
    data = sp.privatize(color, DESIGN, seed=1)
    table = pd.DataFrame({"color": data.codes, "income": y, "sex": rng.choice(["f", "m"], size=900)})
    table["weight"], table["school"] = rng.integers(1, 4, size=900), np.arange(900) // 30
    return y, data, table


def close(one, two):
    assert np.allclose(one.mean, two.mean, rtol=1e-12)
    assert np.allclose(one.cov, two.cov, rtol=1e-10, atol=1e-15)


# Where the people are ----------------------------------------------------------------------------------------------


@every_case("make", [lambda t: t, pl.from_pandas, pa.Table.from_pandas, lambda t: t.to_dict("list")])
def test_tables_of_any_library(people, make):
    y, data, table = people
    result = sp.group_means("income", make(table), designs={"color": DESIGN}, by="sex")
    expected = sp.group_means(y, data, by={"sex": table["sex"].to_numpy()})
    close(result, expected)
    assert result.outcome == "income"
    assert result.variables == ("color",)
    assert result.groups == ("f", "m")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files(people, tmp_path, ending):
    y, data, table = people
    kept = ["income", "sex", "weight", "school"]
    release = sp.write_release(pa.Table.from_pandas(table), tmp_path / f"out.{ending}", {"color": DESIGN}, keep=kept)
    options = {"by": "sex", "weights": "weight", "weights_kind": "sampling", "clusters": "school"}
    result = sp.group_means("income", release, **options)
    arrays = {"weights": table["weight"], "clusters": table["school"], "weights_kind": "sampling"}
    expected = sp.group_means(y, data, by={"sex": table["sex"]}, **arrays)
    close(result, expected)
    close(sp.group_means("income", tmp_path / f"out.{ending}", column="color", **options), expected)


def test_codes_with_a_design_and_labels(people):
    y, data, _ = people
    close(sp.group_means(y, data.codes, design=DESIGN), sp.group_means(y, data))
    close(sp.group_means(y.tolist(), data.labels(), design=DESIGN), sp.group_means(y, data))


def test_a_sampling_of_names(people):
    y, data, table = people
    named = sp.group_means(
        "income", table, designs={"color": DESIGN}, sampling=sp.Sampling("weight", clusters="school")
    )
    arrays = sp.Sampling(table["weight"], clusters=table["school"])
    close(named, sp.group_means(y, data, sampling=arrays))
    assert named.df == 29


def test_missing_answers_keep_their_clusters(people):
    y, data, table = people
    codes = data.codes.copy()
    codes[:30] = DESIGN.missing_code  # all of the first school
    sampling = sp.Sampling(clusters=table["school"])
    assert sp.group_means(y, sp.SubsetData(codes, DESIGN), sampling=sampling).df == 29


def test_replicates(people):
    y, data, table = people
    sampling = sp.Sampling(table["weight"], clusters=table["school"])
    linear = sp.group_means(y, data, sampling=sampling)
    jackknife = sp.group_means(y, data, sampling=sampling.with_replicates("jackknife"))
    assert np.allclose(jackknife.se, linear.se, rtol=0.05)


def test_several_known_columns(people):
    y, data, table = people
    by = {"sex": table["sex"], "old": table["weight"] > 2}
    result = sp.group_means(y, data, by=by)
    assert result.groups == (("f", False), ("f", True), ("m", False), ("m", True))
    assert result.mean.shape == (4, 4)
    assert list(result.to_frame().columns[:3]) == ["sex", "old", "category"]
    one = result.difference((("f", True), "red"), (("m", True), "red"))
    assert one.first == ("f / True: red",)


def test_missing_known_groups_come_last(people):
    y, data, table = people
    sex = table["sex"].where(table.index % 3 > 0)
    means = sp.group_means(y, data, by=sex)
    assert means.groups == ("f", "m", None)
    # They are shown, and not compared.
    lost = int(sex.isna().sum())
    between, within, tests = means.differences("groups"), means.differences(), means.test()
    assert between.estimate == pytest.approx(means.mean[0] - means.mean[1])
    assert (len(within), tests.names) == (2 * 6, ("f", "m"))
    for result in (between, within, tests):
        (note,) = (note for note in result.notes if note.kind is NoteKind.LEFT_OUT)
        assert note.text == f"Left out, because their group is missing: {lost} people."
    whole = sp.group_means(y, data, by=table["sex"])
    assert not whole.differences("groups").notes
    assert not whole.test().notes
    with refused(ArgumentError, "between"):
        sp.group_means(y, data, by=table["sex"].where(table["sex"] == "f")).differences("groups")
    with pytest.raises(NoDataError):
        sp.group_means(y, data, by=[None] * len(y)).test()


def test_numbers_as_known_groups(people):
    y, data, table = people
    assert sp.group_means(y, data, by=table["weight"]).groups == (1, 2, 3)
    assert sp.group_means(y, data, by=table["weight"]).by == ("weight",)


def test_two_private_columns_of_a_table(people):
    _, _, table = people
    second = sp.warner(["yes", "no"])
    both = table.assign(smokes=sp.privatize(np.random.default_rng(3).choice(["yes", "no"], 900), second, seed=2).codes)
    designs = {"color": DESIGN, "smokes": second}
    result = sp.group_means("income", both, column=["color", "smokes"], designs=designs)
    assert result.variables == ("color", "smokes")
    assert result.mean.shape == (8,)
    with refused(ArgumentError, "column"):
        sp.group_means("income", both, designs=designs)


# What is refused ---------------------------------------------------------------------------------------------------


@every_case(
    ("change", "error", "match"),
    [
        (lambda y: np.where(np.arange(900) == 7, np.nan, y), ArgumentError, "got 1 number.*first in row 7"),
        (lambda y: np.where(np.arange(900) >= 898, np.inf, y), ArgumentError, "got 2 numbers.*first in row 898"),
        (lambda y: np.where(np.arange(900) == 3, 1e300, y), ArgumentError, r"at most 1e\+70 in size; got 1 .*row 3"),
        (lambda y: y[:-1], MismatchError, r"one number per person; got shape \(899,\) for 900 people"),
        (lambda y: np.stack([y, y]), MismatchError, "one number per person"),
        (lambda y: [str(x) for x in y], ArgumentError, "must be numbers, one per person"),
        (lambda y: [f"{SECRET} euros"] * 900, ArgumentError, "got list of something"),
        (lambda y: np.array([object()] * 900), ArgumentError, "must be numbers"),
        (lambda y: np.full(900, "2020-01-01", "M8[D]"), ArgumentError, "text or dates"),
    ],
)
def test_outcomes(people, change, error, match):
    y, data, _ = people
    with pytest.raises(error, match=match) as caught:
        sp.group_means(change(np.where(np.arange(900) == 5, SECRET, y)), data)
    assert "31337" not in str(caught.value)


@every_case(
    ("options", "error", "match"),
    [
        ({"quantiles": (0.5, 1.0)}, ArgumentError, "`quantiles` must be numbers between 0 and 1"),
        ({"quantiles": "middle"}, ArgumentError, "`quantiles` must be numbers"),
        ({"model": "gamma"}, ArgumentError, "`model` must be one of normal"),
        ({"missing": "no"}, ArgumentError, "`missing` must be one of"),
        ({"blocks": 0}, ArgumentError, "`blocks` must be a whole number of at least 1"),
        ({"weights": np.ones(900)}, ArgumentError, "`weights_kind` must be given"),
        ({"weights_kind": "sampling"}, ArgumentError, "`weights` must be given with `weights_kind`"),
        ({"weights": -np.ones(900), "weights_kind": "sampling"}, ArgumentError, "900 weights.*first in row 0"),
        ({"weights": np.zeros(900), "weights_kind": "frequency"}, NoDataError, "must not all be 0"),
        ({"weights": "weight", "weights_kind": "sampling"}, ArgumentError, "one for each person without a table"),
        ({"clusters": np.zeros(900)}, ArgumentError, "at least two clusters; got one"),
        ({"clusters": [None] * 900}, ArgumentError, "known for everyone; got 900 missing"),
        ({"clusters": np.zeros(5)}, MismatchError, "one for each person"),
        ({"sampling": sp.Sampling(np.ones(5))}, MismatchError, "got 5 rows for 900 people"),
        ({"sampling": sp.Sampling(np.ones(900)), "clusters": np.ones(900)}, ArgumentError, "left out with `sampling`"),
        ({"by": "sex"}, ArgumentError, "`by` must be a label for each person without a table"),
        ({"by": ["f"] * 5}, MismatchError, "one group per person; got 5 for 900 people"),
        ({"column": "color"}, ArgumentError, "`column` must be left out where `data` is of one variable"),
        ({"designs": {"color": DESIGN}}, ArgumentError, "`designs` must be left out without a table"),
        ({"given": {"x": np.ones(5)}}, MismatchError, "a row for each person; got 5 rows"),
        ({"given": {"x": np.ones(900)}, "w": [0.25] * 4}, ArgumentError, "exclude each other"),
    ],
)
def test_options(people, options, error, match):
    y, data, _ = people
    with pytest.raises(error, match=match):
        sp.group_means(y, data, **options)


@every_case(
    ("y", "options", "error", "argument"),
    [
        ("wealth", {}, ArgumentError, None),
        ("sex", {}, ArgumentError, None),
        ("color", {}, ArgumentError, "column"),
        ("income", {"by": "color"}, ArgumentError, "column"),
        ("income", {"column": "sex"}, ArgumentError, "column"),
        ("income", {"column": []}, ArgumentError, "column"),
        ("income", {"designs": None}, ArgumentError, "designs"),
        ("income", {"design": DESIGN}, ArgumentError, "designs"),
    ],
)
def test_columns(people, y, options, error, argument):
    with refused(error, argument):
        sp.group_means(y, people[2], **{"designs": {"color": DESIGN}, **options})


def test_data(people):
    y, _, table = people
    with refused(ArgumentError, "data"):
        sp.group_means(y, np.ones(900, np.int64))
    with refused(ArgumentError, "data"):
        sp.group_means("income", 5, designs={"color": DESIGN})
    broken = table.assign(color=table["color"].where(table.index != 3))
    with pytest.raises(CodeError, match=r"color: .*first in row 3"):
        sp.group_means("income", broken, designs={"color": DESIGN})
    filled = sp.group_means("income", broken, designs={"color": DESIGN}, missing="full")
    assert filled.n_missing == 1


def test_designs_without_indicators(people):
    y, data, _ = people
    with pytest.raises(UnknownDesignError):
        sp.group_means(y, data.codes, design=Coarse(sp.Categories(LABELS)))
    with pytest.raises(NoDataError):
        sp.group_means(y, sp.SubsetData(np.full(900, 15), DESIGN))
    with pytest.raises(TooLargeError):
        sp.group_means(y, data, by=np.arange(900))


def test_results_refuse_what_they_are_not(people):
    y, data, _ = people
    result = sp.group_means(y, data)
    with pytest.raises(CategoryError):
        result.difference("red", "purple")
    with refused(ArgumentError, "between"):
        result.differences("groups")
    with pytest.raises(ArgumentError, match="unless the outcome is 0 or 1 for everyone"):
        result.interval(method="logit")
    with refused(ArgumentError, "method"):
        result.interval(method="robust")
    with refused(ArgumentError, "method"):
        result.test(method="f")
    modelled = sp.group_means(y, data, model="normal")
    with refused(ArgumentError, "method"):
        modelled.interval(method="fieller")
    with refused(ArgumentError, "method"):
        modelled.test(method="score")
    with pytest.raises(ArgumentError, match="left out for an outcome of 0 and 1"):
        sp.group_means(y > 4, data, model="normal")


# No person's value ---------------------------------------------------------------------------------------------------


def test_an_outlier_is_nowhere_in_the_result(people):
    """Quantiles between the first and the last percentile hold no outlier, nor do representation and JSON."""
    y, data, _ = people
    result = sp.group_means(np.where(np.arange(900) == 5, SECRET, y), data)
    for text in (repr(result), str(result.to_dict()), str(result.summary()), repr(result.differences())):
        assert "31337" not in text


@every_case("name", ["by", "given", "weights", "clusters", "sampling", "codes"])
@every_case("as_table", [False, True])
def test_series_of_another_index_are_refused(people, name, as_table):
    _, data, table = people
    turned = table.set_index(np.arange(900)[::-1])
    columns = {"by": "sex", "given": "weight", "weights": "weight", "clusters": "school"}
    kind = {"weights_kind": "sampling"} if name == "weights" else {}

    def means(held):
        if name == "codes":
            return sp.group_means(table["income"], held["color"], design=DESIGN)
        if name == "sampling":
            option = sp.Sampling(held["weight"], clusters=held["school"])
        else:
            option = {"x": held[columns[name]]} if name == "given" else held[columns[name]]
        if as_table:
            return sp.group_means("income", table, designs={"color": DESIGN}, **{name: option}, **kind)
        return sp.group_means(table["income"], data, **{name: option}, **kind)

    assert means(table).n == 900
    with pytest.raises(MismatchError):
        means(turned)


@every_case("given", ["fit", "text", "number"])
def test_what_is_no_covariates_is_refused(people, given):
    y, data, table = people
    if given == "fit":
        wrong = sp.regress("income ~ color", table, designs={"color": DESIGN})
    else:
        wrong = {"text": "income", "number": 3}[given]
    with refused(ArgumentError, "given"):
        sp.group_means(y, data, given=wrong)
    with pytest.raises(SubsetPrivacyError, match="`w` must"):
        sp.indicator(data, w=wrong)
