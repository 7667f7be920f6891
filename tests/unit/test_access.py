"""Frames and capacity on demand: what a study may say, what a lab is asked, and the closed forms of both."""

from __future__ import annotations

from typing import Any

import pytest

from headway.lab.network import two_hosts
from headway.selftest.granted import arrivals, lost_share
from headway.study.access import CarrierAccess
from headway.study.host import Host
from headway.study.path import Path
from headway.study.units import Duration

MS = 1_000_000
CARRIER = 1_000_000
"""1 Mbit/s: a frame of 1000 bytes takes 8 ms."""


def access(**demand: Any) -> CarrierAccess:
    raw: dict[str, Any] = {"frame": "1 kB"}
    if demand:
        raw["demand"] = {"superframe": "20 ms", "latency": "200 ms", **demand}
    return CarrierAccess.model_validate(raw)


def times_ms(carrier: CarrierAccess, *sent: tuple[float, int]) -> list[float]:
    packets = [(int(at_ms * MS), size) for at_ms, size in sent]
    arrived = arrivals(carrier, CARRIER, packets, 10_000 * MS)
    return [arrived[number] / MS for number in range(len(sent))]


def test_a_packet_arrives_with_the_frame_in_which_it_ends() -> None:
    assert times_ms(access(), (5, 100)) == [13]
    assert times_ms(access(), (0, 700), (0, 700), (0, 700)) == [8, 16, 24]
    # The third frame begins at 16 ms: what comes before that goes with it, what comes later does not.
    assert times_ms(access(), (0, 2500), (3, 100), (17, 100)) == [24, 24, 32]


def test_a_constant_rate_sends_at_once() -> None:
    assert times_ms(access(constant="100 kbit/s"), (5, 1000), (5, 500)) == [85, 165]


def test_a_volume_waits_for_its_request_its_grant_and_its_superframe() -> None:
    on_demand = access(volume_based="10 kB")
    assert times_ms(on_demand, (5, 100)) == [20 + 200 + 20]
    assert times_ms(on_demand, (5, 1000), (5, 1000)) == [230, 240]
    # Every third superframe asks: the first that does begins at 60 ms.
    assert times_ms(access(volume_based="10 kB", every=3), (5, 100)) == [60 + 200 + 20]
    # A latency is that of whole superframes.
    assert times_ms(access(volume_based="10 kB", latency="201 ms"), (5, 100)) == [20 + 220 + 20]


def test_a_rate_is_that_of_what_waits_and_ends_when_nothing_does() -> None:
    """A frame waits at 20 ms: 400 kbit/s from 220 ms on. Its 8 kbit are sent after 20 ms of them."""
    assert times_ms(access(rate_based="400 kbit/s"), (5, 100)) == [240]
    # The grant is over after that superframe, which asked for nothing more: a packet at 300 ms asks again.
    assert times_ms(access(rate_based="400 kbit/s"), (5, 100), (300, 100)) == [240, 540]


def test_as_many_packets_are_lost_as_have_a_part_in_a_lost_frame() -> None:
    carrier = access()
    assert lost_share(carrier, 0.01, 500, 1000) == pytest.approx(0.01)
    # Every packet of 1500 bytes lies in two frames.
    assert lost_share(carrier, 0.01, 1500, 1000) == pytest.approx(1 - 0.99**2)
    # Of packets of 1514 bytes in frames of 2030, three in four lie in two frames: a packet is lost 1.75 times as often.
    kosek = CarrierAccess.model_validate({"frame": "2030 B"})
    assert lost_share(kosek, 1e-6, 1514, 100_000) / 1e-6 == pytest.approx(1.7456, abs=1e-3)


def satellite(**keys: Any) -> dict[str, Any]:
    carriers = {
        "forward": {"bandwidth": "50 MHz", "modcod": "QPSK 1/4"},
        "return": {"bandwidth": "20 MHz", "standard": "dvb-s2", "modcod": "QPSK 1/4"},
    }
    return {"satellite": {"delay": "16 ms", "overhead": "none", **carriers, **keys}}


def test_a_satellites_frames_are_those_of_its_modcod() -> None:
    """QPSK 1/4: 32,400 symbols and a header of 90, of half a bit each."""
    path = Path.model_validate({**satellite(lost="frames"), "loss": "1 %"})
    (link,) = path.links
    assert link.down.access == link.up.access
    assert link.down.access is not None
    assert link.down.access.frame == round(32_490 * 0.5 / 8) == 2031


def test_without_frames_and_demand_a_satellite_is_as_it_was() -> None:
    (link,) = Path.model_validate(satellite()).links
    assert link.down.access is None
    dumped = Path.model_validate(satellite()).model_dump_json()
    assert "access" not in dumped
    assert "demand" not in dumped
    assert '"lost"' not in dumped


def test_a_lab_is_asked_for_carriers_instead_of_shapers_and_their_losses() -> None:
    demand = {"constant": "100 kbit/s", "rate_based": "5 Mbit/s", "latency": "610 ms"}
    carriers = satellite(lost="frames")["satellite"]
    carriers["return"]["demand"] = demand
    path = Path.model_validate({"satellite": carriers, "loss": "1 %", "queue": "6000 packets"})
    host = Host(program="x")
    network, _ = two_hosts(path, host, host, 1, Duration(10**9))
    down, up = sorted(network.carrier_links, key=lambda link: link.name)
    assert (down.framing.rate_bit_s, up.framing.rate_bit_s) == (20_000_000, 8_000_000)
    assert down.framing.limit_packets == 6000
    assert down.framing.demand is None
    assert up.framing.demand is not None
    assert up.framing.demand.latency_superframes == 24
    assert down.framing.lost_of_2_63 == round(2**63 / 100)
    assert down.framing.seed != up.framing.seed
    words = " ".join(line for namespace in network.namespaces for line in namespace.tc)
    assert "htb" not in words
    assert words.count("loss random 0%") == 2
