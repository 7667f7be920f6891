"""The connection of a page's document: what held it back, and how its sender fared."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from headway.columns import MainConnection
from headway.diagnosis.limits import limits_of
from headway.diagnosis.rampup import slow_start_ended_s
from headway.diagnosis.segment import SegmentSamples
from headway.diagnosis.transfer import Transfer


def main_connection_of(segments: Sequence[SegmentSamples], transfer: Transfer) -> MainConnection:
    """What is known of the connection that carried the document; nothing from counters alone."""
    key = find_main(segments[0], transfer) if segments else None
    if key is None:
        return MainConnection()
    alone = segments[0].of({key})
    limits = limits_of([alone, *segments[1:]], transfer)
    counted = alone.until(transfer.end_s) if transfer.end_s is not None else alone
    values = {f"main_{name}": value for name, value in limits} | {
        "main_retransmits": counted.lost,
        "main_timeouts": counted.timeouts,
        "main_slow_start_s": slow_start_ended_s(alone, transfer),
    }
    fields = MainConnection.model_fields
    return MainConnection(**{name: value for name, value in values.items() if name in fields})


def find_main(segment: SegmentSamples, transfer: Transfer) -> Hashable | None:
    """The connection that carried the document, of those towards the client.

    It is the first one that was begun for it, as the browser tells when that was; if it was there
    already, as after a redirect, the last one that was there when the document came.
    """
    seen = segment.first_seen_s
    if transfer.page is None or transfer.start_s is None or not seen:
        return None
    there = [key for key, at_s in seen.items() if at_s <= transfer.start_s]
    begun = [key for key in there if seen[key] >= transfer.page.connect_s]
    if begun:
        return begun[0]
    return there[-1] if there else next(iter(seen))
