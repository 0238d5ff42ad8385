"""Simulated respondents. Each does in Python what the respondents' page does in a browser."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from secrets import SystemRandom
from typing import Any

from attrs import define, frozen
from sqlalchemy import Connection, Engine

from subsetprivacy.collect.storage.collecting import LockRequest, lock_codes, record
from subsetprivacy.collect.storage.opening import writing
from subsetprivacy.collect.storage.released import read_key
from subsetprivacy.collect.storage.releasing import release_due
from subsetprivacy.collect.storage.tickets import CodeLock
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_bit, draw_question
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.padding import padded
from subsetprivacy.collect.survey.submission import read_submission

_AT_ONCE = 150  # people to a transaction, and at most one release after each
Post = Callable[[str, dict[str, Any]], tuple[int, dict[str, Any]]]


@frozen
class Habits:
    """How a person answers. By default they answer every question truthfully.

    Attributes
    ----------
    skips
        The probability of skipping a question.
    careless
        The probability of answering without reading the question. Then every answer is equally likely.
    yes
        The probability of answering yes to a yes/no question, whatever the truth.
    """

    skips: float = 0.0
    careless: float = 0.0
    yes: float = 0.0


@define
class _CoinFlip:
    """What a device stores about the coin flip of a study."""

    secret: bytes
    share: bytes | None = None


class Respondent:
    """A person with a device that remembers what it drew.

    Parameters
    ----------
    values
        The position of the person's true answer among the options, for each variable by its id. It never leaves here.
    code
        The one-time code, for surveys that take codes.
    habits
        How the person answers.
    rng
        The source of randomness. By default the system's, which browsers use as well.
    """

    def __init__(
        self,
        values: Mapping[str, int],
        *,
        code: str | None = None,
        habits: Habits | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.values: dict[str, int] = dict(values)
        self.habits: Habits = habits or Habits()
        self._rng = rng or SystemRandom()
        self._device_seeds: dict[str, bytes] = {}
        self._flips: dict[str, _CoinFlip] = {}
        self._ticket: bytes | None = None
        self._half: bytes | None = None
        if code is not None:
            self._ticket, self._half = coin.read_code(code)

    def take_part(self, manifest: Manifest, post: Post) -> tuple[int, dict[str, Any]]:
        """Answer a survey and return the status and document of the last reply.

        Parameters
        ----------
        manifest
            The survey.
        post
            Sends a document to a path of the server and returns the status and document of its reply.
        """
        if manifest.mode == "code":
            status, reply = post(f"/s/{manifest.id}/lock", self.lock(manifest))
            if status != 200:
                return status, reply
            self.take_share(manifest, reply)
        return post(f"/s/{manifest.id}/submit", self.submission(manifest))

    def lock(self, manifest: Manifest) -> dict[str, Any]:
        """Return the body that locks the code: a commitment to a secret number, and the number wrapped."""
        if self._ticket is None or self._half is None:
            raise ValueError("a respondent must have a code to take part in a survey with codes")
        flip = self._flips.setdefault(manifest.study, _CoinFlip(self._rng.randbytes(coin.SECRET_BYTES)))
        commitment = coin.commit(flip.secret)
        return {
            "fingerprint": manifest.fingerprint,
            "ticket": self._ticket.hex(),
            "commitment": commitment.hex(),
            "wrapped": coin.wrap(flip.secret, self._half, commitment).hex(),
        }

    def take_share(self, manifest: Manifest, reply: Mapping[str, Any]) -> None:
        """Take the server's share. If another device locked the code first, unwrap the number of that device.

        Raises
        ------
        ValueError
            If the wrapped number does not match the commitment. Then the server, or someone with the code, cheats.
        """
        flip = self._flips[manifest.study]
        commitment = bytes.fromhex(reply["commitment"])
        if commitment != coin.commit(flip.secret):
            assert self._half is not None
            flip.secret = coin.wrap(bytes.fromhex(reply["wrapped"]), self._half, commitment)
            if commitment != coin.commit(flip.secret):
                raise ValueError("the number that the code is locked to must fit its commitment")
        flip.share = bytes.fromhex(reply["share"])

    def submission(self, manifest: Manifest) -> dict[str, Any]:
        """Return the body with the answers. In code mode, call `take_share` before."""
        body = {"fingerprint": manifest.fingerprint}
        if manifest.mode == "code":
            flip = self._flips[manifest.study]
            assert self._ticket is not None
            assert flip.share is not None
            seed = coin.seed(flip.share, flip.secret)
            body |= {"ticket": self._ticket.hex(), "opening": flip.secret.hex()}
        else:
            seed = self._device_seed(manifest)
            body["ticket"] = coin.open_ticket(seed, bytes.fromhex(manifest.fingerprint)).hex()
        return {
            **body,
            "answers": {variable["id"]: self._answer(variable, manifest, seed) for variable in manifest.variables},
        }

    def body(self, manifest: Manifest) -> bytes:
        """Return the literal content of a submission, as long as everyone's."""
        return padded(self.submission(manifest), manifest)

    def _device_seed(self, manifest: Manifest) -> bytes:
        """Return the number that never leaves the device, one for each study."""
        return self._device_seeds.setdefault(manifest.study, self._rng.randbytes(coin.SECRET_BYTES))

    def _answer(self, variable: dict[str, Any], manifest: Manifest, seed: bytes) -> dict[str, Any]:
        rule, value = variable["draw"], self.values[variable["id"]]
        skips = self._happens(self.habits.skips)
        careless = self._happens(self.habits.careless)
        if variable["kind"] in {"bit", "local"}:
            stream = Stream(self._device_seed(manifest), manifest.study, variable["id"])
            if careless:
                value = self._rng.randrange(rule["p"])
            if variable["kind"] == "local":
                return {"kept": None if skips else draw_around(rule, value, stream)}
            return {"answer": None if skips else int(draw_bit(rule, stream) != value)}
        asked = draw_question(rule, Stream(seed, manifest.study, variable["id"]))
        answer = next(k for k, group in enumerate(asked) if group >> value & 1)
        if careless:
            answer = self._rng.randrange(len(asked))
        elif variable["kind"] == "yes_no" and self._happens(self.habits.yes):
            answer = 0
        return {"asked": asked, "answer": None if skips else answer}

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._rng.random() < chance


