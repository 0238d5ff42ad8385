r"""The setting of every metric: a design, the distribution of the value, and the attacker's belief.

Values follow w, so subsets follow :math:`\mu_a L(a)` with :math:`L(a) = 1_a^\top w`. The attacker has a
belief :math:`\pi`, which is w unless `prior` gives another. Sizes and posteriors are
:math:`\pi(a) = 1_a^\top\pi` and :math:`\pi_j/\pi(a)`.
"""

from functools import cached_property
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._checks import check_distribution
from subsetprivacy._types import FloatArray, IntArray
from subsetprivacy.design import Design, require_design
from subsetprivacy.errors import DistributionError
from subsetprivacy.incidence import Listable


@frozen(slots=False, eq=False)
class Setting:
    """A design, the distribution of the value and the attacker's belief."""

    design: Design
    w: FloatArray
    belief: FloatArray

    @classmethod
    def of(cls, design: Design, w: Any, prior: Any = None) -> "Setting":
        """Check the arguments that all metrics share."""
        if not require_design(design).is_known:
            design.support()  # raises now: leakage needs the design
        people = check_distribution(w, design.categories.labels)
        belief = people if prior is None else check_distribution(prior, design.categories.labels, "prior")
        if (belief[people > 0] <= 0).any():
            j = int(np.flatnonzero((people > 0) & (belief <= 0))[0])
            raise DistributionError(
                f"`prior` must be positive wherever `w` is; got 0 for {design.categories.labels[j]!r}."
            )
        return cls(design, people, belief)

    @cached_property
    def subset_distribution(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """The subsets that can occur, their probabilities, and their sizes under the attacker's belief."""
        codes, mu = self.design.support()
        P = mu * self.rows.inner(self.w)
        return codes, P, self.rows.inner(self.belief)

    @cached_property
    def guess_weights(self) -> FloatArray:
        """For each category j, the sum of mu_a r_a(j) over the subsets in which j is the attacker's guess."""
        return self.design.guess_weights(self.belief)

    @property
    def rows(self) -> Listable:
        """The rows r_a of the support."""
        return self.design.support_incidence


def entropy_bits(w: FloatArray, belief: FloatArray | None = None) -> float:
    """Return the entropy or cross entropy in bits, with 0 log 0 = 0."""
    q = w if belief is None else belief
    inside = w > 0
    return float(-(w[inside] @ np.log2(q[inside])))
