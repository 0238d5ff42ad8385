"""Advice of regression, formulas and learning from subsets."""

from subsetprivacy.messages.advice import advise  # noqa: F401
