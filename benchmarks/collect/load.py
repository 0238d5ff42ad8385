"""Measure how many submissions a second are safely on disk, next to bare commits of the same database.

Run it with ``make bench-collect`` or ``python benchmarks/collect/load.py [--people N] [--rounds K] [--only NAME]``.
`subsetprivacy serve` runs as it is installed; 64 connections, in a process of their own on the same machine, send
submissions with one-time codes that were locked beforehand. A submission is answered when the database has synced it.
On PostgreSQL every round is run again with a second server on the same database, and the same 64 connections. There
all of it shares the machine's cores. ``--cores`` gives each server a part of one, so that one server leaves room for
another: then the ratio tells whether servers wait for each other, and not how many cores there are.
Nothing fails if a target is missed; wrong counts and refused requests do.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import bare
from attrs import frozen
from driving import Drive, drive
from people import People
from serving import Server, family_cpu_seconds
from sqlalchemy import Engine, func, select

from subsetprivacy.collect.storage.opening import open_store, reading
from subsetprivacy.collect.storage.schema import arrived, pending, spent, tally

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))

CONNECTIONS = 64
GROUP = 64
BARE_SECONDS = 2.0
TARGETS = {"SQLite": (3000, 0.06), "PostgreSQL": (2500, 0.06)}  # submissions a second, seconds for 99%
TWO_SERVERS = 1.6  # times as many by two servers as by one


@frozen
class Store:
    """A database to measure, and its bare speed by commits of so many pairs."""

    name: str
    address: str
    bare: Callable[[int], float]
    other_cpu: Callable[[], float]
    servers: int = 1


@frozen
class Round:
    """One run of all people: the requests, the processor time of the server and of the database, bare speeds."""

    locks: Drive
    submits: Drive
    lock_cpu: float
    cpu: float
    other_cpu: float
    bare: float
    bare_grouped: float


def measure(
    store: Store, people: int, variables: int, rounds: int, cores: float | None = None
) -> tuple[list[list[Round]], float]:
    """Return the rounds by one server, by two and so on, and the most memory that one took, in megabytes."""
    engine = open_store(store.address if "://" in store.address else f"sqlite:///{store.address}")
    servers: list[Server] = []
    try:
        servers += (Server.start(store.address) for _ in range(store.servers))
        if cores is not None:
            for server in servers:
                server.limit(cores)
        held: list[list[Round]] = [[] for _ in servers]
        for _ in range(rounds):  # in turns: the machine's speed changes
            for number, done in enumerate(held, start=1):
                done.append(_round(store, servers[:number], People.invite(engine, people, variables)))
        peak = max(server.peak_megabytes() for server in servers)
    finally:
        for server in servers:
            server.stop()
    _check(engine, people * rounds * store.servers)
    engine.dispose()
    return held, peak


def _round(store: Store, servers: list[Server], people: People) -> Round:
    ports = [server.port for server in servers]
    cpu = _cpu(servers)
    locks = drive(ports, people.locks(), CONNECTIONS)
    lock_cpu = _cpu(servers) - cpu
    if set(locks.statuses) != {200}:
        raise SystemExit(f"{store.name}: not all codes were locked: {dict(locks.statuses)}")
    submissions = people.submissions(locks.bodies)
    cpu, other = _cpu(servers), store.other_cpu()
    submits = drive(ports, submissions, CONNECTIONS)
    cpu, other = _cpu(servers) - cpu, store.other_cpu() - other
    return Round(locks, submits, lock_cpu, cpu, other, store.bare(1), store.bare(GROUP))


def _cpu(servers: list[Server]) -> float:
    return sum(server.cpu_seconds() for server in servers)


def _check(engine: Engine, people: int) -> None:
    """Stop unless every submission is there once."""

    def number(connection: Any, *wanted: Any) -> int:
        return sum(connection.scalar(one) or 0 for one in wanted)

    with reading(engine) as connection:
        counted = number(connection, *(select(func.sum(t.c.n)).where(t.c.grp == 0) for t in (pending, tally)))
        marks = number(connection, *(select(func.count()).select_from(t) for t in (arrived, spent)))
    if not counted == marks == people:
        raise SystemExit(f"{people} people sent answers, {counted} are counted, by {marks} tickets")


def report(store: Store, rounds: list[Round], peak: float, cores: float | None = None) -> list[str]:
    """Return the lines of the table for a database and one server; with a part of a core it has no target."""
    statuses = {status for one in rounds for status in one.submits.statuses}
    if statuses != {201}:
        raise SystemExit(f"{store.name}: not all submissions were counted: {statuses}")

    def middle(value: Callable[[Round], float]) -> float:
        return median(map(value, rounds))

    rate, p99 = middle(lambda one: one.submits.rate), middle(lambda one: one.submits.quantile(0.99))
    wanted, within = TARGETS[store.name]
    reached = rate >= wanted and (within is None or p99 <= within)
    aim = f"at least {wanted}/s" + (f", p99 at most {within * 1e3:.0f} ms" if within else "")
    judged = f"to reach: {aim}: {'yes' if reached else 'no'}" if cores is None else f"with {cores:g} of a core"
    n = len(rounds[0].submits.latencies)
    return [
        f"{store.name}: {n} submissions by {CONNECTIONS} connections, median of {len(rounds)} rounds",
        f"  submissions     {rate:7.0f} /s   ({judged}; "
        f"rounds: {', '.join(f'{one.submits.rate:.0f}' for one in rounds)})",
        f"  answered within {middle(lambda one: one.submits.quantile(0.5)) * 1e3:7.1f} ms (half), "
        f"{p99 * 1e3:.1f} ms (99%), {max(one.submits.latencies[-1] for one in rounds) * 1e3:.0f} ms (all); errors: 0",
        f"  locks           {middle(lambda one: one.locks.rate):7.0f} /s",
        f"  bare commits    {middle(lambda one: one.bare):7.0f} /s,  ratio "
        f"{middle(lambda one: one.submits.rate / one.bare):.2f};  by {GROUP}: "
        f"{middle(lambda one: one.bare_grouped):.0f} /s, ratio "
        f"{middle(lambda one: one.submits.rate / one.bare_grouped):.3f}",
        f"  processor       {middle(lambda one: one.cpu / n) * 1e6:7.0f} µs a submission in the server, "
        f"{middle(lambda one: one.other_cpu / n) * 1e6:.0f} in the database's processes, "
        f"{middle(lambda one: one.submits.cpu_seconds / n) * 1e6:.0f} in the load generator; "
        f"a lock {middle(lambda one: one.lock_cpu / n) * 1e6:.0f}",
        f"  memory          {peak:7.0f} MB at most in the server",
    ]


def report_two(one: list[Round], two: list[Round]) -> list[str]:
    """Return the lines of the table for two servers, each round next to the one by a single server before it."""
    ratios = sorted(b.submits.rate / a.submits.rate for a, b in zip(one, two, strict=True))
    ratio, p99 = median(ratios), median(each.submits.quantile(0.99) for each in two)
    reached = "yes" if ratio >= TWO_SERVERS else "no"
    return [
        f"  two servers     {median(each.submits.rate for each in two):7.0f} /s, 99% within {p99 * 1e3:.1f} ms; "
        f"{ratio:.2f} times one server (to reach: {TWO_SERVERS}: {reached}; "
        f"rounds: {', '.join(f'{each:.2f}' for each in ratios)})",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=20_000, help="submissions in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variables", type=int, default=1, help="questions of the survey")
    parser.add_argument("--only", choices=[*TARGETS], help="one database")
    parser.add_argument("--cores", type=float, help="how much of a core each server has, as if on its own machine")
    chosen = parser.parse_args()
    for make in (_sqlite, _postgres):
        make(chosen)


def _show(chosen: argparse.Namespace, store: Store) -> None:
    (one, *more), peak = measure(store, chosen.people, chosen.variables, chosen.rounds, chosen.cores)
    lines = report(store, one, peak, chosen.cores)
    for two in more:
        lines += report_two(one, two)
    print("\n".join(lines), flush=True)
    print(f"  load of the machine over the last minute: {os.getloadavg()[0]:.1f}\n", flush=True)


def _sqlite(chosen: argparse.Namespace) -> None:
    if chosen.only not in {None, "SQLite"}:
        return
    with TemporaryDirectory(prefix="sp-load-") as folder:
        place = Path(folder)

        def commits(group: int) -> float:
            for leftover in place.glob("bare*"):
                leftover.unlink()
            return bare.sqlite_commits(place, BARE_SECONDS, group)

        _show(chosen, Store("SQLite", str(place / "load.db"), commits, lambda: 0.0))


def _postgres(chosen: argparse.Namespace) -> None:
    from databases import HOW_TO_GET, Postgres, postgres_programs

    if chosen.only not in {None, "PostgreSQL"}:
        return
    programs = postgres_programs()
    if programs is None:
        print(f"PostgreSQL is absent (to get it: {HOW_TO_GET})")
        return
    server = Postgres(programs)
    try:
        server.start()
        name = server.fresh()

        def commits(group: int) -> float:
            return bare.postgres_commits(server.conninfo(name), BARE_SECONDS, group)

        assert server.process is not None
        pid = server.process.pid
        _show(chosen, Store("PostgreSQL", server.url(name), commits, lambda: family_cpu_seconds(pid), servers=2))
    finally:
        server.remove()


if __name__ == "__main__":
    main()
