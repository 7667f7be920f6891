"""The host's side of one run: orders from a setting, a boot, and what came of it."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from headway.guest.orders import Migration, Namespace, Orders, Outcome, Pings, Round, Sampling
from headway.lab.bodies import body_file
from headway.lab.cancel import Cancellation
from headway.lab.captures import captures, convert_captures
from headway.lab.machine import Machine
from headway.lab.network import GLOBAL_SYSCTLS, Network, build_network
from headway.lab.station import Station, migrated_address
from headway.programs import CLIENTS, PROXIES, QUIC_PEPS, SERVERS, TCP_PEPS, adapters_of
from headway.programs.base import (
    CLIENT,
    SERVER,
    Client,
    Interception,
    Listener,
    Measurement,
    Origin,
    Started,
)
from headway.programs.origins import own_addresses
from headway.study.chain import Kind, Splitter, at_server, http_end, splitters
from headway.study.hop import Hop, Pep
from headway.study.host import Protocol
from headway.study.model import PING_FRAME_BYTES, Setting
from headway.study.plan import Run
from headway.study.units import Duration
from headway.study.variation import drawn, start_after_ns
from headway.study.workload import Migration as MigratingDownload
from headway.study.workload import Page, Workload
from headway.web.altsvc import advertising
from headway.web.library import find_site
from headway.web.replay import replay_tree

_SAMPLE_INTERVAL_NS = 100_000_000
_LATEST_REPLY_NS = 1_000_000_000
"""How long a ping's reply is awaited beyond twice the path's round-trip time."""


@dataclass(frozen=True)
class Result:
    """What came of a run: how the lab ended, what the client measured, and the wall time."""

    outcome: Outcome
    measurement: Measurement
    network: Network
    wall_s: float


def carry_out(
    run: Run,
    machine: Machine,
    directory: Path,
    *,
    cpu: int | None = None,
    cancellation: Cancellation | None = None,
) -> Result:
    """Boot a lab for a run and measure.

    Raises:
        Cancelled: the study was ended meanwhile.
    """
    began = time.perf_counter()
    network = network_of(run.setting, run.seed)
    orders = orders_for(run.setting, network, run.seed)
    boot = booting(run, machine, cpu, cancellation)
    client = CLIENTS[run.setting.client.program]
    if orders.migration and client.rehearses:
        orders = _rehearsed(orders, client, boot, directory / "rehearsal")
    outcome = boot(orders, directory)
    if run.setting.capture.packets:
        convert_captures(directory)
    return Result(
        outcome,
        measure(run.setting, orders, outcome, directory),
        network,
        time.perf_counter() - began,
    )


def booting(
    run: Run,
    machine: Machine,
    cpu: int | None,
    cancellation: Cancellation | None,
    *,
    rounds: int = 1,
) -> Callable[[Orders, Path], Outcome]:
    """What boots a lab for a run, or for several rounds of its setting."""
    setting = run.setting
    adapters = [adapter for adapter, _, _ in adapters_of(setting)]
    return partial(
        machine.boot,
        seed=run.seed,
        clock=setting.clock,
        cpu_limit=Duration(setting.limits.cpu.ns * rounds),
        cpu=cpu,
        virtual_tsc=any(adapter.reads_tsc for adapter in adapters),
        cancellation=cancellation,
        site=_replayed(setting.workload, setting.protocol),
        memory_mib=max(machine.memory_mib, *(adapter.memory_mib for adapter in adapters)),
    )


def _replayed(workload: Workload, protocol: Protocol) -> Path | None:
    """The replay tree of a page's site."""
    if not isinstance(workload, Page):
        return None
    site = find_site(workload.site)
    advertises = workload.alt_svc and protocol is Protocol.H3
    return replay_tree(advertising(site) if advertises else site)


def _rehearsed(
    orders: Orders, client: Client, boot: Callable[[Orders, Path], Outcome], directory: Path
) -> Orders:
    """Orders for a client that has to be told beforehand when its address will change."""
    migrated_ns = boot(orders, directory).migrated_ns
    *others, program = orders.programs
    if migrated_ns is not None:
        program = client.after_rehearsal(program, directory, migrated_ns)
    shutil.rmtree(directory)
    return replace(orders, programs=(*others, program))


