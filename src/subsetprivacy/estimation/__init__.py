"""Estimators (`sec_est`): every one turns counts into an `Estimate`."""
