"""`design join`, `check` and `compare`, and the ways to say the categories."""

import json
import sys

import pytest
from shell_words import without_advice

import subsetprivacy as sp
from subsetprivacy.cli.show import echo_table
from subsetprivacy.tables import Table


@pytest.fixture
def saved(tmp_path):
    """Save a design and return its path."""

    def save(design, name="x"):
        return design.save(tmp_path / f"{name}.design.json")

    return save


# Categories ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "labels"),
    [
        (["--categories", "White, Black,Asian-Pac-Islander,Other"], ["White", "Black", "Asian-Pac-Islander", "Other"]),
        (["a,b", "c", "d", "e"], ["a,b", "c", "d", "e"]),  # labels with commas are words of their own
        (["1", "2", "3", "4.5", "--numbers"], [1, 2, 3, 4.5]),
        (["--categories", "10,20,30,40", "--numbers"], [10, 20, 30, 40]),
    ],
)
def test_categories_are_declared(said, labels, fine):
    assert sp.design_from_json(fine("design", "uniform", *said)) == sp.uniform(labels)


def test_a_design_goes_to_standard_output_as_well(fine):
    assert sp.design_from_json(fine("design", "uniform", *"abcd", "-o", "-")) == sp.uniform(list("abcd"))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["a", "b", "--categories", "a,b,c,d"], "give the categories once: as LABELS, or"),
        (["--categories", "a,b,c,d", "--column", "x"], "--column and --infer-categories are for --from"),
        (["a", "b", "c", "d", "--infer-categories"], "are for --from"),
        (["1", "2", "3", "four", "--numbers"], "--numbers is for labels that are numbers"),
    ],
)
def test_categories_said_wrongly(said, message, misused):
    assert message in misused("design", "uniform", *said)


def test_a_file_of_categories(fine, refused, tmp_path):
    path = tmp_path / "towns.txt"
    path.write_bytes("\ufeffUlm\nRye\nÅre\nBor\n".encode())
    assert sp.design_from_json(fine("design", "uniform", "--file", path)) == sp.uniform(["Ulm", "Rye", "Åre", "Bor"])
    path.write_bytes("Ulm\nRye\nÅre\nBor\n".encode("latin-1"))
    assert "must be text in UTF-8" in refused("design", "uniform", "--file", path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ulm\n\nRye\nBor\nAba\n", "has none in line 2."),
        ("Ulm\nRye\n  \nBor\n\nAba", "has none in line 3 and 1 more."),
        ("\nUlm\nRye\nBor\nAba\n", "has none in line 1."),
    ],
)
def test_an_empty_line_is_no_category(text, message, refused, tmp_path):
    path = tmp_path / "towns.txt"
    path.write_text(text)
    line = refused("design", "uniform", "--file", path)
    assert str(path) in line
    assert line.endswith(message)


def test_lines_end_with_the_line_only(fine, tmp_path):
    """The last line may end or not, Windows ends lines in another way, and signs within a label are its own."""
    path = tmp_path / "towns.txt"
    for text in ("Ulm\nRye\nBor\u2028X\nAba", "Ulm\r\nRye\r\nBor\u2028X\r\nAba\r\n\r\n"):
        path.write_bytes(text.encode())
        made = sp.design_from_json(fine("design", "uniform", "--file", path))
        assert made == sp.uniform(["Ulm", "Rye", "Bor\u2028X", "Aba"])


def test_blanks_around_labels_are_warned_of(run, tmp_path):
    path = tmp_path / "towns.txt"
    path.write_text("Ulm\nRye \nBor\n\tAba\n")
    result = run("design", "uniform", "--file", path)
    assert sp.design_from_json(result.stdout) == sp.uniform(["Ulm", "Rye ", "Bor", "\tAba"])
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"Warning: 2 labels begin or end with a space, first in line 2 of {path}")
    assert "1 label begins" in run("design", "uniform", "a", "b", "c", " d").stderr


def test_commas_part_labels_and_quotes_keep_them(run, misused):
    result = run("design", "uniform", "--categories", 'a, b,"Smith, John", c')
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["categories"] == ["a", "b", "Smith, John", "c"]
    assert "must close every quote" in " ".join(misused("design", "uniform", "--categories", 'a,"b,c,d').split())
    assert run("design", "uniform", "--categories", "a,b,c,d").stderr == ""
    assert "write --categories" in " ".join(misused("design", "uniform", "a,b,c,d").split())
    for wrong in ("a,,b,c,d", "a,b,c,d,"):
        assert "a label before and after every comma" in " ".join(
            misused("design", "uniform", "--categories", wrong).split()
        )
    assert "before and after every comma" in " ".join(misused("design", "join", "sex=f,m", "pay=low,").split())


def test_what_was_understood_is_printed(fine, tmp_path):
    said = fine("design", "uniform", "a,b", " c", "d", "", "-o", tmp_path / "x.json").splitlines()
    assert said[1] == "Categories: 'a,b', ' c', d, ''"
    many = fine("design", "hadamard", *(f"t{k}" for k in range(60)), "-o", tmp_path / "y.json").splitlines()
    assert many[1] == "Categories: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, … (60 in all)"
    both = fine("design", "join", "sex=f,m", "pay=low,high", "-o", tmp_path / "z.json").splitlines()
    assert both[1] == "Categories: sex: f, m; pay: low, high"


