"""Advice of evaluation of classifiers, and of the unbiased indicators."""

from subsetprivacy.messages.advice import advise  # noqa: F401
