"""Advice of collect."""

from subsetprivacy.messages.advice import advise  # noqa: F401
