"""What Headway's own client is taken to have measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headway.contract.orders import Ended
from headway.programs.headway_client import REPORT
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from tests.deployed import flow_of

ENDED = Ended("headway-client", at_ns=1_500_000_000, exit_status=0)


def setting(early_data: str) -> Setting:
    client = {"program": "headway-client", "knobs": {"early_data": early_data}}
    return Setting.model_validate(
        {"protocol": "h3", "client": client, "workload": {"size": "10 kB"}}
    )


@pytest.mark.parametrize(("early_data", "began_s"), [("on", 1.1), ("off", 0.0)])
def test_what_yields_a_ticket_comes_before_what_counts(
    tmp_path: Path, early_data: str, began_s: float
) -> None:
    """The process ends at 1.5 s, and its report, which begins with the requests, at 0.4 s."""
    request = {
        "connected_s": 0.1,
        "secured_s": 0.1,
        "first_byte_s": 0.1,
        "last_byte_s": 0.3,
        "status": 200,
        "bytes": 10_000,
        "error": None,
    }
    (tmp_path / REPORT).write_text(json.dumps({"ended_s": 0.4, "requests": [request]}))
    measured = CLIENTS["headway-client"].measure(flow_of(setting(early_data)), tmp_path, ENDED)
    assert measured.error is None
    assert measured.began_s == pytest.approx(began_s)
    assert (measured.ttfb_s, measured.total_s) == (0.1, 0.3)
