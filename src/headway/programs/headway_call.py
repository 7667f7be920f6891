"""headway-call, Headway's own sender and receiver of datagrams at a constant rate."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from headway.columns import CallMetrics
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import Client, Flow, Listener, Server, Started, served_on
from headway.programs.client import ReportError, report_of
from headway.programs.measurement import BulkFlow, Measurement
from headway.programs.native import command, service
from headway.study.call import Call
from headway.study.capture import Capture
from headway.study.host import Host, Protocol
from headway.study.network import SERVER
from headway.study.oneway import DataDirection

_NAME = "headway-call"
CLIENT_REPORT = f"{_NAME}.json"
"""The client's report in the run's directory; docs/native-call.md describes it."""

_PROTOCOLS = frozenset({Protocol.UDP})


def server_report(server: str = SERVER) -> str:
    """The report of a server on the host ``server``."""
    return f"{server}-{_NAME}.jsonl"


class _Delays(BaseModel):
    p50_s: float
    p95_s: float
    p99_s: float


class _CallInterval(BaseModel):
    received_bytes: int


class _Heard(BaseModel):
    start_s: float
    end_s: float
    interval_s: float
    count: int
    received: int
    received_bytes: int
    reordered: int
    delay: _Delays
    jitter_s: float
    series: tuple[_CallInterval, ...]

    def metrics(self) -> CallMetrics:
        return CallMetrics(
            datagrams=self.count,
            datagrams_lost_pct=100 * (1 - self.received / self.count),
            datagrams_reordered=self.reordered,
            delay_p50_ms=self.delay.p50_s * 1e3,
            delay_p95_ms=self.delay.p95_s * 1e3,
            delay_p99_ms=self.delay.p99_s * 1e3,
            jitter_at_end_ms=self.jitter_s * 1e3,
        )


class _Report(BaseModel):
    started_unix_s: float
    start_s: float
    heard: _Heard | None


class HeadwayCallClient(Client):
    """Headway's own caller."""

    name = _NAME
    package = _NAME
    protocols = _PROTOCOLS
    workloads = (Call,)

    @override
    def start(self, flow: Flow) -> Started:
        call = flow.workload
        assert isinstance(call, Call)
        argv = (
            command(self.name),
            "client",
            flow.socket_address,
            f"--direction={call.direction}",
            f"--every={call.every_ns}ns",
            f"--payload={int(call.datagram)}",
            f"--count={call.datagrams}",
            f"--report=/lab/run/{CLIENT_REPORT}",
        )
        return Started((Program(self.name, flow.namespace, argv),))

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        call = flow.workload
        assert isinstance(call, Call)
        try:
            own = report_of(_Report, directory / CLIENT_REPORT, self.name)
            report: _Report | None = own
            if call.direction is DataDirection.UPLOAD:
                # Of one call there is one line; without any, nothing came.
                file = directory / server_report(flow.server)
                report = (
                    report_of(_Report, file, file.stem)
                    if file.exists() and file.stat().st_size
                    else None
                )
        except ReportError as wrong:
            return Measurement(error=str(wrong))
        if report is None or (heard := report.heard) is None:
            return Measurement(error=f"{self.name}: nothing came of the call")
        offset_s = report.started_unix_s - own.started_unix_s
        first_s, last_s = (at + offset_s - own.start_s for at in (heard.start_s, heard.end_s))
        counts = tuple(series.received_bytes for series in heard.series)
        return Measurement(
            began_s=own.start_s,
            ttfb_s=first_s,
            total_s=last_s,
            bytes=heard.received_bytes,
            each_s=(last_s,),
            flows=(BulkFlow(heard.start_s + offset_s, heard.interval_s, counts),),
            call=heard.metrics(),
        )


class HeadwayCallServer(Server):
    """Headway's own end of calls."""

    name = _NAME
    package = _NAME
    protocols = _PROTOCOLS

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        argv = (
            "server",
            f"--listen={listener.socket_address}",
            f"--report=/lab/run/{server_report(listener.namespace)}",
        )
        return service(self, listener.namespace, argv, served_on(listener))
