"""Carriers whose packets are sent in frames, as the host asks for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GrantRules:
    """How a terminal gets capacity: the keys of `headway.study.access.CapacityOnDemand`, 0 where it may not ask.

    ``latency_superframes`` lie between a request and its grant. It asks in every superframe whose number ``every_superframes`` divides.
    """

    superframe_ns: int
    latency_superframes: int
    every_superframes: int
    constant_bit_s: int
    rate_bit_s: int
    volume_bytes: int


@dataclass(frozen=True)
class Framing:
    """What a carrier is. Of 2^63 frames, ``lost_of_2_63`` are lost, by draws of a ``seed``.

    Its queue has room for ``limit_bytes`` and, unless that is 0, for ``limit_packets``.
    """

    rate_bit_s: int
    frame_bytes: int
    lost_of_2_63: int
    seed: int
    limit_bytes: int
    limit_packets: int
    demand: GrantRules | None


@dataclass(frozen=True)
class CarrierLink:
    """A direction whose packets are sent in frames.

    Packets that the namespace routes into ``device`` (a TUN device) are handed back to it when the frame in which
    they end has been sent, unless one with a part of them is lost. Superframes are counted from the workload's beginning.
    """

    name: str
    namespace: str
    device: str
    framing: Framing