def test_labels_are_read_off_private_data_only_when_asked(run, misused, tmp_path):
    table, made = tmp_path / "people.csv", tmp_path / "x.design.json"
    table.write_text("id,town\n1,Ulm\n2,Rye\n3,\n4,Ulm\n5,Bor\n6,Aba\n")
    for flags in ([], ["--column", "town"], ["--infer-categories"]):
        said = misused("design", "uniform", "--from", table, *flags, "-o", made)
        assert "--from needs --column NAME and --infer-categories" in " ".join(said.split())
        assert not made.exists()
    result = run("design", "uniform", "--from", table, "--column", "town", "--infer-categories", "-o", made)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("Warning: 4 categories were read from the private column town.")
    assert "before you publish" in result.stderr
    assert "Ulm" not in result.output
    assert sp.load_design(made) == sp.uniform(["Aba", "Bor", "Rye", "Ulm"])  # not in the order of the people
    table.write_text("id,size\n1,10\n2,9\n3,nan\n4,100\n5,ten\n")
    result = run("design", "uniform", "--from", table, "--column", "size", "--infer-categories", "-o", made, "--force")
    assert result.exit_code == 0, result.output
    assert sp.load_design(made).categories.labels == ("9", "10", "100", "nan", "ten")  # numbers are in their order


