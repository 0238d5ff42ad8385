"""The published schema of findings: `python tests/support/findings_schema.py` writes it again."""

from pathlib import Path

import subsetprivacy as sp
from subsetprivacy.finding.document import document_text

PATH = Path(__file__).parents[2] / "docs" / "reference" / "findings.schema.json"


def schema_text() -> str:
    """Return the schema as it is published."""
    return document_text(sp.Findings.schema())


if __name__ == "__main__":
    PATH.write_text(schema_text(), encoding="utf-8")
