"""Results as plain data, for JSON: the same bytes for the same release."""

import json
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import fields, has

from subsetprivacy.collect.service.results_alarms import CHANCE
from subsetprivacy.collect.service.results_draws import DrawsCheck
from subsetprivacy.collect.service.results_pairs import PairResult
from subsetprivacy.collect.service.results_variable import VariableResult
from subsetprivacy.messages import Note

if TYPE_CHECKING:
    from subsetprivacy.collect.service.results import GroupResult, Results

FORMAT = "subsetprivacy.results"
VERSION = 1
_FIGURES = 10  # what is beyond may differ between processors


def results_document(results: "Results") -> dict[str, Any]:
    """Return results as plain data: dicts, lists, text, numbers and None, without NaN or infinity.

    Parameters
    ----------
    results
        What `results` returned.

    Notes
    -----
    The shape, with every key present always (None where something is not to be had)::

        format, version           "subsetprivacy.results", 1
        survey                    id, fingerprint, title, study, mode, version, state ("open" or "closed"),
                                  opened_day, closed_day, batch, self_selected
        n, locked, seal, level    people released; codes opened and not used; seal of the last release; 0.95
        alarms                    chance (0.01, that honest people raise any), tests (in the whole survey), level (the
                                  p-value below which a test is an alarm: chance / tests)
        fingerprint_bits          of all questions of a person together
        releases                  [no, n, total (so far), locked, day, tally_sha256, chain_sha256]
        variables                 a list, in the order of the survey, of
            id, label, question, kind, design, options, n, answered, skipped, alarm, notes, problem
            shares, moments       method, interval, options: [option, share, se, lower, upper], notes;
                                  moments also has holds (False where the audit of the draws fails)
            needed                [margin, answers, more, people]
            privacy               at, information, guess, ruled_out (each leakage, baseline, nonprivate, lower,
                                  upper), maximal_bits, maximal_factor, smallest_set, options, largest_posterior,
                                  telling_answer, told_option, epsilon, cost, fingerprint_bits, notes
            draws                 n, test, sides, cells: [name, asked, expected], alarm, said, problem, notes
            leaning               n, share, se, lower, upper, detectable, power, positions, test, alarm, said, problem
            skips                 asked, skipped, rate, lower, upper, test, options: [option, asked_with,
                                  skipped_with, asked_without, skipped_without], alarm, said, problem
            honesty               answers, test, share, se, lower, upper, detectable, alarm, said, notes, problem
        groups                    a list of variables, rows, fingerprint_bits, candidates (expected, least; None for a
                                  variable by itself), notes
        pairs                     a list of variables (two ids), rows, columns (options), n, incomplete, method,
                                  shares, se, lower, upper (tables), test (method, statistic, df, pvalue, law,
                                  tables), strength (value, se, lower, upper of Cramér's V less its upward bias; no
                                  value where the bias is as large as what would be left), said, notes, problem
        notes                     sentences on the whole

    A test is by, statistic, df, pvalue, law. Numbers have ten figures.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "survey": _survey(results),
        "n": results.n,
        "locked": results.locked,
        "seal": results.seal,
        "level": results.level,
        "alarms": {"chance": CHANCE, "tests": results.alarm.tests, "level": plain(results.alarm.level)},
        "fingerprint_bits": plain(results.fingerprint_bits),
        "releases": _releases(results),
        "variables": [_variable(one) for one in results.variables],
        "groups": [_group(one) for one in results.groups],
        "pairs": [_pair(one) for one in results.pairs],
        "notes": list(results.notes),
    }


def document_text(document: dict[str, Any]) -> str:
    """Return a document as JSON, the same text for the same data."""
    return json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Return nouns, arrays and numbers as plain data; what is not finite is None."""
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, Note):  # its finding; the advice is for the page
        return value.text
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    if has(type(value)):
        shown = (one.name for one in fields(type(value)) if one.metadata.get("shown", True))
        return {name: plain(getattr(value, name)) for name in shown}
    return _rounded(float(value))


def _rounded(value: float) -> float | None:
    if not isfinite(value):
        return None
    if value == 0:
        return 0.0
    return round(value, _FIGURES - 1 - floor(log10(abs(value))))


def _survey(results: "Results") -> dict[str, Any]:
    names = ("id", "fingerprint", "title", "study", "mode", "version", "opened_day", "closed_day", "batch")
    held = {name: getattr(results, name) for name in names}
    return {**held, "state": "open" if results.is_open else "closed", "self_selected": results.self_selected}


def _releases(results: "Results") -> list[dict[str, Any]]:
    out, total = [], 0
    for release in results.releases:
        total += release.n
        out.append({**plain(release), "total": total})
    return out


def _variable(one: VariableResult) -> dict[str, Any]:
    names = ("id", "label", "question", "kind", "design", "options", "n", "answered", "skipped", "notes", "problem")
    return {
        **{name: plain(getattr(one, name)) for name in names},
        "alarm": one.is_alarm,
        "shares": _shares(one, "shares"),
        "moments": _shares(one, "moments"),
        "needed": plain(one.needed),
        "privacy": plain(one.privacy),
        "draws": _draws(one.draws),
        **{name: _check(getattr(one, name)) for name in ("leaning", "skips", "honesty")},
    }


def _shares(one: VariableResult, name: str) -> dict[str, Any] | None:
    held = getattr(one, name)
    if held is None:
        return None
    columns = [plain(column) for column in (held.w, held.se, held.lower, held.upper)]
    keys = ("option", "share", "se", "lower", "upper")
    lines = [dict(zip(keys, line, strict=True)) for line in zip(one.options, *columns, strict=True)]
    out = {"method": held.method, "interval": held.interval, "options": lines, "notes": plain(held.notes)}
    return {**out, "holds": one.moments_hold} if name == "moments" else out


def _check(check: Any) -> dict[str, Any]:
    return {**plain(check), "alarm": check.is_alarm}


def _draws(check: DrawsCheck) -> dict[str, Any]:
    held = _check(check)
    return {name: value for name, value in held.items() if name not in ("observed", "expected")}


def _group(group: "GroupResult") -> dict[str, Any]:
    return {name: value for name, value in plain(group).items() if name != "pairs"}


def _pair(pair: PairResult) -> dict[str, Any]:
    held = plain(pair)
    held["variables"] = held.pop("names")
    return held
