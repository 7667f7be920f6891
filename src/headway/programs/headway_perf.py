"""headway-perf, Headway's own sender and receiver of bulk flows: QUIC, TLS over TCP, and TCP."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from headway.contract.artifact import read_text
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import (
    CA_FILE,
    CERTIFICATE_FILE,
    KEY_FILE,
    QLOG_DIRECTORY,
    SERVER_NAME,
    Client,
    Flow,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.programs.client import ReportError, report_of, secrets_environment
from headway.programs.knobfile import adjustments_of, knobs_of
from headway.programs.measurement import BulkFlow, Measurement
from headway.programs.native import (
    NO_CHANGE,
    NO_MEMORY,
    NO_TOKENS,
    NativeQuic,
    command,
    quic_knobs,
    quic_knobs_with,
    service,
    without_limits,
)
from headway.study.bulk import Arrivals, Bulk, BulkPart, BulkTransfer, OnOff
from headway.study.capture import Capture
from headway.study.family import Family
from headway.study.host import Host, Protocol
from headway.study.network import SERVER
from headway.study.oneway import DataDirection
from headway.study.units import Duration

_NAME = "headway-perf"
CLIENT_REPORT = f"{_NAME}.json"
"""The client's report in the run's directory; docs/native-perf.md describes it."""

_PROTOCOLS = frozenset({Protocol.TCP, Protocol.QUIC})
_NO_NEW_TOKENS = "its servers give no tokens"
_NO_STREAMS = "its servers open no streams"
_ADJUSTMENTS = adjustments_of(_NAME, "quic")


def server_report(server: str = SERVER) -> str:
    """The report of a server on the host ``server``: a line for every flow that is over."""
    return f"{server}-{_NAME}.jsonl"


class _Interval(BaseModel):
    received_bytes: int


class _ReportedFlow(BaseModel):
    start_s: float
    connected_s: float | None
    secured_s: float | None
    first_byte_s: float | None
    end_s: float | None
    received_bytes: int
    error: str | None
    series: tuple[_Interval, ...]

    def measured(self, interval_s: float, offset_s: float = 0) -> BulkFlow:
        counts = tuple(interval.received_bytes for interval in self.series)
        return BulkFlow(self.start_s + offset_s, interval_s, counts)


class _ClientReport(BaseModel):
    started_unix_s: float
    interval_s: float
    flows: tuple[_ReportedFlow, ...]


class _ServerRecord(_ReportedFlow):
    started_unix_s: float
    interval_s: float


class HeadwayPerfClient(NativeQuic, Client):
    """Headway's own client of bulk flows, each on a connection of its own."""

    name = _NAME
    package = _NAME
    protocols = _PROTOCOLS
    workloads = (Bulk, Arrivals, OnOff)
    knobs = (
        *knobs_of(_NAME),
        *quic_knobs_with(
            {
                "migration": NO_CHANGE,
                "remember": NO_MEMORY,
                "keep_tokens": _NO_NEW_TOKENS,
                "max_streams": _NO_STREAMS,
            }
        ),
    )
    adjustments = _ADJUSTMENTS

    @override
    def start(self, flow: Flow) -> Started:
        workload, host = flow.workload, flow.host
        assert isinstance(workload, BulkPart)
        transport = _transport(flow.protocol, flow.tls)
        transfers = workload.transfers(f"{flow.seed} {flow.name}")
        starts = ",".join(f"{transfer.start.s:.9f}s" for transfer in transfers)
        argv = [
            command(self.name),
            "client",
            flow.socket_address,
            f"--transport={transport}",
            f"--direction={workload.direction}",
            f"--start-offsets={starts}",
            _amounts(transfers),
            f"--report=/lab/run/{CLIENT_REPORT}",
            *_transport_options(self, host, {transport}, flow.address.family),
        ]
        if flow.tls:
            argv += [f"--ca={CA_FILE}", f"--server-name={SERVER_NAME}"]
        if flow.tls and self.knob("early_data", host) == "on":
            argv.append("--early-data")
        if flow.protocol.over_quic and flow.capture.qlog:
            argv.append(f"--qlog={QLOG_DIRECTORY}/{flow.namespace}")
        program = Program(self.name, flow.namespace, tuple(argv), secrets_environment(flow))
        return Started((program,))

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        assert isinstance(flow.workload, BulkPart)
        try:
            report = report_of(_ClientReport, directory / CLIENT_REPORT, self.name)
        except ReportError as wrong:
            return Measurement(error=str(wrong))
        flows = report.flows
        if error := next((flow.error for flow in flows if flow.error), None):
            return Measurement(error=f"{self.name}: {error}")
        received = tuple(flow.measured(report.interval_s) for flow in flows)
        if flow.workload.direction is DataDirection.UPLOAD:
            received = _uploaded(directory / server_report(flow.server), report.started_unix_s)
            if len(received) != len(flows):
                missing = f"{len(received)} of {len(flows)} flows"
                return Measurement(error=f"{self.name}: the server reports {missing}")
        began_s = min(flow.start_s for flow in flows)
        ends = tuple((flow.end_s or 0) - began_s for flow in flows)
        return Measurement(
            began_s=began_s,
            connect_s=_since(began_s, flows[0].connected_s),
            tls_s=_since(began_s, flows[0].secured_s),
            ttfb_s=_since(began_s, flows[0].first_byte_s),
            total_s=max(ends),
            bytes=sum(itertools.chain.from_iterable(flow.bytes for flow in received)),
            each_s=ends,
            flows=received,
        )


