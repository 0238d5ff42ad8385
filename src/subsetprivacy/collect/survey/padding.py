"""Pad submissions to one length, because encryption hides the content but not the length.

A skip is longer than an answer, and a set of early options has fewer digits. So spaces follow the document, up to the
length of the longest possible submission to the survey.
"""

import json
from typing import Any

from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.manifest import Manifest


def padded(document: dict[str, Any], manifest: Manifest) -> bytes:
    """Return the bytes of a submission, padded to the length of every other one to the survey."""
    return _compact(document).ljust(length_of(manifest)).encode()


def length_of(manifest: Manifest) -> int:
    """Return the length of submissions to a survey: that of the longest possible one."""
    longest = {"fingerprint": manifest.fingerprint, "ticket": "00" * 32}
    if manifest.mode == "code":
        longest |= {"ticket": "00" * coin.TICKET_BYTES, "opening": "00" * coin.SECRET_BYTES}
    return len(
        _compact({**longest, "answers": {variable["id"]: _longest(variable) for variable in manifest.variables}})
    )


def _longest(variable: dict[str, Any]) -> dict[str, Any]:
    rule = variable["draw"]
    full = (1 << rule["p"]) - 1
    if variable["kind"] == "bit":
        return {"answer": None}
    if variable["kind"] == "local":
        return {"kept": max(full, 1000)}  # four digits are as long as `null`
    questions = rule.get("questions", [rule.get("sizes", (0, 0))])
    return {"asked": [full] * max(map(len, questions)), "answer": None}


def _compact(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))
