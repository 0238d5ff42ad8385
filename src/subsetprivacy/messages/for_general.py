"""Advice that any module gives."""

from subsetprivacy.messages.advice import advise

NEAREST = advise("nearest", "the nearest is {nearest}")
INSTALL = advise("install", "pip install 'subsetprivacy[{extra}]'")
INSTALL_LIBRARY = advise("install_library", "pip install {library}")
MORE_PEOPLE = advise("more_people", "more people")
