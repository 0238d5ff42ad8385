"""Leakage: what subsets reveal, for a design at a distribution and for single people."""
