"""What a design is made of: whether it is known, several variables, parts of known sizes, dummy rows."""

from typing import TYPE_CHECKING

from subsetprivacy.design.described import Described

if TYPE_CHECKING:
    from subsetprivacy.design.covered import Covered
    from subsetprivacy.design.product import Product


class Composed(Described):
    """A design of one variable, known, without dummies, unless a kind says otherwise."""

    @property
    def is_known(self) -> bool:
        """Whether it says how likely a report is: False for subsets that somebody else collected."""
        return True

    @property
    def assumption(self) -> str:
        """What the likelihood assumes of reports where the design is not known; else nothing."""
        return ""

    @property
    def product(self) -> "Product | None":
        """The design itself where it is a product, which draws several variables independently; else None."""
        return None

    @property
    def covered(self) -> "Covered | None":
        """The design itself where dummy rows are added to the people's; else None."""
        return None

    @property
    def has_fixed_parts(self) -> bool:
        """Whether it describes samples whose parts have known sizes, which are not drawn."""
        return False

    # Dummy rows, of which there are none unless a kind adds them ----------------------------------

    @property
    def real_share(self) -> float:
        """The share of real people among the rows: below 1 where dummies are added."""
        return 1.0

    @property
    def dummy_share(self) -> float:
        """The share of rows per dummy category: 0 where no dummies are added."""
        return 0.0

    @property
    def dummy_categories(self) -> int:
        """The number of dummy categories."""
        return 0

    def dummy_rows(self, people: int) -> int:
        """Return how many dummy rows are added to this many people."""
        return 0

    def require_rows(self, rows: float) -> None:
        """Raise unless these are all rows of a release, where an estimate needs that: with dummies."""

    def rows_text(self, n: float) -> str:
        """Return how many people n rows are, in words."""
        return f"n = {n:.0f}"
