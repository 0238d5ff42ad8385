"""Several surveys of one study: the same people may answer them, so they must ask alike."""

from collections.abc import Iterable

from subsetprivacy.collect.survey.manifest import Manifest


def objection_to(manifest: Manifest, others: Iterable[Manifest]) -> str | None:
    """Return why a survey must not join the others of its study, or None.

    Two different questions about the same variable would narrow its value down together.

    A survey that was deleted is forgotten here, too. What it asked could be kept only as a trace of what nothing
    should be left of, and its answers are gone: there are no two to put together. Whoever kept copies of them could
    have named another study as well. The page that deletes says so.
    """
    for other in others:
        before = {variable["id"]: variable for variable in other.variables}
        for variable in manifest.variables:
            asked = before.get(variable["id"], variable)
            changed = [name for name in ("options", "design") if asked[name] != variable[name]]
            if changed:
                keys = " and ".join(f"`{name}`" for name in changed)
                return (
                    f"{variable['id']!r} must have the same {keys} as in the survey {other.title!r} ({other.id}) of "
                    f"the study {manifest.study!r}: two different questions about one value narrow it down."
                )
    return None
