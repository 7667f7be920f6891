"""The account of a trace of delivery opportunities: rates, gaps and bursts."""

from __future__ import annotations

from pathlib import Path

from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileCurve, FileFact
from headway.look.quantities import rate, seconds, size
from headway.traces.account import PACKET_BYTES, read_trace_account


def content(path: Path, _identity: Identity) -> FileContents:
    """What a trace holds.

    Raises:
        WrongInputError: it cannot be read, or is no trace.
    """
    trace = read_trace_account(path)
    length = seconds(trace.length_ms / 1e3)
    facts = (
        FileFact("length", f"{length}, then again from its beginning"),
        FileFact("mean rate", rate(trace.mean_bit_per_s)),
        FileFact("highest rate", f"{rate(trace.highest_bit_per_s)} over a second"),
        FileFact("first opportunity", seconds(trace.first_ms / 1e3)),
        FileFact("longest gap", seconds(trace.longest_gap_ms / 1e3)),
        FileFact("largest burst", f"{trace.largest_burst} packets in a millisecond, {size(trace.largest_burst * PACKET_BYTES)}"),
        FileFact("opportunities", f"{trace.opportunities:,} of {PACKET_BYTES} bytes"),
        FileFact("SHA-256", trace.sha256),
    )  # fmt: skip
    curve = FileCurve("rate", tuple(map(float, trace.series_bit_per_s)), length)
    return FileContents(facts, curve=curve)
