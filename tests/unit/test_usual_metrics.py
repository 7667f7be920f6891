"""Metrics of studies that name none."""

from typing import Any

import pytest

from headway.study.usualmetrics import usual_metrics

FLOWS = {"one": {"protocol": "udp"}}


@pytest.mark.parametrize(
    ("experiment", "first"),
    [
        ({"conditions": {"workload": {"kind": "call"}}}, "delay_p95_ms"),
        ({"conditions": {"workload": {"kind": "video"}}}, "video_bitrate_mbit"),
        ({"axes": {"workload": [{"kind": "page"}, {"kind": "page", "site": "x"}]}}, "plt_s"),
        ({"axes": {"workload": [{"kind": "page"}, {"kind": "call"}]}}, None),
        ({"axes": {"workload": ["download", {"kind": "call"}]}}, None),
        ({"conditions": {"workload": {"kind": "requests"}}}, None),
        ({"conditions": {}}, None),
        ({"contenders": {"a": {"flows": FLOWS}}}, "delay_p95_ms"),
    ],
)
def test_what_a_run_carries_decides(experiment: dict[str, Any], first: str | None) -> None:
    assert next(iter(usual_metrics(experiment)), None) == first


def test_what_is_not_painted_has_no_speed_index() -> None:
    page = {"kind": "page", "frames": False}
    assert "speed_index_s" not in usual_metrics({"conditions": {"workload": page}})
    assert "speed_index_s" in usual_metrics({"conditions": {"workload": {"kind": "page"}}})
