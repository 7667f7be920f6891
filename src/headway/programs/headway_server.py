"""headway-server, Headway's own server: HTTP/1.1, HTTP/2 and HTTP/3, with every knob."""

from __future__ import annotations

from headway.contract.program import Program
from headway.errors import WrongInputError
from headway.overriding import override
from headway.programs.accesslogs import access_log
from headway.programs.base import (
    CERTIFICATE_FILE,
    KEY_FILE,
    QLOG_DIRECTORY,
    RETRY,
    SITE_DIRECTORY,
    Adjustment,
    Listener,
    Server,
    Started,
    served_on,
)
from headway.programs.keyexchange import ANY, KEY_EXCHANGE
from headway.programs.knobfile import adjustments_of, knobs_of
from headway.programs.native import (
    COMPRESSION_KNOBS,
    HEADER_COUNTS,
    NO_TOKENS,
    PAGE_TABLE_BYTES,
    NativeQuic,
    check_compression,
    command,
    compression_options,
    quic_knobs,
    quic_knobs_with,
    service,
    without_limits,
)
from headway.programs.uploads import application_options
from headway.study.capture import Capture
from headway.study.family import narrowest
from headway.study.host import HTTP, Host, Protocol
from headway.study.workload import Workload

BROWSER_DECIDES = "browser"
"""Value of the knob `priorities`: the others say that the server decides."""
_WITHOUT_CLASSES = ("round-robin", "batched-round-robin:")
"""How values begin that ask nothing of a request."""


class HeadwayServer(NativeQuic, Server):
    """Headway's own server: what limits it is what a study says."""

    name = "headway-server"
    package = "headway-server"
    protocols = HTTP
    offers_several = True
    replays = True
    has_several_addresses = True
    takes_uploads = True
    has_application = True
    talks = True
    takes_websockets = HTTP
    gives_tickets = True
    adjustments = (
        *adjustments_of("headway-server", "quic"),
        without_limits("headway-server"),
        Adjustment(
            "headway-server",
            "--no-dates",
            "set",
            "answers are the same whenever they are given; the program's own default is to date them",
        ),
    )
    knobs = (
        *knobs_of("headway-server"),
        *COMPRESSION_KNOBS,
        RETRY,
        *quic_knobs_with({"keep_tokens": NO_TOKENS}),
    )

    @override
    def check(self, host: Host, workload: Workload) -> None:
        """Beside what its QUIC asks: a server that decides has to know what is asked for, and has no other order."""
        super().check(host, workload)
        pages = workload.replay.site is not None
        check_compression(self, host, PAGE_TABLE_BYTES if pages else 0)
        if self.knob("early_hints", host) == "on" and workload.replay.waits is None:
            reason = "answers that take no time have nothing before them: state workload.waits"
            raise WrongInputError(reason, where="knobs.early_hints")
        decides = self.knob("priorities", host)
        if decides == BROWSER_DECIDES:
            return
        if "scheduler" in host.knobs:
            raise WrongInputError(
                f"priorities = {decides!r} decides the order, too: leave out the scheduler",
                where="knobs.scheduler",
            )
        if not pages and not decides.startswith(_WITHOUT_CLASSES):
            raise WrongInputError(
                f"{decides!r} needs a browser's statement of what it asks for (sec-fetch-dest): it is for pages",
                where="knobs.priorities",
            )

    @override
    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        argv = [
            *_listening(listener),
            *(
                (f"--site={SITE_DIRECTORY}",)
                if listener.site
                else ("--root=/lab/www", "--no-dates")
            ),
            self._order(host),
            f"--notsent-lowat={self.knob('notsent_lowat', host)}",
            f"--h2-frame-bytes={self.knob('h2_frame_bytes', host)}",
            f"--early-data={16384 if self.knob('early_data', host) == 'on' else 0}",
            *(["--early-hints"] if self.knob("early_hints", host) == "on" else []),
            *compression_options(self, host),
            f"--limits=off{self._validation(host)}{_IDLE if listener.revisited else ''}",
            f"--quic={quic_knobs(self, host, narrowest(listener.every_address))}",
            f"--qlog={QLOG_DIRECTORY}/{listener.namespace}",
        ]
        if (group := self.knob(KEY_EXCHANGE, host)) != ANY:
            argv.append(f"--key-exchange={group}")
        argv += thinking(listener)
        if listener.application:
            argv += [*application_options(listener.application), *self._windows(host)]
            if (record := listener.application.record_bytes) is not None:
                argv.append(f"--tls-record-bytes={record}")
        if listener.site or compression_options(self, host):
            argv.append(f"--header-counts=/lab/run/{listener.namespace}{HEADER_COUNTS}")
        if listener.hears_players:
            argv.append(f"--access-log={access_log(listener)}")
        if listener.protocols != {Protocol.H3}:
            argv.append(f"--congestion-control={host.tcp_congestion_control}")
        return service(self, listener.namespace, argv, served_on(listener))

    def _windows(self, host: Host) -> list[str]:
        names = ("h2_stream_window", "h2_connection_window")
        return [f"--{name.replace('_', '-')}={self.knob(name, host)}" for name in names]

    def _validation(self, host: Host) -> str:
        """Clients are sent a Retry if no handshake at all may go on without proof of their address."""
        return ",half-open-share=0%" if self.knob("retry", host) == "on" else ""

    def _order(self, host: Host) -> str:
        """In which order responses are sent, by what the browser says or what the server decides."""
        decides = self.knob("priorities", host)
        if decides == BROWSER_DECIDES:
            return f"--scheduler={self.knob('scheduler', host)}"
        return f"--priorities={decides}"


_IDLE = ",idle-time=60s"
"""For clients that come back later: their connections are closed meanwhile, as servers do."""


def thinking(listener: Listener) -> list[str]:
    """What makes a headway-server wait before it answers, as a site's application would."""
    if (waits := listener.waits) is None:
        return []
    argv = [f"--think-time={waits.median.s:.9f}"]
    if waits.document is not None:
        argv.append(f"--document-time={waits.document.s:.9f}")
    if waits.spread:
        seed = waits.seed(listener.seed, listener.protocols)
        argv += [f"--think-spread={waits.spread}", f"--think-seed={seed}"]
    return argv


def replay_for_proxy(listener: Listener, port: int) -> Started:
    """A headway-server that replays the site to a proxy on the same host, over cleartext HTTP/1.1.

    For servers that cannot replay themselves. What a client's scheme is, X-Forwarded-Proto tells.

    Args:
        listener: the proxy.
        port: of the loopback address. Where ports are above 1024, connections are not taken for
            those of clients.
    """
    argv = (
        command(HeadwayServer.name),
        f"--plain=127.0.0.1:{port}",
        f"--site={SITE_DIRECTORY}",
        "--limits=off",
        *thinking(listener),
        # There is nothing to be scheduled, and a response handed over at once costs fewer calls.
        "--notsent-lowat=0",
    )
    name = f"{listener.namespace}-replay"
    return Started(
        (Program(name, listener.namespace, argv, service=True, listens=(f"tcp:{port}",)),)
    )


def _listening(listener: Listener) -> list[str]:
    """Where to listen, and for what."""
    if not listener.tls:
        return [f"--plain={address.at(80)}" for address in listener.every_address]
    return [
        *(f"--listen={address.at(443)}" for address in listener.every_address),
        f"--cert={CERTIFICATE_FILE}",
        f"--key={KEY_FILE}",
        f"--protocols={','.join(sorted(listener.protocols, reverse=True))}",
    ]
