"""Everything in any order: whatever is answered, replayed, lost, released, crashed or copied, the books fit."""

import asyncio
import copy
import io
import json
import os
import random
import shutil
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest
from attrs import Factory, define
from faults import FEWEST, PATIENCE, books, mark_of, publish, sent
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import subsetprivacy as sp
from subsetprivacy.collect.service import writer
from subsetprivacy.collect.service.collecting import Collector
from subsetprivacy.collect.service.exporting import export_zip
from subsetprivacy.collect.service.publishing import close, make_codes
from subsetprivacy.collect.service.respondents import Habits, Respondent
from subsetprivacy.collect.service.results import results, results_document
from subsetprivacy.collect.service.secure_delete import is_erasing
from subsetprivacy.collect.storage.backups import backup, check
from subsetprivacy.collect.storage.collecting import LockRequest
from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.released import read_released
from subsetprivacy.collect.storage.releasing import release_due

MOST_SURVEYS = 2
FEW = st.integers(1, 12)
SURVEYS = st.integers(0, MOST_SURVEYS - 1)


@define
class Held:
    """What we know of a survey: the people who have locked a code, and what was acknowledged or may have arrived."""

    manifest: object
    locked: list = Factory(list)
    counted: list = Factory(list)
    unsure: list = Factory(list)  # sent, and the reply was lost
    is_open: bool = True
    views: dict = Factory(dict)  # what could be seen, by the number of releases, and before or after it was closed


