"""Read what a respondent's browser sends, strictly, and extract what the store counts."""

import json
from typing import Any

from attrs import frozen

from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_question
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.design.secret_bit import EQUAL

MOST_BYTES = 32_768  # 64 variables, each asked as 24 groups of two, take 29,000
CODE_BYTES = 6
SKIPPED = -1
_KEYS = {"code": {"fingerprint", "ticket", "opening", "answers"}, "open": {"fingerprint", "ticket", "answers"}}


class SubmissionError(ValueError):
    """A submission that is refused. The reason is from a fixed list and contains nothing that was sent.

    Attributes
    ----------
    reason
        "unreadable", "stale" (another version of the survey), "ticket", "opening", "answers", or "not drawn" (a
        question that the design does not ask).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@frozen
class Framing:
    """How one question was asked and answered, counted separately, for the tests of skips and of leaning to yes.

    Attributes
    ----------
    variable
        The position of the variable.
    partition
        The two sides or groups asked about, in a canonical order, or "" if they say nothing.
    shown
        For a yes/no question, the side that was asked about: 0 for the smaller code, 1 for the larger.
    answer
        0 for yes, 1 for no, or the position of the chosen group; -1 for a skip.
    """

    variable: int
    partition: str
    shown: int
    answer: int


@frozen
class CoinOpening:
    """The respondent's part of a coin flip, opened with the answers. It is checked and then discarded.

    Attributes
    ----------
    ticket, secret
        The first half of the code, and the number that it should be locked to.
    commitment
        The commitment to that number.
    asked
        The question that was answered, for each variable that the coin flip draws, by the variable's position.
    """

    ticket: bytes
    secret: bytes
    commitment: bytes
    asked: tuple[tuple[int, list[int]], ...]


@frozen
class Submission:
    """A submission that a survey's page could have sent, and everything that is counted from it.

    Attributes
    ----------
    mark
        The hash of the ticket, to count it once.
    rows
        For each group of the manifest, the codes of its subsets, six bytes per variable.
    framings
        How each question was asked and answered.
    opened
        In code mode, the coin flip. The submission is counted only if the ticket is locked to it and `was_drawn` is
        true.
    """

    mark: bytes
    rows: tuple[bytes, ...]
    framings: tuple[Framing, ...]
    opened: CoinOpening | None = None


def read_submission(body: bytes, manifest: Manifest) -> Submission:
    """Read a submission and check everything that can be checked without the server's key.

    The result depends only on the bytes and the manifest, which the sender knows.

    Parameters
    ----------
    body
        The bytes that were sent.
    manifest
        The survey they answer.

    Raises
    ------
    SubmissionError
        If anything differs from what the survey's page would send.
    """
    sent = read_object(body)
    if sent.keys() != _KEYS[manifest.mode]:
        raise SubmissionError("unreadable")
    if sent["fingerprint"] != manifest.fingerprint:
        raise SubmissionError("stale")
    ticket = read_hex(sent["ticket"], coin.TICKET_BYTES if manifest.mode == "code" else 32, "ticket")
    secret = read_hex(sent["opening"], coin.SECRET_BYTES, "opening") if manifest.mode == "code" else None
    codes, framings = _read_answers(sent["answers"], manifest)
    rows = tuple(b"".join(codes[k].to_bytes(CODE_BYTES, "big") for k in group) for group in manifest.groups)
    opened = None
    if secret is not None:
        questions = enumerate(manifest.variables)
        asked = tuple(
            (k, sent["answers"][variable["id"]]["asked"]) for k, variable in questions if variable["kind"] in _QUESTIONS
        )
        opened = CoinOpening(ticket, secret, coin.commit(secret), asked)
    return Submission(coin.ticket_mark(manifest.id, ticket), rows, framings, opened)


def was_drawn(opened: CoinOpening, manifest: Manifest, key: bytes) -> bool:
    """Tell whether the questions that were answered are those that the coin flip drew.

    Call it only for a commitment that the ticket is locked to. For any other, the result would tell the sender which
    question a number leads to before they lock it, and they could try numbers until one leads to the question they
    want.

    Parameters
    ----------
    opened
        The respondent's part.
    manifest
        The survey.
    key
        The server's key of the study.
    """
    seed = coin.seed(coin.share(key, opened.ticket, opened.commitment), opened.secret)
    for k, asked in opened.asked:
        variable = manifest.variables[k]
        if asked != draw_question(variable["draw"], Stream(seed, manifest.study, variable["id"])):
            return False
    return True


def read_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object, or raise. Repeated keys, constants outside JSON and deep nesting are refused."""
    if len(body) > MOST_BYTES:
        raise SubmissionError("unreadable")
    try:
        sent = _DECODER.decode(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise SubmissionError("unreadable") from None
    if not isinstance(sent, dict):
        raise SubmissionError("unreadable")
    return sent


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key twice")
    return entries


def _refuse(text: str) -> Any:
    raise ValueError("not a whole number")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse, parse_float=_refuse)


