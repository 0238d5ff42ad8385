"""One HTML page about a release of subsets, for any reader."""

from subsetprivacy.report.writing import report_html, write_report

__all__ = ["report_html", "write_report"]
