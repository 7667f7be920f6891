"""One run over time, for pictures: the sender's window, the bottleneck's queue, and the limit.

Nothing of it is stored: it is derived from what a run leaves in its directory when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from headway.diagnosis.attribution import causes, first_byte_s, largest
from headway.diagnosis.processorload import ProcessorLoad, processor_loads
from headway.diagnosis.reasons import Limit, intervals
from headway.diagnosis.samples import read_samples
from headway.diagnosis.segment import SegmentSamples, StateSource, observe
from headway.diagnosis.sender import mean_srtt_ms, sum_cwnd_bytes, sum_known
from headway.diagnosis.transfer import Transfer
from headway.errors import WrongInputError
from headway.programs.measurement import BulkFlow

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class SegmentSeries:
    """A segment over time; columns of equal length, one value for each sample.

    What is not known at a time is None. With several connections, windows and bytes in flight are
    their sums and the round-trip time is their mean.

    Attributes:
        sender: host that sends: ``server``, ``proxy`` or a segment by its name.
        receiver: host that its responses go to.
        evidence: where the sender's state is known from.
        at_s: seconds from the workload's start.
        limit: what held the transfer back since the sample before; None after its end.
        cwnd_bytes: congestion window.
        in_flight_bytes: sent and not yet acknowledged.
        ssthresh_bytes: slow start threshold.
        srtt_ms: smoothed round-trip time.
        queue_bytes: in the bottleneck's queue, bytes on the wire.
        sent_bytes: through the bottleneck so far, bytes on the wire.
        drops: packets that the bottleneck and the path's loss models dropped so far.
    """

    sender: str
    receiver: str
    evidence: StateSource
    at_s: tuple[float, ...]
    limit: tuple[Limit | None, ...]
    cwnd_bytes: tuple[int | None, ...]
    in_flight_bytes: tuple[int | None, ...]
    ssthresh_bytes: tuple[int | None, ...]
    srtt_ms: tuple[float | None, ...]
    queue_bytes: tuple[int, ...]
    sent_bytes: tuple[int, ...]
    drops: tuple[int, ...]

    def frame(self) -> pl.DataFrame:
        """The columns as a data frame."""
        import polars as pl

        columns = {field.name: getattr(self, field.name) for field in fields(self)[3:]}
        types = {"at_s": pl.Float64, "limit": pl.String, "srtt_ms": pl.Float64}
        return pl.DataFrame(columns, {name: types.get(name, pl.Int64) for name in columns})


@dataclass(frozen=True)
class Series:
    """A run over time.

    Attributes:
        start_s: when the first byte of the response came, None if it did not.
        end_s: when the last byte came, None if it did not.
        segments: the client's first; one more than there are programs that split connections.
        limiting: number of the segment that held the transfer back for the longest time after the first
            byte, as the record's ``limited_section`` tells it; 0 if that is not known.
        flows: of a bulk workload, what their receivers got over time.
        loads: of each host with a processor, how busy that was since the sample before.
    """

    start_s: float | None
    end_s: float | None
    segments: tuple[SegmentSeries, ...]
    limiting: int = 0
    flows: tuple[BulkFlow, ...] = ()
    loads: tuple[ProcessorLoad, ...] = ()


def read_series(run_directory: Path) -> Series:
    """The series of a run, failed or not.

    Raises:
        WrongInputError: the directory is not that of a run.
    """
    try:
        transfer = Transfer.load(run_directory)
    except FileNotFoundError as error:
        raise WrongInputError(
            f"has no {Path(error.filename).name}; name a directory below a study's artifacts",
            where=str(run_directory),
        ) from None
    observed = observe(run_directory, transfer)
    segments = tuple(_series(segment, transfer) for segment in observed)
    limiting = _limiting(observed, transfer)
    loads = processor_loads(read_samples(run_directory).taken)
    return Series(transfer.start_s, transfer.end_s, segments, limiting, transfer.flows, loads)


def _limiting(segments: Sequence[SegmentSamples], transfer: Transfer) -> int:
    if len(segments) < 2:
        return 0
    end_s = float("inf") if transfer.end_s is None else transfer.end_s
    cause = largest(causes(segments, first_byte_s(segments, transfer), end_s))
    return cause.section if cause else 0


def _series(segment: SegmentSamples, transfer: Transfer) -> SegmentSeries:
    moments = segment.moments
    senders = [moment.senders.values() for moment in moments]
    return SegmentSeries(
        sender=segment.segment.sender,
        receiver=segment.segment.receiver,
        evidence=segment.evidence,
        at_s=tuple(moment.at_s for moment in moments),
        limit=_limits(segment, transfer),
        cwnd_bytes=tuple(sum_cwnd_bytes(states) for states in senders),
        in_flight_bytes=tuple(
            sum_known(state.in_flight_bytes for state in states) for states in senders
        ),
        ssthresh_bytes=tuple(
            sum_known(state.ssthresh_bytes for state in states) for states in senders
        ),
        srtt_ms=tuple(mean_srtt_ms(states) for states in senders),
        queue_bytes=tuple(moment.backlog_bytes for moment in moments),
        sent_bytes=tuple(moment.sent_bytes for moment in moments),
        drops=tuple(moment.drops for moment in moments),
    )


def _limits(segment: SegmentSamples, transfer: Transfer) -> tuple[Limit | None, ...]:
    """The limits of the intervals, each at its end."""
    begins_s = segment.begins_s(transfer)
    ends_s = float("inf") if transfer.end_s is None else transfer.end_s - segment.segment.delay_s
    by_value: dict[float, Limit | None] = {}
    for interval in intervals(segment):
        limit = Limit.HANDSHAKE if interval.end_s <= begins_s else interval.limit
        by_value[interval.end_s] = limit if interval.begin_s < ends_s else None
    return tuple(by_value.get(moment.at_s) for moment in segment.moments)
