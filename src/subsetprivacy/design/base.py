"""What every design can be asked."""

import json
from abc import ABC, abstractmethod
from functools import cached_property
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import frozen

from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import identify
from subsetprivacy.errors import (
    ArgumentError,
    DesignDocumentError,
    InvalidDesignError,
    NotIdentifiableError,
    NotIndependentError,
    TooLargeError,
)
from subsetprivacy.incidence import MAX_DENSE_BITS, Bytes, Halves, Rows, incidence
from subsetprivacy.subsets import MAX_CATEGORIES, Categories, sizes

DOCUMENT_FORMAT = "subsetprivacy.design"
DOCUMENT_VERSION = 1


@frozen(slots=False, eq=False, repr=False)
class Design(ABC):
    r"""How subsets are drawn: a conditional design :math:`\mu` (`cond_design`).

    ``P(A = a | X = j) = mu_a`` for j in a. Make one with `uniform`,
    `independent` or `conditional`.
    """

    categories: Categories
    kind: ClassVar[str]

    # What a kind of design must say -----------------------------------------------------------

    @abstractmethod
    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the codes with positive weight, ascending, and their mu.

        Raises
        ------
        TooLargeError
            If there are too many to list.
        """

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return what the JSON document holds besides the categories."""

    # What follows from it ---------------------------------------------------------------------

    @property
    def p(self) -> int:
        """The number of categories."""
        return self.categories.p

    @property
    def enumerable(self) -> bool:
        """Whether the support is small enough to be listed."""
        return True

    @property
    def is_subset_private(self) -> bool:
        """Whether every reported subset has at least two members (`subset_privacy`)."""
        return self.smallest_set >= 2

    @cached_property
    def smallest_set(self) -> int:
        """The size of the smallest subset that can be reported."""
        return int(sizes(self.support()[0]).min())

    @cached_property
    def support_incidence(self) -> "Rows | Halves | Bytes":
        """The rows 1_a of the whole support."""
        return self.incidence(self.support()[0])

    def incidence(self, codes: IntArray) -> "Rows | Halves | Bytes":
        """Return the rows 1_a of the given codes."""
        return incidence(codes, self.p)

    def mu(self, codes: IntArray) -> FloatArray:
        """Return mu_a for the given codes, 0 outside the support."""
        support, mu = self.support()
        at = np.minimum(np.searchsorted(support, codes), len(support) - 1)
        return np.where(support[at] == codes, mu[at], 0.0)

    def allows(self, codes: IntArray) -> BoolArray:
        """Tell which codes this design can produce; the full set, meaning "missing", always is allowed."""
        return (self.mu(codes) > 0) | (codes == self.categories.full)

    @cached_property
    def Q(self) -> FloatArray:
        """The matrix of pair probabilities, q_ij = sum of mu_a over the a that hold i and j (`gen_mom`)."""
        Q = self.support_incidence.gram(self.support()[1])
        Q.setflags(write=False)
        return Q

    @cached_property
    def S(self) -> float:
        """The sum of all mu_a; log2 S is the maximal leakage. A yes/no question has S = 2."""
        return float(self.support()[1].sum())

    @cached_property
    def mu_full(self) -> float:
        """The probability of the full set, which carries no information."""
        return float(self.mu(np.array([self.categories.full]))[0])

    # Identifiability --------------------------------------------------------------------------

    @cached_property
    def _null(self) -> IntArray | None:
        return identify.null_direction(self.support()[0], self.p)

    @property
    def is_identifiable(self) -> bool:
        """Whether different distributions always give different laws of subsets (`pd`, `thm_identi`)."""
        return self._null is None

    def null_direction(self) -> dict[Label, int] | None:
        """Return a change of w, in category names, that no subset can see; None if identifiable."""
        return None if self._null is None else identify.as_named(self._null, self.categories)

    def require_identifiable(self) -> "Design":
        """Return self, or raise if the design is not identifiable.

        Raises
        ------
        NotIdentifiableError
            With a direction in which the data say nothing.
        """
        if self._null is not None:
            raise NotIdentifiableError(
                f"the design must be identifiable; got one where "
                f"{identify.describe_direction(self._null, self.categories)}. Hint: give weight to more subsets."
            )
        return self

    # Yes/no questions -------------------------------------------------------------------------

    @property
    def is_independent(self) -> bool:
        """Whether a yes/no question drawn without the value realises the design (`ind_design`)."""
        return False

    def as_independent(self) -> "Design":
        """Return the same law as an independent design (nu from mu).

        Raises
        ------
        NotIndependentError
            If there is none, with the reason.
        """
        if self.is_independent:
            return self
        raise NotIndependentError(f"a {self.kind} design must be symmetric to be asked as yes/no questions.")

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw the sets asked about, without any value."""
        raise NotIndependentError(
            f"the design must be independent to be asked as yes/no questions; got a {self.kind} design. "
            "Hint: try design.as_independent(), or privatize() where the values are held."
        )

    # Documents --------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the design as plain data, with its fingerprint."""
        body = self._body()
        return {**body, "fingerprint": fingerprint(body)}

    def _body(self) -> dict[str, Any]:
        for label in self.categories:
            # Exact types: an enumeration would come back as plain text, and JSON has no infinity.
            if type(label) not in (str, int, float, bool) or label in (inf, -inf):
                raise DesignDocumentError(
                    "labels must be text, finite numbers or booleans to be written as JSON; "
                    f"got {type(label).__name__}."
                )
        return {
            "format": DOCUMENT_FORMAT,
            "version": DOCUMENT_VERSION,
            "kind": self.kind,
            "categories": list(self.categories),
            **self.content(),
        }

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the canonical document, in hexadecimal."""
        return fingerprint(self._body())

    def to_json(self) -> str:
        """Return the document as JSON text; read it back with `design_from_json`."""
        return json.dumps(self.document(), ensure_ascii=False, indent=1)

    def save(self, path: str | Path) -> Path:
        """Write the document to a file and return its path."""
        target = Path(path)
        target.write_text(self.to_json() + "\n", encoding="utf-8")
        return target

    # Identity and looks -----------------------------------------------------------------------

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        types = tuple(type(label).__name__ for label in self.categories)
        return (self.kind, self.categories.labels, types, json.dumps(self.content(), sort_keys=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Design) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<{self.kind} design on {self.p} categories: {self.categories.preview()}>"


def fingerprint(body: dict[str, Any]) -> str:
    """Return the SHA-256 of a document without its fingerprint, written canonically."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return sha256(text.encode("utf-8")).hexdigest()


