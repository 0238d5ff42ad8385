"""Advice of design, subsets, variables, incidence."""

from subsetprivacy.messages.advice import advise  # noqa: F401
