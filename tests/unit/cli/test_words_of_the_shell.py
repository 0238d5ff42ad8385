"""No command speaks Python: what it advises is an option that it has, or another command."""

import json
import re
from functools import partial
from pathlib import Path

import click
import numpy as np
import pytest
from shell_words import python_in

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.cli.shell_wording import options_of
from subsetprivacy.messages import NoteKind

TREES = ["ash", "birch", "cedar", "elm"]
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with people and releases: of many, of few, with groups and weights, and of rare categories."""
    folder = tmp_path_factory.mktemp("session")
    drawn = np.random.default_rng(18)
    trees, pays = drawn.choice(TREES, 600, p=[0.7, 0.28, 0.02, 0.0]), drawn.choice(["low", "high"], 600)
    rows = (f"{tree},{pay},{'ab'[k % 2]},{1 + k % 3}" for k, (tree, pay) in enumerate(zip(trees, pays, strict=True)))
    people = ["tree,pay,area,weight", *rows]
    (folder / "people.csv").write_text("\n".join(people) + "\n")
    (folder / "padded.csv").write_text("tree\n ash\n?\n elm\n")
    (folder / "gaps.csv").write_text('tree\nash\n""\nelm\n')
    (folder / "few.csv").write_text("tree\nash|birch\nbirch|cedar\ncedar|ash\n")
    (folder / "pairs.csv").write_text("tree\nash|birch\nash|birch\ncedar|elm\n")
    (folder / "empty.csv").write_text('tree\n""\n')
    (folder / "proba.csv").write_text("ash,birch,cedar,elm\n" + "0.6,0.3,0.1,0\n" * 600)
    (folder / "bad.json").write_text("{")
    (folder / "bad.toml").write_text("title = 3\n")
    (folder / "bad.key").write_text("0123")
    design, pay = sp.uniform(TREES), sp.warner(["low", "high"])
    design.save(folder / "tree.json")
    pay.save(folder / "pay.json")
    sp.uniform(["ash", "birch", "cedar", "oak"]).save(folder / "other.json")
    sp.covered(design, 0.1).save(folder / "safe.json")
    sp.nonprivate(["a", "b"]).save(folder / "bare.json")
    sp.hadamard(list(range(60))).save(folder / "many.json")
    return folder


# Calls that are right and calls that are wrong, in an order that makes what later ones read.
SESSION = """
demo -o demo --seed -1
example adult -o adult.csv
example urn --people 50 -o urn.csv
example urn --people 50 -o urn.csv
example urn -o urn.xlsx
design uniform ash birch cedar elm -o new.json
design uniform ash birch
design uniform a,b,c,d
design uniform a a b c d
design uniform --from people.csv --column tree --infer-categories
design partition a b c d e f --groups 3
design partition a b c d --groups 3
design hadamard a b c d
design hadamard a b c d e
design hadamard a b c d --questions 4
design fixed-size a b c --size 2
design fixed-size a b --size 2
design fixed-size a b c --size 7
design warner no yes
design warner no yes --q 0.5
design warner no yes --q 2
design warner no yes --q 0.01
design small a b c
design small a b c d
design small a b c --route bit
design small a b c --route dummies
design small a b --q 2
design join sex=Female,Male income=low,high
design join sex=Female,Male
design join a=1,2 b=1,2 c=1,2 --together 7
design product tree=tree.json pay=pay.json -o both.json
design product tree=tree.json
design product a=both.json b=tree.json
design covered tree.json --floor 0.1
design covered tree.json --floor 0.9
design covered bare.json --floor 0.1
design covered safe.json --floor 0.1
design show tree.json
design show bad.json
design check bare.json
design compare tree.json safe.json --w 0.1,0.2,0.3,0.4
design compare tree.json safe.json --w 0.1,0.2
design schema
plan ash birch cedar elm --margin 0.05
plan ash birch cedar elm --margin 2
plan --n-categories 5 --people 3
plan --n-categories 5 --people 0
plan --n-categories 1
plan --n-categories 9 --people 3000 --maximal-leakage 0.001
plan --n-categories 9 --people 3000 --margin 0.1
plan --n-categories 9 --floor 2
plan --n-categories 2 --floor 0.1
plan --n-categories 4 --w 0.5,0.5
plan --n-categories 4 --level 95
plan --n-categories 20 --publish
power response tree.json --w .4,.3,.2,.1 --category ash --odds-ratio 1.5 --target .8
power response tree.json --w .4,.3,.2,.1 --category oak --odds-ratio 1.5 --target .8
power response tree.json --w .4,.3,.3,0 --category ash --odds-ratio 1.5 --people 0
power response safe.json --w .4,.3,.2,.1 --family ordinal --odds-ratio 1.5 --people 9
power predictor tree.json --w .97,.01,.01,.01 --category birch --difference 2 --people 100
power predictor tree.json --w .4,.3,.2,.1 --category ash --odds-ratio 2
power means tree.json --w .4,.3,.2,.1 --group ash --group elm --difference 1 --people 100
power means tree.json --w .4,.3,.2,.1 --group ash --difference 1 --people 100
key -o secret.key
key -o secret.key
privatize people.csv --column tree=tree.json --column pay=pay.json --keep area --keep weight -o private.parquet --seed 1
privatize people.csv --column tree=tree.json -o private.parquet
privatize people.csv --column tree=tree.json -o private.parquet --if-exists same
privatize people.csv --column tree=tree.json -o labels.csv --keep-order
privatize people.csv --column tree=tree.json -o codes.csv --codes
privatize people.csv --column tree=tree.json -o x.parquet --labels
privatize people.csv --column tree=tree.json -o x.xlsx
privatize people.csv --column tree=other.json -o x.csv
privatize people.csv --column tree=safe.json --column pay=pay.json -o x.csv
privatize people.csv --column tree=safe.json -o x.parquet --keep-order
privatize people.csv --column tree=both.json -o x.csv
privatize people.csv --column tree=tree.json --keep tree -o x.csv
privatize people.csv --column tree=tree.json --na ash -o x.csv
privatize people.csv --column tree=tree.json --id area --key-file bad.key -o x.csv
privatize people.csv --column tree=tree.json --id area --key-file secret.key -o x.csv
privatize people.csv --column shrub=tree.json -o x.csv
privatize people.csv --column tree --infer-categories -o x.csv
privatize padded.csv --column tree=tree.json -o x2.csv
privatize gaps.csv --column tree=tree.json -o x2.csv
privatize people.csv --column tree=many.json -o x2.csv
count private.parquet --column tree
count private.parquet --column tree --column pay
count private.parquet --column tree --by area
count private.parquet --column tree --weights weight --weights-kind sampling
count private.parquet --column tree -o counts.csv
count private.parquet --column tree -o counts.csv
count private.parquet --column area
count private.parquet --column shrub
count private.parquet
count people.csv
count people.csv --column tree=tree.json --form labels
count gaps.csv --column tree=tree.json --form labels
count codes.csv --column tree=other.json
count labels.csv --form codes
count few.csv --column tree=tree.json --form codes
estimate private.parquet --column tree
estimate private.parquet --column tree --interval wald
estimate private.parquet --column tree --interval profile
estimate private.parquet --column tree --interval adjusted
estimate private.parquet --column tree --method mom
estimate private.parquet --column tree --method mom --interval profile
estimate private.parquet --column tree --method mom --interval adjusted
estimate private.parquet --column tree --method mom-conditional
estimate private.parquet --column tree --method em
estimate private.parquet --column tree --method one-step
estimate private.parquet --column tree --column pay
estimate private.parquet --column tree --by area
estimate private.parquet --column tree --by area --method mom
estimate private.parquet --column tree --by pay
estimate private.parquet --column tree --weights weight --weights-kind sampling
estimate private.parquet --column tree --weights weight --weights-kind sampling --interval profile
estimate private.parquet --column tree --weights area --weights-kind sampling
estimate private.parquet --column tree --level 95
estimate private.parquet --column tree --json
estimate private.parquet --column tree --method mom --json
estimate private.parquet --column tree -o estimate.csv
estimate private.parquet --column tree -o estimate.csv
estimate few.csv --column tree=tree.json --form labels
estimate few.csv --column tree=tree.json --form labels --interval wald
estimate few.csv --column tree=tree.json --form labels --method mom
estimate few.csv --column tree=tree.json --form labels --method one-step
estimate pairs.csv --column tree=tree.json --form labels
estimate pairs.csv --column tree=tree.json --form labels --interval adjusted
estimate empty.csv --column tree=tree.json --form labels --missing full
estimate counts.csv
estimate private.parquet --column tree --merge other=cedar,oak
estimate private.parquet --column tree --merge other=ash,birch,cedar,elm
estimate private.parquet --column tree --merge other=cedar,elm --method mom --interval profile
estimate private.parquet --column tree --by area --simultaneous
compare private.parquet --column tree --by area
compare private.parquet --column tree --by area --method profile --merge other=cedar,elm
compare private.parquet --column tree --by weight
compare private.parquet --column tree --by weight --baseline 7
compare private.parquet --column tree --by pay
compare private.parquet --column tree --by area --weights weight --weights-kind sampling --method score
compare private.parquet --column tree --by area --level 95
compare private.parquet --column tree
compare private.parquet few.csv --column tree=tree.json --form labels
compare private.parquet empty.csv --column tree=tree.json --form labels --missing full
compare private.parquet pairs.csv --column tree=other.json --form labels
fit-test private.parquet --column tree --reference ash=0.7,birch=0.28,cedar=0.02,elm=0 --replications 19 --seed 1
fit-test private.parquet --column tree --reference 0.7,0.1,0.1,0.1 --null chi-square --json
fit-test private.parquet --column tree --reference ash=0.5,birch=0.5
fit-test private.parquet --column tree --reference 70,28,1,1
fit-test private.parquet --column tree --reference 0.5,0.5,0.5,-0.5
fit-test private.parquet --column tree --reference bad.json
fit-test private.parquet --column tree --reference 0.7,0.1,0.1,0.1 --weights weight --weights-kind sampling
fit-test empty.csv --column tree=tree.json --form labels --missing full --reference 0.7,0.1,0.1,0.1
loglinear private.parquet [tree,area]
loglinear private.parquet [tree,wood]
loglinear private.parquet tree
loglinear private.parquet saturated --weights weight --weights-kind sampling
loglinear private.parquet [tree,area] --test --bootstrap 9 --seed 1 --json
loglinear private.parquet [tree,area] --compare independence
loglinear private.parquet [tree,area] --odds tree,area
loglinear private.parquet [tree,area] --shares tree --given area
regress private.parquet tree~area
regress private.parquet tree~area --interval profile --weights weight --weights-kind sampling
regress private.parquet tree~area --method corrected --interval profile
regress private.parquet tree~area --method corrected --ridge 1
regress private.parquet tree~area --family ordinal --lasso 1
regress private.parquet tree~area --family ordinal --baseline ash
regress private.parquet tree~area --baseline oak
regress private.parquet tree~area --shrink --test --json
regress private.parquet tree~area --stream --clusters weight
regress private.parquet tree~area --stream --ridge cv
regress private.parquet tree~center(weight) --stream
regress private.parquet tree~area --predict few.csv
regress private.parquet tree~area+shrub
regress private.parquet tree~area+C(pay)
regress private.parquet tree~weight+C(weight)
regress private.parquet tree~area --weights pay --weights-kind sampling
regress private.parquet tree~area --offset area
regress private.parquet area~weight
regress private.parquet area
regress private.parquet weight~tree
regress private.parquet weight~area+tree --method ml --test
regress private.parquet area~tree --adjusted tree --json
regress private.parquet weight~tree --shrink
regress private.parquet weight~tree --stream
regress private.parquet weight~tree --family logit
regress private.parquet weight~tree+pay --baseline ash
regress private.parquet weight~tree --interval wald
regress private.parquet weight~tree --adjusted height
regress private.parquet weight~tree --predict few.csv
regress people.csv weight~tree --design tree.json
regress people.csv tree~area
regress people.csv tree~area --design tree.json --form labels
regress few.csv tree~1 --design safe.json --form labels
regress empty.csv tree~1 --design tree.json --form labels --missing full
rake private.parquet nowhere.json
means private.parquet --column tree --of weight
means private.parquet --column tree --of weight --by area --interval wald
means private.parquet --column tree --of weight --interval logit
means private.parquet --column tree --of weight --model normal --interval fieller
means private.parquet --column tree --of weight --differences categories --simultaneous
means private.parquet --column tree --of weight --differences groups
means private.parquet --column tree --of weight --test --by area
means private.parquet --column tree --of area
means private.parquet --column tree --of shrub
means private.parquet --column tree --of tree
means private.parquet --column tree --of weight --quantile 2
means private.parquet --column tree --of weight --given area
means private.parquet --column tree --of weight --clusters area
evaluate private.parquet --column tree --proba proba.csv
evaluate private.parquet --column tree --proba proba.csv --interval logit --json
evaluate private.parquet --column tree --proba proba.csv --compare proba.csv
evaluate private.parquet --column tree --proba people.csv
evaluate private.parquet --column tree --guess area
evaluate private.parquet --column tree --guess tree --metric brier
evaluate private.parquet --column tree
evaluate few.csv --column tree=tree.json --form labels --proba proba.csv
evaluate empty.csv --column tree=tree.json --form labels --missing full --proba proba.csv
test private.parquet tree --by weight --trend --permutations 19 --seed 1
test private.parquet tree --by weight --trend --scores 1,2
test private.parquet tree --by weight --trend --scores 1,1,1,1
test private.parquet tree --by area --trend --group-scores a=1,c=2
test private.parquet tree --by area --trend --alternative greater --weights weight --weights-kind sampling
test private.parquet pay tree --trend --permutations 19 --seed 1
test private.parquet tree pay --permutations 19 --seed 1
test private.parquet tree pay --permutations 0
test private.parquet tree pay --permutations 3
test private.parquet tree pay --method pearson --permutations 19
test private.parquet tree pay --method lrt-mom --permutations 0
test private.parquet tree pay --given area --permutations 19
test private.parquet tree pay --weights weight --weights-kind sampling
test private.parquet tree pay --json --seed 1
test private.parquet tree --by area --permutations 19
test private.parquet tree area
test private.parquet tree shrub
test pairs.csv tree=tree.json --by tree
audit tree.json
audit tree.json --w 0.5,0.2,0.1,0.1
audit tree.json --w 0.25,0.25,0.25,0.25 --prior 0,0.5,0.25,0.25
audit bare.json
audit safe.json
audit both.json
audit many.json
audit private.parquet
audit private.parquet --column tree --json
audit private.parquet --level 2
audit tree.json --given private.parquet
audit tree.json --w 0.25,0.25,0.25,0.25 --given tree.json
audit empty.csv --column tree=tree.json --form labels --missing full
check private.parquet --permutations 0 --earlier private.parquet --json
check private.parquet --level 2
check private.parquet --by shrub
check private.parquet --column shrub
check private.parquet --questions pairs.csv
check empty.csv --column tree=tree.json --form labels
report private.parquet -o report.html --permutations 9
report private.parquet -o report.html --permutations 9
report private.parquet -o other.html --permutations 0 --by area --earlier private.parquet --language de
report private.parquet -o nowhere/report.html
report private.parquet -o new.html --level 2
survey example -o survey.toml
survey example -o survey.toml
survey check survey.toml
survey check bad.toml
survey convert survey.toml -o survey.yaml
survey schema
serve --base-url ftp://x
serve --db absent/x.db
db check --db absent.db
db backup copy.db --db absent.db
db upgrade --db absent.db
reproduce
reproduce nothing
completion bash
"""
CALLS = SESSION.strip().splitlines()


@pytest.fixture(scope="module")
def session(made):
    """Run all calls once, in their order, and give what each printed."""
    from click.testing import CliRunner

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        spoken = []
        for line in CALLS:
            result = CliRunner().invoke(main, line.split())
            assert result.exception is None or isinstance(result.exception, SystemExit), (line, result.exception)
            spoken.append((line, result.stdout + result.stderr))
    return spoken


def called(line):
    command, words = main, line.split()
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    return command


def leaves(group=main):
    for command in group.commands.values():
        yield from leaves(command) if isinstance(command, click.Group) else [command]


def test_every_command_is_in_the_session():
    assert {id(called(line)) for line in CALLS} == {id(command) for command in leaves()}


def test_calls_answer_in_the_words_of_the_shell(session):
    # The document of findings is the library's to the byte.
    spoken = [(line, text) for line, text in session if '"format": "subsetprivacy.findings"' not in text]
    assert len(spoken) == len(session) - 1
    assert {line: python_in(text) for line, text in spoken if python_in(text)} == {}


def test_hints_name_options_of_the_command(session):
    wrong = {}
    for line, text in session:
        for hint in re.findall(r"Hint: (.*?)(?:\. |\.$|$)", " ".join(text.split())):
            own = re.split(r"\bsubsetprivacy [a-z]|\bdesign covered", hint)[0]
            if not set(OPTION.findall(own)) <= options_of(called(line)):
                wrong[line] = hint
    assert wrong == {}


def test_the_checks_above_can_fail():
    assert python_in("Hint: sp.estimate(data).--interval profile.\nfine\nHint: overwrite=True.") == [
        "Hint: sp.estimate(data).--interval profile.",
        "Hint: overwrite=True.",
    ]
    assert python_in("Hint: --interval profile. Also the sp. of a plant.") == []


FEW = ["estimate", "few.csv", "--column", "tree=tree.json", "--form", "labels"]


# What was broken ----------------------------------------------------------------------------------


@pytest.fixture
def folder(session, made, monkeypatch):
    monkeypatch.chdir(made)
    return made


@pytest.mark.usefixtures("folder")
def test_a_profile_interval_is_not_for_moments(refused):
    line = refused("estimate", "private.parquet", "--column", "tree", "--method", "mom", "--interval", "profile")
    assert "sp." not in line
    _, advice = line.split(" Hint: ")
    assert "--method" in advice


@pytest.mark.usefixtures("folder")
def test_moments_do_not_advise_a_method_of_python(run):
    result = run(*FEW, "--method", "mom")
    assert result.exit_code == 0
    assert "outside the simplex" in result.stdout
    assert "Hint: --method mle" in " ".join(result.stdout.split())
    assert "()" not in result.output


@pytest.mark.usefixtures("folder")
def test_a_test_does_not_advise_a_budget_that_it_does_not_have(run, monkeypatch):
    hasty = partial(sp.independence_test, budget=1e-4)
    monkeypatch.setattr("subsetprivacy.independence.independence_test", hasty)
    result = run("test", "private.parquet", "tree", "pay", "--permutations", "20000", "--seed", "1")
    assert result.exit_code == 0, result.output
    assert "Warning: Budget" in result.stderr
    assert "budget=" not in result.output


@pytest.mark.usefixtures("folder")
def test_notes_in_json_are_objects(fine):
    (note,) = json.loads(fine(*FEW, "--interval", "wald", "--json"))["notes"]
    assert list(note) == ["kind", "text", "advice"]
    assert note["kind"] == "boundary"
    assert "Hint" not in note["text"]
    assert note["advice"] == "--interval auto"
    for words in (["test", "private.parquet", "tree", "pay"], ["audit", "private.parquet"], ["plan", *TREES]):
        for note in json.loads(fine(*words, "--json"))["notes"]:
            assert list(note) == ["kind", "text", "advice"]
            assert note["kind"] in set(NoteKind)


@pytest.mark.usefixtures("folder")
def test_estimates_have_the_columns_of_every_result(fine):
    head, *rows = fine("estimate", "private.parquet", "--column", "tree", "-o", "-").splitlines()
    assert head == "category,estimate,se,lower,upper,level"
    assert [row.split(",")[0] for row in rows] == TREES
    facts = json.loads(fine("estimate", "private.parquet", "--column", "tree", "--json"))
    assert {"categories", "estimate", "se", "lower", "upper", "level"} <= set(facts)
    assert not {"std_error", "std. error"} & set(facts)
    assert Path("estimate.csv").read_text().splitlines()[0] == head
