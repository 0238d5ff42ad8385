"""What a formula says: its sides, its terms, and what is refused because it is not computed row by row."""

import builtins

import pytest
from refusals import refused

from subsetprivacy.errors import ArgumentError, MissingDependencyError
from subsetprivacy.frames.formula_terms import private_predictors, read_terms, refuse_predictors, split_formula
from subsetprivacy.messages.for_regression import COMPUTE_THE_COLUMN_FIRST, OFFSET_AS_AN_ARGUMENT


@pytest.mark.parametrize(
    ("formula", "sides"),
    [
        ("race ~ age + C(sex)", ("race", "age + C(sex)")),
        ("  race~1 ", ("race", "1")),
        ("`marital status` ~ age*sex", ("marital status", "age*sex")),
        ("race ~ {~(age > 3)} + `a ~ b`", ("race", "{~(age > 3)} + `a ~ b`")),
        ("race ~ age\n + sex", ("race", "age\n + sex")),
    ],
)
def test_a_formula_is_split(formula, sides):
    assert split_formula(formula, ["race"]) == sides


NO_FORMULA = ["race", "a ~ b ~ c", "~ age", "race ~", "", 3, "a + b ~ age", "np.log(race) ~ age"]
NO_TERMS = ["race ~ age +", "race ~ (age", "race ~ age | sex", "race ~ 0"]


@pytest.mark.parametrize("formula", NO_FORMULA + NO_TERMS)
def test_what_is_no_formula_is_refused(formula):
    with refused(ArgumentError, "formula"):
        split_formula(formula, ["race"])


@pytest.mark.parametrize(
    ("term", "inside"),
    [
        ("C(income)", "the term C(income)"),
        ("np.log(income)", "the term np.log(income)"),
        ("I(age * income)", "the term I(age * income)"),
        ("bs(income)", "the term bs(income)"),
        ("Q('income')", "the term Q('income')"),
        ("age:C(income)", "C(income) in the term age:C(income)"),
    ],
)
def test_a_private_column_is_inside_no_function(term, inside):
    with pytest.raises(ArgumentError, match=r"private column.*got income") as caught:
        split_formula(f"race ~ sex + {term}", ["race", "income"])
    assert caught.value.message.endswith(f"inside {inside}.")
    assert caught.value.advice.name == "private_as_it_is"


@pytest.mark.parametrize(
    ("right", "names"),
    [
        ("sex + age", ()),
        ("income", ("income",)),
        ("age:income", ("income",)),
        ("`marital status`*age + income:`marital status`", ("marital status", "income")),
        (". + income", ("income",)),
        ("incomes + xincome", ()),
    ],
)
def test_private_predictors_are_found(right, names):
    private = ["race", "income", "marital status"]
    assert split_formula(f"race ~ {right}", private) == ("race", right)
    assert private_predictors(right, private) == names
    if names:
        with pytest.raises(ArgumentError, match=rf"as its response only; got {', '.join(names)} among the terms"):
            refuse_predictors(right, private)
    else:
        refuse_predictors(right, private)


def test_a_response_is_not_explained_by_itself():
    with pytest.raises(ArgumentError, match="must not explain vote by itself; got it in the term age:vote"):
        split_formula("vote ~ age:vote")


def test_columns_of_terms_are_told():
    terms = read_terms("age*sex + np.log(hours) + C(`weird name`) + poly(x, 3, raw=True) + Q('other name') + 2:z")
    assert [term.name for term in terms.terms] == [
        "Intercept",
        "age",
        "sex",
        "np.log(hours)",
        "C(`weird name`)",
        "poly(x, 3, raw=True)",
        "Q('other name')",
        "2:z",
        "age:sex",
    ]
    assert terms.variables == ("age", "sex", "hours", "weird name", "x", "other name", "z")
    assert terms.coded_columns == {"weird name"}


def test_a_dot_stands_for_the_columns_that_are_left():
    assert read_terms(". - sex", ["age", "sex", "hours"]).variables == ("age", "hours")


