"""A sample with two surveys and simulated respondents, to try the studio."""

import random
from collections.abc import Sequence
from importlib.resources import files
from secrets import SystemRandom

from attrs import frozen
from sqlalchemy import Engine

from subsetprivacy.collect.service.publishing import make_codes, publish, save_draft
from subsetprivacy.collect.service.respondents import Habits, Respondent, answer_all
from subsetprivacy.collect.survey.manifest import Manifest

PEOPLE = 1500
LUNCHERS = 330
SPARE_CODES = 10

# The true shares of the simulated people. People who work longer sleep worse: stress, given overtime.
OVERTIME = (0.37, 0.31, 0.20, 0.12)
STRESS = ((0.71, 0.20, 0.06, 0.03), (0.39, 0.40, 0.15, 0.06), (0.11, 0.30, 0.38, 0.21), (0.03, 0.10, 0.33, 0.54))
WORK: dict[str, tuple[float, ...]] = {
    "income": (0.07, 0.11, 0.17, 0.20, 0.17, 0.15, 0.09, 0.04),
    "reason": (0.31, 0.22, 0.13, 0.08, 0.17, 0.09),
    "ill": (0.42, 0.58),
    "help": (0.63, 0.27, 0.10),
}
LUNCH: dict[str, tuple[float, ...]] = {
    "price": (0.12, 0.35, 0.32, 0.15, 0.06),
    "left": (0.22, 0.78),
    "diet": (0.58, 0.13, 0.15, 0.05, 0.09),
}
_HABITS = Habits(skips=0.02)


@frozen
class Demonstration:
    """The surveys and codes of the sample.

    Attributes
    ----------
    work, lunch
        The surveys: one with codes, one with the same link for everyone.
    codes
        Unused codes of the first survey.
    """

    work: Manifest
    lunch: Manifest
    codes: tuple[str, ...]


def demonstrate(engine: Engine, *, people: int = PEOPLE, seed: int | None = None) -> Demonstration:
    """Publish the two surveys in an empty store and let simulated people answer them.

    Parameters
    ----------
    engine
        The store.
    people
        How many people take part in the first survey.
    seed
        Fixes their answers and their draws. Codes and keys stay secret.
    """
    rng = SystemRandom() if seed is None else random.Random(seed)
    work, lunch = _publish(engine, "work"), _publish(engine, "lunch")
    codes = make_codes(engine, work.id, people + SPARE_CODES)
    answer_all(engine, work, (_worker(rng, code) for code in codes[:people]))
    answer_all(engine, lunch, (Respondent(_draw(rng, LUNCH), habits=_HABITS, rng=rng) for _ in range(LUNCHERS)))
    return Demonstration(work, lunch, tuple(codes[people:]))


def _publish(engine: Engine, name: str) -> Manifest:
    text = files(__package__).joinpath(f"demonstration_{name}.toml").read_text(encoding="utf-8")
    return publish(engine, save_draft(engine, text, "toml").id)


def _worker(rng: random.Random, code: str) -> Respondent:
    overtime = _draw_position(rng, OVERTIME)
    values = {"overtime": overtime, "stress": _draw_position(rng, STRESS[overtime]), **_draw(rng, WORK)}
    return Respondent(values, code=code, habits=_HABITS, rng=rng)


def _draw(rng: random.Random, shares: dict[str, tuple[float, ...]]) -> dict[str, int]:
    return {name: _draw_position(rng, share) for name, share in shares.items()}


def _draw_position(rng: random.Random, shares: Sequence[float]) -> int:
    return rng.choices(range(len(shares)), shares)[0]
