"""Where things stand in a file: the line of every key and item, in the three formats."""

import json
import tomllib

import pytest
import yaml
from effort import calls

from subsetprivacy.collect.survey import yaml_reader
from subsetprivacy.collect.survey.bundled_files import example_text
from subsetprivacy.collect.survey.json_reader import read_json
from subsetprivacy.collect.survey.line_numbers import MOST_DEPTH, REFUSED, AmbiguousWord, Fault, UnreadableError
from subsetprivacy.collect.survey.toml_reader import read_toml
from subsetprivacy.collect.survey.yaml_reader import plain_scalar, read_yaml

TOML = '''# a comment with [brackets] and "quotes
title = "a # b"   # c
"quoted key" = 'x = 1'
long = """
[not.a.table]
key = "no" \\""" ""still""""
literal = \'\'\'
a = 1\'\'\'
a.b . "c.d" = 1
list = [ # a comment ]
  "one, [",   "two",
  # nothing

  { k = 1, v = [1,
     2] }, 1979-05-27 07:32:00,
]
empty = []
none = {}

[table]
key = 1_000
[table.inner]
key = 0x10
[[things]]
name = "first"
[things.design]
kind = "x"
[[things]]

name = "second"
[[things.more]]
a = 1
[[things.more]]
a = 2
'''
TOML_LINES = {
    ("title",): 2,
    ("quoted key",): 3,
    ("long",): 4,
    ("literal",): 7,
    ("a",): 9,
    ("a", "b"): 9,
    ("a", "b", "c.d"): 9,
    ("list",): 10,
    ("list", 0): 11,
    ("list", 1): 11,
    ("list", 2): 14,
    ("list", 2, "k"): 14,
    ("list", 2, "v"): 14,
    ("list", 2, "v", 0): 14,
    ("list", 2, "v", 1): 15,
    ("list", 3): 15,
    ("empty",): 17,
    ("none",): 18,
    ("table",): 20,
    ("table", "key"): 21,
    ("table", "inner"): 22,
    ("table", "inner", "key"): 23,
    ("things",): 24,
    ("things", 0): 24,
    ("things", 0, "name"): 25,
    ("things", 0, "design"): 26,
    ("things", 0, "design", "kind"): 27,
    ("things", 1): 28,
    ("things", 1, "name"): 30,
    ("things", 1, "more"): 31,
    ("things", 1, "more", 0): 31,
    ("things", 1, "more", 0, "a"): 32,
    ("things", 1, "more", 1): 33,
    ("things", 1, "more", 1, "a"): 34,
}


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_lines_of_toml(ends):
    marked = read_toml(TOML.replace("\n", ends))
    assert marked.data == tomllib.loads(TOML)
    assert marked.lines == {(): 1, **TOML_LINES}


def paths_of(held, path=()):
    """Return every path in plain data."""
    inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    return {path}.union(*(paths_of(value, (*path, key)) for key, value in inner))


YAML = """# a comment
title: a "b" # c
'quoted': |
  x: 1
  - y

list: [one, "two",
  {k: 1}]
things:
  - name: first
    design:
      kind: x
  -
    name: second
  - - nested
    - items
"""
YAML_LINES = {
    (): 2,
    ("title",): 2,
    ("quoted",): 3,
    ("list",): 7,
    ("list", 0): 7,
    ("list", 1): 7,
    ("list", 2): 8,
    ("list", 2, "k"): 8,
    ("things",): 9,
    ("things", 0): 10,
    ("things", 0, "name"): 10,
    ("things", 0, "design"): 11,
    ("things", 0, "design", "kind"): 12,
    ("things", 1): 14,
    ("things", 1, "name"): 14,
    ("things", 2): 15,
    ("things", 2, 0): 15,
    ("things", 2, 1): 16,
}


def test_lines_of_yaml():
    marked = read_yaml(YAML)
    assert marked.data == yaml.safe_load(YAML)
    assert marked.lines == YAML_LINES


JSON = """
{ "title": "a\\n{",
  "list": [1,
    -2.5e1, [true, null], {"k"
    :
    false}], "empty": {}
}
"""


def test_lines_of_json():
    marked = read_json(JSON)
    assert marked.data == json.loads(JSON)
    assert marked.lines == {
        (): 2,
        ("title",): 2,
        ("list",): 3,
        ("list", 0): 3,
        ("list", 1): 4,
        ("list", 2): 4,
        ("list", 2, 0): 4,
        ("list", 2, 1): 4,
        ("list", 3): 4,
        ("list", 3, "k"): 4,
        ("empty",): 6,
    }


