"""Every promise has an adversary, tests that play them, and a mutation that the tests notice: `claims.toml`.

So has everything that is not promised. `make test-mutations` makes the mutations and runs the tests.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from fake_collector import INCOME, make_survey
from mutate import mutated
from visitor import WORDS, tour

from subsetprivacy.collect.web.respond import page_bytes

ROOT = Path(__file__).parents[2]
FILE = tomllib.loads((Path(__file__).parent / "claims.toml").read_text("utf-8"))
CLAIMS = FILE["claims"]
MUTATIONS = [(name, mutation) for name, claim in CLAIMS.items() for mutation in claim.get("mutations", ())]
PAGE = (ROOT / "docs/explanation/what-the-service-promises.md").read_text("utf-8")
IS_CLAIM = re.compile(r"(promise|limit)\.")
# Words that promise; a sentence with one of them must be a claim, or one of these, which tell what happens or to do.
PROMISING = re.compile(
    r"\b(never|nothing|nobody|no one|none|only|always|cannot|guarante\w+|secur\w+|safe\w*|private\w*|anonym\w+|"
    r"promise\w*|every\w*|delete\w*|store\w*|keeps?|kept)\b",
    re.IGNORECASE,
)
NO_PROMISE = {
    "intro.promises",  # a heading
    "how.think",  # what to do
    "ask.no_list",  # a button
    "review.heading",  # a heading
    "meaning.same.most",  # about other people
    "meaning.could.most",
    "unsent.text",  # "keeps trying"
    "problem.unknown_survey.text",
    "problem.unreachable.text",
    "problem.unsafe.title",
    "problem.no_code.text",  # "everything after the # sign"
}


def table(header):
    """Return the rows of a table of the page about promises, each a list of cells, by the beginning of its header."""
    lines = PAGE[PAGE.index(header) :].split("\n\n")[0].split("\n")[2:]
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]


def test_every_sentence_of_the_page_is_a_claim():
    sentences = {key for key in WORDS["en"] if IS_CLAIM.match(key)}
    assert {name for name in CLAIMS if IS_CLAIM.match(name)} == sentences


def test_every_threat_is_a_claim():
    threats = [cells[0] for cells in table("| | threat |")]
    assert len(threats) >= 26
    assert [name for name in CLAIMS if re.fullmatch(r"T\d+", name)] == threats


def test_every_check_mark_is_a_claim():
    """Of the table of those who want to tie an answer to a person, in either mode."""
    marked = set()
    for who, *cells in table("| who | open mode | code mode |"):
        left = cells[0]
        for column, cell in zip(("open mode", "code mode"), cells, strict=True):
            if "✓" in (left if cell == "the same" else cell):
                marked.add((who, column))
    claimed = [(claim["row"], cell) for claim in CLAIMS.values() for cell in claim.get("cells", ())]
    assert len(claimed) == len(set(claimed))
    assert set(claimed) == marked


def test_every_claim_is_complete():
    """It names who it is about, what they can do, what must hold, a test, and a mutation or why there is none."""
    required = {"adversary", "can", "property", "tests"}
    for name, claim in CLAIMS.items():
        own = {"row", "cells"} if name.startswith("who.") else set()
        assert required | own <= claim.keys() <= required | own | {"mutations", "shares", "no_mutation"}, name
        assert claim["adversary"] in FILE["adversaries"], name
        assert all(claim[key].strip().endswith((".", ".)")) for key in ("can", "property")), name
        assert claim["tests"] or "no_mutation" in claim, name
        assert {"mutations", "shares", "no_mutation"} & claim.keys(), name
        assert all(CLAIMS[other].get("mutations") for other in claim.get("shares", ())), name
    assert {claim["adversary"] for claim in CLAIMS.values()} == FILE["adversaries"].keys()


def test_every_mutation_can_be_made():
    """What it looks for is there once, so that a mutation does not rot; its tests are among those of its claim."""
    for name, mutation in MUTATIONS:
        assert {"what", "file", "find", "replace"} <= mutation.keys() <= {"what", "file", "find", "replace", "tests"}
        text = (ROOT / mutation["file"]).read_text("utf-8")
        assert mutated(text, mutation) != text, name
        own = {test.partition("[")[0] for test in mutation.get("tests", ())}
        assert own <= set(CLAIMS[name]["tests"]), name


@cache
def _functions(path):
    """Return the functions of a file, and how each is decorated."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {
        node.name: {ast.unparse(decorator) for decorator in node.decorator_list}
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_every_test_that_is_named_exists():
    for test in sorted({test for claim in CLAIMS.values() for test in claim["tests"]}):
        path, name = test.split("::")
        assert (ROOT / path).exists(), f"{path} does not exist"
        assert name.startswith("test_")
        assert name in _functions(path), f"{path} has no {name}"


def test_every_mutation_has_a_test_that_is_not_slow():
    """`make test-mutations` leaves slow tests out: a mutation that has no other would survive."""
    for name, mutation in MUTATIONS:
        named = [test.partition("[")[0].split("::") for test in mutation.get("tests", CLAIMS[name]["tests"])]
        assert any("pytest.mark.slow" not in _functions(path)[test] for path, test in named), name


