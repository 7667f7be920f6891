"""Flows that compete: they share as theory and published measurements say, and repeat."""

from __future__ import annotations

from math import log
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from headway.columns import OF_THE_MACHINE
from headway.columns.record import FlowRecord
from headway.pages.load import read_load
from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting
from tests.lab.sites import two_hosts

pytestmark = pytest.mark.lab

PERF = {"program": "headway-perf"}
SHARED: dict[str, Any] = {
    "path": {"rate": "20 Mbit/s", "rtt": "40 ms", "queue": "1 BDP"},
    "client": PERF,
    "server": PERF,
    "workload": {"kind": "bulk", "duration": "20 s"},
}


def flows_of(directory: Path) -> dict[str, FlowRecord]:
    return {one.flow: one for one in FLOW_RECORDS.load(directory).flows}


def test_two_equal_flows_of_tcp_share_fairly(run_setting: RunSetting) -> None:
    record = run_setting(SHARED | {"flows": {"tcp": {"protocol": "tcp", "count": 2}}})
    assert record.error is None
    # 0.9 is one third against two: of seeds 1 to 8, 60 s each, it was 0.91 to 1.00, since a flow of CUBIC takes long
    # to give up what it has.
    assert record.jain_index is not None and record.jain_index > 0.9
    assert record.goodput_mbit is not None and 18 < record.goodput_mbit < 20


def test_a_run_takes_as_long_as_the_flows_that_count(run_setting: RunSetting) -> None:
    """A flow in the background slows them down, and neither its time nor its bytes are theirs."""
    ends = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
    study = {"path": SHARED["path"], "workload": {"size": "1 MB"}, **ends}
    bulk = {key: SHARED[key] for key in ("client", "server", "workload")}
    other = {"protocol": "tcp", "background": True, **bulk}
    alone = run_setting(study | {"flows": {"own": {}}})
    beside = run_setting(study | {"flows": {"own": {}, "other": other}})
    assert alone.error is None and beside.error is None
    assert alone.total_s is not None and beside.total_s is not None
    assert 1.2 * alone.total_s < beside.total_s < 10
    assert alone.bytes == beside.bytes == 1_000_000
    assert beside.each_s == (beside.total_s,)


def test_flows_that_are_sent_up_share_as_those_that_come_down(run_setting: RunSetting) -> None:
    """What was uploaded is told by servers, of which each flow has its own."""
    flows = {"tcp": {"protocol": "tcp"}, "quic": {"protocol": "quic"}}
    workload = SHARED["workload"] | {"direction": "upload", "duration": "5 s"}
    record = run_setting(SHARED | {"flows": flows, "workload": workload})
    assert record.error is None
    assert record.goodput_mbit is not None and 18 < record.goodput_mbit < 20


