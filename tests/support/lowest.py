"""Print the lowest versions that `pyproject.toml` admits, as constraints for pip; `make test-lowest` installs them."""

import re
import tomllib
from pathlib import Path

EXTRAS = ("plot", "conic", "frames", "formula", "learn", "serve")


def floors() -> list[str]:
    """Return `name==lowest version` for every dependency of the package and of the extras that are tested."""
    project = tomllib.loads(Path(__file__).parents[2].joinpath("pyproject.toml").read_text("utf-8"))["project"]
    asked = list(project["dependencies"])
    for extra in EXTRAS:
        asked += project["optional-dependencies"][extra]
    found = [re.match(r"([\w-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement) for requirement in asked]
    unread = [requirement for requirement, match in zip(asked, found, strict=True) if match is None]
    if unread:
        raise SystemExit(f"a dependency must be written as name>=version; got {', '.join(unread)}.")
    return sorted({f"{match[1]}=={match[2]}" for match in found if match})


if __name__ == "__main__":
    print("\n".join(floors()))
