"""The best design within a leakage budget (`optimal`), and the trade-off curve (`frontier`)."""

from subsetprivacy.optimizing.curve import Frontier, frontier
from subsetprivacy.optimizing.measure import Mark, marked_designs
from subsetprivacy.optimizing.result import Optimum
from subsetprivacy.optimizing.search import optimal

__all__ = ["Frontier", "Mark", "Optimum", "frontier", "marked_designs", "optimal"]
