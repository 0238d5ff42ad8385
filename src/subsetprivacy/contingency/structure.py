"""The model matrix of a log-linear model, as products; a large matrix is never built."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import prod

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.tables import label_text
from subsetprivacy.variables import JointCategories

_SMALL = 1 << 16  # up to so many entries of Z, a product with the matrix is fastest


@frozen(slots=False, eq=False, repr=False)
class Structure:
    r"""The columns of Z in :math:`w = \mathrm{softmax}(Z\theta)` over the cells of a table.

    A parameter belongs to a term and to a level of each of its variables other than the baseline. Its column is 1 in
    the cells with these levels.

    Attributes
    ----------
    categories
        The variables with their labels. Cells are their combinations, with the last variable changing fastest.
    terms
        The variables of each term, by position.
    baselines
        The position of each variable's baseline.
    """

    categories: JointCategories
    terms: tuple[tuple[int, ...], ...]
    baselines: tuple[int, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of categories of each variable."""
        return self.categories.shape

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.categories.p

    @cached_property
    def _places(self) -> tuple[IntArray, ...]:
        """For each term, the positions in the table of its variables that have a parameter."""
        out = []
        for term in self.terms:
            at = np.indices([self.shape[k] for k in term]).reshape(len(term), -1)
            base = np.array([self.baselines[k] for k in term])[:, None]
            out.append(np.flatnonzero((at != base).all(axis=0)))
        return tuple(out)

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """For each term, the positions of its parameters."""
        ends = np.cumsum([0, *(len(at) for at in self._places)]).tolist()
        return tuple(slice(start, stop) for start, stop in pairwise(ends))

    @cached_property
    def size(self) -> int:
        """The number of parameters."""
        return self.parts[-1].stop if self.parts else 0

    def at(self, terms: Sequence[int]) -> IntArray:
        """Return the positions of the parameters of some terms."""
        chosen = [np.arange(self.parts[k].start, self.parts[k].stop) for k in terms]
        return np.concatenate([np.zeros(0, np.int64), *chosen])

    def apply(self, theta: FloatArray) -> FloatArray:
        """Return Z theta, for parameters with any leading axes."""
        return theta @ self.rows if self._is_small else self._broadcast(theta)

    @cached_property
    def _is_small(self) -> bool:
        return self.size * self.cells <= _SMALL

    def _broadcast(self, theta: FloatArray) -> FloatArray:
        """Return Z theta as a sum over terms, each a table of its variables."""
        lead = theta.shape[:-1]
        eta = np.zeros((*lead, *self.shape))
        for term, part, at in zip(self.terms, self.parts, self._places, strict=True):
            table = np.zeros((*lead, prod(self.shape[k] for k in term)))
            table[..., at] = theta[..., part]
            eta += table.reshape(*lead, *(size if k in term else 1 for k, size in enumerate(self.shape)))
        return eta.reshape(*lead, self.cells)

    def adjoint(self, g: FloatArray) -> FloatArray:
        """Return Z'g, for tables with any leading axes."""
        if self._is_small:
            return np.asarray(g @ self.rows.T)
        lead = g.shape[:-1]
        table = g.reshape(*lead, *self.shape)
        out = np.empty((*lead, self.size))
        for term, part, at in zip(self.terms, self.parts, self._places, strict=True):
            others = tuple(len(lead) + k for k in range(len(self.shape)) if k not in term)
            out[..., part] = table.sum(axis=others).reshape(*lead, -1)[..., at]
        return out

    @cached_property
    def rows(self) -> FloatArray:
        """The transpose of Z, shape (parameters, cells)."""
        Z = self._broadcast(np.eye(self.size))
        Z.setflags(write=False)
        return Z

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the parameters, as in ``race[Black]:sex[Male]``."""
        out: list[str] = []
        for term, at in zip(self.terms, self._places, strict=True):
            levels = np.unravel_index(at, [self.shape[k] for k in term])
            cells = zip(*(level.tolist() for level in levels), strict=True)
            out += [":".join(self._level(k, j) for k, j in zip(term, places, strict=True)) for places in cells]
        return tuple(out)

    def _level(self, variable: int, position: int) -> str:
        return f"{self.categories.names[variable]}[{label_text(self.categories.parts[variable].labels[position])}]"

    @cached_property
    def term_names(self) -> tuple[str, ...]:
        """The names of the terms, as in ``race:sex``."""
        return tuple(":".join(self.categories.names[k] for k in term) for term in self.terms)

    def term_of(self, parameter: int) -> int:
        """Return the index of the term of a parameter."""
        return next(k for k, part in enumerate(self.parts) if part.start <= parameter < part.stop)
