"""Run a script as a reader does, in a Python of its own that has imported nothing of this package.

One process has NumPy, SciPy and Matplotlib imported, which takes longer than most pages; each script runs in a fork of
it. Where there is no fork, it is a process like any other.
"""

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

_WAITING = """
import json, os, runpy, sys
import numpy, scipy.linalg, scipy.optimize, scipy.sparse, scipy.special, scipy.stats, matplotlib.pyplot
import attrs, click
assert "subsetprivacy" not in sys.modules
print("ready", flush=True)
for line in sys.stdin:
    given = json.loads(line)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.chdir(given["folder"])
    for number, name in enumerate((os.devnull, given["output"], given["errors"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.argv = given["arguments"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.exit()
"""


def run_script(script: Path, arguments: list[str], folder: Path, place: Path, env: dict[str, str]):
    """Run a script in an empty folder and return what became of it, as `subprocess.run` does.

    Parameters
    ----------
    script, arguments
        What to run.
    folder
        Where it runs.
    place
        Another folder, for what it prints.
    env
        The environment, the same for all.
    """
    words = [str(script), *map(str, arguments)]
    if not hasattr(os, "fork"):
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder, env=env)
    process = _waiting(json.dumps(env))
    output, errors = place / "output", place / "errors"
    order = {"folder": str(folder), "output": str(output), "errors": str(errors), "arguments": words}
    process.stdin.write(json.dumps(order) + "\n")
    process.stdin.flush()
    code = int(process.stdout.readline())
    return subprocess.CompletedProcess(words, code, output.read_text("utf-8"), errors.read_text("utf-8"))


@cache
def _waiting(env: str):
    started = subprocess.Popen(
        [sys.executable, "-c", _WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=json.loads(env)
    )
    assert started.stdout.readline() == "ready\n"

    def end():
        started.stdin.close()
        started.stdout.close()
        started.wait()

    atexit.register(end)
    return started
