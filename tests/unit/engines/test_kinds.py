"""What a table is, told without importing its library."""

import subprocess
import sys

import pytest
from engines import CONSTRUCTORS, LIBRARY
from refusals import refused

from subsetprivacy import engines
from subsetprivacy.engines.headers import no_such_column
from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_files import LOOK_FOR_A_HEADER, TAKE_A_SIMILAR_COLUMN, TAKE_ONE_OF_ITS_COLUMNS

COLUMNS = {"race": [3, 12, 5], "two words": ["x", None, "y"]}


@pytest.fixture(params=list(CONSTRUCTORS))
def made(request, tmp_path):
    pytest.importorskip(LIBRARY.get(request.param, request.param.split()[0]))
    build, engine = CONSTRUCTORS[request.param]
    return build(COLUMNS, tmp_path), engine


def test_every_table_is_known_by_its_engine(made):
    table, engine = made
    assert engines.is_table(table)
    assert engines.engine_of(table) == engine
    assert engines.column_names(table) == ["race", "two words"]
    assert engines.is_lazy(table) == (engine not in {"pandas", "polars", "pyarrow"})
    assert engines.is_ordered(table) == (engine in {"pandas", "polars", "pyarrow", "pyarrow-dataset"})
    assert engines.column_kinds(table, ["two words", "race"]) == ["text", "integer"]


def test_a_subclass_is_a_table():
    pd = pytest.importorskip("pandas")

    class Geo(pd.DataFrame):
        pass

    assert engines.engine_of(Geo({"x": [1]})) == "pandas"


def test_columns_and_lists_are_no_tables():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")

    class DataFrame:  # of nobody we know
        columns = ("x",)

    for other in ([3], {"x": [3]}, None, "people.csv", pd.Series([3]), pa.array([3]), DataFrame(), pd.DataFrame):
        assert not engines.is_table(other)
    with refused(ArgumentError, "table"):
        engines.engine_of({"x": [3]})


def test_pandas_on_spark_is_neither():
    kind = type("DataFrame", (), {"__module__": "pyspark.pandas.frame"})
    assert not engines.is_table(kind())
    assert engines.is_table(type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})())


def test_columns_that_are_not_there():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["race", "income", 7, 7])
    engines.check_columns(frame, ["income", "race"])
    told = (
        r"must be in the table; got no column incmoe among its 4 columns\. The column names are not shown, because "
        "without a header they could be a person's values"
    )
    with pytest.raises(ArgumentError, match=told) as caught:
        engines.check_columns(frame, ["race", "incmoe"])
    assert "income" not in str(caught.value)
    assert caught.value.advice == LOOK_FOR_A_HEADER()
    with pytest.raises(ArgumentError, match="must occur once; got 7 2 times"):
        engines.check_columns(frame, ["7"])


def test_the_first_person_of_a_file_without_a_header_is_not_shown():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([["Smith", "HIV"]], columns=["Jones", "measles"])  # as pandas reads such a file
    for wanted in ("name", "Jonas", "jones", "measle", "Jones Smith", ""):
        with pytest.raises(ArgumentError, match=r"got no column .* among its 2 columns\.") as caught:
            engines.check_columns(frame, [wanted])
        assert "Jones" not in str(caught.value).replace(wanted, "")
        assert "measles" not in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ("Race", "race"),
        ("marital status", "Marital_Status"),
        ("age-group", "age group"),
        ("n", "n."),
        ("straße", "STRASSE"),
    ],
)
def test_a_name_that_is_written_otherwise_is_suggested(wanted, held):
    message, advice = no_such_column(wanted, ["x", held, "secret"], "the file 'a.csv'", "names")
    assert message == f"a named column must be in the file 'a.csv'; got no column {wanted} among its 3 columns."
    assert advice == TAKE_A_SIMILAR_COLUMN(names=repr(held))


def test_signs_alone_are_not_compared():
    _, advice = no_such_column("-", ["_", "."], "the table", "names")
    assert advice.advice is TAKE_ONE_OF_ITS_COLUMNS


def test_columns_as_their_library_has_them():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert engines.native_column(pd.DataFrame({5: [1, 2]}), "5").tolist() == [1, 2]
    assert engines.native_column(pa.table({"x": [1, 2]}), "x").to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, None], "float"),
        ([True, False], "boolean"),
        ([[1], [2, 3]], "lists"),
        ([None, None], "nothing"),
        (["a", None], "text"),
        ([b"a", b"b"], "other"),
    ],
)
def test_kinds_of_columns(values, kind):
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    assert engines.column_kinds(pa.table({"x": values}), ["x"]) == [kind]
    # Polars' own type of a column of gaps is unknown to narwhals: its values will tell.
    expected = "objects" if kind == "nothing" else kind
    assert engines.column_kinds(pl.DataFrame({"x": values}).lazy(), ["x"]) == [expected]


def test_kinds_that_arrow_alone_has():
    pa = pytest.importorskip("pyarrow")
    table = pa.table(
        {
            "category": pa.array(["x", "y"]).dictionary_encode(),
            "whole": pa.array([3, 5], pa.decimal128(20, 0)),
            "price": pa.array([3, 5], pa.decimal128(20, 2)),
            "big": pa.array(["x", "y"], pa.large_string()),
        }
    )
    assert engines.column_kinds(table, table.column_names) == ["text", "integer", "float", "text"]


def test_nothing_is_imported_to_tell_a_table():
    code = (
        "import sys, subsetprivacy as sp; sp.count([3], categories=['a', 'b'])\n"
        "from subsetprivacy.engines import is_table; assert not is_table([3])\n"
        "print([name for name in ('narwhals', 'pandas', 'polars', 'pyarrow', 'pyspark') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
