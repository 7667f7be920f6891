"""curl: HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ValidationError

from headway.contract.artifact import read_text
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import (
    CA_FILE,
    QLOG_DIRECTORY,
    SERVER_NAME,
    Adjustment,
    Client,
    Flow,
    Knob,
    Started,
)
from headway.programs.client import (
    IDLE_LIMIT_S,
    RETRY_PAUSE,
    TRIES,
    answer_error,
    in_new_directory,
    resolver_files,
    secrets_environment,
    started_again,
    wrong_field,
)
from headway.programs.fastopen import FAST_OPEN
from headway.programs.keyexchange import ANY, KEY_EXCHANGE, key_exchange, openssl_group
from headway.programs.measurement import Measurement, QuicRace, Tried
from headway.programs.uploads import answer_file, carried_bytes, content_file, sent_bytes
from headway.study.discovery import Means, offered
from headway.study.dns import RESOLVER_NAME, DnsTransport, RecordType
from headway.study.family import HostAddress
from headway.study.host import HTTP, Host, Protocol
from headway.study.upload import Upload
from headway.study.workload import Download, Migration, Parallel

_VERSION_OPTION = {
    Protocol.H1: "--http1.1",
    Protocol.H2: "--http2",
    Protocol.H3: "--http3-only",
}
_TRYING = re.compile(r"Trying \[?([0-9a-f.:]+?)\]?:\d+")
_STAMP = re.compile(r"(\d+):(\d+):([\d.]+) ")
_VERSION_SEEN = {Protocol.H1: "1.1", Protocol.H2: "2", Protocol.H3: "3"}
_KEY_EXCHANGE = key_exchange("offers")
_TOLD_ADDRESS = Adjustment("curl", "--resolve", "the server", "no time is spent on name resolution")


def _version_option(flow: Flow) -> str:
    """Which versions curl may speak: one, or QUIC beside TCP, of which the first to be there carries the request."""
    if flow.discovery and flow.protocol is Protocol.H3:
        return "--http3"
    return _VERSION_OPTION[flow.protocol]


_LEFT_OUT, _NO_CERTIFICATES = '"certs":,', '"certs":"",'
"""What curl prints of a chain of more than about 50 kB is no JSON: it leaves the text out."""


class _CurlTransfer(BaseModel):
    """What curl's ``%{json}`` tells of a transfer; times are seconds from its start."""

    urlnum: int
    exitcode: int
    errormsg: str | None
    response_code: int
    http_version: str
    num_connects: int
    time_namelookup: float = 0.0
    remote_ip: str = ""
    size_download: int
    size_upload: int = 0
    time_connect: float
    time_appconnect: float
    time_starttransfer: float
    time_total: float


class Curl(Client):
    """curl: one request, or several at once."""

    name = "curl"
    package = "curl"
    protocols = HTTP
    workloads: tuple[type, ...] = (Download, Parallel, Migration, Upload)
    expects = True
    quic_congestion_controls = ("cubic",)
    writes_qlog = True
    asks_for = frozenset({RecordType.A, RecordType.AAAA})
    asks_over = frozenset({"udp", "tcp", "https"})
    discovers_by = frozenset({Means.RACE})
    chooses_family = True
    executable: ClassVar[str] = "curl"
    libraries: ClassVar[str] = ""
    """Where it finds its library, if not where all programs do."""
    knobs: tuple[Knob, ...] = (RETRY_PAUSE, FAST_OPEN, _KEY_EXCHANGE)
    adjustments: tuple[Adjustment, ...] = (
        _TOLD_ADDRESS,
        Adjustment(
            "curl",
            "retries",
            f"a shell starts it up to {TRIES} times when the address changes",
            "it starts over, after the same pause as with --retry, which in curl 8.22 polls without "
            "rest for 2 s after a QUIC connection has died",
        ),
        Adjustment(
            "curl",
            "--speed-time",
            f"{IDLE_LIMIT_S} s, when the address changes",
            "if its QUIC has nothing to send, it notices only after 120 s that the address is gone",
        ),
    )

    @override
    def untold(self, metric: str, host: Host, protocol: Protocol) -> str:
        if metric == "content_sent_bytes" and _counts_its_buffer(protocol):
            return f"counts what is in a buffer of its own over {protocol}"
        return ""

    @override
    def start(self, flow: Flow) -> Started:
        argv = [
            self.executable,
            "--silent",
            "--show-error",
            "--no-progress-meter",
            _version_option(flow),
            "--cacert",
            CA_FILE,
            *address_options(flow),
            "--write-out",
            "%{json}\\n",
        ]
        if flow.other_address or flow.discovery:
            argv += ["--verbose", "--trace-time"]
        if self.knob(FAST_OPEN.name, flow.host) == "on" and not flow.protocol.over_quic:
            argv.append("--tcp-fastopen")
        if (group := self.knob(KEY_EXCHANGE, flow.host)) != ANY:
            argv += ["--curves", openssl_group(group)]
        if flow.workload.requests > 1:
            argv += ["--parallel", "--parallel-max", str(flow.workload.requests)]
        if flow.workload.migrates:
            argv += ["--speed-limit", "1", "--speed-time", str(IDLE_LIMIT_S)]
            argv = [*started_again(argv, self.knob("retry_pause", flow.host))]
        if isinstance(flow.workload, Upload):
            argv += _content(flow, flow.workload)
        bodies = flow.body_files
        targets = bodies or ("/dev/null",) * flow.workload.requests
        if flow.workload.payload.content is not None:
            targets = (answer_file(),)
        for url, target in zip(flow.urls, targets, strict=True):
            argv += ["--output", target, url]
        env = secrets_environment(flow)
        if self.libraries:
            env["LD_LIBRARY_PATH"] = self.libraries
        if flow.capture.qlog and flow.protocol is Protocol.H3:
            directory = f"{QLOG_DIRECTORY}/{flow.namespace}"
            env["QLOGDIR"] = directory
            argv = [*in_new_directory(directory, argv)]
        program = Program(self.name, flow.namespace, tuple(argv), env)
        return Started((program,), resolver_files(flow.resolver), bodies)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        return measured(directory / f"{self.name}.out", flow, ended)


