"""`audit`: numbers under stable names, intervals from data, the table and the pictures."""

import json

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from problems import lopsided, quietly
from refusals import refused
from scipy.stats import norm

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, DistributionError, NoDataError, UnknownDesignError
from subsetprivacy.messages import NoteKind
from subsetprivacy.privacy import metrics
from subsetprivacy.privacy.attacker import Setting

W = np.array([0.1, 0.2, 0.3, 0.4])
NUMBERS = [f"{m}_{k}" for m in ("size", "mi", "prediction") for k in ("leakage", "coverage", "baseline", "nonprivate")]
CLOSING = ["maximal_leakage", "smallest_set", "largest_posterior", "identifiable", "subset_private"]
CLOSING += ["epsilon", "reveals", "cost", "cost_bound"]
RANGES = [f"{m}_leakage_{end}" for m in ("size", "mi", "prediction") for end in ("lower", "upper")]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(1)  # one stream for both: the same seed twice would tie the draws to the values
    x = rng.choice(list("abcd"), 2000, p=W)
    return sp.privatize(x, lopsided(), seed=rng), x


def kinds(audit):
    return {note.kind for note in audit.notes}


COLUMNS = ["metric", "leakage", "lower", "upper", "level", "coverage", "baseline", "nonprivate"]


def test_the_frame_has_a_row_per_metric_and_always_the_same_columns(people):
    design, data = (sp.audit(what, *more).to_frame() for what, *more in ((lopsided(), W), (people[0],)))
    for frame in (design, data):
        assert list(frame.columns) == COLUMNS
        assert frame["metric"].tolist() == ["size", "mi", "prediction"]
    assert design[["lower", "upper", "level"]].isna().all(axis=None)
    assert (data["lower"] < data["leakage"]).all()
    assert (data["leakage"] < data["upper"]).all()
    assert data["level"].tolist() == [0.95] * 3


def test_an_audit_repeats_the_doubts_of_its_estimate_without_advice_it_cannot_take():
    none = sp.simulate(sp.uniform(range(4)), [0.5, 0.5, 0, 0], 200, seed=1)
    with quietly():
        report = sp.audit(none)
    (note,) = (note for note in report.notes if note.kind is NoteKind.BOUNDARY)
    assert note.advice is None


def test_names_are_stable_and_json():
    facts = sp.audit(lopsided(), W).to_dict()
    assert list(facts) == ["design", "categories", *NUMBERS, *CLOSING, "notes"]
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_an_audit_of_data_adds_intervals(people):
    facts = sp.audit(people[0], level=0.9).to_dict()
    assert set(facts) == {"design", "categories", *NUMBERS, *CLOSING, *RANGES, "n", "level", "notes"}
    assert facts["n"] == 2000
    assert facts["level"] == 0.9
    json.dumps(facts, allow_nan=False)


def test_intervals_by_hand(people):
    fit = sp.estimate(people[0])
    setting = Setting.of(lopsided(), fit.w)
    facts = sp.audit(people[0]).to_dict()
    slopes = {
        "size": metrics.size_gradient(setting),
        "mi": metrics.mi_gradient(setting),
        "prediction": metrics.guess_weights(setting),
    }
    for name, slope in slopes.items():
        half = norm.ppf(0.975) * np.sqrt(slope @ fit.cov @ slope)
        assert facts[f"{name}_leakage_lower"] == pytest.approx(facts[f"{name}_leakage"] - half)
        assert facts[f"{name}_leakage_upper"] == pytest.approx(facts[f"{name}_leakage"] + half)


def test_intervals_stay_where_every_distribution_is():
    # Nearly everybody has one value: two standard errors below is below nothing at all. Bounds that are themselves
    # estimated, such as the leakage of the value itself, must not cut an interval.
    counts = sp.simulate(sp.uniform(list("abcd")), [0.0, 0.0, 0.02, 0.98], 200, seed=2)
    with quietly():
        facts = sp.audit(counts).to_dict()
    for name in ("size", "mi", "prediction"):
        assert facts[f"{name}_leakage_lower"] <= facts[f"{name}_leakage"] <= facts[f"{name}_leakage_upper"]
    assert facts["size_leakage_lower"] == facts["mi_leakage_lower"] == 0
    assert facts["prediction_leakage_upper"] == 1
    assert facts["size_leakage_upper"] > facts["size_nonprivate"]


