"""Equal seeds give equal runs: times, and captures in every byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

CONDITIONS = {
    "h1-clear": {"protocol": "h1", "tls": False},
    "h1": {"protocol": "h1"},
    "h2": {"protocol": "h2"},
    "h3": {"protocol": "h3"},
}
PATHS = {
    "clean": {},
    "loss": {"loss": "4 %"},
    "everything": {
        "loss": {"mean": "2 %", "burst": 4},
        "jitter": "5 ms",
        "jitter_reorders": True,
        "duplication": "1 %",
        "down": {"rate": {"low": "5 Mbit/s", "high": "15 Mbit/s", "every": "100 ms"}},
    },
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("path", PATHS)
def test_equal_seeds_give_equal_captures(
    run_setting: RunSetting, tmp_path: Path, condition: str, path: str
) -> None:
    raw = {
        **CONDITIONS[condition],
        "workload": {"size": "200 kB"},
        "path": {"rate": "10 Mbit/s", "rtt": "40 ms", **PATHS[path]},
        "capture": {"packets": True},
    }
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.status == "ok", first.error
    assert first.total_s == second.total_s
    assert first.virtual_s == second.virtual_s
    for end in ("client", "server"):
        captures = [
            (tmp_path / name / f"{end}.pcapng").read_bytes() for name in ("first", "second")
        ]
        assert captures[0] == captures[1]
        assert len(captures[0]) > 200_000


def test_another_seed_gives_other_losses(run_setting: RunSetting) -> None:
    raw = {
        "path": {"rate": "10 Mbit/s", "rtt": "40 ms", "loss": "4 %"},
        "workload": {"size": "1 MB"},
    }
    totals = {run_setting(raw, seed=seed, name=str(seed)).total_s for seed in (1, 2, 3)}
    assert len(totals) == 3


@pytest.mark.parametrize("clock", ["virtual", "cpu", "real"])
def test_every_clock_meets_the_same_losses(run_setting: RunSetting, clock: str) -> None:
    """Only virtual time repeats exactly, but the n-th packet is lost in all clocks alike."""
    raw = {
        "clock": clock,
        "path": {"rate": "50 Mbit/s", "rtt": "10 ms", "down": {"drop_packets": [5, 9]}},
        "workload": {"size": "100 kB"},
    }
    record = run_setting(raw)
    assert record.status == "ok", record.error
    assert record.retransmits == 2
