"""The picture of an estimate: a row per category, a point for the share, a line for its interval.

Drawn here and not by matplotlib: the text keeps its size on a telephone, the colours follow light and dark, the page
has the same bytes whatever else is installed.
"""

from collections.abc import Sequence
from math import floor, log10

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.report.markup import Html, el, lines, together

_MARGIN = 2.5  # percent of the width on either side, so that no point is cut
_HEIGHT = 22


@frozen
class Scale:
    """From shares to places in percent of the width."""

    low: float
    high: float
    step: float

    @classmethod
    def over(cls, values: FloatArray) -> "Scale":
        """Return a scale with round ends that holds 0 and all values."""
        known = values[np.isfinite(values)]
        low, high = min(0.0, float(known.min(initial=0.0))), max(float(known.max(initial=0.0)), 1e-9)
        raw = (high - low) / 4
        power = 10.0 ** floor(log10(raw))
        step = next(k * power for k in (1, 2, 2.5, 5, 10) if k * power >= raw * (1 - 1e-9))
        return cls(np.floor(low / step + 1e-9) * step, np.ceil(high / step - 1e-9) * step, step)

    def at(self, value: float) -> str:
        """Return where a value is."""
        inner = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return f"{_MARGIN + (100 - 2 * _MARGIN) * inner:.2f}%"

    @property
    def ticks(self) -> list[float]:
        """The round numbers along the scale."""
        return [self.low + k * self.step for k in range(round((self.high - self.low) / self.step) + 1)]


def dots(names: Sequence[str], w: FloatArray, bounds: FloatArray, texts: Sequence[str], alt: str) -> Html:
    """Return the picture.

    Parameters
    ----------
    names, texts
        The categories and their shares in words, in order.
    w, bounds
        Shares and intervals.
    alt
        What the picture says, for those who do not see it.
    """
    scale = Scale.over(np.concatenate([w, bounds.ravel()]))
    grid = together(*(el("line", x1=scale.at(t), x2=scale.at(t), y1=0, y2="100%", class_="grid") for t in scale.ticks))
    rows = [
        el(
            "div",
            el("span", name, class_="name"),
            _track(scale, grid, float(value), interval),
            el("span", text, class_="value"),
            class_="dot-row",
        )
        for name, value, interval, text in zip(names, w, bounds, texts, strict=True)
    ]
    marks = together(*(el("span", _percent(t), style=f"left:{scale.at(t)}") for t in scale.ticks))
    axis = el("div", el("span", class_="name"), el("div", marks, class_="ticks"), el("span", class_="value"))
    axis = Html(axis.replace("<div>", '<div class="dot-row axis">', 1))
    return el("div", "\n", lines([*rows, axis]), "\n", class_="dots", role="img", aria_label=alt)


def _track(scale: Scale, grid: Html, value: float, interval: FloatArray) -> Html:
    whisker = Html()
    if np.isfinite(interval).all():
        low, high = (scale.at(float(end)) for end in interval)
        whisker = el("line", x1=low, x2=high, y1="50%", y2="50%", class_="whisker")
    point = el("circle", cx=scale.at(value), cy="50%", r=5, class_="point")
    return el("svg", grid, whisker, point, width="100%", height=_HEIGHT, class_="track", aria_hidden="true")


def _percent(value: float) -> str:
    text = f"{100 * value:.6g}"
    return "0%" if float(text) == 0 else f"{text}%"
