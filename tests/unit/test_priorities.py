"""Servers that decide how important responses are: how they are told, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from headway.errors import WrongInputError
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


@pytest.mark.parametrize(
    ("workload", "knobs", "key", "said"),
    [
        (PAGE, {"priorities": "edge"}, "priorities", "'edge' is not a value of this knob"),
        (
            PAGE,
            {"priorities": "chrome", "scheduler": "rfc9218"},
            "scheduler",
            "decides the order, too",
        ),
        (DOWNLOAD, {"priorities": "safari"}, "priorities", "it is for pages"),
    ],
)
def test_what_cannot_be_decided_is_refused(
    workload: dict[str, Any], knobs: dict[str, str], key: str, said: str
) -> None:
    with pytest.raises(WrongInputError, match=said) as refused:
        check_programs(deploy(setting(workload, **knobs), 1))
    assert refused.value.where == f"server.knobs.{key}"


def test_downloads_may_take_turns() -> None:
    check_programs(deploy(setting(DOWNLOAD, priorities="batched-round-robin:5"), 1))
