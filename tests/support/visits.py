"""Pages of the studio in a real browser, opened as the owner: the fixture `visit` of tests/collect/web."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from browser import axe, watched
from sites import OWNER, Site


@contextmanager
def visits(browser: Any, site: Site) -> Iterator[Callable[..., Any]]:
    """Give what opens a page; at the end no page may have complained, and all requests must have gone to the site."""
    with ExitStack() as stack:

        def open_page(
            path: str,
            where: Site = site,
            tolerated: tuple[str, ...] = (),
            signed_in: bool = True,
            clock: bool = False,
            **settings: Any,
        ) -> Any:
            """Open a page; with `clock` its time can be put forward, and stands still until then."""
            settings["fresh"] = clock or settings.get("fresh", False)
            held = stack.enter_context(watched(browser, where.url, tolerated=tolerated, **settings))
            if clock:
                held.context.clock.install(time=0)
            if signed_in:
                cookies = where.signed_in(OWNER).cookies.items()
                held.context.add_cookies([{"name": k, "value": v, "url": f"{where.url}/studio"} for k, v in cookies])
            page = held.context.pages[0] if held.context.pages else held.page()
            page.goto(where.url + path)
            if clock:
                page.clock.pause_at(24 * 3600 * 1000)  # later than it can be by now
            return page

        yield open_page


def faults(page: Any) -> list[tuple[str, list[str]]]:
    """Return what axe finds, everything that can be unfolded being open."""
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    return [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in axe(page)]
