"""The meaning of `seed=`: a whole number, a NumPy Generator or a SeedSequence. None gives unrepeatable draws.

A Generator is used as it is and advances with every draw. A number or a
SeedSequence always starts the same stream. Anyone who has the seed can repeat
the draws, so they are not private.
"""

from typing import Any

import numpy as np

from subsetprivacy._checks import shown
from subsetprivacy.errors import ArgumentError


def numpy_generator(seed: Any = None) -> np.random.Generator:
    """Return a NumPy generator for simulations, fresh or from a seed.

    Raises
    ------
    ArgumentError
        If `seed` has another type.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(None if seed is None else seed_sequence(seed))


def seed_sequence(seed: Any, *place: int) -> np.random.SeedSequence:
    """Return the SeedSequence of a number or SeedSequence, or its child at `place`.

    Raises
    ------
    ArgumentError
        If `seed` is neither.
    """
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *place), pool_size=seed.pool_size)
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(
            "`seed` must be a whole number of at least 0, a numpy.random.Generator or a numpy.random.SeedSequence; "
            f"got {shown(seed) if isinstance(seed, (int, float)) else type(seed).__name__}."
        )
    return np.random.SeedSequence(int(seed), spawn_key=place)


def seed_number(seed: Any = None) -> int | None:
    """Return a seed as a number that can be printed, stored and sent to other processes. None stays None."""
    if seed is None or (isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0):
        return None if seed is None else int(seed)
    return int(numpy_generator(seed).integers(1 << 62))