class Curl814(Curl):
    """curl 8.14.1 of Debian 13, whose HTTP/3 is nghttp3 on OpenSSL's QUIC, not on ngtcp2."""

    name = "curl-8.14"
    package = "curl@trixie"
    workloads: tuple[type, ...] = (Download, Parallel)
    quic_congestion_controls = ("reno",)
    writes_qlog = False
    expects = False
    knobs = (FAST_OPEN, _KEY_EXCHANGE)
    adjustments = (_TOLD_ADDRESS.of("curl-8.14"),)
    executable = "/opt/trixie/usr/bin/curl"
    libraries = "/opt/trixie/usr/lib/x86_64-linux-gnu"


def _content(flow: Flow, upload: Upload) -> list[str]:
    """What a request sends; without --header, curl itself decides whether it waits for the server's word."""
    expect = "Expect: 100-continue" if upload.expect else "Expect:"
    named = ["--request", "POST", "--header", expect, "--upload-file", content_file(flow)]
    return ["--create-dirs", *named]


def address_options(flow: Flow) -> tuple[str, ...]:
    """Tells the server's address, unless a resolver does."""
    if flow.resolver:
        over_https = flow.resolver.dns.transport is DnsTransport.HTTPS
        return ("--doh-url", f"https://{RESOLVER_NAME}/dns-query") if over_https else ()
    addresses = ",".join(address.in_url for address in flow.addresses)
    return ("--resolve", f"{SERVER_NAME}:{flow.port}:{addresses}")


def measured(printed: Path, flow: Flow, ended: Ended) -> Measurement:
    """What a curl measured that was told ``--write-out "%{json}\\n"``.

    Args:
        printed: file of what it wrote, named after the program as studies call it.
        flow: what it was asked to do.
        ended: how its process ended.
    """
    how = f"exit status {ended.exit_status}"
    try:
        lines = read_text(printed).replace(_LEFT_OUT, _NO_CERTIFICATES).splitlines()
        seen = [_CurlTransfer.model_validate_json(line) for line in lines]
    except ValidationError as error:
        return Measurement(
            error=f"{printed.stem}: {wrong_field(error) or 'it printed no result'} ({how})"
        )
    except FileNotFoundError:
        seen = []
    if len(seen) < flow.workload.requests:
        return Measurement(error=f"{printed.stem}: it printed no result ({how})")
    if flow.workload.migrates:
        return _last_attempt(seen, flow, ended, printed)
    return _all_transfers(
        sorted(seen, key=lambda curl_transfer: curl_transfer.urlnum), flow, printed
    )


