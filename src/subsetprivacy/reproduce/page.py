"""The page of all results: each claim with the printed and obtained number, its tolerance, verdict and time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from subsetprivacy.reproduce import registry
from subsetprivacy.reproduce.checks import VERDICTS, Check
from subsetprivacy.reproduce.store import Record, atomic_path, read_all

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --dim: #595959; --good: #00734d;
  --warn: #9a5b00; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --dim: #a8a8a8; --good: #4cc38a; --warn: #f0a94a; --bad: #ff8a80; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
.wide { overflow-x: auto; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { background: var(--soft); }
figure { margin: 1rem 0; background: #fff; padding: .5rem; border-radius: .3rem; }
figure img { max-width: 100%; height: auto; display: block; margin: auto; }
small, .how { color: var(--dim); }
.verdict { white-space: nowrap; font-weight: 600; }
.holds { color: var(--good); } .erratum { color: var(--warn); } .differs { color: var(--bad); }
""".strip()

SOURCES = {"paper": "Claims of the paper", "theory": "what its theory implies", "ours": "ours"}
MARKS = {"holds": "✓", "erratum": "✎", "stated": "·", "not checked": "–", "differs": "✗"}


def write_page(folder: Path) -> Path:
    """Write ``index.html`` from the records in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / "index.html") as part:
        part.write_text(page(read_all(folder)), encoding="utf-8")
    return folder / "index.html"


def page(records: Sequence[Record]) -> str:
    """Return the whole page as HTML. The figures are separate files in the same folder."""
    parts = "\n".join(section(record) for record in records)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Subset privacy: the paper, reproduced</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
        "<h1>Subset privacy: the paper, reproduced</h1>\n"
        "<p>Every table and figure of Wang and Ding, <cite>Subset Privacy: Draw from an Obfuscated Urn</cite>: the "
        "printed numbers, compared with what this package obtains.</p>\n"
        f"{summary(records)}\n{parts}\n</body>\n</html>\n"
    )


def summary(records: Sequence[Record]) -> str:
    """Return the table of experiments with their verdicts, and an explanation of the verdicts."""
    done = {record.label: record for record in records}
    rows = "".join(_overview(done[label]) if label in done else _missing(label) for label in registry.LABELS)
    sums = "; ".join(filter(None, (_sums(records, source, words) for source, words in SOURCES.items())))
    return (
        f"<p>{sums or 'Nothing yet'}. <span class='how'>A published number ✓ holds if it is within three Monte Carlo "
        "standard errors, combined for both sides, plus half a unit of its last digit. A sentence holds by the "
        "tolerance in its row. An ✎ erratum is wrong in print, and the result agrees with the errata. A number that "
        "the paper does not give is · stated. A claim that needs something not installed, or that compares times "
        "which vary too much on this machine, is – not checked. Anything else ✗ differs, and the command fails."
        "</span></p>\n"
        '<div class="wide"><table><thead><tr><th>label</th><th>what</th><th>claims</th><th>time</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _sums(records: Sequence[Record], source: str, words: str) -> str:
    """Count the verdicts of one source, so that the paper's claims are not mixed with ours."""
    total = Counter(check.verdict for record in records for check in record.checks if check.source == source)
    counted = ", ".join(f"{total[verdict]} {_word(verdict)}" for verdict in VERDICTS if total[verdict])
    return f"{words}: {counted}" if counted else ""


def section(record: Record) -> str:
    """Return one experiment as HTML, with its heading."""
    title = f"{escape(registry.load(record.label).title)} <small><code>{escape(record.label)}</code></small>"
    return f'<section id="{record.stem}">\n<h2>{title}</h2>\n{body(record)}\n</section>'


def body(record: Record, files: str = "") -> str:
    """Return the content below the heading. `files` is a prefix for the names of its files."""
    experiment = registry.load(record.label)
    paragraphs = "".join(f"<p>{_prose(' '.join(text.split()))}</p>\n" for text in experiment.about.split("\n\n"))
    rows = "".join(_row(check) for check in record.checks)
    how = [f"{record.replications} replications" if record.replications > 1 else "", f"seed {record.settings.seed}"]
    how += [
        _duration(record.seconds),
        "short form" if record.settings.quick else "",
        f"version {record.settings.version}",
    ]
    return (
        f'{paragraphs}<figure><img src="{files}{record.stem}.svg" alt="{escape(experiment.title)}" loading="lazy">'
        "</figure>\n"
        '<div class="wide"><table><thead><tr><th>claim</th><th>printed</th><th>obtained</th><th>tolerance</th>'
        f"<th>verdict</th></tr></thead><tbody>\n{rows}</tbody></table></div>\n"
        f'<p class="how">{escape(", ".join(filter(None, how)))}. <a href="{files}{record.stem}.csv">numbers (CSV)</a>, '
        f'<a href="{files}{record.stem}.svg">figure (SVG)</a>.</p>'
    )


def _overview(record: Record) -> str:
    label, title = escape(record.label), escape(registry.load(record.label).title)
    return (
        f'<tr><td><a href="#{record.stem}"><code>{label}</code></a></td><td>{title}</td>'
        f"<td>{_tally(record)}</td><td>{_duration(record.seconds)}</td></tr>\n"
    )


def _missing(label: str) -> str:
    title = escape(registry.load(label).title)
    return f"<tr><td><code>{escape(label)}</code></td><td>{title}</td><td>not run</td><td></td></tr>\n"


def _row(check: Check) -> str:
    note = f"<br><small>{_prose(check.note)}</small>" if check.note else ""
    printed = _prose(check.printed) if check.source == "paper" else f"<em>{check.source}</em> {_prose(check.printed)}"
    cells = "".join(f"<td>{cell}</td>" for cell in (printed, _prose(check.obtained), _prose(check.tolerance)))
    return f"<tr><td>{_prose(check.claim)}{note}</td>{cells}<td>{_mark(check.verdict)}</td></tr>\n"


def _prose(text: str) -> str:
    """Return text as HTML, with names in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _mark(verdict: str) -> str:
    return f'<span class="verdict {verdict.split()[0]}">{MARKS[verdict]} {verdict}</span>'


def _tally(record: Record) -> str:
    return " ".join(
        f'<span class="verdict {verdict.split()[0]}">{MARKS[verdict]}&nbsp;{many}</span>'
        for verdict, many in record.tally().items()
    )


def _word(verdict: str) -> str:
    return {"erratum": "errata", "differs": "differ", "holds": "hold", "stated": "stated"}.get(verdict, verdict)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 90 else f"{seconds:.1f} s"
