"""Verdicts: what holds, what differs, and by how little."""

import pytest
from every_case import every_case

from subsetprivacy.reproduce.checks import Check, corrected, number, says, stated, theory, unchecked


@every_case(
    ("printed", "obtained", "verdict"),
    [
        ("0.684", 0.684133, "holds"),
        ("0.684", 0.6845, "holds"),  # half a unit of the last digit, and not more
        ("0.684", 0.68451, "differs"),
        ("0.684", 0.68349, "differs"),
        ("1", 1.4, "holds"),
        ("1", 1.6, "differs"),
        ("2.50", 2.506, "differs"),
        ("2.5", 2.506, "holds"),  # a digit less in print allows ten times as much
        ("0.5", float("nan"), "differs"),
    ],
)
def test_exact_numbers_hold_to_the_last_printed_digit(printed, obtained, verdict):
    assert number("a number", printed, obtained).verdict == verdict


@every_case(("obtained", "verdict"), [(2.0 + 0.154, "holds"), (2.0 + 0.156, "differs"), (1.8, "differs")])
def test_simulated_numbers_have_three_joint_standard_errors(obtained, verdict):
    # 3 hypot(.03, .04) = .15, and .005 for the rounding.
    check = number("a loss", "2.00", obtained, printed_error=0.03, error=0.04, digits=3)
    assert check.verdict == verdict
    assert check.printed == "2.00 (0.03)"
    assert check.obtained == f"{obtained:.3f} (0.040)"
    assert check.tolerance == "± 0.155"


def test_theory_has_three_standard_errors_of_ours():
    assert theory("limit", 0.864, 0.89, 0.01).verdict == "holds"
    assert theory("limit", 0.864, 0.89, 0.01).source == "theory"
    assert theory("limit", 0.864, 0.90, 0.01).verdict == "differs"
    assert theory("limit", 0.864, float("nan"), 0.01).verdict == "differs"


def test_sentences():
    assert says("rises", "rises with n", "0.5 to 0.9", True, "by three errors").verdict == "holds"
    assert says("rises", "rises with n", "0.9 to 0.5", False, "by three errors").verdict == "differs"


def test_an_erratum_must_hold_itself():
    wrong = corrected("people", "four times", "9.0 times", True, "8 to 10", erratum="`fig:adult_power`")
    assert wrong.verdict == "erratum"
    assert "`fig:adult_power`" in wrong.note
    assert corrected("people", "four times", "4.0 times", False, "8 to 10", erratum="x").verdict == "differs"


def test_what_is_not_a_claim():
    assert stated("time", "3 s").verdict == "stated"
    assert unchecked("CVXPY", "1000 times", "CVXPY is not installed").verdict == "not checked"


def test_whose_claim_it_is():
    assert number("n", "1.0", 1.0).source == "paper"
    assert says("rises", "", "up", True, "three errors", source="ours").source == "ours"
    assert stated("n", "1").source == "ours"
    with pytest.raises(ValueError, match="source"):
        says("rises", "", "up", True, "three errors", source="theirs")


def test_what_is_the_matter_in_print():
    narrow = corrected("form", "independent", "all", True, "all", erratum="`thm_identi`", how="too narrow in print")
    assert narrow.note == "too narrow in print: errata, `thm_identi`"


def test_a_verdict_is_one_of_five():
    with pytest.raises(ValueError, match="verdict"):
        Check("a", "b", "c", "d", "perhaps")
