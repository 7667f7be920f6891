"""headway-tcp-pep, Headway's own TCP PEP: splits TCP connections, transparently for both ends."""

from __future__ import annotations

from headway.overriding import override
from headway.programs.base import Adjustment, Started
from headway.programs.knobfile import knobs_of
from headway.programs.native import service, without_limits
from headway.programs.pep import Interception, TcpPep
from headway.study.capture import Capture
from headway.study.hop import Pep
from headway.study.host import Host

_KERNELS_CHOICE = "auto"


class HeadwayTcpPep(TcpPep):
    """Headway's own TCP PEP, after the model of PEPsal.

    It accepts a connection at once; what the client sends waits until the server's half is
    established, too. Initial windows are those of the host's routes.
    """

    name = "headway-tcp-pep"
    package = "headway-tcp-pep"
    knobs = knobs_of("headway-tcp-pep")
    side_knobs = frozenset({"buffer", "notsent_lowat"})
    adjustments = (
        Adjustment(
            "headway-tcp-pep",
            "source port",
            "the client's",
            "the server sees the address and port that it would see without the PEP",
        ),
        without_limits("headway-tcp-pep"),
    )

    @override
    def intercept(self, interception: Interception, pep: Pep, capture: Capture) -> Started:
        argv = (
            f"--listen={interception.family.unspecified.at(interception.port)}",
            "--limits=off",
            f"--copy={self.knob('copy', pep)}",
            *self._side("client", pep.towards_client),
            *self._side("server", pep.towards_server),
            f"--log=/lab/run/{interception.namespace}-{self.name}.jsonl",
        )
        return service(self, interception.namespace, argv, (f"tcp:{interception.port}",))

    def _side(self, side: str, host: Host) -> list[str]:
        options = [f"--{side}-congestion-control={host.tcp_congestion_control}"]
        for name in ("buffer", "notsent_lowat"):
            value = self.knob(name, host)
            if value != _KERNELS_CHOICE:
                options.append(f"--{side}-{name.replace('_', '-')}={value}")
        return options
