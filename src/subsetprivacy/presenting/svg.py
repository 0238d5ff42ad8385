"""Pictures as SVG that needs neither scripts nor inline styles.

Positions along the width are percentages and text has a fixed size, so that a picture fills its column and stays
readable on a phone. Colors are presentation attributes and follow the text (`currentColor`) where possible. A style
sheet sets them by class: figure, figure-text, figure-dim, figure-grid, figure-zero, figure-mark, figure-line,
figure-band.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.presenting.html import Html, el, joined
from subsetprivacy.presenting.words import Words

ACCENT = "#2a7fb8"
MOST_POINTS = 120
MOST_DOTS = 12  # in one piece: on paper a picture is not split between pages
_MARGIN = 2.5  # percent of the width on either side, so that no point is cut
_TEXT, _SMALL = 14, 12  # sizes of text, in pixels
_HALF = 10  # from a point to the end of the grid above and below it
_CAP = 7  # from a line to either end of the marks that close it: taller than a point, so that no point hides them
_LINE = 17  # from one line of text to the next
_WIDE = 34  # letters of a name in one line, next to which a number still fits at 320 pixels
_CHART = 180
_LEFT, _WIDTH = 12, 86  # percent of the width: where places begin, and how far they go
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GRID = {"stroke": "currentColor", "stroke_width": 1, "opacity": 0.18}


@frozen
class AxisScale:
    """Map numbers to positions in percent of the width."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: FloatArray) -> "AxisScale":
        """Return a scale with round ends that includes 0 and all values."""
        known = values[np.isfinite(values)]
        low, high = min(0.0, float(known.min(initial=0.0))), max(float(known.max(initial=0.0)), 0.0)
        raw = max(high - low, 1e-9) / 4
        power = 10.0 ** floor(log10(raw))
        step = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= raw * (1 - 1e-9))
        top = np.ceil(high / step - 1e-9) * step
        return cls(np.floor(low / step + 1e-9) * step, top if top > low else low + step, step)

    def at(self, value: float) -> str:
        """Return where a value is."""
        inner = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{_MARGIN + (100 - 2 * _MARGIN) * inner:.2f}%"

    @property
    def ticks(self) -> list[float]:
        """The round numbers along the scale."""
        return [self.low + k * self.step for k in range(round((self.high - self.low) / self.step) + 1)]


# Numbers with intervals -----------------------------------------------------------------------


@frozen(eq=False)
class Dot:
    """A number with its interval, its name and its text.

    Attributes
    ----------
    name
        Written above; a group of dots may have one `heading` above the first.
    value, lower, upper
        The number and its interval. Not finite if there is none.
    text
        The number as people read it.
    """

    name: str
    value: float
    lower: float
    upper: float
    text: str
    heading: str = ""


def dots_figure(words: Words, dots: Sequence[Dot], title: str, *, points: bool = False) -> Html:
    """Draw numbers one below the other: a point each, and a line with ends for the interval.

    The ends are drawn over the point and extend beyond it, so that the shortest interval is visible.

    Parameters
    ----------
    points
        Whether the numbers are differences, in percentage points, around 0.
    """
    scale = AxisScale.over(np.array([[dot.value, dot.lower, dot.upper] for dot in dots]).ravel())
    return joined(*(_dots_part(words, part, scale, title, points) for part in _parts_of(dots)))


def _parts_of(dots: Sequence[Dot]) -> list[list[Dot]]:
    """Return many dots in parts that fit a printed page. Dots below one heading stay together."""
    has_headings = any(dot.heading for dot in dots)
    blocks: list[list[Dot]] = []
    for dot in dots:
        if not blocks or dot.heading or not has_headings or len(blocks[-1]) == MOST_DOTS:
            blocks.append([])
        blocks[-1].append(dot)
    parts: list[list[Dot]] = [[]]
    for block in blocks:
        if parts[-1] and len(parts[-1]) + len(block) > MOST_DOTS:
            parts.append([])
        parts[-1] += block
    return parts


