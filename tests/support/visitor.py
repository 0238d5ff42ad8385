"""A visitor of the respondent's page: a person with true answers, in a real browser.

def test_it(site):  # a fixture of tests/collect
    manifest = site.collector.add(make_survey())
    with site.visitor() as visitor:
        visitor.open(site.link(manifest))
        visitor.start()
        visitor.answer_all(manifest, {"income": 2, …})
"""

import atexit
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen
from browser import CHROMIUM, PATIENCE, PLAYWRIGHT, Watched, served, watched
from fake_collector import FakeCollector, lock_to, respondents_app
from fastapi import FastAPI

import subsetprivacy.collect.web.respond as respond
from subsetprivacy.collect.survey import coin
from subsetprivacy.collect.survey.manifest import Manifest

WORDS = {
    language: json.loads((Path(respond.__file__).parent / "languages" / f"{language}.json").read_text("utf-8"))
    for language in respond.LANGUAGES
}
SMALL = {"width": 640, "height": 480}  # of a window: there is less to draw
BUTTON = "button:visible:enabled"
COLOURS = ("red", "blue", "green", "yellow", "white", "black")  # of the balls of the practice
TRUTH = {"income": 1, "sport": 3, "drugs": 1, "health": 2}  # positions of true answers of `make_survey`


class Visitor:
    """A person at a page."""

    def __init__(self, held: Watched, language: str = "en", *, by_mouse: bool = False) -> None:
        self.by_mouse = by_mouse
        self.watched = held
        self.context = held.context
        self.words = WORDS[language]
        self.page = held.context.pages[0] if held.context.pages else held.page()

    def open(self, link: str, screen: str = "intro", *, then: str | None = None) -> None:
        """Load a link, and wait for a screen and for the one that follows when someone is there."""
        if self.page.url.split("#")[0] == link.split("#")[0]:  # or a new fragment alone would not load it
            self.page.goto("about:blank")
        self.page.goto(link)
        self._arrive(screen, then)

    def stop_time(self) -> None:
        """Let no timer of the page run out but those that `page.clock` is told to."""
        self.page.clock.pause_at(24 * 3600 * 1000)  # later than it can be by now

    def reload(self, screen: str = "intro", *, then: str | None = None) -> None:
        self.page.evaluate("document.querySelector('main').dataset.screen = ''")
        self.page.reload()
        self._arrive(screen, then)

    def _arrive(self, screen: str, then: str | None) -> None:
        if then is None:
            self.wait(screen)
        else:  # a scroll while the page loads is a sign of a person, too: the first screen may be gone already
            self.page.wait_for_selector(f"main[data-screen={screen}], main[data-screen={then}]")
            self.appear(then)

    def wait(self, screen: str) -> None:
        """Wait until a screen is shown."""
        self.page.wait_for_selector(f"main[data-screen={screen}]")

    @property
    def screen(self) -> str:
        return self.page.get_attribute("main", "data-screen")

    @property
    def heading(self) -> str:
        return self.page.inner_text("h1")

    @property
    def asked(self) -> str:
        """The question of the survey that is in view: the topic, or the heading where the buttons answer just that."""
        return self.page.locator(".topic .text, main:not(:has(.topic)) h1").inner_text()

    def press(self, key: str) -> None:
        """Press the button with the words of a key."""
        # "your earlier choice" may follow the words
        self._press(self.page.locator(BUTTON, has_text=re.compile(rf"^\s*{re.escape(self.words[key])}")))

    def _press(self, button: Any) -> None:
        """Press by mouse, or without moving it: that takes a third of the time."""
        if self.by_mouse:
            button.click()
        else:
            button.evaluate("button => button.click()")

    def says(self, key: str, **gaps: Any) -> bool:
        """Tell whether the page shows the words of a key."""
        return self.words[key].format(**gaps) in self.page.inner_text("body")

    def appear(self, screen: str) -> None:
        """Give the page a sign that someone is there, and wait for what it then shows."""
        self.page.keyboard.press("Shift")
        self.wait(screen)

    def start(self, *, practised: bool = True) -> None:
        """Start, and leave the practice where there is one."""
        self.page.locator(BUTTON, has_text=self.words["intro.start"]).click()  # a mouse that moves is a person
        self.wait("question")
        if practised:
            self.press("practice.leave")
            self.page.wait_for_selector("#progress:not(:empty)")

    def shown(self) -> list[str]:
        """Return the options of the question in view: of a list, or the text of each card."""
        return self.page.locator(".options li, .card > .label").all_inner_texts()

    def answer(self, variable: Mapping[str, Any], value: int | None, *, truly: bool = True) -> None:
        """Answer the question in view, truly or not, or skip it for None."""
        label = None if value is None else variable["options"][value]
        if value is None:
            self.press("ask.skip")
        elif variable["kind"] == "yes_no":
            self.press("ask.yes" if (label in self.shown()) is truly else "ask.no")
        elif variable["kind"] == "bit":
            secret = int(self.page.inner_text(".secret .digit"))
            self.press("ask.same" if (secret == value) is truly else "ask.different")
        else:
            cards = [[line.strip(", ") for line in text.split("\n")] for text in self.shown()]
            chosen = next(k for k, lines in enumerate(cards) if (label in lines) is truly)
            self._press(self.page.locator(".card").nth(chosen))
            if variable["kind"] == "local":
                self.wait("drawn")
                self.press("ask.go")

    def answer_practice(self, kind: str, *, truly: bool = True) -> None:
        """Answer the practice question in view, and wait for the verdict."""
        ball = self.page.get_attribute(".ball", "class").split()[1]
        options = [self.words[f"color.{name}"] for name in COLOURS]
        self.answer({"kind": kind, "options": options}, COLOURS.index(ball), truly=truly)
        self.wait("practised")

    def answer_all(self, manifest: Manifest, truth: Mapping[str, int | None]) -> None:
        """Answer every question, up to the check before sending."""
        for k, variable in enumerate(manifest.variables):
            self.page.wait_for_function("k => document.querySelector('progress').value === k", arg=k + 1)
            self.answer(variable, truth[variable["id"]])
        self.wait("review")

    def literal(self) -> str:
        """Return the content that the page says it will send."""
        return self.page.text_content("pre")

    def send(self, screen: str = "done") -> None:
        self.press("review.send")
        self.wait(screen)

    def insist(self) -> None:
        """Press "try again" for as long as what was sent has not arrived; while it is on its way that does nothing."""
        until = time.monotonic() + PATIENCE / 1000
        while self.screen == "unsent":
            assert time.monotonic() < until, "it never arrives"
            self.page.evaluate("document.querySelector('main[data-screen=unsent] .main')?.click()")

    def remembered(self) -> str:
        """Return all that this browser stores of the site."""
        return self.page.evaluate("JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage})")


