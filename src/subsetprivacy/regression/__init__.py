"""Regression of a private response: arrays in, results out."""
