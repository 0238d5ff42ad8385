"""What all columns of one person reveal together, if they are kept row by row."""

from collections.abc import Mapping, Sequence
from math import isfinite

from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.auditing import Audit, TableAudit, audit
from subsetprivacy.design import Design, Product
from subsetprivacy.errors import CodeError, DataFileError, SubsetPrivacyError
from subsetprivacy.finding.captured_warnings import capture_warnings
from subsetprivacy.finding.pairs import crossed, flat, variables
from subsetprivacy.finding.sources import FindingsSource
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.messages import Note, NoteKind


@frozen
class RowLeakage:
    """What one column, or all columns together, reveal.

    Attributes
    ----------
    information, maximal_bits
        Bits of mutual information and of maximal leakage.
    guess, baseline
        How often the best guess is right, with and without the reports.
    """

    information: float
    maximal_bits: float
    guess: float
    baseline: float
    smallest_set: int
    largest_posterior: float


@frozen
class CandidateRows:
    """How many rows fit a person whose values in all columns are known.

    Attributes
    ----------
    expected
        On average over the people, if the columns were independent.
    least
        For the person whose values fit the fewest rows.
    """

    expected: float
    least: float


@frozen(eq=False)
class RowFindings:
    """What a row of several columns reveals about a person.

    Attributes
    ----------
    names
        The columns that are kept row by row.
    twice
        Variables that are in more than one of them, whose independent draws together can narrow down a value.
    parts
        What each column reveals alone, by name.
    together
        What they reveal together. None if that is unknown, and `problem` says why.
    joint_known
        Whether `together` uses the estimated joint shares. Otherwise it is the worst case.
    combinations
        How many combinations of categories there are.
    guesses
        How often each variable is guessed right from all reports together, where the joint shares are known.
    candidates
        How many rows fit the values of a person.
    """

    names: tuple[str, ...]
    twice: tuple[str, ...] = ()
    parts: dict[str, RowLeakage] | None = None
    together: RowLeakage | None = None
    joint_known: bool = False
    combinations: int | None = None
    guesses: dict[str, float] | None = None
    candidates: CandidateRows | None = None
    problem: Note | None = None


def row_findings(
    source: FindingsSource, names: Sequence[str], audits: Mapping[str, Audit | None], n: float, level: float
) -> RowFindings:
    """Audit several columns as one row.

    Parameters
    ----------
    audits
        The audit of each column alone, or None.
    n
        The number of people.
    """
    every = [name for column in names for name in variables(column, source.designs[column])]
    twice = tuple(sorted({name for name in every if every.count(name) > 1}))
    with capture_warnings():
        try:
            audit = _joint_audit(source, names, audits, level)
        except (CodeError, DataFileError):
            raise
        except SubsetPrivacyError as error:
            return RowFindings(tuple(names), twice, problem=problem_of(error, NoteKind.NOT_IDENTIFIABLE))
    shares = {name: column.setting.w for name, column in audits.items() if column is not None}
    return RowFindings(
        tuple(names),
        twice,
        {" x ".join(key): _leakage(part.facts()) for key, part in audit.parts.items()},
        _leakage(audit.totals()),
        audit.joint is not None,
        int(audit.totals()["combinations"]),
        audit.guesses or None,
        _candidates({name: source.designs[name] for name in names}, shares, n),
    )


def _leakage(facts: Mapping[str, float]) -> RowLeakage:
    keys = ("mi_leakage", "maximal_leakage", "prediction_leakage", "prediction_baseline")
    information, maximal, guess, baseline = (facts[key] for key in keys)
    smallest, posterior = int(facts["smallest_set"]), facts["largest_posterior"]
    return RowLeakage(information, maximal, guess, baseline, smallest, posterior)


def _joint_audit(
    source: FindingsSource, names: Sequence[str], audits: Mapping[str, Audit | None], level: float
) -> TableAudit:
    """Audit at the joint shares if they can be estimated, otherwise each column alone and the worst joint shares."""
    if any(audits[name] is None for name in names):
        raise SubsetPrivacyError("Not every column has a separate audit.")
    designs = {name: source.designs[name] for name in names}
    if any(design.product or design.covered for design in designs.values()):
        raise SubsetPrivacyError("Columns with dummy rows, or with several answers in one, cannot be put together.")
    try:
        return audit(crossed(source, names), level=level)
    except (CodeError, DataFileError):
        raise
    except SubsetPrivacyError:
        known = {name: audit.setting.w for name, audit in audits.items() if audit is not None}
        factors: Mapping[tuple[str, ...], Design] = {(name,): flat(design) for name, design in designs.items()}
        return audit(Product.of(factors), known)


def _candidates(designs: Mapping[str, Design], shares: Mapping[str, FloatArray], n: float) -> CandidateRows:
    """Return how many rows fit a person's values. Reports that rule nothing out leave all rows possible."""
    expected = least = float(n)
    for name, design in designs.items():
        if isfinite(design.epsilon):
            continue
        fitting = design.apply_Q(shares[name])  # P(a row contains value j)
        expected *= float(shares[name] @ fitting)
        least *= float(fitting.min())
    return CandidateRows(expected, least)
