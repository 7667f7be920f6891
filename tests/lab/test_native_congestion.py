"""Our controllers against the kernel's: same path, same initial window, nothing lost at random."""

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
