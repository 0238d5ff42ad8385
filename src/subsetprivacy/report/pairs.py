"""What is said of two variables, and of a whole row."""

from collections.abc import Sequence

import numpy as np

from subsetprivacy._types import FloatArray, IntArray, Label
from subsetprivacy.auditing import TableAudit
from subsetprivacy.pvalues import p_equals, pvalue_text
from subsetprivacy.report.crossing import Pair, Together
from subsetprivacy.report.markup import Html, bullets, el, lines, table, with_range
from subsetprivacy.report.wording import bits, count_of, fine_share, label_text, note_text, share, whole
from subsetprivacy.tables import number, percent

MOST_SIDE = 12  # rows or columns of a joint table
_BASES = {
    "exact": "looked up among all tables with the same margins",
    "permutation": "counted among random tables with the same margins",
    "bootstrap": "counted among tables simulated under independence",
    "asymptotic": "that of the limit law for large samples",
}


def pair_section(pair: Pair, order: int, level: float) -> Html:
    """Return the section of two variables."""
    one, two = pair.names
    parts: list[Html] = [el("h3", f"{one} and {two}")]
    if pair.inside:
        parts.append(el("p", f"Both are in the column {pair.inside}."))
    if pair.problem or pair.shares is None:
        parts.append(el("p", f"Nothing is said of these two: {pair.problem}"))
        return el("section", "\n", lines(parts), "\n", id=f"pair-{order}")
    if pair.test is not None:
        parts.append(_verdict(pair, level))
    parts += [_facts(pair, level), _heat(pair), bullets([note_text(note) for note in pair.notes], class_="notes")]
    return el("section", "\n", lines(parts), "\n", id=f"pair-{order}")


def _verdict(pair: Pair, level: float) -> Html:
    """Say what the test found, in a sentence that promises no more than it."""
    test = pair.test
    assert test is not None
    one, two = pair.names
    value = test.pvalue
    if value <= 1 - level:
        found = f"“{one}” and “{two}” go together: if they were independent, such a result would be rare"
    else:
        found = f"No dependence of “{one}” and “{two}” was found, which does not prove that there is none"
    return el("p", found, f" ({_p_equals(value)}).", class_="lead")


def _p_equals(value: float) -> str:
    return p_equals(value).replace(" ", "\N{NO-BREAK SPACE}")


def _facts(pair: Pair, level: float) -> Html:
    rows = []
    if (test := pair.test) is not None:
        error = f", Monte-Carlo standard error {number(test.pvalue_se)}" if test.pvalue_se > 0 else ""
        drawn = f" ({whole(test.permutations)})" if test.permutations else ""
        rows += [
            (
                "p-value",
                pvalue_text(test.pvalue),
                f"The chance of a statistic at least as large if the two were independent, {_BASES[test.null]}"
                f"{drawn}{error}.",
            ),
            (
                "Statistic",
                number(test.statistic, 2),
                f"Likelihood ratio, {count_of(test.df, 'degree', 'degrees')} of freedom, "
                f"{count_of(test.n, 'complete row', 'complete rows')}.",
            ),
        ]
    if (measure := pair.measure) is not None:
        rows.append(
            (
                "Cramér’s V",
                with_range(number(measure.value, 3), f"{number(measure.lower, 3)} to {number(measure.upper, 3)}"),
                f"How strongly they go together, with its {percent(level)} interval: 0 if independent, 1 if one "
                "decides the other.",
            )
        )
    if not rows:
        return Html()
    return table(
        f"{pair.names[0]} and {pair.names[1]}: do they go together?",
        ("Measure", "Value", "In plain words"),
        rows,
        words=(2,),
        look="explained",
    )


def _heat(pair: Pair) -> Html:
    """Return the joint shares as a coloured table: the numbers are there for all, the colours for a glance."""
    shares = pair.shares
    assert shares is not None
    rows, columns = _largest(shares.sum(axis=1)), _largest(shares.sum(axis=0))
    one, two = pair.names
    top = float(shares[np.ix_(rows, columns)].max(initial=0.0)) or 1.0
    body = [
        (
            label_text(pair.rows[i]),
            *(_cell(float(shares[i, j]), top) for j in columns),
            share(float(shares[i].sum())),
        )
        for i in rows
    ]
    body.append(("All", *(share(float(shares[:, j].sum())) for j in columns), share(float(shares.sum()))))
    caption = (
        f"Estimated joint shares, in percent of all people: {one} (rows) by {two} (columns). More colour, more people."
    )
    head = (f"{one} \\ {two}", *(label_text(pair.columns[j]) for j in columns), "All")
    return lines([table(caption, head, body, look="heat"), _cut(pair, rows, columns)])


