"""Advice of planning and optimizing."""

from subsetprivacy.messages.advice import advise  # noqa: F401
