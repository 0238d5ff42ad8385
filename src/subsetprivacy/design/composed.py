"""The composition of a design: whether it is known, its variables, parts of known size and dummy rows."""

from typing import TYPE_CHECKING

from subsetprivacy._words import whole
from subsetprivacy.design.described import Described

if TYPE_CHECKING:
    from subsetprivacy.design.covered import Covered
    from subsetprivacy.design.product import Product


class Composed(Described):
    """By default a known design of one variable without dummy rows. Other kinds override this."""

    @property
    def is_known(self) -> bool:
        """Whether the probabilities of the reports are known: False for subsets that someone else collected."""
        return True

    @property
    def assumption(self) -> str:
        """What the likelihood assumes about reports of an unknown design; empty for known designs."""
        return ""

    @property
    def product(self) -> "Product | None":
        """The design itself if it is a product, which draws several variables independently; else None."""
        return None

    @property
    def covered(self) -> "Covered | None":
        """The design itself if it adds dummy rows to the rows of people; else None."""
        return None

    @property
    def has_fixed_parts(self) -> bool:
        """Whether it describes samples with parts of known, non-random size."""
        return False

    # Dummy rows: none by default ----------------------------------------------------------------

    @property
    def real_share(self) -> float:
        """The share of real people among the rows, below 1 if dummy rows are added."""
        return 1.0

    @property
    def dummy_share(self) -> float:
        """The share of rows per dummy category, 0 if no dummy rows are added."""
        return 0.0

    @property
    def dummy_categories(self) -> int:
        """The number of dummy categories."""
        return 0

    def dummy_rows(self, people: int) -> int:
        """Return how many dummy rows are added to this many people."""
        return 0

    def require_rows(self, rows: float) -> None:
        """Raise unless these are all rows of a release. Only estimates with dummy rows need this."""

    def rows_text(self, n: float) -> str:
        """Return the number of people in n rows, as text."""
        return f"n = {whole(n)}"