def _all_transfers(seen: list[_CurlTransfer], flow: Flow, printed: Path) -> Measurement:
    wrong = (_error(curl_transfer, flow, printed) for curl_transfer in seen)
    if error := next((error for error in wrong if error), None):
        broken = any(curl_transfer.exitcode for curl_transfer in seen)
        connected = (
            any(_is_connected(curl_transfer, flow) for curl_transfer in seen) if broken else None
        )
        return Measurement(error=error, connected=connected)
    connections = sum(curl_transfer.num_connects for curl_transfer in seen)
    if connections > 1 and flow.protocol is not Protocol.H1 and not flow.discovery:
        text = f"{printed.stem} opened {connections} connections instead of one"
        return Measurement(error=text)
    # A transfer that joins a connection has none of its own; the first one made it.
    return Measurement(
        spoken=_spoken(seen[0]) if flow.discovery else None,
        race=_race(seen[0], flow, printed),
        tried=_tried(printed) if flow.other_address else (),
        won=_family(seen[0].remote_ip) if flow.other_address else None,
        dns_s=_addressed_s(seen) if flow.resolver else None,
        connect_s=max(_connected_s(curl_transfer, flow) for curl_transfer in seen),
        tls_s=max(curl_transfer.time_appconnect for curl_transfer in seen) if flow.tls else None,
        ttfb_s=min(curl_transfer.time_starttransfer for curl_transfer in seen),
        total_s=max(curl_transfer.time_total for curl_transfer in seen),
        bytes=carried_bytes(flow, (curl_transfer.size_download for curl_transfer in seen)),
        content_sent_bytes=(
            None
            if _counts_its_buffer(flow.protocol)
            else sent_bytes(flow, (curl_transfer.size_upload for curl_transfer in seen))
        ),
        each_s=tuple(curl_transfer.time_total for curl_transfer in seen),
    )


def _counts_its_buffer(protocol: Protocol) -> bool:
    """Whether it counts content as sent that is in a buffer of its own."""
    return protocol is Protocol.H3


def _spoken(seen: _CurlTransfer) -> str | None:
    names = {version: str(protocol) for protocol, version in _VERSION_SEEN.items()}
    return names.get(seen.http_version)


def _tried(printed: Path) -> tuple[Tried, ...]:
    """The addresses that its trace says it tried, and when, from its first line on."""
    lines = read_text(printed.with_suffix(".err"), exact=False)
    pairs = [(_clock_s(line), _TRYING.search(line)) for line in lines.splitlines()]
    times = [at_s for at_s, _ in pairs if at_s is not None]
    return tuple(
        Tried(_family(match[1]), at_s - times[0])
        for at_s, match in pairs
        if match and at_s is not None
    )


def _race(seen: _CurlTransfer, flow: Flow, printed: Path) -> QuicRace | None:
    """What came of its QUIC beside TCP. Where it chooses between families, too, its trace tells no wait for QUIC apart."""
    if not (flow.discovery and flow.protocol is Protocol.H3) or flow.other_address:
        return None
    times_s = [tried.at_s for tried in _tried(printed)]
    lost = seen.http_version != _VERSION_SEEN[Protocol.H3]
    return QuicRace(lost, times_s[-1] - times_s[0] if lost and times_s else 0.0)


def _clock_s(line: str) -> float | None:
    """The time of the day at which a line of its trace was written."""
    stamp = _STAMP.match(line)
    return (
        math.fsum(
            float(part) * unit for part, unit in zip(stamp.groups(), (3600, 60, 1), strict=True)
        )
        if stamp
        else None
    )


def _family(address: str) -> str:
    return str(HostAddress(address).family)


def _addressed_s(seen: list[_CurlTransfer]) -> float | None:
    """When addresses were known; None if it began to connect while it still waited for those of the other family."""
    return max(curl_transfer.time_namelookup for curl_transfer in seen) or None


def _last_attempt(
    attempts: list[_CurlTransfer], flow: Flow, ended: Ended, printed: Path
) -> Measurement:
    """The last of several attempts is the one that counts; the first began when the run did."""
    first, last = attempts[0], attempts[-1]
    if error := _error(last, flow, printed):
        return Measurement(error=error)
    # Each attempt's times count from its own start; computing takes no virtual time.
    total_s = ended.at_ns / 1e9
    return Measurement(
        connect_s=_connected_s(first, flow) or None,
        tls_s=(first.time_appconnect or None) if flow.tls else None,
        ttfb_s=first.time_starttransfer or None,
        total_s=total_s,
        bytes=last.size_download,
        each_s=(total_s,),
    )


def _is_connected(seen: _CurlTransfer, flow: Flow) -> bool:
    return (seen.time_appconnect if flow.tls else seen.time_connect) > 0


def _connected_s(seen: _CurlTransfer, flow: Flow) -> float:
    # For HTTP/3, curl's connect time is that of a UDP socket, which says nothing.
    return seen.time_appconnect if flow.protocol is Protocol.H3 else seen.time_connect


def _error(seen: _CurlTransfer, flow: Flow, printed: Path) -> str | None:
    if seen.exitcode != 0:
        return f"{printed.stem}: {seen.errormsg} (exit status {seen.exitcode})"
    versions = {_VERSION_SEEN[protocol] for protocol in offered(flow.protocol, flow.discovery)}
    if seen.response_code == 200 and seen.http_version not in versions:
        return f"it spoke HTTP/{seen.http_version}, not {flow.protocol}"
    return answer_error(seen.response_code, seen.size_download, flow, printed.parent)
