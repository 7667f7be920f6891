"""quic-go: HTTP/3, by a client of ours in Go, which is an extra."""

from __future__ import annotations

import signal
from pathlib import Path

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.image.extras import find_extra
from headway.overriding import override
from headway.programs.base import CA_FILE, QLOG_DIRECTORY, Adjustment, Client, Flow, Started
from headway.programs.client import in_new_directory, reported, secrets_environment
from headway.programs.measurement import Measurement
from headway.programs.uploads import answer_file, answers_directory, content_file
from headway.study.host import Protocol
from headway.study.upload import Upload
from headway.study.workload import Download, Migration, Parallel


class QuicGo(Client):
    """quic-go: all requests at once, on one connection; its one controller is NewReno."""

    name = "quic-go"
    package = "quic-go"
    extra: str = "quic-go-client"
    protocols = frozenset({Protocol.H3})
    digests = True
    workloads = (Download, Parallel, Migration, Upload)
    quic_congestion_controls = ("reno",)
    writes_qlog = True
    adjustments: tuple[Adjustment, ...] = (
        Adjustment(
            "quic-go",
            "receive windows",
            "16 MiB, 24 MiB",
            "flow control does not limit the transfer; its defaults begin at 512 kB",
        ),
    )

    @override
    def start(self, flow: Flow) -> Started:
        argv = [
            find_extra(self.extra).guest_program,
            f"--ca={CA_FILE}",
            f"--address={flow.socket_address}",
        ]
        if flow.workload.migrates:
            # The kernel chooses the address that the host has by then, unless it is known.
            target = flow.second_address or flow.address.family.unspecified
            argv.append(f"--migrate-to={target}")
        uploads = isinstance(flow.workload, Upload)
        if uploads:
            argv += [f"--upload={content_file(flow)}", f"--body={answer_file()}"]
        elif flow.compares_bodies:
            argv.append("--digest")
        argv += flow.urls
        if flow.capture.qlog:
            directory = f"{QLOG_DIRECTORY}/{flow.namespace}"
            argv.insert(1, f"--qlog={directory}")
            argv = list(in_new_directory(directory, argv))
        if uploads:
            argv = list(in_new_directory(answers_directory(), argv))
        env = secrets_environment(flow)
        program = Program(
            self.name, flow.namespace, tuple(argv), env, migration_signal=signal.SIGUSR1
        )
        return Started((program,))

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        return reported(directory / f"{self.name}.out", self.name, flow)


class QuicGo054(QuicGo):
    """quic-go 0.54.1 of August 2025."""

    name = "quic-go-0.54"
    extra = "quic-go-client-0.54"
    adjustments = tuple(adjustment.of("quic-go-0.54") for adjustment in QuicGo.adjustments)
