"""Options that describe the sample: strata, clusters, replicate weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass  # attrs would slow down --help
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING, Any, get_args

import click

from subsetprivacy._choices import LonelyStrata, Missing, ReplicateMethod, WeightsKind
from subsetprivacy.cli.options import Command
from subsetprivacy.cli.shell_wording import sets

if TYPE_CHECKING:
    from subsetprivacy.data import SubsetData
    from subsetprivacy.frames.release import Release
    from subsetprivacy.sampling import Sampling


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How the sample was drawn, apart from weights, as column names."""

    strata: str | None = None
    clusters: str | None = None
    fpc: str | None = None
    replicates: tuple[str, ...] = ()
    replicate_method: ReplicateMethod | None = None
    lonely: LonelyStrata = "error"

    @property
    def given(self) -> bool:
        """Whether any of the options is given."""
        return any((self.strata, self.clusters, self.fpc, self.replicates))

    def single(self, weights: str | None, kind: WeightsKind | None, existing: Sequence[str]) -> "Sampling | None":
        """Return the sampling if it is one number for all people, for which counts are enough; otherwise None."""
        from subsetprivacy.sampling import Sampling

        number = self._fpc(existing)
        others = self.strata or self.clusters or self.replicates or (weights and kind != "frequency")
        return None if others or not isinstance(number, float) else Sampling(fpc=number)

    def _fpc(self, existing: Sequence[str]) -> str | float | None:
        """Return the number, or the name of the column, that was given."""
        if self.fpc is None or self.fpc in existing:
            return self.fpc
        try:
            return float(self.fpc)
        except ValueError:
            return self.fpc

    def sampling(self, weights: str | None, kind: WeightsKind | None, existing: Sequence[str]) -> "Sampling":
        """Return a `Sampling` with column names.

        Parameters
        ----------
        weights, kind
            The column of weights and their kind.
        existing
            The columns of the table, to match patterns of replicates.
        """
        from subsetprivacy.sampling import Sampling

        if kind == "frequency":
            raise click.UsageError(
                "with strata, clusters, fpc or replicates, use --weights-kind sampling or no weights"
            )
        replicates = [name for given in self.replicates for name in _matching(given, existing)]
        return Sampling(
            weights,
            strata=self.strata,
            clusters=self.clusters,
            fpc=self._fpc(existing),
            replicates=replicates or None,
            replicate_method=self.replicate_method if replicates else None,
            lonely=self.lonely,
        )


def _matching(given: str, existing: Sequence[str]) -> list[str]:
    """Return the columns that match a name or a pattern such as rep*."""
    if given in existing or not set(given) & set("*?["):
        return [given]
    matching = [name for name in existing if fnmatchcase(name, given)]
    if not matching:
        raise click.BadParameter("must match columns of TABLE; no column matches", param_hint="--replicates")
    return matching


def drawn(*, clusters: bool = True) -> Callable[[Command], Command]:
    """Return the decorator that adds these options and passes them to the command as `drawn`.

    Parameters
    ----------
    clusters
        Whether to add --clusters; some commands have their own.
    """

    def add(command: Command) -> Command:
        @wraps(command)
        def gathered(**given: Any) -> Any:
            names = ("strata", "fpc", "replicates", "replicate_method", "lonely", *(("clusters",) if clusters else ()))
            return command(drawn=SamplingOptions(**{name: given.pop(name) for name in names}), **given)

        made: Command = gathered
        for option in reversed(_OPTIONS):
            made = option(made)
        if clusters:
            made = click.option("--clusters", metavar="COLUMN", help="The cluster of each row, within its stratum.")(
                made
            )
        return sets(sampling="--strata, --clusters or --fpc")(made)

    return add


_OPTIONS = (
    click.option("--strata", metavar="COLUMN", help="The stratum of each row."),
    click.option(
        "--fpc",
        metavar="COLUMN|NUMBER",
        help="Finite population correction: the number of clusters in the row's stratum, or the fraction of "
        "them that was sampled. --fpc 1: the people of TABLE are the population.",
    ),
    click.option(
        "--replicates",
        multiple=True,
        metavar="COLUMN",
        help="A column of replicate weights, or a pattern such as 'rep*'. May be repeated.",
    ),
    click.option(
        "--replicate-method",
        type=click.Choice(get_args(ReplicateMethod)),
        default="bootstrap",
        show_default=True,
        help="How replicate weights were made.",
    ),
    click.option(
        "--lonely",
        type=click.Choice(get_args(LonelyStrata)),
        default="error",
        show_default=True,
        help="How to treat a stratum with a single cluster: as an error, or by comparing it with the overall mean.",
    ),
)


def rows_of(
    release: "Release",
    names: Sequence[str],
    drawn: SamplingOptions,
    weights: str | None,
    kind: WeightsKind | None,
    missing: Missing,
) -> "tuple[SubsetData, Sampling]":
    """Return the subset of each row, and the sampling."""
    from subsetprivacy.frames.people import cells_of, people_of, require_rows

    require_rows(release)
    named = drawn.sampling(weights, kind, release.file.names())
    release._refuse_counts(named.columns)
    return people_of(release, names, missing), named.of(cells_of(release, named.columns))


def groups_of(release: "Release", by: Sequence[str], rows: int) -> dict[Any, Any]:
    """Return a mask of rows for each group, in order."""
    import numpy as np

    from subsetprivacy.counting.columns import group_rows
    from subsetprivacy.counting.ordering import GroupColumn
    from subsetprivacy.frames.people import cells_of

    cells = cells_of(release, by)
    labels = [cells[name].tolist() for name in by]
    several = len(by) > 1
    listed = list(zip(*labels, strict=True)) if several else labels[0]
    groups = group_rows(GroupColumn(listed, [None] * len(by), several), rows)
    return {group: np.isin(np.arange(rows), at) for group, at in groups.items()}
