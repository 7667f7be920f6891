"""The senders that are tried: a server's program, the transport it sends over, and its congestion control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headway.errors import WrongInputError, nearest
from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.programs.base import Server
from headway.programs.outside import OutsideServer, adapter_of
from headway.programs.registry import SERVERS
from headway.study.merging import merged
from headway.study.user_programs import OutsideProgram

QUIC, TCP = "h3", "h2"
PROTOCOLS = (QUIC, TCP)
_KERNEL = ("cubic", "reno", "bbr", "prague")
"""Controllers of the lab kernel's TCP that a family is about."""
_HYSTART_KNOBS = {"slow_start": "hystart++", "quic_hystart": "on"}
"""Values of knobs by which a program has HyStart++."""
_HYSTART_UNASKED = frozenset({"ngtcp2"})
"""Programs whose CUBIC has HyStart++ without a knob."""


@dataclass(frozen=True)
class TestedSender:
    """A server's program and what it sends over.

    Attributes:
        server: the program.
        protocol: `QUIC`, where the program's own congestion control sends, or `TCP`, where the kernel's does.
        asked: the congestion control that is tried in all cases; that of the case's family if empty.
    """

    server: Server
    protocol: str
    asked: str = ""

    @property
    def title(self) -> str:
        """In tables."""
        controller = f" {self.asked}" if self.asked else ""
        return f"{self.server.name} {self.protocol}{controller}"

    @property
    def slug(self) -> str:
        """As part of names of files."""
        return self.title.replace(" ", "-")

    @property
    def is_tcp(self) -> bool:
        """Whether the kernel sends."""
        return self.protocol == TCP

    @property
    def controllers(self) -> tuple[str, ...]:
        """Those that it has."""
        return _KERNEL if self.is_tcp else self.server.quic_congestion_controls

    def controller(self, family: CaseFamily) -> str | None:
        """The congestion control that is tried in cases of a family; None if it has none of that family."""
        if self.asked:
            return self.asked
        return next((name for name in family.controllers if name in self.controllers), None)

    def obstacle(self, case: ConformanceCase) -> str:
        """Why a case cannot be tried; empty if it can."""
        if self.is_tcp and case.over_tcp:
            return case.over_tcp
        if not self.asked and self.controller(case.family) is None:
            return f"it has none of {', '.join(case.family.controllers)}"
        if not self.asked and case.family is CaseFamily.HYSTART and not self._has_hystart:
            whose = "Linux has HyStart, not HyStart++" if self.is_tcp else "it has no HyStart++"
            return f"{whose}; --controller tries it all the same"
        return "" if self._tells_window else self._silence(case)

    @property
    def _tells_window(self) -> bool:
        return self.is_tcp or self.server.writes_qlog

    def _silence(self, case: ConformanceCase) -> str:
        """What a program without qlog does not tell that a case needs."""
        if case.family is CaseFamily.BBR:
            return "it writes no qlog, which would name BBR's states"
        if case.needs_window:
            return "it writes no qlog, and what is in flight does not tell this window"
        return ""

    @property
    def _has_hystart(self) -> bool:
        if self.is_tcp:
            return False
        return bool(self._hystart_knobs) or self.server.name in _HYSTART_UNASKED

    @property
    def _hystart_knobs(self) -> dict[str, str]:
        known = {knob.name: knob for knob in self.server.knobs}
        return {
            name: value
            for name, value in _HYSTART_KNOBS.items()
            if name in known and known[name].has(value)
        }

    def host(self, case: ConformanceCase) -> dict[str, object]:
        """The table ``[server]`` of a study for a case."""
        controller = self.controller(case.family)
        knobs: dict[str, str] = {}
        if not self.is_tcp and case.slow_start == "hystart++":
            knobs = self._hystart_knobs
        elif not self.is_tcp and any(
            knob.name == "slow_start" and self._chooses(knob.controls, controller)
            for knob in self.server.knobs
        ):
            knobs = {"slow_start": case.slow_start}
        own = {
            "program": self.server.name,
            "congestion_control": {"tcp" if self.is_tcp else "quic": controller},
            **({"knobs": knobs} if knobs else {}),
        }
        return merged(case.scenario.server, own)

    def _chooses(self, controls: Sequence[str], controller: str | None) -> bool:
        return not controls or controller in controls


def senders(
    names: Sequence[str],
    protocols: Sequence[str],
    asked: str,
    outside: Iterable[OutsideProgram] = (),
) -> list[TestedSender]:
    """The senders of programs that speak any of some protocols.

    Args:
        names: of servers.
        protocols: of `PROTOCOLS`.
        asked: a congestion control that is tried in all cases; empty for that of each case's family.
        outside: programs from outside that names may mean.

    Raises:
        WrongInputError: there is no such program, or it has no such protocol or congestion control.
    """
    known: Mapping[str, Server] = {**SERVERS, **_servers(outside)}
    chosen = []
    for name in names:
        if name not in known:
            hint = nearest(name, list(known), then=f"there are {', '.join(known)}")
            raise WrongInputError(f"no server {name!r}{hint}", where="--program")
        server = known[name]
        spoken = {str(protocol) for protocol in server.protocols}
        able = [protocol for protocol in protocols if protocol in spoken]
        if not able:
            raise WrongInputError(
                f"{name} speaks none of {', '.join(protocols)}", where="--program"
            )
        chosen += [TestedSender(server, protocol, asked) for protocol in able]
    if asked and not any(asked in sender.controllers for sender in chosen):
        theirs = (
            f"{sender.server.name} over {sender.protocol} has {', '.join(sender.controllers) or 'none'}"
            for sender in chosen
        )
        raise WrongInputError(
            f"none of the senders has {asked!r}; {'; '.join(theirs)}", where="--controller"
        )
    return [sender for sender in chosen if not asked or asked in sender.controllers]


def _servers(outside: Iterable[OutsideProgram]) -> dict[str, Server]:
    adapters = (adapter_of(program) for program in outside)
    return {adapter.name: adapter for adapter in adapters if isinstance(adapter, OutsideServer)}
