"""The container of the collection service. No container engine is needed: its steps are run in a clean folder.

`make test-slow` runs the long form, which installs into an empty environment and serves as another user from a
file system that cannot be written.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest
from databases import held_port

from subsetprivacy.cli.main import main

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
STEPS = [tuple(line.split(maxsplit=1)) for line in DOCKERFILE.splitlines() if re.match("[A-Z]+ ", line)]
ENTRYPOINT = json.loads(next(rest for word, rest in STEPS if word == "ENTRYPOINT"))
HEALTHCHECK = json.loads(next(rest for word, rest in STEPS if word == "HEALTHCHECK").split("CMD", 1)[1])


@pytest.fixture
def sources(tmp_path):
    """Copy what the build stage copies, and nothing else."""
    folder = tmp_path / "src"
    folder.mkdir()
    for word, rest in STEPS:
        if word == "COPY" and not rest.startswith("--from"):
            *names, _ = rest.split()
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, folder / name)
    return folder


def test_the_image_is_built_in_two_stages_and_does_not_run_as_root():
    words = [word for word, _ in STEPS]
    assert words.count("FROM") == 2
    last = STEPS[len(words) - words[::-1].index("FROM") :]
    assert ("USER", "surveys") in last
    assert ("VOLUME", "/data") in last
    assert [rest for word, rest in last if word == "COPY"] == ["--from=build /opt/subsetprivacy /opt/subsetprivacy"]


def test_nothing_else_of_the_clone_reaches_the_builder():
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    copied = {name for word, rest in STEPS if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]}
    assert ignored[0] == "*"
    assert {name.removeprefix("!") for name in ignored if name.startswith("!")} == copied


def test_what_is_copied_is_enough_to_build_the_package(sources, tmp_path):
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=sources, check=True, capture_output=True)
    assert list(tmp_path.glob("subsetprivacy-*.whl"))


def test_the_command_of_the_container_is_one_that_exists():
    given = [*ENTRYPOINT[2:], "--base-url", "https://ask.example.org"]
    with (
        main.make_context("subsetprivacy", ["serve"]) as above,
        main.commands["serve"].make_context("serve", given, parent=above) as context,
    ):
        assert context.params["db"].startswith("/data/")
        assert context.params["port"] == 8000
    assert ":8000/" in HEALTHCHECK[2]


@pytest.mark.slow
def test_the_steps_make_a_server_that_runs_as_another_user_without_writing_elsewhere(sources, tmp_path, need):
    need("root in a mount namespace", _can_mount(), "run the tests as root, with util-linux")
    place = tmp_path / "opt"
    (install,) = (rest for word, rest in STEPS if word == "RUN" and "pip install" in rest)
    run = install.replace("/opt/subsetprivacy", str(place)).replace("python -m venv", f"{sys.executable} -m venv", 1)
    subprocess.run(run, shell=True, cwd=sources, check=True, capture_output=True)
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, 10001, 10001)
    for folder in [place, *place.parents]:
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    held = held_port()
    port = held.getsockname()[1]
    command = [word.replace("/opt/subsetprivacy", str(place)).replace("/data", str(data)) for word in ENTRYPOINT]
    # As in the container: nothing can be written but the folder of the database.
    script = (
        f"mount --bind {data} {data} && mount -o remount,bind,ro / && mount -t tmpfs tmpfs /dev/shm && "
        f"exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs {shlex.join(command)} --port {port}"
    )
    server = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"},
    )
    try:
        _wait_for(port, server)
        check = [word.replace("/opt/subsetprivacy", str(place)).replace("8000", str(port)) for word in HEALTHCHECK]
        assert subprocess.run(check, check=False).returncode == 0
        assert urlopen(f"http://127.0.0.1:{port}/studio/sign-in").status == 200
        status = Path(f"/proc/{server.pid}/status").read_text("utf-8")
        assert re.search(r"^Uid:\s+10001\s", status, re.MULTILINE)
    finally:
        server.terminate()
        said = server.communicate(timeout=60)[0]
        held.close()
    assert "Set up" in said
    assert "surveys.db" in {entry.name for entry in data.iterdir()}
    assert subprocess.run(check, check=False, capture_output=True).returncode != 0, "a stopped server is not healthy"


def _can_mount():
    tried = subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True)
    return shutil.which("setpriv") is not None and tried.returncode == 0


def _wait_for(port, server):
    while server.poll() is None:
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(server.stdout.read())
