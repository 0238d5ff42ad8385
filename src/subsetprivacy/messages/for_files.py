"""Advice of frames, engines, report and the paths of this machine."""

from subsetprivacy.messages.advice import advise  # noqa: F401
