"""The kernel that every engine runs: which columns it reads, what it draws, what it refuses."""

import numpy as np
import pyarrow as pa
import pytest

import subsetprivacy as sp
from subsetprivacy.errors import ArgumentError, CategoryError
from subsetprivacy.frames.kernel import Kernel, variables_of
from subsetprivacy.frames.refused_rows import RefusedRows, refuse
from subsetprivacy.mechanism.randomness import random_source
from subsetprivacy.messages.for_files import STORE_ABSENT_AS_FULL

RACE = sp.uniform(["white", "black", "asian", "other", "native"])
JOINED = sp.join({"sex": ["f", "m"], "income": ["low", "high"]})
KEY = bytes(range(32))


def batch(**columns):
    return pa.RecordBatch.from_pydict(columns)


def test_a_design_on_several_variables_reads_the_columns_they_are_named_after():
    (variable,) = variables_of({"sex_income": JOINED})
    assert (variable.name, variable.read_from) == ("sex_income", ("sex", "income"))


def test_a_product_gives_a_column_for_each_factor():
    both = sp.product({"race": RACE, "income": sp.uniform(list("abcd"))})
    assert [(each.name, each.read_from) for each in variables_of(both)] == [
        ("race", ("race",)),
        ("income", ("income",)),
    ]


@pytest.mark.parametrize(
    ("designs", "message"),
    [
        ({}, "must map columns to their designs; got dict"),
        (RACE, "must map columns to their designs"),
        ({3: RACE}, "names of columns must be text; got 3"),
        ({"both": sp.product({"x": RACE, "y": RACE})}, "one design; got a product"),
        ({"x": sp.covered(RACE, 0.1), "y": RACE}, "covered design must be the only one"),
        ({"both": JOINED, "sex": sp.warner(["f", "m"])}, "must be drawn from once; got sex twice"),
        ({"one": JOINED, "two": JOINED}, "must be drawn from once; got income, sex twice"),
    ],
)
def test_columns_that_are_not_clear_are_refused(designs, message):
    with pytest.raises(ArgumentError, match=message):
        variables_of(designs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ("race",)}, "written once; got race twice"),
        ({"key": KEY}, "`key` and `id` must be given together"),
        ({"id": "person"}, "`key` and `id` must be given together"),
        ({"key": b"short", "id": "person"}, "must have 16 to 64 bytes; got 5"),
        ({"key": KEY, "id": "person", "keep": ("person",)}, "nor ids; got person"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        Kernel(variables_of({"race": RACE}), **options)


def test_a_value_is_never_kept_beside_its_subset():
    with pytest.raises(ArgumentError, match="neither privatized nor ids; got sex"):
        Kernel(variables_of({"sex_income": JOINED}), keep=("sex",))


def test_a_covered_design_has_neither_key_nor_kept_columns():
    variables = variables_of({"race": sp.covered(RACE, 0.1)})
    with pytest.raises(ArgumentError, match="without a key: its dummy rows are drawn again"):
        Kernel(variables, key=KEY, id="person")
    with pytest.raises(ArgumentError):
        Kernel(variables, keep=("age",))


def test_every_subset_holds_its_value():
    kernel = Kernel(variables_of({"race": RACE, "sex_income": JOINED}))
    values = ["other", "white", "native", "white"] * 50
    sexes, incomes = ["f", "m"] * 100, ["low", "low", "high"] * 66 + ["high", "low"]
    drawn = kernel.draw(batch(race=values, sex=sexes, income=incomes), random_source(seed=1))
    race, both = drawn.codes
    assert all(value in RACE.members(code) for value, code in zip(values, race.tolist()))
    pairs = zip(sexes, incomes)
    assert all(pair in JOINED.members(code) for pair, code in zip(pairs, both.tolist()))
    assert len(set(race.tolist())) > 5


def test_rows_that_cannot_be_drawn_are_counted_and_nothing_is_drawn():
    kernel = Kernel(variables_of({"race": RACE, "sex_income": JOINED}))
    drawn = kernel.draw(
        batch(race=["white", "purple", None, "green"], sex=["f", "m", "f", "x"], income=["low", "low", "high", "low"])
    )
    assert drawn.codes == ()
    assert drawn.refused == (
        RefusedRows("race", "unknown", 2, 1),
        RefusedRows("race", "absent", 1, 2),
        RefusedRows("sex_income", "unknown", 1, 3),
    )


def test_missing_values_may_become_the_full_set():
    kernel = Kernel(variables_of({"race": RACE}), missing="full")
    drawn = kernel.draw(batch(race=["white", None, "black"]), random_source(seed=2))
    assert drawn.codes[0][1] == RACE.missing_code
    assert drawn.reports == 2


def test_labels_that_are_no_text_are_recognized_in_text():
    ages = sp.uniform([1, 2, 3, 4.5])
    kernel = Kernel(variables_of({"age": ages}), as_text=True)
    (codes,) = kernel.draw(batch(age=["4.5", "2", "1"]), random_source(seed=3)).codes
    assert [label in ages.members(code) for label, code in zip([4.5, 2, 1], codes.tolist())] == [True] * 3


def test_labels_that_look_alike_in_text_are_refused():
    with pytest.raises(CategoryError):
        Kernel(variables_of({"x": sp.uniform([1, "1", "b", "c"])}), as_text=True)


def test_a_key_gives_a_person_the_same_subset_whatever_the_batch():
    kernel = Kernel(variables_of({"race": RACE}), key=KEY, id="person")
    values = ["white", "black", "asian", "other", "native"] * 40
    people = list(range(200))
    whole = kernel.draw(batch(race=values, person=people)).codes[0]
    last = kernel.draw(batch(race=values[150:], person=[str(each) for each in people[150:]])).codes[0]
    alone = sp.privatize(values, RACE, key=KEY, ids=people, variable="race").codes
    assert np.array_equal(whole[150:], last)
    assert np.array_equal(whole, alone)


def test_the_key_goes_by_what_is_drawn_not_by_the_name_of_the_output():
    values = {"sex": ["f", "m"] * 50, "income": ["low", "low", "high", "high"] * 25}
    drawn = [
        Kernel(variables_of({name: JOINED}), key=KEY, id="person")
        .draw(batch(**values, person=list(range(100))))
        .codes[0]
        for name in ("one", "other")
    ]
    whole = sp.privatize(values, JOINED, key=KEY, ids=list(range(100)), variable="sex x income").codes
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], whole)


