"""Give the types of the package their short names in signatures: ``FloatArray``, not what it expands to.

Annotations are read after the package is imported, when an alias has
already become what it stands for. So the aliases are replaced by names
before anything else of the package is imported; only `docs/conf.py` does it.
"""

from typing import NewType

from subsetprivacy import _types

NAMES = ("AnyArray", "ArrayLike", "BoolArray", "Distribution", "FloatArray", "IntArray", "Label", "Seed", "WordArray")

for _name in NAMES:
    _new = NewType(_name, object)
    _new.__module__ = "subsetprivacy"
    setattr(_types, _name, _new)
