"""Keys that all parts replace for which they would hold, and PEPs that act in no run, are said to be without effect."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.study_keys import effect

CARRIERS: dict[str, Any] = {
    "forward": {"bandwidth": "50 MHz", "snr": "9 dB"},
    "return": {"bandwidth": "20 MHz", "snr": "8 dB"},
}
COSTS = dict.fromkeys(("call", "send_call", "receive_call", "wait_call", "switch"), "1 us")
PACKETS = dict.fromkeys(("buffer", "packet", "datagram", "kilobyte"), "1 us")


def notes(**parts: Any) -> list[str]:
    found = effect({"name": "s", **parts})
    assert not found.refused
    return sorted(note for note in found.notes if "without effect" in note)


def pep(protocol: str = "h3", bypass: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    own = {"program": "headway-quic-pep", **more}
    return {
        "protocol": protocol,
        "bypass": list(bypass),
        "server": {"program": "headway-server"},
        "client": {"program": "headway-client"},
        "hops": [{"name": "near", "quic_pep": own}],
    }


SIDE = {"congestion_control": {"quic": "bbr"}, "initial_window": {"quic": 20}}
OTHER = {"congestion_control": {"quic": "reno"}, "initial_window": {"quic": 40}}


@pytest.mark.parametrize("key", ["congestion_control", "initial_window"])
def test_what_both_sides_of_a_pep_state_is_nothing_for_the_pep(key: str) -> None:
    both = pep(**{key: SIDE[key]}, downstream=OTHER, upstream=OTHER)
    (note,) = notes(**both)
    assert note.startswith(f"hops.near.quic_pep.{key} is without effect over QUIC")


@pytest.mark.parametrize("sides", [{"downstream": OTHER}, {"upstream": OTHER}, {}])
def test_what_one_side_leaves_to_the_pep_has_an_effect(sides: dict[str, Any]) -> None:
    assert notes(**pep(**SIDE, **sides)) == []


def test_a_pep_that_no_run_goes_through_is_named() -> None:
    for idle in (pep("h2"), pep(bypass=("near",))):
        (note,) = notes(**idle)
        assert note.startswith("hops.near.quic_pep is without effect")


def test_a_pep_that_one_contender_goes_through_is_not() -> None:
    contenders = {"with": {}, "without": {"bypass": ["near"]}, "tcp": {"protocol": "h2"}}
    assert notes(**pep(), contenders=contenders) == []


def test_what_both_carriers_state_is_nothing_for_the_satellite() -> None:
    sky = {"delay": "250 ms", "snr": "12 dB", **CARRIERS}
    (note,) = notes(path={"satellite": sky})
    assert note.startswith("satellite.snr is without effect")
    without = {**sky, "return": {"bandwidth": "20 MHz"}}
    assert notes(path={"satellite": without}) == []


def test_a_carrier_that_sends_no_bursts_has_no_length_of_them() -> None:
    forward = {"bandwidth": "50 MHz", "burst": 536}
    raw = {"name": "s", "path": {"satellite": {"delay": "1 ms", **CARRIERS, "forward": forward}}}
    assert "sends no bursts" in effect(raw).refused


@pytest.mark.parametrize("left", ["call", "sent"])
def test_a_profile_beside_all_costs_is_nothing(left: str) -> None:
    every = {"profile": "desktop", **COSTS, "sent": PACKETS, "received": PACKETS}
    (note,) = notes(client={"program": "curl", "kernel": {"processor": every}})
    assert note.startswith("client.kernel.processor.profile is without effect")
    some = {key: value for key, value in every.items() if key != left}
    assert notes(client={"program": "curl", "kernel": {"processor": some}}) == []
