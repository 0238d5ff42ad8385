"""Slow down attempts at a password, by account name. The server does not know where they come from.

Anyone who knows a name can make everyone who uses it wait. So a browser that has signed in before is counted
separately.
"""

from collections.abc import Callable
from time import monotonic

from attrs import define

FREE_TRIES = 5  # without waiting
LONGEST_STEP = 16.0  # seconds between two attempts for a name, at most
LONGEST_WAIT = 30.0  # an attempt that would wait longer is refused
FORGET_AFTER = 3600.0
MOST_NAMES = 4096


@define
class _Tries:
    number: int
    free_at: float


class Throttle:
    """Decide how long the next attempt for a name must wait.

    An attempt takes its turn before it is checked, so that simultaneous attempts wait one after the other. Names that
    do not exist are slowed down as well, so the wait does not show which names exist.

    Parameters
    ----------
    clock
        A monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._names: dict[str, _Tries] = {}

    def take_turn(self, name: str) -> float | None:
        """Return how many seconds this attempt must wait, or None if too many wait already.

        Parameters
        ----------
        name
            Attempts with the same name are counted together: the name of an account, or the result of `own_tries`.
        """
        now = self._clock()
        tries = self._names.get(name)
        if tries is None or now - tries.free_at > FORGET_AFTER:
            self._make_room(now)
            tries = self._names[name] = _Tries(0, now)
        begin = max(now, tries.free_at)
        if begin - now > LONGEST_WAIT:
            return None
        tries.number += 1
        tries.free_at = begin + _step(tries.number)
        return begin - now

    def reset(self, name: str) -> None:
        """Forget the attempts for a name after a correct password."""
        self._names.pop(name, None)

    def _make_room(self, now: float) -> None:
        if len(self._names) < MOST_NAMES:
            return
        # Drop the names with the fewest attempts, so that a flood of names does not free one under attack.
        recent = [(name, tries) for name, tries in self._names.items() if now - tries.free_at <= FORGET_AFTER]
        recent.sort(key=lambda pair: -pair[1].number)
        self._names = dict(recent[: MOST_NAMES // 2])


def own_tries(name: str, browser: str) -> str:
    """Return the name under which a browser's attempts at an account are counted. No account can have this name."""
    return f"{name}\0{browser}"


def _step(number: int) -> float:
    return 0.0 if number < FREE_TRIES else min(2.0 ** min(number - FREE_TRIES, 10), LONGEST_STEP)
