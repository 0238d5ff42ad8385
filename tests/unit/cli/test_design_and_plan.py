"""Commands that make designs and plan."""

import json

import pytest

import subsetprivacy as sp
from subsetprivacy.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "design"),
    [
        (["uniform", *"abcd"], sp.uniform(list("abcd"))),
        (["partition", *"abcdef", "--groups", 3], sp.partition(list("abcdef"), 3)),
        (["hadamard", *"abcdefghi", "--questions", 31], sp.hadamard(list("abcdefghi"), 31)),
        (["fixed-size", *"abc", "--size", 2], sp.fixed_size(list("abc"), 2)),
        (["warner", "no", "yes", "--q", 0.3], sp.warner(["no", "yes"], 0.3)),
    ],
    ids=lambda x: x[0] if isinstance(x, list) else "",
)
def test_a_design_is_made_as_the_library_makes_it(arguments, design, fine, tmp_path):
    path = tmp_path / "x.design.json"
    assert "fingerprint" in fine("design", *arguments, "-o", path)
    assert sp.load_design(path) == design
    assert sp.design_from_json(fine("design", *arguments)) == design
    assert json.loads(fine("design", "show", path, "--json"))["S"] == pytest.approx(design.S)
    leakage = sp.audit(design, [1 / design.p] * design.p).to_dict()["maximal_leakage"]
    shown = f"maximal leakage (bits)        {leakage:.4g} (log2 of S = {design.S:.4g})"
    assert shown in fine("design", "show", path)


WRITERS = {
    "uniform": [*"abcd"],
    "partition": [*"abcdef", "--groups", "3"],
    "hadamard": [*"abcdefghi"],
    "fixed-size": [*"abc", "--size", "2"],
    "warner": ["no", "yes"],
    "small": [*"abc"],
    "join": ["x=a,b", "y=c,d"],
    "product": ["x=urn.json", "y=urn.json"],
    "covered": ["urn.json", "--floor", "0.1"],
    "schema": [],
}


def test_every_command_that_writes_a_document_is_tried():
    commands = main.commands["design"].commands
    assert set(WRITERS) == {name for name, each in commands.items() if any(p.name == "output" for p in each.params)}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_document_is_replaced_by_force_alone(kind, fine, refused, tmp_path, monkeypatch):
    """Data that were collected with a design need it to be estimated, so it must not be lost."""
    monkeypatch.chdir(tmp_path)
    sp.uniform(list("abcd")).save("urn.json")
    other = sp.uniform(list("wxyz"))
    place = other.save(tmp_path / "new.json")
    words = ["design", kind, *WRITERS[kind], "-o", place]
    said = refused(*words)
    assert "new.json' must not exist yet, unless its contents are the same; they differ." in said
    assert said.endswith("Hint: --force replaces it.")
    assert sp.load_design(place) == other
    assert "Wrote" in fine(*words, "--force")
    made = place.read_bytes()
    assert b"wxyz" not in made
    assert made.decode() == fine(*words[:-2])
    assert "Wrote" in fine(*words)  # the same document again
    assert place.read_bytes() == made


def test_a_file_that_is_no_text_is_replaced_by_force_alone(fine, refused, tmp_path):
    place = tmp_path / "urn.json"
    place.write_bytes(b"\xff\xfe\x00")
    words = ["design", "uniform", *"abcd", "-o", place]
    assert "--force" in refused(*words)
    assert place.read_bytes() == b"\xff\xfe\x00"
    fine(*words, "--force")
    assert sp.load_design(place) == sp.uniform(list("abcd"))


def test_spaces_in_a_label_make_another_document(fine, refused, tmp_path):
    place = tmp_path / "urn.json"
    fine("design", "uniform", "a b", *"cde", "-o", place)
    assert "--force" in refused("design", "uniform", "a  b", *"cde", "-o", place)


def test_designs_are_covered_and_combined(fine, tmp_path):
    race, income, both, safe = (tmp_path / f"{name}.json" for name in ("race", "income", "both", "safe"))
    sp.uniform(list("abcd")).save(race)
    sp.partition(range(6), 3).save(income)
    fine("design", "product", f"race={race}", f"income={income}", "-o", both)
    fine("design", "covered", both, "--floor", "0.1", "-o", safe)
    read = sp.load_design(safe)
    assert read.D == 6
    assert read.categories.names == ("race", "income")
    fine("design", "show", safe)


def test_categories_come_from_a_file_as_well(fine, tmp_path):
    towns, path = tmp_path / "towns.txt", tmp_path / "towns.design.json"
    towns.write_text("\n".join(f"town {k}" for k in range(60)) + "\n", encoding="utf-8")
    fine("design", "hadamard", "--file", towns, "-o", path)
    assert sp.load_design(path).categories.labels[59] == "town 59"


def test_several_variables_are_audited_by_name(run, tmp_path):
    path = tmp_path / "both.json"
    both = sp.product({"x": sp.uniform(list("abcd")), "s": sp.warner(["n", "y"])})
    both.save(path)
    result = run("audit", path, "--w", "x=0.1,0.2,0.3,0.4", "--w", "s=0.7,0.3")
    assert (
        result.output.split() == str(sp.audit(both, {"x": [0.1, 0.2, 0.3, 0.4], "s": [0.7, 0.3]}).summary()).split()
    )  # notes are as wide as the terminal


