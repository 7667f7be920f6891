"""GNU Wget2: HTTP/1.1 and HTTP/2."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path

from headway.contract.artifact import read_text
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import CA_FILE, Adjustment, Client, Flow, Started
from headway.programs.client import (
    RETRY_PAUSE,
    TRIES,
    answer_error,
    hosts_file,
    last_words,
    secrets_environment,
    started_again,
)
from headway.programs.measurement import Measurement
from headway.programs.wget import RESUME
from headway.study.host import Protocol
from headway.study.workload import Download, Migration, Parallel

_ANSWERS, _HANDSHAKES = "wget2-answers.csv", "wget2-handshakes.csv"
_DISCARDED, _PARTIAL_BODY = "/dev/null", "/tmp/partial-body"
_DIRECTORY = "/tmp/bodies"
_H2_STREAMS = 100
"""Requests on a connection at once; as many as the workload parallel can have."""
_WHOLE = 'file=$1 size=$2; shift 2; "$@" && [ "$(stat -c %s "$file")" -eq "$size" ]'
"""A command that fails unless it leaves a file of that size: wget2's exit status is 0 even if an
HTTP/2 connection breaks."""


@dataclass(frozen=True)
class _Answer:
    """An answer: its status, the size of its body, and how many milliseconds it took."""

    status: int
    size: int
    took_ms: int


class Wget2(Client):
    """wget2: one request, or several at once."""

    name = "wget2"
    package = "wget2"
    protocols = frozenset({Protocol.H1, Protocol.H2})
    workloads = (Download, Parallel, Migration)
    knobs = (RESUME, RETRY_PAUSE)
    adjustments = (
        Adjustment("wget2", "/etc/hosts", "the server", "no time is spent on name resolution"),
        Adjustment(
            "wget2",
            "--max-threads",
            "1 for HTTP/2, else the number of requests",
            "each of its threads opens a connection; its default is 5",
        ),
        Adjustment(
            "wget2",
            "--http2-request-window",
            str(_H2_STREAMS),
            "all requests are sent at once; its default is 30",
        ),
        Adjustment("wget2", "--tcp-fastopen", "off", "every connection pays for a full handshake"),
        Adjustment(
            "wget2",
            "--tries",
            f"1, by a shell that starts it up to {TRIES} times when the address changes",
            "it goes on (--continue) or starts over, as the study asks, after the same pause as others",
        ),
    )

    @override
    def start(self, flow: Flow) -> Started:
        h2 = flow.protocol is Protocol.H2
        argv: tuple[str, ...] = (
            "wget2",
            "--no-config",
            "--no-hsts",
            "--no-hpkp",
            "--no-ocsp",
            "--no-tcp-fastopen",
            "--no-robots",
            "--tries=1",
            f"--ca-certificate={CA_FILE}",
            "--http2-only" if h2 else "--no-http2",
            f"--max-threads={1 if h2 else flow.workload.requests}",
            f"--http2-request-window={_H2_STREAMS}",
            f"--stats-site=csv:/lab/run/{_ANSWERS}",
            f"--stats-tls=csv:/lab/run/{_HANDSHAKES}",
        )
        bodies = _bodies(flow)
        if flow.workload.migrates:
            bodies = bodies or (_PARTIAL_BODY,)
            if self.knob("resume", flow.host) == "on":
                argv = (*argv, "--continue")
            whole = ("sh", "-c", _WHOLE, "sh", bodies[0], str(flow.body_bytes))
            argv = started_again((*whole, *argv), self.knob("retry_pause", flow.host))
        where = f"--output-document={bodies[0] if bodies else _DISCARDED}"
        if len(bodies) > 1:
            where = f"--directory-prefix={_DIRECTORY}"
        env = secrets_environment(flow)
        program = Program(self.name, flow.namespace, (*argv, where, *flow.urls), env)
        return Started((program,), hosts_file(flow.address), bodies if flow.body_files else ())

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        answers = _answers(directory / _ANSWERS)
        if ended.exit_status != 0 or len(answers) < flow.workload.requests:
            reason = last_words(directory, self.name)
            return Measurement(error=f"wget2: {reason} (exit status {ended.exit_status})")
        for answer in answers:
            whole = answer
            if flow.workload.migrates and answer.status == 206:
                # The rest of a body whose size the shell has looked at.
                whole = replace(answer, status=200, size=flow.body_bytes)
            if error := answer_error(whole.status, whole.size, flow, directory):
                return Measurement(error=error)
        if error := _connection_error(directory / _HANDSHAKES, flow):
            return Measurement(error=error)
        # It tells how long each answer took, but not when it asked. It ends with the last byte,
        # and computing takes no virtual time.
        total_s, longest_ms = ended.at_ns / 1e9, max(answer.took_ms for answer in answers)
        return Measurement(
            total_s=total_s,
            bytes=flow.body_bytes * len(answers),
            each_s=tuple(
                round(total_s - (longest_ms - answer.took_ms) / 1e3, 9) for answer in answers
            ),
        )


def _bodies(flow: Flow) -> tuple[str, ...]:
    """Files that bodies are kept in, if they are; with several, wget2 chooses their names."""
    if not flow.body_files or flow.workload.requests == 1:
        return flow.body_files
    return tuple(f"{_DIRECTORY}/{url.rpartition('/')[2]}" for url in flow.urls)


def _answers(file: Path) -> list[_Answer]:
    """Answers in the order of the requests."""
    if not file.exists():
        return []
    rows = sorted(csv.DictReader(read_text(file).splitlines()), key=lambda row: int(row["ID"]))
    return [_Answer(int(row["Status"]), int(row["Size"]), int(row["TransferTime"])) for row in rows]


def _connection_error(file: Path, flow: Flow) -> str | None:
    """What is wrong with the connections: their protocol, or that there are too many."""
    if flow.protocol is not Protocol.H2:
        return None
    spoken = [line.split(",")[5] for line in read_text(file).splitlines()]
    if set(spoken) != {"h2"}:
        return f"it spoke {', '.join(spoken) or 'nothing'}, not h2"
    if len(spoken) > 1:
        return f"wget2 opened {len(spoken)} connections instead of one"
    return None