def test_bbr_takes_more_than_its_share_of_a_shallow_buffer(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """Hock et al. 2017, Ware et al. 2019: below 1 BDP of buffer, BBR v1 leaves little to CUBIC."""
    path = SHARED["path"] | {"queue": "0.5 BDP"}
    flows = {
        "bbr": {"protocol": "tcp", "server": {"congestion_control": "bbr"}},
        "cubic": {"protocol": "tcp"},
    }
    record = run_setting(SHARED | {"path": path, "flows": flows})
    assert record.error is None
    shares = {name: one.share or 0 for name, one in flows_of(tmp_path / "run").items()}
    assert shares["bbr"] > 0.75
    assert sum(shares.values()) == pytest.approx(1)


def test_reno_favours_the_shorter_way(run_setting: RunSetting, tmp_path: Path) -> None:
    """Rates are as the inverse of round-trip times to a power of 1 (losses met by either alone, Mathis et al.
    1997) to 2 (losses met by both, Lakshman and Madhow 1997)."""
    path = SHARED["path"] | {"rtt": "20 ms", "queue": "50 kB"}
    reno = {"protocol": "tcp", "server": {"congestion_control": "reno"}}
    flows = {"near": reno, "far": reno | {"access": {"rtt": "60 ms"}}}
    workload = {"kind": "bulk", "duration": "60 s"}
    exponents = []
    for seed in range(1, 6):
        setting = SHARED | {
            "path": path,
            "flows": flows,
            "workload": workload,
            "variation": "phases",
        }
        record = run_setting(setting, seed=seed, name=f"seed-{seed}")
        assert record.error is None and record.first_ratio is not None
        found = flows_of(tmp_path / f"seed-{seed}")
        near_ms, far_ms = found["near"].srtt_p50_ms, found["far"].srtt_p50_ms
        assert near_ms and far_ms and far_ms - near_ms == pytest.approx(60, abs=6)
        exponents.append(log(record.first_ratio) / log(far_ms / near_ms))
    # Of single runs of a minute, it was 1.2 to 2.1.
    assert 1 < fmean(exponents) < 2


def test_eight_flows_repeat_to_the_byte(run_setting: RunSetting, tmp_path: Path) -> None:
    flows = {
        "cubic": {"protocol": "tcp", "count": 3},
        "quic": {"protocol": "quic", "count": 3, "start": "1 s"},
        "web": {
            "protocol": "tcp",
            "background": True,
            "workload": {"kind": "arrivals", "load": "2 Mbit/s", "duration": "10 s"},
        },
        "others": {
            "protocol": "tcp",
            "background": True,
            "workload": {"kind": "on-off", "duration": "10 s", "on": "2 s", "off": "2 s"},
        },
    }
    setting = SHARED | {"flows": flows, "workload": {"kind": "bulk", "duration": "10 s"}}
    told = []
    for name in ("first", "second"):
        record = run_setting(setting, name=name)
        assert record.error is None and record.flows == 8
        found = flows_of(tmp_path / name)
        assert found["web"].share is None and (found["web"].completion_p95_s or 0) > 0.08
        told.append([one.model_dump(exclude={*OF_THE_MACHINE, "run_id"}) for one in found.values()])
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("discipline", "times", "target_ms"),
    [
        ("codel", {}, 5),
        ("codel", {"target": "40 ms", "interval": "200 ms"}, 40),
        ("fq_codel", {"target": "40 ms", "interval": "200 ms"}, 40),
        ("cake", {"interval": "800 ms"}, 40),
        ("pie", {}, 15),
        ("pie", {"target": "50 ms"}, 50),
        ("fq_pie", {}, 15),
        ("fq_pie", {"target": "50 ms"}, 50),
        ("dualpi2", {}, 15),
        ("dualpi2", {"target": "50 ms"}, 50),
    ],
)
def test_queues_that_are_managed_keep_delays_near_their_target(
    run_setting: RunSetting, discipline: str, times: dict[str, str], target_ms: float
) -> None:
    """Linux's targets: CoDel 5 ms (RFC 8289), PIE and DualPI2 15 ms (RFC 8033, 9332); a tail would be at 200 ms."""
    path = SHARED["path"] | {"queue": {"bdp": 5, "discipline": discipline, **times}}
    flows = {"tcp": {"protocol": "tcp", "count": 2}}
    record = run_setting(SHARED | {"path": path, "flows": flows})
    assert record.error is None
    assert record.queue_delay_ms is not None
    assert 0.6 * target_ms < record.queue_delay_ms < 1.3 * target_ms
    assert record.utilisation is not None and record.utilisation > 0.9


@pytest.mark.parametrize("discipline", ["fq_codel", "pie", "dualpi2"])
def test_with_ecn_packets_are_marked_and_not_dropped(
    run_setting: RunSetting, tmp_path: Path, discipline: str
) -> None:
    queue = {"bdp": 5, "discipline": discipline}
    queue |= {} if discipline == "dualpi2" else {"ecn": True}
    ecn = {**PERF, "kernel": {"sysctls": {"net": {"ipv4": {"tcp_ecn": "1"}}}}}
    flows = {"tcp": {"protocol": "tcp", "client": ecn, "server": ecn}}
    path = SHARED["path"] | {"queue": queue}
    record = run_setting(SHARED | {"path": path, "flows": flows})
    assert record.error is None
    assert record.marked_down is not None and record.marked_down > 5
    assert flows_of(tmp_path / "run")["tcp"].retransmits == 0