def test_numbers_are_levels_only_where_they_are_used_as_nothing_else():
    assert read_terms("C(edu) + C(year):age + year").coded_columns == {"edu"}
    assert read_terms("C(edu) + C(edu, contr.sum):age").coded_columns == {"edu"}
    assert read_terms("C(np.floor(edu))").coded_columns == frozenset()


ROW_BY_ROW = [
    "I(age**2)",
    "{age // 10 % 2}",
    "{(age > 30) & (sex == 'm')}",
    "np.log1p(age)",
    "np.where(age > 30, hours, 0)",
    "np.clip(age, 20, 60)",
    "np.digitize(age, [20, 40])",
    "np.isin(sex, ['m', 'f'])",
    "np.sin(2 * np.pi * age)",
    "log(age)",
    "abs(age)",
    "C(np.floor(age / 10), Treatment(2))",
    "C(sex, contr.treatment('m'))",
    "C(sex, levels=['m', 'f'])",
    "C(sex, Sum)",
    "poly(age, 2, raw=True)",
    "bs(age, knots=[30, 50], lower_bound=0, upper_bound=99)",
    "cr(age, knots=[30, 50], lower_bound=0, upper_bound=99)",
]


@pytest.mark.parametrize("term", ROW_BY_ROW)
def test_terms_of_one_row(term):
    assert not any(factor.remembers for factor in read_terms(term).factors)


@pytest.mark.parametrize(
    "term",
    [
        "center(age)",
        "scale(age)",
        "standardize(age)",
        "poly(age, 2)",
        "bs(age, df=4)",
        "bs(age, knots=[30])",
        "bs(age, knots=None, lower_bound=0, upper_bound=99)",
        "cr(age, knots=[30], lower_bound=0, upper_bound=99, constraints='center')",
        "np.exp(center(np.log(age)))",
        "C(center(age))",
    ],
)
def test_terms_that_remember(term):
    assert any(factor.remembers for factor in read_terms(term).factors)


@pytest.mark.parametrize(
    ("term", "inside"),
    [
        ("I(age - np.mean(age))", r"np.mean\(age\) in the term I\(age - np.mean\(age\)\)"),
        ("age.mean()", r"the term age.mean\(\)"),
        ("lag(age)", r"the term lag\(age\)"),
        ("np.cumsum(age)", r"the term np.cumsum\(age\)"),
        ("np.add.reduce(age)", r"the term np.add.reduce\(age\)"),
        ("np.add(age, 1, out=hours)", r"the term np.add"),
        ("np.isin(age, hours)", r"hours in the term np.isin\(age, hours\)"),
        ("center(age, hours)", r"hours in the term"),
        ("bs(age, knots=hours)", r"hours in the term"),
        ("C(sex, levels=hours)", r"hours in the term"),
        ("{age[0]}", r"the term age\[0\]"),
        ("{[x for x in age]}", r"the term \[x for x in age\]"),
        ("{__import__('os').getcwd()}", r"the term __import__\('os'\).getcwd\(\)"),
        ("np.load('x')", r"the term np.load\('x'\)"),
        ("exp10(age)", r"the term exp10\(age\)"),
    ],
)
def test_what_depends_on_other_rows_is_refused(term, inside):
    with pytest.raises(ArgumentError, match=f"terms that are computed row by row; got {inside}") as caught:
        read_terms(f"sex + {term}")
    assert caught.value.advice.advice is COMPUTE_THE_COLUMN_FIRST


def test_an_offset_is_an_argument():
    with pytest.raises(ArgumentError, match=r"must have no offset; got the term offset\(age\)") as caught:
        read_terms("sex + offset(age)")
    assert caught.value.advice.advice is OFFSET_AS_AN_ARGUMENT


def test_without_formulaic_it_is_said_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "formulaic":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=r"formulaic.*pip install"):
        split_formula("race ~ age")
