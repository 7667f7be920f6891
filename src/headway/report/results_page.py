"""A study's ledger as files to keep: the page, its figure and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import polars.selectors as cs

from headway.analysis import Analysis
from headway.errors import WrongInputError
from headway.report.encoded import encoded
from headway.report.ledger import ledger
from headway.report.report import Report
from headway.report.styles import study_styles
from headway.report.tables.claims import claims_frame
from headway.report.tables.faults import faults_frame
from headway.report.tables.published import published_frame
from headway.report.tables.samples import samples_frame
from headway.report.tables.shares import shares_frame
from headway.report.values import values_picture

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
    analyses = report.analyses
    flat = [analysis for metrics in analyses for analysis in metrics]
    frames = {
        "claims": claims_frame(analyses),
        "values": published_frame(flat),
        "samples": samples_frame(flat),
        "faults": faults_frame([metrics[0] for metrics in analyses]),
        "shares": _shares(flat, [metrics[0] for metrics in analyses]),
    }
    picture = values_picture(flat, study_styles([metrics[0] for metrics in analyses]))
    beside = file.with_suffix("")
    try:
        beside.mkdir(exist_ok=True)
        file.write_text(ledger(report.results, analyses, files=beside.name), encoding="utf-8")
        for name, frame in frames.items():
            if not frame.is_empty():
                (beside / f"{name}.csv").write_text(_short(frame).write_csv(), encoding="utf-8")
        for suffix in ("svg", "png") if picture else ():
            assert picture
            (beside / f"values.{suffix}").write_bytes(encoded(picture, suffix))
    except OSError as error:
        raise WrongInputError(error.strerror or str(error), where=f"--out {file}") from error


def _shares(everything: Sequence[Analysis], firsts: Sequence[Analysis]) -> pl.DataFrame:
    """What flows got, of a study that asks for nothing else."""
    asks = any(one.experiment.claims or one.experiment.published for one in everything)
    return pl.DataFrame() if asks else shares_frame(firsts)


def _short(frame: pl.DataFrame) -> pl.DataFrame:
    """Without what is told elsewhere, and with digits that mean something."""
    kept = frame.drop([name for name in _LONG if name in frame.columns])
    return kept.with_columns(cs.float().round_sig_figs(_DIGITS))
