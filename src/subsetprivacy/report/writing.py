"""`report_html` and `write_report`: one page about a release."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from subsetprivacy._choices import Language
from subsetprivacy._paths import local_path
from subsetprivacy._seeds import seed_number
from subsetprivacy._types import Seed
from subsetprivacy.data import QuestionCounts
from subsetprivacy.errors import DataFileError
from subsetprivacy.finding import Findings, findings
from subsetprivacy.finding.settings import BUDGET, LEVEL, PERMUTATIONS
from subsetprivacy.messages.for_files import REPLACE_OUTPUT
from subsetprivacy.presenting.words import words_of
from subsetprivacy.report.page import ReportPage
from subsetprivacy.report.recipes import Recipe


def report_html(
    release: Any,
    *,
    columns: str | Sequence[str] | None = None,
    level: float = LEVEL,
    tests: bool = True,
    questions: QuestionCounts | Mapping[str, QuestionCounts] | None = None,
    earlier: Any = None,
    by: str | Sequence[str] | None = None,
    title: str | None = None,
    language: Language = "en",
    permutations: int = PERMUTATIONS,
    budget: float | None = BUDGET,
    seed: Seed | None = None,
    date: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """Return an HTML page about a release of subsets, for any reader.

    It shows estimates with intervals, checks of the data, what each column and a whole row reveal, which columns are
    related, the designs, and how to compute every number again. The page is one HTML text that needs no network and no
    JavaScript. It prints on A4 and on letter paper.

    Parameters
    ----------
    release
        The result of `read_release`, counts, or anything else that `findings` accepts. If you pass `Findings`, omit the
        arguments of `findings`.
    columns, level, tests, questions, earlier, by, permutations, budget, seed
        As in `findings`.
    title
        The heading. By default the name of the file that was read.
    language
        The language of the page: ``"en"``, ``"de"`` or ``"ar"``. Caveats without a translation are in English.
    date
        A date to print. By default none.
    progress
        Called with the number of finished steps and the total.

    Raises
    ------
    ArgumentError
        If a column is not in the release, or another argument is out of range.

    Notes
    -----
    If something cannot be estimated or tested, the page says so. Warnings of the library appear as sentences on the
    page. The same release and arguments give the same page.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> counts = simulate(uniform(["black", "red", "green", "blue"]), [0.1, 0.2, 0.3, 0.4], 1000, seed=1)
    >>> text = report_html({"color": counts}, title="The urn")
    >>> text.count("<h1>The urn</h1>"), "<script" in text
    (1, False)
    """
    words = words_of(language)
    seed = seed_number(seed)
    if isinstance(release, Findings):
        computed = release
    else:
        computed = findings(
            release,
            columns=columns,
            level=level,
            tests=tests,
            questions=questions,
            earlier=earlier,
            by=by,
            permutations=permutations,
            budget=budget,
            seed=seed,
        )
    computed.compute(progress)
    recipe = Recipe(
        computed.title,
        () if columns is None else computed.names,
        computed.level,
        computed.tested,
        computed.settings.permutations,
        computed.settings.budget,
        seed,
        computed.by,
        "" if computed.earlier is None else computed.earlier.title,
    )
    return ReportPage(computed, words, recipe, _version(), title, None if date is None else str(date)).html()


def write_report(
    release: Any,
    path: str | Path,
    *,
    columns: str | Sequence[str] | None = None,
    level: float = LEVEL,
    tests: bool = True,
    questions: QuestionCounts | Mapping[str, QuestionCounts] | None = None,
    earlier: Any = None,
    by: str | Sequence[str] | None = None,
    title: str | None = None,
    language: Language = "en",
    permutations: int = PERMUTATIONS,
    budget: float | None = BUDGET,
    seed: Seed | None = None,
    date: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write an HTML page about a release of subsets, for any reader, and return its path.

    The page shows estimates with intervals, checks of the data, what each column and a whole row reveal, which columns
    are related, the designs, and how to compute every number again. It is a single file that needs no network and no
    JavaScript.

    Parameters
    ----------
    release
        The result of `read_release`, counts, or anything else that `findings` accepts. If you pass `Findings`, omit the
        arguments of `findings`.
    path
        The HTML file to write. It is written under another name and renamed when it is complete.
    columns, level, tests, questions, earlier, by, permutations, budget, seed
        As in `findings`.
    title
        The heading. By default the name of the file that was read.
    language
        The language of the page: ``"en"`` (default), ``"de"`` or ``"ar"``. Caveats without a translation are in
        English.
    date
        A date to print. By default none.
    overwrite
        Whether to replace an existing file.
    progress
        Called with the number of finished steps and the total.

    Raises
    ------
    DataFileError
        If the file exists already, or cannot be written.
    ArgumentError
        If a column is not in the release, or another argument is out of range.

    Notes
    -----
    The same release and arguments give the same page.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from subsetprivacy.design import uniform
    >>> from subsetprivacy.mechanism.simulate import simulate
    >>> counts = simulate(uniform(["black", "red", "green", "blue"]), [0.1, 0.2, 0.3, 0.4], 1000, seed=1)
    >>> with TemporaryDirectory() as folder:
    ...     write_report({"color": counts}, Path(folder) / "report.html", title="The urn").name
    'report.html'
    """
    target = require_target(path, overwrite=overwrite)
    text = report_html(
        release,
        columns=columns,
        level=level,
        tests=tests,
        questions=questions,
        earlier=earlier,
        by=by,
        title=title,
        language=language,
        permutations=permutations,
        budget=budget,
        seed=seed,
        date=date,
        progress=progress,
    )
    _replace(target, text)
    return target


def require_target(path: str | Path, *, overwrite: bool) -> Path:
    """Return the path of a file that can be written.

    Raises
    ------
    DataFileError
        If it exists already and may not be replaced, or its folder does not exist.
    """
    target = local_path(path)
    if target.exists() and not overwrite:
        raise DataFileError(f"`path` must be a new file; got {str(target)!r}, which exists.", REPLACE_OUTPUT)
    if not target.parent.is_dir():
        raise DataFileError(f"`path` must be in a folder that exists; got {str(target)!r}.")
    return target


def _replace(target: Path, text: str) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        part.write_bytes(text.encode("utf-8"))
        part.replace(target)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DataFileError(f"`path` must be a file that can be written; got {str(target)!r}: {reason}.") from None
    finally:
        part.unlink(missing_ok=True)


def _version() -> str:
    from subsetprivacy import __version__  # when it is called: the facade is loaded by then

    return __version__
