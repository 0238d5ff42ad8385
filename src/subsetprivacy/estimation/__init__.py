"""Estimators: every one turns counts into an `Estimate`."""