def read_hex(text: Any, length: int, reason: str) -> bytes:
    """Return the bytes of lower-case hexadecimal text of this length, or raise with the reason."""
    if not isinstance(text, str) or len(text) != 2 * length or text.strip("0123456789abcdef"):
        raise SubmissionError(reason)
    return bytes.fromhex(text)


def _read_answers(sent: Any, manifest: Manifest) -> tuple[list[int], tuple[Framing, ...]]:
    if not isinstance(sent, dict) or sent.keys() != manifest.ids:
        raise SubmissionError("answers")
    codes, framings = [], []
    for k, variable in enumerate(manifest.variables):
        code, framing = _READERS[variable["kind"]](k, manifest, sent[variable["id"]])
        codes.append(code)
        framings.append(framing)
    return codes, tuple(framings)


def _read_question(k: int, manifest: Manifest, given: Any) -> tuple[int, Framing]:
    """Read the answer to a yes/no question or one of groups."""
    variable = manifest.variables[k]
    if not isinstance(given, dict) or given.keys() != {"asked", "answer"}:
        raise SubmissionError("answers")
    asked, answer = given["asked"], given["answer"]
    if not isinstance(asked, list) or not all(type(code) is int for code in asked):
        raise SubmissionError("answers")
    if not _is_asked(variable["draw"], manifest.listed[k], asked):
        raise SubmissionError("not drawn")
    chosen = _read_choice(answer, len(asked))
    if variable["kind"] == "yes_no":
        framing = Framing(k, str(min(asked)), int(asked[0] > asked[1]), chosen)
    else:  # there are many partitions, so they are stored only for skips, where the test needs them
        skipped = ",".join(map(str, sorted(asked))) if chosen == SKIPPED else ""
        framing = Framing(k, skipped, 0, chosen)
    return ((1 << variable["draw"]["p"]) - 1 if chosen == SKIPPED else asked[chosen]), framing


def _is_asked(rule: dict[str, Any], listed: frozenset[frozenset[int]], asked: list[int]) -> bool:
    """Tell whether a rule can draw this question."""
    full = (1 << rule["p"]) - 1
    if any(not 0 < code < full for code in asked) or sum(asked) != full:
        return False
    sizes = sorted(code.bit_count() for code in asked)
    if sum(sizes) != rule["p"]:  # with the sum: disjoint, and together all options
        return False
    if rule["rule"] == "uniform":
        return len(asked) == 2 and sizes[0] >= 2
    if rule["rule"] == "groups":
        return sizes == sorted(rule["sizes"])
    return frozenset(asked) in listed  # with the sum of the sizes: no side appears twice


def _read_bit(k: int, manifest: Manifest, given: Any) -> tuple[int, Framing]:
    """Read the answer to Warner's question: the numbers are the same (0) or not (1)."""
    if not isinstance(given, dict) or given.keys() != {"answer"}:
        raise SubmissionError("answers")
    chosen = _read_choice(given["answer"], 2)
    return (EQUAL, 0b1111 - EQUAL, 0b1111)[chosen], Framing(k, "", 0, chosen)


def _read_local(k: int, manifest: Manifest, given: Any) -> tuple[int, Framing]:
    """Read a subset that the respondent's device drew around the value."""
    if not isinstance(given, dict) or given.keys() != {"kept"}:
        raise SubmissionError("answers")
    kept, rule = given["kept"], manifest.variables[k]["draw"]
    if kept is None:
        return (1 << rule["p"]) - 1, Framing(k, "", 0, SKIPPED)
    if type(kept) is not int:
        raise SubmissionError("answers")
    inside = 0 < kept < 1 << rule["p"]
    drawn = kept.bit_count() == rule["size"] if rule["rule"] == "companions" else kept in rule["subsets"]
    if not (inside and drawn):
        raise SubmissionError("not drawn")
    return kept, Framing(k, "", 0, 0)


def _read_choice(answer: Any, options: int) -> int:
    if answer is None:
        return SKIPPED
    if type(answer) is not int or not 0 <= answer < options:
        raise SubmissionError("answers")
    return answer


_QUESTIONS = {"yes_no", "groups"}
_READERS = {"yes_no": _read_question, "groups": _read_question, "bit": _read_bit, "local": _read_local}
