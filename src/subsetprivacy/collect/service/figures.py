"""The dashboard's pictures, as SVG that needs neither scripts nor inline styles.

Places along the width are percentages and text has a size of its own, so that a picture fills its column and stays
readable on a telephone. Colours are presentation attributes and follow the text (`currentColor`) where they can; a
style sheet may set them by class: figure, figure-text, figure-dim, figure-grid, figure-mark, figure-line,
figure-band, figure-cell.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor
from textwrap import wrap
from typing import Any

import numpy as np
from attrs import frozen

from subsetprivacy._types import FloatArray
from subsetprivacy.collect.service.results_draws import DrawsCheck
from subsetprivacy.collect.service.results_pairs import PairResult
from subsetprivacy.collect.service.results_shares import Shares
from subsetprivacy.collect.survey.tallies import Release
from subsetprivacy.report.charts import Scale
from subsetprivacy.report.markup import Html, el, together
from subsetprivacy.report.wording import count_of, share, span, whole

ACCENT = "#2a7fb8"
MOST_POINTS = 120
_TEXT, _SMALL = 14, 12  # sizes of text, in pixels
_HALF = 10  # from a point to the end of the grid above and below it
_LINE = 17  # from one line of text to the next
_WIDE = 34  # letters of a name in one line, beside which a number still fits at 320 pixels
_CELL = 26
_NUMBERED = 8  # columns of a table in whose cells numbers fit
_CHART = 180
_LEFT, _WIDTH = 12, 86  # percent of the width: where places begin, and how far they go
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def shares_figure(names: Sequence[str], shares: Shares, title: str) -> Html:
    """Draw estimated shares: a point for each option, a line for its interval."""
    scale = Scale.over(np.concatenate([shares.w, shares.lower, shares.upper]))
    parts: list[Html] = []
    top = 0
    for name, w, low, high in zip(names, shares.w, shares.lower, shares.upper, strict=True):
        drawn, height = _dot_row(name, float(w), (float(low), float(high)), scale, top)
        parts += drawn
        top += height
    ticks = [
        _text(share(tick, 0), scale.at(tick), top + _LINE, size=_SMALL, anchor="middle", dim=True)
        for tick in scale.ticks
    ]
    said = "; ".join(_said(name, *numbers) for name, *numbers in _columns(names, shares))
    return _svg(title, f"{title}: {said}.", top + _LINE + 8, *parts, *ticks)


def _columns(names: Sequence[str], shares: Shares) -> Any:
    return zip(names, shares.w.tolist(), shares.lower.tolist(), shares.upper.tolist(), strict=True)


def _said(name: str, w: float, low: float, high: float) -> str:
    at = span(low, high, share)
    return f"{name} {share(w)}" + (f" ({at})" if at else "")


def _dot_row(name: str, w: float, ends: tuple[float, float], scale: Scale, top: int) -> tuple[list[Html], int]:
    """Return the name of an option above its point and line, and the height they take."""
    written = _lines(name)
    y = top + _LINE * len(written) + _HALF
    # The grid is drawn beside the point alone, so that no line runs through a name.
    ends_of = {"y1": y - _HALF + 2, "y2": y + _HALF - 2}
    parts = [
        el("line", x1=scale.at(tick), x2=scale.at(tick), class_="figure-grid", **ends_of, **_GRID)
        for tick in scale.ticks
    ]
    parts += [_text(text, "0", top + _LINE * (k + 1) - 3) for k, text in enumerate(written)]
    parts.append(_text(share(w), "100%", top + _LINE - 3, anchor="end"))
    if np.isfinite(ends).all():
        low, high = (scale.at(end) for end in ends)
        parts.append(_line(low, y, high, y, "figure-line", stroke=ACCENT, stroke_width=3, stroke_linecap="round"))
    parts.append(el("circle", cx=scale.at(w), cy=y, r=5, fill=ACCENT, class_="figure-mark"))
    return parts, y - top + _HALF + 4


# Draws ----------------------------------------------------------------------------------------


def draws_figure(check: DrawsCheck, title: str) -> Html:
    """Draw how often each question was asked, falling, before the band in which chance leaves 95 of 100 of them."""
    observed, expected = check.observed, check.expected
    if not len(observed):
        return Html()
    at = np.unique(np.linspace(0, len(observed) - 1, min(len(observed), MOST_POINTS)).round().astype(int))
    spread = 1.96 * np.sqrt(expected * (1 - np.minimum(expected / max(check.n, 1), 1.0)))
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
    what = "pair of options on one side" if check.test is not None and check.test.by.startswith("pairs") else "question"
    said = (
        f"{title}: each point is a {what}, its height how often it came, of {whole(check.n)} in all. The band shows "
        f"what chance leaves to 95 of 100. Least {whole(observed.min())}, most {whole(observed.max())}, expected "
        f"{span(float(expected.min()), float(expected.max()), whole)}."
    )
    return _svg(title, said, _CHART + 24, *axis.lines(), *parts)


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

    def lines(self) -> list[Html]:
        """Return lines and numbers at round counts."""
        step = Scale.over(np.array([0.0, self.high - self.low])).step
        parts = []
        for k in range(ceil(self.low / step - 1e-9), floor(self.high / step) + 1):
            y = self.at(k * step)
            parts.append(_line("0", y, "100%", y, "figure-grid", **_GRID))
            parts.append(_text(f"{k * step:,.6g}", "0", y - 3, size=_SMALL, dim=True))
        return parts


def _place(part: float) -> str:
    return f"{_LEFT + _WIDTH * part:.3f}%"


# Two variables --------------------------------------------------------------------------------


def pair_figure(pair: PairResult, labels: tuple[str, str], title: str) -> Html:
    """Draw joint shares as cells: a line of them for each option of the first variable, more colour for more people."""
    if pair.shares is None:
        return Html()
    W, columns = pair.shares, len(pair.columns)
    most = float(W.max()) or 1.0
    parts = [_text(f"{labels[0]} (lines) by {labels[1]} (columns)", "0", _LINE - 3, size=_SMALL, dim=True)]
    parts += [
        _text(str(j + 1), _middle(j, columns), 2 * _LINE - 3, size=_SMALL, anchor="middle", dim=True)
        for j in range(columns)
    ]
    top = 2 * _LINE + 2
    for name, line in zip(pair.rows, W, strict=True):
        written = _lines(name)
        parts += [_text(text, "0", top + _LINE * (k + 1) - 3) for k, text in enumerate(written)]
        top += _LINE * len(written)
        parts += _cells(line, most, top)
        top += _CELL + 6
    key = [f"{j + 1} {text}" for j, text in enumerate(pair.columns)]
    for text in key:
        for part in _lines(text):
            top += _LINE
            parts.append(_text(part, "0", top - 3, size=_SMALL, dim=True))
    return _svg(title, _pair_said(pair, title), top + 4, *parts)


def _cells(line: FloatArray, most: float, top: int) -> list[Html]:
    columns, parts = len(line), []
    for j, value in enumerate(line.tolist()):
        cell = {"x": f"{100 * j / columns:.3f}%", "width": f"{100 / columns:.3f}%"}
        opacity = f"{0.04 + 0.5 * max(value, 0.0) / most:.3f}"
        parts.append(el("rect", y=top, height=_CELL, fill=ACCENT, fill_opacity=opacity, class_="figure-cell", **cell))
        if columns <= _NUMBERED:
            parts.append(_text(share(value, 0), _middle(j, columns), top + 17, size=_SMALL, anchor="middle"))
    return parts


def _middle(j: int, columns: int) -> str:
    return f"{100 * (j + 0.5) / columns:.3f}%"


def _pair_said(pair: PairResult, title: str) -> str:
    assert pair.shares is not None
    i, j = np.unravel_index(int(pair.shares.argmax()), pair.shares.shape)
    largest = share(float(pair.shares[i, j]))
    return (
        f"{title}: {len(pair.rows)} by {len(pair.columns)} joint shares. The largest is {largest} for {pair.rows[i]} "
        f"and {pair.columns[j]}."
    )


# Releases -------------------------------------------------------------------------------------


def releases_figure(releases: Sequence[Release], title: str) -> Html:
    """Draw how many people's answers were released, release by release."""
    if not releases:
        return Html()
    totals = np.cumsum([release.n for release in releases])
    axis, count = _Axis.over(0.0, float(totals[-1])), len(totals)
    at = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int)).tolist()
    spots = [(_place(0.0 if count == 1 else k / (count - 1)), axis.at(float(totals[k]))) for k in at]
    parts = [
        _line(one[0], one[1], two[0], two[1], "figure-line", stroke=ACCENT, stroke_width=2)
        for one, two in pairwise(spots)
    ]
    parts += [el("circle", cx=x, cy=y, r=4, fill=ACCENT, class_="figure-mark") for x, y in spots]
    foot = _CHART + 16 + _LINE
    parts.append(_text(releases[0].day, spots[0][0], foot, size=_SMALL, dim=True))
    if count > 1:
        parts.append(_text(releases[-1].day, spots[-1][0], foot, size=_SMALL, anchor="end", dim=True))
    said = (
        f"{title}: {count_of(count, 'release', 'releases')} from {releases[0].day} to {releases[-1].day}, "
        f"{count_of(totals[-1], 'person', 'people')} in all."
    )
    return _svg(title, said, foot + 8, *axis.lines(), *parts)


