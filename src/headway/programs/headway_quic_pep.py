"""headway-quic-pep, Headway's own QUIC PEP: splits QUIC connections, stream by stream."""

from __future__ import annotations

from headway.overriding import override
from headway.programs.base import (
    CA_FILE,
    CERTIFICATE_FILE,
    EARLY_DATA,
    KEY_FILE,
    QLOG_DIRECTORY,
    SERVER_NAME,
    Listener,
    Origin,
    Started,
    served_on,
)
from headway.programs.knobfile import adjustments_of, knobs_of
from headway.programs.native import (
    NO_CHANGE,
    NO_TOKENS,
    QUIC_KNOBS,
    NativeQuic,
    quic_knobs,
    quic_knobs_with,
    service,
    without_limits,
)
from headway.programs.pep import QuicPep
from headway.study.capture import Capture
from headway.study.hop import Pep
from headway.study.host import Protocol

_NAME = "headway-quic-pep"
_POOL_PROTOCOLS = {Protocol.H3: "h3", Protocol.QUIC: "perf"}
"""The application protocols of studies' protocols; ``perf`` is that of headway-perf."""


class HeadwayQuicPep(NativeQuic, QuicPep):
    """Headway's own QUIC PEP, after the model of Kosek 2022.

    It reads the server's name and the application protocols from a client's ClientHello and passes
    them on, and shows the lab's certificate.
    """

    name = _NAME
    package = _NAME
    knobs = (
        *knobs_of(_NAME),
        *quic_knobs_with(
            {"migration": NO_CHANGE},
            "upstream",
            quic_knobs_with({"keep_tokens": NO_TOKENS}, "downstream"),
        ),
    )
    side_knobs = frozenset({EARLY_DATA, *(knob.name for knob in QUIC_KNOBS)})
    adjustments = (*adjustments_of(_NAME, _NAME, "quic"), without_limits(_NAME))

    @override
    def split(self, listener: Listener, behind: Origin, pep: Pep, capture: Capture) -> Started:
        client, server = pep.towards_client, pep.towards_server
        qlog = f"{QLOG_DIRECTORY}/{listener.namespace}"
        argv = [
            f"--listen={listener.socket_address}",
            f"--to={behind.socket_address}",
            f"--certificate={CERTIFICATE_FILE}",
            f"--key={KEY_FILE}",
            f"--ca={CA_FILE}",
            f"--server-name={SERVER_NAME}",
            "--limits=off",
            f"--mode={self.knob('mode', pep)}",
            f"--scheduler={self.knob('scheduler', pep)}",
            f"--connect-timeout={self.knob('connect_timeout', pep)}",
            f"--pool={self.knob('pool', pep)}",
            f"--pool-protocol={_POOL_PROTOCOLS[behind.protocol]}",
            f"--client-quic={quic_knobs(self, client, listener.address.family)}",
            f"--server-quic={quic_knobs(self, server, behind.address.family)}",
            f"--client-qlog={qlog}",
            f"--log=/lab/run/{listener.namespace}-{self.name}.jsonl",
        ]
        if capture.qlog:
            argv.append(f"--server-qlog={qlog}")
        for side, host in (("client", client), ("server", server)):
            if self.knob("early_data", host) == "on":
                argv.append(f"--{side}-early-data")
        return service(self, listener.namespace, argv, served_on(listener))
