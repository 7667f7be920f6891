"""Servers that decide how important responses are: how they are told, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.study.setting import Setting
from tests.deployed import orders_of

PAGE = {"kind": "page", "site": "sander-01"}
DOWNLOAD = {"size": "1 MB"}


def setting(workload: dict[str, Any], **knobs: str) -> Setting:
    raw = {
        "protocol": "h3",
        "workload": workload,
        "client": {"program": "chromium" if "kind" in workload else "headway-client"},
        "server": {"program": "headway-server", "knobs": knobs},
    }
    return Setting.model_validate(raw)


@pytest.mark.parametrize(
    ("knobs", "has", "lacks"),
    [
        ({}, "--scheduler=rfc9218", "--priorities"),
        ({"scheduler": "sequential"}, "--scheduler=sequential", "--priorities"),
        ({"priorities": "firefox"}, "--priorities=firefox", "--scheduler"),
        ({"priorities": "batched-round-robin:5"}, "--priorities=batched-round-robin:5", "--sched"),
    ],
)
def test_the_server_is_told_who_decides(knobs: dict[str, str], has: str, lacks: str) -> None:
    server = orders_of(setting(PAGE, **knobs)).programs[0].argv
    assert has in server
    assert not [word for word in server if word.startswith(lacks)]


def test_downloads_may_take_turns() -> None:
    check_programs(deploy(setting(DOWNLOAD, priorities="batched-round-robin:5"), 1))
