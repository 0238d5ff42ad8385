"""Advice of data, counting, tabulating, mechanism."""

from subsetprivacy.messages.advice import advise  # noqa: F401
