"""headway-client, Headway's own client: HTTP/1.1, HTTP/2 and HTTP/3, with every knob."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.attempts import NativeConnection, came_to_of
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
    answer_error,
    digested,
    report_of,
    secrets_environment,
)
from headway.programs.headway_dns import PORT as DNS_PORT
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
from headway.programs.talks import (
    NativeRequest,
    heard,
    message_options,
    missing,
    request_error,
    talk_error,
    unanswered,
)
from headway.programs.uploads import answers_directory, carried_bytes, padding_options, sent_bytes
from headway.programs.videos import (
    NativeSession,
    check_scripted,
    played,
    session_error,
    source_of,
    video_options,
)
from headway.study.discovery import Means
from headway.study.dns import RecordType
from headway.study.family import narrowest
from headway.study.host import HTTP, Host, Protocol
from headway.study.messages import Messages
from headway.study.requestseries import RequestSeries, Reuse
from headway.study.slowreader import SlowReader
from headway.study.stream import Stream
from headway.study.upload import Upload
from headway.study.video import Video
from headway.study.workload import Download, Migration, Parallel, Workload

REPORT = "headway-client.json"
"""The client's report in the run's directory; docs/native-client.md describes it."""
_WINDOWS = ("h2_stream_window", "h2_connection_window")
"""Knobs of HTTP/2's flow control."""


class _NativeReport(BaseModel):
    ended_s: float
    looked_up_s: float | None = None
    requests: list[NativeRequest]
    connections: list[NativeConnection] = []
    session: NativeSession | None = None


class HeadwayClient(NativeQuic, Client):
    """Headway's own client: all requests at once, over one connection or, for HTTP/1.1, several."""

    name = "headway-client"
    package = "headway-client"
    protocols = HTTP
    digests = True
    workloads = (
        Download,
        Parallel,
        Migration,
        Upload,
        RequestSeries,
        Stream,
        SlowReader,
        Messages,
        Video,
    )
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
        if isinstance(workload, Video):
            check_scripted(workload)

    def can(self, workload: Workload, protocol: Protocol) -> bool:
        """Over TCP it does not ask again when its address has changed."""
        migrates = not workload.migrates or protocol is Protocol.H3
        return migrates and super().can(workload, protocol)

    @override
    def untold(self, metric: str, host: Host, protocol: Protocol) -> str:
        return ""

    @override
    def start(self, flow: Flow) -> Started:
        host = flow.host
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
        if flow.protocol is Protocol.H2 or flow.discovery:
            argv += self._windows(host)
        if flow.protocol is Protocol.H1:
            argv.append(f"--connections={self._connections(flow)}")
        if flow.protocol is Protocol.H3:
            argv.append(f"--quic={quic_knobs(self, host, narrowest(flow.addresses))}")
        if flow.capture.qlog:
            argv.append(f"--qlog={QLOG_DIRECTORY}/{flow.namespace}")
        if self._resumes(flow):
            argv.append("--early-data")
        files: dict[str, str] = {}
        argv += self._workload(flow, files)
        if flow.compares_bodies:
            argv.append("--body-digest")
        argv += _urls(flow)
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
            report = report_of(_NativeReport, directory / REPORT, self.name)
        except ReportError as wrong:
            return Measurement(error=str(wrong))
        if error := _error_of(report, flow, directory):
            return Measurement(error=f"{self.name}: {error}")
        falls_back = self.knob("fall_back", flow.host) == "on"
        came_to = came_to_of(report.requests, report.connections, flow, falls_back=falls_back)
        if isinstance(flow.workload, Video):
            return came_to.told_in(_watched(report, flow, flow.workload))
        return came_to.told_in(self._fetched(report, flow, ended))

    def _fetched(self, report: _NativeReport, flow: Flow, ended: Ended) -> Measurement:
        ends = tuple(request.last_byte_s or 0 for request in report.requests)
        waits = _waits(report, flow)
        # Its report begins with the requests that count, after the connection that yields a ticket.
        began_s = ended.at_ns / 1e9 - report.ended_s if self._resumes(flow) else 0.0
        return Measurement(
            began_s=began_s,
            dns_s=report.looked_up_s,
            connect_s=_least(request.connected_s for request in report.requests),
            tls_s=_least(request.secured_s for request in report.requests),
            ttfb_s=_least(request.first_byte_s for request in report.requests),
            total_s=max(ends),
            bytes=carried_bytes(flow, (request.bytes for request in report.requests)),
            content_sent_bytes=sent_bytes(
                flow, (request.sent_bytes for request in report.requests)
            ),
            each_s=() if waits else ends,
            latencies_s=waits,
            trees_s=_trees(flow, report.requests, ends),
            streams=tuple(heard(one) for one in report.requests if one.messages),
            unanswered_share=unanswered(report.requests, flow),
            bodies=digested(report.requests),
        )

    def _connections(self, flow: Flow) -> str:
        """How many it has at a time over HTTP/1.1: WebSocket takes one for each request, whatever else is open."""
        if isinstance(flow.workload, Messages):
            return str(flow.workload.streams)
        return self.knob("connections", flow.host)

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

    def _workload(self, flow: Flow, files: dict[str, str]) -> list[str]:
        """What is done besides asking for URLs at once."""
        workload = flow.workload
        if isinstance(workload, Upload):
            return self._content(workload)
        if isinstance(workload, RequestSeries):
            return _series(flow, workload, files)
        if isinstance(workload, Stream):
            return _streams(flow, workload, files)
        if isinstance(workload, Video):
            return video_options(flow, workload, files)
        if isinstance(workload, Messages):
            return message_options(workload)
        return _slow(workload) if isinstance(workload, SlowReader) else []

    def _content(self, upload: Upload) -> list[str]:
        """What a request sends, and where its answer goes."""
        argv = [f"--upload={int(upload.size)}", f"--output={answers_directory()}"]
        return [*argv, "--expect"] if upload.expect else argv

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


