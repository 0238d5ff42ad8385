"""`Sampling`: how a sample was drawn."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias, get_args

import numpy as np
from attrs import evolve, field, fields, frozen
from scipy.sparse import coo_array

from subsetprivacy._checks import check_choice, check_same_index, index_of, read_only, shown
from subsetprivacy._choices import LonelyStrata, ReplicateCenter, ReplicateMethod
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Seed
from subsetprivacy._words import counted, people
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_data import OF_PEOPLE, RESOLVE_COLUMNS
from subsetprivacy.sampling.calibration import Calibration
from subsetprivacy.sampling.columns import columns_of, labels, nested, numbers, refuse_numbers
from subsetprivacy.sampling.replicates import Replicates, check_scales, given_replicates, made_replicates
from subsetprivacy.sampling.units import Units, units_of

Draws: TypeAlias = Callable[[FloatArray], FloatArray]  # from factors to sums of variances over the draws

_ROLES = ("weights", "strata", "clusters", "fpc", "replicates")


@frozen(slots=False, eq=False, repr=False)
class Sampling:
    r"""How a sample was drawn: weights, strata, clusters, replicate weights.

    Parameters
    ----------
    weights
        A sampling weight per person, or the name of a column. By default everyone has weight 1. People who should not
        count get weight 0 and keep their row.
    strata
        The stratum of each person, or the name of a column.
    clusters
        The first-stage unit of each person, or the name of a column. Equal ids in different strata are different
        clusters.
    fpc
        For the finite population correction: for each person, the share of first-stage units drawn in their stratum, or
        the number of units in the stratum. A number per person, one number, or the name of a column. Without it, units
        count as drawn with replacement, which slightly overstates variances. ``Sampling(fpc=1)`` alone is a census:
        these people are the population, and only the draws of their subsets are random.
    replicates
        Replicate weights, (people, replicates), or a list of column names. Strata and clusters are then not used for
        variances. Replicates of a finite population already contain its correction, so give `fpc` with them: it adds
        the variance of the draws of subsets, which the correction must not reduce.
    replicate_method
        The method that made them: ``"bootstrap"``, ``"jackknife"`` or ``"brr"``.
    scale, rscales, rho
        The covariance is ``scale * sum(rscales * squared differences)``. By default scale is 1/R for a bootstrap,
        1/(R(1 - rho)²) for BRR (`rho` is Fay's factor), (R - 1)/R for a jackknife without `rscales`, 1 with them.
    combined
        True if replicates are weights; False if they are factors of the weights.
    center
        What replicates are compared with: the ``"estimate"``, or the ``"mean"`` of the replicates.
    lonely
        A stratum with one first-stage unit allows no variance estimate. ``"error"`` raises an error; ``"center"``
        compares the unit with the mean of all units, which overstates variances.

    Raises
    ------
    ArgumentError, MismatchError
        If columns have different lengths or invalid entries. Messages give a row and a count.

    Notes
    -----
    Rows are never dropped, since a cluster without any answers was still drawn. An estimator gives each person a score,
    which is 0 for people it does not use, and `covariance` returns the covariance of the weighted sum of scores.

    The draw of a subset is a second stage. `fpc` corrects the variance of the first stage, the choice of people, and
    leaves the variance of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> sampling = Sampling([2, 2, 1, 1], strata=["a", "a", "b", "b"])
    >>> sampling
    <Sampling: 4 people, weighted, 2 strata, 2 degrees of freedom>
    >>> sampling.covariance(np.array([[1.0], [0.0], [1.0], [1.0]]))
    array([[4.]])

    Names of columns are resolved by a table:

    >>> Sampling("weight", clusters="school").of({"weight": [1.5, 2.0, 2.5], "school": [1, 1, 2]}).n
    3

    A census, of as many people as the data have:

    >>> Sampling(fpc=1)
    <Sampling: everyone in the population>
    """

    _weights: Any = None
    _strata: Any = field(default=None, kw_only=True)
    _clusters: Any = field(default=None, kw_only=True)
    _fpc: Any = field(default=None, kw_only=True)
    _replicates: Any = field(default=None, kw_only=True)
    replicate_method: ReplicateMethod | None = field(default=None, kw_only=True)
    scale: float | None = field(default=None, kw_only=True)
    rscales: Any = field(default=None, kw_only=True)
    rho: float = field(default=0.0, kw_only=True)
    combined: bool = field(default=True, kw_only=True)
    center: ReplicateCenter = field(default="estimate", kw_only=True)
    lonely: LonelyStrata = field(default="error", kw_only=True)
    calibration: Calibration | None = field(default=None, kw_only=True, repr=False)
    index: Any = field(default=None, init=False)  # the index of pandas columns, to compare with that of the data
    domain: BoolArray | None = field(default=None, init=False)
    _whole: "Sampling | None" = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        if all(getattr(self, f"_{role}") is None for role in _ROLES):
            raise ArgumentError(
                "one of `weights`, `strata`, `clusters`, `fpc` and `replicates` must be given; got none."
            )
        check_choice(self.lonely, get_args(LonelyStrata), "lonely")
        check_choice(self.center, get_args(ReplicateCenter), "center")
        if (self._replicates is None) != (self.replicate_method is None):
            raise ArgumentError("`replicates` and `replicate_method` must be given together; got one of them.")
        if self.replicate_method is not None:
            check_choice(self.replicate_method, get_args(ReplicateMethod), "replicate_method")
        if not self.names:
            self._keep_arrays()

    def _keep_arrays(self) -> None:
        """Check the arguments, and store them as read-only arrays."""
        given = {role: getattr(self, f"_{role}") for role in _ROLES}
        check_same_index(given)
        object.__setattr__(self, "index", index_of(given))
        made: dict[str, Any] = {"weights": None if self._weights is None else numbers(self._weights, "weights")}
        n = None if made["weights"] is None else len(made["weights"])
        for role in ("strata", "clusters"):
            made[role] = None if given[role] is None else labels(given[role], role, n)
            n = n if made[role] is None else len(made[role])
        if made["clusters"] is not None:
            made["clusters"] = nested(made["clusters"], made["strata"])
        made["replicates"] = None if self._replicates is None else _matrix(self._replicates, n)
        n = n if made["replicates"] is None else len(made["replicates"])
        if n is None and _is_number(self._fpc):  # the people are those of the data
            object.__setattr__(self, "_fpc", float(numbers([self._fpc], "fpc")[0]))
            return
        made["fpc"] = None if self._fpc is None else _correction(self._fpc, n)
        n = len(made["fpc"]) if n is None else n
        made["weights"] = np.ones(n) if made["weights"] is None else made["weights"]
        if n and not made["weights"].any():
            raise ArgumentError("`weights` must not all be 0; got no one with a weight.")
        for role, array in made.items():
            object.__setattr__(self, f"_{role}", array if array is None else read_only(array))

    # Columns ----------------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, Any]:
        """The names of columns that are not yet resolved, by argument."""
        given = {role: getattr(self, f"_{role}", None) for role in _ROLES}
        return {role: column for role, column in given.items() if isinstance(column, str) or _is_names(role, column)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that `of` reads."""
        flat = [[column] if isinstance(column, str) else list(column) for column in self.names.values()]
        return tuple(dict.fromkeys(name for names in flat for name in names))

    def of(self, table: Any) -> "Sampling":
        """Return the sampling with column names replaced by columns of a table.

        Parameters
        ----------
        table
            A local table of any library, or a dict of columns, with a row per person. A query runs once, and its rows
            must be in the order of the data.

        Raises
        ------
        ArgumentError
            If a column is missing.
        """
        if not self.names:
            return self
        columns = columns_of(table, self.columns)
        made: dict[str, Any] = {
            role: columns[name] if isinstance(name, str) else _side_by_side([columns[part] for part in name])
            for role, name in self.names.items()
        }
        return evolve(self, **made)

    def _resolved(self) -> "Sampling":
        if self.names:
            raise ArgumentError(
                "a sampling must have columns, not only their names, before it is used; got names of "
                f"{', '.join(self.names)} only.",
                RESOLVE_COLUMNS,
            )
        return self

    # People -----------------------------------------------------------------------------------

    @property
    def has_rows(self) -> bool:
        """Whether there is a row per person. A single `fpc` describes any number of people."""
        return bool(self.names) or self._weights is not None

    def of_people(self, n: int) -> "Sampling":
        """Return the sampling of n people: itself, or for a single `fpc` the sampling with a row for each.

        Raises
        ------
        ArgumentError
            If it has only names of columns.
        MismatchError
            If it describes another number of people.
        """
        if self._resolved().has_rows:
            if self.n != n:
                raise MismatchError(
                    f"`sampling` must describe the people of `data`; got {counted(self.n, 'row')} for {people(n)}."
                )
            return self
        if n not in self._sized:  # once, since parts of one sample are correlated
            self._sized[n] = evolve(self, weights=np.ones(n))
        return self._sized[n]

    @cached_property
    def _sized(self) -> "dict[int, Sampling]":
        return {}

    def fraction_of(self, n: float) -> float:
        """Return the share of the population that n people are, for a single `fpc`."""
        given = float(self._fpc)
        if 1 < given < n:
            raise ArgumentError(
                "`fpc` must be the share of people that were drawn, at most 1, or the size of the population, at least "
                "that of the sample; got neither."
            )
        return given if given <= 1 else n / given

    # What it holds ----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of people, including those with weight 0."""
        return len(self.weights)

    @property
    def weights(self) -> FloatArray:
        """The weight of each person; 0 for people outside the subpopulation of `within`."""
        weights: FloatArray | None = self._resolved()._weights
        if weights is None:
            raise ArgumentError(
                "a sampling with a single `fpc` must have people before it is used; got none.", OF_PEOPLE
            )
        return weights if self.domain is None else weights * self.domain

    @property
    def whole(self) -> "Sampling":
        """The whole sample that `within` was applied to. Parts of the same sample are correlated."""
        return self if self._whole is None else self._whole

    @property
    def strata(self) -> IntArray | None:
        """The index of each person's stratum; None if there are no strata."""
        strata: IntArray | None = self._resolved()._strata
        return strata

    @property
    def clusters(self) -> IntArray | None:
        """The index of each person's cluster, unique across strata; None if there are no clusters."""
        clusters: IntArray | None = self._resolved()._clusters
        return clusters

    @property
    def fpc(self) -> FloatArray | None:
        """For each person, the share of units drawn in their stratum, or its number of units; None if not given."""
        fpc: FloatArray | None = self._resolved()._fpc
        return fpc

    @cached_property
    def units(self) -> Units:
        """The first-stage units."""
        return units_of(self.n, self.strata, self.clusters, self.fpc)

    @cached_property
    def replication(self) -> Replicates | None:
        """The replicates and the formula of their covariance; None if variances are linearized."""
        replicates = self._resolved()._replicates
        if replicates is None or isinstance(replicates, Replicates):
            return replicates
        assert self.replicate_method is not None
        scales = check_scales(self.replicate_method, replicates.shape[1], self.scale, self.rscales, self.rho)
        about_mean = self.center == "mean"
        return given_replicates(
            replicates, self._weights, self.replicate_method, scales, combined=self.combined, about_mean=about_mean
        )

    @property
    def replicate_weights(self) -> FloatArray | None:
        """The weights of all people in each replicate, (replicates, people); None without replicates."""
        if self.replication is None:
            return None
        made = self.replication.weights(self._weights)
        return made if self.domain is None else made * self.domain

    @property
    def method(self) -> str:
        """The variance method: ``"linearized"``, or the method of the replicates."""
        return "linearized" if self.replication is None else self.replication.method

    @cached_property
    def degrees_of_freedom(self) -> int:
        """First-stage units minus strata; for replicates, at most the number of linearly independent ones minus one.

        Units without any positive weight count, since they were drawn.
        """
        known = self.units.degrees_of_freedom
        if self.replication is None:
            return known
        independent = self.replication.rank() - 1
        has_units = self.strata is not None or self.clusters is not None
        return min(known, independent) if has_units else independent

    # Covariances ------------------------------------------------------------------------------

    def draw_factors(self) -> FloatArray | None:
        r"""Return the factor of the variance of each person's draw that `fpc` takes away, :math:`f_h w_i^2`.

        None if nothing is taken away.

        Raises
        ------
        ArgumentError
            If weights are calibrated to a private margin, which depends on the draws.
        """
        if not self.is_finite:
            return None
        if self.calibration is not None and self.calibration.private:
            raise ArgumentError("`fpc` must be left out of weights that are calibrated to a private margin; got both.")
        units = self.units
        return np.asarray(units.fraction[units.stratum[units.of_person]] * self.weights**2)

    def covariance(self, scores: FloatArray, draws: Draws | None = None) -> FloatArray:
        r"""Return the covariance of the weighted sum of scores over the people.

        Parameters
        ----------
        scores
            Shape (n, k), not weighted; 0 for people who are not used.
        draws
            For scores that depend on a drawn subset: a function that takes a factor per person and returns the sum of
            factors times the variances of the scores over the draws, (k, k). It is called only with `fpc`.

        Raises
        ------
        MismatchError
            If there is not one row per person.
        ArgumentError
            If strata have one first-stage unit, and `lonely` is ``"error"``.

        Notes
        -----
        Linearized: :math:`\sum_h (1-f_h)\frac{n_h}{n_h-1}\sum_c (z_{hc}-\bar z_h)(z_{hc}-\bar z_h)^\top` with
        :math:`z_{hc} = \sum_{i \in hc} w_i s_i`. If weights are calibrated, the residual of the score replaces the
        score. With replicates, it is the covariance of the sums over replicates. To either,
        :math:`\sum_h f_h \sum_{i \in h} w_i^2 \mathrm{Var}(s_i \mid X_i)` is added.
        """
        scores = self._scores(scores)
        if self.replication is not None:
            chosen = self.replicated(self.replicate_sums(scores), self.weights @ scores)
        else:
            apart = scores if self.calibration is None else self.calibration.residuals(scores)
            totals = self.units.totals(self._weights[:, None] * apart)
            chosen = self.units.covariance(totals, center_lonely=self.lonely == "center")
        return chosen + self.of_draws(draws)

    def of_draws(self, draws: Draws | None) -> FloatArray | float:
        """Return the variance of the draws that `fpc` takes away; see `covariance`."""
        factors = None if draws is None else self.draw_factors()
        return 0.0 if draws is None or factors is None else draws(factors)

    def covariance_of_groups(self, group: IntArray, number: int) -> FloatArray:
        """Return the covariance of the sums of weights of groups of people, (number, number).

        Parameters
        ----------
        group
            The index of each person's group, -1 for none.
        number
            The number of groups.

        Notes
        -----
        Equal to `covariance` of the indicators, without storing a column per group.
        """
        used = np.flatnonzero(group >= 0 if self.domain is None else (group >= 0) & self.domain)
        weights = self._weights[used]
        if self.replication is not None:
            sums = self.replication.group_sums(self._weights, used, group[used], number)
            return self.replicated(sums, np.bincount(group[used], weights, minlength=number).astype(np.float64))
        at = (self.units.of_person[used], group[used])
        totals = coo_array((weights, at), (self.units.number, number)).tocsr()
        left = self.lonely == "center"
        if self.calibration is None:
            return self.units.covariance_of_sparse(totals, center_lonely=left)
        columns = self.calibration.columns
        slopes = self.calibration.slopes_of_groups(used, group[used], number)
        explained = self.units.totals(self._weights[:, None] * columns) @ slopes
        return self.units.covariance(totals.toarray() - explained, center_lonely=left)

    def simple_random(self, scores: FloatArray, rows: AnyArray | None = None) -> FloatArray:
        r"""Return the covariance of the weighted sum of scores for a simple random sample of the same size.

        Parameters
        ----------
        scores
            Shape (n, k), not weighted.
        rows
            Which people count; by default all with a positive weight.

        Notes
        -----
        :math:`\frac{W^2}{m-1}\sum_i \frac{w_i}{W}(s_i-\bar s)(s_i-\bar s)^\top`, :math:`W = \sum w_i`, over the m
        people who count. A design effect is a variance divided by this one.
        """
        scores = self._scores(scores)
        used = self.weights > 0 if rows is None else (self.weights > 0) & rows
        w, s = self.weights[used], scores[used]
        total = w.sum()
        apart = s - (w @ s) / total
        return np.asarray(total / max(len(w) - 1, 1) * (apart.T * w) @ apart)

    def replicate_sums(self, scores: FloatArray) -> FloatArray:
        """Return the weighted sum of scores, (n, k), in each replicate: (replicates, k)."""
        assert self.replication is not None
        return self.replication.sums(self._weights, self._scores(scores))

    def replicated(self, estimates: FloatArray, estimate: FloatArray) -> FloatArray:
        """Return the covariance of an estimate, (k,), given the estimates of the replicates, (replicates, k)."""
        if self.replication is None or np.shape(estimates)[:1] != (self.replication.number,):
            got = "no replicates" if self.replication is None else f"shape {np.shape(estimates)}"
            raise MismatchError(f"`estimates` must be one row per replicate; got {got}.")
        return self.replication.covariance(np.asarray(estimates), np.asarray(estimate))

    def _scores(self, scores: FloatArray) -> FloatArray:
        made = np.asarray(scores, np.float64)
        if made.ndim != 2 or len(made) != self.n:
            raise MismatchError(f"`scores` must have one row per person; got shape {made.shape} for {people(self.n)}.")
        return made if self.domain is None else made * self.domain[:, None]

    # Others like it ---------------------------------------------------------------------------

    def with_replicates(
        self, method: ReplicateMethod, count: int | None = None, *, seed: Seed | None = None, rho: float = 0.0
    ) -> "Sampling":
        """Return the sampling with replicate weights made from its strata and clusters.

        Parameters
        ----------
        method
            ``"bootstrap"``: Rao and Wu's bootstrap, with n_h - 1 units of each stratum drawn with replacement.
            ``"jackknife"``: each replicate leaves out one unit (JK1 without strata, JKn with strata). ``"brr"``:
            balanced half samples of strata with two units.
        count, seed
            The number of bootstrap samples, 500 by default, and their seed.
        rho
            Fay's factor: units outside a half sample keep this part of their weight.

        Returns
        -------
        Sampling
            To publish it, write the transposed `replicate_weights` with `scale` and `rscales`, which `Sampling`
            accepts.

        Raises
        ------
        ArgumentError
            If a stratum has only one unit or, for ``"brr"``, not exactly two.

        Examples
        --------
        >>> sampling = Sampling([1, 1, 1, 1], strata=[1, 1, 2, 2]).with_replicates("jackknife")
        >>> sampling.replicate_weights
        array([[0., 2., 1., 1.],
               [2., 0., 1., 1.],
               [1., 1., 0., 2.],
               [1., 1., 2., 0.]])
        """
        check_choice(method, get_args(ReplicateMethod), "method")
        if self.calibration is not None or self.domain is not None:
            raise ArgumentError(
                "replicates must be made before weights are calibrated and before `within`; got them after."
            )
        made = made_replicates(self.units, method, count, seed, rho)
        return self._evolved(_replicates=made, replicate_method=method, scale=made.scale, rscales=made.each, rho=rho)

    def within(self, rows: Any) -> "Sampling":
        """Return the sampling for a subpopulation: all other people keep their row, with weight 0.

        Parameters
        ----------
        rows
            True for people in the subpopulation, False for others, whose outcomes and covariates may be missing.
        """
        inside = np.asarray(rows)
        if not self.has_rows and inside.ndim == 1:
            return self.of_people(len(inside)).within(rows)
        if inside.dtype != np.bool_ or inside.shape != (self.n,):
            raise MismatchError(f"`rows` must be True or False for each of {people(self.n)}; got {shown(rows)}.")
        part = inside if self.domain is None else inside & self.domain
        return self._evolved(domain=read_only(part), _whole=self.whole)

    def calibrated(
        self, weights: FloatArray, replicates: Replicates | None, calibration: Calibration | None
    ) -> "Sampling":
        """Return the same units with calibrated weights, including those of replicates."""
        return self._evolved(_weights=read_only(weights), _replicates=replicates, calibration=calibration)

    def _evolved(self, **changed: Any) -> "Sampling":
        """Return a copy with some fields changed, without checks."""
        made = Sampling.__new__(Sampling)
        for name in (attribute.name for attribute in fields(Sampling)):
            object.__setattr__(made, name, changed.get(name, getattr(self, name)))
        return made

    # Output -----------------------------------------------------------------------------------

    @property
    def kish(self) -> float:
        """Kish's effective number of people: the squared sum of weights divided by the sum of their squares."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    @property
    def drawn_text(self) -> str:
        """How the people were drawn, in words to continue a title; empty for a single `fpc` of 0."""
        if self.share_text or not self.has_rows:
            return f", {self.share_text}" if self.share_text else ""
        drawn = [] if self.strata is None else [counted(len(self.units.fraction), "stratum", "strata")]
        drawn += [] if self.clusters is None else [counted(self.units.number, "cluster")]
        return "".join(f", {part}" for part in (drawn if self.clusters is not None else ["weighted", *drawn]))

    @property
    def is_finite(self) -> bool:
        """Whether `fpc` states a part of a finite population."""
        return bool(self.units.fraction.any()) if self.has_rows else self._fpc > 0

    @property
    def share_text(self) -> str:
        """The share of the population that was drawn, in words; empty unless it was drawn as one simple sample."""
        given = self._fpc
        if self.has_rows:
            apart = self.strata is not None or self.clusters is not None or self.replication is not None
            if apart or np.ptp(self._weights) > 0:
                return ""
            given = float(self.units.fraction[0])
        if given == 1:
            return "everyone in the population"
        if given > 1:
            return f"drawn from {people(int(given))}"
        return f"{100 * given:.4g}% of the population" if given else ""

    def _facts(self) -> list[str]:
        """Return the properties of the sample, in words."""
        if not self.has_rows:
            return [self.share_text or "any number of people"]
        facts = [people(self.n)]
        positive = self.weights[self.weights > 0]
        facts += ["weighted"] if len(positive) and (positive != positive[0]).any() else []
        facts += [] if self.strata is None else [counted(len(self.units.fraction), "stratum", "strata")]
        facts += [] if self.clusters is None else [counted(self.units.number, "cluster")]
        if self.replication is not None:
            facts.append(counted(self.replication.number, f"{self.method} replicate"))
        facts += [self.share_text] if self.share_text else []
        facts += [] if self.calibration is None else ["calibrated"]
        facts += [] if self.domain is None else [f"{people(int(self.domain.sum()))} within"]
        return [*facts, counted(self.degrees_of_freedom, "degree of freedom", "degrees of freedom")]

    def __repr__(self) -> str:
        if self.names:
            named = (f"{role} {column!r}" if isinstance(column, str) else role for role, column in self.names.items())
            return f"<Sampling: {', '.join(named)}, columns of a table>"
        return f"<Sampling: {', '.join(self._facts())}>"


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float, np.number)) and not isinstance(given, bool)


def _is_names(role: str, given: Any) -> bool:
    is_list = role == "replicates" and isinstance(given, Sequence) and not isinstance(given, (str, np.ndarray))
    return is_list and len(given) > 0 and all(isinstance(name, str) for name in given)


def _side_by_side(columns: list[Any]) -> AnyArray:
    return np.stack([numbers(column, "replicates") for column in columns], axis=1)


def _matrix(given: Any, n: int | None) -> AnyArray:
    """Return replicate weights as (people, replicates)."""
    if isinstance(given, Replicates):
        raise ArgumentError("`replicates` must be an array of weights.")
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None:  # raised here, since the inner message shows an entry
        raise ArgumentError(f"`replicates` must be numbers; got {type(given).__name__} of something else.")
    if array.ndim != 2 or array.shape[1] < 2 or (n is not None and len(array) != n):
        of = "" if n is None else f" for {people(n)}"
        raise MismatchError(
            f"`replicates` must be a row per person and a column per replicate, two at least; got shape "
            f"{array.shape}{of}."
        )
    refuse_numbers(array, "replicates")
    return array


def _correction(given: Any, n: int | None) -> FloatArray:
    return numbers(np.full(n or 0, float(given)) if _is_number(given) else given, "fpc", n)
