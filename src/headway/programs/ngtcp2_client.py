"""ngtcp2's example client, gtlsclient: HTTP/3, with GnuTLS."""

from __future__ import annotations

import heapq
import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headway.contract.artifact import read_lines, read_text
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import (
    QLOG_DIRECTORY,
    RANDOM_DEVICE,
    SERVER_NAME,
    Adjustment,
    Client,
    Flow,
    Knob,
    Started,
)
from headway.programs.client import (
    IDLE_LIMIT_S,
    answer_error,
    in_new_directory,
    last_words,
    secrets_environment,
)
from headway.programs.keyexchange import GNUTLS_GROUPS, KEY_EXCHANGE, key_exchange, ngtcp2_options
from headway.programs.measurement import Measurement
from headway.programs.uploads import answers_directory, carried_bytes, content_file
from headway.study.host import Protocol
from headway.study.upload import UPLOAD_PATH, Upload
from headway.study.workload import Download, Migration, Parallel

_BODIES = "/tmp/bodies"
_LOG = "ngtcp2.sqlog"
_CHATTER = (
    r"^(I[0-9]|Set timer=|Received packet: |Sent packet: |QUIC handshake |Negotiated |Updating |\["
    r"|http: (control|QPACK|remote|local|SETTINGS)"
    r"|http: stream 0x[0-9a-f]* (submit|response|headers|trailer|\[[^:]))"
)
"""What it prints of everything that happens, as 1 MB in each MB, beside errors and the statuses of responses."""
_FILTERING = """\
mkfifo /tmp/log
grep -avE "$1" < /tmp/log >&2 &
shift
"$@" 2> /tmp/log
status=$?
wait
exit $status
"""
_FILTERED = ("sh", "-c", _FILTERING, "sh", _CHATTER)
_STATUS = re.compile(
    r"^http: stream 0x(?P<stream>[0-9a-f]+) \[:status: (?P<status>\d+)\]", re.MULTILINE
)
_SENT, _RECEIVED = "transport:packet_sent", "transport:packet_received"
_REQUEST_STREAMS = range(0, 1 << 62, 4)
"""Ids of the streams that a client opens for requests (RFC 9000, section 2.1)."""


class Ngtcp2Client(Client):
    """gtlsclient: all requests at once, on one connection."""

    name = "ngtcp2"
    package = "ngtcp2-client"
    protocols = frozenset({Protocol.H3})
    chooses_interface = False
    workloads = (Download, Parallel, Migration, Upload)
    rehearses = True
    quic_congestion_controls = ("cubic", "reno", "bbr")
    writes_qlog = True
    knobs = (
        Knob("ack_threshold", "2", "packets after which one is acknowledged at once"),
        key_exchange("offers", *GNUTLS_GROUPS),
    )
    adjustments = (
        Adjustment("ngtcp2", "HOST", "the server's address", "no time is spent on name resolution"),
        Adjustment(
            "ngtcp2", "--initial-pkt-num", "0", "a random one would not follow from the run's seed"
        ),
        Adjustment(
            "ngtcp2",
            "URLs",
            "spelled differently, such as %31.bin for 1.bin",
            "several bodies of the same name would be written to the same file",
        ),
        Adjustment(
            "ngtcp2",
            "--change-local-addr",
            "when the address changes",
            "it migrates by a timer only, whose time a rehearsal of the run tells",
        ),
    )

    @override
    def start(self, flow: Flow) -> Started:
        logs = f"{QLOG_DIRECTORY}/{flow.namespace}"
        content: tuple[str, ...] = ()
        if isinstance(flow.workload, Upload):
            content = (f"--data={content_file(flow)}", "--http-method=POST")
            names, into = _spellings(UPLOAD_PATH, 1), answers_directory()
        else:
            names, into = _spellings(f"{flow.body_bytes}.bin", flow.workload.requests), _BODIES
        argv = (
            "gtlsclient",
            "--no-quic-dump",
            "--no-http-dump",
            "--exit-on-all-streams-close",
            f"--sni={SERVER_NAME}",
            f"--cc={self.quic_congestion_control(flow.host)}",
            f"--ack-thresh={self.knob('ack_threshold', flow.host)}",
            "--initial-pkt-num=0",
            f"--timeout={IDLE_LIMIT_S}s",
            f"--handshake-timeout={IDLE_LIMIT_S}s",
            f"--qlog-file={logs}/{_LOG}",
            f"--download={into}",
            *ngtcp2_options(self.knob(KEY_EXCHANGE, flow.host)),
            *content,
            flow.address,
            str(flow.port),
        )
        urls = tuple(f"https://{SERVER_NAME}/{name}" for name in names)
        env = {"LD_PRELOAD": RANDOM_DEVICE, **secrets_environment(flow)}
        command = in_new_directory(logs, in_new_directory(into, (*_FILTERED, *argv, *urls)))
        compared = bool(flow.body_files)
        bodies = tuple(f"{_BODIES}/{name}" for name in names) if compared else ()
        return Started((Program(self.name, flow.namespace, command, env),), bodies=bodies)

    @override
    def after_rehearsal(self, program: Program, directory: Path, migrated_ns: int) -> Program:
        handshake_ms = (
            _LoggedConnection.read(_log_in(directory, program.namespace)).handshake_ms or 0
        )
        # The timer counts from the end of the handshake, which is known to the millisecond.
        wait_ms = math.ceil(migrated_ns / 1e6) - handshake_ms + 1
        *options, address, service, url = program.argv
        argv = (*options, f"--change-local-addr={wait_ms}ms", address, service, url)
        return replace(program, argv=argv)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        connection, count = (
            _LoggedConnection.read(_log_in(directory, flow.namespace)),
            flow.workload.requests,
        )
        answers = [connection.streams.get(_REQUEST_STREAMS[i]) for i in range(count)]
        ends = [answer.ended_ms for answer in answers if answer and answer.ended_ms is not None]
        if ended.exit_status != 0 or len(ends) < count or connection.handshake_ms is None:
            reason = last_words(directory, self.name)
            return Measurement(error=f"ngtcp2: {reason} (exit status {ended.exit_status})")
        statuses = _statuses(directory / f"{self.name}.err")
        for stream in _REQUEST_STREAMS[:count]:
            if stream not in statuses:
                return Measurement(error="ngtcp2: it printed no status of a response")
            # The sizes of bodies are compared with their content.
            size = int(flow.workload.amount or 0)
            if error := answer_error(statuses[stream], size, flow, directory):
                return Measurement(error=error)
        # Its log has whole milliseconds. It ends with the last byte, and computing takes no
        # virtual time.
        total_s = ended.at_ns / 1e9
        return Measurement(
            connect_s=connection.handshake_ms / 1e3,
            tls_s=connection.handshake_ms / 1e3,
            ttfb_s=min(answer.began_ms for answer in answers if answer) / 1e3,
            total_s=total_s,
            bytes=carried_bytes(flow, [int(flow.workload.amount or 0)] * count),
            each_s=tuple(round(total_s - (max(ends) - end) / 1e3, 9) for end in ends),
        )


