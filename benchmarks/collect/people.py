"""A survey with one-time codes, and the requests of its people, made before anything is timed."""

import json
import random

from attrs import frozen
from sqlalchemy import Engine

from subsetprivacy.collect.service.publishing import make_codes, publish, save_draft
from subsetprivacy.collect.service.respondents import Respondent
from subsetprivacy.collect.survey.manifest import Manifest

_OPTIONS = ("below 1000", "1000 to 2000", "2000 to 3000", "3000 to 4000", "above 4000")


def survey_text(variables: int) -> str:
    """Return a survey of questions with five options each, as a file."""
    lines = ['title = "Load"', 'mode = "code"']
    for k in range(variables):
        lines += ["[[variables]]", f'id = "v{k}"', f'question = "Question {k}?"', f"options = {json.dumps(_OPTIONS)}"]
    return "\n".join(lines)


@frozen
class People:
    """A published survey and those who answer it."""

    manifest: Manifest
    people: tuple[Respondent, ...]

    @classmethod
    def invite(cls, store: Engine, number: int, variables: int) -> "People":
        """Publish a survey and give this many people a code each."""
        manifest = publish(store, save_draft(store, survey_text(variables), "toml").id)
        ids = [held["id"] for held in manifest.variables]
        codes = make_codes(store, manifest.id, number)
        people = (Respondent({one: random.randrange(len(_OPTIONS)) for one in ids}, code=code) for code in codes)
        return cls(manifest, tuple(people))

    def locks(self) -> list[bytes]:
        """Return the requests that lock the codes."""
        return [self._post("lock", _json(one.lock(self.manifest))) for one in self.people]

    def submissions(self, shares: dict[int, bytes]) -> list[bytes]:
        """Return the requests with the answers, given the replies to the locks."""
        requests = []
        for number, one in enumerate(self.people):
            one.take_share(self.manifest, json.loads(shares[number]))
            requests.append(self._post("submit", one.body(self.manifest)))
        return requests

    def _post(self, act: str, body: bytes) -> bytes:
        head = f"POST /s/{self.manifest.id}/{act} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
