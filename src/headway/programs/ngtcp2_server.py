"""ngtcp2's example server, gtlsserver: HTTP/3, with GnuTLS."""

from __future__ import annotations

from headway.contract.program import Program
from headway.overriding import override
from headway.programs.base import (
    CERTIFICATE_FILE,
    KEY_FILE,
    QLOG_DIRECTORY,
    RANDOM_DEVICE,
    RETRY,
    Adjustment,
    Knob,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.programs.keyexchange import GNUTLS_GROUPS, KEY_EXCHANGE, key_exchange, ngtcp2_options
from headway.study.capture import Capture
from headway.study.host import Host, Protocol


class Ngtcp2Server(Server):
    """gtlsserver, the example server of ngtcp2.

    It skips packet numbers at random, as RFC 9000, section 21.4, advises.
    """

    name = "ngtcp2"
    package = "ngtcp2-server"
    protocols = frozenset({Protocol.H3})
    quic_congestion_controls = ("cubic", "reno", "bbr")
    writes_qlog = True
    knobs = (
        Knob("initial_rtt", "333ms", "round trip time that is assumed before one is measured"),
        Knob("ack_threshold", "2", "packets after which one is acknowledged at once"),
        RETRY,
        key_exchange("takes", *GNUTLS_GROUPS),
        Knob("pmtud", "on", "whether packets grow to what the path carries", ("on", "off")),
    )
    adjustments = (
        Adjustment(
            "ngtcp2", "--timeout", "600s", "the run's limit decides when to give up, not the server"
        ),
        Adjustment(
            "ngtcp2", "--initial-pkt-num", "0", "a random one would not follow from the run's seed"
        ),
    )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        qlogs = f"{QLOG_DIRECTORY}/{listener.namespace}"
        argv = [
            *_in_new_directory(qlogs),
            "gtlsserver",
            "--quiet",
            "--htdocs=/lab/www",
            f"--cc={self.quic_congestion_control(host)}",
            f"--initial-rtt={self.knob('initial_rtt', host)}",
            f"--ack-thresh={self.knob('ack_threshold', host)}",
            "--timeout=600s",
            "--initial-pkt-num=0",
            f"--qlog-dir={qlogs}",
            *ngtcp2_options(self.knob(KEY_EXCHANGE, host)),
        ]
        if self.knob("retry", host) == "on":
            argv.append("--validate-addr")
        if self.knob("pmtud", host) == "off":
            argv.append("--no-pmtud")
        argv += [listener.address, "443", KEY_FILE, CERTIFICATE_FILE]
        program = Program(
            f"{listener.namespace}-ngtcp2",
            listener.namespace,
            tuple(argv),
            env={"LD_PRELOAD": RANDOM_DEVICE},
            service=True,
            listens=served_on(listener),
        )
        return Started((program,))


def _in_new_directory(path: str) -> tuple[str, ...]:
    """Words before a command that make a directory for it first."""
    return ("sh", "-c", 'mkdir -p "$1"; shift; exec "$@"', "sh", path)
