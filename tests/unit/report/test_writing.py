"""The file that is written, the arguments, and a real release."""

import pyarrow as pa
import pytest
from refusals import refused
from report_pages import Page, Rows, people

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CodeError, DataFileError, NotPrivateWarning
from subsetprivacy.report import report_html, write_report


@pytest.fixture
def small():
    return Rows(
        {
            "x": sp.privatize(people(list("abcd"), [0.1, 0.2, 0.3, 0.4], 400, 1), sp.uniform(list("abcd")), seed=1),
            "y": sp.privatize(people(list("rstu"), [0.4, 0.3, 0.2, 0.1], 400, 2), sp.uniform(list("rstu")), seed=2),
        }
    )


def test_the_file_is_the_page(small, tmp_path):
    target = write_report(small, tmp_path / "page.html", seed=1, permutations=19)
    assert target == tmp_path / "page.html"
    assert target.read_bytes().decode() == report_html(small, seed=1, permutations=19)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_file_is_not_replaced_unless_asked(small, tmp_path):
    target = tmp_path / "page.html"
    target.write_text("mine")
    with refused(DataFileError, "path"):
        write_report(small, target)
    assert target.read_text() == "mine"
    assert "<html" in write_report(small, target, tests=False, overwrite=True).read_text(encoding="utf-8")


def test_a_folder_is_no_file(small, tmp_path):
    with pytest.raises(DataFileError):
        write_report(small, tmp_path, tests=False, overwrite=True)
    assert not list(tmp_path.iterdir())
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}*"))


def test_columns_are_chosen_by_name_and_in_order(small):
    page = Page(report_html(small, columns=["y", "x"], tests=False))
    assert list(page.table("Columns of the file")[1]) == ["y", "x"]
    alone = Page(report_html(small, columns="y"))
    assert list(alone.table("Columns of the file")[1]) == ["y"]
    assert "together" not in {attributes.get("id") for attributes in alone.all("section")}


def test_wrong_arguments_are_named(small):
    with refused(ArgumentError, "seed"):
        report_html(small, seed="today")
    with refused(ArgumentError, "level"):
        report_html(small, level=95)


def test_progress_ends_where_it_said(small):
    steps = []
    report_html(small, tests=False, progress=lambda done, total: steps.append((done, total)))
    done, total = steps[-1]
    assert done == total == 5  # two columns, the checks, a pair, the rows
    assert [step for step, _ in steps] == sorted(step for step, _ in steps)
    assert {every for _, every in steps} == {total}
    assert steps[0] == (0, total)


def test_a_broken_file_gives_no_page(small, monkeypatch):
    def broken(*columns):
        raise CodeError("column y, row 7: no subset")

    monkeypatch.setattr(small, "crosstab", broken)
    with pytest.raises(CodeError, match="row 7"):
        report_html(small)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_real_release_is_counted_and_not_loaded(small, tmp_path, monkeypatch, suffix):
    table = sp.SubsetTable([small._data["x"].codes, small._data["y"].codes], sp.product(small.designs))
    sp.write_release(table, tmp_path / f"made.{suffix}")
    release = sp.read_release(tmp_path / f"made.{suffix}")
    for loading in ("codes", "to_frame"):
        monkeypatch.setattr(type(release), loading, lambda *_: pytest.fail("rows were loaded"))
    small.path = release.path
    assert report_html(release, seed=1, permutations=19) == report_html(small, seed=1, permutations=19)


def test_columns_that_are_kept_stand_on_the_page(tmp_path):
    design = sp.uniform(list("abcd"))
    table = pa.table({"letter": list("abcd") * 25, "town": ["small", *["large"] * 99]})
    with pytest.warns(NotPrivateWarning, match="town"):
        sp.privatize_table(table, {"letter": design}, tmp_path / "private.parquet", keep="town")
    text = report_html(sp.read_release(tmp_path / "private.parquet"))
    assert "Published as they are, next to the subsets: town." in text
    assert "1 row is alone in them. Anyone who knows town of a person knows the row" in text
