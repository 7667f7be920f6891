"""Requirements of settings on the programs of a flow: a row for each, with the key that asks it, of whom, and who is able.

What a study asks is refused, and the docs say who can what, from these rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Endpoint, Role
from headway.programs.base import Adapter
from headway.study.discovery import Alternative
from headway.study.dns import DnsTransport, RecordType
from headway.study.host import Protocol
from headway.study.messages import MessageCarrier, Messages
from headway.study.upload import Upload
from headway.study.workload import Migration, Workload


@dataclass(frozen=True)
class ProgramPlace:
    """Where programs are in a flow: their roles, and their ends towards the client."""

    roles: tuple[Role, ...]
    ends: Callable[[DeployedFlow], Sequence[Endpoint]]


@dataclass(frozen=True)
class Requirement:
    """What a setting may ask of a program that not every program can do.

    Attributes:
        what: as follows on "can"; ``{}`` stands for the value that is asked.
        key: that asks it; ``{end}`` stands for the program's table.
        of: where the programs are that must be able.
        asked: of one of them: the value; None or False if nothing is asked.
        able: whether a program is, by its adapter and the value.
        among: the values that there are, for the docs; none if another table has them.
    """

    what: str
    key: str
    of: ProgramPlace
    asked: Callable[[DeployedFlow, Endpoint], Any]
    able: Callable[[Any, Any], object]
    among: tuple[Any, ...] = (True,)

    def value(self, flow: DeployedFlow, end: Endpoint) -> Any:
        """What a flow asks of one of its programs; None if it asks nothing."""
        value = self.asked(flow, end) if end in self.of.ends(flow) else None
        return None if value is False else value

    def check(self, flow: DeployedFlow) -> None:
        """Check that the programs of a flow are able to do what it asks.

        Raises:
            WrongInputError: one is not; names the key, and those in its place that are.
        """
        for end in self.of.ends(flow):
            value = self.value(flow, end)
            if value is not None and not self.able(end.adapter, value):
                reason = f"{end.adapter.name} cannot {self.what.format(value)}; {_others(self, flow, end)}"
                raise WrongInputError(reason, where=self.key.format(end=end.where).lstrip("."))

    def those_able(self, programs: Mapping[str, Adapter], value: object) -> Iterator[str]:
        """Names of those of some programs that are able."""
        return (name for name, adapter in programs.items() if self.able(adapter, value))


KINDS = {
    Role.CLIENT: "clients",
    Role.REVERSE_PROXY: "proxies",
    Role.QUIC_PEP: "QUIC PEPs",
    Role.TCP_PEP: "TCP PEPs",
    Role.SERVER: "servers",
}
"""What programs of a role are called together."""


CLIENT = ProgramPlace((Role.CLIENT,), lambda flow: flow.programs[:1])
SERVER = ProgramPlace((Role.SERVER,), lambda flow: (flow.server,))
HTTP_SERVER = ProgramPlace((Role.SERVER, Role.REVERSE_PROXY), lambda flow: (flow.http_server,))
PROXIES = ProgramPlace(
    (Role.REVERSE_PROXY,),
    lambda flow: [end for end in flow.programs if end.role is Role.REVERSE_PROXY],
)
SERVERS = ProgramPlace(
    (Role.SERVER,), lambda flow: (flow.server, *(origin.end for origin in flow.origins))
)


def _workload(flow: DeployedFlow, _: Endpoint) -> tuple[Workload, Protocol]:
    return flow.setting.workload, flow.setting.protocol


def _asks_https(flow: DeployedFlow, _: Endpoint) -> bool:
    dns = flow.setting.dns
    return dns is not None and dns.https is not None


def _drops_https(flow: DeployedFlow, _: Endpoint) -> bool:
    dns = flow.setting.dns
    return dns is not None and RecordType.HTTPS in dns.drops


def _discovers(flow: DeployedFlow, _: Endpoint) -> bool:
    return flow.setting.discovery is not None


def _has_port(flow: DeployedFlow, _: Endpoint) -> bool:
    discovery = flow.setting.discovery
    return discovery is not None and discovery.alternative.port != Alternative().port


def _two_families(flow: DeployedFlow, _: Endpoint) -> bool:
    return flow.setting.dual_stack is not None


def _answered(flow: DeployedFlow, _: Endpoint) -> bool:
    """Whether an application answers; a server that only counts what comes needs none."""
    return flow.setting.workload.payload.needs_application


def _resumes(flow: DeployedFlow, _: Endpoint) -> bool:
    """Whether clients resume a TLS session of the server's own."""
    return flow.setting.workload.replay.needs_tickets and flow.http_end == flow.server.position


def _upload(flow: DeployedFlow) -> Upload | None:
    workload = flow.setting.workload
    return workload if isinstance(workload, Upload) else None


def _carrier(flow: DeployedFlow) -> MessageCarrier | None:
    workload = flow.setting.workload
    return workload.carrier if isinstance(workload, Messages) else None


