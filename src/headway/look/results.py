"""The account of a results directory: of which study, and how many runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from headway.analysis.result_loading import load_results
from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact


def content(path: Path, _identity: Identity) -> FileContents:
    """What a results directory holds.

    Raises:
        WrongInputError: it holds no results.
    """
    results = load_results(path)
    runs, study = results.runs, results.manifest.study
    failed = runs.filter(pl.col("status") != "ok").height
    facts = (
        FileFact("study", study.name),
        FileFact("question", study.question or "not asked"),
        FileFact("runs", results.number),
        FileFact("failed", str(failed)),
        FileFact("contenders", ", ".join(runs["contender"].unique(maintain_order=True).to_list())),
        FileFact("cells", str(runs.select("experiment", "cell").unique().height)),
    )
    return FileContents(facts)