def test_intervals_cover_the_leakage_of_the_truth():
    w = np.array([0.1, 0.15, 0.3, 0.45])
    truth = sp.audit(lopsided(), w).to_dict()
    samples = sp.simulate_many(lopsided(), w, 2000, 300, seed=3)
    covered = {"size": 0, "mi": 0, "prediction": 0}
    for sample in samples:
        facts = sp.audit(sample).to_dict()
        for name in covered:
            covered[name] += (
                facts[f"{name}_leakage_lower"] <= truth[f"{name}_leakage"] <= facts[f"{name}_leakage_upper"]
            )
    # 300 replications: the standard error of .95 is .013.
    assert {name: hits / 300 for name, hits in covered.items()} == pytest.approx(
        dict.fromkeys(covered, 0.95), abs=0.045
    )


def test_no_interval_against_a_fixed_prior(people):
    facts = sp.audit(people[0], prior=[0.25] * 4).to_dict()
    assert not set(RANGES) & set(facts)
    assert facts["prediction_baseline"] == pytest.approx(sp.estimate(people[0]).w[0])  # the first of four equals


def test_a_known_distribution_replaces_the_estimate(people):
    facts = sp.audit(people[0], W).to_dict()
    assert facts["size_leakage"] == sp.audit(lopsided(), W).to_dict()["size_leakage"]
    assert facts["n"] == 2000
    assert not set(RANGES) & set(facts)


def test_no_interval_where_the_sample_leaves_the_estimate_open():
    counts = sp.SubsetCounts([3, 12], [6, 4], sp.uniform(list("abcd")))
    with quietly():
        facts = sp.audit(counts).to_dict()
    assert not set(RANGES) & set(facts)


def test_simulated_information_has_its_error_and_no_interval():
    counts = sp.simulate(sp.uniform(range(24)), np.full(24, 1 / 24), 5000, seed=1)
    with quietly():
        report = sp.audit(counts)
        facts = report.to_dict()
    assert facts["mi_simulation_error"] > 0
    assert "mi_leakage_lower" not in facts
    assert "size_leakage_lower" in facts
    assert NoteKind.SIMULATED in kinds(report)
    assert np.isnan(report.to_frame().set_index("metric")["lower"]).tolist() == [False, True, False]


# Extremes -----------------------------------------------------------------------------------------


def test_the_value_itself_and_nothing_at_all():
    told = sp.audit(sp.nonprivate(list("abcd")), W)
    facts = told.to_dict()
    for name in ("size", "mi", "prediction"):
        assert facts[f"{name}_leakage"] == pytest.approx(facts[f"{name}_nonprivate"])
    assert facts["largest_posterior"] == 1
    assert facts["maximal_leakage"] == 2  # log2 of four categories
    assert not facts["subset_private"]
    assert NoteKind.NOT_PRIVATE in kinds(told)
    silent = sp.audit(sp.fully_private(list("abcd")), W)
    facts = silent.to_dict()
    for name in ("mi", "prediction"):
        assert facts[f"{name}_leakage"] == pytest.approx(facts[f"{name}_baseline"], abs=1e-15)
    assert facts["maximal_leakage"] == 0
    assert not facts["identifiable"]
    assert "0, since nothing is reported" in str(silent.summary())
    assert NoteKind.NOT_IDENTIFIABLE in kinds(silent)


# The table and the pictures -----------------------------------------------------------------------


def test_summary_stands_between_no_data_and_the_value(people):
    text = str(sp.audit(lopsided(), W).summary())
    assert text.startswith("Privacy audit: independent design, 4 categories\n")
    assert "without data" in text
    assert "Smallest set that can be reported: 2 of 4 categories" in text
    assert "Epsilon of local differential privacy: infinite" in text
    assert "Maximal leakage 1 bit: on average over the subsets" in text
    assert "multiplied by at most 2, whatever is guessed" in text
    ranged = str(sp.audit(people[0], level=0.9).summary())
    assert "lower 90%" in ranged
    assert "n = 2,000" in ranged


