"""`alpha` is the level of a test and `level` that of an interval: everywhere, and a number of the other is refused."""

import inspect
import warnings

import click
import pyarrow as pa
import pytest
from click.testing import CliRunner
from every_case import every_case
from refusals import refused
from result_examples import COLORS, EXAMPLES, SHARES, colors

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.errors import ArgumentError, NotPrivateWarning, SubsetPrivacyWarning

# The probability that honest people raise any alarm is the level of all tests together.
OF_TESTS, OF_INTERVALS = ("alpha", "chance"), "level"
DESIGN = sp.uniform(COLORS)


def public_callables():
    """Yield every public function and every public method with its name, also those of a class's parts."""
    for name in sp.__all__:
        public = getattr(sp, name)
        if inspect.isclass(public):
            for method in dir(public):
                function = inspect.getattr_static(public, method)
                function = getattr(function, "__func__", function)
                if inspect.isfunction(function) and (method == "__init__" or not method.startswith("_")):
                    yield f"{name}.{method}", function
        elif callable(public):
            yield name, public


def parameters(*words):
    """Return {(callable, parameter): default} of all public callables."""
    return {
        (name, word): inspect.signature(function).parameters[word].default
        for name, function in public_callables()
        for word in words
        if word in inspect.signature(function).parameters
    }


TESTS, INTERVALS = parameters(*OF_TESTS), parameters(OF_INTERVALS)

# The smallest call of each function. Methods are called on the examples of results.
CALLS = {
    "audit": lambda **how: sp.audit(DESIGN, SHARES, **how),
    "check_all": lambda **how: sp.check_all(colors(), **how),
    "check_draws": lambda **how: sp.check_draws(colors(), **how),
    "check_honesty": lambda **how: sp.check_honesty(sp.simulate(sp.uniform(range(5)), [0.2] * 5, 500, seed=1), **how),
    "check_leaning": lambda **how: sp.check_leaning(questions(), **how),
    "check_skips": lambda **how: sp.check_skips(questions(), **how),
    "findings": lambda **how: sp.findings(colors(), **how),
    "independence_power": lambda **how: sp.independence_power([DESIGN, DESIGN], [[1 / 16] * 4] * 4, 500, **how),
    "means_power": lambda **how: sp.means_power(
        DESIGN, SHARES, 500, groups=("red", "blue"), difference=1.0, sd=1.0, **how
    ),
    "plan": lambda **how: sp.plan(COLORS, margin=0.05, **how),
    "power": lambda **how: sp.power(DESIGN, SHARES, SHARES[::-1], 500, category="red", **how),
    "predictor_power": lambda **how: sp.predictor_power(DESIGN, SHARES, 500, category="red", difference=1.0, **how),
    "response_power": lambda **how: sp.response_power(DESIGN, SHARES, 500, category="red", odds_ratio=2.0, **how),
    "write_report": lambda **how: sp.write_report(colors(), "never-written.html", **how),
    "Association.difference": lambda **how: EXAMPLES["Association"]().difference("p", ("red", "blue"), **how),
    "Association.odds_ratio": lambda **how: EXAMPLES["Association"]().odds_ratio(("red", "blue"), ("p", "q"), **how),
    "Association.risk_ratio": lambda **how: EXAMPLES["Association"]().risk_ratio("p", ("red", "blue"), **how),
    "Estimate.contrast": lambda **how: EXAMPLES["Estimate"]().contrast({"red": 1}, **how),
    "Evaluation.interval": lambda **how: EXAMPLES["Evaluation"]().interval("accuracy", **how),
    "EvaluationComparison.interval": lambda **how: EXAMPLES["EvaluationComparison"]().interval("accuracy", **how),
    "Margin.contrast": lambda **how: EXAMPLES["Margin"]().contrast({"red": 1}, **how),
}


def questions():
    return sp.QuestionCounts(DESIGN, [3, 5, 6], answers=[1, 0, -1], n=[40, 50, 60])


def called(name):
    """Return the call of a public function, or of a method on the example of its class."""

    def call(**how):
        of, _, method = name.partition(".")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SubsetPrivacyWarning)
            (CALLS[name] if name in CALLS else getattr(EXAMPLES[of](), method))(**how)

    return call


