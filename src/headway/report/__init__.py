"""Showing what the analysis found: in the terminal, and as one page of HTML."""

from headway.report.terminal import print_summary

__all__ = ["print_summary"]
