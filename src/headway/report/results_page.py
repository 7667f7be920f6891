"""A study's ledger as files to keep: the page, its figure and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import polars.selectors as cs

from headway.errors import WrongInputError
from headway.report.allpublished import values_picture
from headway.report.encoded import encoded
from headway.report.ledger import ledger
from headway.report.report import Report
from headway.report.styles import study_styles
from headway.report.tables import kept
from headway.report.tables.kind import KeptFile, Matter

_DIGITS = 6
"""Of numbers in tables that are kept: more than any run repeats on another machine's kernel."""
_LONG = ("evidence", "in_words", "title", "run")


def write_results_page(report: Report, file: Path) -> None:
    """Write a page of Markdown and, in a directory of its name beside it, its figure and tables.

    Raises:
        WrongInputError: the page is no Markdown file by its name, or cannot be written.
    """
    if file.suffix != ".md":
        raise WrongInputError("must end in .md", where=f"--out {file}")
    matter = Matter(report.results, report.analyses)
    tables = list(kept(matter))
    picture = values_picture(matter.metrics, study_styles(matter.firsts))
    beside = file.with_suffix("")
    try:
        beside.mkdir(exist_ok=True)
        files = [*_files(beside.name, [kept_file for kept_file, _ in tables], bool(picture))]
        file.write_text(ledger(report.results, report.analyses, files), encoding="utf-8")
        for table, frame in tables:
            (beside / f"{table.name}.csv").write_text(_short(frame).write_csv(), encoding="utf-8")
        for suffix in ("svg", "png") if picture else ():
            assert picture
            (beside / f"values.{suffix}").write_bytes(encoded(picture, suffix))
    except OSError as error:
        raise WrongInputError(error.strerror or str(error), where=f"--out {file}") from error


def _files(beside: str, tables: Sequence[KeptFile], has_picture: bool) -> Iterator[str]:
    """What is beside the page, as its lines."""
    if has_picture:
        yield f"![Published values and ours]({beside}/values.png)"
        yield ""
    if not tables:
        return
    yield (
        "; ".join(
            f"[{table.name}.csv]({beside}/{table.name}.csv) has {table.says}" for table in tables
        )
        + "."
    )


def _short(frame: pl.DataFrame) -> pl.DataFrame:
    """Without what is told elsewhere, and with digits that mean something."""
    kept = frame.drop([name for name in _LONG if name in frame.columns])
    return kept.with_columns(cs.float().round_sig_figs(_DIGITS))
