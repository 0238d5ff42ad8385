"""The sample surveys are filled many people at a time, checked like real ones, and estimates find what is true."""

import random
import secrets
import shutil

import numpy as np
import pytest
from effort import statements
from sqlalchemy import select

import subsetprivacy as sp
from subsetprivacy.collect.service import demonstration
from subsetprivacy.collect.service.demonstration import LUNCH, OVERTIME, STRESS, WORK, demonstrate
from subsetprivacy.collect.service.publishing import surveys
from subsetprivacy.collect.storage.backups import check
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.schema import code
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.tallies import row_codes
from subsetprivacy.data import JointCounts, SubsetCounts
from subsetprivacy.design import product


def copy_of(template, path):
    return open_store(f"sqlite:///{shutil.copy(template, path)}")


@pytest.fixture(scope="module")
def made(tmp_path_factory, sqlite_template):
    engine = copy_of(sqlite_template, tmp_path_factory.mktemp("demo") / "demo.db")
    with (
        statements(engine) as sent,
        pytest.MonkeyPatch.context() as patch,
    ):  # keys and codes are secret whatever the seed, and decide the draws
        patch.setattr(secrets, "token_bytes", random.Random(3).randbytes)
        found = demonstrate(engine, seed=3)
    yield engine, found, sent
    engine.dispose()


def released(made, which):
    engine, found, _ = made
    with reading(engine) as connection:
        return read_released(connection, getattr(found, which).id)


def counts(held, name):
    (group, at) = next(
        (grp, group.index(k))
        for grp, group in enumerate(held.manifest.groups)
        for k in group
        if held.manifest.variables[k]["id"] == name
    )
    rows = [(row_codes(row)[at], n) for row, n in held.rows[group].items()]
    codes = sorted({code for code, _ in rows})
    sums = [sum(n for code, n in rows if code == one) for one in codes]
    return SubsetCounts(np.array(codes), np.array(sums), held.manifest.designs[name])


def test_it_is_quick(made):
    """People are written many at a time, not a statement for each."""
    *_, sent = made
    assert len(sent) < 1000  # for 1675 people, each of whom locks a code or answers an open survey


def test_there_is_something_to_look_at(made):
    engine, *_ = made
    work, lunch = released(made, "work"), released(made, "lunch")
    assert {held["kind"] for held in work.manifest.variables} == {"yes_no", "groups", "bit", "local"}
    assert (work.manifest.mode, lunch.manifest.mode) == ("code", "open")
    assert work.n == 1475
    assert len(work.releases) >= 5
    assert lunch.n == 200
    assert len(surveys(engine)) == 2
    assert check(engine) == []


def test_its_codes_are_free(made):
    engine, found, _ = made
    assert len(found.codes) == demonstration.SPARE_CODES
    with reading(engine) as connection:
        marks = {bytes(mark) for mark in connection.scalars(select(code.c.mark))}
    assert marks == {coin.ticket_mark(found.work.id, coin.read_code(one)[0]) for one in found.codes}


@pytest.mark.parametrize(
    ("which", "name", "truth"),
    [
        ("work", "overtime", OVERTIME),
        ("work", "stress", np.asarray(OVERTIME) @ np.asarray(STRESS)),
        *(("work", name, truth) for name, truth in WORK.items()),
        *(("lunch", name, truth) for name, truth in LUNCH.items()),
    ],
)
def test_estimates_find_the_truth(made, which, name, truth):
    estimate = sp.estimate(counts(released(made, which), name), method="mle")
    error = np.sqrt(np.diag(estimate.cov))
    assert np.all(np.abs(estimate.w - truth) < 4.5 * error + 1e-6)


def test_the_link_is_there_to_be_found(made):
    held = released(made, "work")
    names = ("overtime", "stress")
    both = product({name: held.manifest.designs[name] for name in names})
    rows = [(row_codes(row), n) for row, n in held.rows[0].items()]
    columns = [np.array([codes[k] for codes, _ in rows]) for k in (0, 1)]
    joint, n = both.join(columns), np.array([n for _, n in rows])
    order = np.argsort(joint)
    found = sp.independence_test(JointCounts(joint[order], n[order], both), method="pearson", seed=1)
    assert found.pvalue <= 0.001  # the least that 999 permutations can say


def test_a_seed_fixes_what_people_are_like(tmp_path, sqlite_template):
    """Codes and keys stay secret, so which questions are drawn does not repeat; the draws of devices do."""
    sums = []
    for k in range(2):
        engine = copy_of(sqlite_template, tmp_path / f"{k}.db")
        found = demonstrate(engine, people=60, seed=5)
        with reading(engine) as connection:
            sums.append(read_released(connection, found.lunch.id).framings)
        assert check(engine) == []
        engine.dispose()
    assert sums[0] == sums[1]