def _dots_part(words: Words, dots: Sequence[Dot], scale: AxisScale, title: str, points: bool) -> Html:
    parts: list[Html] = []
    top = 0
    for dot in dots:
        drawn, height = _dot_row(dot, scale, top, points)
        parts += drawn
        top += height
    ticks = [
        _text(_tick(words, tick, points), scale.at(tick), top + _LINE, size=_SMALL, anchor="middle", dim=True)
        for tick in scale.ticks
    ]
    description = "; ".join(f"{dot.heading} {dot.name} {dot.text}".strip() for dot in dots)
    return _svg(title, f"{title}: {description}.", top + _LINE + 8, *parts, *ticks)


def _tick(words: Words, tick: float, points: bool) -> str:
    digits = 0 if abs(round(100 * tick) - 100 * tick) < 1e-9 else 1
    if points:
        return f"{'+' if tick > 1e-12 else ''}{words.number(100 * tick, digits)}"
    return words.percent(tick, digits)


def _dot_row(dot: Dot, scale: AxisScale, top: int, points: bool) -> tuple[list[Html], int]:
    """Return the name of a number above its point and line, and the height they take."""
    parts, start = [], top
    if dot.heading:
        top += _LINE + 4
        parts.append(_text(dot.heading, "0", top - 3, bold=True))
    written = _lines(dot.name)
    y = top + _LINE * len(written) + _HALF
    # The grid is drawn only next to the point, so that no line crosses a name.
    ends_of = {"y1": y - _HALF + 2, "y2": y + _HALF - 2}
    parts += [
        el("line", x1=scale.at(tick), x2=scale.at(tick), class_="figure-grid", **ends_of, **_GRID)
        for tick in scale.ticks
    ]
    if points:
        parts.append(_line(scale.at(0.0), y - _HALF, scale.at(0.0), y + _HALF, "figure-zero", stroke="currentColor"))
    parts += [_text(text, "0", top + _LINE * (k + 1) - 3) for k, text in enumerate(written)]
    parts.append(_text(dot.text, "100%", top + _LINE - 3, anchor="end"))
    if np.isfinite(dot.value):
        parts.append(el("circle", cx=scale.at(dot.value), cy=y, r=4.5, fill=ACCENT, class_="figure-mark"))
    if np.isfinite([dot.lower, dot.upper]).all():
        parts += _interval(scale.at(dot.lower), scale.at(dot.upper), y)
    return parts, y - start + _HALF + 4


def _interval(low: str, high: str, y: float) -> list[Html]:
    look = {"stroke": ACCENT, "stroke_width": 2.5}
    return [
        _line(low, y, high, y, "figure-line", **look),
        _line(low, y - _CAP, low, y + _CAP, "figure-line", **look),
        _line(high, y - _CAP, high, y + _CAP, "figure-line", **look),
    ]


# Counts before what is expected ----------------------------------------------------------------


def band_figure(
    words: Words, observed: FloatArray, expected: FloatArray, n: float, title: str, description: str
) -> Html:
    """Draw sorted counts in front of the band that contains 95 of 100 of them by chance."""
    at = np.unique(np.linspace(0, len(observed) - 1, min(len(observed), MOST_POINTS)).round().astype(int))
    spread = 1.96 * np.sqrt(expected * (1 - np.minimum(expected / max(n, 1), 1.0)))
    lows, highs = np.maximum(expected - spread, 0.0), expected + spread
    axis = _Axis.over(float(min(observed.min(), lows.min())), float(max(observed.max(), highs.max())))
    width = f"{_WIDTH / len(at):.3f}%"
    parts: list[Html] = []
    for slot, k in enumerate(at):
        left, y = _place(slot / len(at)), axis.at(float(highs[k]))
        band = {"x": left, "y": y, "width": width, "height": round(axis.at(float(lows[k])) - y, 1)}
        parts.append(el("rect", fill="currentColor", fill_opacity=0.15, class_="figure-band", **band))
        spot = {"cx": _place((slot + 0.5) / len(at)), "cy": axis.at(float(observed[k]))}
        parts.append(el("circle", r=3, fill=ACCENT, class_="figure-mark", **spot))
    return _svg(title, description, _CHART + 24, *axis.lines(words), *parts)


