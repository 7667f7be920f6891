"""Repetitions are samples: their interval reaches what exact paths beside the stated one give."""

from __future__ import annotations

import math

import pytest

from headway.analysis.difference import Difference, of_pairs
from headway.study.setting import Setting
from headway.study.variation import drawn_path
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

SEEDS = range(1, 11)


def total_s(
    run_setting: RunSetting, protocol: str, *, rtt: str, variation: str, seed: int = 1
) -> float:
    path = {"rate": "10 Mbit/s", "rtt": rtt}
    raw = {"protocol": protocol, "variation": variation, "path": path}
    record = run_setting(raw, seed=seed, name=f"{protocol}-{variation}-{rtt}-{seed}")
    assert record.total_s is not None, record.error
    assert record.rtt_ms == float(rtt.removesuffix(" ms"))
    setting = Setting.model_validate(raw)
    assert record.drawn_rtt_ms == drawn_path(setting, setting.path, "0", seed).rtt.ms
    return record.total_s


def h1_over_h2(run_setting: RunSetting, **conditions: object) -> float:
    """How much longer h1 takes for 1 MB without loss."""
    h1, h2 = (total_s(run_setting, protocol, **conditions) for protocol in ("h1", "h2"))  # type: ignore[arg-type]
    return h1 / h2 - 1


def test_the_interval_of_repetitions_reaches_neighbouring_paths(run_setting: RunSetting) -> None:
    rtts = ("98 ms", "99 ms", "100 ms", "100.5 ms")
    exact = [h1_over_h2(run_setting, rtt=rtt, variation="none") for rtt in rtts]
    # Half a millisecond more or less, and h1 is another 5 % slower: where packets fall decides.
    assert max(exact) - min(exact) > 0.08
    again = h1_over_h2(run_setting, rtt="100 ms", variation="none", seed=2)
    # And repetitions of one point say nothing of that.
    assert again == pytest.approx(exact[2], abs=0.002)
    pairs = [h1_over_h2(run_setting, rtt="100 ms", variation="phases", seed=seed) for seed in SEEDS]
    found: Difference = of_pairs([math.log1p(one) for one in pairs])
    assert found.interval is not None
    assert found.interval.coverage >= 0.95
    # Not all lie strictly inside: at 100 ms the exact path is 0.1 points above it.
    for one in exact:
        assert found.interval.low - 0.005 < one < found.interval.high + 0.005


def test_equal_seeds_vary_equally(run_setting: RunSetting) -> None:
    for protocol in ("h1", "h3"):
        first, again = (
            total_s(run_setting, protocol, rtt=rtt, variation="phases", seed=3)
            for rtt in ("40 ms", "40.0 ms")
        )
        assert first == again