# Elements -------------------------------------------------------------------------------------

_GRID = {"stroke": "currentColor", "stroke_width": 1, "opacity": 0.18}


def _svg(title: str, said: str, height: float, *parts: Html) -> Html:
    """Return a picture with its name and its meaning for those who do not see it."""
    return el(
        "svg",
        el("title", _legal(title)),
        el("desc", _legal(said)),
        "\n",
        together(*(together(part, "\n") for part in parts)),
        xmlns="http://www.w3.org/2000/svg",
        width="100%",
        height=f"{height:g}",
        role="img",
        class_="figure",
        focusable="false",
    )


def _line(x1: str, y1: float, x2: str, y2: float, kind: str, **look: Any) -> Html:
    return el("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind, **look)


def _text(text: str, x: str, y: float, *, size: int = _TEXT, anchor: str | None = None, dim: bool = False) -> Html:
    return el(
        "text",
        _legal(text),
        x=x,
        y=f"{y:g}",
        font_size=size,
        fill="currentColor",
        text_anchor=anchor,
        class_="figure-dim" if dim else "figure-text",
    )


def _lines(name: str) -> list[str]:
    """Return a name in lines that fit a narrow screen; what is very long is cut."""
    written = wrap(_legal(name), _WIDE) or [""]
    return written if len(written) <= 2 else [written[0], f"{written[1][: _WIDE - 1]}…"]


def _legal(text: str) -> str:
    """Return text without the characters that XML does not have."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
