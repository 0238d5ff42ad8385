"""What all pictures share: axes, titles, legends, labels of rows, and colors on light and dark backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike, NDArray

from subsetprivacy.errors import ArgumentError, MissingDependencyError
from subsetprivacy.messages.for_files import MAKE_AXES, TAKE_ONE_OF_THE_AXES
from subsetprivacy.messages.for_general import INSTALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, CYAN, DARK, GRAY, PALE = "#0072B2", "#66CCEE", "#1F1F1F", "#6B6B6B", "#E3E3E3"
COLORS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito
MARKERS, STYLES = "os^DvPX*", ("-", "--", "-.", ":")
_ON_DARK = {DARK: "#F2F2F2", GRAY: "#B8B8B8", PALE: "#404040", BLUE: "#56B4E9", "#000000": "#F2F2F2"}
_LETTER, _LINE = 0.085, 0.17  # inches that a letter is wide, and a line of text high
_AROUND = 0.75  # inches that a title, ticks and their label take
_WIDEST, _MOST_LINES = 32, 4  # of a label: letters in a line, and lines
_READABLE = 4.5  # contrast of text and background that the WCAG ask for
_LEGEND = 54  # points of a legend that figures have space for
_EDGE = 0.07  # inches between the edge of a figure and what is written
_BETWEEN = 0.1  # space between panels, as a share of their width: numbers at the end of a row belong to its panel
_OURS: WeakSet[Figure] = WeakSet()  # figures that were made here, which may still change their size


class Heading(str):
    """The default title of a picture. It does not replace a title that the axes have already.

    Parameters
    ----------
    text
        The title.
    shared
        The title of several such pictures on the same axes, by default the same.
    """

    shared: str

    def __new__(cls, text: str, shared: str | None = None) -> Heading:
        """Make one."""
        made = super().__new__(cls, text)
        made.shared = text if shared is None else shared
        return made


def require_matplotlib(who: str) -> None:
    """Raise unless matplotlib is installed. The message begins with `who`, which says who needs it."""
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError:
        raise MissingDependencyError(f"{who} matplotlib.", INSTALL(extra="plot")) from None


def _panels(width: float, height: float, rows: int = 1, columns: int = 1) -> Any:
    require_matplotlib("`plot` needs")
    from matplotlib.pyplot import subplots

    figure, axes = subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)
    figure.get_layout_engine().set(w_pad=_EDGE, h_pad=_EDGE, wspace=_BETWEEN if columns > 1 else None)
    _OURS.add(figure)
    return axes.flat


def _is_ours(ax: Axes) -> bool:
    """Return whether the axes are the only ones of a figure that was made here, apart from a color scale."""
    figure: Any = ax.figure
    spec = ax.get_subplotspec()
    return figure in _OURS and spec is not None and spec.get_gridspec().nrows * spec.get_gridspec().ncols == 1


def _grow(ax: Axes, height: float) -> None:
    """Make a figure of our own at least this high. The figures of users keep their size."""
    figure: Any = ax.figure
    if _is_ours(ax) and figure.get_figheight() < height:
        figure.set_figheight(height)


def _axes(ax: Any, width: float, height: float) -> Axes:
    """Return the axes to draw on: those that were given, or those of a new figure of this size.

    Raises
    ------
    ArgumentError
        If something other than axes was given.
    """
    if ax is None:
        made: Axes = _panels(width, height)[0]
        return made
    require_matplotlib("`plot` needs")
    from matplotlib.axes import Axes

    if isinstance(ax, Axes):
        return ax
    advice = TAKE_ONE_OF_THE_AXES if isinstance(ax, (np.ndarray, list, tuple)) else MAKE_AXES
    raise ArgumentError(f"`ax` must be Matplotlib axes; got {type(ax).__name__}.", advice)


def _tone(ax: Axes, color: str) -> str:
    """Return a color, or its light counterpart on dark axes."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    is_dark = alpha > 0 and 0.299 * red + 0.587 * green + 0.114 * blue < 0.4
    return _ON_DARK.get(color, color) if is_dark else color


def _ink(ax: Axes, color: str) -> str:
    """Return a color for text: the same hue, darker or lighter until it can be read on the axes."""
    from matplotlib.colors import to_hex, to_rgb, to_rgba

    back = np.array(to_rgb(ax.get_facecolor())) if to_rgba(ax.get_facecolor())[3] > 0 else np.ones(3)
    hue, end = np.array(to_rgb(color)), np.array(to_rgb(_tone(ax, DARK)))
    for share in np.linspace(0, 1, 21):
        mixed = (1 - share) * hue + share * end
        if _contrast(mixed, back) >= _READABLE:
            return to_hex(tuple(mixed))
    return to_hex(tuple(end))


