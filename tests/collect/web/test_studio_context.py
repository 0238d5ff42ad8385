"""What people do in the studio waits for its turn, and respondents do not wait for it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sites import Site

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.survey.reading import read_survey
from subsetprivacy.collect.web import api_drafts, studio_editor
from subsetprivacy.collect.web.studio_context import MOST_AT_ONCE

_THREADS = 40  # that the framework has for everything
_SECONDS = 100


class Arrivals:
    """Counts the requests that reach an application."""

    def __init__(self, app):
        self._before, app.before = app.before, self
        self._all = threading.Semaphore(0)

    async def __call__(self, scope, receive, send):
        self._all.release()
        await self._before(scope, receive, send)

    def wait_for(self, number):
        for _ in range(number):
            assert self._all.acquire(timeout=_SECONDS)


@pytest.mark.parametrize("part", [studio_editor, api_drafts], ids=["studio", "API"])
def test_respondents_are_served_while_all_turns_of_the_studio_are_taken(tmp_path, monkeypatch, part):
    begun, may_end = threading.Semaphore(0), threading.Event()

    def read_for_long(*arguments):
        begun.release()
        may_end.wait()
        return read_survey(*arguments)

    with Site(tmp_path / "store.db") as site, ThreadPoolExecutor(_THREADS + MOST_AT_ONCE) as people:
        manifest = site.publish()
        draft = publishing.drafts(site.engine)[0].id
        client = site.signed_in() if part is studio_editor else site.with_token()
        place = f"/studio/drafts/{draft}" if part is studio_editor else f"/api/v1/drafts/{draft}"
        monkeypatch.setattr(part, "read_survey", read_for_long)
        arrivals = Arrivals(site.app)
        try:
            replies = [people.submit(client.get, place) for _ in range(_THREADS + MOST_AT_ONCE)]
            arrivals.wait_for(len(replies))
            for _ in range(MOST_AT_ONCE):
                assert begun.acquire(timeout=_SECONDS)
            assert site.nobody.get(f"/s/{manifest.id}/manifest").status == 200
            assert site.nobody.get(f"/s/{manifest.id}/key").status == 404  # not published
            assert site.nobody.get("/studio/sign-in").status == 200
            assert not begun.acquire(blocking=False)  # the others wait without a thread
        finally:
            may_end.set()
        assert [reply.result().status for reply in replies] == [200] * len(replies)