def _cut(pair: Pair, rows: IntArray, columns: IntArray) -> Html:
    sides: Sequence[tuple[str, tuple[Label, ...], IntArray]] = (
        (pair.names[0], pair.rows, rows),
        (pair.names[1], pair.columns, columns),
    )
    said = [
        f"the {len(kept)} largest of {whole(len(held))} in {name}"
        for name, held, kept in sides
        if len(kept) < len(held)
    ]
    return el("p", f"Shown are {' and '.join(said)}; “All” counts all.", class_="notes") if said else Html()


def _largest(margin: FloatArray) -> IntArray:
    """Return the positions that are shown, in their order."""
    return np.sort(np.argsort(-margin, kind="stable")[:MOST_SIDE])


def _cell(value: float, top: float) -> Html:
    return el("td", share(value), style=f"--t:{max(value, 0.0) / top:.3f}")


def together_section(whole_row: Together) -> Html:
    """Return what all columns of one person give away together."""
    parts: list[Html] = [
        el("h2", "What the columns give away together"),
        el(
            "p",
            "Each row has several subsets of the same person. What they tell adds up, and where variables go together "
            "an answer to one also tells of the others.",
        ),
    ]
    if whole_row.twice:
        names = ", ".join(whole_row.twice)
        parts.append(
            el(
                "p",
                f"In more than one column: {names}. Two independent draws of the same variable intersect, and can "
                "leave a single value.",
                class_="warning",
            )
        )
    if whole_row.audit is None:
        parts.append(el("p", f"This could not be worked out: {whole_row.problem}"))
    else:
        parts += _totals(whole_row.audit)
    return el("section", "\n", lines(parts), "\n", id="together")


def _totals(found: TableAudit) -> list[Html]:
    total = found.totals()
    known = found.joint is not None
    facts = {" x ".join(names): part.to_dict() for names, part in found.parts.items()}
    keys = ("mi_leakage", "maximal_leakage", "prediction_leakage", "prediction_baseline", "smallest_set")
    rows = [_total_row(name, [one[key] for key in (*keys, "largest_posterior")], "") for name, one in facts.items()]
    most = "" if known else "at most "
    rows.append(_total_row("All together", [total[key] for key in (*keys, "largest_posterior")], most))
    head = (
        "Column",
        "Information",
        "Maximal leakage",
        "Best guess is right",
        "Without data",
        "Smallest set",
        "Largest posterior",
    )
    return [table("What one person’s row gives away", head, rows), el("p", _in_words(found, total))]


def _total_row(name: str, numbers: Sequence[float], most: str) -> tuple[str, ...]:
    information, maximal, guess, without, smallest, posterior = numbers
    return (
        name,
        f"{most}{bits(information)}",
        bits(maximal),
        f"{most}{share(guess)}",
        share(without),
        whole(smallest),
        fine_share(posterior) if not most or posterior < 1 else "up to 100%",
    )


def _in_words(found: TableAudit, total: dict[str, float]) -> str:
    text = (
        f"All answers of one person leave at least {whole(total['smallest_set'])} of the "
        f"{whole(total['combinations'])} combinations possible, and multiply the chance to guess right, whatever is "
        f"guessed, by at most {2 ** total['maximal_leakage']:.3g} on average. “Best guess” of all together means: "
        "all columns right at once."
    )
    if found.joint is None:
        return (
            f"{text} There are too many combinations to estimate how the columns go together, so the last line says "
            "what holds in the worst case."
        )
    if total["largest_posterior"] == 1 and total["smallest_set"] > 1:
        text += (
            " The largest posterior is 100% because some combinations are estimated as 0, so that a "
            "row seems to leave one only; no row names a single combination."
        )
    each = ", ".join(f"{name} {share(chance)}" for name, chance in found.guesses.items())
    return f"{text} From all answers together, single columns are guessed right so often: {each}."