def _websocket(flow: DeployedFlow, end: Endpoint) -> Protocol | None:
    """The version of HTTP over which it goes."""
    return end.protocol if _carrier(flow) is MessageCarrier.WEBSOCKET else None


_VERSIONS = (Protocol.H1, Protocol.H2, Protocol.H3)
REQUIREMENTS: tuple[Requirement, ...] = (
    Requirement(
        "do {0[0].kind} over {0[1]}",
        "workload.kind",
        CLIENT,
        _workload,
        lambda client, asked: client.can(*asked),
        among=(),
    ),
    Requirement(
        "ask a resolver for addresses",
        "dns",
        CLIENT,
        lambda flow, _: bool(flow.resolving),
        lambda client, _: client.asks_for,
    ),
    Requirement(
        "ask a resolver over {}",
        "dns.transport",
        CLIENT,
        lambda flow, _: flow.setting.dns and flow.setting.dns.transport,
        lambda client, transport: client.asks_for and transport in client.asks_over,
        among=tuple(DnsTransport),
    ),
    Requirement(
        "ask for HTTPS records",
        "dns.https",
        CLIENT,
        _asks_https,
        lambda client, _: RecordType.HTTPS in client.asks_for,
    ),
    Requirement(
        "ask for HTTPS records",
        "dns.drops",
        CLIENT,
        _drops_https,
        lambda client, _: RecordType.HTTPS in client.asks_for,
        among=(),
    ),
    Requirement(
        "find out the version of HTTP",
        "discovery",
        CLIENT,
        _discovers,
        lambda client, _: client.discovers_by,
    ),
    Requirement(
        "offer several versions of HTTP at once",
        "{end}.program",
        HTTP_SERVER,
        _discovers,
        lambda end, _: getattr(end, "offers_several", False),
    ),
    Requirement(
        "take QUIC on another port than TCP",
        "discovery.alternative.port",
        HTTP_SERVER,
        _has_port,
        lambda end, _: getattr(end, "offers_elsewhere", False),
    ),
    Requirement(
        "try the addresses of both families",
        "dual_stack",
        CLIENT,
        _two_families,
        lambda client, _: client.chooses_family,
    ),
    Requirement(
        "listen on several addresses",
        "{end}.program",
        HTTP_SERVER,
        _two_families,
        lambda end, _: getattr(end, "has_several_addresses", False),
    ),
    Requirement(
        "migrate to an interface that it is told",
        "workload.second_path",
        CLIENT,
        lambda flow, _: flow.second is not None,
        lambda client, _: client.chooses_interface and Migration in client.workloads,
    ),
    Requirement(
        "replay a site",
        "{end}.program",
        SERVERS,
        lambda flow, _: flow.setting.workload.replay.site is not None,
        lambda server, _: server.replays,
    ),
    Requirement(
        "give tickets",
        "workload.cache",
        SERVERS,
        _resumes,
        lambda server, _: server.gives_tickets,
    ),
    Requirement(
        "take uploads (POST)",
        "{end}.program",
        SERVER,
        lambda flow, _: _upload(flow) is not None,
        lambda server, _: server.takes_uploads,
    ),
    Requirement(
        "have an application behind it",
        "{end}.program",
        SERVER,
        _answered,
        lambda server, _: server.has_application,
    ),
    Requirement(
        "answer a request that goes on",
        "{end}.program",
        SERVER,
        lambda flow, _: _carrier(flow) not in (None, MessageCarrier.WEBSOCKET),
        lambda server, _: server.talks,
    ),
    Requirement(
        "take WebSocket over {}",
        "{end}.program",
        SERVER,
        _websocket,
        lambda server, version: version in server.takes_websockets,
        among=_VERSIONS,
    ),
    Requirement(
        "pass on WebSocket over {}",
        "{end}.program",
        PROXIES,
        _websocket,
        lambda proxy, version: version in proxy.passes_websockets,
        among=_VERSIONS,
    ),
    Requirement(
        "wait with content until the server wants it (Expect)",
        "workload.expect",
        CLIENT,
        lambda flow, _: (upload := _upload(flow)) is not None and upload.expect,
        lambda client, _: client.expects,
    ),
)
"""All of them, in the order in which they are looked at."""


def check_requirements(flow: DeployedFlow) -> None:
    """Check that the programs of a flow are able to do what its setting asks.

    Raises:
        WrongInputError: one is not.
    """
    for requirement in REQUIREMENTS:
        requirement.check(flow)


def _others(requirement: Requirement, flow: DeployedFlow, end: Endpoint) -> str:
    """Who can do it in a program's place, in words: those that can all that is asked there, if there are any."""
    speaking = [other for other in end.known.values() if end.protocol in other.protocols]
    value = requirement.value(flow, end)
    able = [other for other in speaking if requirement.able(other, value)]
    if not able:
        return f"no other {end.role.label} can over {end.protocol}"
    asked = [(each, value) for each in REQUIREMENTS if (value := each.value(flow, end)) is not None]
    fitting = [other for other in able if all(each.able(other, value) for each, value in asked)]
    return f"these {KINDS[end.role]} can: {', '.join(other.name for other in fitting or able)}"
