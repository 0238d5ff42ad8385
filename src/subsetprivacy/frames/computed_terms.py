"""Terms that formulaic computes: interactions, transforms, contrasts."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, FloatArray
from subsetprivacy.errors import ArgumentError
from subsetprivacy.frames.covariate_problems import CovariateProblems
from subsetprivacy.frames.formula_terms import FormulaFactor, formulaic
from subsetprivacy.messages.for_regression import SPLINE_BOUNDS


@frozen(slots=False, eq=False, repr=False)
class ComputedTerms:
    """Terms that are not plain columns: interactions, transforms, contrasts.

    Attributes
    ----------
    spec
        The formulaic specification that computes them for any rows.
    variables
        The columns of the table that they use.
    positions
        Their columns in the matrix.
    coded
        Their factors ``C(…)``.
    """

    spec: Any
    variables: tuple[str, ...]
    positions: tuple[int, ...]
    coded: tuple[FormulaFactor, ...] = ()

    def values(self, frame: Any, problems: CovariateProblems, first: int) -> FloatArray:
        """Return their columns, and record rows in which they cannot be computed.

        Raises
        ------
        ArgumentError
            If a term cannot be computed at all.
        """
        result = computed(self.spec, frame)
        if result is None:
            raise self._failed(frame)
        if result.strange:
            for factor in self.coded:
                problems.add(f"term {factor.text}", "unknown", self._without_level(factor, frame), first)
        matrix = result.matrix
        if not np.isfinite(matrix).all():
            for term, at in self.spec.term_indices.items():
                fine = np.isfinite(matrix[:, at]).all(axis=1)
                problems.add(f"term {term}", "undefined", np.logical_not(fine), first)
        return matrix

    def _without_level(self, factor: FormulaFactor, frame: Any) -> AnyArray:
        """Return the rows in which a factor has an unknown level."""
        categories = self.spec.encoder_state[factor.text][1]["categories"]
        result = computed(coded_spec(factor, self.spec.transform_state, categories), frame)
        return np.ones(len(frame), np.bool_) if result is None else result.matrix.sum(axis=1) == 0

    def _failed(self, frame: Any) -> ArgumentError:
        for term in self.spec.terms:
            if computed(self.spec.subset([term]), frame) is None:
                return not_computed(str(term))
        return not_computed(", ".join(map(str, self.spec.terms)))


def not_computed(term: str) -> ArgumentError:
    """Return the error for a term that cannot be computed, without the cause, because its message may show cells."""
    advice = SPLINE_BOUNDS if any(f"{name}(" in term for name in ("bs", "cc", "cr", "cs")) else None
    return ArgumentError(f"the term {term} must be computable for every row; it is not.", advice)


@frozen(eq=False)
class Computed:
    """The result of formulaic for a data frame.

    Attributes
    ----------
    matrix
        The columns.
    spec
        The specification, with levels and the state of transforms.
    strange
        Whether some value was an unknown level.
    """

    matrix: FloatArray
    spec: Any
    strange: bool


def computed(spec: Any, frame: Any) -> Computed | None:
    """Let formulaic compute the columns of a data frame; None if it fails, because its message may show cells."""
    from formulaic.errors import DataMismatchWarning

    with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = spec.get_model_matrix(frame)
            matrix = np.asarray(made, np.float64)
        except Exception:
            return None
    strange = any(issubclass(each.category, DataMismatchWarning) for each in caught)
    return Computed(matrix, made.model_spec, strange)


def coded_spec(factor: FormulaFactor, states: Mapping[str, Any], categories: Sequence[Any] | None = None) -> Any:
    """Return the formulaic specification of an indicator column for each level of a factor ``C(…)``."""
    library = formulaic()
    formula = library.Formula(f"0 + {{C({factor.coded})}}")
    text = next(part.expr for term in formula for part in term.factors)
    known = {} if categories is None else {text: (categorical_kind(), {"categories": list(categories)})}
    return new_spec(formula, dict(states), known)


def categorical_kind() -> Any:
    """Return formulaic's kind of categorical factors."""
    from formulaic.parser.types import Factor

    return Factor.Kind.CATEGORICAL


def new_spec(formula: Any, states: dict[str, Any], levels: dict[str, Any]) -> Any:
    """Return a formulaic specification that computes an array and keeps missing values."""
    return formulaic().ModelSpec(
        formula=formula, output="numpy", na_action="ignore", transform_state=states, encoder_state=levels
    )
