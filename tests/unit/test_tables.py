"""Tables of text, and the same columns as data frames."""

from every_case import every_case
from refusals import refused

from subsetprivacy.errors import ArgumentError
from subsetprivacy.tables import Table, frame, number, percent

TABLE = Table("Title", ("name", "x"), (("a", "1.00"), ("long name", "10.50")), ("A note.",))


def test_text_is_aligned():
    assert str(TABLE).splitlines() == [
        "Title",
        "----------------",
        "name           x",
        "----------------",
        "a           1.00",
        "long name  10.50",
        "----------------",
        "A note.",
    ]


def test_a_table_without_rows_has_its_head():
    assert str(Table("T", ("name", "x"), ())).splitlines() == ["T", "-------", "name  x", "-------", "-------"]


def test_html_escapes_everything():
    nasty = "<script>&\"'"
    html = Table(nasty, (nasty, nasty), ((nasty, nasty),), (nasty,))._repr_html_()
    assert "<script>" not in html
    assert html.count("&lt;script&gt;&amp;") == 6
    assert html.count("<tr>") == 2


@every_case(
    ("value", "digits", "text"),
    [
        (0.12345, 4, "0.1235"),
        (0.5, 2, "0.50"),
        (-0.00001, 4, "0.0000"),  # no minus nothing
        (-0.5, 1, "-0.5"),
        (float("nan"), 4, "-"),
        (float("inf"), 4, "inf"),
    ],
)
def test_numbers_are_for_people(value, digits, text):
    assert number(value, digits) == text


@every_case(("level", "text"), [(0.95, "95%"), (0.9, "90%"), (0.999, "99.9%"), (0.975, "97.5%")])
def test_levels_in_column_names(level, text):
    assert percent(level) == text


@every_case("engine", ["pandas", "polars", "pyarrow"])
def test_frames_hold_the_columns(engine):
    made = frame({"category": ["a", "b"], "x": [1.0, 2.0]}, engine)
    assert type(made).__module__.split(".")[0] == engine
    assert list(made["x"].to_numpy()) == [1.0, 2.0]
    assert len(made) == 2


def test_an_unknown_engine():
    with refused(ArgumentError, "engine"):
        frame({"x": [1]}, "r")
