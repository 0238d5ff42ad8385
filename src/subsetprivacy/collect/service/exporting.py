"""Released counters as files, with the designs inside: the library reads them back and finds the same numbers."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from subsetprivacy._words import counted
from subsetprivacy.collect.service.results import Results, results, results_document
from subsetprivacy.collect.service.results_counts import GroupRows, group_rows
from subsetprivacy.collect.service.results_document import document_text
from subsetprivacy.collect.service.snippet import FOLDER, python_snippet
from subsetprivacy.collect.survey.tallies import Released
from subsetprivacy.design import ArtificialBit, Design
from subsetprivacy.design.held import EQUAL
from subsetprivacy.design.text import safe_header
from subsetprivacy.frames.files import sidecar_of
from subsetprivacy.frames.output import open_output
from subsetprivacy.frames.stored import Weights
from subsetprivacy.frames.trouble import arrow

__all__ = ["export_csv", "export_parquet", "export_zip", "file_stem", "python_snippet"]

COUNT = "count"
IN_WORDS = " (answer)"
_DAY = (1980, 1, 1, 0, 0, 0)  # the same for every file: nothing tells when an export was made
_MODE = 0o644 << 16
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 60
_README = """\
{title}
Survey {id}, version {version}. Fingerprint {fingerprint}.
{people}, {releases}, last seal {seal}.

{folder}/NN-….csv, .parquet
                      The released answers of one variable, or of variables that are kept side by side: a row for
                      each content that occurs, and in the last column how many people sent it. A cell holds the
                      options that an answer leaves possible; all options together mean that it was skipped. An
                      answer to a question with a secret number (randomised response) leaves both options possible:
                      its cell holds a code, and in the CSV file a column beside it says the answer in words ("same":
                      its number is the secret one; "not the same"; "skipped").
                      The designs stand in the .design.json beside the CSV file, and inside the Parquet file:
                      subsetprivacy.read_release(file) opens either.
framings.csv          How each question was put and answered, counted by itself: variable, partition (the smaller
                      of the two codes, or all groups of a skipped question), shown (0: the set with the smaller
                      code was asked about, 1: the other), answer (0 yes, 1 no, or the place of the chosen group;
                      -1 skipped), n.
manifest.json         The survey as it was published, byte for byte; its SHA-256 is the fingerprint.
results.json          What the dashboard shows, as data.
analyse.py            Makes the dashboard's numbers from these files: pip install "subsetprivacy[frames]", then
                      python analyse.py.

There is no row per person, no time and no order in these files.
"""


def file_stem(released: Released, group: int) -> str:
    """Return the name of a group's files, without an ending."""
    names = "-".join(str(released.manifest.variables[k]["id"]) for k in released.manifest.groups[group])
    return f"{group + 1:02d}-{_NAME.sub('_', names)[:_LONGEST]}"


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
    """Return a file of counts, and the document that belongs beside it."""
    pa = arrow()
    rows = group_rows(released, group)
    designs = {name: released.manifest.designs[name] for name in rows.names}
    count = count_column(rows.names)
    columns = {name: pa.array(rows.column(name), pa.int64()) for name in rows.names}
    words = _in_words(rows, designs) if ending == "csv" else {}
    table = pa.table({**columns, **words, count: pa.array(rows.n, pa.int64())})
    kept = [table.schema.field(name) for name in (*words, count)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{file_stem(released, group)}.{ending}"
        with open_output(path, designs) as output:
            output.begin(designs, kept, Weights(count, "frequency"))
            output.write(table)
        return path.read_bytes(), sidecar_of(path).read_bytes()


def count_column(names: Iterable[str]) -> str:
    """Return the name of the column of numbers: one that no variable has."""
    return _free(COUNT, names)


def _in_words(rows: GroupRows, designs: Mapping[str, Design]) -> dict[str, list[str]]:
    """Return the answers in words of the variables whose codes are no sets of options, by the name of a column."""
    taken, out = [*rows.names, count_column(rows.names)], {}
    for name, design in designs.items():
        if isinstance(design, ArtificialBit):
            column = _free(f"{name}{IN_WORDS}", taken)
            said = {EQUAL: "same", design.missing_code: "skipped"}
            out[column] = [said.get(code, "not the same") for code in rows.column(name).tolist()]
            taken.append(column)
    return out


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name that no column has yet."""
    held = set(taken)
    while name in held:
        name += "_"
    return name


def framings_csv(released: Released) -> bytes:
    """Return how each question was put and answered as CSV, sorted."""
    ids = [safe_header(str(held["id"])) for held in released.manifest.variables]
    lines = sorted(
        (framing.variable, framing.partition, framing.shown, framing.answer, n)
        for framing, n in released.framings.items()
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("variable", "partition", "shown", "answer", "n"))
    writer.writerows((ids[k], *rest) for k, *rest in lines)
    return text.getvalue().encode()


def export_zip(released: Released, found: Results | None = None) -> bytes:
    """Return everything in one archive: the same bytes for the same release.

    Parameters
    ----------
    released
        The survey and its released counters.
    found
        Its results where they are at hand.
    """
    files = {
        "README.txt": _readme(released).encode(),
        "analyse.py": python_snippet(released).encode(),
        "framings.csv": framings_csv(released),
        "manifest.json": released.manifest.text,
        "results.json": document_text(results_document(found or results(released))).encode(),
    }
    for group in range(len(released.manifest.groups)):
        stem = f"{FOLDER}/{file_stem(released, group)}"
        files[f"{stem}.csv"], files[f"{stem}.csv.design.json"] = _written(released, group, "csv")
        files[f"{stem}.parquet"] = export_parquet(released, group)
    held = io.BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = ZipInfo(name, _DAY)
            entry.external_attr, entry.compress_type = _MODE, ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return held.getvalue()


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
    )
