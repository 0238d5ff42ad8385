"""Hides installed modules from a Python that has this folder on its PYTHONPATH; see `bare`."""

import os
import sys
from importlib.machinery import PathFinder

HIDDEN = frozenset(os.environ.get("HIDDEN_MODULES", "").split())


class VisiblePaths:
    """Finds modules on the path as Python does, but for those that are hidden."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else PathFinder.find_spec(name, path, target)

    @staticmethod
    def find_distributions(*args, **kwargs):
        return PathFinder.find_distributions(*args, **kwargs)

    @staticmethod
    def invalidate_caches():
        PathFinder.invalidate_caches()


sys.meta_path[:] = [VisiblePaths if finder is PathFinder else finder for finder in sys.meta_path]
