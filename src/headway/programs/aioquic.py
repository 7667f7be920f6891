"""aioquic: HTTP/3, by a client and a server of ours that run on it.

They are ``headway.aioquic.client`` and ``headway.aioquic.server``, on Debian's release or on one that stands beside it.
"""

from __future__ import annotations

import signal
from pathlib import Path

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.image.keys import all_layers
from headway.overriding import override
from headway.programs.base import (
    CERTIFICATE_FILE,
    KEY_FILE,
    QLOG_DIRECTORY,
    SECRETS_FILE,
    Adjustment,
    Client,
    Flow,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.programs.client import IDLE_LIMIT_S, reported
from headway.programs.measurement import Measurement
from headway.programs.uploads import answer_file, content_file
from headway.study.capture import Capture
from headway.study.host import Host, Protocol
from headway.study.upload import Upload
from headway.study.workload import Download, Migration, Parallel

_PYTHON = ("python3", "-B", "-m")
_CLIENT = (*_PYTHON, "headway.aioquic.client")
_SERVER = (*_PYTHON, "headway.aioquic.server")
_PACKAGE = "python3-aioquic"
_CONGESTION_CONTROLS = ("reno", "cubic")
_FEW_ACK_RANGES = Adjustment(
    "aioquic",
    "ranges in an ACK frame",
    "64, the newest",
    "it lists every gap there ever was, and fails when the list outgrows a packet",
)


def _environment(package: str) -> dict[str, str]:
    """Has Python find our code, and a release that stands beside Debian's before that."""
    releases = (layer.release for layer in all_layers().values())
    places = [
        release.guest_directory for release in releases if release and release.package == package
    ]
    return {"PYTHONPATH": ":".join([*places, "/lab/code"])}


class Aioquic(Client):
    """aioquic: all requests at once, on one connection."""

    name = "aioquic"
    package = _PACKAGE
    protocols = frozenset({Protocol.H3})
    digests = True
    chooses_interface = False
    workloads = (Download, Parallel, Migration, Upload)
    quic_congestion_controls = _CONGESTION_CONTROLS
    writes_qlog = True
    adjustments: tuple[Adjustment, ...] = (
        Adjustment(
            "aioquic",
            "max_stream_data, max_data",
            "16 MiB, 24 MiB",
            "flow control does not limit the transfer; its default is 1 MiB each",
        ),
        _FEW_ACK_RANGES,
        Adjustment(
            "aioquic",
            "idle_timeout",
            f"{IDLE_LIMIT_S} s",
            "a failed migration ends within that time",
        ),
    )

    @override
    def start(self, flow: Flow) -> Started:
        argv = [
            *_CLIENT,
            f"--address={flow.address}",
            f"--port={flow.port}",
            f"--congestion-control={self.quic_congestion_control(flow.host)}",
            f"--idle-timeout={IDLE_LIMIT_S}",
        ]
        if flow.capture.keeps_secrets:
            argv.append(f"--secrets=/lab/run/{SECRETS_FILE}")
        if flow.capture.qlog:
            argv.append(f"--qlog={QLOG_DIRECTORY}/{flow.namespace}")
        if flow.compares_bodies:
            argv.append("--digest")
        if flow.workload.payload.content is not None:
            argv += [f"--upload={content_file(flow)}", f"--body={answer_file()}"]
        program = Program(
            self.name,
            flow.namespace,
            (*argv, *flow.urls),
            _environment(self.package),
            migration_signal=signal.SIGUSR1,
        )
        return Started((program,))

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        return reported(directory / f"{self.name}.out", self.name, flow)


class AioquicServer(Server):
    """A server on aioquic, which sends the responses of a connection by turns, packet by packet."""

    name = "aioquic"
    package = _PACKAGE
    protocols = frozenset({Protocol.H3})
    quic_congestion_controls = _CONGESTION_CONTROLS
    writes_qlog = True
    takes_uploads = True
    adjustments: tuple[Adjustment, ...] = (
        _FEW_ACK_RANGES,
        Adjustment(
            "aioquic",
            "idle_timeout",
            "600 s",
            "the run's limit decides when to give up, not the server",
        ),
    )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        argv = [
            *_SERVER,
            f"--address={listener.address}",
            f"--certificate={CERTIFICATE_FILE}",
            f"--key={KEY_FILE}",
            f"--congestion-control={self.quic_congestion_control(host)}",
            "--idle-timeout=600",
        ]
        if listener.application:
            argv.append("--sink")
        if capture.qlog:
            argv.append(f"--qlog={QLOG_DIRECTORY}/{listener.namespace}")
        program = Program(
            f"{listener.namespace}-{self.name}",
            listener.namespace,
            (*argv, "/lab/www"),
            _environment(self.package),
            service=True,
            listens=served_on(listener),
        )
        return Started((program,))


class Aioquic0925(Aioquic):
    """aioquic 0.9.25 of January 2024."""

    name = "aioquic-0.9.25"
    package = "aioquic@0.9.25"
    also = (_PACKAGE,)
    adjustments = tuple(adjustment.of("aioquic-0.9.25") for adjustment in Aioquic.adjustments)


class Aioquic172(Aioquic):
    """aioquic 1.7.2, newer than Debian's."""

    name = "aioquic-1.7.2"
    package = "aioquic@1.7.2"
    also = (_PACKAGE,)
    adjustments = tuple(adjustment.of("aioquic-1.7.2") for adjustment in Aioquic.adjustments)


class AioquicServer0925(AioquicServer):
    """aioquic 0.9.25 of January 2024."""

    name = "aioquic-0.9.25"
    package = "aioquic@0.9.25"
    also = (_PACKAGE,)
    adjustments = tuple(adjustment.of("aioquic-0.9.25") for adjustment in AioquicServer.adjustments)


class AioquicServer172(AioquicServer):
    """aioquic 1.7.2, newer than Debian's."""

    name = "aioquic-1.7.2"
    package = "aioquic@1.7.2"
    also = (_PACKAGE,)
    adjustments = tuple(adjustment.of("aioquic-1.7.2") for adjustment in AioquicServer.adjustments)
