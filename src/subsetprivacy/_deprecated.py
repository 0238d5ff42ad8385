"""Deprecated names that still work. Each call warns and names the replacement."""

import warnings
from typing import Any

from subsetprivacy.errors import ArgumentError
from subsetprivacy.messages.for_general import USE_INSTEAD
from subsetprivacy.messages.rendering import for_python, with_hint


def warn_deprecated(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that `old` is deprecated in favor of `new`. The warning points to the line of the caller's caller."""
    message = with_hint(f"{old} is deprecated.", for_python(USE_INSTEAD(new=new)))
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def renamed_argument(old: str, old_value: Any, new: str, new_value: Any, *, stacklevel: int = 4) -> Any:
    """Return the value of a renamed argument, given under either name. None means that it was left out.

    Raises
    ------
    ArgumentError
        If it is given under both names.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ArgumentError(f"only one of `{new}` and `{old}` must be given; got both.")
    warn_deprecated(f"`{old}=`", f"`{new}=`", stacklevel=stacklevel)
    return old_value