def _series(flow: Flow, series: RequestSeries, files: dict[str, str]) -> list[str]:
    """How a series of requests is made; the arrivals of an open loop go into a file."""
    argv = [f"--repeat={series.count}"]
    if series.up:
        argv.append(f"--upload={int(series.up)}")
    argv += padding_options(int(series.header_up), series.header_changes)
    if series.fan_out:
        argv += [f"--fan-out={series.fan_out}", f"--depth={series.depth}"]
    if series.connections is Reuse.NEW:
        argv.append("--new-connections")
    if series.users is not None:
        return [*argv, f"--users={series.users}", f"--think={series.think.s:.9f}"]
    return [*argv, _arrivals(flow, series.arrivals_s(f"{flow.seed} {flow.name}"), files)]


def _slow(reader: SlowReader) -> list[str]:
    """How the first response is read, and when the others are asked for."""
    starts = (number * reader.interval.s for number in range(reader.requests))
    option = (
        f"--slow-pause={reader.pause.s:.9f}"
        if reader.pause is not None
        else f"--slow-rate={reader.rate_bytes_s}"
    )
    return [option, f"--start-offsets={','.join(f'{start:.9f}' for start in starts)}"]


def _urls(flow: Flow) -> tuple[str, ...]:
    """What is asked for: of a slow reader, that and what is beside it."""
    if not isinstance(flow.workload, SlowReader):
        return flow.urls
    (url,) = flow.urls
    place = url.removesuffix(str(int(flow.workload.size)))
    return tuple(f"{place}{size}" for size in flow.workload.sizes)


def _streams(flow: Flow, stream: Stream, files: dict[str, str]) -> list[str]:
    """How streams of events are asked for, one after the other or all at once."""
    argv = ["--events", f"--repeat={stream.streams}"]
    if not stream.apart:
        return argv
    moments = (number * stream.apart.s for number in range(stream.streams))
    return [*argv, _arrivals(flow, moments, files)]


def _arrivals(flow: Flow, moments_s: Iterable[float], files: dict[str, str]) -> str:
    """The option for the moments at which requests are made, which are in a file."""
    name = f"/run/{flow.namespace}-arrivals"
    files[name] = "".join(f"{at_s:.9f}\n" for at_s in moments_s)
    return f"--arrivals={name}"


def _trees(
    flow: Flow, requests: Sequence[NativeRequest], ends: Sequence[float]
) -> tuple[float, ...]:
    """How long trees of calls took, which are reported one after the other; none without trees."""
    series = flow.workload
    if not isinstance(series, RequestSeries) or not series.fan_out:
        return ()
    calls = series.calls
    roots = range(0, len(ends), calls)
    return tuple(max(ends[root : root + calls]) - requests[root].queued_s for root in roots)


def _error(number: int, request: NativeRequest, flow: Flow, directory: Path) -> str | None:
    if request.status is not None and request.status >= 400:
        return answer_error(request.status, request.bytes, flow, directory)
    if isinstance(flow.workload, Messages):
        return talk_error(request, flow.workload, flow, directory)
    if request.error or request.status is None or request.last_byte_s is None:
        return request.error or "an answer did not come"
    if isinstance(flow.workload, SlowReader):
        size = flow.workload.sizes[number]
        return f"{request.bytes} bytes came of {size}" if request.bytes != size else None
    if isinstance(flow.workload, Stream):
        return missing(request, flow.workload.events) or request_error(request, flow, directory)
    return request_error(request, flow, directory)


def _error_of(report: _NativeReport, flow: Flow, directory: Path) -> str | None:
    """What is wrong with a report, if anything is."""
    if not isinstance(flow.workload, Video):
        wrong = (_error(number, one, flow, directory) for number, one in enumerate(report.requests))
        return next((error for error in wrong if error), None)
    # The viewer may leave while a segment is on its way.
    failed = (one.error for one in report.requests if one.error)
    return next(failed, None) or session_error(report.session, flow.workload)


def _waits(report: _NativeReport, flow: Flow) -> tuple[float, ...]:
    """How long each request of a series took, or each beside a slow one, or each message until it was answered."""
    if isinstance(flow.workload, Messages):
        came = (message for request in report.requests for message in request.messages)
        return tuple(message.came_s - message.made_s for message in came)
    if not isinstance(flow.workload, RequestSeries | SlowReader):
        return ()
    waits = [(one.last_byte_s or 0) - one.queued_s for one in report.requests]
    # The first is slow because it is read so.
    return tuple(waits[1:] if isinstance(flow.workload, SlowReader) else waits)


def _watched(report: _NativeReport, flow: Flow, video: Video) -> Measurement:
    """What a session measured: its requests are those whose segments came, since the viewer may leave at any time."""
    assert report.session is not None, "a report without one is an error"
    segments = report.session.segments
    first_bytes_s = [one.first_byte_s for one in report.requests]
    return Measurement(
        dns_s=report.looked_up_s,
        connect_s=_least(request.connected_s for request in report.requests),
        tls_s=_least(request.secured_s for request in report.requests),
        ttfb_s=_least(request.first_byte_s for request in report.requests),
        total_s=segments[-1].loaded_s if segments else None,
        bytes=sum(segment.bytes for segment in segments) if segments else None,
        video=played(report.session, video, first_bytes_s, source_of(flow, video)),
        bodies=digested(one for one in report.requests if one.error is None),
    )


def _least(times_s: Iterable[float | None]) -> float | None:
    return min((time_s for time_s in times_s if time_s is not None), default=None)
