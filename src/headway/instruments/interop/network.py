"""The lab's network of a scenario: two hosts, and what lies between them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headway.contract.faults import FaultLink
from headway.contract.orders import Capture, Namespace
from headway.instruments.interop.scenario import Scenario
from headway.lab.network import NetworkLayout, two_hosts
from headway.study.family import Family, HostAddress
from headway.study.fault import Fault
from headway.study.host import Host
from headway.study.network import CLIENT, SERVER
from headway.study.path import Path, Way
from headway.study.units import Duration

LEFT, RIGHT = "trace_node_left.pcap", "trace_node_right.pcap"
"""Captures at the client and at the server, as the runner names them."""
_SWITCH = ".disable_ipv6"


@dataclass(frozen=True)
class Laid:
    """A scenario's network.

    Attributes:
        layout: of the lab, of the scenario's first family.
        namespaces: hosts and routers, with the addresses of all families.
        fault_links: directions to whose packets something happens.
        captures: at both hosts.
        servers: the server's addresses, by family.
    """

    layout: NetworkLayout
    namespaces: tuple[Namespace, ...]
    fault_links: tuple[FaultLink, ...]
    captures: tuple[Capture, ...]
    servers: dict[Family, HostAddress]


def laid(scenario: Scenario, seed: int, until: Duration) -> Laid:
    """Lay a scenario's network out for a run of a seed, whose changes are planned up to a time."""
    path = scenario_path(scenario, until)
    fault = Fault() if scenario.meets_packets else None
    host = Host(program="")
    each = {
        family: two_hosts(path, host, host, seed, until, family, fault=fault)
        for family in scenario.families
    }
    layouts = [layout for layout, _ in each.values()]
    first = layouts[0]
    return Laid(
        layout=first,
        namespaces=tuple(
            _joined(spaces)
            for spaces in zip(*(layout.namespaces for layout in layouts), strict=True)
        ),
        fault_links=tuple(_fated(link, scenario, seed) for link in first.fault_links),
        captures=tuple(
            _capture(first, name, file) for name, file in ((CLIENT, LEFT), (SERVER, RIGHT))
        ),
        servers={family: leg.right_address for family, (_, leg) in each.items()},
    )


def scenario_path(scenario: Scenario, until: Duration) -> Path:
    """What a study would say of the path."""
    ends_s = until.ns / 1e9
    stated: dict[str, object] = {
        "rate": f"{scenario.rate_mbit} Mbit/s",
        "rtt": f"{2 * scenario.delay_ms} ms",
        "queue": f"{scenario.queue_packets} packets",
    }
    if scenario.blackouts:
        on_s, off_s = scenario.blackouts
        starts = _times(on_s, on_s + off_s, ends_s)
        stated["blackouts"] = [[f"{start} s", f"{start + off_s} s"] for start in starts]
    if scenario.rebindings:
        what = "address" if scenario.rebinds_address else "port"
        times = _times(*scenario.rebindings, ends_s)
        stated["nat"] = {"rebindings": [{"at": f"{at} s", "what": what} for at in times]}
    return Path.model_validate(stated)


def _times(first_s: float, interval_s: float, ends_s: float) -> list[float]:
    count = max(int((ends_s - first_s) / interval_s) + 1, 0)
    return [first_s + number * interval_s for number in range(count)]


def _joined(spaces: tuple[Namespace, ...]) -> Namespace:
    """A host with what it has in the networks of all families."""
    first = spaces[0]
    sysctls = {name: value for space in spaces for name, value in space.sysctls.items()}
    if len(spaces) > 1:
        # What keeps a host of IPv4 alone from IPv6.
        sysctls = {name: value for name, value in sysctls.items() if not name.endswith(_SWITCH)}
    lines = tuple(dict.fromkeys(line for space in spaces for line in space.ip))
    return replace(first, sysctls=sysctls, ip=lines)


def _fated(link: FaultLink, scenario: Scenario, seed: int) -> FaultLink:
    way = Way.UP if link.name.endswith(Way.UP) else Way.DOWN
    return replace(link, fault=scenario.packet_fault(way, seed), kept=0)


def _capture(layout: NetworkLayout, name: str, file: str) -> Capture:
    (device,) = next(host.devices for host in layout.hosts if host.name == name)
    return Capture(name, device, file)
