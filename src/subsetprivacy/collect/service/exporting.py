"""Released counters as files, with the designs inside: the library reads them back and finds the same numbers."""

import csv
import io
import re
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from subsetprivacy._words import counted
from subsetprivacy.collect.service.counters import group_rows
from subsetprivacy.collect.service.results import Results, results, results_document
from subsetprivacy.collect.service.snippet import FOLDER, FRAMINGS, python_snippet
from subsetprivacy.collect.survey.manifest import Manifest
from subsetprivacy.collect.survey.submission import SKIPPED, Framing
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.design.text import text_of
from subsetprivacy.engines import TABLE_FORMAT, count_column
from subsetprivacy.finding.document import document_text
from subsetprivacy.frames.files import sidecar_of
from subsetprivacy.frames.metadata import WeightsColumn
from subsetprivacy.frames.output import open_output
from subsetprivacy.messages.installing import how_to_install
from subsetprivacy.tables import safe_header

__all__ = ["export_csv", "export_parquet", "export_zip", "file_stem", "python_snippet", "saved_name", "survey_slug"]

_DAY = (1980, 1, 1, 0, 0, 0)  # the same for every file, so that nothing shows when an export was made
_MODE = 0o644 << 16
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 60
_DEVICE = re.compile(
    r"con|prn|aux|nul|(?:com|lpt)[0-9]"
)  # no file on Windows can have these names, whatever its extension
_README = """\
{title}
Survey {id}, version {version}. Fingerprint {fingerprint}.
{people}, {releases}, last seal {seal}.

{folder}/NN-….csv, .parquet
                      The released answers of one variable, or of variables that are kept together: a row for each
                      content that occurs, and in the column "count" how many people sent it. A cell lists the
                      options that an answer leaves possible, joined by a bar. All options together mean that the
                      question was skipped. An answer to a question with a secret number (randomized response) leaves
                      both options possible: "same (no & 0, yes & 1)" means that the number of the true answer, 0 for
                      "no" and 1 for "yes", is the secret number, and "different (no & 1, yes & 0)" that it is not.
                      Parquet files contain codes instead of these words.
                      Each file contains its designs. In a CSV file they are in the column "{column}", which
                      says nothing about people, and again in the .design.json next to it, for programs that
                      drop columns. subsetprivacy.read_release(file) opens each CSV or Parquet file alone.
framings.csv          How each question was asked and answered, counted separately: variable, partition (the smaller of
                      the two codes, or all groups of a skipped question), shown (0: the set with the smaller code
                      was asked about, 1: the other), answer (0 yes or same, 1 no or different, or the place of the
                      chosen group, from 0; -1 skipped), n. The last columns say the same in words: what was asked
                      about, where that is stored, and what was answered.
manifest.json         The survey as it was published, byte for byte. Its SHA-256 is the fingerprint.
results.json          What the dashboard shows, as data.
analyse.py            Computes the dashboard's numbers from these files. It needs the Python package subsetprivacy
                      ({install}). Run python analyse.py, or python analyse.py FILE for a
                      single file. A single file has fewer tests than the whole survey, so its alarm level is higher.

These files contain no row per person, no time and no order.
"""


def file_stem(released: Released, group: int) -> str:
    """Return the name of a group's files in the archive, without an ending."""
    return f"{group + 1:02d}-{_variables(released.manifest, group)}"


def saved_name(manifest: Manifest, version: int, name: str) -> str:
    """Return the name of a file that is downloaded alone, made from the survey and its variables.

    Parameters
    ----------
    manifest, version
        The survey.
    name
        "manifest.json", "results.json", "everything.zip", or the number of a group with "csv" or "parquet".
    """
    stem = survey_slug(manifest.title) or f"survey-{manifest.id[:8]}"
    stem = stem if version == 1 else f"{stem}-v{version}"
    first, _, ending = name.rpartition(".")
    if first == "everything":
        return f"{stem}.{ending}"
    return f"{stem}-{_variables(manifest, int(first)) if first.isdigit() else first}.{ending}"


def survey_slug(title: str) -> str:
    """Return a title as part of a file name, in plain letters and digits; "" where it has none, as in another alphabet.

    Examples
    --------
    >>> survey_slug("Work & Health, Zürich"), survey_slug("مسح")
    ('work-health-zurich', '')
    """
    letters = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", letters)[:_LONGEST].strip("-")
    return f"survey-{slug}" if _DEVICE.fullmatch(slug) else slug


