"""The sender in front of the bottleneck over time."""

from __future__ import annotations

from collections.abc import Mapping

from headway.diagnosis.metrics.measure import FinishedRun, measure
from headway.diagnosis.overtime import OverTime
from headway.diagnosis.rampup import bottleneck
from headway.diagnosis.sender import mean_srtt_ms, sum_cwnd_bytes


@measure
def _over_time(finished: FinishedRun) -> Mapping[str, float | None]:
    transfer = finished.transfer
    if not finished.segments or transfer.end_s is None:
        return {}
    moments = finished.segments[bottleneck(transfer.segments)[0]].moments
    senders = [(moment.at_s, moment.senders.values()) for moment in moments]
    span_s = transfer.began_s, transfer.end_s
    srtt = OverTime.of(((at_s, mean_srtt_ms(states)) for at_s, states in senders), *span_s)
    cwnd = OverTime.of(((at_s, sum_cwnd_bytes(states)) for at_s, states in senders), *span_s)
    return {
        "srtt_p50_ms": srtt.quantile(0.5) if srtt else None,
        "srtt_p95_ms": srtt.quantile(0.95) if srtt else None,
        "cwnd_mean_bytes": cwnd.mean if cwnd else None,
    }
