"""The host's side of one run: orders from a setting, a boot, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from headway.guest.orders import Capture, Orders, Outcome, Sampling
from headway.lab.cancel import Cancellation
from headway.lab.machine import Machine
from headway.lab.network import GLOBAL_SYSCTLS, Network, build_network
from headway.lab.pcapng import to_pcapng
from headway.programs import CLIENTS, SERVERS
from headway.programs.base import CLIENT, SECRETS_FILE, SERVER, Measurement
from headway.study.model import Setting
from headway.study.plan import Run

_SAMPLE_INTERVAL_NS = 100_000_000


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
    network = build_network(
        run.setting.path,
        run.setting.client,
        run.setting.server,
        run.seed,
        run.setting.limits.virtual,
    )
    outcome = machine.boot(
        orders_for(run.setting, network),
        directory,
        seed=run.seed,
        clock=run.setting.clock,
        wall_limit=run.setting.limits.wall,
        cpu=cpu,
        cancellation=cancellation,
    )
    if run.setting.capture.packets:
        _convert_captures(directory)
    measurement = CLIENTS[run.setting.client.program].measure(run.setting, directory)
    return Result(outcome, measurement, network, time.perf_counter() - began)


def orders_for(setting: Setting, network: Network) -> Orders:
    """All that the guest has to do for a setting."""
    server = SERVERS[setting.server.program].serve(
        frozenset({setting.protocol}),
        tls=setting.tls,
        knobs=setting.server.knobs,
        address=network.server_address,
    )
    client = CLIENTS[setting.client.program].start(setting, network.server_address)
    devices = [(place.queue_namespace, place.queue_device) for place in network.down]
    devices += [(place.loss_namespace, place.loss_device) for place in network.down]
    return Orders(
        namespaces=network.namespaces,
        ip=network.ip,
        sysctls=GLOBAL_SYSCTLS,
        files={**server.files, **client.files},
        programs=(server.program, client.program),
        changes=network.changes,
        trace_links=network.trace_links,
        sampling=Sampling(_SAMPLE_INTERVAL_NS, tuple(devices), (SERVER,)),
        captures=_captures(network) if setting.capture.packets else (),
        limit_ns=setting.limits.virtual.ns,
    )


def _captures(network: Network) -> tuple[Capture, ...]:
    ends = {ns.name: ns.devices[0] for ns in network.namespaces if ns.name in (CLIENT, SERVER)}
    return tuple(Capture(name, device, f"{name}.pcap") for name, device in ends.items())


def _convert_captures(directory: Path) -> None:
    for capture in directory.glob("*.pcap"):
        if capture.stat().st_size:
            to_pcapng(capture, directory / SECRETS_FILE, capture.with_suffix(".pcapng"))
        capture.unlink()
