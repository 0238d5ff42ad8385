"""Whoever watches every page, file and answer of the service learns nothing between two releases."""

import re

import pytest
from sites import CODES, SMALL, Site
from sqlalchemy import func, select

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.service.respondents import Habits, Respondent
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.releasing import release_due
from subsetprivacy.collect.storage.schema import release

VALUES = {"colour": 1, "day": 2, "smokes": 0}


def every_get(app):
    """Return the paths of all routes that are read."""

    def walk(routes, prefix=""):
        for route in routes:
            if hasattr(route, "original_router"):
                yield from walk(route.original_router.routes, prefix + route.include_context.prefix)
            elif "GET" in getattr(route, "methods", ()):
                yield prefix + route.path

    return sorted(set(walk(app.routes)))


class Watcher:
    """Reads all there is to read, signed in and with a token."""

    def __init__(self, site, manifest):
        self.owner, self.program = site.signed_in(), site.with_token()
        draft = publishing.surveys(site.engine)[0].draft
        dashboard = self.owner.get(f"/studio/surveys/{manifest.id}").text
        known = {
            "survey_id": [manifest.id],
            "draft_id": [draft],
            "group": [str(k) for k in range(len(manifest.groups))],
        }
        self.paths = set(re.findall(r'(?:href|src|action)="(/[^"#]*)"', dashboard))
        for path in every_get(site.app):
            self.paths |= set(_filled(path, known))
        assert any("export" in path for path in self.paths), "the dashboard must link to the exports"

    def seen(self):
        """Return status, headers and bytes of everything."""
        found = {}
        for path in sorted(self.paths):
            reply = (self.program if path.startswith("/api") else self.owner).get(path)
            found[path] = (reply.status, sorted(reply.headers), reply.body)
        return found


def _filled(path, known):
    for name, values in known.items():
        if f"{{{name}}}" in path:
            return [whole for value in values for whole in _filled(path.replace(f"{{{name}}}", value), known)]
    return [] if "{" in path else [path]


@pytest.mark.parametrize("text", [SMALL, CODES], ids=["open", "code"])
@pytest.mark.parametrize("people", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_nothing_changes_between_releases(tmp_path, text, people):
    """After each single submission all routes are byte-identical, headers and all, unless there was a release.

    A release is one of a whole batch: else a release after every answer would pass.
    """
    with Site(tmp_path / "store.db") as site:
        manifest = site.publish(text)
        site.fill(manifest, 27)
        release_due(site.engine)
        codes = publishing.make_codes(site.engine, manifest.id, people) if manifest.mode == "code" else [None] * people
        watcher = Watcher(site, manifest)
        sender = site.nobody
        versions = {}
        for code in codes:
            before = _releases(site)
            if before not in versions:
                versions[before] = watcher.seen()
            person = Respondent(VALUES, code=code, habits=Habits(skips=0.1))
            status, _ = person.take_part(manifest, lambda path, document: _post(sender, path, document))
            assert status == 201
            release_due(site.engine)
            now, seen = _releases(site), watcher.seen()
            _same(versions.setdefault(now, seen), seen, now)
        numbers = sorted(versions)
        assert len(numbers) >= 2, "some release must come in between, or the test shows nothing"
        results = f"/api/v1/surveys/{manifest.id}/results"
        assert versions[numbers[0]][results][0] == 200
        assert versions[numbers[0]][results] != versions[numbers[-1]][results]
        releases = watcher.program.get(f"/api/v1/surveys/{manifest.id}/releases").json()["releases"]
        assert all(one["n"] >= manifest.batch for one in releases), releases


def _post(client, path, document):
    reply = client.send("POST", path, document)
    return reply.status, reply.json()


def _releases(site):
    with reading(site.engine) as connection:
        return connection.scalar(select(func.count()).select_from(release))


def _same(first, second, number):
    changed = [path for path in first if first[path] != second[path]]
    assert not changed, f"changed within release {number}: {changed}"
