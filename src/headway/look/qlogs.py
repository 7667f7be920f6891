"""The account of a qlog file: whose, and of how much."""

from __future__ import annotations

from pathlib import Path

from headway.diagnosis.qlog_account import read_qlog_account
from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact, Listing
from headway.look.quantities import seconds


def content(path: Path, _identity: Identity) -> FileContents:
    """What a qlog file holds.

    Raises:
        WrongInputError: it is none.
    """
    qlog = read_qlog_account(path)
    facts = (
        FileFact(
            "version", f"{qlog.version or 'not told'}{f' ({qlog.form})' if qlog.form else ''}"
        ),
        FileFact("maker", qlog.maker or "not told"),
        FileFact("ends", ", ".join(qlog.vantages) or "not told"),
        FileFact("connections", str(qlog.connections)),
        FileFact("events", f"{qlog.events:,}"),
        FileFact("time", seconds(qlog.span_s)),
        FileFact("changes of state", str(qlog.state_changes)),
    )
    rows = tuple((name, f"{count:,}") for name, count in qlog.commonest)
    return FileContents(facts, (Listing(("event", "times"), rows, frozenset(("times",))),))
