"""The report of a study: a page with figures and tables, and a summary for the terminal."""

from headway.report.report import write_report
from headway.report.terminal import print_summary

__all__ = ["print_summary", "write_report"]
