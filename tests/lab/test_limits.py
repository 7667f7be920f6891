"""What limited a run, where physics says what it must have been."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record, TransferLimits
from headway.contract.orders import Orders
from headway.diagnosis.limits import limits_of
from headway.diagnosis.qlog import REDUCED_FILE
from headway.diagnosis.segment import observe
from headway.diagnosis.series import read_series
from headway.diagnosis.transfer import transfer_of
from headway.lab.bodies import served_bodies
from headway.lab.machine import Machine, SharedDirectory
from headway.planning.deploy import deploy
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from tests.deployed import flow_of, orders_of
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

SAMPLE_S = 0.1
CAUSES = [name for name in TransferLimits.model_fields if name.endswith("_s")]


def setting(protocol: str, size: str, server: dict[str, Any], **path: object) -> dict[str, object]:
    return {
        "protocol": protocol,
        "workload": {"size": size},
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms", **path},
        "server": {"program": "nginx", **server},
    }


def share(found: Record | TransferLimits, total_s: float, *causes: str) -> float:
    return sum(getattr(found, cause) for cause in causes) / total_s


def total(record: Record) -> float:
    """Duration of a run that went well, whose causes sum up to it."""
    assert record.error is None
    assert record.total_s is not None
    assert sum(getattr(record, cause) for cause in CAUSES) == pytest.approx(
        record.total_s, abs=SAMPLE_S
    )
    return record.total_s


@pytest.mark.parametrize(
    ("protocol", "server"), [("h2", "nginx"), ("h3", "nginx"), ("h3", "ngtcp2")]
)
def test_a_clean_path_is_limited_by_its_rate(
    run_setting: RunSetting, protocol: str, server: str
) -> None:
    record = run_setting(setting(protocol, "5 MB", {"program": server}, rtt="20 ms"))
    assert record.limited_by == "path"
    assert share(record, total(record), "path_s") > 0.9


@pytest.mark.parametrize(
    ("protocol", "program", "source"),
    [
        ("h2", "nginx", "tcp_info"),
        ("h3", "nginx", "counters"),
        ("h3", "ngtcp2", "qlog"),
        ("h3", "caddy", "qlog"),
    ],
)
def test_heavy_loss_limits_by_a_small_window_and_recovery(
    run_setting: RunSetting, protocol: str, program: str, source: str
) -> None:
    server = {"program": program, "congestion_control": "reno"}
    raw = setting(protocol, "1 MB", server, loss="4 %") | {"capture": {"qlog": True}}
    record = run_setting(raw)
    assert record.limits_source == source
    assert record.limited_by in ("congestion window", "recovery")
    causes = ("cwnd_s", "recovery_s", "idle_recovery_s")
    assert share(record, total(record), *causes) > 0.85
    assert record.recovery_s


@pytest.mark.parametrize(
    ("protocol", "server"), [("h2", "nginx"), ("h3", "nginx"), ("h3", "ngtcp2")]
)
def test_a_short_transfer_over_a_long_fast_path_is_growth(
    run_setting: RunSetting, protocol: str, server: str
) -> None:
    raw = setting(protocol, "1 MB", {"program": server}, rate="1 Gbit/s", rtt="200 ms")
    record = run_setting(raw)
    assert record.limited_by == "growth"
    assert record.handshake_s == record.ttfb_s
    assert share(record, total(record), "growth_s", "handshake_s") > 0.9


def test_after_a_blackout_its_time_out_is_waited_for(run_setting: RunSetting) -> None:
    """Each time-out is twice the last, so that the first one to get through comes later than the path."""
    clear = run_setting(setting("h2", "2 MB", {}), name="clear")
    record = run_setting(setting("h2", "2 MB", {}, blackouts=[["1 s", "2 s"]]))
    assert (clear.idle_recovery_s, clear.outage_s) == (0, 0)
    assert record.outage_s == pytest.approx(1, abs=SAMPLE_S)
    assert record.idle_recovery_s is not None and record.timeouts is not None
    assert 0 < record.idle_recovery_s < total(record) - total(clear) - 1 + SAMPLE_S
    assert record.timeouts >= 2


def test_behind_a_proxy_the_narrow_side_is_named(run_setting: RunSetting) -> None:
    raw = setting("h2", "1 MB", {}, rate="100 Mbit/s", rtt="4 ms")
    narrow = {"rate": "5 Mbit/s", "rtt": "20 ms"}
    upstream = {"protocol": "h1", "tls": False, "path": narrow}
    record = run_setting(raw | {"proxy": {"program": "nginx", "upstream": upstream}})
    assert (record.limited_by, record.limited_section) == ("path", "server > proxy")
    assert share(record, total(record), "path_s") > 0.8


def limits_with(
    machine: Machine, directory: Path, raw: dict[str, object], change: Callable[[Orders], Orders]
) -> tuple[TransferLimits, float]:
    """The limits of a run whose orders were changed, and its duration."""
    chosen = Setting.model_validate(raw)
    shown = {"www": SharedDirectory(served_bodies(chosen.served_sizes))}
    outcome = machine.boot(change(orders_of(chosen)), directory, seed=1, shown=shown)
    ended = outcome.ended[-1]
    measured = CLIENTS[chosen.client.program].measure(flow_of(chosen), directory, ended)
    assert measured.total_s is not None, measured.error
    transfer = transfer_of(deploy(chosen, 1).only, measured)
    return limits_of(observe(directory, transfer), transfer), measured.total_s


def test_a_small_receive_window_is_named(machine: Machine, tmp_path: Path) -> None:
    """A window of about 32 kB carries a tenth of what the path does."""

    def small_window(orders: Orders) -> Orders:
        small = {"net.ipv4.tcp_rmem": "4096 32768 32768"}
        return replace(
            orders,
            namespaces=tuple(
                replace(ns, sysctls=ns.sysctls | small) if ns.name == "client" else ns
                for ns in orders.namespaces
            ),
        )

    raw = setting("h1", "1 MB", {}, rate="100 Mbit/s") | {"tls": False}
    found, total_s = limits_with(machine, tmp_path, raw, small_window)
    assert found.limited_by == "receive window"
    assert share(found, total_s, "rwnd_limited_s") > 0.7


def test_sampling_costs_no_virtual_time(machine: Machine, tmp_path: Path) -> None:
    raw = setting("h2", "1 MB", {}, loss="1 %")
    _, sampled_s = limits_with(machine, tmp_path / "with", raw, lambda orders: orders)
    found, total_s = limits_with(
        machine, tmp_path / "without", raw, lambda orders: replace(orders, sampling=None)
    )
    assert found == TransferLimits()
    assert total_s == pytest.approx(sampled_s, abs=20e-6)


@pytest.mark.parametrize("server", ["ngtcp2", "caddy"])
def test_real_qlogs_tell_the_windows_that_the_bottleneck_saw(
    run_setting: RunSetting, tmp_path: Path, server: str
) -> None:
    raw = setting("h3", "1 MB", {"program": server}, loss="1 %") | {"capture": {"qlog": True}}
    record = run_setting(raw)
    run = tmp_path / "run"
    (segment,) = read_series(run).segments
    assert segment.evidence == "qlog"
    windows = [window for window in segment.cwnd_bytes if window]
    assert min(windows) < max(windows) / 2
    # What is in flight fills the path's delay and its queue, and never more than the window, but for
    # two probes of a timeout (RFC 9002, section 7.5).
    assert max(flight or 0 for flight in segment.in_flight_bytes) <= max(windows) + 2 * 1500
    assert min(srtt for srtt in segment.srtt_ms[-20:] if srtt) >= 100
    assert record.path_drops is not None and record.path_drops > 5
    # A lost acknowledgement is not missed, and a probe of the path's MTU is lost by intent.
    assert record.retransmits == pytest.approx(record.path_drops, abs=4)
    reduced = read_series(run)
    (run / REDUCED_FILE).unlink()
    assert read_series(run) == reduced


def test_a_qlog_is_reduced_unless_the_study_asks_for_it(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    raw = setting("h3", "100 kB", {"program": "ngtcp2"})
    for keep in (False, True):
        record = run_setting(raw | {"capture": {"qlog": keep}}, name=str(keep))
        assert record.limits_source == "qlog"
        assert bool(list((tmp_path / str(keep)).glob("qlog/server/*qlog"))) is keep
        assert (tmp_path / str(keep) / REDUCED_FILE).stat().st_size < 10_000


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize("meanwhile", ["kept", "lost"])
def test_time_between_contacts_is_an_outage(
    run_setting: RunSetting, protocol: str, meanwhile: str
) -> None:
    """A second of one in a transfer of two."""
    contacts = {"spans": [["0 s", "0.5 s"], ["1.5 s", "60 min"]], "meanwhile": meanwhile}
    server = {"program": "headway-server", "knobs": {"key_exchange": "x25519"}}
    asked = setting(protocol, "1 MB", server, rtt="20 ms", down={"contacts": contacts})
    record = run_setting(asked)
    total(record)
    assert record.outage_s == pytest.approx(1, abs=2 * SAMPLE_S)
    assert record.limited_by == "outage"