def network_of(setting: Setting, seed: int) -> Network:
    """The network of a setting's hosts and paths, as runs of this seed meet them."""
    acting = {splitter.name: splitter for splitter in splitters(setting)}
    stations = [
        Station.end(CLIENT, setting.client),
        *(_station(hop, acting.get(hop.name)) for hop in setting.middleboxes),
        Station.end(SERVER, setting.server),
    ]
    return build_network(
        stations,
        drawn(setting, seed).paths,
        seed,
        setting.limits.virtual,
        offload=setting.offload,
    )


def _station(hop: Hop, splitter: Splitter | None) -> Station:
    """A hop in its place: without an acting program it is a router, and with a PEP, too."""
    if splitter is None:
        return Station(hop.name, forwards=True)
    if not isinstance(splitter.host, Pep):
        return Station.end(hop.name, splitter.host)
    return Station(
        hop.name,
        splitter.host.towards_client,
        splitter.host.towards_server,
        forwards=True,
        intercepts=_port(splitter) if splitter.kind is Kind.TCP_PEP else None,
    )


def orders_for(setting: Setting, network: Network, seed: int = 1) -> Orders:
    """All that the guest has to do for a setting and a seed."""
    acting = splitters(setting)
    client = CLIENTS[setting.client.program].start(setting, _addressed(acting, network))
    started = (*_services(setting, network), client)
    places = [place for leg in network.legs for place in leg.down]
    devices = [(place.queue_namespace, place.queue_device) for place in places]
    devices += [(place.loss_namespace, place.loss_device) for place in places]
    return Orders(
        namespaces=_with_addresses(network.namespaces, own_addresses(setting.workload)),
        ip=network.ip,
        sysctls=GLOBAL_SYSCTLS,
        files={path: text for one in started for path, text in one.files.items()},
        programs=tuple(program for one in started for program in one.programs),
        trace_links=network.trace_links,
        sampling=Sampling(
            _SAMPLE_INTERVAL_NS, tuple(devices), (SERVER, *(splitter.name for splitter in acting))
        ),
        captures=captures(setting, network) if setting.capture.packets else (),
        counted=network.counted,
        pings=_pings(setting, network),
        migration=_migration(setting, network),
        bodies=client.bodies,
        rounds=(round_of(setting, network, seed),),
        start_grid_ns=CLIENTS[setting.client.program].start_grid_ns,
        limit_ns=setting.limits.virtual.ns,
    )


def round_of(setting: Setting, network: Network, seed: int, directory: str = "") -> Round:
    """What is done for a run of this seed.

    A page's path is made anew for it, since the browser may have visited the page before.
    """
    return Round(
        directory=directory,
        tc=network.renewal if setting.site else {},
        changes=network.changes,
        start_after_ns=start_after_ns(setting, seed),
    )


def _services(setting: Setting, network: Network) -> tuple[Started, ...]:
    """The server, and what splits connections on the way to it, the server's neighbour first."""
    protocol, tls = at_server(setting)
    listener = Listener(
        SERVER,
        _addressed((), network),
        frozenset({protocol}),
        tls,
        site=setting.site is not None,
        more_addresses=own_addresses(setting.workload),
    )
    server = SERVERS[setting.server.program]
    services = [server.serve(listener, setting.server, setting.capture)]
    acting, asked = splitters(setting), (protocol, tls)
    for number, splitter in reversed(list(enumerate(acting))):
        behind = Origin(_addressed(acting[number + 1 :], network), *asked)
        services.append(_splitting(setting, network, splitter, behind))
        asked = splitter.protocol, splitter.tls
    return tuple(services)