def _variables(manifest: Manifest, group: int) -> str:
    names = "-".join(str(manifest.variables[k]["id"]) for k in manifest.groups[group])
    return _NAME.sub("_", names)[:_LONGEST]


def export_csv(released: Released, group: int) -> bytes:
    """Return the counters of one group as CSV: a row per distinct content, sorted by it, and its number.

    Parameters
    ----------
    released
        The survey and its released counters.
    group
        The number of the group in the manifest, from 0.
    """
    return _written(released, group, "csv")[0]


def export_parquet(released: Released, group: int) -> bytes:
    """Return the counters of one group as Parquet, with the designs in its metadata."""
    return _written(released, group, "parquet")[0]


def _written(released: Released, group: int, ending: str) -> tuple[bytes, bytes]:
    """Return a file of counts that contains its describing document, and the same document as a separate file."""
    import pyarrow as pa

    rows = group_rows(released, group)
    designs = {name: released.manifest.designs[name] for name in rows.names}
    count = count_column(rows.names)
    columns = {name: pa.array(rows.column(name), pa.int64()) for name in rows.names}
    table = pa.table({**columns, count: pa.array(rows.n, pa.int64())})
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"counts.{ending}"
        with open_output(path, designs, inside=True) as output:
            output.begin(designs, [table.schema.field(count)], WeightsColumn(count, "frequency"))
            output.write(table)
        return path.read_bytes(), sidecar_of(path).read_bytes()


def framings_csv(released: Released) -> bytes:
    """Return how each question was asked and answered as a sorted CSV, in numbers and in words."""
    ids = [safe_header(str(variable["id"])) for variable in released.manifest.variables]
    lines = sorted(
        (framing.variable, framing.partition, framing.shown, framing.answer, n)
        for framing, n in released.framings.items()
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("variable", "partition", "shown", "answer", "n", "asked about", "answered"))
    for k, partition, shown, answer, n in lines:
        words = _framing_in_words(released.manifest, Framing(k, partition, shown, answer))
        writer.writerow((ids[k], partition, shown, answer, n, *words))
    return text.getvalue().encode()


def _framing_in_words(manifest: Manifest, framing: Framing) -> tuple[str, str]:
    """Return what a question asked about, where that was stored, and the answer."""
    variable = manifest.variables[framing.variable]
    design, kind = manifest.designs[variable["id"]], variable["kind"]
    codes = [int(part) for part in framing.partition.split(",") if part]
    if kind == "yes_no" and framing.shown:
        codes = [(1 << design.p) - 1 - codes[0]]
    asked = " / ".join(text_of(code, design) for code in codes)
    if framing.answer == SKIPPED:
        return asked, "skipped"
    if kind == "groups":
        return asked, f"group {framing.answer + 1}"
    return asked, {"yes_no": ("yes", "no"), "bit": ("same", "different"), "local": ("answered",)}[kind][framing.answer]


def export_zip(released: Released, computed: Results | None = None) -> bytes:
    """Return everything in one archive: the same bytes for the same release.

    Parameters
    ----------
    released
        The survey and its released counters.
    found
        Its results, if they are computed already.
    """
    files = {
        "README.txt": _readme(released).encode(),
        "analyse.py": python_snippet(released).encode(),
        FRAMINGS: framings_csv(released),
        "manifest.json": released.manifest.text,
        "results.json": document_text(results_document(computed or results(released))).encode(),
    }
    for group in range(len(released.manifest.groups)):
        stem = f"{FOLDER}/{file_stem(released, group)}"
        files[f"{stem}.csv"], files[f"{stem}.csv.design.json"] = _written(released, group, "csv")
        files[f"{stem}.parquet"] = export_parquet(released, group)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name, _DAY)
            entry.external_attr, entry.compress_type = _MODE, ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def _readme(released: Released) -> str:
    number = len(released.releases)
    return _README.format(
        title=released.manifest.title,
        id=released.manifest.id,
        version=released.version,
        fingerprint=released.manifest.fingerprint,
        people=counted(released.n, "person", "people"),
        releases=counted(number, "release"),
        seal=released.releases[-1].chain_sha256 if number else "–",
        folder=FOLDER,
        column=TABLE_FORMAT,
        install=how_to_install(),
    )
