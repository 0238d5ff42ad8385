"""What every design can be asked."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from math import inf, isclose, isfinite
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from subsetprivacy._checks import frozen as read_only
from subsetprivacy._types import AnyArray, BoolArray, FloatArray, IntArray, Label, RandomSource
from subsetprivacy.design import identify
from subsetprivacy.design.weights import pick, thresholds
from subsetprivacy.errors import (
    ArgumentError,
    DesignDocumentError,
    InvalidDesignError,
    MismatchError,
    NotIdentifiableError,
    NotIndependentError,
    TooLargeError,
    UnknownDesignError,
)
from subsetprivacy.incidence import MAX_DENSE_BITS, Bytes, Halves, Rows, incidence
from subsetprivacy.subsets import Categories, sizes

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
    def _incidence(self) -> "Rows | Halves | Bytes":
        return incidence(self.support()[0], self.p)

    @property
    def support_incidence(self) -> "Rows | Halves | Bytes":
        """The rows 1_a of the whole support."""
        return self._incidence

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


@frozen(slots=False, eq=False, repr=False)
class Mixture(Design):
    """Several designs on the same categories, each used for a known share of the people.

    This is what counts collected under different designs follow: its mu is
    the average of theirs.
    """

    components: tuple[Design, ...]
    shares: tuple[float, ...]
    kind: ClassVar[str] = "mixture"

    @classmethod
    def of(cls, designs: Sequence[Design], shares: Sequence[float]) -> Design:
        """Return the mixture, flattened; a single design if they are all the same, coarse if one is not known."""
        if not all(isfinite(share) and share >= 0 for share in shares) or not sum(shares) > 0:
            raise InvalidDesignError("shares must be finite, not negative and not all 0.")
        merged: dict[Design, float] = {}
        for design, share in zip(designs, shares, strict=True):
            parts = (
                zip(design.components, design.shares, strict=True) if isinstance(design, Mixture) else [(design, 1.0)]
            )
            for part, within in parts:
                if part.categories != designs[0].categories:
                    raise MismatchError("designs must have the same categories in the same order to be combined.")
                if share * within > 0:  # a design that nobody answered identifies nothing
                    merged[part] = merged.get(part, 0.0) + share * within
        unknown = next((part for part in merged if isinstance(part, Coarse)), None)
        if unknown is not None or len(merged) == 1:
            return unknown or next(iter(merged))
        # Shares that sum to 1 are kept to the last bit, so that a document is read back as it was written.
        total = sum(merged.values())
        scale = 1.0 if isclose(total, 1, rel_tol=1e-12) else total
        return cls(designs[0].categories, tuple(merged), tuple(share / scale for share in merged.values()))

    @property
    def enumerable(self) -> bool:
        """Whether every component can be listed."""
        return all(design.enumerable for design in self.components)

    @cached_property
    def _support(self) -> tuple[IntArray, FloatArray]:
        codes = np.unique(np.concatenate([design.support()[0] for design in self.components]))
        return read_only(codes), read_only(self._average(lambda design: design.mu(codes)))

    def support(self) -> tuple[IntArray, FloatArray]:
        """Return the union of the supports and the averaged mu."""
        return self._support

    def _average(self, quantity: Any) -> Any:
        return sum(share * quantity(design) for design, share in zip(self.components, self.shares, strict=True))

    def mu(self, codes: IntArray) -> FloatArray:
        """Return the averaged mu."""
        return np.asarray(self._average(lambda design: design.mu(codes)), np.float64)

    @cached_property
    def Q(self) -> FloatArray:
        """The averaged matrix of pair probabilities."""
        return read_only(self._average(lambda design: design.Q))

    @cached_property
    def S(self) -> float:
        """The sum of all mu_a."""
        return float(self._average(lambda design: design.S))

    @cached_property
    def smallest_set(self) -> int:
        """The size of the smallest subset that can be reported."""
        return min(design.smallest_set for design in self.components)

    @cached_property
    def _null(self) -> IntArray | None:
        if any(design.is_identifiable for design in self.components):
            return None
        return identify.null_direction(self.support()[0], self.p)

    @property
    def is_independent(self) -> bool:
        """Whether every component is."""
        return all(design.is_independent for design in self.components)

    def draw_questions(self, n: int, source: RandomSource) -> AnyArray:
        """Draw a component for each person by its share, then a question of that component."""
        which = pick(thresholds(np.array(self.shares)), source.bits(n, 64))
        out = np.empty(n, np.int64)
        for k, design in enumerate(self.components):
            rows = np.flatnonzero(which == k)
            out[rows] = design.draw_questions(len(rows), source)
        return out

    def content(self) -> dict[str, Any]:
        """Return the components' documents with their shares."""
        parts = zip(self.components, self.shares, strict=True)
        return {"components": [{"share": share, "kind": d.kind, **d.content()} for d, share in parts]}


@frozen(slots=False, eq=False, repr=False)
class Coarse(Design):
    """Subsets that somebody else collected, with no known design.

    The likelihood is right if the data are *coarsened at random*: which
    subset was reported, given that it holds the value, must not depend on
    the value. Moment methods and leakage need the design and refuse.
    """

    kind: ClassVar[str] = "coarse"
    note: str = field(default="coarsening at random is assumed")

    def support(self) -> tuple[IntArray, FloatArray]:
        """Refuse: the weights are unknown."""
        raise UnknownDesignError(
            "the design of these data must be known for this; got subsets without one. "
            "Hint: pass design=..., or use method='mle', which needs none."
        )

    def content(self) -> dict[str, Any]:
        """Return nothing: there is nothing known."""
        return {}

    @property
    def enumerable(self) -> bool:
        """False: nothing is known."""
        return False

    def allows(self, codes: IntArray) -> BoolArray:
        """Any non-empty subset may have been reported."""
        return (codes > 0) & (codes <= self.categories.full)

    @cached_property
    def mu_full(self) -> float:
        """Zero: a full set is read as missing."""
        return 0.0


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
    if not design.enumerable and design.kind != Coarse.kind:
        raise TooLargeError(
            f"{what} sums over all subsets and must have at most {MAX_DENSE_BITS} categories; got {design.p}. "
            "Hint: estimates and their observed information need no such sum."
        )
    return design
