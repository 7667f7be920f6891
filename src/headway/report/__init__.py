"""Showing what the analysis found: in the terminal, and as one page of HTML."""

from headway.report.page import write_report
from headway.report.terminal import print_summary

__all__ = ["print_summary", "write_report"]
