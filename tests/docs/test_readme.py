"""The README: it runs from top to bottom as one session in one folder, and each of its numbers is computed here."""

import os
import re
import shlex
from inspect import signature
from math import log2

import pytest
from fresh import run_script
from pages import FENCE, README, ROOT, text

import subsetprivacy as sp
from subsetprivacy.cli.main import main
from subsetprivacy.collect.survey.definition import MOST_OPTIONS

INSTALL = re.compile(r'pip install (?:\.|"\.\[([\w,]+)\]")$')
SERVE = ["subsetprivacy", "serve"]
RUN = """
import contextlib, io

def run_command(words):
    from subsetprivacy.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()):
        main(words, prog_name="subsetprivacy", standalone_mode=False)
"""


def fenced():
    """Return the language and content of the README's blocks, in their order."""
    return [(info.strip(), body) for _, info, body in FENCE.findall(text(README))]


def commands():
    lines = [line for language, body in fenced() if language == "console" for line in body.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


# One session ------------------------------------------------------------------------------------


def test_the_whole_readme_runs_in_one_folder(tmp_path, tmp_path_factory):
    # One Python session from top to bottom; a command is run where it is printed, in the same folder.
    script, printed = [RUN], ""
    for language, body in fenced():
        if language == "python":
            script.append(body)
        elif language == "text":
            printed += body
        elif language == "console":
            for line in body.splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["subsetprivacy"] and words != SERVE:
                    script.append(f"run_command({words[1:]!r})")
        else:
            raise AssertionError(f"no one runs a block of {language!r}")
    place = tmp_path_factory.mktemp("said")
    (place / "readme.py").write_text("\n".join(script), encoding="utf-8")
    ran = run_script(place / "readme.py", [], tmp_path, place, {**os.environ, "MPLBACKEND": "Agg"})
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == printed
    made = {"adult.csv", "race.json", "private.parquet", "report.html", "work.toml"}
    assert made <= {entry.name for entry in tmp_path.iterdir()}


def test_every_command_of_the_readme_is_run_or_known():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    extras = re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    for words in commands():
        line = shlex.join(words).replace("'", '"')
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.MULTILINE), line
        elif words[0] == "pip":
            asked = INSTALL.match(line)
            assert asked, line
            assert set((asked[1] or "all").split(",")) <= set(extras), line
        else:
            assert words[1] in main.commands, line
    assert SERVE in commands()


def test_code_in_the_text_is_code_that_exists():
    named = re.findall(r"`(?:sp\.)?(\w+)\(?[^`]*`", text(README).split("## Quickstart")[1])
    assert {"audit", "plan", "privatize_table", "count"} <= set(named)
    for name in re.findall(r"`sp\.(\w+)", text(README)):
        assert name in sp.__all__, name


def test_pictures_are_there_are_small_and_are_described():
    shown = re.findall(r"!\[([^]]*)\]\(([^)]+)\)", text(README))
    shown += [(alt, path) for path, alt in re.findall(r'<img src="([^"]+)"[^>]* alt="([^"]*)"', text(README))]
    assert len(shown) == text(README).count("![") + text(README).count("<img") >= 3
    for alt, path in shown:
        assert len(alt.split()) > 5, path
        assert 1_000 < (ROOT / path).stat().st_size < 200_000, path


# Numbers ----------------------------------------------------------------------------------------


def test_two_draws_for_one_person_narrow_down_the_value():
    # "After two uniform draws a single value is left with probability 0.67 for four categories and 0.14 for eight."
    assert round(sp.repeat_risk(sp.uniform(range(4))).probability, 2) == 0.67
    assert round(sp.repeat_risk(sp.uniform(range(8))).probability, 2) == 0.14


def test_five_categories_take_four_times_the_people():
    # "With five categories of even shares and yes/no questions you need 4 times as many as when you ask directly"
    design = sp.uniform(range(5))
    assert (design.p - 1) / (design.S - 1) == pytest.approx(4)
    assert sp.audit(design, [0.2] * 5).to_dict()["cost"] == pytest.approx(4)


def test_maximal_leakage_of_a_question_is_one_bit():
    # "on average over the subsets, a yes/no answer at most doubles the chance of a right guess (one bit)"
    assert log2(sp.uniform(range(5)).S) == pytest.approx(1)
    assert sp.audit(sp.uniform(range(5)), [0.2] * 5).to_dict()["maximal_leakage"] == pytest.approx(1)


def test_epsilon_is_infinite_except_with_warner():
    # "A subset rules values out, so epsilon is infinite"; "infinite (finite for two categories with `warner`)"
    assert sp.uniform(range(4)).epsilon == float("inf")
    assert sp.warner(["no", "yes"]).epsilon < float("inf")


def test_the_picture_is_that_of_the_quickstart_and_its_description_has_the_numbers():
    made = text(README.parent / "docs" / "pictures" / "make.py")
    code = next(body for language, body in fenced() if language == "python")
    for part in (
        'sp.uniform(["black", "red", "green", "blue"])',
        '["black", "red", "green", "blue", "blue"] * 400',
        "seed=1",
    ):
        assert part in made
        assert part in code
    fit = sp.estimate(
        sp.privatize(
            ["black", "red", "green", "blue", "blue"] * 400, sp.uniform(["black", "red", "green", "blue"]), seed=1
        )
    )
    assert (100 * fit.w).round(1).tolist() == [17.2, 21.1, 19.3, 42.5]
    shares = sorted(zip(fit.w, fit.categories, strict=True), reverse=True)
    assert ", ".join(f"{color} {100 * share:.1f}%" for share, color in shares) in text(README)
    assert signature(sp.Estimate.plot).parameters["level"].default == 0.95  # "with 95% intervals"


def test_designs_reach_from_two_categories_to_a_million():
    # "2 to a million categories" to publish, "2 to 48 possible answers" to ask
    assert sp.warner(["no", "yes"]).p == 2
    assert sp.hadamard(10**6).p == 10**6
    assert MOST_OPTIONS == sp.uniform(range(48)).p == 48
    with pytest.raises(sp.errors.InvalidDesignError, match="at most 48 categories; got 49"):
        sp.uniform(range(49))
