"""Output of results: printed, or written as numbers or as a picture."""

from collections.abc import Callable
from dataclasses import dataclass  # attrs would slow down --help
from pathlib import Path
from typing import Any

from subsetprivacy.cli import options
from subsetprivacy.cli.files import STANDARD_OUTPUT, ending_of, target
from subsetprivacy.cli.options import Command
from subsetprivacy.cli.show import draw_to_files, echo_json, json_text, say, write_text

PICTURES = (".png", ".svg", ".pdf")
ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".json", *PICTURES)
FORMATS = tuple(ending[1:] for ending in ENDINGS)


def outputs(command: Command) -> Command:
    """Add the output options."""
    where = options.output(
        "Write to this file instead of printing: .csv, .csv.gz, .csv.zst, .json, or a picture, .png, .svg, .pdf. - "
        "is standard output."
    )
    return where(options.output_format(FORMATS)(options.force(options.as_json(command))))


def check_output(output: Path | None, format: str | None, as_json: bool) -> str:
    """Return the ending of the output; raise, before anything is computed, if it is unknown."""
    options.check_one_result(output, format, as_json)
    if output is None:
        return ""
    ending = ending_of(output, ENDINGS, format)
    if ending in PICTURES:
        draw_to_files("the picture needs")
    return ending


@dataclass(frozen=True, slots=True)
class Presented:
    """A result in all output forms, each made on request."""

    facts: Callable[[], Any]
    csv: Callable[[], str]
    picture: Callable[[], Any]
    echo: Callable[[], None]

    def give(self, output: Path | None, ending: str, *, force: bool, as_json: bool) -> None:
        """Print the result, or write it to the output."""
        if as_json:
            echo_json(self.facts())
        if output is None:
            if not as_json:
                self.echo()
            return
        with target(output, ending) as path:
            self._write(path, ending, force)
        if output != STANDARD_OUTPUT:
            say(f"Wrote {output}.", err=as_json)

    def _write(self, path: Path, ending: str, force: bool) -> None:
        if ending not in PICTURES:
            text = json_text(self.facts()) + "\n" if ending == ".json" else self.csv()
            write_text(text, path, force=force)
            return
        from subsetprivacy.frames.files import replacing

        picture = self.picture()
        with replacing(path, overwrite=force) as draft:
            getattr(picture, "figure", picture).savefig(draft, dpi=150, format=ending[1:])
