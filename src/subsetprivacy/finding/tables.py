"""Three or more columns together: which of them are linked directly, and not only through the others."""

import warnings
from itertools import combinations
from math import isfinite

from attrs import evolve, frozen

from subsetprivacy.contingency import LogLinear, loglinear
from subsetprivacy.contingency.caveats import warning_notes
from subsetprivacy.contingency.generators import ALL_PAIRS, bracketed, generators_of
from subsetprivacy.data import JointCounts
from subsetprivacy.errors import CodeError, DataFileError, SubsetPrivacyError, SubsetPrivacyWarning, TooLargeError
from subsetprivacy.finding.captured_warnings import distinct
from subsetprivacy.finding.pairs import crossed
from subsetprivacy.finding.sources import FindingsSource
from subsetprivacy.honesty.data_check import problem_of
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.regression.model_tests import ModelTests

MOST_COLUMNS = 6
MOST_CELLS = 1024  # combinations of categories
HEAVY = 2e8  # squared parameters times distinct rows, beyond which a fit takes seconds
_FIGURES = 5  # digits of p-values: a fit on the boundary agrees to this many on every processor


@frozen
class LinkTest:
    """A likelihood ratio test of a log-linear model.

    Attributes
    ----------
    statistic, df, pvalue
        Twice the difference of the log-likelihoods, its degrees of freedom, and the asymptotic p-value.
    rejects
        Whether the p-value is small enough to count.
    """

    statistic: float
    df: int
    pvalue: float
    rejects: bool


@frozen
class DirectLink:
    """Whether two columns are related among people who are alike in all other columns.

    Attributes
    ----------
    names
        The two columns.
    test
        The test of the model without their interaction. `rejects` allows for the number of pairs.
    """

    names: tuple[str, str]
    test: LinkTest


@frozen(eq=False)
class TableFindings:
    """Findings about three or more columns together.

    Attributes
    ----------
    names
        The columns, which are kept row by row.
    n, incomplete
        People who reported all of them, and the others.
    links
        A test for each pair. Empty if there are no findings.
    alpha
        The p-value below which a link counts, which allows for their number (Bonferroni).
    model
        The log-linear model with the links that were found, in brackets.
    pairs_suffice
        The test of all pairs against the table of all combinations: whether the relation of two columns depends on a
        third. None if it was not run.
    problem
        Why there are no findings.
    """

    names: tuple[str, ...]
    n: float = 0.0
    incomplete: float = 0.0
    links: tuple[DirectLink, ...] = ()
    alpha: float | None = None
    model: str = ""
    pairs_suffice: LinkTest | None = None
    notes: tuple[Note, ...] = ()
    problem: Note | None = None


def table_findings(source: FindingsSource, names: tuple[str, ...], level: float) -> TableFindings:
    """Test which of several columns are linked directly.

    Parameters
    ----------
    names
        Three or more columns that are kept row by row.
    level
        The confidence level.
    """
    table = TableFindings(names)
    try:
        if len(names) > MOST_COLUMNS:
            raise TooLargeError(f"There are more than {MOST_COLUMNS} columns, too many for one table.")
        counts = crossed(source, names)
        table = evolve(table, n=float(counts.n), incomplete=float(counts.n_missing))
        return _analyzed(counts, table, level)
    except (CodeError, DataFileError):
        raise  # a broken file has no findings
    except SubsetPrivacyError as error:
        return evolve(table, problem=problem_of(error, NoteKind.NOT_TESTED))


def _analyzed(counts: JointCounts, table: TableFindings, level: float) -> TableFindings:
    if counts.categories.p > MOST_CELLS:
        raise TooLargeError("There are too many combinations of categories for one table.")
    size = _parameters([design.p for design in counts.design.factors])
    if size**2 * len(counts.observed_codes) > HEAVY:
        raise TooLargeError("There are too many combinations of subsets for one table.")
    if counts.squares is not None:
        return evolve(table, problem=Note(NoteKind.NOT_TESTED, "People with sampling weights are not tested here."))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubsetPrivacyWarning)  # they are in the notes
        fit = loglinear(counts, ALL_PAIRS)
        tests = fit.test()
    if not fit.converged:
        return evolve(table, problem=Note(NoteKind.NOT_CONVERGED, "The model of all pairs could not be fitted."))
    alpha = (1 - level) / len(tests.names)
    pairs = [(first, second) for first, second in fit.generators]  # in the order of the tests
    links = tuple(DirectLink(pair, _plain(tests, k, alpha)) for k, pair in enumerate(pairs))
    linked = [link.names for link in links if link.test.rejects]
    single = [(name,) for name in table.names]
    return evolve(
        table,
        links=links,
        alpha=alpha,
        model=bracketed(generators_of((*linked, *single), table.names)),
        pairs_suffice=_of_fit(fit, level),
        notes=distinct([note.with_advice(None) for note in (*warning_notes(fit), *tests.notes)]),
    )


def _parameters(sizes: list[int]) -> int:
    """Return how many parameters the model of all pairs has."""
    degrees = [size - 1 for size in sizes]
    return sum(degrees) + sum(a * b for a, b in combinations(degrees, 2))


def _of_fit(fit: LogLinear, level: float) -> LinkTest | None:
    test = fit.goodness_of_fit
    return _plain(test, 0, 1 - level) if isfinite(float(test.pvalue[0])) else None


def _plain(tests: ModelTests, k: int, alpha: float) -> LinkTest:
    pvalue = float(f"{tests.pvalue[k]:.{_FIGURES}g}")
    return LinkTest(round(float(tests.statistic[k]), 4), int(tests.df[k]), pvalue, pvalue < alpha)
