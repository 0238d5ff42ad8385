"""Cache results. Everything shown is computed from released data, so it changes only at a release."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import Engine

from subsetprivacy.collect.service import publishing
from subsetprivacy.collect.storage.opening import reading
from subsetprivacy.collect.storage.released import read_key, read_released
from subsetprivacy.collect.storage.surveys import ManifestFacts, SurveyLine
from subsetprivacy.collect.survey.manifest import is_survey_id
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.collect.web.refusals import RefusalError

T = TypeVar("T")
Kept = OrderedDict[tuple[Any, ...], Any]
_MOST_KEPT, _MOST_FILES = 64, 32


class ResultCache:
    """Results of surveys, each computed once per release.

    Parameters
    ----------
    engine
        The store.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: Kept = OrderedDict()
        self._files: Kept = OrderedDict()
        self._working: dict[tuple[Any, ...], Lock] = {}
        self._lock = Lock()
        self._facts: dict[str, ManifestFacts] = {}  # of manifests, which never change and are long

    def lines(self) -> list[SurveyLine]:
        """Return all published surveys."""
        return publishing.surveys(self._engine, self._facts)

    def line(self, survey_id: str) -> SurveyLine | None:
        """Return the survey with this id, if there is one."""
        if not is_survey_id(survey_id):
            return None
        return next(iter(publishing.surveys(self._engine, self._facts, only=survey_id)), None)

    def released(self, line: SurveyLine) -> Released:
        """Return the released data of a survey."""
        return self.cached(line, "released", lambda: self._read(line.id))

    def computed(self, line: SurveyLine, name: str, make: Callable[[Released], T]) -> T:
        """Return a result of the released data, computed once."""
        return self.cached(line, name, lambda: make(self.released(line)))

    def file(self, line: SurveyLine, name: str, make: Callable[[Released], T]) -> T:
        """Return a file of the released data. A survey may have many files, so these have a separate cache."""
        return self._cached(self._files, _MOST_FILES, line, name, lambda: make(self.released(line)))

    def cached(self, line: SurveyLine, name: str, make: Callable[[], T]) -> T:
        """Return something about the current state of a survey, computed once."""
        return self._cached(self._kept, _MOST_KEPT, line, name, make)

    def _cached(self, kept: Kept, most: int, line: SurveyLine, name: str, make: Callable[[], T]) -> T:
        key = (line.id, line.releases, line.is_open, self._is_key_published(line), name)
        with self._lock:
            if key in kept:
                kept.move_to_end(key)
                result: T = kept[key]
                return result
            turn = self._working.setdefault(key, Lock())
        with turn:  # other threads wait and then find it in the cache
            with self._lock:
                if key in kept:
                    return kept[key]
            try:
                result = make()
                with self._lock:
                    kept[key] = result
                    while len(kept) > most:
                        kept.popitem(last=False)
            finally:
                with self._lock:
                    self._working.pop(key, None)
        return result

    def forget(self, survey_id: str) -> None:
        """Remove a survey that was closed or deleted."""
        with self._lock:
            self._facts.pop(survey_id, None)
            for kept in (self._kept, self._files):
                for key in [key for key in kept if key[0] == survey_id]:
                    del kept[key]

    def _is_key_published(self, line: SurveyLine) -> bool:
        """Tell whether the study's key is published, which may happen when another of its surveys closes."""
        with reading(self._engine) as connection:
            key = read_key(connection, line.study)
        return key is not None and key[1]

    def _read(self, survey_id: str) -> Released:
        with reading(self._engine) as connection:
            released = read_released(connection, survey_id)
        if released is None:  # deleted in between
            raise RefusalError(404)
        return released
