"""`regress`: from a formula and a table, or from subsets and covariates, to a regression."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from subsetprivacy._checks import check_choice, check_count, shown
from subsetprivacy._choices import Family, Missing, RegressionMethod, WeightsKind
from subsetprivacy._types import ArrayLike, IntArray, Label
from subsetprivacy.counting.columns import MISSING, read_column
from subsetprivacy.data import SubsetData, SubsetTable
from subsetprivacy.design import Design, require_design
from subsetprivacy.engines import is_table, native_column
from subsetprivacy.errors import ArgumentError, CodeError
from subsetprivacy.frames.covariates import names_of, snapshot
from subsetprivacy.frames.formula_terms import read_terms, split_formula
from subsetprivacy.frames.formulas import covariate_matrix, formula_matrix
from subsetprivacy.frames.release import Release
from subsetprivacy.messages.for_regression import DESIGN_OF_THE_RESPONSE, RESPONSE_AND_COVARIATES
from subsetprivacy.regression.problem import Columns, Options
from subsetprivacy.regression.response import fit_response
from subsetprivacy.regression.result import Regression

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
    baseline: Label | None = None,
    weights: str | ArrayLike | None = None,
    weights_kind: WeightsKind | None = None,
    clusters: str | ArrayLike | None = None,
    offset: str | ArrayLike | None = None,
    shrink: bool = False,
    ridge: float | Literal["cv"] = 0.0,
    lasso: float | Literal["cv"] = 0.0,
    starts: int | Literal["auto"] = "auto",
    missing: Missing = "error",
) -> Regression:
    r"""Regress a private category on covariates.

    Parameters
    ----------
    formula
        A formula such as ``"race ~ age + C(sex)"``, whose response is a column of subsets. Or the response itself: a
        `SubsetData`, or codes with their `design`.
    data
        With a formula, a table of any library, a dict of columns, or a `Release`, which knows its designs. Without
        one, the covariates: a table, or an array of numbers; an intercept is added.
    designs
        The designs of the columns of subsets, by name; a `Release` has them.
    design
        The design of the response, where it is given as codes.
    family
        ``"logit"`` (default): a logit of each category against the baseline. ``"ordinal"``: proportional odds of
        ordered categories, in the order of the design.
    method
        ``"ml"`` (default): maximum likelihood of the subsets. ``"corrected"``: corrected scores, which have the target
        of a fit on the values even where the model is wrong, at a larger variance.
    baseline
        The category that the others are compared with; by default the most frequent one.
    weights, weights_kind
        A weight for each person, or the name of a column, and what weights mean: ``"frequency"`` or ``"sampling"``.
    clusters
        The cluster of each person, or the name of a column: standard errors then are those of clusters.
    offset
        A number for each person, or the name of a column, that is added to the linear predictors of all categories
        but the baseline, with coefficient 1.
    shrink
        True to add a few pseudo-people with the shares of all people: every estimate is finite then.
    ridge, lasso
        The strength of a penalty on all coefficients but the intercept, the same for all categories; ``"cv"`` chooses
        it by the likelihood of subsets that were left out.
    starts
        How many starts: the likelihood may have several maxima. ``"auto"`` (default): one, and nine more where there
        are few people.
    missing
        What an empty cell of the response is: ``"error"`` (default) or ``"full"``, a missing answer.

    Raises
    ------
    ArgumentError
        If covariates are missing or infinite, constant or combinations of each other (the columns are named); if
        there are more parameters than people; or if arguments do not fit together.
    CodeError
        If a cell of the response is no subset of its design.
    NotIdentifiableError
        If the design cannot tell distributions apart.
    NoDataError
        If no subset says anything.

    Warns
    -----
    SeparationWarning
        If the data set no limit to some coefficients, which are infinite then.
    NotUniqueWarning, ConvergenceWarning, SmallCountWarning
        If there are several maxima, the fit did not arrive, or there are few people for so many covariates.

    Notes
    -----
    With the rows :math:`r_i` of the subsets and the model :math:`p(x)`, the log-likelihood is
    :math:`\sum_i \ln \sum_j r_i(j)\, p_j(x_i)`. It needs no weights of the design, only that the subset depends on the
    covariates through the value alone. `privatize` and `ask` guarantee that. Full sets carry no information; they are
    left out and counted.

    Examples
    --------
    >>> import numpy as np
    >>> import subsetprivacy as sp
    >>> rng = np.random.default_rng(1)
    >>> age = rng.uniform(20, 70, 5000)
    >>> share = 1 / (1 + np.exp(2 - age / 30))
    >>> values = np.where(rng.random(5000) < share, "yes", rng.choice(["no", "perhaps", "never"], 5000))
    >>> data = sp.privatize(values, sp.uniform(["no", "perhaps", "never", "yes"]), seed=1)
    >>> fit = sp.regress(data, {"age": age}, baseline="no")
    >>> fit
    <Regression response ~ age: logit, ml, 4 categories, n = 5000>
    >>> fit.to_frame().query("category == 'yes' and term == 'age'")[["estimate", "se"]].round(3)
       estimate     se
    5     0.032  0.005
    """
    options = Options(
        family=check_choice("logit" if family is None else family, FAMILIES, "family"),
        method=check_choice("ml" if method is None else method, METHODS, "method"),
        baseline=baseline,
        shrink=bool(shrink),
        starts=None if starts == "auto" else check_count(starts, "starts", least=1),
    )
    check_choice(missing, MISSING, "missing")
    if options.family == "ordinal" and baseline is not None:
        raise ArgumentError("`baseline` must be left out for ordered categories; got one.")
    if isinstance(formula, str):
        if design is not None:
            raise ArgumentError("`designs` must give the design of the response of a formula; got `design`.")
        name, codes, own, X, columns, table, columned = _of_formula(
            formula, data, designs, (weights, clusters, offset), missing
        )
    else:
        if designs is not None:
            raise ArgumentError("`designs` must be left out without a formula; give `design`, or a SubsetData.")
        name, codes, own, X, columns, table, columned = _of_covariates(
            formula, data, design, (weights, clusters, offset), missing
        )
    weight, cluster, shift = columned
    return fit_response(
        name,
        codes,
        own,
        X,
        columns,
        options,
        table=table,
        weights=weight,
        weights_kind=weights_kind,
        clusters=cluster,
        offset=shift,
        ridge=ridge,
        lasso=lasso,
        stacklevel=_STACK,
    )


def _of_formula(formula: str, data: Any, designs: Any, columns: tuple[Any, ...], missing: Missing) -> tuple[Any, ...]:
    """Return name, codes and design of the response, matrix and columns of the covariates, their table, and the rest."""
    known = _designs(data, designs)
    response, right = split_formula(formula, known)
    if response not in known:
        raise ArgumentError(
            f"`designs` must have the design of the response {response}; got {', '.join(known) or 'none'}.",
            DESIGN_OF_THE_RESPONSE,
        )
    named = [each for each in columns if isinstance(each, str)]
    for each in named:
        if each in known:
            raise ArgumentError(
                f"a private column must be the response only; got {each} as a weight, cluster or offset."
            )
    left_out = [*known, *named]
    table = _in_memory(data, response, right, left_out, named)
    codes = _codes(data, table, response, known[response], missing)
    encoder, X = formula_matrix(right, table, leave_out=left_out)
    columned = tuple(_column(table, each) if isinstance(each, str) else each for each in columns)
    return response, codes, known[response], X, Columns.of(encoder), table, columned


def _designs(data: Any, designs: Any) -> dict[str, Design]:
    if designs is None:
        if isinstance(data, Release):
            return data.designs
        if isinstance(data, SubsetTable):
            return dict(zip(data.names, data.design.factors, strict=True))
        raise ArgumentError(
            "`designs` must give the designs of the columns of subsets; got none.", DESIGN_OF_THE_RESPONSE
        )
    if not isinstance(designs, Mapping):
        raise ArgumentError(
            f"`designs` must be a dict of designs by column; got {type(designs).__name__}.", DESIGN_OF_THE_RESPONSE
        )
    return {str(name): require_design(each) for name, each in designs.items()}


def _in_memory(data: Any, response: str, right: str, left_out: list[str], named: list[str]) -> Any:
    """Return the table with the columns that are needed, in memory, all from one reading."""
    if isinstance(data, Release):
        data = data.to_frame(engine="pyarrow")
    if not is_table(data) and not isinstance(data, Mapping):
        raise ArgumentError(
            f"`data` must be a table, a dict of columns or a release with a formula; got {type(data).__name__}.",
            RESPONSE_AND_COVARIATES,
        )
    held = names_of(data)
    terms = read_terms(right, [name for name in held if name not in left_out])
    return snapshot(data, list(dict.fromkeys([response, *terms.variables, *named])))


def _codes(data: Any, table: Any, response: str, design: Design, missing: Missing) -> IntArray:
    if isinstance(data, Release):
        return data.codes(response)
    try:
        return read_column(_column(table, response), design, missing=missing)[0]
    except CodeError as error:
        raise CodeError(f"{response}: {error.message}", error.advice) from None


def _column(table: Any, name: str) -> Any:
    if is_table(table):
        return native_column(table, name)
    return {str(key): column for key, column in table.items()}[name]


def _of_covariates(
    response: Any, covariates: Any, design: Design | None, columns: tuple[Any, ...], missing: Missing
) -> tuple[Any, ...]:
    """Return the same for a response and covariates without a formula."""
    if isinstance(response, SubsetData):
        codes, own = read_column(response, design)
    elif design is None:
        raise ArgumentError(
            f"`formula` must be a formula, a SubsetData, or codes with their `design`; got {_got(response)}.",
            RESPONSE_AND_COVARIATES,
        )
    else:
        codes, own = read_column(response, design, missing=missing)
    for each in columns:
        if isinstance(each, str):
            raise ArgumentError("weights, clusters and offset must be given as numbers without a formula; got a name.")
    encoder, X = covariate_matrix(covariates)
    name = str(getattr(response, "name", None) or "response")
    return name, codes, own, X, Columns.of(encoder), covariates, columns


def _got(response: Any) -> str:
    return "codes alone" if isinstance(response, (np.ndarray, list)) else shown(response)