def test_a_plan_is_that_of_the_library(fine):
    printed = fine("plan", "never", "once", "often", "daily", "--margin", "0.05")
    expected = str(sp.plan(["never", "once", "often", "daily"], margin=0.05).summary())
    assert printed.rpartition("---")[0] == expected.rpartition("---")[0]  # below it are notes, with advice


HABITS = ["never", "once", "monthly", "weekly", "daily"]
W = [0.5, 0.2, 0.15, 0.1, 0.05]


@pytest.mark.parametrize(
    ("options", "aims"),
    [
        (["--category", "daily", "--margin", ".03"], {"category": "daily", "margin": 0.03}),
        (
            ["--category", "daily", "--relative", ".2", "--w", "0.5,0.2,0.15,0.1,0.05"],
            {"category": "daily", "relative": 0.2, "w": W},
        ),
        (["--groups", "2", "--margin", ".05"], {"groups": 2, "margin": 0.05}),
        (["--group", "f=.3", "--group", "m=.7", "--people", 2000], {"groups": {"f": 0.3, "m": 0.7}, "n": 2000}),
        (
            ["--subgroup", "18=29=.2", "--subgroup", "30 and older=.8"],
            {"subgroups": {"18=29": 0.2, "30 and older": 0.8}},
        ),
    ],
)
def test_the_aims_of_a_plan_are_those_of_the_library(options, aims, fine):
    made, expected = json.loads(fine("plan", *HABITS, *options, "--json")), sp.plan(HABITS, **aims).to_dict()
    for facts in (made, expected):  # notes have the advice of each audience
        for one in (facts, *facts["options"]):
            one["notes"] = [note["kind"] for note in one["notes"]]
    assert made == expected


def test_numbered_categories_are_named_by_their_number(fine):
    made = json.loads(fine("plan", "--n-categories", 6, "--category", 3, "--json"))
    assert made["category"] == 3
    made = json.loads(fine("plan", "--n-categories", 6, "--people", 2000, "--w", ".5,.1,.1,.1,.1,.1", "--json"))
    assert made["options"][0]["margin"] == sp.plan(6, n=2000, w=[0.5, *[0.1] * 5]).to_dict()["options"][0]["margin"]


OF_HABITS = ["plan", *HABITS]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["design", "hadamard", *"abcde"], "Hint: subsetprivacy design uniform."),
        (["design", "partition", *"abcde", "--groups", "3"], "--groups must be at most 2"),
        (["design", "warner", "a", "b", "--q", "0.5"], "--q must not be 1/2"),
        (["design", "product", "race"], "must be NAME=PATH"),
        (["design", "uniform"], "give the categories once: as LABELS, or with --categories, --file or --from TABLE"),
        (["plan"], "give the categories once: as LABELS, or with --categories"),
        (["plan", "--categories", "5", "a"], "give the categories once: as LABELS, or with --categories"),
        (
            ["plan", "--n-categories", "5", "--margin", "2"],
            "--margin must be above 0 and at most 0.5; got 2.0. Hint: write two percentage points as 0.02.",
        ),
        (["plan", "--n-categories", "5", "--margin", ".02", "--people", "100"], "either --margin or --people"),
        (["plan", "--n-categories", "5", "--w", "a"], "must be numbers joined by commas"),
        ([*OF_HABITS, "--category", "often"], "--category must be one of the 5 categories; got 'often'"),
        (
            [*OF_HABITS, "--relative", "0.2"],
            "--relative must come with --w, because it refers to a known share. Hint: --w gives the distribution to "
            "plan for.",
        ),
        (
            [*OF_HABITS, "--relative", "0.2", "--margin", "0.02"],
            "either --margin or --relative must be given; got both",
        ),
        (
            [*OF_HABITS, "--groups", "1"],
            "--groups must be from 2 to 1000; got 1. Hint: --groups 2 for two of the same size, or --group f=0.3 "
            "--group m=0.7.",
        ),
        ([*OF_HABITS, "--groups", "2", "--group", "f=1"], "give either --groups or --group"),
        ([*OF_HABITS, "--group", "f"], "--group must be NAME=SHARE, such as young=0.2; got 'f'"),
        ([*OF_HABITS, "--group", "=0.5"], "--group must be NAME=SHARE, such as young=0.2; got '=0.5'"),
        ([*OF_HABITS, "--subgroup", "f=half"], "--subgroup must be NAME=SHARE, such as young=0.2; got 'f=half'"),
        (
            [*OF_HABITS, "--subgroup", "f=.1", "--subgroup", "f=.2"],
            "--subgroup must name each group once; got 'f' twice",
        ),
        (
            [*OF_HABITS, "--subgroup", "f=.7", "--subgroup", "m=.7"],
            "--subgroup must have shares that sum to at most 1; got 1.4",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line(arguments, message, run):
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_plan_fits_a_terminal_of_100_characters(fine):
    table = fine("plan", *HABITS).splitlines()[1:5]
    assert max(map(len, table)) <= 100