def check_size(categories: Categories, least: int, kind: str, hint: str) -> Categories:
    """Return the categories if their number suits the kind of design."""
    if categories.p < least:
        raise InvalidDesignError(f"a {kind} design must have at least {least} categories; got {categories.p}. {hint}")
    if categories.p > MAX_CATEGORIES:
        raise InvalidDesignError(
            f"a {kind} design must have at most {MAX_CATEGORIES} categories; got {categories.p}. "
            "Hint: group rare categories; designs for more categories are not part of this release."
        )
    return categories


def require_design(design: Any) -> Design:
    """Return the design if it is one.

    Raises
    ------
    ArgumentError
        If it is something else.
    """
    if not isinstance(design, Design):
        raise ArgumentError(f"`design` must be a design; got {type(design).__name__}. Hint: sp.uniform([...]).")
    return design


def require_enumerable(design: Design, what: str) -> Design:
    """Return the design if its support can be listed, else say what cannot be computed exactly."""
    if design.kind == "coarse":
        design.support()  # refuses, with the reason
    if not design.enumerable:
        raise TooLargeError(
            f"{what} lists all subsets and must have at most {MAX_DENSE_BITS} categories; got {design.p}. "
            "Hint: estimates with observed information, and simulate(), need no such list."
        )
    return design
