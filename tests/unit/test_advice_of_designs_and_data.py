"""What is advised where designs, data and draws are refused, for the library, the command line and a survey's page."""

import os
import re
from importlib import import_module
from pathlib import Path

import pytest
from every_case import every_case

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.errors import NotPrivateWarning, SubsetPrivacyError
from subsetprivacy.messages import Advice
from subsetprivacy.messages.rendering import for_page, for_python, for_shell

SOURCE = Path(sp.__file__).parent
PARTS = ("design", "subsets.py", "variables.py", "incidence", "data", "counting", "tabulating.py", "mechanism")
SAFE = '"recommended" fits any number of options'
UNIFORM = sp.uniform(list("abcd"))


def refused(call):
    with pytest.raises(SubsetPrivacyError) as caught:
        call()
    assert caught.value.advice is not None
    return caught.value


def files():
    for part in PARTS:
        yield from [SOURCE / part] if part.endswith(".py") else (SOURCE / part).rglob("*.py")


@pytest.mark.parametrize("module", ["for_designs", "for_data"])
def test_every_advice_is_given_somewhere(module):
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if path.parent.name != "messages")
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    held = vars(import_module(f"subsetprivacy.messages.{module}"))
    given = {name for name, value in held.items() if isinstance(value, Advice)}
    assert given
    assert given - words == set()


def test_no_sentence_has_a_hint_of_its_own():
    assert not [path.name for path in files() if "Hint: " in path.read_text(encoding="utf-8")]


@every_case(
    ("call", "name", "shell"),
    [
        (lambda: sp.uniform("ab"), "list_the_labels", None),
        (lambda: sp.uniform(["a", "b"]), "small_designs", "subsetprivacy design small"),
        (lambda: sp.independent(["a", "b"], {}), "small_designs", "subsetprivacy design join"),
        (lambda: sp.partition(["a", "b"], 2), "use_small", "subsetprivacy design small"),
        (lambda: sp.hadamard(["a", "b"]), "use_small", "subsetprivacy design small"),
        (lambda: sp.hadamard(list("abcde")), "use_uniform", "subsetprivacy design uniform"),
        (lambda: sp.fixed_size(["a", "b"], 2), "use_warner", "subsetprivacy design warner"),
        (lambda: sp.conditional(["a", "b"], {}), "use_warner", "subsetprivacy design warner"),
        (lambda: sp.warner(list("abc")), "more_than_two", "subsetprivacy design fixed-size --size 2"),
        (lambda: sp.uniform(range(49)), "hadamard_for_many", "subsetprivacy design hadamard"),
        (lambda: sp.small(list("abcd")), "use_uniform", "subsetprivacy design uniform"),
    ],
)
def test_another_kind_of_design_is_a_command_and_recommended_in_a_survey(call, name, shell):
    advice = refused(call).advice
    assert advice.name == name
    if shell is not None:
        assert shell in for_shell(advice, set())
        assert for_page(advice) == SAFE


@every_case(
    ("call", "command", "shell"),
    [
        (lambda: sp.warner(["a", "b"], 2), "warner", "--q 0.25"),
        (lambda: sp.warner(["a", "b"], 0.01), "warner", "--q 0.0477 is the nearest safe one"),
        (lambda: sp.small(["a", "b"], route="dummies"), "small", "--route warner is safe"),
        (lambda: sp.fixed_size(list("abc"), 7), "fixed-size", "the nearest is 2"),
        (lambda: sp.hadamard(list("abcdefgh"), 9), "hadamard", "the nearest is 7 or 15"),
    ],
)
def test_numbers_are_options_of_the_command(call, command, shell):
    options = {word for option in main.commands["design"].commands[command].params for word in option.opts}
    assert for_shell(refused(call).advice, options) == shell


def test_an_option_of_another_command_is_not_advised():
    assert for_shell(refused(lambda: sp.warner(["a", "b"], 2)).advice, {"--level"}) is None


@every_case(
    ("call", "name"),
    [
        (lambda: sp.count([3], design="uniform"), "make_a_design"),
        (lambda: sp.SubsetData([7], UNIFORM), "is_this_the_design"),
        (lambda: sp.SubsetCounts([3, 3], [1, 1], UNIFORM), "count_repeated_codes"),
        (lambda: sp.SubsetCounts([3], [1.5], UNIFORM), "pass_squares"),
        (lambda: sp.count(["a;b"], design=UNIFORM), "subset_as_text"),
        (lambda: sp.count([3, None], design=UNIFORM, missing="error"), "missing_as_full"),
        (lambda: sp.crosstab(sp.SubsetData([3], UNIFORM), [3]), "a_design_each"),
        (lambda: sp.privatize(["x"], UNIFORM), "same_types"),
        (lambda: sp.privatize(["a", None], UNIFORM), "store_missing_as_full"),
        (lambda: sp.privatize(["a"], UNIFORM, ids=[1]), "pass_a_key"),
        (lambda: sp.privatize(["a"], UNIFORM, key="secret"), "read_the_key"),
        (lambda: sp.privatize(["a"], UNIFORM, key=b"short"), "make_a_key"),
        (lambda: sp.privatize(["a"] * 2, UNIFORM, key=b"k" * 32, ids=[1, 1], variable="v"), "one_row_per_person"),
        (lambda: sp.privatize(["a"], UNIFORM, key=b"k" * 32, ids=[1.5], variable="v"), "ids_as_text"),
        (lambda: sp.ask(UNIFORM, seed=1).resolve("yes"), "read_the_answer"),
    ],
)
def test_what_is_advised(call, name):
    error = refused(call)
    assert error.advice.name == name
    assert str(error) == f"{error.message} Hint: {for_python(error.advice)}" + ("" if str(error)[-1] == "?" else ".")


def test_errors_that_are_passed_on_keep_their_advice(tmp_path):
    path = tmp_path / "design.json"
    path.write_text('{"format": "subsetprivacy.design", "version": 99}', encoding="utf-8")
    error = refused(lambda: sp.load_design(path))
    assert error.message.startswith(f"{path}: a design document must be of version")
    assert error.advice.name == "read_by_a_newer_version"
    both = sp.product({"x": UNIFORM, "y": UNIFORM})
    error = refused(lambda: sp.SubsetTable([[3], [7]], both))
    assert error.message.startswith("y: `codes` must be subsets")
    assert error.advice.name == "is_this_the_design"
    error = refused(lambda: sp.privatize({"x": ["a"], "y": [None]}, both))
    assert error.message.startswith("y: every value must be known")
    assert error.advice.name == "store_missing_as_full"


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_a_key_that_others_may_read_is_warned_of_with_what_to_do(tmp_path):
    path = tmp_path / "secret.key"
    path.write_text("ab" * 32, encoding="utf-8")
    path.chmod(0o644)
    with pytest.warns(NotPrivateWarning, match="may read the key file") as caught:
        sp.read_key(path)
    assert for_python(caught[0].message.advice) == f"chmod 600 {path}"
