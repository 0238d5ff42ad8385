"""`Sampling`: how a sample was drawn."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, get_args

import numpy as np
from attrs import evolve, field, fields, frozen
from scipy.sparse import coo_array

from subsetprivacy._checks import check_choice, check_same_index, index_of, read_only, shown
from subsetprivacy._choices import LonelyStrata, ReplicateCenter, ReplicateMethod
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Seed
from subsetprivacy._words import counted, people
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.messages.for_sampling import RESOLVE_COLUMNS
from subsetprivacy.sampling.calibration import Calibration
from subsetprivacy.sampling.columns import columns_of, labels, nested, numbers, refuse_numbers
from subsetprivacy.sampling.replicates import Replicates, check_scales, given_replicates, made_replicates
from subsetprivacy.sampling.units import Units, units_of

_ROLES = ("weights", "strata", "clusters", "fpc", "replicates")


@frozen(slots=False, eq=False, repr=False)
class Sampling:
    r"""How a sample was drawn: weights, strata, clusters, replicate weights.

    Parameters
    ----------
    weights
        A sampling weight per person, or the name of a column. Without it everyone has weight 1. People who are not to
        be counted have weight 0 and keep their row.
    strata
        The stratum of each person, or the name of a column.
    clusters
        The first-stage unit of each person, or the name of a column. Ids may repeat from one stratum to the next: they
        are of different clusters.
    fpc
        For the finite population correction: for each person the share of their stratum's first-stage units that were
        drawn, or how many units the stratum has; or one number, or the name of a column. Without it units
        count as drawn with replacement, which overstates variances a little.
    replicates
        Replicate weights, (people, replicates), or a list of names of columns. Then strata, clusters and `fpc` are not
        used for variances.
    replicate_method
        How they were made: ``"bootstrap"``, ``"jackknife"`` or ``"brr"``.
    scale, rscales, rho
        The covariance is ``scale * sum(rscales * squared differences)``. By default scale is 1/R for a bootstrap,
        1/(R(1 - rho)²) for BRR (`rho` is Fay's factor), (R - 1)/R for a jackknife without `rscales`, 1 with them.
    combined
        True where replicates are weights; False where weights are to be multiplied by them.
    center
        What replicates are compared with: ``"estimate"``, or the ``"mean"`` of the replicates.
    lonely
        A stratum with one first-stage unit allows no variance estimate. ``"error"`` refuses it; ``"center"`` compares
        the unit with the mean of all units, which overstates variances.

    Raises
    ------
    ArgumentError, MismatchError
        If columns are of different lengths, or hold what they must not; messages name a row and a count.

    Notes
    -----
    Rows are never dropped: a cluster without anyone who answered is still a cluster that was drawn. An
    estimator gives each person a score, 0 to those it does not use, and `covariance` is that of the weighted
    sum of scores.

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
    index: Any = field(default=None, init=False)  # of pandas columns, to compare with that of the data
    domain: BoolArray | None = field(default=None, init=False)
    _whole: "Sampling | None" = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        if all(getattr(self, f"_{role}") is None for role in _ROLES):
            raise ArgumentError("one of `weights`, `strata`, `clusters` and `replicates` must be given; got none.")
        check_choice(self.lonely, get_args(LonelyStrata), "lonely")
        check_choice(self.center, get_args(ReplicateCenter), "center")
        if (self._replicates is None) != (self.replicate_method is None):
            raise ArgumentError("`replicates` and `replicate_method` must be given together; got one of them.")
        if self.replicate_method is not None:
            check_choice(self.replicate_method, get_args(ReplicateMethod), "replicate_method")
        if not self.names:
            self._keep_arrays()

    def _keep_arrays(self) -> None:
        """Check what was given, and keep read-only arrays of it."""
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
        n = len(made["replicates"]) if n is None else n
        made["fpc"] = None if self._fpc is None else _correction(self._fpc, n)
        made["weights"] = np.ones(n) if made["weights"] is None else made["weights"]
        if n and not made["weights"].any():
            raise ArgumentError("`weights` must not all be 0; got no one with a weight.")
        for role, array in made.items():
            object.__setattr__(self, f"_{role}", array if array is None else read_only(array))

    # Columns ----------------------------------------------------------------------------------

    @property
    def names(self) -> dict[str, Any]:
        """The columns that are named and not yet resolved, by what they are for."""
        given = {role: getattr(self, f"_{role}", None) for role in _ROLES}
        return {role: column for role, column in given.items() if isinstance(column, str) or _is_names(role, column)}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that `of` reads."""
        flat = [[column] if isinstance(column, str) else list(column) for column in self.names.values()]
        return tuple(dict.fromkeys(name for names in flat for name in names))

    def of(self, table: Any) -> "Sampling":
        """Return the sampling with columns of a table in the place of their names.

        Parameters
        ----------
        table
            A table of any library on this machine, or a dict of columns, with a row per person. A query is run once;
            its rows must be in the order of the data.

        Raises
        ------
        ArgumentError
            If a column is not there.
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
                f"a sampling must have columns where it is used; got names of {', '.join(self.names)} only.",
                RESOLVE_COLUMNS,
            )
        return self

    # What it holds ----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """How many people there are, those with weight 0 too."""
        return len(self.weights)

    @property
    def weights(self) -> FloatArray:
        """The weight of each person; 0 for people outside of the part that `within` has made."""
        weights: FloatArray = self._resolved()._weights
        return weights if self.domain is None else weights * self.domain

    @property
    def whole(self) -> "Sampling":
        """The whole sample, of which `within` has made this a part. Parts of the same sample are correlated."""
        return self if self._whole is None else self._whole

    @property
    def strata(self) -> IntArray | None:
        """The number of each person's stratum; None where there are none."""
        strata: IntArray | None = self._resolved()._strata
        return strata

    @property
    def clusters(self) -> IntArray | None:
        """The number of each person's cluster, different in different strata; None where there are none."""
        clusters: IntArray | None = self._resolved()._clusters
        return clusters

    @property
    def fpc(self) -> FloatArray | None:
        """For each person the share of units drawn in their stratum, or how many it has; None without."""
        fpc: FloatArray | None = self._resolved()._fpc
        return fpc

    @cached_property
    def units(self) -> Units:
        """The first-stage units."""
        return units_of(self.n, self.strata, self.clusters, self.fpc)

    @cached_property
    def replication(self) -> Replicates | None:
        """The replicates, and how covariances are made of them; None where variances are linearized."""
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
        """The weights of all people in each replicate, (replicates, people); None where there are none."""
        if self.replication is None:
            return None
        made = self.replication.weights(self._weights)
        return made if self.domain is None else made * self.domain

    @property
    def method(self) -> str:
        """How variances come about: ``"linearized"``, or the method of the replicates."""
        return "linearized" if self.replication is None else self.replication.method

    @cached_property
    def degrees_of_freedom(self) -> int:
        """First-stage units less strata; of replicates one less than are linearly independent, and no more than that.

        Units without anyone of positive weight count: they were drawn.
        """
        known = self.units.degrees_of_freedom
        if self.replication is None:
            return known
        independent = self.replication.rank() - 1
        has_units = self.strata is not None or self.clusters is not None
        return min(known, independent) if has_units else independent

    # Covariances ------------------------------------------------------------------------------

    def covariance(self, scores: FloatArray) -> FloatArray:
        r"""Return the covariance of the weighted sum of scores over the people.

        Parameters
        ----------
        scores
            (n, k), not weighted; 0 for people who are not used.

        Raises
        ------
        MismatchError
            If there is not one row per person.
        ArgumentError
            If strata have one first-stage unit, and `lonely` is ``"error"``.

        Notes
        -----
        Linearized: :math:`\sum_h (1-f_h)\frac{n_h}{n_h-1}\sum_c (z_{hc}-\bar z_h)(z_{hc}-\bar z_h)^\top` with
        :math:`z_{hc} = \sum_{i \in hc} w_i s_i`. Where weights are calibrated the residual of the
        score takes its place. With replicates: the covariance of the sums that their weights give.
        """
        scores = self._scores(scores)
        if self.replication is not None:
            return self.replicated(self.replicate_sums(scores), self.weights @ scores)
        if self.calibration is not None:
            scores = self.calibration.residuals(scores)
        totals = self.units.totals(self._weights[:, None] * scores)
        return self.units.covariance(totals, center_lonely=self.lonely == "center")

    def covariance_of_groups(self, group: IntArray, number: int) -> FloatArray:
        """Return the covariance of the sums of weights of groups of people, (number, number).

        Parameters
        ----------
        group
            For each person the number of their group, -1 for none.
        number
            How many groups there are.

        Notes
        -----
        The same as `covariance` of indicators, without a column of people for each group.
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
        r"""Return the covariance that the weighted sum of scores would have if the people were a simple random sample.

        Parameters
        ----------
        scores
            (n, k), not weighted.
        rows
            Who counts, as True and False; by default all with a positive weight.

        Notes
        -----
        :math:`\frac{W^2}{m-1}\sum_i \frac{w_i}{W}(s_i-\bar s)(s_i-\bar s)^\top`, :math:`W = \sum w_i`, over the m
        people who count. A variance over this one is a design effect.
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
        """Return the covariance of an estimate, (k,), given that of each replicate, (replicates, k)."""
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
        """Return the sampling with replicate weights that its strata and clusters give.

        Parameters
        ----------
        method
            ``"bootstrap"``: Rao and Wu's, n_h - 1 units of each stratum drawn with replacement. ``"jackknife"``:
            without one unit each (JK1 without strata, JKn with them). ``"brr"``: balanced half samples of strata with
            two units.
        count, seed
            How many samples a bootstrap draws, 500 by default, and with which seed.
        rho
            Fay's factor of half samples: units that are not in it keep this part of their weight.

        Returns
        -------
        Sampling
            To publish: its `replicate_weights`, transposed, with `scale` and `rscales`, which `Sampling` takes.

        Raises
        ------
        ArgumentError
            If strata have one unit, or for ``"brr"`` not two.

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
        """Return the sampling for a part of the people: all others keep their row, with weight 0.

        Parameters
        ----------
        rows
            True for who is in the part, False for who is not.
        """
        inside = np.asarray(rows)
        if inside.dtype != np.bool_ or inside.shape != (self.n,):
            raise MismatchError(f"`rows` must be True or False for each of {people(self.n)}; got {shown(rows)}.")
        part = inside if self.domain is None else inside & self.domain
        return self._evolved(domain=read_only(part), _whole=self.whole)

    def calibrated(
        self, weights: FloatArray, replicates: Replicates | None, calibration: Calibration | None
    ) -> "Sampling":
        """Return the same units with weights that were calibrated, as were those of replicates."""
        return self._evolved(_weights=read_only(weights), _replicates=replicates, calibration=calibration)

    def _evolved(self, **changed: Any) -> "Sampling":
        """Return a copy with some fields changed, all of which are right."""
        made = Sampling.__new__(Sampling)
        for name in (attribute.name for attribute in fields(Sampling)):
            object.__setattr__(made, name, changed.get(name, getattr(self, name)))
        return made

    # Output -----------------------------------------------------------------------------------

    @property
    def kish(self) -> float:
        """Kish's effective number of people: the square of the sum of weights over the sum of their squares."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    def _facts(self) -> list[str]:
        """Return what is known of the sample as a whole, in words."""
        facts = [people(self.n)]
        positive = self.weights[self.weights > 0]
        facts += ["weighted"] if len(positive) and (positive != positive[0]).any() else []
        facts += [] if self.strata is None else [counted(len(self.units.fraction), "stratum", "strata")]
        facts += [] if self.clusters is None else [counted(self.units.number, "cluster")]
        if self.replication is not None:
            facts.append(counted(self.replication.number, f"{self.method} replicate"))
        facts += [] if self.calibration is None else ["calibrated"]
        facts += [] if self.domain is None else [f"{people(int(self.domain.sum()))} within"]
        return [*facts, counted(self.degrees_of_freedom, "degree of freedom", "degrees of freedom")]

    def __repr__(self) -> str:
        if self.names:
            named = (f"{role} {column!r}" if isinstance(column, str) else role for role, column in self.names.items())
            return f"<Sampling: {', '.join(named)}, columns of a table>"
        return f"<Sampling: {', '.join(self._facts())}>"


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
    if array is None:  # raised out here: the inner message shows an entry
        raise ArgumentError(f"`replicates` must be numbers; got {type(given).__name__} of something else.")
    if array.ndim != 2 or array.shape[1] < 2 or (n is not None and len(array) != n):
        of = "" if n is None else f" for {people(n)}"
        raise MismatchError(
            f"`replicates` must be a row per person and a column per replicate, two at least; got shape "
            f"{array.shape}{of}."
        )
    refuse_numbers(array, "replicates")
    return array


def _correction(given: Any, n: int) -> FloatArray:
    if isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        given = np.full(n, float(given))
    return numbers(given, "fpc", n)
