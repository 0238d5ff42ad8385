"""A claim of the paper, the number obtained, and the verdict."""

from math import hypot

from attrs import field, frozen, validators

HOLDS, ERRATUM, STATED, UNCHECKED, DIFFERS = "holds", "erratum", "stated", "not checked", "differs"
VERDICTS = (HOLDS, ERRATUM, STATED, UNCHECKED, DIFFERS)
SOURCES = ("paper", "theory", "ours")

NOT_MEASURED = "could not be measured here: the ratios of times vary too much, as they do on a busy machine"

MONTE_CARLO = 3.0
"""How many joint standard errors a published number may differ by."""


@frozen
class Check:
    """One claim: the printed text, what was obtained, the tolerance and the verdict.

    Attributes
    ----------
    claim
        The claim in words.
    printed, obtained, tolerance
        As shown on the page.
    verdict
        ``"holds"``. ``"erratum"``: the paper's statement is wrong, and the correction in the errata holds.
        ``"stated"``: a number that the paper does not give. ``"not checked"``: something needed is not installed, or
        times could not be compared on this machine.
        ``"differs"``: anything else; the experiment has failed.
    note
        An explanation of the verdict, if needed.
    source
        Whose claim it is: ``"paper"``; ``"theory"``: follows from the paper's theory but is not printed; ``"ours"``.
    """

    claim: str
    printed: str
    obtained: str
    tolerance: str
    verdict: str = field(validator=validators.in_(VERDICTS))
    note: str = ""
    source: str = field(default="paper", validator=validators.in_(SOURCES))


def number(
    claim: str, printed: str, obtained: float, *, printed_error: float = 0.0, error: float = 0.0, digits: int = 4
) -> Check:
    """Compare a number with the printed one, within half a unit of its last digit and three joint standard errors.

    Parameters
    ----------
    printed
        As printed, so that its last digit is known: ``"2.50"`` is not ``"2.5"``.
    printed_error, error
        Monte Carlo standard errors of both; zero if a number is exact.
    digits
        The number of decimals of the obtained number on the page.
    """
    allowed = MONTE_CARLO * hypot(printed_error, error) + _half_a_unit(printed)
    away = abs(obtained - float(printed))
    near = away <= allowed * (1 + 1e-9)  # not (away > allowed): NaN differs
    how = f"± {allowed:.{digits}f}" if printed_error or error else f"rounding, ± {allowed:g}"
    shown = f"{printed} ({printed_error:g})" if printed_error else printed
    return Check(claim, shown, spread(obtained, error, digits), how, HOLDS if near else DIFFERS)


def theory(claim: str, expected: float, obtained: float, error: float, *, digits: int = 4) -> Check:
    """Compare a simulated number with the exact one from the paper's theory, within three standard errors."""
    allowed = MONTE_CARLO * error
    verdict = HOLDS if abs(obtained - expected) <= allowed else DIFFERS
    shown = f"{expected:.{digits}f}"
    return Check(claim, shown, spread(obtained, error, digits), f"± {allowed:.{digits}f}", verdict, source="theory")


def says(claim: str, printed: str, obtained: str, true: bool | None, tolerance: str, *, source: str = "paper") -> Check:
    """Check a sentence; `tolerance` describes what counts as true, and None that the times measured do not tell.

    `printed` quotes the paper. If the sentence is not the paper's, `source` says so.
    """
    note = NOT_MEASURED if true is None else ""
    return Check(claim, printed, obtained, tolerance, _verdict(true, HOLDS), note, source)


def corrected(
    claim: str,
    printed: str,
    obtained: str,
    true: bool | None,
    tolerance: str,
    *,
    erratum: str,
    how: str = "wrong in print",
) -> Check:
    """Check the corrected form of a statement; `erratum` is its place in docs/errata.md, `how` describes the error."""
    note = NOT_MEASURED if true is None else f"{how}: errata, {erratum}"
    return Check(claim, printed, obtained, tolerance, _verdict(true, ERRATUM), note)


def stated(claim: str, obtained: str, note: str = "") -> Check:
    """State a number that the paper does not give."""
    return Check(claim, "", obtained, "", STATED, note, source="ours")


def unchecked(claim: str, printed: str, why: str, *, source: str = "paper") -> Check:
    """Record that a claim was not checked, and why."""
    return Check(claim, printed, "", "", UNCHECKED, why, source=source)


def spread(value: float, error: float, digits: int = 4) -> str:
    """Return a number with its standard error in brackets, as the paper writes them."""
    return f"{value:.{digits}f} ({error:.{digits}f})" if error else f"{value:.{digits}f}"


def _verdict(true: bool | None, verdict: str) -> str:
    return UNCHECKED if true is None else verdict if true else DIFFERS


def _half_a_unit(printed: str) -> float:
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])
