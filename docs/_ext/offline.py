"""Check at the end of every build that no page fetches anything from another host."""

import re
from html.parser import HTMLParser
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# Elements that a browser fetches by itself; a link that a reader may follow is no request.
FETCHED = {"script", "link", "img", "source", "iframe", "object", "embed", "video", "audio", "image", "use"}
ELSEWHERE = re.compile(r"\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
# An element that is no link and names an address; a page without any need not be read by element.
SUSPECT = re.compile(r"<(?!a\s)[a-z][^<>]*(?:https?:)?//", re.IGNORECASE)
NAMESPACE = re.compile(r"\sxmlns(?::\w+)?=(\"[^\"]*\"|'[^']*')")


class Requests(HTMLParser):
    """Collects the addresses elsewhere that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of one element."""
        for name, value in attrs:
            if value and tag in FETCHED and name in ("src", "href", "srcset", "data", "poster", "xlink:href"):
                self.found += [value] if ELSEWHERE.match(value) else []
            if value and name == "style":
                self.found += IN_STYLE.findall(value)


def requests_elsewhere(page: Path) -> list[str]:
    """Return the addresses of other hosts that a page or a style sheet would fetch."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".css":
        return IN_STYLE.findall(text)
    styles = IN_STYLE.findall("".join(re.findall(r"<style.*?</style>", text, re.DOTALL)))
    if not SUSPECT.search(NAMESPACE.sub("", text)):
        return styles
    reader = Requests()
    reader.feed(text)
    return reader.found + styles


def check(app: Sphinx, exception: Exception | None) -> None:
    """Fail the build where a page would ask another host."""
    if exception is not None or app.builder.format != "html":
        return
    for page in [*Path(app.outdir).rglob("*.html"), *Path(app.outdir).rglob("*.css")]:
        for address in sorted(set(requests_elsewhere(page))):
            logger.warning("%s fetches %s: a page must work without any other host", page, address)
            app.statuscode = 1  # warnings were counted before


def setup(app: Sphinx) -> dict[str, bool]:
    """Check when the build has finished."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
