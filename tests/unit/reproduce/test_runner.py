"""A run as a whole: files, the page, going on where it stopped, failing loudly."""

import csv
import inspect
import json
from html.parser import HTMLParser
from typing import ClassVar

import pytest
from attrs import evolve
from refusals import refused

from subsetprivacy.errors import ArgumentError
from subsetprivacy.examples import adult
from subsetprivacy.reproduce import LABELS, load, read_all, registry, reproduce, runner, select
from subsetprivacy.reproduce.checks import number, stated
from subsetprivacy.reproduce.experiment import Experiment, ExperimentResult
from subsetprivacy.reproduce.page import page
from subsetprivacy.reproduce.registry import file_name
from subsetprivacy.reproduce.store import RunSettings, read


@pytest.fixture
def shelf(monkeypatch):
    """Experiments of our own under two of the paper's labels; `shelf.runs` tells which have been run."""
    from matplotlib.figure import Figure

    class Shelf:
        value = 0.11
        code = "abc"
        adult = False
        runs: ClassVar[list] = []

    def perform(run):
        if Shelf.value is None:
            raise RuntimeError("nothing came out")
        Shelf.runs.append((run.label, run.k, run.quick, run.seed))
        figure = Figure(figsize=(1, 1))  # small and empty: every run saves it
        checks = [number("size <of> a", "0.11", Shelf.value), stated("note", "1 & 2")]
        return ExperimentResult(checks, {"name": ["a", "b, c"], "value": [1 / 3, 2]}, figure)

    def load_stub(label):
        return Experiment(label, f"About {label}", "First.\n\nSecond.", perform, quick=2, full=5, adult=Shelf.adult)

    monkeypatch.setattr(registry, "load", load_stub)
    monkeypatch.setattr(registry, "code_of", lambda label: Shelf.code)
    Shelf.runs = []
    return Shelf


def test_every_label_has_an_experiment_of_its_own():
    for label in LABELS:
        experiment = load(label)
        assert experiment.label == label
        assert 1 <= experiment.quick <= experiment.full
        assert len(experiment.about) > 200  # a newcomer can learn from it
        assert experiment.title
    assert len({file_name(label) for label in LABELS}) == len(LABELS)


def test_experiments_say_whether_they_use_the_adult_data():
    for label in LABELS:
        source = inspect.getsource(inspect.getmodule(load(label).perform))
        assert load(label).adult == ("run.adult" in source), label


def test_selecting():
    assert select(("all",)) == LABELS
    assert select(("fig:dist", "toy_example")) == ("toy_example", "fig:dist")  # the paper's order
    assert select(("fig:auc-*",)) == ("fig:auc-rho", "fig:auc-n", "fig:auc-p")
    with refused(ArgumentError, "label"):
        select(("tab:consistncy",))
    with refused(ArgumentError, "label"):
        select(("zzzz",))


def test_files_of_an_experiment(shelf, tmp_path):
    (done,) = reproduce("toy_example", output=tmp_path, seed=3)
    assert not done.failed
    assert shelf.runs == [("toy_example", 5, False, 3)]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"index.html", *(f"toy_example.{kind}" for kind in ("csv", "svg", "png", "json"))}
    with (tmp_path / "toy_example.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ["a", "0.3333333333"], ["b, c", "2"]]
    assert (tmp_path / "toy_example.png").read_bytes().startswith(b"\x89PNG")
    assert read(tmp_path, "toy_example") == done.record


def test_the_same_numbers_draw_the_same_file(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path / "a"))
    list(reproduce("toy_example", output=tmp_path / "b"))
    assert (tmp_path / "a/toy_example.svg").read_bytes() == (tmp_path / "b/toy_example.svg").read_bytes()


