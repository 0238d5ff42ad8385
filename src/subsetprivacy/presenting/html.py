"""HTML that is escaped by construction. Only `Html` is inserted as it is, and any other text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from attrs import frozen

_EMPTY = {"meta", "line", "circle", "rect", "br"}  # elements without an end


class Html(str):
    """Text that is already markup."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text unchanged, for templates that escape."""
        return str(self)


def el(tag: str, *children: Any, **attributes: Any) -> Html:
    """Return an element.

    Parameters
    ----------
    tag
        Its name.
    *children
        Its content. Everything that is not `Html` is escaped.
    **attributes
        ``class_`` is written class, ``aria_label`` aria-label. True is an attribute without a value, and None omits it.
    """
    written = "".join(
        _attribute(name, value) for name, value in attributes.items() if not (value is None or value is False)
    )
    if tag in _EMPTY:
        return Html(f"<{tag}{written}/>")
    return Html(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*parts: Any) -> Html:
    """Return parts one after the other as markup."""
    return Html("".join(part if isinstance(part, Html) else escape(str(part)) for part in parts))


def lines(parts: Iterable[Any]) -> Html:
    """Return parts as markup, one per line, without empty ones."""
    return Html("\n".join(joined(part) for part in parts if part))


def bullets(sentences: Sequence[Any], **attributes: Any) -> Html:
    """Return a list, or nothing if it is empty."""
    if not sentences:
        return Html()
    return el("ul", "\n", lines(el("li", sentence) for sentence in sentences), "\n", **attributes)


def table(
    caption: str,
    head: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    words: Sequence[int] = (),
    look: str = "numbers stacked",
) -> Html:
    """Return a table in a box that scrolls if it is too wide.

    Parameters
    ----------
    caption
        What it shows; also the name of its box.
    head, rows
        The cells. The first cell of every row names it. A cell may be a `Cell`.
    words
        The columns with sentences instead of numbers.
    look
        Classes for the style sheet: "numbers stacked" for a line per cell on small screens, "explained" for numbers
        with a sentence each, "cross" for two variables.
    """
    top = el("tr", *(el("th", name, scope="col", class_=_kind(k, words)) for k, name in enumerate(head)))
    body = [
        el(
            "tr",
            el("th", first, scope="row"),
            *(_cell(cell, head[k], _kind(k, words)) for k, cell in enumerate(rest, 1)),
        )
        for first, *rest in rows
    ]
    whole = el(
        "table",
        el("caption", el("span", caption)),
        "\n",
        el("thead", top),
        "\n",
        el("tbody", "\n", lines(body), "\n"),
        class_=look,
    )
    # The keyboard can reach the box, because otherwise it could not scroll it.
    return el("div", whole, class_="scroll", role="region", aria_label=caption, tabindex="0")


@frozen
class Cell:
    """A cell of a table with its own class."""

    content: Any
    look: str


def _kind(k: int, words: Sequence[int]) -> str | None:
    return "words" if k in words else None


def _cell(cell: Any, name: Any, kind: str | None) -> Html:
    content, look = (cell.content, cell.look) if isinstance(cell, Cell) else (cell, kind)
    # On small screens the name is in front of the content.
    return el("td", el("span", content), class_=look, data_of=None if isinstance(name, Html) else name)


def with_range(value: str, interval: str) -> Html:
    """Return a number and below it its interval."""
    return joined(value, el("br"), el("span", interval, class_="range")) if interval else joined(value)


def code(text: str, name: str) -> Html:
    """Return a program or a document, as it is written."""
    return el("div", el("pre", el("code", text)), class_="scroll", role="region", aria_label=name, tabindex="0")


def facts(rows: Sequence[tuple[str, Any]]) -> Html:
    """Return names with values, or nothing if there are none."""
    if not rows:
        return Html()
    return el("dl", *(el("div", el("dt", name), el("dd", value)) for name, value in rows), class_="small-facts")


def details(summary: Any, *parts: Any, quiet: str = "", **attributes: Any) -> Html:
    """Return parts that open on a click. `quiet` completes the summary for screen readers."""
    hidden = el("span", f" {quiet}", class_="quiet") if quiet else ""
    return el("details", el("summary", summary, hidden), "\n", lines(parts), "\n", **attributes)


def _attribute(name: str, value: Any) -> str:
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{escape(str(value))}"'