@pytest.mark.parametrize(
    ("form", "read", "plain"),
    [("toml", read_toml, tomllib.loads), ("yaml", read_yaml, yaml.safe_load), ("json", read_json, json.loads)],
)
def test_every_part_of_the_example_has_a_line(form, read, plain):
    text = example_text(form)
    marked = read(text)
    assert marked.data == plain(text)
    assert set(marked.lines) == paths_of(marked.data)
    written = text.splitlines()
    for path, line in marked.lines.items():
        if path and isinstance(path[-1], str):
            assert path[-1] in written[line - 1]
    assert not marked.faults


def test_a_path_without_a_line_takes_that_of_what_is_around_it():
    marked = read_json(JSON)
    assert marked.line(("list", 3, "other")) == 4
    assert marked.line(("nowhere", 1)) == 2


# Words --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0", 0),
        ("0.5", 0.5),
        ("1.0e-05", 1e-5),
        ("1e5", 1e5),
        ("word", "word"),
        ("1000 to 2000", "1000 to 2000"),
        ("v1.2", "v1.2"),
        ("1.2.3.4", AmbiguousWord("1.2.3.4", "a number")),
        ("yes", AmbiguousWord("yes", "a truth value")),
        ("NO", AmbiguousWord("NO", "a truth value")),
        ("off", AmbiguousWord("off", "a truth value")),
        ("012", AmbiguousWord("012", "a number")),
        ("0o17", AmbiguousWord("0o17", "a number")),
        ("0x1F", AmbiguousWord("0x1F", "a number")),
        ("1_000", AmbiguousWord("1_000", "a number")),
        ("1:30", AmbiguousWord("1:30", "a number")),
        ("+5", AmbiguousWord("+5", "a number")),
        (".5", AmbiguousWord(".5", "a number")),
        ("5.", AmbiguousWord("5.", "a number")),
        (".inf", AmbiguousWord(".inf", "a number")),
        ("2026-11-16", AmbiguousWord("2026-11-16", "a date")),
        ("=", AmbiguousWord("=", "something else")),
        ("1" * 500, AmbiguousWord("1" * 500, "a number")),
    ],
)
def test_an_unquoted_word_of_yaml(text, meaning):
    assert plain_scalar(text) == meaning
    assert type(plain_scalar(text)) is type(meaning)


# Faults -------------------------------------------------------------------------------------------


def test_what_yaml_must_not_have():
    marked = read_yaml(
        "a: &x 1\nb: *x\nc: !!str 012\nd: !!python/object:os.system [1, {a: b}]\nb: 2\n5: x\n? [k]\n: v\n"
    )
    assert marked.data == {"a": 1, "b": REFUSED, "c": REFUSED, "d": REFUSED}
    assert [(fault.path, fault.line) for fault in marked.faults] == [
        (("a",), 1),
        (("b",), 2),
        (("c",), 3),
        (("d",), 4),
        (("b",), 5),
        ((), 6),
        ((), 7),
    ]
    said = " ".join(fault.message for fault in marked.faults)
    for word in ("an anchor", "an alias", "a tag", "it appears again", "keys that are text"):
        assert word in said


def test_a_repeated_key_of_json_keeps_the_first():
    marked = read_json('{"a": 1,\n "a": {"b": 2}}')
    assert marked.data == {"a": 1}
    assert marked.faults == (Fault(("a",), 2, "must appear once; it appears again."),)