def test_sentences_that_promise_are_claims():
    found = {key for key, text in WORDS["en"].items() if PROMISING.search(text) and not IS_CLAIM.match(key)}
    assert found == NO_PROMISE


# Every piece of text in view, with the claim that it is marked as.
TEXTS = """
() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const within = walker.currentNode.parentElement;
    if (within.closest("noscript, #unreachable") || !walker.currentNode.data.trim()) continue;
    found.push([walker.currentNode.data.trim(), within.closest("[data-claim]")?.dataset.claim ?? null]);
  }
  return found;
}
"""


def _strings(document):
    if isinstance(document, str):
        yield from (part.strip() for part in re.split(r"\n\s*\n", document))
    elif isinstance(document, dict | list):
        for held in document.values() if isinstance(document, dict) else document:
            yield from _strings(held)


def _patterns(words):
    made = {}
    for key, text in words.items():
        parts = re.split(r"\{\w+\}", text)
        made[key] = re.compile(".+".join(map(re.escape, parts)), re.DOTALL)
    return made


@pytest.mark.parametrize("language", ["en", *(pytest.param(name, marks=pytest.mark.slow) for name in ("de", "ar"))])
def test_the_page_says_nothing_but_the_survey_and_the_sentences_of_its_files(site, language):
    words = WORDS[language]
    patterns = _patterns(words)
    manifest = site.collector.add(make_survey("code", language=language, links=(("income", "health"),)))
    own = {*_strings(manifest.document), "0", "1", "2", "3", ",", "=", "↵"}
    own |= {"fingerprint", "ticket", "opening", "answers", "asked", "answer", "kept"}
    own |= {words[f"key.{deed}"].upper() for deed in ("yes", "no", "same", "different", "skip", "back")}
    shown = set()
    with site.visitor(language, tolerated=("ERR_FAILED",)) as visitor:

        def look(name):
            literal = visitor.page.text_content("pre").strip() if name == "review" else None
            for text, claim in visitor.page.evaluate(TEXTS):
                if claim is not None:
                    assert patterns[claim].fullmatch(text), (name, claim, text)
                    assert claim in CLAIMS
                    shown.add(claim)
                elif text not in own and text != literal:
                    keys = [key for key, pattern in patterns.items() if pattern.fullmatch(text)]
                    assert keys, (name, text)
                    assert not any(IS_CLAIM.match(key) for key in keys), (name, text)

        tour(site, visitor, manifest, look)
    assert len(shown) > 20


@pytest.mark.parametrize(("mode", "linked"), [("open", True), ("code", False)])
def test_the_first_screen_admits_what_cannot_be_promised(site, mode, linked):
    links = (("income", "health"),) if linked else ()
    manifest = site.collector.add(make_survey(mode, links=links))
    with site.visitor() as visitor:
        visitor.open(site.link(manifest, site.collector.code() if mode == "code" else None))
        assert visitor.page.locator("summary").inner_text() == visitor.words["limit.summary"]
        assert not visitor.says("limit.operator")
        visitor.page.click("summary")
        for key in ("operator", "page", "batch", "waiting", "together", "little", "skip"):
            assert visitor.says(f"limit.{key}"), key
        assert visitor.says("limit.open") is (mode == "open")
        assert visitor.says("limit.code") is (mode == "code")
        assert visitor.says("limit.linked") is linked
        assert visitor.says("promise.linked", list="Monthly income and Health") is linked
        assert visitor.says("promise.apart") is not linked
        assert visitor.says("promise.batches", batch=manifest.batch)


def test_a_server_sees_the_address_and_the_lines_of_the_browser(site):
    manifest = site.collector.add(make_survey(variables=(INCOME,), practice=False))
    with site.visitor(user_agent="A browser/1", locale="de-CH") as visitor:
        visitor.open(site.link(manifest))
        visitor.start(practised=False)
        visitor.answer_all(manifest, {"income": 1})
        assert visitor.says("limit.envelope")
        visitor.send()
    (post,) = [(headers, address) for method, _, headers, address in site.app.state.seen if method == "POST"]
    assert post[0]["user-agent"] == "A browser/1"
    assert post[0]["accept-language"].startswith("de-CH")
    assert post[1] == "127.0.0.1"


def test_a_doctored_page_can_send_what_it_likes(site):
    manifest = site.collector.add(make_survey())
    script = "fetch(location.pathname + '/submit', { method: 'POST', body: 'all that you do here' })"
    page = page_bytes().replace(b"</head>", b'<script src="/static/respond/0/more.js"></script></head>')
    with site.visitor(tolerated=("status of 415",)) as visitor:
        visitor.page.route("**/s/*", lambda route: route.fulfill(body=page, content_type="text/html"))
        visitor.page.route("**/more.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
        visitor.open(site.link(manifest))
        assert visitor.watched.posts("/submit") == [b"all that you do here"]
