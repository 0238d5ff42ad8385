"""The rows of an export are counts, not people: whoever goes on with it in another library never gets a wrong n."""

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from engines import CONSTRUCTORS
from every_case import every_case
from refusals import refused
from released import sent, survey_of, values

import subsetprivacy as sp
from subsetprivacy.collect.service.exporting import export_csv, export_parquet
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_data import WEIGH_A_TABLE_OF_COUNTS, WEIGH_OR_DROP_A_COUNT
from subsetprivacy.presenting.words import words_of
from subsetprivacy.report import report_html

DESIGNS = {"color": sp.uniform(list("abcd")), "mood": sp.uniform(list("rstu"))}
N = 60
FREQUENCIES = {"weights": "count", "weights_kind": "frequency"}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The export of two linked variables of 60 people, in both formats, and what `write_counts` and `count` write."""
    folder = tmp_path_factory.mktemp("export")
    truths = {name: values([4, 3, 2, 1], N, k) for k, name in enumerate(DESIGNS)}
    released = sent(survey_of(DESIGNS, [tuple(DESIGNS)]), truths)
    (folder / "export.csv").write_bytes(export_csv(released, 0))
    (folder / "export.parquet").write_bytes(export_parquet(released, 0))
    counts = sp.read_release(folder / "export.csv").crosstab(*DESIGNS)
    assert len(counts.codes) < counts.counts.sum() == N
    for ending in ("csv", "parquet", "arrow"):
        sp.write_counts(counts, folder / f"counts.{ending}")
    return folder


FILES = ("export.csv", "export.parquet", "counts.csv", "counts.parquet")
READERS = {
    "pandas": lambda path: pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path),
    "polars": lambda path: pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path),
    "pyarrow": lambda path: pa.csv.read_csv(path) if path.suffix == ".csv" else pq.read_table(path),
}
ANALYSES = {
    "count": lambda table, **more: sp.count(table, "color", design=DESIGNS["color"], **more).counts.sum(),
    "by": lambda table, **more: sum(
        part.counts.sum() for part in sp.count(table, "color", design=DESIGNS["color"], by="mood", **more).values()
    ),
    "crosstab": lambda table, **more: sp.crosstab(table, *DESIGNS, designs=DESIGNS, **more).counts.sum(),
    "regress": lambda table, **more: _people(sp.regress("color ~ 1", table, designs=DESIGNS, **more)),
    "dot": lambda table, **more: sp.regress("color ~ .", table, designs=DESIGNS, **more),
    "predictor": lambda table, **more: _people(sp.regress("mood ~ color", table, designs=DESIGNS, **more)),
}
UNWEIGHTED = {
    "check_all": lambda table: sp.check_all(table, designs=DESIGNS),
    "table": lambda table: sp.SubsetTable(table, sp.product(DESIGNS)),
    "rake": lambda table: sp.rake(table, {"color": dict.fromkeys("abcd", 0.25)}, designs=DESIGNS),
    "write_release": lambda table: sp.write_release(table, "out.parquet", DESIGNS),
}


def _people(fit):
    return fit.n + fit.n_missing


@pytest.fixture(autouse=True)
def _quiet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.errors.SubsetPrivacyWarning)
        yield


@pytest.mark.parametrize("library", READERS)
@pytest.mark.parametrize("file", FILES)
def test_an_export_in_another_library_is_refused_without_its_numbers(exported, library, file):
    table = READERS[library](exported / file)
    for name, analysis in ANALYSES.items():
        with refused(ArgumentError, "weights") as caught:
            analysis(table)
        assert caught.value.advice.advice in (WEIGH_A_TABLE_OF_COUNTS, WEIGH_OR_DROP_A_COUNT), name
        if name != "dot":  # which would include the numbers as a covariate
            assert analysis(table, **FREQUENCIES) == N, name


@pytest.mark.parametrize("file", FILES)
def test_functions_of_people_refuse_an_export(exported, file):
    table = pd.read_csv(exported / file) if file.endswith("csv") else pd.read_parquet(exported / file)
    for analysis in UNWEIGHTED.values():
        with refused(ArgumentError, "weights"):
            analysis(table)


@pytest.mark.parametrize("file", [*FILES, "counts.arrow"])
def test_the_package_reads_the_numbers_of_an_export(exported, file):
    release = sp.read_release(exported / file)
    assert release.count("color").counts.sum() == N
    assert _people(sp.regress("mood ~ color", exported / file)) == N
    assert _people(sp.regress("color ~ 1", release)) == N
    assert sp.findings(release, tests=False)["color"].people == N
    for engine in ("pandas", "polars", "pyarrow"):
        table = release.to_frame(engine=engine)
        assert np.asarray(table["count"]).sum() == N
        with refused(ArgumentError, "weights"):
            sp.crosstab(table, *DESIGNS, designs=DESIGNS)
        assert sp.crosstab(table, *DESIGNS, designs=DESIGNS, **FREQUENCIES).counts.sum() == N


def test_a_mark_stays_with_parts_of_a_table(exported):
    """Two waves together, single columns, and tables without the numbers."""
    frame = pd.read_parquet(exported / "export.parquet")
    color = DESIGNS["color"]
    for lost in (
        lambda: sp.count(frame["color"], design=color),
        lambda: sp.count(frame[["color", "mood"]], "color", design=color),
        lambda: sp.count(frame[frame["mood"] > 3], "color", design=color),
        lambda: sp.crosstab(frame["color"], frame["mood"], designs=DESIGNS),
        lambda: sp.count(pd.concat([frame, frame]), "color", design=color),
        lambda: sp.count(pickle.loads(pickle.dumps(frame)), "color", design=color),
        lambda: sp.SubsetData(frame["color"], color),
        lambda: sp.impute(frame["color"], design=color, m=2),
        lambda: sp.regress(frame["color"], np.ones((len(frame), 1)), design=color),
        lambda: sp.group_means(np.arange(len(frame)), frame["color"], design=color),
    ):
        with refused(ArgumentError, "weights"):
            lost()
    whole = sp.count(frame["color"], design=color, weights=frame["count"], weights_kind="frequency")
    assert whole.counts.sum() == N
    people = sp.SubsetCounts(frame["color"][:1], frame["count"][:1], color)  # numbers are given
    assert people.counts.sum() == frame["count"][0]
    twice = pd.concat([pd.read_csv(exported / "export.csv")] * 2)
    with refused(ArgumentError, "weights"):
        sp.count(twice, "color", design=color)
    assert sp.count(twice, "color", design=color, **FREQUENCIES).counts.sum() == 2 * N


@pytest.mark.parametrize("engine", CONSTRUCTORS)
def test_a_column_called_count_must_be_used_or_left_out_in_every_engine(engine, tmp_path):
    made, color = CONSTRUCTORS[engine][0], DESIGNS["color"]
    columns = {"color": [3, 5, 5, 9], "count": [4, 2, 1, 3], "visits": [1, 2, 1, 2]}
    table = made(columns, tmp_path)
    with refused(ArgumentError, "weights") as caught:
        sp.count(table, "color", design=color)
    assert caught.value.advice.advice is WEIGH_OR_DROP_A_COUNT
    assert sp.count(table, "color", design=color, **FREQUENCIES).counts.sum() == 10
    assert sp.count(table, "color", design=color, weights="visits", weights_kind="frequency").counts.sum() == 6
    assert sum(part.n for part in sp.count(table, "color", design=color, by="count").values()) == 4
    del columns["count"]
    (tmp_path / "other").mkdir()
    assert sp.count(made(columns, tmp_path / "other"), "color", design=color).n == 4
    (tmp_path / "words").mkdir()
    words = made({**columns, "count": ["Dracula", "Olaf", "Dracula", "Olaf"]}, tmp_path / "words")
    assert sp.count(words, "color", design=color).n == 4


def test_an_own_column_called_count_is_a_covariate_an_outcome_or_a_subset():
    rng = np.random.default_rng(1)
    color = sp.privatize(rng.choice(list("abcd"), 300), DESIGNS["color"], seed=1)
    own = pd.DataFrame({"color": color.codes, "count": rng.integers(0, 3, 300), "age": rng.normal(size=300)})
    designs = {"color": DESIGNS["color"]}
    assert _people(sp.regress("color ~ count", own, designs=designs)) == 300
    assert _people(sp.regress("count ~ color", own, designs=designs, family="poisson")) == 300
    assert _people(sp.regress("color ~ age", own, designs=designs, offset="count")) == 300
    assert _people(sp.regress(color, own[["age", "count"]])) == 300
    assert sp.group_means("count", own, designs=designs).n == 300
    assert sp.group_means("age", own, designs=designs, by="count").n == 300
    called = own.rename(columns={"color": "count", "count": "visits"})
    assert sp.count(called, "count", design=DESIGNS["color"]).n == 300
    for unused in (
        lambda: sp.regress("color ~ age", own, designs=designs),
        lambda: sp.regress("color ~ .", own, designs=designs),
        lambda: sp.group_means("age", own, designs=designs),
        lambda: sp.regress("color ~ age", {name: own[name] for name in own}, designs=designs),
    ):
        with refused(ArgumentError, "weights"):
            unused()
    # A file with a document says whether its rows are people.
    release = sp.write_release(own, "own.parquet", designs, keep=["count", "age"])
    assert release.count().n == sp.count(pq.read_table("own.parquet"), "color", design=DESIGNS["color"]).n == 300
    assert _people(sp.regress("color ~ age", "own.parquet")) == 300


@every_case("file", ["stripped.csv", "stripped.parquet"])
def test_a_file_that_lost_its_document_is_refused(exported, file):
    frame = pd.read_csv(exported / "counts.csv")
    frame.to_csv("stripped.csv", index=False)
    pq.write_table(pq.read_table(exported / "counts.parquet").replace_schema_metadata(None), "stripped.parquet")
    release = sp.read_release(file, DESIGNS)
    for lost in (
        lambda: release.count("color"),
        lambda: release.crosstab(*DESIGNS),
        lambda: sp.regress("color ~ 1", release),
        lambda: sp.regress("mood ~ color", release),
        lambda: sp.regress("color ~ 1", release, stream=True),
        lambda: sp.findings(release).compute(),
    ):
        with refused(ArgumentError, "weights"):
            lost()
    assert release.count("color", **FREQUENCIES).counts.sum() == N
    assert _people(sp.regress("mood ~ color", release, **FREQUENCIES)) == N


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_a_report_says_that_rows_are_counts(exported, language):
    people = sp.privatize(pd.Series(list("abcd") * 15, name="color"), DESIGNS["color"], seed=1)
    of_people = report_html(sp.write_release(people, "people.csv"), tests=False, language=language)
    of_counts = report_html(sp.read_release(exported / "export.csv"), tests=False, language=language)
    words = words_of(language)
    texts = {key: str(words(f"report.{key}")) for key in ("row", "row_of_counts")}
    assert texts["row"] in of_people
    assert texts["row_of_counts"] not in of_people
    assert texts["row"] not in of_counts
    assert texts["row_of_counts"] in of_counts
    assert words.count("report.counted", N) in of_counts


def test_a_file_read_again_is_the_same(exported):
    table = pq.read_table(io.BytesIO((exported / "export.parquet").read_bytes()))
    assert table.column_names == [*DESIGNS, "count"]
    pq.write_table(table, "again.parquet")
    assert sp.read_release("again.parquet").count("color").counts.sum() == N
