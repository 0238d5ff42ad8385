"""`audit`: measure what a design, or a published column or table, reveals (`subsec_quantity`)."""

from collections.abc import Mapping
from typing import Any, overload

from subsetprivacy._checks import check_level
from subsetprivacy._types import Distribution
from subsetprivacy.auditing.given import audit_given
from subsetprivacy.auditing.report import Audit
from subsetprivacy.auditing.table_audit import TableAudit, audit_joint, audit_margins, audit_table
from subsetprivacy.data import JointCounts, SubsetCounts, SubsetData, SubsetTable, as_counts
from subsetprivacy.design import Covered, Design, Product
from subsetprivacy.errors import ArgumentError
from subsetprivacy.estimation.dispatch import estimate
from subsetprivacy.messages.for_tests import GIVE_THE_DISTRIBUTION
from subsetprivacy.privacy.attacker import Setting

__all__ = ["Audit", "TableAudit", "audit"]


@overload
def audit(
    what: SubsetTable, w: Mapping[str, Distribution] | None = ..., *, prior: None = ..., level: float = ...
) -> TableAudit: ...
@overload
def audit(what: JointCounts, w: None = ..., *, prior: None = ..., level: float = ...) -> TableAudit: ...  # type: ignore[overload-overlap]
@overload
def audit(
    what: Product | Covered, w: Mapping[str, Distribution], *, prior: None = ..., level: float = ...
) -> TableAudit: ...
@overload
def audit(what: Design, w: Distribution, *, prior: Distribution | None = ..., level: float = ...) -> Audit: ...
@overload
def audit(what: Design, w: Distribution | None = ..., *, level: float = ..., given: Any) -> Audit: ...
@overload
def audit(
    what: SubsetData | SubsetCounts,
    w: Distribution | None = ...,
    *,
    prior: Distribution | None = ...,
    level: float = ...,
    given: Any = ...,
) -> Audit: ...
def audit(
    what: Design | SubsetData | SubsetCounts | SubsetTable,
    w: Any = None,
    *,
    prior: Any = None,
    level: float = 0.95,
    given: Any = None,
) -> Audit | TableAudit:
    """Measure what a design, a column or a table of subsets reveals.

    Parameters
    ----------
    what
        A design, with `w`. Or data or counts: w is then estimated from them,
        and the leakages have intervals. A table, joint counts, or a product
        with a distribution for each variable gives a `TableAudit`: what each
        variable reveals, and what one person reveals in total. For a table
        and for joint counts, the joint distribution is estimated if there are
        at most 1,024 combinations of categories.
    w
        The distribution of the value, in category order or by label. For a
        table, ``{name: distribution}``. For a product, the same or the joint
        distribution, which gives an audit of the combinations.
    prior
        What the attacker believes the distribution to be, by default w.
    level
        The confidence level of the intervals.
    given
        The probabilities of the categories for each row of a table with
        covariates, for one variable: an array of shape (n, p) in category
        order, a data frame with a column for each category, or a fit.
        `Audit.given` is then what the covariates and the subset reveal
        together. With `given`, a design needs no `w`. The rows may come from
        a pilot or a published model, so you can run the audit before any
        subset is drawn. For `SubsetData` they must be the rows of the same
        people, in the same order.

    Notes
    -----
    For a covered design the numbers are for someone who knows that a row
    belongs to a real person. The notes state the floor.

    Examples
    --------
    >>> from subsetprivacy.design import uniform
    >>> report = audit(uniform(["black", "red", "green", "blue"]), [0.01, 0.1, 0.2, 0.69])
    >>> round(report.to_dict()["size_coverage"], 4), round(report.to_dict()["mi_leakage"], 4)
    (0.6841, 0.7076)

    Audit rows with covariates before publishing them:

    >>> model = [[0.01, 0.1, 0.2, 0.69], [0.01, 0.01, 0.97, 0.01]]
    >>> report = audit(uniform(["black", "red", "green", "blue"]), given=model)
    >>> round(report.given.covariates.above_95, 3), round(report.given.both.above_95, 3)
    (0.5, 0.642)
    """
    check_level(level)
    if given is not None:
        _check_given(what, w, prior)
    if isinstance(what, Design):
        return _audit_design(what, w, prior, level, given)
    if isinstance(what, SubsetTable):
        if prior is not None:
            raise ArgumentError("`prior` must be given to the audit of one variable at a time; got one for a table.")
        return audit_table(what) if w is None else audit_margins(what.design, w)
    if isinstance(what, JointCounts) and w is None and prior is None:
        return audit_joint(what, level)
    counts = as_counts(what, "what", besides="a design, ")
    data = what if isinstance(what, SubsetData) else None
    covered = counts.design.covered
    rows = None if given is None else audit_given(counts.design, given, data)
    if w is not None:
        setting = Setting.of(counts.design.exposed, w, prior)
        return Audit(setting, level, data=data, counts=counts, covered=covered, given=rows)
    fit = estimate(counts)
    setting = Setting.of(counts.design.exposed, fit.w, prior)
    # An interval requires that the belief varies with w. With a fixed prior there are only estimates.
    known = fit if prior is None else None
    return Audit(setting, level, fit=known, data=data, counts=counts, remarks=fit.notes, covered=covered, given=rows)


def _audit_design(design: Design, w: Any, prior: Any, level: float, given: Any) -> Audit | TableAudit:
    rows = None if given is None else audit_given(design, given)
    if rows is not None and w is None:
        w = rows.w
    if w is None:
        raise ArgumentError("`w` must be given to audit a design.", GIVE_THE_DISTRIBUTION)
    several = design.exposed.product
    if several is not None and isinstance(w, Mapping) and set(w) & set(several.categories.names):
        if prior is not None:
            raise ArgumentError("`prior` must be given to the audit of one variable at a time; got one for a product.")
        return audit_margins(several, w)
    setting = Setting.of(design.exposed, w, prior)
    return Audit(setting, level, covered=design.covered, given=rows)


def _check_given(what: Any, w: Any, prior: Any) -> None:
    """Raise if probabilities of rows are given for several variables, or together with a prior."""
    names = getattr(what.exposed.product, "categories", None) if isinstance(what, Design) else None
    by_name = names is not None and isinstance(w, Mapping) and bool(set(w) & set(names.names))
    if isinstance(what, SubsetTable) or by_name or (isinstance(what, JointCounts) and w is None):
        raise ArgumentError("`given` must be left out for several variables; it is for one at a time.")
    if prior is not None:
        raise ArgumentError(
            "`prior` must be left out with `given`, which is what the attacker believes about each row."
        )