@pytest.mark.parametrize(
    ("people", "refused"),
    [
        (["a", None, "b", None], RefusedRows("person", "id missing", 2, 1)),
        ([1.5, 2.5, 3.5, 4.5], RefusedRows("person", "id type", 4, 0)),
        (["a", "b", "c", "a"], RefusedRows("person", "id repeated", 1, 3)),
    ],
)
def test_ids_that_tell_nobody_apart_are_refused(people, refused):
    kernel = Kernel(variables_of({"race": RACE}), key=KEY, id="person")
    assert kernel.draw(batch(race=["white"] * 4, person=people)).refused == (refused,)


def test_what_is_kept_does_not_tell_the_order_of_the_source():
    kernel = Kernel(variables_of({"race": RACE}), keep=("town",))
    (kept,) = kernel.kept(batch(race=["white"] * 3, town=pa.array(["z", "a", "z"]).dictionary_encode()))
    assert (kept.type, kept.to_pylist()) == (pa.string(), ["z", "a", "z"])


def test_the_message_adds_up_the_batches_and_shows_no_value():
    refused = [
        RefusedRows("race", "unknown", 2, 7).moved(100),
        RefusedRows("race", "unknown", 1, 0).moved(200),
        RefusedRows("race", "absent", 5, 3).moved(200),
        RefusedRows("person", "id repeated", 3, None).moved(200),
    ]
    with pytest.raises(CategoryError) as caught:
        refuse(refused, "people.csv", rows="line", number=lambda row: row + 2)
    unknown, absent, twice = caught.value.message.split("\n")
    assert unknown.startswith("people.csv: column 'race': every value must be one of the design's categories; got 3 ")
    assert unknown.endswith("first in line 109.")
    assert absent.startswith("people.csv: column 'race': every value must be known; got 5 missing, first in line 205.")
    told = "people.csv: column 'person': ids must be distinct; got 3 rows that repeat an earlier id. Two"
    assert twice.startswith(told)
    assert caught.value.advice == STORE_ABSENT_AS_FULL()


def test_nothing_refused_raises_nothing():
    refuse([])


def test_a_column_of_lists_is_refused_by_its_name():
    kernel = Kernel(variables_of({"race": RACE}))
    with pytest.raises(CategoryError, match="race"):
        kernel.draw(batch(race=[["white"], ["black"]]))
