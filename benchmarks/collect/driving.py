"""Many connections at once, each sending its next request as soon as the last is answered."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen


@frozen
class Drive:
    """What came of a number of requests."""

    seconds: float
    latencies: tuple[float, ...]  # sorted
    statuses: Counter[int]
    bodies: dict[int, bytes]
    cpu_seconds: float

    def quantile(self, share: float) -> float:
        """Return the time within which this share of the requests was answered."""
        return self.latencies[min(int(share * len(self.latencies)), len(self.latencies) - 1)]

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies) / self.seconds


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[tuple[int, bytes]], ended: "asyncio.Future[None]") -> None:
        self._requests, self._ended = requests, ended
        self._buffer, self._number, self._sent = b"", 0, 0.0
        self.latencies: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.bodies: dict[int, bytes] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def _send(self) -> None:
        following = next(self._requests, None)
        if following is None:
            self._transport.close()
            return
        self._number, request = following
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, ended, body = self._buffer.partition(b"\r\n\r\n")
        if not ended:
            return
        if len(body) < int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0]):
            return
        self.latencies.append(time.perf_counter() - self._sent)
        self.statuses[int(head[9:12])] += 1
        self.bodies[self._number] = body
        self._buffer = b""
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


def drive(ports: Sequence[int], requests: Sequence[bytes], connections: int) -> Drive:
    """Send all requests, over connections that are spread over the servers, and wait for all answers."""
    return asyncio.run(_drive(ports, requests, connections))


async def _drive(ports: Sequence[int], requests: Sequence[bytes], connections: int) -> Drive:
    loop = asyncio.get_running_loop()
    waiting = iter(enumerate(requests))
    begun, cpu = time.perf_counter(), time.process_time()
    made, ends = [], []
    for k in range(connections):
        ended: asyncio.Future[None] = loop.create_future()
        connection = _Connection(waiting, ended)
        await loop.create_connection(lambda one=connection: one, "127.0.0.1", ports[k % len(ports)])
        made.append(connection)
        ends.append(ended)
    await asyncio.gather(*ends)
    return Drive(
        seconds=time.perf_counter() - begun,
        cpu_seconds=time.process_time() - cpu,
        latencies=tuple(sorted(latency for one in made for latency in one.latencies)),
        statuses=sum((one.statuses for one in made), Counter()),
        bodies={number: body for one in made for number, body in one.bodies.items()},
    )