@pytest.mark.parametrize(
    ("read", "text", "line", "reason"),
    [
        (read_json, "", 1, "must have a value here"),
        (read_json, '{"a": 1}\n{', 2, r"must end after its closing bracket; got '\{'"),
        (read_json, '{\n"a": NaN}', 2, "must have a value here.*got 'N'"),
        (read_json, "[1,\n]", 2, r"must have a value here.*got '\]'"),
        (read_json, '{"a": 1,\n}', 2, "must have a key in double quotes here"),
        (read_json, "{'a': 1}", 1, "must have a key in double quotes here"),
        (read_json, '{"a" 1}', 1, "must have a colon"),
        (read_json, "[1 2]", 1, "must have a comma or ]"),
        (read_json, '["a\nb"]', 1, "must close every quote; one that opens here does not end"),
        (read_json, '\n["a', 2, "must close every quote"),
        (read_json, '["a\tb"]', 1, "must be JSON: Invalid control character"),
        (read_json, '["\\u12', 1, "must be JSON: Invalid"),
        (read_json, "[01]", 1, "must have a comma"),
        (read_json, "[1.]", 1, "must have a comma"),
        (read_yaml, "a: [1,\nb: }", 2, "must be YAML: while parsing a flow node, expected the node content"),
        (read_yaml, "a: 1\n\tb: 2", 2, "must be YAML"),
        (read_yaml, "a: 1\n---\nb: 2", 2, "must be one document"),
        (read_yaml, "a:\n b\0", 2, "must have no control characters"),
        (read_yaml, 'a: "\\UFFFFFFFF"', None, "out of its range"),
        (read_toml, "a = 1\nb = = 2", 2, "must be TOML: Invalid value"),
        (read_toml, "a = 1\na = 2", 2, "must be TOML: Cannot overwrite a value"),
        (read_toml, 'a = "x\n', 1, "must close every quote; one that opens here does not end"),
        (read_toml, 'a = "x"\nb = [\n"y",\n"z]\n', 4, "must close every quote"),
        (read_toml, 'a = "x"\nb = """y\n"z"\nc = 1\n', 2, "must close every quote"),
        (read_toml, "a = 'it's'\n", 1, "must be TOML: Expected newline or end of document after a statement.$"),
        (read_toml, 'a = "so "x""\n', 1, r'after a statement. Hint: a quote inside text is written \\"\.$'),
        (read_toml, "a = 1\nb = “x”", 2, "must be TOML: Invalid value. Hint: text is in straight quotes"),
        (read_yaml, 'a: 1\nb: "x\nc: 2\n', 2, "must close every quote"),
        (read_yaml, "a: 'x\n---\n", 1, "must close every quote"),
        (read_toml, "a = [1,\n2", 2, "must be TOML: Unclosed array"),
        (read_toml, "a = 1\n'''x", 2, "must be TOML"),
        (read_toml, "a = " + "9" * 5000, None, "a number is too large"),
    ],
)
def test_what_is_not_in_its_format(read, text, line, reason):
    with pytest.raises(UnreadableError, match=reason) as caught:
        read(text)
    assert caught.value.line == line


BOMBS = {
    "lists of JSON": (read_json, "[" * 200_000),
    "tables of JSON": (read_json, '{"a":' * 40_000),
    "lists of YAML": (read_yaml, "[" * 200_000),
    "tables of YAML": (read_yaml, "{a: " * 50_000),
    "blocks of YAML": (read_yaml, "- " * 100_000 + "a"),
    "questions of YAML": (read_yaml, "? " * 100_000 + "a"),
    "lists of TOML": (read_toml, "a = " + "[" * 200_000),
    "tables of TOML": (read_toml, "a = " + "{a = " * 50_000),
    "a key of many parts": (read_toml, ".".join(["a"] * 120_000) + " = 1"),
    "a key of many quoted parts": (read_toml, ".".join(['"a"'] * 60_000) + " = 1"),
    "a header of many parts": (read_toml, "[" + ".".join(["a"] * 120_000) + "]"),
    "keys in a table of TOML": (read_toml, "a = {" + ".".join(["a"] * 120_000) + " = 1}"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_nested_too_deeply_is_refused_at_once(name):
    """Where it first is too deep: a file of twice the length takes not one step more."""
    read, text = BOMBS[name]

    def refuse(text):
        with pytest.raises(UnreadableError, match=f"nested deeper than {MOST_DEPTH}") as caught:
            read(text)
        assert caught.value.line == 1

    one, two = (calls(refuse, some) for some in (text, text + text))
    assert two <= 1.05 * one + 100


STRANGE = [
    (read_toml, lambda size: 'a = "' + '\\"' * size),
    (read_toml, lambda size: '"' + '\\"' * size),
    (read_toml, lambda size: '"""' + '""a' * size),
    (read_toml, lambda size: "'''" * size),
    (read_toml, lambda size: "a=''" + " " * size + "b"),
    (read_json, lambda size: '["' + "\\\\" * size),
    (read_json, lambda size: "[" + "-" * size),
    (read_yaml, lambda size: "[" + "a," * size + "]"),
]


def test_a_strange_file_is_looked_at_once(monkeypatch):
    """Text that makes a reader look at it again and again: with twice of it there is twice as much to do at most."""

    def refuse(read, text):
        with pytest.raises(UnreadableError):
            read(text)

    monkeypatch.setattr(yaml_reader, "_MOST_PARTS", 500)
    for read, strange in STRANGE:
        one, two = (calls(refuse, read, strange(size)) for size in (2_000, 4_000))
        assert two <= 2.05 * one
        refuse(read, strange(125_000))  # and where a pattern would look again, this ends in hours only