class HeadwayPerfServer(NativeQuic, Server):
    """Headway's own server of bulk flows."""

    name = _NAME
    package = _NAME
    protocols = _PROTOCOLS
    knobs = (*knobs_of(_NAME), *quic_knobs_with({"keep_tokens": NO_TOKENS}))
    adjustments = (*_ADJUSTMENTS, without_limits(_NAME))

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        transports = {_transport(protocol, listener.tls) for protocol in listener.protocols}
        argv = [
            "server",
            f"--listen={listener.socket_address}",
            f"--transport={','.join(sorted(transports))}",
            "--limits=off",
            f"--report=/lab/run/{server_report(listener.namespace)}",
            f"--qlog={QLOG_DIRECTORY}/{listener.namespace}",
            *_transport_options(self, host, transports, listener.address.family),
        ]
        if listener.tls:
            argv += [f"--certificate={CERTIFICATE_FILE}", f"--key={KEY_FILE}"]
        if self.knob("early_data", host) == "on":
            argv.append("--early-data")
        return service(self, listener.namespace, argv, served_on(listener))


def _since(began_s: float, moment_s: float | None) -> float | None:
    return None if moment_s is None else moment_s - began_s


def _transport(protocol: Protocol, tls: bool) -> str:
    if protocol.over_quic:
        return "quic"
    return "tls" if tls else "tcp"


def _transport_options(
    adapter: NativeQuic, host: Host, transports: Collection[str], family: Family
) -> Iterator[str]:
    if "quic" in transports:
        yield f"--quic={quic_knobs(adapter, host, family)}"
    if {"tcp", "tls"}.intersection(transports):
        yield f"--tcp-congestion-control={host.tcp_congestion_control}"
        yield f"--tcp-notsent-lowat={adapter.knob('notsent_lowat', host)}"
        yield f"--tls-record-bytes={adapter.knob('tls_record_bytes', host)}"


def _amounts(transfers: Sequence[BulkTransfer]) -> str:
    """How long or how much flows send; once if it is the same for all."""
    texts = [
        f"{transfer.amount.s:.9f}s"
        if isinstance(transfer.amount, Duration)
        else str(int(transfer.amount))
        for transfer in transfers
    ]
    option = "--duration" if isinstance(transfers[0].amount, Duration) else "--bytes"
    return f"{option}={','.join(texts if len(set(texts)) > 1 else texts[:1])}"


def _uploaded(file: Path, client_started_unix_s: float) -> tuple[BulkFlow, ...]:
    """Flows as the server received them, on the client's clock, in the order of their beginnings.

    A server sees a flow's beginning when the first packet has crossed the path.
    """
    lines = read_text(file).splitlines() if file.exists() else []
    records: Sequence[_ServerRecord] = sorted(
        (_ServerRecord.model_validate_json(line) for line in lines),
        key=lambda server_record: server_record.start_s,
    )
    return tuple(
        record.measured(record.interval_s, record.started_unix_s - client_started_unix_s)
        for record in records
        if record.received_bytes
    )
