"""h2load of nghttp2: series of requests in a closed loop, over HTTP/1.1 and HTTP/2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from headway.contract.artifact import read_text
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.errors import WrongInputError
from headway.overriding import override
from headway.programs.base import RANDOM_DEVICE, Client, Flow, Started
from headway.programs.client import answer_error, last_words, secrets_environment
from headway.programs.measurement import Measurement
from headway.study.application import TAKEN
from headway.study.host import Host, Protocol
from headway.study.requestseries import RequestSeries, Reuse
from headway.study.workload import Workload

_LOG = "h2load-requests.tsv"
"""What it says of every request: when it began, its status, how long it took."""
_DATA = re.compile(r"^traffic: .*\((\d+)\) data$", re.MULTILINE)
"""Bytes of all bodies, in what it prints at its end."""


@dataclass(frozen=True)
class _Logged:
    """A line of its log, in microseconds."""

    began_us: int
    status: int
    took_us: int


class H2Load(Client):
    """h2load: users who share a connection of HTTP/2, or have one each of HTTP/1.1; it checks no certificates."""

    name = "h2load"
    package = "nghttp2-client"
    protocols = frozenset({Protocol.H1, Protocol.H2})
    workloads = (RequestSeries,)

    @override
    def check(self, host: Host, workload: Workload) -> None:
        """It makes requests that are all alike, each after a response."""
        if not isinstance(workload, RequestSeries):
            return
        beyond = {
            "per_second (it has users only)": workload.per_second is not None,
            "think": bool(workload.think),
            'connections = "new"': workload.connections is Reuse.NEW,
            "header_up": bool(workload.header_up),
            "fan_out": bool(workload.fan_out),
        }
        if asked := [key for key, is_asked in beyond.items() if is_asked]:
            raise WrongInputError(
                f"h2load has no {', '.join(asked)}; headway-client has", where="program"
            )

    @override
    def start(self, flow: Flow) -> Started:
        series = flow.workload
        assert isinstance(series, RequestSeries), "it does nothing else"
        users = min(series.users or 1, series.count)
        connections, streams = (1, users) if flow.protocol is Protocol.H2 else (users, 1)
        argv = (
            "h2load",
            "--alpn-list=h2" if flow.protocol is Protocol.H2 else "--h1",
            f"--connect-to={flow.socket_address}",
            f"--requests={series.count}",
            f"--clients={connections}",
            f"--max-concurrent-streams={streams}",
            f"--log-file=/lab/run/{_LOG}",
            *flow.urls,
        )
        files: dict[str, str] = {}
        if series.up:
            name = f"/run/{flow.namespace}-content"
            files[name] = "." * int(series.up)
            argv = (*argv, f"--data={name}")
        env = secrets_environment(flow) | {"LD_PRELOAD": RANDOM_DEVICE}
        return Started((Program(self.name, flow.namespace, argv, env),), files)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        logged, printed = _logged(directory / _LOG), directory / f"{self.name}.out"
        if len(logged) < flow.workload.requests:
            text = last_words(directory, self.name)
            came = f"{len(logged)} of {flow.workload.requests} answers came"
            return Measurement(error=f"h2load: {came}: {text} (exit status {ended.exit_status})")
        if refused := next((request for request in logged if request.status != TAKEN), None):
            why = answer_error(refused.status, 0, flow, directory) if refused.status > 0 else None
            return Measurement(error=why or "h2load: a request failed")
        match = _DATA.search(read_text(printed)) if printed.exists() else None
        wanted = int(flow.workload.amount or 0) * flow.workload.requests
        size = int(match[1]) if match else None
        if size != wanted:
            return Measurement(error=f"h2load: {size or 0} bytes of bodies came of {wanted}")
        return Measurement(
            total_s=ended.at_ns / 1e9,
            bytes=size,
            latencies_s=tuple(request.took_us / 1e6 for request in logged),
        )


def _logged(log: Path) -> list[_Logged]:
    """What it logged, in the order in which requests began; the file has that in which they ended."""
    if not log.exists():
        return []
    rows = (line.split("\t") for line in read_text(log).splitlines())
    logged_connections = [_Logged(*map(int, row[:3])) for row in rows if len(row) >= 3]
    return sorted(logged_connections, key=lambda logged: logged.began_us)
