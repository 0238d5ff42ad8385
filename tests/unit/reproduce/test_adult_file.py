"""A user's own copy of the Adult data: what passes, what is refused, and that no message shows what stands in a row."""

import random

import pytest
from every_case import every_case
from refusals import refused

from subsetprivacy.errors import ArgumentError, CategoryError, MismatchError
from subsetprivacy.examples import ADULT_CASES, Adult, adult
from subsetprivacy.messages.for_files import TAKE_ADULT_DATA, TAKE_ADULT_DATA_UNSORTED
from subsetprivacy.reproduce import adult_file
from subsetprivacy.reproduce.adult_file import read_adult

INCOMES = {"low": "<=50K", "high": ">50K"}


def people():
    """All 32,561 people in random order, but for the cases, as (race, sex, income)."""
    rows = adult.rows()
    everybody = [(r, s, INCOMES[i]) for r, s, i in zip(rows["race"], rows["sex"], rows["income"])]
    random.Random(1).shuffle(everybody)
    for row, race in ADULT_CASES.items():
        at = next(k for k, person in enumerate(everybody) if k > 15 and person[0] == race)
        everybody[row], everybody[at] = everybody[at], everybody[row]
    return everybody


EVERYBODY = people()


def uci(rows, end="\n\n"):
    """The layout of the UCI file: 15 fields, a blank after each comma, an empty last line."""
    lines = [
        f"39, State-gov, 77516, Bachelors, 13, Never, Adm, Not, {r}, {s}, 2174, 0, 40, United-States, {i}"
        for r, s, i in rows
    ]
    return "\n".join(lines) + end


@pytest.fixture
def write(tmp_path):
    def put(text, encoding="utf-8"):
        path = tmp_path / "adult.data"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return put


def test_the_ucis_layout_passes(write):
    path = write(uci(EVERYBODY))
    assert read_adult(path) == adult
    assert read_adult(str(path)).cases == ADULT_CASES


def test_labels_are_checked_once_for_all_who_share_them(write, monkeypatch):
    cells = []
    check = adult_file._cell
    monkeypatch.setattr(adult_file, "_cell", lambda *given: cells.append(given) or check(*given))
    read_adult(write(uci(EVERYBODY)))
    assert len(cells) == len(set(EVERYBODY)) == 20


@every_case("sex", ["sex", "Gender"])
@every_case("income", ["income", "class"])
def test_a_header_says_where_the_columns_are(write, sex, income):
    lines = [f'{income}, "id",Race ,{sex}', *(f"{i}.,{k},{r},{s} " for k, (r, s, i) in enumerate(EVERYBODY))]
    assert read_adult(write("\r\n".join(lines), "utf-8-sig")) == adult


def test_it_is_an_adult_like_the_shipped_one():
    other = Adult(((1, 2, 3, 4),) * 5, ("White",) * 4)
    assert other != adult
    assert hash(Adult()) == hash(adult)
    assert other.race_counts.tolist() == [10] * 5
    assert other.sex_income.tolist() == [[5, 10], [15, 20]]
    assert other.cases == dict.fromkeys(range(12, 16), "White")
    assert len(other.rows()["race"]) == 50


@every_case("size", [30_162, 16_281, 15_060, 32_560, 1, 48_842, 50_000])
def test_another_number_of_rows(write, size):
    with refused(MismatchError, "adult") as caught:
        read_adult(write(uci((EVERYBODY * 2)[:size])))
    got = "more than 48,842" if size > 48_842 else f"{size:,}"
    assert f"got {got}" in str(caught.value)
    assert caught.value.advice == TAKE_ADULT_DATA()


def test_the_first_line_of_the_test_part_is_no_row(write):
    with pytest.raises(MismatchError):
        read_adult(write("|1x3 Cross validator\n" + uci(EVERYBODY[:16_281])))


@every_case(
    ("person", "margin"),
    [
        (("Other", "Male", "<=50K"), "race: 1 rows"),
        (("White", "Female", "<=50K"), "sex: 1 rows"),
        (("White", "Male", ">50K"), "income: 1 rows"),
    ],
)
def test_other_counts(write, person, margin):
    at = EVERYBODY.index(("White", "Male", "<=50K"), 16)
    wrong = [*EVERYBODY[:at], person, *EVERYBODY[at + 1 :]]
    with pytest.raises(MismatchError, match=f"got other counts of {margin} would have to change"):
        read_adult(write(uci(wrong)))


def changed(pairs):
    """Replace one person each, after the cases."""
    rows = list(EVERYBODY)
    for old, new in pairs:
        rows[rows.index(old, 16)] = new
    return rows


def test_other_counts_behind_the_same_margins(write):
    low, high = "<=50K", ">50K"
    crossed = [
        (("White", "Male", low), ("White", "Male", high)),
        (("White", "Female", high), ("White", "Female", low)),
    ]
    with pytest.raises(MismatchError, match="other counts of sex by income: 2 rows"):
        read_adult(write(uci(changed(crossed))))
    joint = [
        (("White", "Male", low), ("White", "Male", high)),
        (("Black", "Male", high), ("Black", "Male", low)),
    ]
    with pytest.raises(MismatchError, match="other counts of race by sex by income: 2 rows"):
        read_adult(write(uci(changed(joint))))


def test_other_cases(write):
    with pytest.raises(MismatchError, match=r"got 3 of the rows 12 to 15, .* while all counts agree") as caught:
        read_adult(write(uci(sorted(EVERYBODY, key=lambda person: person[0] != "White"))))
    assert caught.value.advice == TAKE_ADULT_DATA_UNSORTED()


@every_case("place", range(3))
def test_an_unknown_label_is_not_shown(write, place):
    person = ["White", "Male", "<=50K"]
    person[place] = "secret"
    name = ("race", "sex", "income")[place]
    with pytest.raises(CategoryError, match=f"unknown one of {name} in line 4") as caught:
        read_adult(write("\n" + uci([*EVERYBODY[:2], person])))
    assert "secret" not in str(caught.value)


def test_a_line_of_another_length(write):
    with pytest.raises(ArgumentError, match="must have 15 fields in each line; got 16 in line 3") as caught:
        read_adult(write(uci(EVERYBODY[:2], "\n") + uci(EVERYBODY[:1], ", secret")))
    assert "secret" not in str(caught.value)
    with pytest.raises(ArgumentError, match=r"15 fields .* got 1 in line 1. Hint: alternatively, a header"):
        read_adult(write("secret;secret\n"))


@every_case("header", ["race,income", "race,sex,gender,income", "race,sex,class,income"])
def test_a_header_without_a_column(write, header):
    with pytest.raises(ArgumentError, match="one column each of race, sex or gender, and income"):
        read_adult(write(f"{header}\n"))


@every_case("content", [b"\xff\xfe\x00secret", b'39, "secret\n', b"a\x00b,secret\n" * 3])
def test_what_is_no_text(write, content):
    with refused(ArgumentError, "adult") as caught:
        read_adult(write(content))
    assert "secret" not in str(caught.value)


def test_no_rows_and_no_file(write, tmp_path):
    with pytest.raises(MismatchError, match=r"`adult` must be the file adult\.data; got a file without rows"):
        read_adult(write("\n \n"))
    with refused(ArgumentError, "adult"):
        read_adult(tmp_path / "nowhere")
    with refused(ArgumentError, "adult"):
        read_adult(tmp_path)