def test_looks(people):
    report = sp.audit(people[0])
    assert repr(report).startswith("<Audit of a independent design, leakage: size 0.")
    assert report._repr_html_().count("<tr>") == 4


def test_bars_of_three_designs(people):
    figure = sp.audit(lopsided(), W).plot()
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 3
    for ax in figure.axes:
        told, ours, silent = (bar.get_width() for bar in ax.patches)
        assert told > ours > silent


def test_persons_need_people(people):
    data, x = people
    report = sp.audit(data)
    assert report.persons().guess_correct is None
    result = report.persons(values=x)
    assert result.guess_correct.mean() == pytest.approx(report.to_dict()["prediction_leakage"], abs=0.05)
    assert result.belief == pytest.approx(sp.estimate(data).w)  # the attacker knows what the data say
    assert isinstance(report.plot("persons", most=3), Axes)
    for other in (sp.audit(lopsided(), W), sp.audit(data.counts())):
        with refused(ArgumentError, "persons"):
            other.persons()


def test_what_is_refused(people):
    with refused(ArgumentError, "w"):
        sp.audit(lopsided())
    with refused(ArgumentError, "level"):
        sp.audit(people[0], level=95)
    with refused(ArgumentError, "what"):
        sp.audit([1, 2, 3])
    with refused(DistributionError, "prior"):
        sp.audit(lopsided(), W, prior=[0, 0.2, 0.4, 0.4])
    with pytest.raises(NoDataError):
        sp.audit(sp.SubsetData([], lopsided()))
    with refused(ArgumentError, "kind"):
        sp.audit(lopsided(), W).plot("pie")
    coarse = sp.count([{"a", "b"}, {"b", "c"}, {"a", "c"}], categories=list("abc"))
    with pytest.raises(UnknownDesignError):
        sp.audit(coarse)


def test_estimated_bounds_do_not_cut_the_intervals():
    # Published values leak exactly the bound; an interval cut there would cover the truth half of the time.
    design, w = sp.nonprivate(range(4)), np.array([0.1, 0.2, 0.3, 0.4])
    truth = sp.audit(design, w).to_dict()["size_leakage"]
    facts = [sp.audit(sample).to_dict() for sample in sp.simulate_many(design, w, 500, 200, seed=4)]
    covered = np.mean([f["size_leakage_lower"] <= truth <= f["size_leakage_upper"] for f in facts])
    assert covered == pytest.approx(0.95, abs=0.045)


def test_a_prior_is_said_to_be_one():
    text = str(sp.audit(lopsided(), W, prior=[0.7, 0.1, 0.1, 0.1]).summary())
    assert "attacker's own prior" in text
    assert NoteKind.PRIOR in kinds(sp.audit(lopsided(), W, prior=[0.7, 0.1, 0.1, 0.1]))
    assert "attacker's own prior" not in str(sp.audit(lopsided(), W).summary())


def test_a_tie_at_the_top_is_said():
    even = sp.simulate(sp.uniform(range(4)), [0.25] * 4, 2000, seed=1)
    assert NoteKind.TIE in kinds(sp.audit(even))
    clear = sp.simulate(sp.uniform(range(4)), [0.1, 0.1, 0.2, 0.6], 2000, seed=1)
    assert NoteKind.TIE not in kinds(sp.audit(clear))


def test_a_weighted_audit_says_that_its_n_is_effective():
    data = sp.privatize([0, 1, 2, 3] * 100, sp.uniform(range(4)), seed=1)
    counts = sp.count(data, weights=[1.0, 3.0] * 200, weights_kind="sampling")
    report = sp.audit(counts)
    assert "weighted, effective n = 320" in report.summary().title
    assert report.to_dict()["n"] == pytest.approx(320)
