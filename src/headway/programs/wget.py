"""GNU Wget: HTTP/1.1."""

from __future__ import annotations

import re
from pathlib import Path

from headway.contract.artifact import read_text
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import CA_FILE, Adjustment, Client, Flow, Knob, Started
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
from headway.study.host import Protocol
from headway.study.workload import Download, Migration

RESUME = Knob(
    "resume",
    "on",
    "whether it asks for the rest of a body only, with a range request, when the address changes",
    ("on", "off"),
)
_DISCARDED = "/dev/null"
_PARTIAL_BODY = "/tmp/partial-body"

_STATUS = re.compile(r"^  HTTP/(?P<version>\S+) (?P<status>\d{3})", re.MULTILINE)
_SAVED = re.compile(r"\[(?P<size>\d+)(?:/\d+)?\] -> ")


class Wget(Client):
    """wget: one request."""

    name = "wget"
    package = "wget"
    protocols = frozenset({Protocol.H1})
    workloads = (Download, Migration)
    knobs = (RESUME, RETRY_PAUSE)
    adjustments = (
        Adjustment("wget", "/etc/hosts", "the server", "no time is spent on name resolution"),
        Adjustment(
            "wget",
            "--tries",
            f"1, by a shell that starts it up to {TRIES} times when the address changes",
            "it goes on (--continue) or starts over, as the study asks, after the same pause as others",
        ),
    )

    @override
    def start(self, flow: Flow) -> Started:
        argv: tuple[str, ...] = (
            "wget",
            "--no-config",
            "--no-hsts",
            "--no-verbose",
            "--server-response",
            "--tries=1",
            f"--ca-certificate={CA_FILE}",
        )
        bodies = flow.body_files
        target = bodies[0] if bodies else _DISCARDED
        if flow.workload.migrates:
            if self.knob("resume", flow.host) == "on":
                argv = (*argv, "--continue")
                target = bodies[0] if bodies else _PARTIAL_BODY
            argv = started_again(argv, self.knob("retry_pause", flow.host))
        argv = (*argv, f"--output-document={target}", *flow.urls)
        env = secrets_environment(flow)
        return Started(
            (Program(self.name, flow.namespace, argv, env),),
            hosts_file(flow.address),
            bodies,
        )

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        file = directory / f"{self.name}.err"
        text = read_text(file, exact=False) if file.exists() else ""
        answers, saved = list(_STATUS.finditer(text)), list(_SAVED.finditer(text))
        if ended.exit_status != 0 or not answers or not saved:
            return Measurement(
                error=f"wget: {last_words(directory, self.name)} (exit status {ended.exit_status})"
            )
        last, size = answers[-1], int(saved[-1]["size"])
        if last["version"] != "1.1":
            return Measurement(error=f"it spoke HTTP/{last['version']}, not h1")
        resumed = last["status"] == "206" and len(answers) > 1
        if error := answer_error(200 if resumed else int(last["status"]), size, flow, directory):
            return Measurement(error=error)
        # It tells no times; it ends with the last byte, and computing takes no virtual time.
        total_s = ended.at_ns / 1e9
        return Measurement(total_s=total_s, bytes=size, each_s=(total_s,))