def _splitting(setting: Setting, network: Network, splitter: Splitter, behind: Origin) -> Started:
    """A program that splits connections, and goes on to what is behind it."""
    host, capture = splitter.host, setting.capture
    listener = Listener(
        splitter.name,
        network.legs[splitter.position].right,
        frozenset({splitter.protocol}),
        splitter.tls,
    )
    if not isinstance(host, Pep):
        return PROXIES[host.program].forward(listener, behind, host, capture)
    if splitter.kind is Kind.QUIC_PEP:
        return QUIC_PEPS[host.program].split(listener, behind, host, capture)
    interception = Interception(splitter.name, _port(splitter))
    return TCP_PEPS[host.program].intercept(interception, host, capture)


def _with_addresses(
    namespaces: tuple[Namespace, ...], addresses: tuple[str, ...]
) -> tuple[Namespace, ...]:
    """The server's host has them beside its own."""
    *others, server = namespaces
    lines = tuple(f"addr add {address}/32 dev lo" for address in addresses)
    return (*others, replace(server, ip=(*server.ip, *lines)))


def _port(splitter: Splitter) -> int:
    return 443 if splitter.tls else 80


def _addressed(ahead: tuple[Splitter, ...], network: Network) -> str:
    """The address to connect to, given what lies ahead: the next program that has one of its own.

    TCP PEPs on the way are transparent: what is meant for the server reaches them.
    """
    positions = [splitter.position for splitter in ahead if splitter.is_addressed]
    return network.legs[positions[0] if positions else -1].right


def _migration(setting: Setting, network: Network) -> Migration | None:
    workload = setting.workload
    if not isinstance(workload, MigratingDownload):
        return None
    client = network.namespaces[0]
    device, old = client.devices[0], network.legs[0].left
    new, rate = migrated_address(old), setting.path.links[0].down.highest_rate
    return Migration(
        namespace=client.name,
        device=device,
        after_bytes=int(workload.after),
        old_address=old,
        ip=(f"addr add {new}/24 dev {device}", f"addr del {old}/24 dev {device}", *_again(client)),
        rate_bit_s=int(rate) if rate else None,
    )


def _again(client: Namespace) -> tuple[str, ...]:
    """The routes, which may have gone with the old address."""
    routes = [line for line in client.ip if line.startswith("route add ")]
    return tuple(line.replace("route add", "route replace") for line in routes)


def measure(setting: Setting, orders: Orders, outcome: Outcome, directory: Path) -> Measurement:
    """What the client says, unless a body is not what was served."""
    client = orders.programs[-1].name
    ended = next((one for one in outcome.ended if one.name == client), None)
    if ended is None:
        return Measurement(error=f"{client} did not end")
    measurement = CLIENTS[setting.client.program].measure(setting, directory, ended)
    if measurement.error:
        return measurement
    if orders.migration and outcome.migrated_ns is None:
        return Measurement(error="the download ended before the address changed")
    return _checked(measurement, setting, orders, outcome)


def _checked(
    measurement: Measurement, setting: Setting, orders: Orders, outcome: Outcome
) -> Measurement:
    """Every received body is compared with what was served."""
    missing = set(orders.bodies) - {body.path for body in outcome.bodies}
    if missing:
        return Measurement(error=f"there is no {', '.join(sorted(missing))}")
    if not outcome.bodies:
        return measurement
    served = hashlib.sha256(body_file(int(setting.body_size)).read_bytes()).hexdigest()
    for body in outcome.bodies:
        if body.size != int(setting.body_size):
            error = f"{body.path} has {body.size} bytes of {int(setting.body_size)}"
            return Measurement(error=error)
        if body.sha256 != served:
            return Measurement(error=f"{body.path} is not the body that was served")
    return measurement


def _pings(setting: Setting, network: Network) -> Pings | None:
    """Control pings to the host that ends the client's HTTP: no other is sure to route them."""
    if setting.control is None:
        return None
    end = http_end(setting)
    rtt_ns = sum(path.rtt.ns for path in setting.paths[:end] if path)
    return Pings(
        CLIENT,
        network.legs[end - 1].right,
        setting.control.pings,
        setting.control.interval.ns,
        2 * rtt_ns + _LATEST_REPLY_NS,
        PING_FRAME_BYTES,
    )
