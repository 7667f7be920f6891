"""The report of a study: a page with figures and tables, and a summary for the terminal."""

from headway.report.report import Report, write_report

__all__ = ["Report", "write_report"]
