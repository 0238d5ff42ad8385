"""Every piece of advice renders for every audience, and what it names exists: the option, the function, the keyword."""

import ast
import re
from importlib import import_module
from inspect import Parameter, getattr_static, isclass, signature
from string import Formatter

import click
import pytest

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.messages import MODULES
from subsetprivacy.messages.advice import ADVICE, Advice, Hint
from subsetprivacy.messages.rendering import for_page, for_python, for_shell

for _module in MODULES:
    import_module(f"subsetprivacy.messages.{_module}")

NAMES = {
    module: [
        value.name
        for value in vars(import_module(f"subsetprivacy.messages.{module}")).values()
        if isinstance(value, Advice)
    ]
    for module in MODULES
}


def every_advice(check):
    """Run a check of one piece of advice for all of a module, in one test: there are hundreds."""

    @pytest.mark.parametrize("module", MODULES)
    def test(module):
        for name in NAMES[module]:
            check(name)

    return test


# What a user may hold: the methods that advice names without the object.
CLASSES = [value for value in (getattr(sp, name) for name in sp.__all__) if isclass(value)]
FOREIGN = {"dict", "list", "sorted", "secrets", "plt", "frame", "pd", "range", "str", "int"}  # not ours


def commands(group: click.Command = main, path: tuple[str, ...] = ()) -> dict[str, click.Command]:
    """Return every command by the words that call it."""
    result = {" ".join(path): group}
    for name, inner in group.commands.items() if isinstance(group, click.Group) else ():
        result |= commands(inner, (*path, name))
    return result


COMMANDS = commands()


def options_of(command: click.Command) -> set[str]:
    return {word for option in command.params for word in (*option.opts, *option.secondary_opts)}


def example(name: str) -> Hint:
    """Return the advice with a word for each of its fields."""
    advice = ADVICE[name]
    texts = [text for text in (advice.python, *advice.shell, advice.page) if text]
    fields = {field for text in texts for _, field, _, _ in Formatter().parse(text) if field}
    return Hint(advice, dict.fromkeys(fields, "x"))


@every_advice
def test_is_defined_under_its_name(name):
    defined = {
        constant: value
        for module in MODULES
        for constant, value in vars(import_module(f"subsetprivacy.messages.{module}")).items()
    }
    assert defined[name.upper()] is ADVICE[name]


@every_advice
def test_renders_for_every_audience(name):
    hint = example(name)
    said = [for_python(hint), for_page(hint), *(for_shell(hint, options_of(one)) for one in COMMANDS.values())]
    assert any(said), "advice that nobody is ever given"
    for text in said:
        assert text is None or (text and not re.search(r"\{\w*\}", text)), text
        assert text is None or not text.endswith("."), "the renderer ends the sentence"


@every_advice
def test_options_exist_in_the_command(name):
    for sentence in ADVICE[name].shell:
        own, *others = re.split(r"\bsubsetprivacy (?=[a-z])", sentence)
        wanted = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", own))
        assert not wanted or any(wanted <= options_of(command) for command in COMMANDS.values()), sentence
        for other in others:
            words = re.match(r"[a-z-]+(?: [a-z-]+)?", other)[0].split()
            called = " ".join(words) if " ".join(words) in COMMANDS else words[0]
            assert called in COMMANDS, sentence
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", other.split(";")[0]))
            assert named <= options_of(COMMANDS[called]), sentence


def called(text: str) -> list[ast.Call]:
    """Return the calls in a sentence, as Python would parse each."""
    result = []
    for start in re.finditer(r"(?<![\w.])[A-Za-z_][\w.]*\(", text):
        depth = 0
        for end in range(start.end() - 1, len(text)):
            depth += (text[end] in "([{") - (text[end] in ")]}")
            if not depth:
                break
        code = text[start.start() : end + 1].replace("…", "...")
        result.append(ast.parse(code, mode="eval").body)
    return result


def functions(node: ast.Call) -> list[object]:
    """Return the functions that a call may mean: of the facade, or a method of some public class."""
    parts = ast.unparse(node.func).split(".")
    if parts[0] == "sp":
        assert len(parts) == 2, parts
        assert parts[1] in sp.__all__, f"sp.{parts[1]} does not exist"
        return [getattr(sp, parts[1])]
    if parts[0] in FOREIGN:
        return []
    name = parts[-1]
    held = [getattr(one, name) for one in CLASSES if callable(getattr(one, name, None))]
    held += [getattr(sp, name)] if name in sp.__all__ and len(parts) == 1 else []
    assert held, f"nothing public has {name}()"
    return held


def takes(function: object, keyword: str) -> bool:
    parameters = signature(function).parameters
    if keyword in parameters:
        return True
    # Options that are passed on are listed in the docstring.
    passed = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    return passed and f"``{keyword}``" in (function.__doc__ or "")


@every_advice
def test_functions_and_keywords_exist(name):
    advice = ADVICE[name]
    text = (for_python(example(name)) or "").replace("(…)", "(...)")
    for mention in re.findall(r"\bsp\.(\w+)", text):
        assert mention in sp.__all__, mention
    inside = set()
    for node in (inner for outer in called(text) for inner in ast.walk(outer) if isinstance(inner, ast.Call)):
        meant = functions(node)
        for keyword in node.keywords:
            inside.add(keyword.arg)
            assert not meant or any(takes(one, keyword.arg) for one in meant), f"{keyword.arg}= in {text}"
    homes = [_function(path) for path in advice.keyword_of]
    for keyword in set(re.findall(r"(?<![\w.'\"])([a-z_]\w*)=", text)) - inside:
        assert homes, f"{name}: say by `keyword_of` which function takes {keyword}="
        for home in homes:
            assert takes(home, keyword), f"{home.__qualname__} does not take {keyword}="


def _function(path: str) -> object:
    head, _, method = path.partition(".")
    assert head in sp.__all__, path
    return getattr(getattr(sp, head), method) if method else getattr(sp, head)


def test_no_advice_is_left_out():
    assert {name for names in NAMES.values() for name in names} == set(ADVICE)


def test_the_python_hint_of_a_static_name_is_found():
    """The checks above can fail: a made-up function and a made-up option are recognized."""
    with pytest.raises(AssertionError):
        functions(called("magic(1)")[0])
    with pytest.raises(AssertionError):
        functions(called("sp.nothing(1)")[0])
    assert not takes(getattr_static(sp.Estimate, "interval"), "colour")
    assert takes(sp.estimate, "accelerate")
