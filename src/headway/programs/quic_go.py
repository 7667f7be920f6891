"""quic-go: HTTP/3, by a client of ours in Go, which is an extra."""

from __future__ import annotations

import signal
from pathlib import Path

from headway.guest.orders import Ended, Program
from headway.programs.base import (
    CA_FILE,
    CLIENT,
    QLOG_DIRECTORY,
    Adjustment,
    Client,
    Measurement,
    Started,
    body_files,
    port,
    urls,
)
from headway.programs.client import in_new_directory, reported, secrets_environment
from headway.study.host import Protocol
from headway.study.model import Setting
from headway.study.workload import Download, Migration, Parallel

_EXTRA = "quic-go-client"
_CLIENT = f"/lab/extras/{_EXTRA}/{_EXTRA}"
_ANY_ADDRESS = "0.0.0.0"
"""To migrate to: the kernel chooses the address that the host has by then."""


class QuicGo(Client):
    """quic-go: all requests at once, on one connection; its one controller is NewReno."""

    name = "quic-go"
    package = "quic-go"
    extra = _EXTRA
    protocols = frozenset({Protocol.H3})
    workloads = (Download, Parallel, Migration)
    quic_congestion_controls = ("reno",)
    writes_qlog = True
    adjustments = (
        Adjustment(
            "quic-go",
            "receive windows",
            "16 MiB, 24 MiB",
            "flow control does not limit the transfer; its defaults begin at 512 kB",
        ),
    )

    def start(self, setting: Setting, address: str) -> Started:
        """See `Client.start`."""
        argv = [
            _CLIENT,
            f"--ca={CA_FILE}",
            f"--address={address}:{port(setting)}",
        ]
        if isinstance(setting.workload, Migration):
            argv.append(f"--migrate-to={_ANY_ADDRESS}")
        bodies = body_files(setting)
        argv += [f"--body={body}" for body in bodies]
        argv += urls(setting)
        if setting.capture.qlog:
            directory = f"{QLOG_DIRECTORY}/{CLIENT}"
            argv.insert(1, f"--qlog={directory}")
            argv = list(in_new_directory(directory, argv))
        env = secrets_environment(setting)
        program = Program(self.name, CLIENT, tuple(argv), env, migration_signal=signal.SIGUSR1)
        return Started((program,), bodies=bodies)

    def measure(self, setting: Setting, directory: Path, ended: Ended) -> Measurement:
        """See `Client.measure`."""
        return reported(directory / f"{self.name}.out", self.name, setting)
