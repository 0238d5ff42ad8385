"""Errors with their advice, through other processes and through the text that a cluster passes on."""

import json
import pickle

import pandas as pd
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, CodeError, DataFileError, DesignDocumentError
from subsetprivacy.frames.file_errors import naming_file
from subsetprivacy.frames.metadata import FORMAT, VERSION, metadata_from_json
from subsetprivacy.frames.worker import decoded_error, encoded_error
from subsetprivacy.messages.for_files import (
    CLEAN_VALUES,
    GIVE_DESIGNS_OF_COLUMNS,
    NAME_THE_MARK,
    READ_CODES,
    REPLACE_OUTPUT,
    STORE_ABSENT_AS_FULL,
    STRIP_SPACES,
    TAKE_A_SIMILAR_COLUMN,
)
from subsetprivacy.messages.rendering import for_shell
from subsetprivacy.processes import process_pool

DESIGN = sp.uniform(list("abcd"))
TOLD = [
    CategoryError("column 'x': got 2 missing.\npart 1: line two.", STORE_ABSENT_AS_FULL),
    DataFileError("got no column <advice>.", TAKE_A_SIMILAR_COLUMN(names="'</subset-privacy>' or '<advice>'")),
    DataFileError("the table must have rows; got none."),
]


@pytest.mark.parametrize("error", TOLD, ids=["advice", "fields", "no advice"])
def test_an_error_is_found_again_in_the_text_of_an_engine(error):
    again = decoded_error(
        f"Job aborted: Traceback ...\n{type(error).__name__}: {encoded_error(error)}\n\tat Executor.scala"
    )
    assert type(again) is type(error)
    assert (again.message, again.advice, str(again)) == (error.message, error.advice, str(error))


def test_text_of_others_holds_no_error_of_ours():
    assert decoded_error("java.lang.OutOfMemoryError") is None
    assert decoded_error("<subset-privacy Nothing>text<advice></subset-privacy>") is None


def test_advice_comes_home_from_another_process():
    with (
        process_pool(1) as pool,
        pytest.raises(DataFileError) as caught,
    ):
        pool.submit(exec, RAISING, {}).result()
    assert caught.value.advice == REPLACE_OUTPUT()


RAISING = """
from subsetprivacy.frames.file_errors import file_error
from subsetprivacy.messages.for_files import REPLACE_OUTPUT
raise file_error("a.csv", "must not exist yet; it does", REPLACE_OUTPUT)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_that_are_refused_have_their_advice_whoever_reads_them(jobs, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("letter\n" + "a\n" * 50 + '""\n' * 3)
    with pytest.raises(CategoryError, match="got 3 missing, first in line 52") as caught:
        sp.privatize_table(path, {"letter": DESIGN}, tmp_path / "private.csv", jobs=jobs)
    assert caught.value.advice == STORE_ABSENT_AS_FULL()
    assert pickle.loads(pickle.dumps(caught.value)).advice == STORE_ABSENT_AS_FULL()


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ([" a", "b "], STRIP_SPACES()),
        (["a", "NA"], NAME_THE_MARK()),
        (["a", None], STORE_ABSENT_AS_FULL()),
        ([" a", "NA"], CLEAN_VALUES()),
        (["b ", None], CLEAN_VALUES()),
        (["a", "secret"], None),
    ],
)
def test_an_error_of_rows_has_the_advice_for_all_of_them(values, advice):
    with pytest.raises(CategoryError) as caught:
        sp.privatize_table(pd.DataFrame({"letter": values}), {"letter": DESIGN})
    assert caught.value.advice == advice
    assert "secret" not in str(caught.value)


def test_an_error_about_a_file_keeps_its_advice():
    told = r"^a\.csv: got 1\. They were read as labels, not as codes\."
    with pytest.raises(CodeError, match=told) as caught, naming_file("a.csv", as_labels=True):
        raise CodeError("got 1.")
    assert caught.value.advice == READ_CODES()
    with pytest.raises(CodeError) as caught, naming_file("a.csv", as_labels=True):
        raise CodeError("got 1 missing.", STORE_ABSENT_AS_FULL)
    assert caught.value.advice == STORE_ABSENT_AS_FULL()
    with pytest.raises(CodeError) as caught, naming_file("a.csv"):
        raise CodeError("got 1.")


def test_a_file_without_designs_is_told_in_the_words_of_the_shell(tmp_path):
    (tmp_path / "alone.csv").write_text("letter\na|b\n")
    with pytest.raises(DataFileError) as caught:
        sp.read_release(tmp_path / "alone.csv")
    assert caught.value.advice.advice is GIVE_DESIGNS_OF_COLUMNS
    said = for_shell(caught.value.advice, {"--column", "--form"})
    assert said == "use --column NAME=DESIGN, or keep 'alone.csv.design.json' next to it"


def test_a_design_in_a_document_that_is_too_new_keeps_the_advice_of_the_design():
    newer = {**DESIGN.document(), "version": 99}
    document = {"format": FORMAT, "version": VERSION, "columns": {"x": {"form": "codes", "design": newer}}}
    with pytest.raises(DesignDocumentError) as caught:
        metadata_from_json(json.dumps(document), "here")
    assert str(caught.value).endswith("Hint: a newer version of the package may read it.")
