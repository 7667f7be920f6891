"""Busy waits that were interrupted at a moment which the host decided."""

from __future__ import annotations

import polars as pl

from headway.analysis import StudyResults
from headway.errors import counted


def spins_warning(results: StudyResults) -> str:
    """What a reader must know first: which runs may come out otherwise when they are repeated."""
    if "forced_ticks" not in results.runs.columns:
        return ""
    forced = results.runs.filter(pl.col("forced_ticks") > 0)
    if forced.is_empty():
        return ""
    first = forced.row(0, named=True)
    return (
        f"{counted(len(forced), 'run')} may not repeat exactly, such as {first['run_id']}: a program computed"
        f" for long without a system call and was interrupted ({counted(first['forced_ticks'], 'forced tick')})."
    )
