"""Regression of an outcome on private predictors: arrays in, results out."""