def _contrast(first: Any, second: Any) -> float:
    """Return the contrast ratio of two colors, as the WCAG define it."""
    from matplotlib.colors import to_rgb

    lights = []
    for color in (first, second):
        parts = np.array(to_rgb(color))
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        lights.append(float(linear @ np.array([0.2126, 0.7152, 0.0722])) + 0.05)
    return max(lights) / min(lights)


def _vector(values: ArrayLike, size: int, name: str) -> NDArray[np.float64]:
    if np.shape(values) != (size,):
        raise ValueError(f"`{name}` must have one number per label, {size}; got the shape {np.shape(values)}.")
    return np.asarray(values, dtype=float)


def _plain(text: str, width: int = 28) -> str:
    return fill(text, width).replace("$", r"\$")  # "$10k to $20k" is a label, not a formula


def _size(labels: Sequence[str], width: float = 4.6, height: float = 1.2, each: float = 0.3) -> tuple[float, float]:
    """Return the width and height of a figure with a row for each label, as much as the labels need."""
    lines = [line for label in labels for line in wrap(label, _WIDEST)] or [""]
    most = min(max((len(wrap(label, _WIDEST)) for label in labels), default=1), _MOST_LINES)
    pitch = max(each, _LINE * most + 0.08)
    return max(6.4, width + _LETTER * max(map(len, lines))), height + pitch * len(labels)


def _rows(ax: Axes, labels: Sequence[str], unit: str | None = None) -> None:
    _label_rows(ax, labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0, pad=8)
    if unit is not None:  # shares, in hundredths
        ax.grid(axis="y", color=_tone(ax, PALE), lw=0.8)
        ax.set_axisbelow(True)
        ax.axvline(0, color=_tone(ax, GRAY), lw=0.8, zorder=1)
        ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.6g}{unit}".replace("-", "\N{MINUS SIGN}"))
        ax.spines["left"].set_visible(False)


def _few_ticks(ax: Axes, longest: int) -> None:
    """Put as many ticks on the horizontal axis as fit next to each other with so many letters each."""
    figure: Any = ax.figure
    spec = ax.get_subplotspec()
    columns = 1 if spec is None else spec.get_gridspec().ncols
    wide = 0.6 * figure.get_figwidth() / columns  # what labels and numbers leave
    ax.locator_params(axis="x", nbins=int(np.clip(wide / (_LETTER * (longest + 1.4)), 2, 8)))


def _suptitle(figure: Any, title: str) -> None:
    """Set the title of a figure of several panels, in as many lines as it needs."""
    wide = figure.get_figwidth()
    size = 12 if len(title) <= 10 * wide else 10  # in points, as for the title of axes
    figure.suptitle(_plain(title, int(max(24, 120 * wide / size))), fontsize=size)


