"""The data of a regression: in memory, or streamed as sums over people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from attrs import evolve, frozen

from subsetprivacy._checks import shown
from subsetprivacy._choices import Family, Missing, RegressionMethod, ResponseFamily, WeightsKind
from subsetprivacy._types import ArrayLike, FloatArray, IntArray, Label
from subsetprivacy.design import Design
from subsetprivacy.errors import ArgumentError, warn_of
from subsetprivacy.frames.streamed_blocks import Progress, Tally
from subsetprivacy.messages.for_regression import NAME_A_COLUMN, PRIVATE_BASELINE, WITHOUT_A_STREAM
from subsetprivacy.regression.blocks import Blocks
from subsetprivacy.regression.caveats import warned_notes
from subsetprivacy.regression.problem import CovariateColumns, Options
from subsetprivacy.regression.response import CHOSEN, fit_response, fit_sample
from subsetprivacy.regression.result import Regression
from subsetprivacy.sampling import Sampling

MOST_HELD = 1 << 30  # bytes of a model matrix to load by default

Penalty: TypeAlias = float | Literal["cv"]


@frozen(eq=False, repr=False)
class RegressArguments:
    """The arguments of `regress` besides formula and data."""

    family: Family | None = None
    method: RegressionMethod | None = None
    baseline: Any = None
    shrink: bool = False
    starts: int | None = None
    weights: str | ArrayLike | None = None
    weights_kind: WeightsKind | None = None
    clusters: str | ArrayLike | None = None
    offset: str | ArrayLike | None = None
    ridge: Penalty = 0.0
    lasso: Penalty = 0.0
    missing: Missing = "error"
    merge: Any = None
    sampling: Sampling | None = None
    stream: bool | None = None
    progress: Progress | None = None

    def options(self, response: str) -> Options:
        """Return the options of a fit with a private response.

        Raises
        ------
        ArgumentError
            If an argument does not apply to such a fit.
        """
        if self.merge is not None:
            raise ArgumentError(
                f"`merge` must be of private terms; got some, and only the response {response} is private."
            )
        family: Family = self.family or "logit"
        if family not in get_args(ResponseFamily):
            raise ArgumentError(
                f"`family` must be 'logit' or 'ordinal' for the private response {response}; got {shown(family)}."
            )
        baseline = baselines_of(self.baseline, response, ()).get(response)
        if self.ordinal and baseline is not None:
            raise ArgumentError("`baseline` must be left out for ordered categories; got one.")
        return Options(
            family=family,  # type: ignore[arg-type]
            method=self.method,
            baseline=baseline,
            shrink=self.shrink,
            starts=self.starts,
        )

    @property
    def named(self) -> list[str]:
        """The named columns of weights, clusters, offset and sampling."""
        own = [each for each in (self.weights, self.clusters, self.offset) if isinstance(each, str)]
        return own if self.sampling is None else [*own, *self.sampling.columns]

    def check_sampling(self) -> None:
        """Raise unless `sampling` is a `Sampling`, given without weights and clusters."""
        if self.sampling is None:
            return
        if not isinstance(self.sampling, Sampling):
            raise ArgumentError(f"`sampling` must be a Sampling; got {type(self.sampling).__name__}.")
        for name, given in (("weights", self.weights), ("clusters", self.clusters)):
            if given is not None:
                raise ArgumentError(f"`{name}` must be left out with `sampling`, which has its own; got both.")

    @property
    def ordinal(self) -> bool:
        """Whether categories are ordered, so that there is no intercept."""
        return self.family == "ordinal"

    def check_columns(self, designs: Any) -> None:
        """Raise if a private column is a weight, cluster or offset."""
        for each in self.named:
            if each in designs:
                raise ArgumentError(
                    f"a private column must be a response or a predictor; got {each} as a weight, cluster or offset."
                )

    def check_streamable(self) -> None:
        """Raise if an argument needs all rows at once."""
        if self.clusters is not None:
            raise ArgumentError("`clusters` must be left out in a stream; got some.", WITHOUT_A_STREAM)
        if self.sampling is not None:
            raise ArgumentError("`sampling` must be left out in a stream; got one.", WITHOUT_A_STREAM)
        for name, penalty in (("ridge", self.ridge), ("lasso", self.lasso)):
            if penalty == CHOSEN:
                raise ArgumentError(f"`{name}` must be a number in a stream; got 'cv'.", WITHOUT_A_STREAM)
        for name, column in (("weights", self.weights), ("offset", self.offset)):
            if column is not None and not isinstance(column, str):
                raise ArgumentError(f"`{name}` must be the name of a column in a stream; got numbers.", NAME_A_COLUMN)


@frozen(eq=False, repr=False)
class PeopleInMemory:
    """The data of a regression, in memory.

    Attributes
    ----------
    name, codes, design
        The response.
    X, columns
        The model matrix and its columns.
    table
        The covariates as given.
    weights, weights_kind, clusters, offset
        One for each person, or None.
    sampling
        How the sample was drawn, instead of weights and clusters.
    """

    name: str
    codes: IntArray
    design: Design
    X: FloatArray
    columns: CovariateColumns
    table: Any
    weights: Any = None
    weights_kind: WeightsKind | None = None
    clusters: Any = None
    offset: Any = None
    sampling: Sampling | None = None

    def fit(self, arguments: RegressArguments, *, stacklevel: int) -> Regression:
        """Fit the regression; `stacklevel` is the level of warnings."""
        return fit_response(
            self.name,
            self.codes,
            self.design,
            self.X,
            self.columns,
            arguments.options(self.name),
            table=self.table,
            weights=self.weights,
            weights_kind=self.weights_kind,
            clusters=self.clusters,
            offset=self.offset,
            sampling=self.sampling,
            ridge=arguments.ridge,
            lasso=arguments.lasso,
            on_step=None if arguments.progress is None else _counting(arguments.progress, len(self.codes)),
            stacklevel=stacklevel + 1,
        )


@frozen(eq=False, repr=False)
class StreamedPeople:
    """The data of a regression, streamed.

    Attributes
    ----------
    name
        The response.
    blocks, tally
        The source of sums over people, and the counts of the responses.
    columns
        The columns of the model matrix.
    weights_kind
        The kind of weights; None without weights.
    """

    name: str
    blocks: Blocks
    tally: Tally
    columns: CovariateColumns
    weights_kind: WeightsKind | None = None

    def fit(self, arguments: RegressArguments, *, stacklevel: int) -> Regression:
        """Fit the regression; `stacklevel` is the level of warnings."""
        made = fit_sample(
            self.name,
            self.blocks,
            self.columns.without_intercept() if arguments.ordinal else self.columns,
            arguments.options(self.name),
            self.tally.codes,
            self.tally.amounts,
            rows=self.tally.rows,
            frequency=self.weights_kind != "sampling",
            ridge=arguments.ridge,
            lasso=arguments.lasso,
        )
        made = evolve(made, n_missing=self.tally.missing, weighted=self.weights_kind)
        for note in warned_notes(made):
            warn_of(note, stacklevel=stacklevel)
        return made


People: TypeAlias = PeopleInMemory | StreamedPeople


def baselines_of(baseline: Any, response: str | None, predictors: Sequence[str]) -> dict[str, Label]:
    """Return the baselines of private columns, by column.

    Parameters
    ----------
    baseline
        A label, or labels by column. A single label belongs to the response, or to the only private predictor.
    response
        The response, if it has categories or levels.
    predictors
        The private predictors.

    Raises
    ------
    ArgumentError
        If the column of a label is not clear, or is none of these.
    """
    known = [*predictors] if response is None else [response, *predictors]
    if baseline is None:
        return {}
    if not isinstance(baseline, Mapping):
        if response is None and len(predictors) != 1:
            raise ArgumentError("`baseline` must name the columns of its labels; got a label alone.", PRIVATE_BASELINE)
        return {known[0]: baseline}
    other = [str(name) for name in baseline if name not in known]
    if other:
        raise ArgumentError(
            f"`baseline` must be of columns that have categories, {', '.join(known)}; got {', '.join(other)}."
        )
    return dict(baseline)


def _counting(progress: Progress, rows: int) -> Callable[[float], None]:
    """Return a callback for a solver that reports the number of processed rows."""
    passed = 0

    def on_step(_: float) -> None:
        nonlocal passed
        passed += rows
        progress(passed, None)

    return on_step
