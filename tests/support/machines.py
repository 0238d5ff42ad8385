"""Other processors, as far as this one can play them: kernels of the linear algebra, NumPy's loops, threads.

OpenBLAS and NumPy choose their code by the processor. The last digits differ, and with them whatever hangs by a last
digit: where an optimizer stops, or which of two equal eigenvectors comes first. `make test-machines` runs this file,
which runs everything whose numbers come from linear algebra on each of `MACHINES` that this processor can play.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

PLAIN = "without NumPy's vector loops"
MACHINES = [
    ("Haswell", 1, ""),
    ("Zen", 4, ""),
    ("Prescott", 1, PLAIN),
    ("Nehalem", 4, ""),
    ("SkylakeX", 1, ""),
    ("SkylakeX", 4, PLAIN),
]
# Whatever solves equations, finds eigenvalues, maximizes or adds up.
ROOT = Path(__file__).parents[2]
NO_ALGEBRA = {"cli", "engines", "frames", "presenting", "report", "reproduce", "test_processes.py", "test_facade.py"}
ALGEBRA = [
    *sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests" / "unit").iterdir()
        if (path.is_dir() or path.name.startswith("test_"))
        and path.name not in NO_ALGEBRA | {"__pycache__"}
        and not path.name.startswith(("test_draw", "test_pictures"))
    ),
    "tests/laws",
    "tests/paper",
    "tests/contracts/test_every_design_and_estimator.py",
    "tests/contracts/test_every_result.py",
    "tests/collect/service/test_results.py",
    "tests/collect/service/test_results_document.py",
]
_TRIAL = """
import numpy as np, scipy.linalg
a = np.random.default_rng(1).normal(size=(64, 64))
for linalg in (np.linalg, scipy.linalg):
    linalg.eigh(a @ a.T), linalg.svd(a), linalg.solve(a, a), linalg.qr(a)
from threadpoolctl import threadpool_info
print(*{library["architecture"] for library in threadpool_info() if library["internal_api"] == "openblas"})
"""


def plain_loops() -> str:
    """Return the names of the loops that this NumPy would choose on this processor, for the variable that forbids them.

    NumPy's versions have other names, ignore those they do not know and warn of those that the processor lacks.
    """
    if already := os.environ.get("NPY_DISABLE_CPU_FEATURES"):  # this process chooses none itself
        return already
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    return " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name])


def environment(kernel: str, threads: int = 1, loops: str = "") -> dict[str, str]:
    """Return the variables that make this machine another one."""
    variables = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    return variables | ({"NPY_DISABLE_CPU_FEATURES": plain_loops()} if loops == PLAIN else {})


@cache
def played(kernel: str) -> str | None:
    """Return the kernel that the linear algebra takes if it is asked for this one, "" if it is not OpenBLAS.

    None if this processor has no instructions for it, which kills the process.
    """
    there = {**os.environ, **environment(kernel)}
    ran = subprocess.run([sys.executable, "-c", _TRIAL], env=there, capture_output=True, text=True, check=False)
    return ran.stdout.strip() if ran.returncode == 0 else None


def main(arguments: list[str]) -> int:
    """Run the tests on every machine, whatever fails, and say at the end what did."""
    failed = []
    for kernel, threads, loops in MACHINES:
        name = f"{kernel}, {threads} thread{'s'[: threads > 1]}{', ' * bool(loops)}{loops}"
        kind = played(kernel)
        if kind is None:
            print(f"== {name}: this processor cannot play it", flush=True)
            continue
        print(f"== {name}, played by {kind or 'a linear algebra without kernels to choose'}", flush=True)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", *(arguments or ALGEBRA)]
        ran = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment(kernel, threads, loops)}, check=False)
        failed += [name] * (ran.returncode != 0)
    print("== failed: " + "; ".join(failed) if failed else "== green on every machine")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
