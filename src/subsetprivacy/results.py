"""The interface that all results share: `notes`, `summary`, `to_dict`, `from_dict`, `to_frame`, `_repr_html_`.

A result is a frozen class that inherits from `Result` and implements `summary()`, `to_dict()`, `_columns()` and
`notes`. If it has intervals, `summary` and `to_frame` take `level` and `method`. A contract test checks every result.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

from subsetprivacy._choices import Engine
from subsetprivacy.errors import ArgumentError, SubsetPrivacyError
from subsetprivacy.messages import Note
from subsetprivacy.messages.for_general import KEEP
from subsetprivacy.tables import ArrowTable, Frame, PandasFrame, PolarsFrame, Table, frame


class Result:
    """The methods that every result has.

    Attributes
    ----------
    why_not_restored
        What to keep instead, if `from_dict` cannot read back what `to_dict` wrote. Empty if it can.
    """

    __slots__ = ()

    why_not_restored: ClassVar[str] = ""

    if TYPE_CHECKING:  # at run time a property here would hide a field of that name

        @property
        def notes(self) -> tuple[Note, ...]:
            """The caveats."""

    @abstractmethod
    def summary(self) -> Table:
        """Return the table to print or to show in a notebook."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers under stable names, for JSON. Numbers that are unknown or not finite are None."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of `to_frame`."""

    @overload
    def to_frame(self, *, engine: Literal["pandas"] = ...) -> PandasFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["polars"]) -> PolarsFrame: ...
    @overload
    def to_frame(self, *, engine: Literal["pyarrow"]) -> ArrowTable: ...
    def to_frame(self, *, engine: Engine = "pandas") -> Frame:
        """Return the numbers as a pandas, Polars or PyArrow table."""
        return frame(self._columns(), engine)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote.

        Raises
        ------
        ArgumentError
            If `facts` is not the output of `to_dict`, or if `to_dict` omits something that the result needs. In the
            second case the message says what to keep instead.
        """
        if cls.why_not_restored:
            raise ArgumentError(
                f"{cls.__name__} cannot be read back, because `to_dict` does not contain everything that it needs.",
                KEEP(what=cls.why_not_restored),
            )
        try:
            return cls._restored(facts)
        except SubsetPrivacyError:
            raise
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise ArgumentError(f"`facts` must be what {cls.__name__}.to_dict() wrote; got something else.") from None

    @classmethod
    def _restored(cls, facts: Mapping[str, Any]) -> Self:
        """Return the result that `to_dict` wrote. Types with `why_not_restored` do not implement it."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def plain(value: Any) -> Any:
    """Return a value that JSON can represent: lists for arrays, None for numbers that are unknown or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"w": np.array([0.5, np.nan]), "n": np.int64(3), "pair": ("a", 1)})
    {'w': [0.5, None], 'n': 3, 'pair': ['a', 1]}
    """
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int)) else str(value)  # dates, and other labels


def unknown_as_nan(value: float | None) -> float:
    """Return a number that `plain` wrote, and NaN for None."""
    return float("nan") if value is None else float(value)