def _label_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Write a label at each row, wrapped, and cut with an ellipsis where it would run into the next."""
    figure: Any = ax.figure
    place = ax.get_position()
    high, room = place.height * figure.get_figheight(), _WIDEST * _LETTER
    if figure.get_layout_engine() is None:  # nothing will shrink the axes: use the space on their left
        room = min(room, place.x0 * figure.get_figwidth() - 0.15)
    elif (spec := ax.get_subplotspec()) is not None:  # the axes will shrink by what is written around them
        high = max(figure.get_figheight() / spec.get_gridspec().nrows - _AROUND, 0.3)
    pitch = high / max(len(labels), 1)
    scale = min(1.0, pitch / _LINE)
    if any(len(wrap(label, max(int(room / _LETTER), 1))) > pitch / _LINE for label in labels):
        scale = min(scale, float(np.clip(room / (8 * _LETTER), 0.55, 0.8)))  # of the size of letters
    width = int(np.clip(room / (_LETTER * scale), 6, _WIDEST / scale))
    lines = int(np.clip(pitch / (_LINE * scale), 1, _MOST_LINES))
    look: Any = {} if scale == 1 else {"fontsize": max(10 * scale, 4.0)}
    ax.set_yticks(range(len(labels)), [_shortened(label, width, lines) for label in labels], **look)


def _shortened(label: str, width: int, lines: int) -> str:
    parts = wrap(label, width, max_lines=lines, placeholder="…") or [""]
    return "\n".join(parts).replace("$", r"\$")


def _set_title(ax: Axes, title: str | None, pad: float | None = None) -> None:
    """Set the title of the axes, where ``ax.set_title`` sets it. A `Heading` does not replace the user's title."""
    if title is None:
        return
    there = [text for text in (ax.get_title(loc=loc) for loc in ("left", "center", "right")) if text]
    if isinstance(title, Heading) and there and there != [ax.spines["top"].get_gid()]:
        return
    figure: Any = ax.figure
    place, width, ours = ax.get_position(), figure.get_figwidth(), _is_ours(ax)
    middle = 0.5 if ours else (place.x0 + place.x1) / 2
    room = 2 * min(middle, 1 - middle) * width
    size = 12.0 if len(title) / 10 <= room else 10.0  # in points; what is still too long takes several lines
    width = int(max(24, 120 * room / size))
    if len(title) > width:
        title = type(title)(title.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"))  # "n = 500" stays together
    text = _plain(title, width)
    look: Any = {"fontsize": size} if isinstance(title, Heading) and size < 12 else {}
    if text != ax.get_title():
        _grow(ax, figure.get_figheight() + _LINE * text.count("\n"))
    ax.set_title(text, pad=pad, **look)
    if ours:  # in the middle of the figure, where long labels on the left do not push it over the edge
        from matplotlib.transforms import blended_transform_factory

        axes: Any = ax
        axes.title.set_transform(blended_transform_factory(figure.transFigure, ax.transAxes) + axes.titleOffsetTrans)
    # To know it again. The spine is not drawn, and in a saved picture the title keeps the plain id of a text.
    ax.spines["top"].set_gid(text if isinstance(title, Heading) else None)


def _legend_below_rows(ax: Axes, rows: int) -> None:
    """Put the legend in a strip below the rows, where it covers neither title nor labels nor data."""
    names = ax.get_legend_handles_labels()[1]
    longest = max((len(line) for name in names for line in name.splitlines()), default=0)
    figure: Any = ax.figure
    place = ax.get_position()
    wide, high = place.width * figure.get_figwidth(), place.height * figure.get_figheight()
    columns = int(np.clip(wide / (0.6 + _LETTER * longest), 1, 5))
    tall = 0.1 + 0.22 * -(-len(names) // columns) * max(name.count("\n") + 1 for name in names)
    strip = rows * tall / max(high - tall, high / 3)
    ax.set_ylim(rows - 0.5 + strip, -0.5)
    ax.legend(loc="lower right", ncols=columns, borderaxespad=0.1, columnspacing=1.2, **_opaque(ax))


def _legend_below_axis(ax: Axes) -> None:
    """Put the legend below the horizontal axis, where it hides nothing. On the user's axes it is where it fits best."""
    if not _is_ours(ax):
        ax.legend(loc="best", **_opaque(ax))
        return
    from matplotlib.transforms import ScaledTranslation

    figure: Any = ax.figure
    names = ax.get_legend_handles_labels()[1]
    longest = max((len(line) for name in names for line in name.splitlines()), default=0)
    columns = int(np.clip(0.85 * figure.get_figwidth() / (0.6 + _LETTER * longest), 1, 4))
    below: Any = ax.transAxes + ScaledTranslation(0, -0.5, figure.dpi_scale_trans)
    _grow(ax, figure.get_figheight() + 0.1 + 0.22 * -(-len(names) // columns))
    ax.legend(
        loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=columns, frameon=False, borderaxespad=0
    )


def _opaque(ax: Axes) -> Any:
    """Return the style of a legend that covers the lines behind it."""
    return {"frameon": True, "framealpha": 1, "facecolor": ax.get_facecolor(), "edgecolor": "none"}


def _finish(ax: Axes, title: str | None, legend: bool = False, pad: int = 6, rows: int | None = None) -> Axes:
    ax.spines[["top", "right"]].set_visible(False)
    if legend and rows is not None:
        _legend_below_rows(ax, rows)
    elif legend:  # above the picture, where it hides nothing, in as many columns as fit
        names = ax.get_legend_handles_labels()[1]
        longest = max((len(line) for name in names for line in name.splitlines()), default=0)
        figure: Any = ax.figure
        columns = int(np.clip(figure.get_figwidth() / (0.7 + 0.08 * longest), 1, 5))
        lines = max((name.count("\n") + 1 for name in names), default=1)
        tall = (4 + 14 * lines) * -(-len(names) // columns)  # in points
        pad += tall
        _grow(ax, figure.get_figheight() + max(tall - _LEGEND, 0) / 72)
        ax.legend(
            loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False, borderaxespad=0.2, columnspacing=1.2
        )
    _set_title(ax, title, pad if legend and rows is None else None)
    return ax
