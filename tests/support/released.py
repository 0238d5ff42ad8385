"""Released surveys from simulated people, without a database.

`sent` makes every person's submission as a browser does and reads it as the server does; `drawn` makes the same
counters from arrays, for many people, and lets people behave in ways that the checks should find.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from asking import HONEST, Manners
from attrs import evolve, field, frozen

from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.definition import SurveyDefinition, VariableDefinition
from subsetprivacy.collect.survey.drawing import Stream, draw_around, draw_bit, draw_question
from subsetprivacy.collect.survey.manifest import Manifest, freeze
from subsetprivacy.collect.survey.submission import CODE_BYTES, Framing, read_submission
from subsetprivacy.collect.survey.tallies import Released, ReleaseRecord
from subsetprivacy.design import Design, FixedSize
from subsetprivacy.design.secret_bit import EQUAL
from subsetprivacy.mechanism.randomness import SeededSource

KEY = bytes(range(32))
Arrays = Mapping[str, Any]


def options(p: int) -> tuple[str, ...]:
    """Return p labels."""
    return tuple(f"option {j + 1}" for j in range(p))


def survey_of(designs: Mapping[str, Design], links: Sequence[Sequence[str]] = (), **fields: Any) -> SurveyDefinition:
    """Return a survey with these variables."""
    variables = tuple(
        VariableDefinition(name, name.capitalize(), f"What about {name}?", tuple(map(str, design.categories)), design)
        for name, design in designs.items()
    )
    held = {"title": "Trial", "study": "trial", "mode": "open", "links": tuple(map(tuple, links)), **fields}
    return SurveyDefinition(variables=variables, **held)


def values(shares: Sequence[float], n: int, seed: int) -> Any:
    """Draw the true values of n people, as positions."""
    return np.random.default_rng(seed).choice(len(shares), n, p=np.asarray(shares) / np.sum(shares))


@frozen
class _Tally:
    rows: tuple[Counter, ...]
    framings: Counter = field(factory=Counter)


# Person by person -----------------------------------------------------------------------------


def sent(
    survey: SurveyDefinition,
    truths: Arrays,
    *,
    seed: int = 1,
    skips: Callable[[str, int], bool] | None = None,
    **facts: Any,
) -> Released:
    """Return the released survey of people who send their answers one by one.

    Parameters
    ----------
    survey, truths
        The survey, and the position of everybody's true value by variable.
    seed
        What all of them draw by.
    skips
        From the id of a variable and the number of a person: whether she skips it.
    """
    manifest = freeze(survey, KEY if survey.mode == "code" else None, nonce="00" * 8)
    tally = _Tally(tuple(Counter() for _ in manifest.groups))
    for person in range(len(next(iter(truths.values())))):
        device = sha256(f"{seed}/{person}".encode()).digest()
        leaves = {held["id"]: bool(skips and skips(held["id"], person)) for held in manifest.variables}
        mine = {name: int(column[person]) for name, column in truths.items()}
        accepted = read_submission(_body(manifest, device, mine, leaves), manifest)
        for counter, row in zip(tally.rows, accepted.rows, strict=True):
            counter[row] += 1
        tally.framings.update(accepted.framings)
    return _released(manifest, tally, **facts)


def _body(manifest: Manifest, device: bytes, mine: dict[str, int], leaves: dict[str, bool]) -> bytes:
    common, drawn_by = device, {"fingerprint": manifest.fingerprint}
    if manifest.mode == "code":
        ticket, secret = device[: coin.TICKET_BYTES], sha256(device).digest()
        common = coin.seed(coin.share(KEY, ticket, coin.commit(secret)), secret)
        drawn_by |= {"ticket": ticket.hex(), "opening": secret.hex()}
    else:
        drawn_by["ticket"] = coin.open_ticket(device, bytes.fromhex(manifest.fingerprint)).hex()
    answers = {}
    for held in manifest.variables:
        asked_by = common if held["kind"] in ("yes_no", "groups") else device
        stream = Stream(asked_by, manifest.study, held["id"])
        answers[held["id"]] = _answer(held, mine[held["id"]], stream, leaves[held["id"]])
    return json.dumps({**drawn_by, "answers": answers}).encode()


def _answer(held: dict[str, Any], value: int, stream: Stream, leaves: bool) -> dict[str, Any]:
    if held["kind"] == "bit":
        return {"answer": None if leaves else int(draw_bit(held["draw"], stream) != value)}
    if held["kind"] == "local":
        return {"kept": None if leaves else draw_around(held["draw"], value, stream)}
    asked = draw_question(held["draw"], stream)
    return {"asked": asked, "answer": None if leaves else [code >> value & 1 for code in asked].index(1)}


# All at once ----------------------------------------------------------------------------------


def drawn(
    survey: SurveyDefinition,
    truths: Arrays,
    *,
    seed: int = 1,
    manners: Mapping[str, Manners] | None = None,
    **facts: Any,
) -> Released:
    """Return the released survey of many people, who may have their manners by variable."""
    manifest = freeze(survey, KEY if survey.mode == "code" else None, nonce="00" * 8)
    rng = np.random.default_rng([seed, 20])
    codes, tally = [], _Tally(tuple(Counter() for _ in manifest.groups))
    for k, held in enumerate(manifest.variables):
        truth, manner = np.asarray(truths[held["id"]]), (manners or {}).get(held["id"], HONEST)
        column, framings = _draw(k, held, manifest.designs[held["id"]], truth, manner, rng)
        codes.append(column)
        tally.framings.update(framings)
    for counter, group in zip(tally.rows, manifest.groups, strict=True):
        counter.update(_rows([codes[k] for k in group]))
    return _released(manifest, tally, **facts)


def _rows(columns: list[Any]) -> dict[bytes, int]:
    distinct, n = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    texts = distinct.astype(">u8").view(np.uint8).reshape(*distinct.shape, 8)[:, :, 8 - CODE_BYTES :]
    return {row.tobytes(): int(amount) for row, amount in zip(texts, n, strict=True)}


def _draw(k: int, held: dict[str, Any], design: Design, truth: Any, manner: Manners, rng: Any) -> tuple[Any, Counter]:
    if held["kind"] in ("yes_no", "groups"):
        return _asked(k, held, design, truth, manner, rng)
    full, rule, shown = design.missing_code, held["draw"], np.empty((len(truth), 0), np.int64)
    if held["kind"] == "bit":
        bit = rng.random(len(truth)) < rule["ones"] / 2**48
        chosen = np.where(truth == bit, 0, 1)
        kept = np.where(chosen == 0, EQUAL, 0b1111 - EQUAL)
    else:
        chosen, kept = np.zeros(len(truth), np.int64), _around(design, truth, rng)
    if manner.skips is not None:
        chosen = np.where(rng.random(len(truth)) < manner.skips(shown, truth), -1, chosen)
    framings = Counter({Framing(k, "", 0, int(one)): int((chosen == one).sum()) for one in np.unique(chosen)})
    return np.where(chosen == -1, full, kept), framings


def _around(design: Design, truth: Any, rng: Any) -> Any:
    p = design.p
    if isinstance(design, FixedSize):
        order = rng.random((len(truth), p))
        order[np.arange(len(truth)), truth] = -1.0
        chosen = np.argsort(order, axis=1)[:, : design.k]
        return (np.int64(1) << chosen).sum(axis=1)
    support, mu = design.support()
    kept = np.empty(len(truth), np.int64)
    for j in range(p):
        law = mu * (support >> j & 1)
        mine = truth == j
        kept[mine] = rng.choice(support, int(mine.sum()), p=law / law.sum())
    return kept


def _asked(k: int, held: dict[str, Any], design: Design, truth: Any, manner: Manners, rng: Any) -> tuple[Any, Counter]:
    n = len(truth)
    shown = rng.permuted(np.asarray(design.draw_options(n, SeededSource(rng)), np.int64), axis=1)
    if manner.steers is not None:
        shown = manner.steers(shown, truth, rng)
    chosen = (shown >> truth[:, None] & 1).argmax(axis=1)
    chosen = np.where(rng.random(n) < manner.always_yes, 0, chosen)
    chosen = np.where(rng.random(n) < manner.at_random, rng.integers(shown.shape[1], size=n), chosen)
    if manner.skips is not None:
        chosen = np.where(rng.random(len(truth)) < manner.skips(shown, truth), -1, chosen)
    codes = np.where(chosen == -1, design.categories.full, shown[np.arange(n), np.maximum(chosen, 0)])
    ordered = np.sort(shown, axis=1)
    if held["kind"] == "yes_no":
        put = np.column_stack([ordered[:, 0], shown[:, 0] > shown[:, 1], chosen])
        distinct, amounts = np.unique(put, axis=0, return_counts=True)
        pairs = zip(distinct.tolist(), amounts.tolist(), strict=True)
        return codes, Counter({Framing(k, str(a), side, answer): m for (a, side, answer), m in pairs})
    framings: Counter = Counter()
    for position in range(shown.shape[1]):
        framings[Framing(k, "", 0, position)] += int((chosen == position).sum())
    for row in ordered[chosen == -1].tolist():
        framings[Framing(k, ",".join(map(str, row)), 0, -1)] += 1
    return codes, +framings


# Releases -------------------------------------------------------------------------------------


def _released(
    manifest: Manifest,
    tally: _Tally,
    *,
    releases: int = 1,
    is_open: bool = True,
    version: int = 1,
    locked: int = 0,
) -> Released:
    n = sum(tally.rows[0].values())
    whole = repr([sorted(counter.items()) for counter in tally.rows])
    sizes = [n // releases] * (releases - 1) + [n - n // releases * (releases - 1)] if n else []
    chain, held = "", []
    for no, size in enumerate(sizes, 1):
        seal = sha256(f"{whole}{no}".encode()).hexdigest()
        chain = sha256(f"{chain}{seal}".encode()).hexdigest()
        held.append(ReleaseRecord(no, size, locked, f"2026-01-{no:02d}", seal, chain))
    return Released(
        manifest=manifest,
        version=version,
        is_open=is_open,
        opened_day="2026-01-01",
        closed_day=None if is_open else "2026-02-01",
        releases=tuple(held),
        rows=tuple(dict(counter) for counter in tally.rows),
        framings=dict(tally.framings),
    )


def emptied(released: Released) -> Released:
    """Return the survey as it was before its first release."""
    return evolve(released, releases=(), rows=tuple({} for _ in released.rows), framings={})
