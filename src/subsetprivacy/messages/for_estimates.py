"""Advice of estimation, comparing and measures."""

from subsetprivacy.messages.advice import advise  # noqa: F401