def test_there_are_tests_and_intervals():
    assert {"power", "independence_power", "response_power", "predictor_power", "means_power"} <= {x for x, _ in TESTS}
    assert {"plan", "audit", "findings", "Estimate.interval"} <= {name for name, _ in INTERVALS}
    assert not {name for name, _ in TESTS if _ == "alpha"} & {name for name, _ in INTERVALS}


@every_case("where", TESTS)
def test_the_level_of_a_test_is_small(where):
    assert TESTS[where] is inspect.Parameter.empty or 0 < TESTS[where] < 0.5


@every_case("where", INTERVALS)
def test_the_level_of_an_interval_is_large(where):
    assert INTERVALS[where] is inspect.Parameter.empty or 0.5 < INTERVALS[where] < 1


@every_case("where", sorted(where for where, default in TESTS.items() if default is not inspect.Parameter.empty))
def test_a_confidence_level_is_refused_as_the_level_of_a_test(where):
    name, word = where
    if name.endswith(".__init__"):  # made by functions, which check it
        return
    with refused(ArgumentError, word) as caught:
        called(name)(**{word: 0.95})
    assert word == "chance" or "level" in str(caught.value)


@every_case("where", sorted(where for where, default in INTERVALS.items() if default is not inspect.Parameter.empty))
def test_the_level_of_a_test_is_refused_as_a_confidence_level(where):
    name, word = where
    if name.endswith(".__init__"):
        return
    with refused(ArgumentError, word) as caught:
        called(name)(level=0.05)
    assert "alpha" in str(caught.value)


# The command line ---------------------------------------------------------------------------------


def commands(group=main, path=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


OPTIONS = {
    (*path, opt): option.default for path, command in commands() for option in command.params for opt in option.opts
}


def test_options_have_the_words_of_the_library():
    assert {path[:-1] for path in OPTIONS if path[-1] == "--alpha"} == {
        ("power", "means"),
        ("power", "predictor"),
        ("power", "response"),
    }
    assert all(0 < default < 0.5 for path, default in OPTIONS.items() if path[-1] == "--alpha")
    assert all(0.5 < default < 1 for path, default in OPTIONS.items() if path[-1] == "--level")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("levels")
    DESIGN.save(path / "color.json")
    people = {"color": list(COLORS) * 30, "shape": list("pqrs") * 30, "score": range(120), "area": ["a", "b"] * 60}
    designs = {"color": DESIGN, "shape": sp.uniform(list("pqrs"))}
    keep = ["score", "area"]
    with pytest.warns(NotPrivateWarning):
        sp.privatize_table(pa.table(people), designs, path / "people.parquet", keep=keep, keep_order=True, seed=1)
    (path / "proba.csv").write_text(",".join(COLORS) + "\n" + "0.1,0.2,0.3,0.4\n" * 120)
    return path


COMMANDS = {
    ("plan",): "black red green blue --margin 0.05",
    ("power", "response"): "color.json --w .1,.2,.3,.4 --category red --odds-ratio 2 --people 500",
    ("power", "predictor"): "color.json --w .1,.2,.3,.4 --category red --difference 1 --people 500",
    ("power", "means"): "color.json --w .1,.2,.3,.4 --group red --group blue --difference 1 --people 500",
    ("estimate",): "people.parquet --column color",
    ("compare",): "people.parquet --column color --by area",
    ("loglinear",): "people.parquet [color][shape]",
    ("means",): "people.parquet --column color --of score",
    ("regress",): "people.parquet color~score",
    ("evaluate",): "people.parquet --column color --proba proba.csv",
    ("audit",): "people.parquet --column color",
    ("check",): "people.parquet",
    ("report",): "people.parquet -o never-written.html",
}


@every_case("path", sorted(path for path in OPTIONS if path[-1] in {"--alpha", "--level"}))
def test_commands_refuse_a_level_of_the_other_kind(path, folder, monkeypatch):
    *command, option = path
    monkeypatch.chdir(folder)
    other = {"--alpha": ("0.95", "level"), "--level": ("0.05", "alpha")}[option]
    result = CliRunner().invoke(main, [*command, *COMMANDS[tuple(command)].split(), option, other[0]])
    assert result.exit_code != 0
    assert f"{option} must be" in result.stderr
    assert other[1] in result.stderr.partition("Hint:")[2]
