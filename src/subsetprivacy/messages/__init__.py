"""Notes and advice as data, and how each audience reads them.

Only this package turns advice into words, and no module edits a sentence of another.
"""

from subsetprivacy.messages.advice import Advice, Hint
from subsetprivacy.messages.note import Note, NoteKind, unique

# Where advice is defined. `for_general` is for any module, each of the others for the packages that it names.
MODULES = (
    "for_general",
    "for_designs",
    "for_data",
    "for_files",
    "for_estimates",
    "for_tests",
    "for_plans",
    "for_regression",
    "for_analyses",
    "for_surveys",
)

__all__ = ["Advice", "Hint", "Note", "NoteKind", "unique"]
