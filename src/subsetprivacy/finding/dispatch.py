"""`findings`: everything that a data set shows, as numbers and notes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from subsetprivacy._checks import shown
from subsetprivacy._types import Seed
from subsetprivacy.data import QuestionCounts
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.finding.result import Findings
from subsetprivacy.finding.settings import BUDGET, LEVEL, PERMUTATIONS, FindingsSettings, seal_of
from subsetprivacy.finding.sources import FindingsSource, chosen, content_seal, source_of
from subsetprivacy.honesty.alarms import CHANCE
from subsetprivacy.messages.for_general import GROUPS_OF_A_FILE


def findings(
    what: Any,
    *,
    columns: str | Sequence[str] | None = None,
    level: float = LEVEL,
    pairs: bool | Sequence[Sequence[str]] = True,
    questions: QuestionCounts | Mapping[str, QuestionCounts] | None = None,
    earlier: Any = None,
    by: str | Sequence[str] | None = None,
    tests: bool = True,
    chance: float = CHANCE,
    permutations: int = PERMUTATIONS,
    budget: float | None = BUDGET,
    seed: Seed | str | None = None,
) -> Findings:
    """Find everything that a data set of subsets shows: shares, differences, privacy, checks, tables and tests.

    The result contains numbers and notes. `write_report` makes a page of it, ``subsetprivacy check`` and
    ``subsetprivacy report`` print it, and the survey server shows it. Each part is computed when it is first used.
    `Findings.compute` computes all parts, with progress.

    Parameters
    ----------
    what
        A release (`read_release`), counts, data, a table of subsets, a mapping of column names to counts, or a list of
        releases with different columns.
    columns
        The columns to use. By default all.
    level
        The confidence level of the intervals.
    pairs
        Which columns to compare: True for all that are kept row by row (at most 66 pairs), False for none, or a list
        of pairs of names.
    questions
        How the questions were asked and answered (`QuestionCounts`), by column, for the checks of skips and leaning.
    earlier
        An earlier wave of other people, like `what` or as findings. Every share is compared with it.
    by
        Unprotected columns of a release, to estimate shares by group.
    tests
        Whether to test pairs of columns for independence.
    chance
        The maximum probability that honest people raise any alarm, in all checks of all columns together.
    permutations
        The maximum number of random tables for each test of two columns. 0 for asymptotic distributions.
    budget
        The time limit for all random samples and tables, in seconds on a typical machine. None for no limit. The same
        samples are drawn on every machine.
    seed
        For random samples and tables: a number, a NumPy generator, or a text such as the seal of a survey's release.
        By default the counts determine them, so that the same counts always give the same findings.

    Raises
    ------
    ArgumentError
        If a column does not exist, or another argument is out of range.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> counts = simulate(uniform(list("abcde")), [0.4, 0.3, 0.15, 0.1, 0.05], 5000, seed=1)
    >>> result = findings(counts)
    >>> result["data"].shares.estimate.round(2).tolist()
    [0.41, 0.3, 0.14, 0.09, 0.05]
    >>> result.alarms, result.to_dict()["variables"][0]["privacy"]["smallest_set"]
    (0, 2)
    """
    source = source_of(what)
    names = tuple(chosen(source, columns))
    asked = _questions(what, questions, names)
    for name, counts in asked.items():
        if counts.design != source.designs[name]:
            raise MismatchError(f"`questions` must have the design of the data; those of {name!r} have another one.")
    before = (
        earlier if earlier is None or isinstance(earlier, Findings) else findings(earlier, level=level, pairs=False)
    )
    if before is not None and not set(names) & set(before.names):
        raise ArgumentError(
            f"`earlier` must have a column of {', '.join(names)}; it has {', '.join(before.names)}, and none can be "
            "compared."
        )
    groups = _groups(source, by)
    seal = seal_of(seed) or getattr(source, "seal", None)
    settings = FindingsSettings.checked(level, chance, permutations, budget, partial(_seal, source, names, seal))
    wanted = _pairs(pairs, names)
    return Findings(source, settings, names, bool(tests), wanted, asked, before, groups)


def _groups(source: FindingsSource, by: Any) -> tuple[str, ...]:
    groups = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    if groups and not hasattr(source, "path"):
        raise ArgumentError(
            "`by` must be given with a release, whose file has the groups; got counts.", GROUPS_OF_A_FILE
        )
    absent = [name for name in groups if name not in source.kept]
    if absent:
        kept = ", ".join(source.kept) or "none"
        raise ArgumentError(f"`by` must name columns that are kept as they are ({kept}); got {shown(absent[0])}.")
    return groups


def _seal(source: FindingsSource, names: Sequence[str], seal: str | None) -> str:
    """Return the text that determines all random numbers: the given one, or one computed from the counts."""
    return content_seal({name: source.count(name) for name in names}) if seal is None else seal


def _questions(what: Any, questions: Any, names: tuple[str, ...]) -> dict[str, QuestionCounts]:
    if questions is None:
        questions = getattr(what, "questions", None)
        if isinstance(what, QuestionCounts):
            return {names[0]: what}
        return (
            {name: counts for name, counts in questions.items() if name in names}
            if isinstance(questions, Mapping)
            else {}
        )
    if isinstance(questions, QuestionCounts):
        if len(names) > 1:
            raise ArgumentError("`questions` must be a mapping of columns to question counts; got one of several.")
        return {names[0]: questions}
    absent = [name for name in questions if name not in names]
    if absent:
        raise ArgumentError(f"`questions` must name columns of {', '.join(names)}; got {shown(absent[0])}.")
    return dict(questions)


def _pairs(pairs: Any, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...] | None:
    if pairs is True:
        return None
    if pairs is False:
        return ()
    wanted = tuple((pair,) if isinstance(pair, str) else tuple(pair) for pair in pairs)
    if not all(len(set(pair)) == len(pair) <= 2 and set(pair) <= set(names) for pair in wanted):
        raise ArgumentError(f"`pairs` must be True, False, or pairs of {', '.join(names)}; got something else.")
    return wanted
