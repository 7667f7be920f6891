"""Our controllers against the kernel's: same path, same initial window."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PATHS = [
    ("10 MB", {"rate": "10 Mbit/s", "rtt": "100 ms"}),
    ("10 MB", {"rate": "50 Mbit/s", "rtt": "40 ms"}),
    ("30 MB", {"rate": "20 Mbit/s", "rtt": "50 ms"}),
    ("2 MB", {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": "1000 packets"}),
]
# Linux has HyStart for CUBIC only, and paces neither without fq.
LIKE_LINUX = {
    "cubic": {"slow_start": "hystart", "pacing": "off"},
    "reno": {"slow_start": "classic", "pacing": "off"},
}


@pytest.mark.parametrize("control", ["cubic", "reno"])
@pytest.mark.parametrize(("size", "path"), PATHS)
def test_completion_is_the_kernels_within_three_percent(
    run_setting: RunSetting, control: str, size: str, path: dict[str, Any]
) -> None:
    total_s = {}
    for protocol in ("h2", "h3"):
        # The scheduler's small buffer is no part of the kernel's congestion control.
        knobs = {"notsent_lowat": "0"} if protocol == "h2" else LIKE_LINUX[control]
        raw = {
            "protocol": protocol,
            "client": {"program": "headway-client"},
            "server": {
                "program": "headway-server",
                "congestion_control": control,
                "knobs": knobs,
            },
            "workload": {"size": size},
            "path": path,
        }
        record = run_setting(raw, name=protocol)
        assert record.error is None
        assert record.total_s is not None
        assert record.tls_s is not None
        # From the end of the handshake, which takes QUIC a round trip less.
        total_s[protocol] = record.total_s - record.tls_s
    assert total_s["h3"] == pytest.approx(total_s["h2"], rel=0.03)


SEEDS = (1, 2, 3)
"""Of 20 seeds, pairs with the same one scatter by 1.2 % (standard deviation) around a difference of 0.3 %."""


def lossy_s(run_setting: RunSetting, protocol: str, control: str, rtt: str, **more: str) -> float:
    """What 10 MiB at 2 % loss take over all seeds."""
    total_s = 0.0
    for seed in SEEDS:
        raw = {
            "protocol": protocol,
            "client": {"program": "headway-client"},
            "server": {
                "program": "headway-server",
                "congestion_control": control if protocol == "h2" else {"quic": control},
                "knobs": more,
            },
            "workload": {"size": "10 MiB"},
            "path": {"rate": "10 Mbit/s", "rtt": rtt, "loss": "2 %"},
        }
        record = run_setting(raw, seed=seed, name=f"{protocol}-{control}-{seed}")
        assert record.total_s is not None
        total_s += record.total_s
    return total_s


@pytest.mark.parametrize("control", ["cubic", "reno"])
def test_linuxs_arithmetic_takes_over_quic_what_it_takes_over_tcp(
    run_setting: RunSetting, control: str
) -> None:
    tcp_s = lossy_s(run_setting, "h2", control, "20 ms")
    quic_s = lossy_s(run_setting, "h3", f"linux-{control}", "20 ms", pacing="off")
    assert quic_s == pytest.approx(tcp_s, rel=0.025)


def test_rfc_9438_is_not_linuxs_cubic_under_loss(run_setting: RunSetting) -> None:
    """The standard's growth in bytes is a quarter to two fifths faster, with the same seeds' losses."""
    tcp_s = lossy_s(run_setting, "h2", "cubic", "20 ms")
    quic_s = lossy_s(run_setting, "h3", "cubic", "20 ms", pacing="off")
    assert 0.6 < quic_s / tcp_s < 0.75
