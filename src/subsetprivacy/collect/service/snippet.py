"""A program that computes the dashboard's numbers from an export with the library alone."""

from subsetprivacy.collect.service.results import BUDGET
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.messages.installing import how_to_install

FOLDER = "data"  # of the tables in an export
FRAMINGS = "framings.csv"
_PROGRAM = '''\
"""Compute the numbers of the dashboard from an export: python analyse.py

For one or some of the files: python analyse.py FILE ...
It needs the Python package subsetprivacy: @INSTALL@
"""

import sys
from pathlib import Path

import subsetprivacy as sp

HERE = Path(__file__).parent
# The seal of the last release. It fixes the random samples and tables of the tests.
SEAL = @SEAL@

paths = [Path(name) for name in sys.argv[1:]] or sorted((HERE / "@FOLDER@").glob("*.csv"))
releases = [sp.read_release(path) for path in paths]
designs = {name: design for release in releases for name, design in release.designs.items()}
asked = HERE / "@FRAMINGS@"  # how the questions were asked, for the checks of the data
questions = sp.read_questions(asked, designs) if asked.exists() else None

found = sp.findings(releases, questions=questions, budget=@BUDGET@, seed=SEAL).compute()
print(found.summary())
for variable in found:
    print(variable.title, variable.fit.summary() if variable.fit else variable.problem, sep="\\n")
print(found.checks.summary())
for pair in found.pairs:
    print(*pair.names, sep=" and ", end=": ")
    print(f"p = {pair.test.pvalue:.4g}" if pair.test else pair.problem or "not tested")
Path("findings.json").write_text(found.to_json(), encoding="utf-8")
print("Every number is in findings.json.")
'''


def python_snippet(released: Released) -> str:
    """Return the program. Next to an unpacked export it prints the dashboard's estimates, checks and tests.

    Parameters
    ----------
    released
        The survey and its released counters.
    """
    seal = released.releases[-1].chain_sha256 if released.releases else ""
    filled = {
        "SEAL": repr(seal),
        "FOLDER": FOLDER,
        "FRAMINGS": FRAMINGS,
        "BUDGET": repr(BUDGET),
        "INSTALL": how_to_install(),
    }
    text = _PROGRAM
    for name, value in filled.items():
        text = text.replace(f"@{name}@", value)
    return text
