"""The data of a regression with private predictors, from a table, files, or columns without a formula."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from subsetprivacy._choices import OutcomeFamily
from subsetprivacy._types import BoolArray, FloatArray, IntArray, Label
from subsetprivacy._words import people
from subsetprivacy.data import check_allowed
from subsetprivacy.design import Design, product
from subsetprivacy.errors import ArgumentError, CategoryError, CodeError, MismatchError
from subsetprivacy.frames.covariates import Covariates, LabelColumn, numbers_of
from subsetprivacy.frames.formula_terms import FormulaTerms, read_terms
from subsetprivacy.frames.formulas import TableOfCovariates, encoder_of_terms, encoder_of_used
from subsetprivacy.frames.outcomes import ObservedOutcome, observed_outcome
from subsetprivacy.frames.predictor_encoder import (
    PredictorEncoder,
    PrivatePredictor,
    encode_predictor_columns,
    encode_predictors,
)
from subsetprivacy.frames.regression_people import RegressArguments, baselines_of
from subsetprivacy.messages import Note, NoteKind
from subsetprivacy.messages.for_regression import (
    COMPUTE_THE_COLUMN_FIRST,
    MERGE_BY_COLUMN,
    NAME_THE_DESIGN_OF_TEXT,
    WITHOUT_PREDICTORS,
)
from subsetprivacy.predictors.layout import ModelLayout
from subsetprivacy.predictors.outcome import fit_outcome, most_frequent
from subsetprivacy.predictors.result import OutcomeRegression
from subsetprivacy.regression.inputs import used_rows
from subsetprivacy.regression.problem import require_response
from subsetprivacy.sampling import Sampling
from subsetprivacy.tables import label_text


@frozen(eq=False, repr=False)
class PrivateColumn:
    """A column of subsets, in memory."""

    name: str
    codes: IntArray
    design: Design


@frozen(eq=False, repr=False)
class OutcomeData:
    """The columns of a regression with private predictors.

    Attributes
    ----------
    response
        The response.
    terms
        The right-hand side of the formula; None without a formula, when all columns are terms.
    predictors
        The private columns among the terms.
    covariates
        The observed columns, including an observed response.
    private_response
        The response, if it is private.
    weights, weights_kind, clusters, offset
        One for each person, or None.
    sampling
        How the sample was drawn, with columns; None if not given.
    place
        Returns the position of a row in words.
    """

    response: str
    terms: FormulaTerms | None
    predictors: tuple[PrivateColumn, ...]
    covariates: Covariates
    private_response: PrivateColumn | None = None
    weights: Any = None
    weights_kind: Any = None
    clusters: Any = None
    offset: Any = None
    sampling: Sampling | None = None
    place: Any = "row {}".format


@frozen(eq=False, repr=False)
class PredictorPeople:
    """Data with private predictors, in memory, ready to be fitted."""

    data: OutcomeData
    outcome: ObservedOutcome | None
    layout: ModelLayout
    V: FloatArray
    baseline: Label | None = None
    notes: tuple[Note, ...] = ()

    def fit(self, arguments: RegressArguments, *, stacklevel: int) -> OutcomeRegression:
        """Fit the regression; `stacklevel` is the level of warnings."""
        data = self.data
        private = data.private_response
        codes, design = joint(data.predictors)
        family: OutcomeFamily = "logit" if self.outcome is None else self.outcome.family
        made = fit_outcome(
            data.response,
            private.codes if private is not None else self.outcome.y,  # type: ignore[union-attr]
            self.V,
            codes,
            design,
            self.layout,
            family=family,
            method=arguments.method or "corrected",
            response_design=None if private is None else private.design,
            baseline=self.baseline,
            weights=data.weights,
            weights_kind=data.weights_kind,
            clusters=data.clusters,
            sampling=data.sampling,
            offset=data.offset,
            table=data.covariates,
            starts=arguments.starts,
            stacklevel=stacklevel + 1,
        )
        levels = None if self.outcome is None else self.outcome.levels
        return evolve(made, modeled=None if levels is None else levels[1], more=self.notes)


def outcome_people(data: OutcomeData, arguments: RegressArguments) -> PredictorPeople:
    """Prepare columns that were read, with the columns of the model.

    Raises
    ------
    ArgumentError
        If an option does not apply to private predictors, or columns do not fit.
    CategoryError
        If a baseline is not a category.
    """
    check_outcome_options(arguments)
    private = data.private_response
    for each in (*data.predictors, *(() if private is None else (private,))):
        _check_private(each, data.covariates.rows)
    weighted = used_rows(data.weights, data.sampling, data.covariates.rows)
    given = data.covariates
    data = _with_response(evolve(data, covariates=given.within(weighted)))
    outcome, baselines = _response(data, arguments)
    check_no_subsets(data.covariates, [name for name in data.covariates.columns if name != data.response])
    merged = merges_of(arguments.merge, data.predictors)
    predictors = [_predictor(each, baselines, merged.get(each.name, {}), weighted) for each in data.predictors]
    encoder = _encoder(data, predictors, given, weighted)
    V = encoder.encode(data.covariates, data.place)
    seen = {name: data.covariates.columns[name] for name in encoder.variables}
    used = Covariates(seen, data.covariates.rows, data.covariates.ordered)
    layout = layout_of(encoder, data.predictors)
    notes = (*(() if outcome is None else outcome.notes), *_merge_notes(arguments.merge))
    return PredictorPeople(evolve(data, covariates=used), outcome, layout, V, baselines.get(data.response), notes)


def _with_response(data: OutcomeData) -> OutcomeData:
    """Add a column for a response that is an expression such as ``log(income)``."""
    covariates = data.covariates
    if data.private_response is not None or data.response in covariates.columns:
        return data
    encoder = encoder_of_terms(read_terms(f"0 + {data.response}"), TableOfCovariates(covariates))
    if len(encoder.columns) != 1:
        raise ArgumentError(
            f"the response {data.response} must be one number for each row; got {len(encoder.columns)}.",
            COMPUTE_THE_COLUMN_FIRST,
        )
    column = numbers_of(encoder.encode(covariates, data.place)[:, 0])
    return evolve(
        data, covariates=evolve(covariates, columns={**covariates.columns, data.response: column}, array=None)
    )


def _response(data: OutcomeData, arguments: RegressArguments) -> tuple[ObservedOutcome | None, dict[str, Label]]:
    names = [each.name for each in data.predictors]
    if data.private_response is not None:
        if arguments.family not in (None, "logit"):
            raise ArgumentError(
                f"`family` must be 'logit' for a private response with private predictors; got {arguments.family!r}."
            )
        return None, baselines_of(arguments.baseline, data.response, names)
    if arguments.family == "ordinal":
        raise ArgumentError(
            f"`family` must be 'linear', 'logit' or 'poisson' for the observed response {data.response}; got 'ordinal'."
        )
    named = isinstance(arguments.baseline, Mapping) and data.response in arguments.baseline
    baselines = baselines_of(arguments.baseline, data.response if named else None, names)
    own = baselines.get(data.response)
    return observed_outcome(data.covariates, data.response, arguments.family, own, data.place), baselines


def _encoder(
    data: OutcomeData, predictors: Sequence[PrivatePredictor], given: Covariates, used: BoolArray | None
) -> PredictorEncoder:
    covariates = data.covariates
    if data.terms is not None:
        return encoder_of_used(
            data.terms, given, used, lambda terms, source: encode_predictors(terms, source, predictors)
        )
    seen = {name: column for name, column in covariates.columns.items() if name != data.response}
    return encode_predictor_columns(Covariates(seen, covariates.rows, covariates.ordered), predictors)


def check_outcome_options(arguments: RegressArguments) -> None:
    """Raise if an option is not available with private predictors."""
    given = {
        "shrink": arguments.shrink,
        "ridge": arguments.ridge != 0,
        "lasso": arguments.lasso != 0,
        "stream": bool(arguments.stream),
    }
    for name, is_given in given.items():
        if is_given:
            raise ArgumentError(
                f"`{name}` must be left out with a private predictor; it is for private responses.",
                WITHOUT_PREDICTORS if name == "shrink" else None,
            )


def _check_private(column: PrivateColumn, rows: int) -> None:
    if len(column.codes) != rows:
        raise MismatchError(
            f"columns must have a row for each person; got {len(column.codes)} rows of {column.name} for "
            f"{people(rows)}."
        )
    require_response(column.design)
    try:
        check_allowed(column.codes, column.design)
    except CodeError as error:
        raise CodeError(f"{column.name}: {error.message}", error.advice) from None


def check_no_subsets(covariates: Covariates, names: Sequence[str]) -> None:
    """Raise if an observed column of text looks like subsets: labels joined by a bar in every row."""
    for name in names:
        column = covariates.columns.get(name)
        if isinstance(column, LabelColumn):
            levels = column.used()
            if len(levels) > 1 and all(isinstance(level, str) and "|" in level for level in levels):
                raise ArgumentError(
                    f"column {name} must hold a label in each row, or be named in `designs`; got text joined by bars "
                    "in every row, as subsets are written.",
                    NAME_THE_DESIGN_OF_TEXT(name=name),
                )


def _predictor(
    column: PrivateColumn, baselines: Mapping[str, Label], merged: Mapping[Label, Label], used: BoolArray | None
) -> PrivatePredictor:
    labels = column.design.categories.labels
    baseline = baselines.get(column.name)
    if baseline is None:
        baseline = most_frequent(column.codes if used is None else column.codes[used], column.design)
    if baseline not in (*labels, *merged.values()):
        raise CategoryError(
            f"`baseline` of {column.name} must be one of its categories ({_listed(labels)}); got another label."
        )
    made = PrivatePredictor(column.name, labels, merged.get(baseline, baseline), dict(merged))
    if len(made.levels) < 2:
        raise ArgumentError(f"`merge` must leave {column.name} two or more categories; got one.")
    return made


def merges_of(merge: Any, columns: Sequence[PrivateColumn]) -> dict[str, dict[Label, Label]]:
    """Return the names of merged categories by private column and category.

    Parameters
    ----------
    merge
        A dict by column of new names and the categories that each merges; None merges nothing.

    Raises
    ------
    ArgumentError
        If it is another type, or a column is not a private predictor.
    CategoryError
        If a label is not a category, or is merged twice.
    """
    merged: dict[str, dict[Label, Label]] = {}
    known = {column.name: column.design.categories.labels for column in columns}
    if merge is not None and not isinstance(merge, Mapping):
        raise ArgumentError(f"`merge` must be a dict by column; got {type(merge).__name__}.", MERGE_BY_COLUMN)
    for name, groups in (merge or {}).items():
        if name not in known or not isinstance(groups, Mapping):
            raise ArgumentError(
                f"`merge` must have a dict of names and categories for private terms, {', '.join(known)}; got another "
                "column, or something else.",
                MERGE_BY_COLUMN,
            )
        merged[name] = _merged(str(name), groups, known[name])
    return merged


def _merged(name: str, groups: Mapping[Label, Any], labels: Sequence[Label]) -> dict[Label, Label]:
    members = [(label, new) for new, some in groups.items() for label in ([some] if isinstance(some, str) else some)]
    if any(label not in labels for label, _ in members):
        raise CategoryError(f"`merge` must name categories of {name} ({_listed(labels)}); got another label.")
    if len({label for label, _ in members}) < len(members):
        raise CategoryError(f"`merge` must have each category of {name} once; got one twice.")
    rest = [label for label in labels if label not in dict(members)]
    if any(new in rest for new in groups):
        raise CategoryError(
            f"`merge` must have new names for {name}; got that of a category that is not merged with it."
        )
    return dict(members)


def _merge_notes(merge: Any) -> tuple[Note, ...]:
    texts = [
        f"{name}: {label_text(new)} is {' or '.join(map(label_text, [some] if isinstance(some, str) else some))}."
        for name, groups in (merge or {}).items()
        for new, some in groups.items()
    ]
    return (Note(NoteKind.MERGED, " ".join(texts)),) if texts else ()


def _listed(labels: Sequence[Label]) -> str:
    return ", ".join(map(label_text, labels[:12])) + (", …" if len(labels) > 12 else "")


def joint(columns: Sequence[PrivateColumn]) -> tuple[IntArray, Design]:
    """Return the joint codes of several columns, and the product of their designs."""
    if len(columns) == 1:
        return columns[0].codes, columns[0].design
    design = product({column.name: column.design for column in columns})
    return design.join([column.codes for column in columns]), design


def layout_of(encoder: PredictorEncoder, columns: Sequence[PrivateColumn]) -> ModelLayout:
    """Return the layout of the model's columns."""
    return ModelLayout(
        names=encoder.columns,
        terms=encoder.terms,
        Z=encoder.Z,
        seen=encoder.seen,
        private={column.name: column.design.categories for column in columns},
        baselines={each.name: each.first_of(each.baseline) for each in encoder.private},
        V_names=encoder.seen_columns,
        constant=0,
        encoder=encoder,
        merged={each.name: each.merged for each in encoder.private if each.merged},
    )
