"""Several variables seen as one."""

import copy
import pickle

import numpy as np
import pytest
from every_case import every_case
from refusals import refused

import subsetprivacy as sp
from subsetprivacy.errors import CategoryError, MismatchError, TooLargeError

BOTH = sp.JointCategories({"sex": ["f", "m"], "view": ["no", "so", "yes"]})


def test_combinations_the_last_fastest():
    assert BOTH.names == ("sex", "view")
    assert BOTH.shape == (2, 3)
    assert (BOTH.p, len(BOTH)) == (6, 6)
    assert BOTH.labels == (("f", "no"), ("f", "so"), ("f", "yes"), ("m", "no"), ("m", "so"), ("m", "yes"))
    assert list(BOTH) == list(BOTH.labels)
    assert BOTH.index(("m", "so")) == 4
    assert BOTH.members(0b100010) == (("f", "so"), ("m", "yes"))
    assert BOTH.code([("f", "so"), ("m", "yes")]) == 0b100010
    assert BOTH.full == 63


def test_coordinates_and_positions_are_inverse():
    at = BOTH.coordinates(np.arange(6))
    assert [part.tolist() for part in at] == [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]
    x, missing = BOTH.positions(list(BOTH.labels))
    assert x.tolist() == list(range(6))
    assert missing is None


def tables():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    plain = {"view": ["so", "no", None, "yes"], "sex": ["m", "f", "m", None], "more": [1, 2, 3, 4]}
    return {
        "dict": plain,
        "numpy": {name: np.array(column, object) for name, column in plain.items()},
        "rows": [("m", "so"), ("f", "no"), ("m", None), (None, "yes")],
        "lists": [["m", "so"], ["f", "no"], ["m", None], [None, "yes"]],
        "pandas": pd.DataFrame(plain),
        "polars": pl.DataFrame(plain),
        "arrow": pa.table(plain),
    }


@every_case("kind", ["dict", "numpy", "rows", "lists", "pandas", "polars", "arrow"])
def test_tables_of_every_kind(kind):
    x, missing = BOTH.positions(tables()[kind])
    assert x.tolist() == [4, 0, -1, -1]
    assert missing.tolist() == [False, False, True, True]


def test_a_wrong_value_is_wrong_whatever_else_is_missing():
    x, missing = BOTH.positions([("m", "so"), ("x", None), (None, "perhaps"), (None, None), None])
    assert x.tolist() == [4, -1, -1, -1, -1]
    assert missing.tolist() == [False, False, False, True, True]


def test_nobody():
    x, missing = BOTH.positions({"sex": [], "view": []})
    assert x.tolist() == []
    assert missing is None
    assert BOTH.positions([])[0].tolist() == []


@every_case(
    ("values", "error", "message"),
    [
        ({"sex": ["f"]}, CategoryError, "got none for view"),
        ({"sex": ["f"], "view": ["no", "so"]}, MismatchError, "got different lengths"),
        ([("f", "no"), ("f",)], CategoryError, "row 1 "),
        ([("f", "no"), "secret"], CategoryError, "row 1 "),
        ([("f", "no"), 7], CategoryError, "row 1 "),
        ("secret", CategoryError, "got str"),
        (7, CategoryError, "got int"),
        ({"sex": "secret", "view": ["no"]}, (CategoryError, MismatchError), "must"),
    ],
)
def test_what_is_no_table_is_refused_without_a_word_of_it(values, error, message):
    with pytest.raises(error, match=message) as caught:
        BOTH.positions(values)
    assert "secret" not in str(caught.value)


def test_columns_that_can_be_read_once_only_are_refused_by_name():
    with pytest.raises((CategoryError, MismatchError), match="`values`"):
        BOTH.positions({"sex": iter(["f"]), "view": iter(["no"])})


@every_case(
    ("variables", "argument"),
    [
        ({}, "variables"),
        ([("sex", ["f", "m"])], "variables"),
        ({1: ["f", "m"]}, None),
        ({"": ["f", "m"]}, None),
        ({"sex": ["f", "f"]}, "categories"),
        ({"sex": "fm"}, "categories"),
    ],
)
def test_what_is_no_list_of_variables(variables, argument):
    with refused(CategoryError, argument):
        sp.JointCategories(variables)


def test_an_unknown_name_is_refused_with_the_known_ones():
    assert BOTH.axis("view") == 1
    with refused(CategoryError, "name"):
        BOTH.axis("age")


def test_many_combinations_are_not_listed():
    wide = sp.JointCategories({name: range(100) for name in "abcd"})
    assert wide.p == 100**4
    with pytest.raises(TooLargeError):
        _ = wide.labels
    assert wide.preview() == "a (100) x b (100) x c (100) x d (100)"
    x, _ = wide.positions({name: [99] for name in "abcd"})
    assert x.tolist() == [100**4 - 1]


def test_equality_is_names_order_and_types():
    same = sp.JointCategories({"sex": ["f", "m"], "view": ["no", "so", "yes"]})
    assert same == BOTH
    assert hash(same) == hash(BOTH)
    assert sp.JointCategories({"view": ["no", "so", "yes"], "sex": ["f", "m"]}) != BOTH
    assert sp.JointCategories({"sex": ["m", "f"], "view": ["no", "so", "yes"]}) != BOTH
    assert sp.JointCategories({"a": [0, 1]}) != sp.JointCategories({"a": [False, True]})
    assert sp.JointCategories({"a": ["x", "y"]}) != sp.Categories(["x", "y"])
    assert sp.Categories(list(BOTH.labels)) != BOTH


def test_they_cannot_be_changed():
    with pytest.raises(AttributeError):
        BOTH.names = ("a", "b")
    for again in (copy.copy(BOTH), copy.deepcopy(BOTH), pickle.loads(pickle.dumps(BOTH))):
        assert again == BOTH
        assert again.labels == BOTH.labels


def test_the_repr_is_the_recipe():
    assert repr(BOTH) == "JointCategories({'sex': ('f', 'm'), 'view': ('no', 'so', 'yes')})"
    assert eval(repr(BOTH), {"JointCategories": sp.JointCategories}) == BOTH


def test_documents_list_the_variables_in_order():
    assert BOTH.content() == {
        "variables": [{"name": "sex", "categories": ["f", "m"]}, {"name": "view", "categories": ["no", "so", "yes"]}]
    }


def test_a_frame_with_a_column_twice_is_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([["f", "m", "no"]], columns=["sex", "sex", "view"])
    with pytest.raises((CategoryError, MismatchError), match="must"):
        BOTH.positions(frame)
