"""Columns of the segments that a player fetched."""

from __future__ import annotations

from headway.columns.column import Columns, column, given


class FetchedSegment(Columns):
    """A segment of a video that came; moments are seconds from the session's start."""

    number: int = given("Its number in the video, from 0.")
    rung: int = given("Its place in the ladder, from 0, the lowest.")
    plays_s: float | None = column("What it plays; null in results of before.")
    rate_mbit: float = given("Rate of that rung, Mbit/s.")
    bytes: int = given("What came of it.")
    asked_s: float = given("When the player asked for it, from the session's start.")
    first_byte_s: float | None = column(
        "When the first byte of the response came; null if the player does not tell."
    )
    last_byte_s: float = given("When the last one did.")
    buffer_before_s: float = given("What was buffered when it was asked for.")
    buffer_after_s: float = given(
        "What was buffered when it had come, itself included: the same less what was played meanwhile."
    )
    throughput_mbit: float = given(
        "As the player saw it: its bits over the time from its request to its last byte, Mbit/s. A segment of live video "
        "is made in that time, so that it is little more than the bitrate."
    )
    believed_mbit: float | None = column(
        "The throughput that the player believed in when it chose the rung, Mbit/s; null of the first segment."
    )
    link_mbit: float | None = column(
        "Mean rate of the narrowest link towards the client over the same time, as the study plans it, on the wire and "
        "for all flows together, Mbit/s; null without one."
    )
    limited_by: str | None = column(
        "What held it back for the longest part of that time, by the same rules as `limited_by` of runs; `handshake` is "
        "the time until its first byte. Null if nothing tells."
    )
    limited_s: float | None = column("For how long that did.")
    stalled_s: float = given("How long the picture stood still while it was fetched.")
    chunks_s: tuple[float, ...] = column(
        "Of live video, when each of its chunks had come; empty of others.", default=()
    )
    repeated: bool = given("Whether this number had been fetched before, in whichever quality.")


class SegmentOwner(Columns):
    """Whose video a segment is of."""

    run_id: str = given("Name of the run, as in `runs.parquet`.")
    experiment: str = given("Its experiment.")
    cell: str = given("Its cell.")
    contender: str = given("Its contender.")
    seed: int = given("Its seed.")
    flow: str | None = column("Of flows that compete, the name of the one whose video it is.")


# Pydantic takes the fields of the last family first.
class SegmentRecord(FetchedSegment, SegmentOwner):
    """What is kept of one segment, and whose it is."""