def tour(site: "Site", visitor: Visitor, manifest: Manifest, look: Callable[[str], None]) -> None:
    """Carry a visit through every screen of a survey with `ALL_KINDS` in code mode, and look at each."""
    page, code = visitor.page, site.collector.code()
    visitor.open(site.link(manifest, code))
    page.click("summary")
    look("intro")
    visitor.press("intro.start")
    visitor.wait("question")
    look("practice")
    visitor.answer_practice("yes_no")
    look("practised")
    visitor.press("practice.next")
    visitor.answer_practice("groups", truly=False)
    visitor.press("practice.anyway")
    visitor.answer_practice("bit", truly=False)
    look("practised")
    visitor.press("practice.anyway")
    visitor.press("practice.leave")
    page.click("summary")  # all possible answers
    for key in ("1", "2", "s", "3"):
        visitor.wait("question")
        look("question")
        page.keyboard.press(key)
    visitor.wait("drawn")
    look("drawn")
    visitor.press("ask.go")
    visitor.wait("review")
    page.click("summary")
    look("review")
    visitor.press("ask.back")
    look("before")
    visitor.press("ask.skip")
    visitor.wait("review")
    page.route("**/submit", lambda route: route.abort())
    visitor.send("unsent")
    look("unsent")
    page.unroute("**/submit")
    visitor.insist()  # unless it has tried again by itself
    visitor.wait("done")
    look("done")
    visitor.press("done.forget")
    visitor.wait("forgotten")
    look("forgotten")
    visitor.reload("problem")
    look("problem")
    visitor.open(site.link(manifest, _opened_before(site, manifest)))
    visitor.appear("elsewhere")
    look("elsewhere")


def _opened_before(site: "Site", manifest: Manifest) -> str:
    """Make a code that another browser has opened."""
    code = site.collector.code(2)
    ticket, half = coin.read_code(code)
    site.collector.locks[coin.ticket_mark(manifest.id, ticket)] = lock_to(bytes(32), half)
    return code


@frozen
class Site:
    """A server with a collector in memory, and a browser."""

    browser: Any
    collector: FakeCollector
    app: FastAPI
    origin: str

    def fresh(self, need: Any) -> "Site":
        """Skip the test where there is no browser, and return the site with nothing in its collector."""
        need(*PLAYWRIGHT)
        need(*CHROMIUM)
        self.collector.__init__()  # type: ignore[misc]
        self.app.state.seen.clear()
        return self

    def link(self, manifest: Manifest, code: str | None = None) -> str:
        return f"{self.origin}/s/{manifest.id}" + ("" if code is None else f"#{code}")

    @contextmanager
    def visitor(
        self,
        language: str = "en",
        *,
        tolerated: tuple[str, ...] = (),
        fresh: bool = False,
        clock: bool = False,
        by_mouse: bool = False,
        **settings: Any,
    ) -> Iterator[Visitor]:
        """Give somebody at a browser that has not been here before; see `browser.watched` for the settings.

        With `clock` the time of the page can be stopped and put forward by `page.clock`; with `by_mouse` buttons must
        be where a mouse reaches them.
        """
        settings = {"viewport": SMALL} | settings
        with watched(self.browser, self.origin, tolerated=tolerated, fresh=fresh or clock, **settings) as held:
            if clock:
                held.context.clock.install(time=0)
            yield Visitor(held, language, by_mouse=by_mouse)


@contextmanager
def opened_site(browser: Any) -> Iterator[Site]:
    """Serve the page from a collector in memory: from the same origin for the whole run, whose pages open sooner."""
    yield Site(browser, *_opened())


@cache
def _opened() -> tuple[FakeCollector, FastAPI, str]:
    collector = FakeCollector()
    app = respondents_app(collector)
    serving = served(app)
    origin = serving.__enter__()
    atexit.register(serving.__exit__, None, None, None)
    return collector, app, origin
