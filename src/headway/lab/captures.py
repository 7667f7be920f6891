"""Captures of a run: where they are taken, what is counted beside them, what files they become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from headway.contract.artifact import read_text
from headway.contract.orders import Capture
from headway.lab.network import NetworkLayout
from headway.lab.pcapng import to_pcapng
from headway.planning.deployment import DeployedFlow, Deployment
from headway.planning.narrowlink import NarrowLink, narrow_link
from headway.planning.topology import Leg
from headway.programs.base import SECRETS_FILE

_MISSED = re.compile(r"^(\d+) packets? dropped by kernel", re.MULTILINE)
_PCAP = ".pcap"
CAPTURE_ENDINGS = (_PCAP, f"{_PCAP}ng")
_SUFFIXES = ("", "-upstream")
"""What the names of captures on the first two devices of a host end with, that towards the client first."""


def captures(deployment: Deployment, network: NetworkLayout) -> tuple[Capture, ...]:
    """All that a setting asks for; a device that is asked for twice has one."""
    asked = deployment.setting.capture
    of_hosts = _of_hosts(deployment, network) if asked.packets else ()
    of_pacing = chain.from_iterable(map(_of_pacing, deployment.flows)) if asked.pacing else ()
    of_questions = chain.from_iterable(map(_of_questions, deployment.flows))
    return tuple(dict.fromkeys((*of_hosts, *of_pacing, *of_questions)))


def _of_hosts(deployment: Deployment, network: NetworkLayout) -> Iterator[Capture]:
    """One on every device of every host; routers of links have none."""
    hosts = {node.name for node in deployment.nodes}
    for namespace in network.namespaces:
        if namespace.name in hosts:
            for place, device in enumerate(namespace.devices):
                yield Capture(namespace.name, device, f"{_stem(namespace.name, place)}{_PCAP}")


def _stem(host: str, place: int) -> str:
    """Name of the capture on one of a host's devices, by its place among them."""
    return f"{host}{_SUFFIXES[place]}" if place < len(_SUFFIXES) else f"{host}-{place + 1}"


def _of_pacing(flow: DeployedFlow) -> Iterator[Capture]:
    """Where a flow's packets leave the sender, and where they come to the narrowest link."""
    if link := narrow_link(flow):
        for host, device, file in zip(
            (link.segment.far.name, link.entry_host),
            (link.sender_device, link.entry_device),
            pacing_files(link),
            strict=True,
        ):
            yield Capture(host, device, Path(file).with_suffix(_PCAP).name)


def _of_questions(flow: DeployedFlow) -> Iterator[Capture]:
    """Where a client's questions to a resolver leave it, before the path may lose or double them."""
    for leg in flow.resolving[:1]:
        device = leg.wires[0].left_device
        file = Path(questions_file(flow)).with_suffix(_PCAP).name
        yield Capture(flow.asked.namespace, device, file)


def questions_file(flow: DeployedFlow) -> str:
    """Name of the capture of what a client asks a resolver."""
    return f"{_stem(flow.asked.namespace, flow.resolving[0].wires[0].places[0])}.pcapng"


def pacing_files(link: NarrowLink) -> tuple[str, str]:
    """Names of the captures at a link's sender, and before its queue."""
    return capture_files(link.segment.legs)[1], f"{link.entry_device}.pcapng"


def convert_captures(directory: Path, flows: Iterable[DeployedFlow]) -> None:
    """Make every capture of a run's directory pcapng, with the TLS secrets of all its flows."""
    secrets = [directory / flow.directory / SECRETS_FILE for flow in flows]
    for capture in directory.glob("*.pcap"):
        if capture.stat().st_size:
            to_pcapng(capture, secrets, capture.with_suffix(".pcapng"))
        capture.unlink()


def missed_packets(run_directory: Path, devices: Iterable[str]) -> int:
    """How many packets the captures of some devices found no room for, as they say at their end."""
    missed = 0
    for device in devices:
        file = run_directory / f"tcpdump-{device}.err"
        match = _MISSED.search(read_text(file) if file.exists() else "")
        missed += int(match[1]) if match else 0
    return missed


def capture_files(legs: Sequence[Leg]) -> tuple[str, str]:
    """Names of the captures at both ends of legs in a row."""
    first, last = legs[0].wires[0], legs[-1].wires[-1]
    return (
        f"{_stem(first.left, first.places[0])}.pcapng",
        f"{_stem(last.right, last.places[1])}.pcapng",
    )
