"""`regress`: fit a regression to a formula and a table, or to subsets and covariates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from attrs import evolve

from subsetprivacy._checks import check_choice, check_count, check_same_index, shown
from subsetprivacy._choices import Family, Missing, RegressionMethod, WeightsKind
from subsetprivacy._types import ArrayLike, Label
from subsetprivacy._words import people
from subsetprivacy.counting.columns import MISSING, check_kind, read_column, read_used
from subsetprivacy.data import SubsetData, SubsetTable
from subsetprivacy.design import Design, require_design
from subsetprivacy.engines import count_column, engine_of, is_ordered, is_table, native_column, refuse_counts
from subsetprivacy.errors import ArgumentError, MismatchError
from subsetprivacy.frames.covariates import Covariates, check_names, covariates_of, names_of, snapshot
from subsetprivacy.frames.formula_terms import (
    named_variables,
    private_predictors,
    read_terms,
    response_variables,
    split_formula,
)
from subsetprivacy.frames.formulas import covariate_matrix, formula_matrix
from subsetprivacy.frames.outcome_people import (
    OutcomeData,
    PredictorPeople,
    PrivateColumn,
    check_outcome_options,
    outcome_people,
)
from subsetprivacy.frames.regressing_files import is_files, no_private_name, people_of_files
from subsetprivacy.frames.regression_people import People, PeopleInMemory, RegressArguments
from subsetprivacy.messages.for_regression import DESIGN_OF_THE_RESPONSE, RENAME_A_COLUMN, RESPONSE_AND_COVARIATES
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.regression.inputs import used_rows
from subsetprivacy.regression.problem import CovariateColumns
from subsetprivacy.regression.result import Regression
from subsetprivacy.sampling import Sampling
from subsetprivacy.subsets import name_of

FAMILIES: tuple[Family, ...] = get_args(Family)
METHODS: tuple[RegressionMethod, ...] = get_args(RegressionMethod)
_STACK = 3  # warnings point at the caller of `regress`


def regress(
    formula: str | SubsetData | ArrayLike,
    data: Any,
    *,
    designs: Mapping[str, Design] | None = None,
    design: Design | None = None,
    family: Family | None = None,
    method: RegressionMethod | None = None,
    baseline: Label | Mapping[str, Label] | None = None,
    merge: Mapping[str, Mapping[str, Sequence[Label]]] | None = None,
    weights: str | ArrayLike | None = None,
    weights_kind: WeightsKind | None = None,
    clusters: str | ArrayLike | None = None,
    offset: str | ArrayLike | None = None,
    shrink: bool = False,
    ridge: float | Literal["cv"] = 0.0,
    lasso: float | Literal["cv"] = 0.0,
    starts: int | Literal["auto"] = "auto",
    missing: Missing = "error",
    sampling: Sampling | None = None,
    stream: bool | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Regression | OutcomeRegression:
    r"""Fit a regression with a private response, private predictors, or both.

    Parameters
    ----------
    formula
        A formula such as ``"race ~ age + C(sex)"`` or ``"income ~ age + race"``. Names in `designs` are columns of
        subsets. They can be the response or terms, alone or in interactions (``race:age``, ``race*C(sex)``,
        ``race:religion``), but not inside functions. Instead of a formula, pass the response: a `SubsetData`, codes
        with their `design`, or, if some covariates are private, numbers or labels.
    data
        With a formula: a table of any library, a dict of columns or a `SubsetTable`; or a `Release` or the path of a
        file that `read_release` opens, or several of them, whose rows are concatenated. Without a formula: the
        covariates, as a table, a dict of columns, or an array of numbers. An intercept is added. In a dict, a
        `SubsetData` is private.
    designs
        The designs of the columns of subsets, by name. A `Release` and most files include them.
    design
        The design of the response, if it is given as codes.
    family
        For a private response, ``"logit"`` (default): a logit of each category against the baseline; or ``"ordinal"``:
        proportional odds of ordered categories, in the order of the design, without private terms. For an observed
        response, ``"linear"`` (default), ``"logit"`` (default for two levels, and for 0 and 1) or ``"poisson"``, the
        logarithm of the mean of counts. With ``"logit"``, the model is for the probability of the second level.
    method
        ``"corrected"``: corrected scores. They estimate what the same fit to the values would estimate, even if the
        model is wrong. ``"ml"``: maximum likelihood. Its standard errors are a little smaller, and it is biased if the
        model is wrong. With private terms it also needs a model of the private value given the other terms and the
        distribution of the response. By default ``"corrected"``; for a private response ``"ml"`` if corrected scores
        have no solution because a category is rare (with a warning), if the design is unknown, or with `shrink`,
        `ridge` or `lasso`.
    baseline
        The category that others are compared with, by default the most frequent one: a label of the response or of
        the only private term, or labels by column, ``{"race": "White"}``. For an observed response with two levels,
        the level that is not modeled.
    merge
        Categories of private terms that share their coefficients, under a new name, by column:
        ``{"race": {"Other": ["Other", "Eskimo"]}}``. The subsets stay as they are.
    weights, weights_kind
        A weight for each person or the name of a column, and the kind of weights: ``"frequency"`` or ``"sampling"``.
    clusters
        The cluster of each person, or the name of a column, for cluster-robust standard errors. The degrees of
        freedom are the number of clusters minus 1.
    offset
        A number for each person, or the name of a column, to add to the linear predictors with coefficient 1. For a
        private response, it is added for all categories except the baseline.
    shrink
        Whether to add a few pseudo-observations with the overall shares, so that every estimate is finite. Like
        `ridge`, `lasso` and `stream`, it is for private responses without private terms.
    ridge, lasso
        The strength of a penalty on all coefficients except the intercept, the same for all categories. ``"cv"``
        chooses it by cross-validated likelihood.
    starts
        The number of starting points of maximum likelihood, which may have several maxima. ``"auto"`` (default) uses
        one. If there are few people for the number of covariates and a fit is fast, it uses 7 to 40, until few starts
        are expected to find another maximum.
    missing
        How to treat an empty cell of a private column: ``"error"`` (default) or ``"full"``, a missing answer.
    sampling
        How the sample was drawn, a `Sampling`, instead of weights and clusters. With a formula it may name columns.
        Rows of weight 0, such as those outside of ``sampling.within(rows)``, are not used, and may have missing cells.
        ``Sampling(fpc=1)``: these people are the whole population.
    stream
        For files and Spark tables. True reads the rows again for every sum over people, in constant memory, or lets
        Spark's workers compute the sums. False loads all rows into memory. By default files are loaded if the model
        matrix takes at most one GiB, and Spark tables if they also have at most a million rows. Streaming does not
        support clusters, ``"cv"`` penalties, or terms such as ``center(age)`` that need all rows at once.
    progress
        Called with the number of rows processed so far, counting repeated passes, and None, because the number of
        steps is not known in advance.

    Returns
    -------
    Regression or OutcomeRegression
        A `Regression` if only the response is private, an `OutcomeRegression` if a term is private.

    Raises
    ------
    ArgumentError
        If covariates are missing, infinite, constant or linear combinations of each other (the message names the
        columns), if there are more parameters than people, if a private column is inside a function, or if arguments
        contradict each other.
    CodeError
        If a cell of a private column is not a subset of its design.
    NotIdentifiableError
        If the design is not identifiable.
    NoDataError
        If no subset carries information.
    TooLargeError
        If files with private terms do not fit in memory.

    Warns
    -----
    SeparationWarning
        If some coefficients are infinite, because the data do not bound them.
    NotUniqueWarning, ConvergenceWarning, SmallCountWarning
        If there are several maxima, the fit did not converge, or there are few people for the number of covariates;
        or if corrected equations have no solution, because a private category is rare.

    Notes
    -----
    With the rows :math:`r_i` of the subsets and the model :math:`p(x)`, the log-likelihood of a private response is
    :math:`\sum_i \ln \sum_j r_i(j)\, p_j(x_i)`. It does not use the weights of the design. It assumes that the subset
    depends on the covariates only through the value, which `privatize` and `ask` guarantee. Full sets carry no
    information and are left out and counted.

    With a private term, corrected scores solve :math:`\sum_i \sum_j D_i(j)\, \psi(y_i, j, v_i; \theta) = 0`, where
    :math:`\psi` is the score of a person of category j and :math:`D_i` the unbiased `indicator` of the person's
    category.

    Examples
    --------
    A private response:

    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> rng = np.random.default_rng(1)
    >>> age = rng.uniform(20, 70, 5000)
    >>> share = 1 / (1 + np.exp(2 - age / 30))
    >>> values = np.where(rng.random(5000) < share, "yes", rng.choice(["no", "perhaps", "never"], 5000))
    >>> data = sp.privatize(values, sp.uniform(["no", "perhaps", "never", "yes"]), seed=1)
    >>> fit = sp.regress(data, {"age": age}, baseline="no")
    >>> fit
    <Regression response ~ age: logit, corrected, 4 categories, n = 5,000>
    >>> fit.to_frame().query("category == 'yes' and term == 'age'")[["estimate", "se"]].round(3)
       estimate     se
    5     0.031  0.005

    A private predictor of an observed response:

    >>> days = np.where(values == "yes", 6.0, 4.0) + rng.normal(size=5000)
    >>> fit = sp.regress(days, {"age": age, "answer": data}, baseline="no")
    >>> fit
    <OutcomeRegression response ~ age + answer: linear, corrected, private answer, n = 5,000>
    >>> fit.to_frame()[["term", "estimate", "se"]].round(3).tail(3)
                  term  estimate     se
    2  answer[perhaps]    -0.030  0.072
    3    answer[never]    -0.062  0.078
    4      answer[yes]     2.001  0.079
    >>> fit.adjusted("answer").rows
    ('no', 'perhaps', 'never', 'yes')
    """
    arguments = RegressArguments(
        family=None if family is None else check_choice(family, FAMILIES, "family"),
        method=None if method is None else check_choice(method, METHODS, "method"),
        baseline=baseline,
        shrink=bool(shrink),
        starts=None if starts == "auto" else check_count(starts, "starts", least=1),
        weights=weights,
        weights_kind=weights_kind,
        clusters=clusters,
        offset=offset,
        ridge=ridge,
        lasso=lasso,
        missing=check_choice(missing, MISSING, "missing"),
        merge=merge,
        sampling=sampling,
        stream=stream,
        progress=progress,
    )
    arguments.check_sampling()
    check_kind(weights, weights_kind)
    if weights is None and weights_kind is not None:
        raise ArgumentError("`weights` must be given with `weights_kind`; got the kind alone.")
    if isinstance(formula, str):
        if design is not None:
            raise ArgumentError("`designs` must give the design of the response of a formula; got `design`.")
        return _of_formula(formula, data, designs, arguments).fit(arguments, stacklevel=_STACK)
    return _of_covariates(formula, data, designs, design, arguments).fit(arguments, stacklevel=_STACK)


def _of_formula(formula: str, data: Any, designs: Any, arguments: RegressArguments) -> People | PredictorPeople:
    """Read the data of a formula from a table or files."""
    if is_files(data):
        return people_of_files(formula, data, designs, arguments)
    if isinstance(data, SubsetTable):
        data = {name: data[name] for name in data.design.by_name()}
    known = _designs(data, designs)
    response, right = split_formula(formula, known)
    predictors = private_predictors(right, known)
    if not is_table(data) and not isinstance(data, Mapping):
        raise ArgumentError(
            f"`data` must be a table, a dict of columns, a release or a path with a formula; got "
            f"{type(data).__name__}.",
            RESPONSE_AND_COVARIATES,
        )
    if response not in known and not predictors:
        used = [*read_terms(right).variables, *response_variables(response, names_of(data))]
        check_names(data, [*used, *known])  # in case a name in the formula or in `designs` is misspelled
        raise no_private_name(known)
    arguments.check_columns(known)
    if arguments.weights is None:
        named = named_variables(right, names_of(data), known)
        refuse_counts(data, known, [*named, *response_variables(response, names_of(data)), *arguments.named])
    _check_indexes(data, arguments)
    if predictors:
        return _outcome_of_table(right, data, response, predictors, known, arguments)
    if is_table(data) and engine_of(data) == "pyspark" and arguments.stream is not False:
        from subsetprivacy.frames.regressing_on_spark import people_on_spark

        people = people_on_spark(formula, data, known, arguments)
        if people is not None:
            return people
    elif arguments.stream:
        raise ArgumentError("`stream` must be left out for a table in memory; got True.")
    return _of_table(right, data, response, known, arguments)


def _check_indexes(data: Any, arguments: RegressArguments, response: Any = None) -> None:
    """Raise if pandas columns have different indexes, because rows are matched by position."""
    columns: Mapping[str, Any] = {}
    if isinstance(data, Mapping):
        columns = {str(name): column for name, column in data.items()}
    elif is_table(data) and engine_of(data) == "pandas":
        columns = {"data": data}
    beside = ("weights", "clusters", "offset", "sampling")
    check_same_index({**columns, "formula": response, **{name: getattr(arguments, name) for name in beside}})


def _of_table(
    right: str, data: Any, response: str, known: dict[str, Design], arguments: RegressArguments
) -> PeopleInMemory:
    """Load the data of a table in one pass."""
    left_out = [*known, *arguments.named]
    terms = read_terms(right, [name for name in names_of(data) if name not in left_out])
    table = snapshot(data, list(dict.fromkeys([response, *terms.variables, *arguments.named])))
    weights, clusters, offset = _columns(table, arguments)
    sampling = None if arguments.sampling is None else arguments.sampling.of(table)
    used = used_rows(weights, sampling, len(_column(table, response)))
    codes = read_used(_column(table, response), response, known[response], arguments.missing, used)
    encoder, X = formula_matrix(right, table, leave_out=left_out, used=used)
    return PeopleInMemory(
        response,
        codes,
        known[response],
        X,
        CovariateColumns.of(encoder),
        table if used is None else covariates_of(table, encoder.variables or None).within(used),
        weights,
        arguments.weights_kind,
        clusters,
        offset,
        sampling,
    )


def _outcome_of_table(
    right: str,
    data: Any,
    response: str,
    predictors: tuple[str, ...],
    known: dict[str, Design],
    arguments: RegressArguments,
) -> PredictorPeople:
    """Load the data of a table with private predictors in one pass."""
    check_outcome_options(arguments)
    explained = response_variables(response, [*known, *names_of(data)])
    left_out = {*known, *explained, *arguments.named}
    terms = read_terms(right, [name for name in names_of(data) if name not in left_out])
    table = snapshot(data, list(dict.fromkeys([*explained, *terms.variables, *arguments.named])))
    weights, clusters, offset = _columns(table, arguments)
    sampling = None if arguments.sampling is None else arguments.sampling.of(table)
    used = used_rows(weights, sampling, len(_column(table, predictors[0])))
    private = {
        name: PrivateColumn(
            name, read_used(_column(table, name), name, known[name], arguments.missing, used), known[name]
        )
        for name in (*predictors, *([response] if response in known else []))
    }
    seen = [name for name in dict.fromkeys([*terms.variables, *explained]) if name not in private]
    covariates = covariates_of(table, seen) if seen else Covariates({}, len(private[predictors[0]].codes))
    return outcome_people(
        OutcomeData(
            response,
            terms,
            tuple(private[name] for name in predictors),
            evolve(covariates, ordered=not is_table(data) or is_ordered(data)),
            private.get(response),
            weights=weights,
            weights_kind=arguments.weights_kind,
            clusters=clusters,
            offset=offset,
            sampling=sampling,
        ),
        arguments,
    )


def _columns(table: Any, arguments: RegressArguments) -> tuple[Any, Any, Any]:
    """Return weights, clusters and offset, from the table if they are names."""
    given = (arguments.weights, arguments.clusters, arguments.offset)
    weights, clusters, offset = (_column(table, each) if isinstance(each, str) else each for each in given)
    return weights, clusters, offset


def _designs(data: Any, designs: Any) -> dict[str, Design]:
    """Return the designs of private columns, as given or from `SubsetData`."""
    known: dict[str, Design] = {}
    if isinstance(data, Mapping):
        known = {str(name): column.design for name, column in data.items() if isinstance(column, SubsetData)}
    if designs is None:
        if known:
            return known
        raise ArgumentError(
            "`designs` must give the designs of the columns of subsets; got none.", DESIGN_OF_THE_RESPONSE
        )
    if not isinstance(designs, Mapping):
        raise ArgumentError(
            f"`designs` must be a dict of designs by column; got {type(designs).__name__}.", DESIGN_OF_THE_RESPONSE
        )
    return known | {str(name): require_design(each) for name, each in designs.items()}


def _column(table: Any, name: str) -> Any:
    if is_table(table):
        return native_column(table, name)
    return {str(key): column for key, column in table.items()}[name]


def _of_covariates(
    response: Any, covariates: Any, designs: Any, design: Design | None, arguments: RegressArguments
) -> PeopleInMemory | PredictorPeople:
    """Prepare a response and covariates without a formula."""
    if arguments.named:
        raise ArgumentError(
            "weights, clusters, offset and sampling must be given as numbers without a formula; got a name."
        )
    if arguments.stream:
        raise ArgumentError("`stream` must be left out without a formula; got True.")
    if arguments.weights is None:
        refuse_counts(response)
        refuse_counts(covariates, (), [count_column(())])
    _check_indexes(covariates, arguments, response)
    own = _private_covariates(covariates, designs)
    if own:
        return _outcome_of_columns(response, covariates, own, design, arguments)
    if not isinstance(response, SubsetData) and design is None:
        raise ArgumentError(
            f"`formula` must be a formula, a SubsetData, or codes with their `design`; got {_got(response)}.",
            RESPONSE_AND_COVARIATES,
        )
    private = _private_response(response, design, arguments)
    used = used_rows(arguments.weights, arguments.sampling, len(private.codes))
    encoder, X = covariate_matrix(covariates, used)
    table = covariates if used is None else covariates_of(covariates).within(used)
    given = (arguments.weights, arguments.weights_kind, arguments.clusters, arguments.offset, arguments.sampling)
    columns = CovariateColumns.of(encoder)
    return PeopleInMemory(private.name, private.codes, private.design, X, columns, table, *given)


def _private_covariates(covariates: Any, designs: Any) -> dict[str, Design]:
    """Return the designs of the private columns among covariates."""
    if designs is None and not isinstance(covariates, Mapping):
        return {}
    if designs is None and not any(isinstance(column, SubsetData) for column in covariates.values()):
        return {}
    known = _designs(covariates, designs)
    existing = names_of(covariates)
    for name in known:
        if name not in existing:
            raise ArgumentError(
                f"`designs` must be of columns of the covariates without a formula; got {name}, which is none."
            )
    return known


def _private_response(response: Any, design: Design | None, arguments: RegressArguments) -> PrivateColumn:
    name = name_of(response) or "response"
    if isinstance(response, SubsetData):
        return PrivateColumn(name, *read_column(response, design))
    return PrivateColumn(name, *read_column(response, design, missing=arguments.missing))


def _outcome_of_columns(
    response: Any, covariates: Any, known: dict[str, Design], design: Design | None, arguments: RegressArguments
) -> PredictorPeople:
    """Prepare a response and covariates, some of which are private."""
    table = snapshot(covariates, names_of(covariates))
    used = used_rows(arguments.weights, arguments.sampling, len(_column(table, next(iter(known)))))
    predictors = tuple(
        PrivateColumn(name, read_used(_column(table, name), name, each, arguments.missing, used), each)
        for name, each in known.items()
    )
    seen = [name for name in names_of(table) if name not in known]
    rows = len(predictors[0].codes)
    observed = covariates_of(table, seen) if seen else Covariates({}, rows)
    private = None
    if isinstance(response, SubsetData) or design is not None:
        private = _private_response(response, design, arguments)
        name = private.name
    else:
        name, observed = _with_response(response, observed)
    return outcome_people(
        OutcomeData(
            name,
            None,
            predictors,
            observed,
            private,
            arguments.weights,
            arguments.weights_kind,
            arguments.clusters,
            arguments.offset,
            arguments.sampling,
        ),
        arguments,
    )


def _with_response(response: Any, covariates: Covariates) -> tuple[str, Covariates]:
    """Return the name of an observed response, and covariates with its column."""
    named = name_of(response)
    name = "response" if named is None or named in covariates.columns else named
    if name in covariates.columns:
        raise ArgumentError("a column of covariates must not be called response; got one.", RENAME_A_COLUMN)
    own = covariates_of({name: response})
    if own.rows != covariates.rows:
        raise MismatchError(
            f"covariates must have a row for each person; got {covariates.rows} rows for {people(own.rows)}."
        )
    return name, Covariates({**covariates.columns, **own.columns}, covariates.rows)


def _got(response: Any) -> str:
    return "codes alone" if isinstance(response, (np.ndarray, list)) else shown(response)