def _statuses(printed: Path) -> dict[int, int]:
    """The last status of each stream: others are of interim responses."""
    text = read_text(printed, exact=False) if printed.exists() else ""
    return {int(match["stream"], 16): int(match["status"]) for match in _STATUS.finditer(text)}


def _log_in(directory: Path, host: str) -> Path:
    return directory / Path(QLOG_DIRECTORY).name / host / _LOG


def _spellings(name: str, count: int) -> tuple[str, ...]:
    """Different spellings of the same name in a URL: characters as they are or percent-encoded."""
    choices = [dict.fromkeys((c, f"%{ord(c):x}", f"%{ord(c):X}")) for c in name]
    spellings = itertools.product(*choices)
    return tuple("".join(spelling) for spelling in itertools.islice(spellings, count))


@dataclass
class _Stream:
    """What came on a stream; times are milliseconds from the connection's start."""

    began_ms: int
    ended_ms: int | None = None
    _size: int | None = None
    _contiguous: int = 0
    _ahead: list[tuple[int, int]] = field(default_factory=list)

    def receive(self, at_ms: int, frame: dict[str, Any]) -> None:
        """Take note of a STREAM frame."""
        start, end = frame["offset"], frame["offset"] + frame["length"]
        if frame.get("fin"):
            self._size = end
        heapq.heappush(self._ahead, (start, end))
        while self._ahead and self._ahead[0][0] <= self._contiguous:
            self._contiguous = max(self._contiguous, heapq.heappop(self._ahead)[1])
        if self.ended_ms is None and self._contiguous == self._size:
            self.ended_ms = at_ms


@dataclass
class _LoggedConnection:
    """What gtlsclient logged of its connection."""

    handshake_ms: int | None = None
    streams: dict[int, _Stream] = field(default_factory=dict)

    @classmethod
    def read(cls, log: Path) -> _LoggedConnection:
        """Read a qlog file; the connection of a file that does not exist never began."""
        logged_connection = cls()
        for event in _packets(log) if log.exists() else ():
            at_ms, data = int(event["time"]), event["data"]
            if data["header"]["packet_type"] != "1RTT":
                continue
            # The first packet that is sent with the connection's final keys has the requests.
            if event["name"] == _SENT:
                logged_connection.handshake_ms = (
                    at_ms
                    if logged_connection.handshake_ms is None
                    else logged_connection.handshake_ms
                )
                continue
            for frame in data["frames"]:
                if frame["frame_type"] == "stream":
                    stream = logged_connection.streams.setdefault(
                        frame["stream_id"], _Stream(at_ms)
                    )
                    stream.receive(at_ms, frame)
        return logged_connection


def _packets(log: Path) -> Iterator[dict[str, Any]]:
    """Events of packets that were sent or received; the last line may be cut off."""
    for line in read_lines(log):
        text = line.decode().lstrip("\x1e")
        if (_SENT in text or _RECEIVED in text) and text.endswith("}\n"):
            yield json.loads(text)
