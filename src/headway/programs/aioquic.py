"""aioquic: HTTP/3, by a client of ours that runs on it (``headway.guest.aioquic_client``)."""

from __future__ import annotations

import signal
from pathlib import Path

from headway.guest.orders import Ended, Program
from headway.programs.base import (
    CLIENT,
    QLOG_DIRECTORY,
    SECRETS_FILE,
    Adjustment,
    Client,
    Measurement,
    Started,
    body_files,
    port,
    urls,
)
from headway.programs.client import IDLE_LIMIT_S, reported
from headway.study.host import Protocol
from headway.study.model import Setting
from headway.study.workload import Download, Migration, Parallel

_CLIENT = ("python3", "-B", "-m", "headway.guest.aioquic_client")


class Aioquic(Client):
    """aioquic: all requests at once, on one connection."""

    name = "aioquic"
    package = "python3-aioquic"
    protocols = frozenset({Protocol.H3})
    workloads = (Download, Parallel, Migration)
    quic_congestion_controls = ("reno", "cubic")
    adjustments = (
        Adjustment(
            "aioquic",
            "max_stream_data, max_data",
            "16 MiB, 24 MiB",
            "flow control does not limit the transfer; its default is 1 MiB each",
        ),
        Adjustment(
            "aioquic",
            "ranges in an ACK frame",
            "64, the newest",
            "it lists every gap there ever was, and fails when the list outgrows a packet",
        ),
        Adjustment(
            "aioquic",
            "idle_timeout",
            f"{IDLE_LIMIT_S} s",
            "a failed migration ends within that time",
        ),
    )

    def start(self, setting: Setting, address: str) -> Started:
        """See `Client.start`."""
        argv = [
            *_CLIENT,
            f"--address={address}",
            f"--port={port(setting)}",
            f"--congestion-control={self.quic_congestion_control(setting.client)}",
            f"--idle-timeout={IDLE_LIMIT_S}",
        ]
        if setting.capture.packets:
            argv.append(f"--secrets=/lab/run/{SECRETS_FILE}")
        if setting.capture.qlog:
            argv.append(f"--qlog={QLOG_DIRECTORY}/{CLIENT}")
        bodies = body_files(setting)
        argv += [f"--body={body}" for body in bodies]
        program = Program(
            self.name,
            CLIENT,
            (*argv, *urls(setting)),
            {"PYTHONPATH": "/lab/code"},
            migration_signal=signal.SIGUSR1,
        )
        return Started((program,), bodies=bodies)

    def measure(self, setting: Setting, directory: Path, ended: Ended) -> Measurement:
        """See `Client.measure`."""
        return reported(directory / f"{self.name}.out", self.name, setting)