def test_labels_off_a_column_that_is_not_there(refused, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("id,town\n1,Ulm\n")
    line = refused("design", "uniform", "--from", table, "--column", "twon", "--infer-categories")
    assert "twon" in line
    assert "Ulm" not in line


# Making -------------------------------------------------------------------------------------------


def test_variables_are_joined(fine, tmp_path):
    path = tmp_path / "sex_income.design.json"
    fine("design", "join", "sex=Female,Male", "income=low, high", "-o", path)
    assert sp.load_design(path) == sp.join({"sex": ["Female", "Male"], "income": ["low", "high"]})
    three = ["a=0,1", "b=0,1", "c=0,1,2"]
    pairs = sp.design_from_json(fine("design", "join", *three, "--together", 2))
    assert pairs == sp.join({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1", "2"]}, together=2)
    loose = sp.design_from_json(fine("design", "join", *three[:2], "--reveals"))
    assert loose == sp.join({"a": ["0", "1"], "b": ["0", "1"]}, reveals=True)


def test_joining_wrongly(refused, misused):
    assert "got one for 'one'" in refused("design", "join", "one=a", "two=a,b")
    assert "must be NAME=A,B" in misused("design", "join", "sex")
    assert "'sex' twice" in misused("design", "join", "sex=f,m", "sex=f,m")


def test_small_designs(fine, refused):
    assert sp.design_from_json(fine("design", "small", "no", "yes")) == sp.small(["no", "yes"])
    bit = fine("design", "small", "a", "b", "c", "--route", "bit", "--q", 0.4, "--reveals")
    assert sp.design_from_json(bit) == sp.small(["a", "b", "c"], "bit", q=0.4, reveals=True)
    assert "--reveals must be" in refused("design", "small", "a", "b", "c", "--route", "bit")
    assert "two or three categories; got 4" in refused("design", "small", *"abcd")


# Checking -----------------------------------------------------------------------------------------


def test_a_good_design_passes(fine, saved):
    design = sp.uniform(list("abcd"))
    said = fine("design", "check", saved(design))
    assert "is valid, unaltered, private and identifiable: uniform design, 4 categories" in said
    facts = json.loads(fine("design", "check", saved(design), "--json"))
    assert facts == {"ok": True, "problems": [], "fingerprint": design.fingerprint}


def test_a_design_without_a_fingerprint_passes_with_a_remark(fine, tmp_path):
    path = tmp_path / "x.json"
    document = json.loads(sp.uniform(list("abcd")).to_json())
    del document["fingerprint"]
    path.write_text(json.dumps(document))
    said = fine("design", "check", path)
    assert "unaltered" not in said
    assert "changes to it cannot be detected" in said


@pytest.mark.parametrize(
    ("design", "reasons"),
    [
        (sp.nonprivate(list("abcd")), ["a single value can be reported"]),
        (sp.fully_private(list("abcd")), ["not identifiable"]),
        (sp.join({"s": ["f", "m"], "t": ["y", "n"]}, reveals=True), ["some reports reveal s, t exactly"]),
        (sp.conditional(list("abcd"), {("a", "b"): 1, ("c", "d"): 1}), ["not identifiable"]),
    ],
    ids=["nonprivate", "fully private", "joined", "two groups"],
)
def test_a_design_that_is_unfit_fails_with_reasons(design, reasons, run, saved):
    result = run("design", "check", saved(design))
    assert result.exit_code == 1
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == len(reasons)
    for line, reason in zip(lines, reasons, strict=True):
        assert line.startswith("Error: ")
        assert reason in line
    as_json = run("design", "check", saved(design), "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["ok"] is False


def test_an_altered_design_fails(refused, tmp_path):
    path = tmp_path / "x.json"
    document = json.loads(sp.uniform(list("abcd")).to_json())
    document["categories"][0] = "z"
    path.write_text(json.dumps(document))
    assert "was altered" in refused("design", "check", path)


# Comparing ----------------------------------------------------------------------------------------


def test_designs_side_by_side(fine, saved):
    one, two = sp.uniform(list("abcde")), sp.fixed_size(list("abcde"), 2)
    w = [0.1, 0.1, 0.2, 0.2, 0.4]
    paths = [saved(one, "one"), saved(two, "two")]
    facts = json.loads(fine("design", "compare", *paths, "--w", "0.1,0.1,0.2,0.2,0.4", "--json"))
    for path, design, fact in zip(paths, (one, two), facts, strict=True):
        expected = sp.audit(design, w).to_dict()
        named = {"path": str(path), "fingerprint": design.fingerprint, **json.loads(json.dumps(expected))}
        assert without_advice(fact) == without_advice(named)
    text = fine("design", "compare", *paths, "--w", "0.1,0.1,0.2,0.2,0.4")
    for fact in facts:
        (line,) = [line for line in text.splitlines() if line.startswith(fact["path"])]
        assert line.split()[2:4] == [f"{fact['mi_leakage']:.4f}", f"{fact['maximal_leakage']:.4f}"]
        assert line.split()[-1] == f"{fact['cost']:.4f}"


def test_the_even_distribution_and_what_is_odd(fine, saved):
    paths = [saved(sp.uniform(list("abcd")), "one"), saved(sp.nonprivate(list("wxyz")), "bare")]
    text = " ".join(fine("design", "compare", *paths).split())
    assert "2 designs at the even distribution" in text
    assert "Revealed exactly: the value, in 100.0% of the rows" in text
    assert "The designs are of different categories." in text


def test_comparing_wrongly(misused, refused, saved):
    path = saved(sp.uniform(list("abcd")))
    assert "two or more design documents" in misused("design", "compare", path)
    assert "one entry for each of the 4" in refused("design", "compare", path, path, "--w", "0.5,0.5")
    assert "does not exist" in misused("design", "compare", path, path.with_name("absent.json"))


# Wide tables --------------------------------------------------------------------------------------


def on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")


def test_names_of_columns_share_lines_on_a_narrow_terminal(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    names = ("design", "people, at the worst distribution", "people, at the even distribution", "leak")
    echo_table(Table("A title", names, (("uniform", "5403", "5012", "1.00"), ("partition", "7", "12345", "0.5"))))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[-4:-1] == [lines[1], *lines[-3:-1]]
    assert [word for line in lines[2:-4] for word in line.split()].count("distribution") == 2
    assert lines[-3].split() == ["uniform", "5403", "5012", "1.00"]
    ends = {line.rindex(word) + len(word) for line, word in ((lines[-3], "1.00"), (lines[-2], "0.5"))}
    assert len(ends) == 1  # aligned


def test_a_table_that_fits_is_as_it_was(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    table = Table("A title", ("design", "people"), (("uniform", "5403"),))
    echo_table(table)
    assert capsys.readouterr().out == f"{table}\n"


def test_long_cells_of_text_and_the_title_share_lines_on_a_narrow_terminal(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    rows = (
        ("size (share of people ruled out)", "a Hadamard design", "0.1572", "0.1524"),
        ("* prediction (best guess right)", "uniform", "0.9213", "0.9180"),
    )
    names = ("metric", "kind", "what a subset reveals", "lower 95%")
    title = "What a subset reveals about people's answers, on average over all of the people of Amer-Indian towns"
    note = "The value lies outside of the interval of the categories Amer-Indian-Eskimo and --no-such-option"
    echo_table(Table(title, names, rows, (note,), text_columns=2))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 60
    assert " ".join(lines).split() == [*title.split(), *" ".join(lines[2:-2]).split(), *note.split()]
    table = "\n".join(lines[2:-2])
    for row in rows:
        for word in " ".join(row).split():
            assert word in table  # whole
    first = next(line for line in lines if line.startswith("size"))
    assert first.split()[-2:] == ["0.1572", "0.1524"]  # numbers are next to the first line of their row
    assert "\n  right)\n" in table  # indented like the rows that are not marked


def test_columns_of_text_stay_flush_left_on_a_narrow_terminal(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    names = ("groups", "category", "difference between the two samples", "adjusted p-value of the test")
    rows = (("2025 - 2024", "never", "0.1", "0.5"), ("2025 - 2024", "monthly", "0.2", "0.6"))
    echo_table(Table("A title", names, rows, text_columns=2))
    first, second = capsys.readouterr().out.splitlines()[-3:-1]
    assert first.index("never") == second.index("monthly")
    assert first.index("0.5") == second.index("0.6")
