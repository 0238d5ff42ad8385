"""What is built for the package index: all that runs, nothing that only developers read, links that work there."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
STRAYS = ("subsetprivacy.db", "adult.csv", "private.parquet", "study.key", "work.toml", "report.html")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def files_of_the_project(*folders):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


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
    tracked = {path.removeprefix("src/") for path in files_of_the_project("src")}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == tracked
    assert {"subsetprivacy/py.typed", "subsetprivacy/collect/web/static/respond/question.js"} <= tracked


def test_what_was_made_in_a_clone_is_not_published_with_the_source(tmp_path):
    """A survey's database with its keys, tables of values, keys: the README has people make them in the clone."""
    clone, made = tmp_path / "clone", tmp_path / "made"
    for name in files_of_the_project():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name)
    for stray in STRAYS:
        (clone / stray).write_bytes(b"made by a user")
    build = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(made)], cwd=clone, check=True, capture_output=True)
    (packed,) = made.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        published = {name.split("/", 1)[1] for name in archive.getnames()}
    assert "src/subsetprivacy/__init__.py" in published
    assert published & set(STRAYS) == set()


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
