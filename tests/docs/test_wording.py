"""The report on wording counts what it says it counts."""

import wording


def test_it_counts_listed_words_semicolons_and_sentences():
    text = "Whoever knows the room gives away nothing; nobody minds. A second sentence? `held` is code."
    assert wording.count([text]) == wording.Count(words=15, sentences=3, listed=4, semicolons=1)


def test_code_and_front_matter_of_a_page_are_not_prose():
    page = "---\nnobody: 1\n---\n# Title\n\n```python\nnobody = 1\n```\n\nProse.\n\n:::{note}\nA note.\n:::\n"
    assert list(wording.prose_of_page(page)) == [(4, "# Title"), (10, "Prose."), (13, "A note.")]


def test_docstrings_messages_and_comments_are_told_apart():
    module = '"""What it does."""\nNAME = "short"\nraise ValueError("`n` must be positive.")  # a reason\n'
    assert set(wording.strings_of_module(module)) == {
        ("docstrings", 1, "What it does."),
        ("messages", 3, "`n` must be positive."),
        ("comments", 3, "a reason"),
    }


def test_vague_names_are_counted(tmp_path):
    package = tmp_path / "src"
    package.mkdir()
    (package / "trouble.py").write_text("class Job: ...\ndef run(held): found = held\n")
    (package / "clear.py").write_text("class Job: ...\nbatch = 1\n")
    counts = wording.names_in_code(tmp_path)
    assert list(counts.values()) == [2, 1, 1]


def test_this_repository_has_every_kind_of_text():
    missing = {"how-to", "explanation", "reference", "code: docstrings", "code: messages", "texts of the service"}
    for passage in wording.passages(wording.ROOT):  # reading on only until each was seen
        missing.discard(passage.kind)
        if not missing:
            break
    assert missing == set()