def changed(path):
    """Return when a file was last changed; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


class FileStore:
    """Stores in files: a crash leaves the files as they are at that moment."""

    def __init__(self, template):
        self._template = template
        self._folder = TemporaryDirectory(prefix="sp-machine-")
        self._made = 0

    def _path(self):
        self._made += 1
        return Path(self._folder.name) / f"store-{self._made}.db"

    def fresh(self):
        return open_store(f"sqlite:///{shutil.copy(self._template, self._path())}")

    def crashed(self, engine):
        """Return the store as it is found after the process was killed: the file and its log, copied while in use."""
        before, after = Path(engine.url.database), self._path()
        log, copied = Path(f"{before}-wal"), Path(f"{after}-wal")
        for _ in range(100):  # neither of the two may change meanwhile, which no kill would let them
            first = [changed(path) for path in (before, log)]
            shutil.copy(before, after)
            copied.unlink(missing_ok=True)
            if first[1]:
                with suppress(FileNotFoundError):  # the last connection was closed, and with it the log is gone
                    shutil.copy(log, copied)
            if first == [changed(path) for path in (before, log)]:
                break
        return open_store(f"sqlite:///{after}")

    def restored(self, engine):
        """Return a store from a backup of everything."""
        backup(engine, after := self._path(), everything=True)
        return open_store(f"sqlite:///{after}")

    def copy_of_released(self, engine):
        backup(engine, after := self._path())
        return open_store(f"sqlite:///{after}")

    def end(self):
        self._folder.cleanup()


class PostgresStore(FileStore):
    """Stores in PostgreSQL: in a crash every connection is cut."""

    def __init__(self, template, server, database):
        super().__init__(template)
        self._server, self._database, self._names = server, database, []

    def fresh(self):
        self._names.append(self._server.fresh(self._database))
        return open_store(self._server.url(self._names[-1]))

    def crashed(self, engine):
        if engine.dialect.name == "sqlite":  # restored from a backup
            return super().crashed(engine)
        self._server.execute(
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{engine.url.database}'"
        )
        return open_store(self._server.url(engine.url.database))

    def end(self):
        super().end()
        for name in self._names:
            self._server.drop(name)


class Machine(RuleBasedStateMachine):
    def __init__(self, stores):
        super().__init__()
        self.stores = stores
        self.loop = asyncio.new_event_loop()
        self.surveys: list[Held] = []
        self.gone: list = []
        self.use(stores.fresh())

    def use(self, engine):
        self.engine, self.collector = engine, Collector(engine)
        self.collector.start()

    def leave(self):
        self.collector.stop()
        self.engine.dispose()

    def teardown(self):
        try:
            for held in self.surveys:
                self.retry(held)
            self.books_fit()
            self.wait_for_erasing()
            assert check(self.engine) == []
        finally:
            self.leave()
            self.loop.close()
            self.stores.end()

    def wait_for_erasing(self):
        """What a closed survey has left in the files goes at last: until then a check notes it."""
        until = time.monotonic() + PATIENCE
        while is_erasing(self.engine):
            assert time.monotonic() < until
            time.sleep(0.02)

    # What people do ---------------------------------------------------------------------------

    def pick(self, k):
        return self.surveys[k % len(self.surveys)]

    def send(self, act, held, *bodies):
        """Send bodies at once and return the answers."""
        take = self.collector.submit if act == "submit" else self.collector.lock

        async def send_all():
            encoded = [json.dumps(body).encode() for body in bodies]
            return await asyncio.gather(*(take(held.manifest.id, body) for body in encoded))

        return [(reply.status, reply.document) for reply in self.loop.run_until_complete(send_all())]

    def people(self, held, number):
        """Return people who are ready to answer; those with codes have locked them."""
        values = [{one["id"]: random.randrange(len(one["options"])) for one in held.manifest.variables}] * number
        if held.manifest.mode == "open":
            return [Respondent(value, habits=Habits(skips=0.1)) for value in values]
        codes = make_codes(self.engine, held.manifest.id, number)
        made = [Respondent(value, code=code, habits=Habits(skips=0.1)) for value, code in zip(values, codes)]
        for one, (status, reply) in zip(made, self.send("lock", held, *(one.lock(held.manifest) for one in made))):
            assert status == 200
            one.take_share(held.manifest, reply)
        return made

    def count(self, held, bodies):
        """Send bodies that were never sent, and expect all to be counted."""
        assert self.send("submit", held, *bodies) == [(201, {"status": "counted"})] * len(bodies)
        held.counted += bodies

    @precondition(lambda self: len(self.surveys) < MOST_SURVEYS)
    @rule(mode=st.sampled_from(["code", "open"]))
    def publish(self, mode):
        self.surveys.append(Held(publish(self.engine, mode=mode)[0]))

    @precondition(lambda self: self.surveys)
    @rule(k=SURVEYS, number=FEW)
    def lock(self, k, number):
        held = self.pick(k)
        if held.is_open:
            held.locked += self.people(held, number)

    @precondition(lambda self: self.surveys)
    @rule(k=SURVEYS, number=FEW, late=st.booleans())
    def submit(self, k, number, late):
        held = self.pick(k)
        if not held.is_open:
            return
        people = [held.locked.pop() for _ in range(min(number, len(held.locked)))] if late else []
        self.count(held, [one.submission(held.manifest) for one in people or self.people(held, number)])

    @precondition(lambda self: self.surveys)
    @rule(k=SURVEYS, pauses=st.integers(0, 3))
    def lose_a_reply(self, k, pauses):
        """The browser goes away while its answers are on the way: they may be counted or not."""
        held = self.pick(k)
        if not held.is_open:
            return
        body = self.people(held, 1)[0].submission(held.manifest)

        async def go_away():
            task = asyncio.create_task(self.collector.submit(held.manifest.id, json.dumps(body).encode()))
            for _ in range(pauses + 1):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

        self.loop.run_until_complete(go_away())
        held.unsure.append(body)

    @precondition(lambda self: any(held.unsure for held in self.surveys))
    @rule()
    def retry_all(self):
        for held in self.surveys:
            self.retry(held)

    def retry(self, held):
        if not held.is_open:
            return
        for body, answer in zip(held.unsure, self.send("submit", held, *held.unsure)):
            assert answer in [(201, {"status": "counted"}), (409, {"status": "already counted"})]
            held.counted.append(body)
        held.unsure = []

    # What is refused --------------------------------------------------------------------------

    @precondition(lambda self: any(held.counted for held in self.surveys))
    @rule(k=SURVEYS, which=st.integers(0, 10**6), times=st.integers(1, 5))
    def replay(self, k, which, times):
        held = self.pick(k)
        if held.counted:
            body = held.counted[which % len(held.counted)]
            told = (409, {"status": "already counted"}) if held.is_open else (410, {"status": "closed"})
            assert self.send("submit", held, *[body] * times) == [told] * times

    @precondition(lambda self: self.surveys)
    @rule(k=SURVEYS, how=st.sampled_from(["fingerprint", "subset", "opening", "code", "number"]))
    def send_nonsense(self, k, how):
        held = self.pick(k)
        if not held.is_open:
            return
        is_code = held.manifest.mode == "code"
        if how == "code":
            if is_code:
                stranger = Respondent({}, code="a" * 32)
                assert self.send("lock", held, stranger.lock(held.manifest)) == [(404, {"status": "unknown code"})]
            return
        person = self.people(held, 1)[0]
        body = person.submission(held.manifest)
        bad = copy.deepcopy(body)
        if how == "fingerprint":
            bad["fingerprint"] = "0" * 64
        elif how == "subset":
            bad["answers"]["colour"]["asked"] = [0b00001, 0b11110]  # would tell black from all others
        elif how == "opening":
            bad["opening"] = os.urandom(32).hex()
        else:
            bad["answers"]["day"]["answer"] = 2
        ((status, document),) = self.send("submit", held, bad)
        assert (status, document["status"]) == ((409, "stale") if how == "fingerprint" else (422, "refused"))
        self.count(held, [body])  # and the ticket is not spent by it

    # What happens to the store ----------------------------------------------------------------

    @rule()
    def release(self):
        release_due(self.engine)

    @precondition(lambda self: self.surveys)
    @rule(k=SURVEYS)
    def close(self, k):
        held = self.pick(k)
        if not held.is_open or len(self.surveys) < MOST_SURVEYS:
            return
        self.retry(held)
        close(self.engine, held.manifest.id)
        self.collector.forget(held.manifest.id)
        held.is_open, held.locked = False, []

    @rule()
    def crash(self):
        """The process is gone; another opens what it left."""
        after = self.stores.crashed(self.engine)
        self.leave()
        self.use(after)

    @rule()
    def restore(self):
        """Everything is copied to another file, and that is served from now on."""
        for held in self.surveys:
            self.retry(held)
        after = self.stores.restored(self.engine)
        self.leave()
        self.use(after)

    @rule()
    def copy_what_is_released(self):
        """A copy is the store at one of its moments: no earlier than it was begun and no later than it is done.

        The service may release meanwhile, so what is seen before or after need not be what was copied.
        """
        before = [self.see(held) for held in self.surveys]
        made = self.stores.copy_of_released(self.engine)
        after = [self.see(held) for held in self.surveys]
        for held, first, last in zip(self.surveys, before, after):
            copied = self.see(held, made)
            assert len(first["releases"]) <= len(copied["releases"]) <= len(last["releases"])
            assert books(made, held.manifest).pending == 0
        made.dispose()

    # What must hold ---------------------------------------------------------------------------

    def see(self, held, engine=None):
        """Return what can be seen of a survey: it changes with a release, at closing, and when the key is published.

        At one such moment it is the same whenever one looks, and in a copy too.
        """
        with reading(engine or self.engine) as connection:
            seen = view(read_released(connection, held.manifest.id))
        moment = (len(seen["releases"]), held.is_open, seen["key"] is not None)
        assert held.views.setdefault(moment, seen) == seen
        return seen

    @precondition(lambda self: self.surveys)
    @rule(k=SURVEYS)
    def recompute(self, k):
        """The dashboard's shares are those that anybody finds from the export, and both are the same every time."""
        held = self.pick(k)
        with reading(self.engine) as connection:
            released = read_released(connection, held.manifest.id)
        if not released.n:
            return
        found = results(released)
        document, archive = results_document(found), export_zip(released, found)
        moment = ("results", len(released.releases), held.is_open, released.key is not None)
        kept = (json.dumps(document), sha256(archive).hexdigest())
        assert held.views.setdefault(moment, kept) == kept
        every = document["findings"]["variables"]
        answered = [one for one in every if one["answered"]]  # of ten people all may have skipped one
        shown = {one["name"]: one["shares"]["estimate"] for one in answered}
        with TemporaryDirectory(prefix="sp-export-") as folder:
            ZipFile(io.BytesIO(archive)).extractall(folder)
            for path in sorted((Path(folder) / "data").glob("*.csv")):
                release = sp.read_release(path)
                for name in release.designs.keys() & shown.keys():
                    again = sp.estimate(release.count(name))
                    assert shown[name] == pytest.approx(list(again.w), abs=1e-6)

    @invariant()
    def books_fit(self):
        for held in self.surveys:
            self.settle(held)
            found = books(self.engine, held.manifest)
            bodies = held.counted + [body for body in held.unsure if mark_of(held.manifest, body) in found.marks]
            assert found.marks == {mark_of(held.manifest, body) for body in bodies}
            assert all(size >= FEWEST for size in found.releases)
            is_kept = held.is_open or len(bodies) >= FEWEST  # what is less than a batch in all is deleted at the end
            assert (found.rows, found.answers) == sent(held.manifest, bodies if is_kept else [])
            assert sum(found.releases) + found.pending == len(bodies) * is_kept
            assert not held.is_open or not found.releases or found.pending >= FEWEST
            assert held.is_open or not found.pending
            self.see(held)

    def settle(self, held):
        """Wait until all that was sent before is written or not: it is written in turn."""
        nobody = LockRequest(bytes(10), bytes(32), bytes(32))
        self.loop.run_until_complete(self.collector.writer.write(held.manifest, nobody))


