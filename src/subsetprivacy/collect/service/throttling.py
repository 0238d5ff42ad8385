"""Tries at a password, slowed by the name they are for. Nothing is known of where they come from.

Whoever knows a name can make everybody wait who tries it. So a browser that has signed in before has tries of its own.
"""

from collections.abc import Callable
from time import monotonic

from attrs import define

FREE_TRIES = 5  # that need not wait
LONGEST_STEP = 16.0  # seconds between two tries of a name, at most
LONGEST_WAIT = 30.0  # beyond that a try is refused: it would only pile up
FORGET_AFTER = 3600.0
MOST_NAMES = 4096


@define
class _Tries:
    number: int
    free_at: float


class Throttle:
    """Says how long the next try of a name has to wait.

    A try takes its turn before it is checked, so that many at once wait one after the other. Names that do not
    exist are slowed alike: nobody learns from the wait which names do.

    Parameters
    ----------
    clock
        Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._names: dict[str, _Tries] = {}

    def take_turn(self, name: str) -> float | None:
        """Return the seconds this try has to wait, or None if too many wait already.

        Parameters
        ----------
        name
            Whose tries are counted together: the name of an account, or by `own_tries` that of a browser.
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

    def let_in(self, name: str) -> None:
        """Forget the tries of a name whose password was right."""
        self._names.pop(name, None)

    def _make_room(self, now: float) -> None:
        if len(self._names) < MOST_NAMES:
            return
        # Those with the fewest tries go: a flood of others does not free one that is being tried hard.
        recent = [(name, tries) for name, tries in self._names.items() if now - tries.free_at <= FORGET_AFTER]
        recent.sort(key=lambda pair: -pair[1].number)
        self._names = dict(recent[: MOST_NAMES // 2])


def own_tries(name: str, browser: str) -> str:
    """Return the name by which a browser's tries at an account are counted; no account can be called so."""
    return f"{name}\0{browser}"


def _step(number: int) -> float:
    return 0.0 if number < FREE_TRIES else min(2.0 ** min(number - FREE_TRIES, 10), LONGEST_STEP)
