"""What single subsets reveal: a row per person, a ball per category (`fig:adult_privacy`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy._words import counted
from subsetprivacy.draw.layout import CYAN, DARK, PALE, _axes, _finish, _plain, _rows, _shortened, _tone, _vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_HEADS = 3  # lines of a label above the balls


def cases(
    labels: Sequence[str],
    w: ArrayLike,
    members: ArrayLike,
    *,
    truth: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw what single subsets reveal: a row per person, a ball per category (`fig:adult_privacy`).

    Next to each subset a are its size leakage (the sum of w outside a) and its most likely category
    j, with the probability of j given the subset (w_j over the sum of w in a).

    Parameters
    ----------
    w : array_like, shape (p,)
        Distribution: the areas of the balls, down to a size that can still be seen.
    members : array_like of bool, shape (k, p)
        The categories in each person's reported subset.
    truth : array_like of int, shape (k,), optional
        Position of each person's true category in `labels`, -1 where it is unknown. Only for
        data that may be shown.
    """
    p, weights, inside = len(labels), _vector(w, len(labels), "w"), np.asarray(members, dtype=bool)
    roles = _roles(inside, truth, p)
    if names is not None and len(names) != len(inside):
        raise ValueError(f"`names` must have one name per person, {len(inside)}; got {len(names)}.")
    pitch = float(np.clip(4.5 / max(p, 1), 0.28, 0.85))  # inches from ball to ball
    room = int(pitch / 0.17)  # lines of text that fit next to a ball
    verdicts = [_shortened(_verdict(labels, weights, subset), 56 if room > 1 else 99, room) for subset in inside]
    letters = int(pitch / 0.07)  # that fit above a ball; otherwise all labels are upright
    flat = all(_fits(label, letters) for label in labels)
    shown = [_plain(label, letters) if flat else _shortened(label, 28, 1) for label in labels]
    lines = [line for verdict in verdicts for line in verdict.split("\n")]
    beside, left = (
        0.08 * max(map(_wide, texts), default=0) for texts in (lines, ["case 00"] if names is None else names)
    )
    above = 0.17 * max(text.count("\n") + 1 for text in shown) if flat else 0.09 * max(map(_wide, shown), default=0)
    ax = _axes(ax, max(0.3 + left + pitch * p + beside, 4.8), 1.1 + above + pitch * len(inside))
    _balls(ax, weights, roles, smallest=2.25 / (72 * pitch))
    for i, verdict in enumerate(verdicts):
        ax.text(p - 0.3, i, verdict, va="center_baseline")
    _rows(ax, [f"case {i + 1}" for i in range(len(inside))] if names is None else names)
    ax.set_xticks(range(p), shown, rotation=0 if flat else 90)
    ax.tick_params(axis="x", length=0, labeltop=True, labelbottom=False, labelsize="small" if flat else None)
    ax.set(aspect="equal", anchor="SW", xlim=(-0.6, p - 0.4 + beside / pitch))
    ax.legend(title="area = share", alignment="left", ncols=3, frameon=False, loc="upper left", bbox_to_anchor=(0, 0))
    _finish(ax, title, pad=12).spines[:].set_visible(False)
    return ax


def _roles(inside: NDArray[np.bool_], truth: ArrayLike | None, p: int) -> NDArray[np.int64]:
    if inside.ndim != 2 or inside.shape[1] != p:
        raise ValueError(f"`members` must have the shape (k, {p}); got {inside.shape}.")
    roles = inside.astype(np.int64)
    if truth is not None:
        positions = np.asarray(truth, dtype=np.int64)
        known = np.flatnonzero(positions >= 0)  # -1 where it is not known
        cells = known, positions[known]
        if lost := int(np.sum(~inside[cells])):
            raise ValueError(f"`truth` must lie in the reported subset; got {counted(lost, 'row')} where it does not.")
        roles[cells] = 2
    return roles


def _balls(ax: Axes, w: Any, roles: NDArray[np.int64], smallest: float) -> None:
    from matplotlib.patches import Circle

    pale, dark = _tone(ax, PALE), _tone(ax, DARK)
    looks = (("excluded", pale, pale), ("in the reported subset", CYAN, dark), ("true category", dark, dark))
    radius = np.maximum(0.46 * np.sqrt(np.maximum(w, 0) / (w.max(initial=0) or 1)), smallest)
    for (i, j), role in np.ndenumerate(roles):
        ax.add_patch(Circle((j, i), radius[j], fc=looks[role][1], ec=looks[role][2], lw=0.8))
    for name, face, edge in (looks[role] for role in np.unique(roles)[::-1]):
        ax.plot([], [], "o", ms=8, mfc=face, mec=edge, mew=0.8, label=name)


def _verdict(labels: Sequence[str], w: NDArray[np.float64], subset: NDArray[np.bool_]) -> str:
    best, mass = int(np.argmax(np.where(subset, w, -np.inf))), w[subset].sum()
    guess = f"best guess {labels[best]} ({w[best] / mass:.2f})" if mass > 0 else "no best guess"
    return f"size leakage {w[~subset].sum():.3f}, {guess}"


def _wide(text: str) -> int:
    """Return the width of a text in letters. Those of East Asian scripts are as wide as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _fits(label: str, letters: int) -> bool:
    """Return whether a label can be written above a ball, in a few lines of so many letters."""
    lines = _plain(label, letters).split("\n")
    return len(lines) <= _MOST_HEADS and all(_wide(line) <= letters for line in lines)
