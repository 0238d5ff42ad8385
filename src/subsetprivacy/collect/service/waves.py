"""Several surveys of one study. The same people may answer them, so they must ask in the same way."""

from collections.abc import Iterable

from subsetprivacy.collect.survey.manifest import Manifest


def objection_to(manifest: Manifest, others: Iterable[Manifest]) -> str | None:
    """Return why a survey must not join the others of its study, or None.

    Two different questions about the same variable would together narrow down its value.

    A deleted survey is not checked. Storing what it asked would leave a trace of deleted data, and its answers are
    gone, so there are no two answers to combine. Anyone who kept copies could also have named another study. The page
    that deletes a survey says so.
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