def test_programs_on_several_hosts_do_not_meet_and_runs_repeat(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """Real programs with the same files and ports, on hosts of their own, over a parking lot."""
    nginx, curl = {"program": "nginx"}, {"program": "curl"}
    download = {"kind": "download", "size": "2 MB"}
    usual = {"client": curl, "server": nginx, "workload": download}
    setting = SHARED | {
        "hops": {"middle": {"name": "middle", "path": {"rate": "10 Mbit/s", "rtt": "20 ms"}}},
        "flows": {
            "h1": usual | {"protocol": "h1"},
            "h2": usual | {"protocol": "h2", "count": 2, "leaves": "middle"},
            "h3": usual | {"protocol": "h3", "start": "1 s", "access": {"rtt": "30 ms"}},
            "own": usual
            | {
                "protocol": "h3",
                "client": {"program": "headway-client"},
                "server": {"program": "headway-server"},
                "enters": "middle",
            },
            "bulk": {"protocol": "quic", "workload": {"kind": "bulk", "duration": "5 s"}},
        },
    }
    found = []
    for name in ("first", "second"):
        record = run_setting(setting, name=name)
        assert record.error is None
        flows = flows_of(tmp_path / name).values()
        assert [one.bytes for one in flows if one.flow != "bulk"] == [2_000_000] * 5
        unlike = {*OF_THE_MACHINE, "run_id"}
        found.append([one.model_dump(exclude=unlike) for one in flows])
    assert found[0] == found[1]
    h3 = next(one for one in found[0] if one["flow"] == "h3")
    assert (h3["start_s"], h3["rtt_ms"]) == (1, 90)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_download_is_ended_and_leaves_the_path_to_others(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    """Beside a flow of 20 s, one that would last for 80 s has half of the path for 8 s, and nothing from then on."""
    leaves = {
        "protocol": protocol,
        "client": {"program": "curl"},
        "server": {"program": "nginx"},
        "workload": {"kind": "download", "size": "100 MB"},
        "end": "8 s",
    }
    record = run_setting(SHARED | {"flows": {"stays": {"protocol": "tcp"}, "leaves": leaves}})
    assert record.error is None and record.bytes is None
    assert record.common_s == pytest.approx(8, abs=0.001)
    flows = flows_of(tmp_path / "run")
    assert flows["leaves"].total_s == pytest.approx(8, abs=0.001)
    assert 0.2 < (flows["leaves"].share or 0) < 0.8
    rest_mbit = (flows["stays"].bytes or 0) * 8e-6 - 8 * (flows["stays"].common_mbit or 0)
    assert rest_mbit / 12 > 0.9 * 20 * 1448 / 1514


def test_pages_are_loaded_beside_other_flows(run_setting: RunSetting, tmp_path: Path) -> None:
    """Two pages that come late to a long flow get less than a third each, and what they get is no more than there is."""
    page = {
        "protocol": "h3",
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
        "workload": {"kind": "page", "site": "objects-20x100kB"},
        "start": "5 s",
    }
    loads = {"page": page, "other": page | {"protocol": "h2"}}
    long = {"protocol": "tcp", "background": True, "workload": {"kind": "bulk", "duration": "20 s"}}
    alone = run_setting(SHARED | {"flows": {"page": page}}, name="alone")
    assert alone.error is None and alone.plt_s is not None and alone.objects == 21
    told = []
    for name in ("first", "second"):
        record = run_setting(SHARED | {"flows": loads | {"long": long}}, name=name)
        assert record.error is None
        flows = flows_of(tmp_path / name)
        times = [flows[flow].plt_s or 0 for flow in loads]
        assert (record.plt_s, record.speed_index_s) == max(
            (one.plt_s, one.speed_index_s) for one in (flows[flow] for flow in loads)
        )
        assert all(2 * alone.plt_s < time_s < 6 * alone.plt_s for time_s in times)
        assert sum(one.common_mbit or 0 for one in flows.values()) < 20
        told.append([one.model_dump(exclude={*OF_THE_MACHINE, "run_id"}) for one in flows.values()])
    assert told[0] == told[1]


def test_hosts_of_competing_pages_may_have_addresses_of_their_own(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """Two browsers load a page of two hosts, each from a server with two addresses of its own."""
    site = two_hosts(tmp_path)
    load = {
        "protocol": "h2",
        "client": {"program": "chromium"},
        "workload": {"kind": "page", "site": site, "origins": "own-addresses"},
    }
    flows = {
        "one": load | {"server": {"program": "nginx"}},
        "other": load | {"server": {"program": "headway-server"}, "protocol": "h3"},
    }
    record = run_setting(SHARED | {"flows": flows})
    assert record.error is None
    addresses = {
        name: {
            resource.remote_address
            for resource in read_load(tmp_path / "run" / "flows" / name).resources
            if resource.remote_address
        }
        for name in flows
    }
    assert addresses["one"] == {"10.200.2.1:443", "10.200.2.2:443"}
    assert addresses["other"] == {"10.200.4.1:443", "10.200.4.2:443"}


def test_competing_pages_may_have_been_visited_before(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """Between visits, each browser takes its host for one in another network, whatever its device is called."""
    load = {
        "protocol": "h3",
        "client": {"program": "chromium"},
        "server": {"program": "headway-server"},
        "workload": {"kind": "page", "site": two_hosts(tmp_path), "cache": "tickets"},
    }
    record = run_setting(SHARED | {"flows": {"one": load, "other": load}})
    assert record.error is None
    assert all(flow.plt_s for flow in flows_of(tmp_path / "run").values())


def test_a_flow_that_fails_is_named_by_the_others(run_setting: RunSetting, tmp_path: Path) -> None:
    impossible = {
        "protocol": "h2",
        "client": {"program": "curl"},
        "server": {"program": "nginx"},
        "workload": {"kind": "download", "size": "100 kB"},
        "server_access": {"blackouts": [["0 s", "400 s"]]},
    }
    setting = SHARED | {
        "workload": {"kind": "bulk", "duration": "5 s"},
        "flows": {"good": {"protocol": "tcp"}, "bad": impossible},
    }
    record = run_setting(setting)
    assert record.status == "failed"
    flows = flows_of(tmp_path / "run")
    assert (flows["good"].status, flows["good"].disturbed_by) == ("ok", "bad")
    assert flows["bad"].status == "failed"
    assert flows["bad"].error and record.error == f"bad: {flows['bad'].error}"