def view(released):
    return {
        "rows": [dict(one) for one in released.rows],
        "framings": dict(released.framings),
        "releases": released.releases,
        "n": released.n,
        "open": released.is_open,
        "key": released.key,
    }


def run(stores, examples, steps, *, at_length):
    """Play examples: the same every time, or at length others every time, which are made small where one fails."""
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.reuse, Phase.generate, *([Phase.shrink] if at_length else [])],
        derandomize=not at_length,
        print_blob=True,
    )
    run_state_machine_as_test(lambda: Machine(stores()), settings=chosen)


@pytest.fixture
def stores(request, sqlite_template):
    def make(database):
        if database == "sqlite":
            return lambda: FileStore(sqlite_template)
        server = request.getfixturevalue("postgres")
        return lambda: PostgresStore(sqlite_template, server, request.getfixturevalue("_postgres_template"))

    return make


class ReleasingStore(FileStore):
    """Stores of which something is released in the very moment after a copy was made."""

    def copy_of_released(self, engine):
        made = super().copy_of_released(engine)
        assert release_due(engine)
        return made


def test_a_release_while_a_copy_is_made_is_no_fault(sqlite_template, monkeypatch):
    monkeypatch.setattr(writer, "release_full", lambda connection: [])  # nothing but the store above releases
    machine = Machine(ReleasingStore(sqlite_template))
    machine.publish("open")
    machine.submit(0, 3 * FEWEST, late=False)
    machine.copy_what_is_released()
    assert sorted(number for number, *_ in machine.surveys[0].views) == [0, 1]
    machine.teardown()


@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
@pytest.mark.parametrize(("database", "examples"), [("sqlite", 4), ("postgres", 2)])
def test_any_order(stores, database, examples):
    run(stores(database), examples, 20, at_length=False)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subsetprivacy.errors.SubsetPrivacyWarning")
@pytest.mark.parametrize(("database", "examples"), [("sqlite", 400), ("postgres", 80)])
def test_any_order_at_length(stores, database, examples):
    run(stores(database), examples, 50, at_length=True)
