"""Advice of independence, honesty, auditing and privacy."""

from subsetprivacy.messages.advice import advise  # noqa: F401
