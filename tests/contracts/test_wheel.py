"""What is built for the package index: all that runs, nothing that only developers read, links that work there."""

import re
import subprocess
import sys
import tomllib
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    with ZipFile(made) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(wheel.read(name))


def test_everything_that_the_package_reads_is_in_the_wheel(wheel):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    tracked = {path.removeprefix("src/") for path in listed.stdout.splitlines()}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == tracked
    assert {"subsetprivacy/py.typed", "subsetprivacy/collect/web/static/respond/question.js"} <= tracked


def test_no_file_that_nothing_reads_makes_the_wheel_large(wheel):
    large = {entry.filename: entry.file_size for entry in wheel.infolist() if entry.file_size > 100_000}
    assert large == {}


def test_links_of_the_long_description_are_whole_addresses(metadata):
    text = metadata.get_payload()
    assert text.startswith("# subsetprivacy")
    targets = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'<img src="([^"]+)"', text)
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text) + re.findall(r'<img src="([^"]+)"', text)
    assert len(pictures) == 3
    for picture in pictures:
        assert picture.startswith("https://raw."), "a page of the repository is not a picture"
        assert (ROOT / picture.split("/main/")[1]).is_file()


def test_extras_are_for_users_and_all_is_all_of_them(metadata):
    extras = set(metadata.get_all("Provides-Extra"))
    assert extras == {"plot", "conic", "frames", "formula", "learn", "spark", "serve", "all"}
    (everything,) = PROJECT["project"]["optional-dependencies"]["all"]
    assert set(re.search(r"\[(.*)\]", everything)[1].split(",")) == extras - {"all"}
    assert not extras & set(PROJECT["dependency-groups"])
    assert metadata.get_all("Project-URL")


def test_the_citation_has_the_version_of_the_package(metadata):
    assert f"\nversion: {metadata['Version']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
