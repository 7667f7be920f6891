"""What hosts counted, by whose packets it is."""

from __future__ import annotations

from typing import Any

import pytest

from headway.contract.outcome import HostCounts, Outcome
from headway.diagnosis.hostcounts import host_count_columns
from headway.planning.deploy import deploy
from headway.study.load import study_from

COUNTS = {
    "client": HostCounts(udp_buffer_drops=1, out_of_order_segments=20),
    "server": HostCounts(udp_buffer_drops=2, out_of_order_segments=400),
}
PAGE = {"kind": "page", "site": "objects-2x5kB"}
BROWSER = {"client": {"program": "chromium"}, "server": {"program": "headway-server"}}


def told(conditions: dict[str, Any], counts: dict[str, HostCounts]) -> dict[str, Any]:
    (experiment,) = study_from({"name": "s", **conditions}).experiments
    ((contender, _),) = experiment.contenders.items()
    deployment = deploy(experiment.setting({}, contender), 1)
    return host_count_columns(deployment.flows, Outcome("ok", None, 1, "7", host_counts=counts))


@pytest.mark.parametrize(
    ("conditions", "segments"),
    [
        ({"protocol": "h2"}, 20),
        ({"protocol": "h3"}, None),
        ({"protocol": "h2", "workload": PAGE, **BROWSER}, 20),
        ({"protocol": "h2", "workload": {**PAGE, "cache": "warm"}, **BROWSER}, None),
    ],
)
def test_segments_wait_at_the_client_and_over_tcp(
    conditions: dict[str, Any], segments: int | None
) -> None:
    assert told(conditions, COUNTS) == {"udp_buffer_drops": 3, "out_of_order_segments": segments}


def test_a_lab_that_did_not_tell_has_no_columns() -> None:
    assert told({"protocol": "h2"}, {}) == {}
