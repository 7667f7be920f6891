"""Control pings and captures tell what the path did, to the packet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.validation import Crossing, load_evidence
from headway.diagnosis.validation.passage import passage
from headway.selftest.ideal import NEVER
from headway.study.path import Way
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

QUIC_PEP, TCP_PEP = {"program": "headway-quic-pep"}, {"program": "headway-tcp-pep"}
HOPS: list[dict[str, Any]] = [
    {"name": "proxy-st", "quic_pep": QUIC_PEP, "tcp_pep": TCP_PEP},
    {
        "name": "terminal",
        "path": {"delay": "16 ms", "rate": "20 Mbit/s", "loss": "1 %", "queue": "5 MB"},
    },
    {"name": "gateway"},
    {
        "name": "proxy-gw",
        "quic_pep": QUIC_PEP,
        "tcp_pep": TCP_PEP,
        "path": {"delay": "40 ms", "rate": "100 Mbit/s", "queue": "5 MB"},
    },
]
BYPASS = {"bypass": ["proxy-st", "proxy-gw"]}
CONTENDERS: dict[str, dict[str, Any]] = {
    "quic": {"protocol": "quic", **BYPASS},
    "quic-pep": {"protocol": "quic"},
    "tcp": {"protocol": "tcp", **BYPASS},
    "tcp-pep": {"protocol": "tcp"},
}


def satellite(**others: Any) -> dict[str, Any]:
    return {
        "client": {"program": "headway-perf"},
        "server": {"program": "headway-perf"},
        "workload": {"kind": "bulk", "size": "2 MB"},
        "control": {"pings": 20, "interval": "50 ms"},
        "capture": {"packets": True},
        "hops": HOPS,
        **others,
    }


def fates(run_directory: Path, way: Way) -> list[bool]:
    """Whether the first packet that was sent over the satellite arrived, and so on."""
    ends = (run_directory / f"{name}.pcapng" for name in ("proxy-st-upstream", "proxy-gw"))
    return [at is not None for at in passage(*ends, way, NEVER).arrived_ns]


def crossings(run_directory: Path) -> dict[str, Crossing]:
    found = load_evidence(run_directory)
    assert found
    return {one.between: one for one in found.crossings}


def test_all_contenders_of_a_seed_lose_the_same_packets(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    for name, setting in CONTENDERS.items():
        record = run_setting(satellite(**setting), name=name)
        assert (record.error, record.validation) == (None, "passed")
    for way, fewest in ((Way.DOWN, 1000), (Way.UP, 100)):
        found = [fates(tmp_path / name, way) for name in CONTENDERS]
        common = min(map(len, found))
        assert common > fewest
        assert len({tuple(sequence[:common]) for sequence in found}) == 1
        assert False in found[0][:common]


def test_captures_and_counters_tell_the_same_losses(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    record = run_setting(satellite(**CONTENDERS["tcp-pep"]))
    assert record.validation == "passed"
    found = crossings(tmp_path / "run")
    assert set(found) == {
        *("client > proxy-st", "proxy-st > proxy-gw", "proxy-gw > server"),
        *("server > proxy-gw", "proxy-gw > proxy-st", "proxy-st > client"),
    }
    assert all((one.missed, one.strangers, one.queue_drops) == (0, 0, 0) for one in found.values())
    assert all(one.unfinished == 0 for one in found.values())
    lost = {name: one.missing for name, one in found.items() if one.missing or one.path_drops}
    assert set(lost) == {"proxy-st > proxy-gw", "proxy-gw > proxy-st"}
    for between in lost:
        assert lost[between] == found[between].path_drops
    assert record.path_drops == lost["proxy-gw > proxy-st"]


def test_delays_are_those_of_the_path(run_setting: RunSetting, tmp_path: Path) -> None:
    record = run_setting(satellite(**CONTENDERS["quic-pep"]))
    assert record.control_rtt_min_ms is not None and record.control_rtt_max_ms is not None
    assert 112 <= record.control_rtt_min_ms <= record.control_rtt_max_ms < 112.01
    found = load_evidence(tmp_path / "run")
    assert found and found.echoes and found.rates
    assert record.control_lost == 20 - len(found.echoes.rtts_ms)
    least = {one.between: one.least_ms for one in found.crossings}
    assert least["proxy-gw > proxy-st"] == pytest.approx(16, abs=0.001)
    assert least["server > proxy-gw"] == pytest.approx(40, abs=0.001)
    assert least["proxy-st > client"] == pytest.approx(0, abs=0.001)


def test_a_standing_queue_uses_all_of_the_link(run_setting: RunSetting, tmp_path: Path) -> None:
    raw = {
        "protocol": "tcp",
        "client": {"program": "headway-perf"},
        "server": {"program": "headway-perf"},
        "workload": {"kind": "bulk", "duration": "8 s"},
        "path": {"rate": "10 Mbit/s", "rtt": "40 ms", "queue": "4 BDP"},
        "control": {"pings": 3},
    }
    record = run_setting(raw)
    assert (record.validation, record.control_lost) == ("passed", 0)
    found = load_evidence(tmp_path / "run")
    assert found and found.rates and found.rates.standing and found.rates.steady_mbit
    assert found.rates.busiest_mbit == pytest.approx(10, abs=0.02)
    assert found.rates.steady_mbit == pytest.approx(10 * 1448 / 1514, rel=0.02)
    assert not found.crossings


def test_pings_leave_an_empty_path_behind(run_setting: RunSetting) -> None:
    raw = {"protocol": "h2", "path": {"rate": "1 Mbit/s", "rtt": "100 ms"}}
    raw |= {"workload": {"size": "50 kB"}}
    plain = run_setting(raw, name="plain")
    pinged = run_setting(raw | {"control": {"pings": 50, "interval": "1 ms"}}, name="pinged")
    assert pinged.validation == "passed"
    assert pinged.connect_s == pytest.approx(plain.connect_s, abs=1e-5)
    assert pinged.total_s == pytest.approx(plain.total_s, abs=1e-4)