def answer_all(engine: Engine, manifest: Manifest, people: Iterable[Respondent]) -> Counter[str]:
    """Let people answer a survey without a server in between, and return how often each outcome came.

    Every submission passes the checks of the service. Many are written at once, and due batches are released.
    """
    outcomes: Counter[str] = Counter()
    waiting = iter(people)
    while group := list(islice(waiting, _AT_ONCE)):
        with writing(engine) as connection:
            outcomes.update(_answer_at_once(connection, manifest, group))
        release_due(engine)
    return outcomes


def _answer_at_once(connection: Connection, manifest: Manifest, group: list[Respondent]) -> list[str]:
    key = None
    if manifest.mode == "code":
        study_key = read_key(connection, manifest.study)
        assert study_key is not None
        key = study_key[0]
        group, refused = _lock(connection, manifest, key, group)
    else:
        refused = []
    bodies = (person.body(manifest) for person in group)
    return refused + record(connection, manifest, [read_submission(body, manifest) for body in bodies], key)


def _lock(
    connection: Connection, manifest: Manifest, key: bytes, group: list[Respondent]
) -> tuple[list[Respondent], list[str]]:
    """Lock every person's code. Return the people who may continue, and the outcomes of the others."""
    wishes = [person.lock(manifest) for person in group]
    tickets = [bytes.fromhex(wish["ticket"]) for wish in wishes]
    asked = [
        LockRequest(ticket, bytes.fromhex(wish["commitment"]), bytes.fromhex(wish["wrapped"]))
        for ticket, wish in zip(tickets, wishes, strict=True)
    ]
    let_in, refused = [], []
    for person, ticket, locked in zip(group, tickets, lock_codes(connection, manifest, asked), strict=True):
        if not isinstance(locked, CodeLock):
            refused.append(locked)
            continue
        kept = {"commitment": bytes(locked.commitment), "wrapped": bytes(locked.wrapped)}
        share = coin.share(key, ticket, kept["commitment"])
        person.take_share(manifest, {name: value.hex() for name, value in {**kept, "share": share}.items()})
        let_in.append(person)
    return let_in, refused
