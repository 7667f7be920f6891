"""What a run's samples are judged by: when the response came, and over which hops."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from headway.lab.network import Leg, Network
from headway.programs.base import CLIENT, SERVER, Flow, Measurement
from headway.study.chain import host_names, sections
from headway.study.model import Setting
from headway.study.path import Direction, RateSchedule
from headway.study.path import Path as NetworkPath

TRANSFER_FILE = "transfer.json"


@dataclass(frozen=True)
class Hop:
    """A sender of responses, and the path from it to the next receiver towards the client.

    Routers on the way, and programs that do not split its connections, are part of the path.

    Attributes:
        sender: namespace of the host that sends.
        receiver: namespace of the host that its responses go to.
        queue_device: where the path's narrowest link has its queue.
        loss_devices: where its links lose packets, the receiver's first.
        rate_mbit: rate of the narrowest link, Mbit/s; None if there is none or it changes.
        rtt_s: round-trip propagation delay of the path.
        delay_s: one-way propagation delay from the sender all the way to the client.
    """

    sender: str
    receiver: str
    queue_device: str
    loss_devices: tuple[str, ...]
    rate_mbit: float | None
    rtt_s: float
    delay_s: float

    @property
    def name(self) -> str:
        """From where to where its data go."""
        return f"{self.sender} > {self.receiver}"


@dataclass(frozen=True)
class Transfer:
    """When the first and the last byte of the response came, its hops and its flows.

    Times are seconds from the workload's start, None if there was no such byte. The client's hop is
    the first; flows are those of a bulk workload. What counts begins at ``began_s``.
    """

    start_s: float | None
    end_s: float | None
    hops: tuple[Hop, ...]
    flows: tuple[Flow, ...] = ()
    began_s: float = 0

    def save(self, run_directory: Path) -> None:
        """Keep it in the run's directory, for `read_series`."""
        (run_directory / TRANSFER_FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, run_directory: Path) -> Transfer:
        """Read it from the run's directory.

        Raises:
            FileNotFoundError: it was not kept.
        """
        raw = json.loads((run_directory / TRANSFER_FILE).read_text())
        hops = [Hop(**{**hop, "loss_devices": tuple(hop["loss_devices"])}) for hop in raw["hops"]]
        flows = [Flow(**{**flow, "bytes": tuple(flow["bytes"])}) for flow in raw.get("flows", ())]
        times = raw["start_s"], raw["end_s"]
        return cls(*times, tuple(hops), tuple(flows), raw.get("began_s", 0))


def transfer_of(setting: Setting, network: Network, measured: Measurement) -> Transfer:
    """The transfer of a run."""
    names = host_names(setting, CLIENT, SERVER)
    hops: list[Hop] = []
    for section in sections(setting):
        before_s = hops[-1].delay_s if hops else 0.0
        legs = network.legs[section.receiver : section.sender]
        sender, receiver = names[section.sender], names[section.receiver]
        hops.append(_hop(sender, receiver, section.path, legs, before_s))
    start_s, end_s = (
        None if moment_s is None else measured.began_s + moment_s
        for moment_s in (measured.ttfb_s, measured.total_s)
    )
    return Transfer(start_s, end_s, tuple(hops), measured.flows, measured.began_s)


def _hop(
    sender: str, receiver: str, path: NetworkPath, legs: tuple[Leg, ...], before_s: float
) -> Hop:
    places = [place for leg in legs for place in leg.down]
    directions = [link.down for link in path.links]
    narrow = narrowest(directions)
    return Hop(
        sender=sender,
        receiver=receiver,
        queue_device=places[directions.index(narrow)].queue_device,
        loss_devices=tuple(place.loss_device for place in places),
        rate_mbit=narrow.first_rate.mbit if narrow.first_rate and _is_constant(narrow) else None,
        rtt_s=path.rtt.s,
        delay_s=before_s + sum(direction.delay.s for direction in directions),
    )


def narrowest(directions: list[Direction]) -> Direction:
    """The direction with the least rate at the start; the first one if none has a rate."""
    limited = [direction for direction in directions if direction.first_rate is not None]
    return min(limited, key=lambda d: d.first_rate or 0) if limited else directions[0]


def _is_constant(direction: Direction) -> bool:
    return (
        isinstance(direction.rate, RateSchedule)
        and len(direction.rate.steps) == 1
        and not any(change.rate for change in direction.changes)
    )
