"""Classifiers for scikit-learn that learn from subsets."""