@frozen
class _Axis:
    """Counts from the bottom to the top of a picture."""

    low: float
    high: float

    @classmethod
    def over(cls, least: float, most: float) -> "_Axis":
        """Return an axis from 0, or from near the least count where all are large."""
        return cls(0.0 if least < most / 2 else 0.95 * least, 1.05 * most or 1.0)

    def at(self, value: float) -> float:
        """Return the height of a count."""
        return round(16 + _CHART * (1 - (value - self.low) / (self.high - self.low)), 1)

    def lines(self, words: Words) -> list[Html]:
        """Return lines and numbers at round counts."""
        step = max(AxisScale.over(np.array([0.0, self.high - self.low])).step, 1.0)
        parts = []
        for k in range(ceil(self.low / step - 1e-9), floor(self.high / step) + 1):
            y = self.at(k * step)
            parts.append(_line("0", y, "100%", y, "figure-grid", **_GRID))
            parts.append(_text(words.whole(k * step), "0", y - 3, size=_SMALL, dim=True))
        return parts


def growth_figure(words: Words, totals: Sequence[float], ends: tuple[str, str], title: str, description: str) -> Html:
    """Draw totals that grow, step by step, with a text below the first and the last."""
    axis, count = _Axis.over(0.0, float(totals[-1])), len(totals)
    at = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int)).tolist()
    spots = [(_place(0.0 if count == 1 else k / (count - 1)), axis.at(float(totals[k]))) for k in at]
    parts = [
        _line(first[0], first[1], second[0], second[1], "figure-line", stroke=ACCENT, stroke_width=2)
        for first, second in pairwise(spots)
    ]
    parts += [el("circle", cx=x, cy=y, r=4, fill=ACCENT, class_="figure-mark") for x, y in spots]
    foot = _CHART + 16 + _LINE
    parts.append(_text(ends[0], spots[0][0], foot, size=_SMALL, dim=True))
    if count > 1:
        parts.append(_text(ends[1], spots[-1][0], foot, size=_SMALL, anchor="end", dim=True))
    return _svg(title, description, foot + 8, *axis.lines(words), *parts)


# Elements -------------------------------------------------------------------------------------


def _place(part: float) -> str:
    return f"{_LEFT + _WIDTH * part:.3f}%"


def _svg(title: str, description: str, height: float, *parts: Html) -> Html:
    """Return a picture with its title and a description for screen readers."""
    return el(
        "svg",
        el("title", _legal(title)),
        el("desc", _legal(description)),
        "\n",
        joined(*(joined(part, "\n") for part in parts)),
        xmlns="http://www.w3.org/2000/svg",
        width="100%",
        height=f"{height:g}",
        role="img",
        class_="figure",
        direction="ltr",  # positions count from the left in every language
        focusable="false",
    )


def _line(x1: str, y1: float, x2: str, y2: float, kind: str, **look: Any) -> Html:
    return el("line", x1=x1, y1=f"{y1:g}", x2=x2, y2=f"{y2:g}", class_=kind, **look)


def _text(
    text: str, x: str, y: float, *, size: int = _TEXT, anchor: str | None = None, dim: bool = False, bold: bool = False
) -> Html:
    return el(
        "text",
        _legal(text),
        x=x,
        y=f"{y:g}",
        font_size=size,
        font_weight=600 if bold else None,
        fill="currentColor",
        text_anchor=anchor,
        class_="figure-dim" if dim else "figure-text",
    )


def _lines(name: str) -> list[str]:
    """Return a name in lines that fit a narrow screen. Very long names are cut."""
    written = wrap(_legal(name), _WIDE) or [""]
    return written if len(written) <= 2 else [written[0], f"{written[1][: _WIDE - 1]}…"]


def _legal(text: str) -> str:
    """Return text without characters that are not valid in XML."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
