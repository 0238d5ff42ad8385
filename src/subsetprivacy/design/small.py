"""Designs for two and three categories, and for small variables joined into one (`subsec_p23`, `sec_p23_alt`)."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, ClassVar, get_args

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_choice, check_count, read_only
from subsetprivacy._choices import Route
from subsetprivacy._types import Label
from subsetprivacy.design.base import Design
from subsetprivacy.design.conditional import nonprivate
from subsetprivacy.design.covered import covered
from subsetprivacy.design.described import Formula
from subsetprivacy.design.disclosure import revealing_reports, values_left
from subsetprivacy.design.document_format import Keys
from subsetprivacy.design.exchangeable import fixed_size
from subsetprivacy.design.hadamard import hadamard
from subsetprivacy.design.identify import null_direction
from subsetprivacy.design.independent import Independent, uniform
from subsetprivacy.design.product import product
from subsetprivacy.design.require import require_design
from subsetprivacy.design.secret_bit import uniform_with_bit, warner
from subsetprivacy.errors import InvalidDesignError
from subsetprivacy.incidence import Halves, incidence
from subsetprivacy.messages.for_designs import SAFE_ROUTE, SEPARATE_QUESTIONS, USE_UNIFORM
from subsetprivacy.subsets import MAX_CATEGORIES, as_categories
from subsetprivacy.variables import JointCategories

ROUTES: tuple[Route, ...] = get_args(Route)
MOST_LISTED = 14  # the most combinations for which all discreet questions are listed, also in documents
_SAFE: dict[int, Route] = {2: "warner", 3: "pair"}


def small(
    categories: Iterable[Label],
    route: Route | None = None,
    *,
    q: float | None = None,
    floor: float | None = None,
    reveals: bool = False,
) -> Design:
    """Make a design for two or three categories.

    Parameters
    ----------
    categories
        Two or three distinct labels.
    route
        The method, by default the safe one: ``"warner"`` for two categories,
        ``"pair"`` for three. The paper's other methods are ``"bit"``, uniform
        questions about the value and an artificial bit together, and
        ``"dummies"``, the value and a dummy category among dummy rows.
    q
        The probability that the bit is 1, by default 1/4 for Warner's
        question and 1/2 for the paper's bit.
    floor
        The share of rows per dummy category for ``"dummies"``, by default 0.2.
    reveals
        Must be True for a method in which some rows reveal the value.

    Raises
    ------
    InvalidDesignError
        If the method does not allow this number of categories, or reveals the
        value although `reveals` was not set.

    Notes
    -----
    With two categories and a fair bit, a third of the rows reveal the value
    and the others carry no information. With dummies, anyone who knows that a
    row belongs to a person knows the value. `audit` prints these numbers for
    every design.

    Examples
    --------
    >>> small(["no", "yes"])
    <'no', 'yes' with a secret bit, P(1) = 0.25, asked whether they are equal>
    >>> small(["never", "once", "often"])
    <fixed_size design on 3 categories: 'never', 'once', 'often'>
    """
    labels = as_categories(categories)
    if labels.p not in _SAFE:
        hint = USE_UNIFORM if labels.p > 3 else None
        raise InvalidDesignError(f"a small design must have two or three categories; got {labels.p}.", hint)
    chosen = _SAFE[labels.p] if route is None else check_choice(route, ROUTES, "route")
    for given, name, routes in ((q, "q", ("warner", "bit")), (floor, "floor", ("dummies",))):
        if given is not None and chosen not in routes:
            raise InvalidDesignError(
                f"`{name}` must be left out for the route {chosen!r}; only {' and '.join(routes)} can use it."
            )
    if chosen == "pair":
        return fixed_size(labels, 2)  # refuses two categories, with the reason
    if chosen == "warner":
        return warner(labels, 0.25 if q is None else q, reveals=reveals)
    if chosen == "bit":
        design: Design = uniform_with_bit(labels, 0.5 if q is None else q)
    else:
        base = nonprivate(labels) if labels.p == 2 else singles(labels)
        design = covered(base, 0.2 if floor is None else floor, reveals=True)
    if not reveals and design.smallest_set < 2:
        raise InvalidDesignError(
            f"`reveals` must be True for the route {chosen!r}, because some rows reveal the value to anyone who reads "
            "them; got False.",
            SAFE_ROUTE(route=_SAFE[labels.p]),
        )
    return design


@frozen(slots=False, eq=False, repr=False)
class Singles(Independent):
    """Questions about one category at a time. "Yes" reveals the value, so this is only a base for dummy rows."""

    kind: ClassVar[str] = "singles"
    name: ClassVar[str] = "single categories"
    keys: ClassVar[Keys] = Keys()
    formula: ClassVar[Formula] = Formula(
        reports="every subset with $\\lvert a\\rvert = 1$ or $\\lvert a\\rvert = p-1$",
        weight=r"\mu_a = \frac{1}{p} \text{ if } p \ge 3, \quad \mu_a = 1 \text{ if } p = 2",
    )

    @classmethod
    def example(cls) -> "Singles":
        """Return three categories."""
        return singles(["a", "b", "c"])

    @property
    def description(self) -> str:
        """Yes reveals the value."""
        return "A yes/no question about one category at a time. Yes reveals the value."

    def content(self) -> dict[str, Any]:
        """Return an empty dict: the categories determine the design."""
        return {}


def singles(categories: Iterable[Label]) -> Singles:
    """Make the design that asks about one category at a time (`sec_p23_alt`)."""
    labels = as_categories(categories)
    codes = np.int64(1) << np.arange(labels.p, dtype=np.int64)
    return Singles(labels, read_only(codes), read_only(np.full(labels.p, 1 / labels.p)))


def join(
    variables: Mapping[str, Iterable[Label]],
    *,
    together: int | None = None,
    design: Callable[[Any], Design] | None = None,
    reveals: bool = False,
) -> Design:
    """Join variables into one whose categories are their combinations.

    The estimate gives the margins: ``fit.margin("sex")``.

    Parameters
    ----------
    variables
        ``{name: labels}``. A single variable gets the design of a variable that is left over (see `together`).
    together
        Join this many variables at a time, in the given order, and ask about
        each bundle separately (`product`). The paper proposes 2 for many small
        variables. A variable that is left over gets its safe design if it has
        two or three categories (the artificial bit, if `reveals` is True), and
        a uniform design otherwise. By default all variables are joined into
        one.
    design
        A function that makes the design of the combinations, for instance
        `hadamard`. By default the safe design described below.
    reveals
        Allow questions whose answer reveals one of the variables, as the
        paper's do. With two binary variables and a uniform design, a third of
        the rows reveal the first variable and a third the second. By default every answer leaves at least
        two values of every variable. If there are not enough such questions
        (two binary variables), the report rules out a random combination
        instead, which must be drawn where the value is known. A row with one
        variable missing is missing as a whole.

    Raises
    ------
    InvalidDesignError
        If there are too many combinations, or `design` makes a design that
        reveals a variable although `reveals` was not set.

    Examples
    --------
    >>> both = join({"sex": ["f", "m"], "smokes": ["yes", "no"]})
    >>> both, both.k
    (<fixed_size design on 4 categories: sex (2) x smokes (2)>, 3)
    """
    everything = JointCategories(variables)
    if together is None:
        return _join_all(dict(zip(everything.names, everything.parts, strict=True)), design, reveals)
    size = check_count(together, "together", least=2)
    left = iter(zip(everything.names, everything.parts, strict=True))
    bundles = []
    while bundle := dict(islice(left, size)):
        bundles.append(bundle)
    made = {tuple(bundle): _join_all(bundle, design, reveals) for bundle in bundles}
    named: dict[Any, Design] = {names if len(names) > 1 else names[0]: bundled for names, bundled in made.items()}
    return next(iter(named.values())) if len(named) == 1 else product(named)


def _join_all(variables: dict[str, Any], make: Callable[[Any], Design] | None, reveals: bool) -> Design:
    if len(variables) == 1:
        (labels,) = variables.values()
        if labels.p > 3:
            return uniform(labels)
        return small(labels, "bit", reveals=True) if reveals else small(labels)
    joint = JointCategories(variables)
    for name, part in zip(joint.names, joint.parts, strict=True):
        if part.p < 2:
            raise InvalidDesignError(f"a joined variable must have at least two categories; got one for {name!r}.")
    if make is not None:
        design = require_design(make(joint))
        if design.categories != joint:
            raise InvalidDesignError("`design` must make a design for the given combinations; got one for others.")
        if not reveals and (shown := [name for name, rows in revealing_reports(design).items() if rows.any()]):
            raise InvalidDesignError(
                f"`reveals` must be True for this design, because some rows reveal {', '.join(shown)} exactly; got "
                "False."
            )
        return design
    if reveals and joint.p <= MAX_CATEGORIES:
        return uniform(joint)
    return hadamard(joint) if reveals else _unrevealing(joint)


def _unrevealing(joint: JointCategories) -> Design:
    """Return uniform questions whose answers reveal no variable, or a design that rules out one combination."""
    if joint.p > MOST_LISTED:
        return _unrevealing_hadamard(joint)
    half = np.arange(1, 1 << (joint.p - 1), dtype=np.int64)  # one of each question and its complement
    hidden = np.ones(len(half), np.bool_)
    for answer in (half, joint.full - half):
        for left in values_left(Halves(answer, joint.p), joint).values():
            hidden &= left > 1
    questions = half[hidden]
    if questions.size and null_direction(incidence(np.append(questions, joint.full), joint.p)) is None:
        return Independent(joint, read_only(questions), read_only(np.full(len(questions), 1 / len(questions))))
    return fixed_size(joint, joint.p - 1)


def _unrevealing_hadamard(joint: JointCategories) -> Design:
    """Return Hadamard questions that reveal no variable: the smallest number, or twice or four times as many."""
    fewest = hadamard(joint)
    for questions in (fewest.questions, 2 * fewest.size - 1, 4 * fewest.size - 1):
        design = hadamard(joint, questions)
        if not any(rows.any() for rows in revealing_reports(design).values()):
            return design
    raise InvalidDesignError(
        "there must be questions that reveal none of the joined variables; got no such questions for "
        f"{joint.preview()}.",
        SEPARATE_QUESTIONS,
    )
