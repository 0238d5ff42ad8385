"""`pool`: combine the fits of several completed sets by Rubin's rules."""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import numpy as np

from subsetprivacy._types import FloatArray
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.imputation.fits import ReadFit, read_fit
from subsetprivacy.imputation.pooled import Pooled
from subsetprivacy.messages.for_analyses import NAME_THE_PARAMETERS, SAME_TERMS


def pool(fits: Iterable[Any], *, names: Sequence[str] | None = None, df: float | None = None) -> Pooled:
    r"""Combine the fits to several imputed sets into one result, by Rubin's rules.

    Parameters
    ----------
    fits
        A fit for each set, all of the same model. Accepted are results of statsmodels, linearmodels, lifelines and this
        package; pairs of estimates and variances, or of estimates and their covariance matrix; and mappings from names
        to pairs of an estimate and its standard error.
    names
        The names of the parameters, if the fits have none or you want others.
    df
        The residual degrees of freedom of the complete data; by default those of the fits, or infinite if they have
        none.

    Returns
    -------
    Pooled

    Raises
    ------
    ArgumentError
        If there are fewer than two fits, or one cannot be read or has no finite estimates.
    MismatchError
        If the fits have different parameters.

    Notes
    -----
    With the estimates :math:`Q_k` and covariances :math:`U_k` of m sets, the pooled estimate is the mean
    :math:`\bar Q`, and its variance :math:`T = \bar U + (1 + 1/m) B`, where B is the covariance of the :math:`Q_k`
    between the sets. Intervals and tests of one parameter use the t distribution with the degrees of freedom of Barnard
    and Rubin (1999), those of several parameters the F distribution of Li, Raghunathan and Rubin (1991).

    Examples
    --------
    >>> pooled = pool([(1.0, 0.04), (1.2, 0.05), (0.9, 0.03)], names=["slope"])
    >>> pooled
    <Pooled: 1 parameter from 3 sets, largest missing information 0.52>
    >>> pooled.estimates.round(3), pooled.se.round(3)
    (array([1.033]), array([0.267]))
    """
    if isinstance(fits, (str, bytes)) or not isinstance(fits, Iterable):
        raise ArgumentError(f"`fits` must be a list with a fit for each set; got {type(fits).__name__}.")
    read = [read_fit(fit, at) for at, fit in enumerate(fits)]
    if len(read) < 2:
        raise ArgumentError(f"`fits` must contain at least 2 fits, one for each set; got {len(read)}.")
    _check_alike(read)
    shared = _names(read[0], names)
    return combine(
        shared,
        np.array([fit.estimates for fit in read]),
        np.mean([fit.cov for fit in read], axis=0),
        _complete_df(df, min(fit.df for fit in read)),
    )


def combine(names: tuple[str, ...], estimates: FloatArray, within: FloatArray, df: float = inf) -> Pooled:
    """Return the pooled result of estimates, shape (m, k), and the mean of their covariances, shape (k, k)."""
    mean = estimates.mean(axis=0)
    apart = estimates - mean
    return Pooled(names, mean, within, apart.T @ apart / (len(estimates) - 1), len(estimates), df)


def _check_alike(fits: Sequence[ReadFit]) -> None:
    first = fits[0]
    for at, fit in enumerate(fits):
        if len(fit.estimates) != len(first.estimates) or fit.names != first.names:
            here, there = set(fit.names or ()), set(first.names or ())
            differ = sorted(here ^ there)[:6]
            got = f"others for {', '.join(differ)}" if differ else f"{len(fit.estimates)} for {len(first.estimates)}"
            raise MismatchError(
                f"fits must have the same parameters in the same order; fit {at} has {got}.", SAME_TERMS
            )
        if not np.isfinite(fit.estimates).all() or not np.isfinite(fit.cov.diagonal()).all():
            raise ArgumentError(
                f"fit {at} must have finite estimates and variances; got some that are not.", SAME_TERMS
            )
        if (fit.cov.diagonal() < 0).any():
            raise ArgumentError(f"fit {at} must have variances that are not negative; got some that are.")


def _names(fit: ReadFit, names: Sequence[str] | None) -> tuple[str, ...]:
    k = len(fit.estimates)
    if names is None:
        return fit.names or tuple(f"parameter {at + 1}" for at in range(k))
    if isinstance(names, str) or len(names) != k or len(set(names)) < k:
        raise MismatchError(f"`names` must be {k} different names; got others.", NAME_THE_PARAMETERS)
    return tuple(map(str, names))


def _complete_df(df: Any, degrees: float) -> float:
    if df is None:
        return degrees
    if isinstance(df, bool) or not isinstance(df, (int, float, np.number)) or not df > 0:
        raise ArgumentError("`df` must be a number above 0; got something else.")
    return float(df)