def test_what_is_finished_is_not_run_again(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    again, new = reproduce("toy_example", "fig:dist", output=tmp_path)
    assert (again.before, new.before) == (True, False)
    assert [label for label, *_ in shelf.runs] == ["toy_example", "fig:dist"]
    (forced,) = reproduce("toy_example", output=tmp_path, again=True)
    assert not forced.before


def test_a_file_of_the_adult_data_matters_to_those_that_use_it(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    (other,) = reproduce("toy_example", output=tmp_path, adult=adult, source="file")
    assert other.before
    shelf.adult = True
    (other,) = reproduce("toy_example", output=tmp_path, adult=adult, source="file")
    assert not other.before
    assert other.record.settings.adult == "file"


@pytest.mark.parametrize("change", ["code", "version", "seed", "file"])
def test_another_run_than_the_one_that_is_finished_is_run(shelf, tmp_path, change, monkeypatch):
    list(reproduce("toy_example", output=tmp_path))
    if change == "code":
        shelf.code = "def"
    if change == "version":
        monkeypatch.setattr(runner, "__version__", "99")
    if change == "file":  # a result without it is none
        (tmp_path / "toy_example.csv").unlink()
    (other,) = reproduce("toy_example", output=tmp_path, **({"seed": 9} if change == "seed" else {}))
    assert not other.before
    assert len(shelf.runs) == 2


def test_the_fingerprint_of_code_ignores_its_texts_and_imports(monkeypatch):
    def fingerprint(text):
        monkeypatch.setattr(registry, "getsource", lambda _: text)
        return registry.code_of("toy_example")

    code = fingerprint('"""A module."""\nimport a\nABOUT = """One.\n\nTwo."""\nK = 1\n')
    assert fingerprint('"""Other words."""\nfrom b import (\n    c,\n)\nABOUT = f"""Other."""\n# Why.\nK = 1\n') == code
    assert fingerprint('"""A module."""\nimport a\nABOUT = """One."""\nK = 2\n') != code


def test_a_full_result_stands_for_the_short_form(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    (kept,) = reproduce("toy_example", output=tmp_path, quick=True)
    assert kept.before
    assert not kept.record.settings.quick
    list(reproduce("fig:dist", output=tmp_path, quick=True))
    (longer,) = reproduce("fig:dist", output=tmp_path)
    assert not longer.before


def test_a_record_that_cannot_be_read_is_none(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    record = tmp_path / "toy_example.json"
    for text in ("", "{}", "[1]", record.read_text()[:-40], record.read_text().replace("holds", "perhaps")):
        record.write_text(text)
        assert read(tmp_path, "toy_example") is None
    (done,) = reproduce("toy_example", output=tmp_path)
    assert not done.before


def test_a_failure_stays_a_failure(shelf, tmp_path):
    shelf.value = 0.2
    (first,) = reproduce("toy_example", output=tmp_path)
    (kept,) = reproduce("toy_example", output=tmp_path)
    assert first.failed
    assert kept.failed
    assert kept.before  # not run again, and not forgiven
    assert "✗ differs" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_an_error_leaves_the_others_alone_and_no_record(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    shelf.value = None
    kept, broken = reproduce("toy_example", "fig:dist", output=tmp_path)
    assert kept.before
    assert broken.failed
    assert isinstance(broken.error, RuntimeError)
    assert read(tmp_path, "fig:dist") is None


def test_an_error_leaves_no_old_success_behind(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    shelf.value = None
    (broken,) = reproduce("toy_example", output=tmp_path, seed=2)
    assert broken.failed
    assert read(tmp_path, "toy_example") is None
    assert "<td>About toy_example</td><td>not run</td>" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_to_is_known_at_once(shelf, tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(OSError, match="results"):
        reproduce("toy_example", output=tmp_path / "results")
    assert shelf.runs == []


def test_a_run_that_was_cut_off_counts_as_not_done(shelf, tmp_path, monkeypatch):
    def cut(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("subsetprivacy.reproduce.store._draw", cut)
    with pytest.raises(KeyboardInterrupt):
        list(reproduce("toy_example", output=tmp_path))
    assert read(tmp_path, "toy_example") is None
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]  # no half files


@pytest.mark.parametrize(("options", "argument"), [({"jobs": 0}, "jobs"), ({"seed": -1}, "seed")])
def test_bad_numbers(options, argument, tmp_path):
    with refused(ArgumentError, argument):
        reproduce("toy_example", output=tmp_path, **options)


class Texts(HTMLParser):
    """Cells and links of a page; unclosed or crossed elements are an error."""

    VOID = ("meta", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.links = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data


def test_the_page(shelf, tmp_path):
    list(reproduce("toy_example", "fig:dist", output=tmp_path))
    result = Texts((tmp_path / "index.html").read_text(encoding="utf-8"))
    row = result.cells.index("size <of> a")
    assert "Claims of the paper: 2 hold; ours: 2 stated." in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert result.cells[row : row + 5] == ["size <of> a", "0.11", "0.1100", "rounding, ± 0.005", "✓ holds"]
    for link in result.links:
        assert link.startswith("#") or (tmp_path / link).exists()
    assert {"#toy_example", "#fig_dist", "fig_dist.svg", "fig_dist.csv"} <= set(result.links)


def test_the_page_of_nothing():
    assert "Nothing yet" in page([])
    Texts(page([]))


def test_records_come_in_the_papers_order(shelf, tmp_path):
    list(reproduce("fig:dist", output=tmp_path))
    list(reproduce("toy_example", output=tmp_path))
    assert [record.label for record in read_all(tmp_path)] == ["toy_example", "fig:dist"]
    (first, _) = read_all(tmp_path)
    assert first.tally() == {"holds": 1, "stated": 1}
    assert first.settings == RunSettings(runner.__version__, False, 1, code="abc")
    assert "short form" in page([evolve(first, settings=evolve(first.settings, quick=True))])
    assert "short form" not in page([first])


def test_the_record_is_plain_json(shelf, tmp_path):
    list(reproduce("toy_example", output=tmp_path))
    stored = json.loads((tmp_path / "toy_example.json").read_text(encoding="utf-8"))
    assert set(stored) == {"label", "settings", "replications", "seconds", "checks"}
