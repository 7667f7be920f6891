"""headway-client, Headway's own client: HTTP/1.1, HTTP/2 and HTTP/3, with every knob."""

from __future__ import annotations

import signal
from pathlib import Path

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.attempts import came_to_of
from headway.programs.base import (
    CA_FILE,
    QLOG_DIRECTORY,
    SERVER_NAME,
    Adjustment,
    Client,
    Flow,
    Started,
)
from headway.programs.client import (
    ReportError,
    report_of,
    secrets_environment,
)
from headway.programs.headway_dns import PORT as DNS_PORT
from headway.programs.keyexchange import ANY, KEY_EXCHANGE
from headway.programs.knobfile import adjustments_of, knobs_of
from headway.programs.measurement import Measurement
from headway.programs.native import (
    COMPRESSION_KNOBS,
    NO_CHANGE,
    NO_MEMORY,
    NativeQuic,
    check_compression,
    command,
    compression_options,
    quic_knobs,
    quic_knobs_with,
)
from headway.programs.ways import known_ways, way_of
from headway.programs.ways.report import NativeReport
from headway.study.discovery import Means
from headway.study.dns import RecordType
from headway.study.family import narrowest
from headway.study.host import HTTP, Host, Protocol
from headway.study.workload import Download, Migration, Parallel, Workload

REPORT = "headway-client.json"
"""The client's report in the run's directory; docs/native-client-report.md describes it."""
_WINDOWS = ("h2_stream_window", "h2_connection_window")
"""Knobs of HTTP/2's flow control."""


class HeadwayClient(NativeQuic, Client):
    """Headway's own client: all requests at once, over one connection or, for HTTP/1.1, several."""

    name = "headway-client"
    package = "headway-client"
    protocols = HTTP
    digests = True
    workloads = (Download, Parallel, Migration, *(way.kind for way in known_ways()))
    expects = True
    discovers_by = frozenset({Means.RECORD})
    chooses_family = True
    asks_for = frozenset(RecordType)
    adjustments = (
        Adjustment(
            "headway-client",
            "--timeout",
            "0",
            "the run's limit decides when to give up; its own default is 600 s",
        ),
        *adjustments_of("headway-client", "quic"),
    )
    knobs = (
        *knobs_of("headway-client"),
        *COMPRESSION_KNOBS,
        *quic_knobs_with({"migration": NO_CHANGE, "remember": NO_MEMORY}),
    )

    @override
    def check(self, host: Host, workload: Workload) -> None:
        """Beside what its QUIC asks, its tables can be what the study says."""
        super().check(host, workload)
        check_compression(self, host, 0)
        way_of(workload).check(workload)

    def can(self, workload: Workload, protocol: Protocol) -> bool:
        """Over TCP it does not ask again when its address has changed."""
        migrates = not workload.migrates or protocol is Protocol.H3
        return migrates and super().can(workload, protocol)

    @override
    def untold(self, metric: str, host: Host, protocol: Protocol) -> str:
        return ""

    @override
    def start(self, flow: Flow) -> Started:
        host, way = flow.host, way_of(flow.workload)
        argv = [
            command(self.name),
            f"--protocol={'auto' if flow.discovery else flow.protocol}",
            *_addressing(flow),
            f"--report=/lab/run/{REPORT}",
            "--timeout=0",
        ]
        argv += [*self._attempts(host), *compression_options(self, host)]
        if flow.tls:
            argv.append(f"--ca={CA_FILE}")
            if (group := self.knob(KEY_EXCHANGE, host)) != ANY:
                argv.append(f"--key-exchange={group}")
        if flow.protocol is Protocol.H2 or flow.discovery:
            argv += self._windows(host)
        if flow.protocol is Protocol.H1:
            connections = way.connections(flow) or self.knob("connections", host)
            argv.append(f"--connections={connections}")
        if flow.protocol is Protocol.H3:
            argv.append(f"--quic={quic_knobs(self, host, narrowest(flow.addresses))}")
        if flow.capture.qlog:
            argv.append(f"--qlog={QLOG_DIRECTORY}/{flow.namespace}")
        if self._resumes(flow):
            argv.append("--early-data")
        files: dict[str, str] = {}
        argv += way.options(flow, files)
        if flow.compares_bodies:
            argv.append("--body-digest")
        argv += way.urls(flow)
        program = Program(
            self.name,
            flow.namespace,
            tuple(argv),
            secrets_environment(flow),
            migration_signal=signal.SIGUSR1 if flow.protocol is Protocol.H3 else 0,
        )
        return Started((program,), files)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        try:
            report = report_of(NativeReport, directory / REPORT, self.name)
        except ReportError as wrong:
            return Measurement(error=str(wrong))
        way = way_of(flow.workload)
        if error := way.report_error(report, flow, directory):
            return Measurement(error=f"{self.name}: {error}")
        falls_back = self.knob("fall_back", flow.host) == "on"
        came_to = came_to_of(report.requests, report.connections, flow, falls_back=falls_back)
        # Its report begins with the requests that count, after the connection that yields a ticket.
        began_s = ended.at_ns / 1e9 - report.ended_s if self._resumes(flow) else 0.0
        return came_to.told_in(way.measurement(report, flow, began_s))

    def _attempts(self, host: Host) -> list[str]:
        """How it tries one place after the other, as far as that is not its own default."""
        delay = self.knob("attempt_delay", host)
        own = next(knob.default for knob in self.knobs if knob.name == "attempt_delay")
        argv = [f"--attempt-delay={delay}"] if delay != own else []
        return [*argv, "--fall-back"] if self.knob("fall_back", host) == "on" else argv

    def _windows(self, host: Host) -> list[str]:
        """Windows that a study sets."""
        values = {name: self.knob(name, host) for name in _WINDOWS}
        usual = {knob.name: knob.default for knob in self.knobs}
        changed = {name: value for name, value in values.items() if value != usual[name]}
        return [f"--{name.replace('_', '-')}={value}" for name, value in changed.items()]

    def _resumes(self, flow: Flow) -> bool:
        return self.knob("early_data", flow.host) == "on"


def _addressing(flow: Flow) -> tuple[str, ...]:
    """Tells the server's address, or whom to ask for it; and to which of the client's own it is to migrate, if any."""
    moves = (f"--migrate-to={flow.second_address}",) if flow.second_address else ()
    if flow.resolver is None:
        addresses = (f"--resolve={SERVER_NAME}:{address}" for address in flow.addresses)
        return (*addresses, *moves)
    over = flow.resolver.dns.transport
    asks = (f"--resolver={flow.resolver.address.at(DNS_PORT)}", f"--resolver-over={over}")
    return (*asks, *moves)
