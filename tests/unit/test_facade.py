"""The public names: written once, loaded when they are used, and the only ones that are offered."""

import subprocess
import sys
from collections import Counter

import facade

import subsetprivacy as sp
from subsetprivacy.frames import spark_package


def run(program, *options):
    return subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, check=True).stdout


def test_the_stub_is_up_to_date():
    assert facade.STUB.read_text(encoding="utf-8") == facade.stub(), "run `make stub`"


def test_a_name_is_listed_once_and_where_it_is():
    listed = Counter(name for names in sp._PUBLIC.values() for name in names)
    assert listed.most_common(1)[0][1] == 1
    for name, module in sp._HOME.items():
        assert getattr(sp, name) is getattr(sys.modules[f"subsetprivacy.{module}"], name)


def test_only_public_names_are_offered():
    assert sorted(dir(sp)) == sorted([*sp.__all__, "__version__", "errors"])
    assert not any(name.startswith("_") for name in sp.__all__)
    given = {}
    exec("from subsetprivacy import *", given)
    assert set(given) - {"__builtins__"} == set(sp.__all__)


def test_importing_the_package_imports_nothing_else():
    program = "import sys; before = set(sys.modules); import subsetprivacy; dir(subsetprivacy)\n"
    program += "print(sorted(set(sys.modules) - before))"
    assert run(program) == "['subsetprivacy']\n"


def test_designs_and_drawing_do_not_wait_for_scipy():
    program = "import sys, subsetprivacy as sp\n"
    program += "sp.privatize(list('abcd'), sp.uniform(list('abcd')))\n"
    program += "print('scipy' in sys.modules)"
    assert run(program) == "False\n"


def test_the_package_works_from_an_archive_and_without_docstrings():
    program = f"import sys; sys.path.insert(0, {str(spark_package.archive())!r})\n"
    program += "import subsetprivacy as sp\n"
    program += "print('.zip' in sp.__file__, sp.__doc__, sp.uniform(list('abcd')).p, sp.errors.CodeError.__name__)"
    assert run(program, "-OO") == "True None 4 CodeError\n"
