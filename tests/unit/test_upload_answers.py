"""Uploads that are refused, or answered early: what studies may ask, and what clients' adapters make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.client import answer_error
from headway.study.setting import Setting
from tests.deployed import flow_of


def setting(server: str = "headway-server", **keys: Any) -> Setting:
    workload = {"kind": "upload", "size": "1 kB"} | keys
    client = {"program": "headway-client"}
    raw = {"client": client, "server": {"program": server}, "workload": workload}
    return Setting.model_validate({"protocol": "h3"} | raw)


@pytest.mark.parametrize("keys", [{"early": True}, {"status": 413}, {"delay": "1 s"}])
def test_only_applications_answer_otherwise(keys: dict[str, Any]) -> None:
    check_programs(deploy(setting("aioquic")))
    with pytest.raises(
        WrongInputError, match=r"server\.program: aioquic cannot have an application"
    ):
        check_programs(deploy(setting("aioquic", **keys)))


def test_usual_uploads_are_what_they_were() -> None:
    dumped = setting().workload.model_dump()
    assert dumped == {"kind": "upload", "size": 1000, "expect": False}


@pytest.mark.parametrize(
    ("keys", "status", "error"),
    [
        ({}, 405, "the server answered with status 405: it takes no POST"),
        ({}, 413, "the server answered with status 413: the content is too much for it"),
        ({}, 500, "the server answered with status 500"),
        ({"status": 413}, 413, None),
        ({"status": 413}, 200, "the server answered with status 200"),
        ({"early": True}, 200, None),
        ({}, 200, "the server does not report how many of 1000 bytes came"),
    ],
)
def test_another_status_than_the_studys_is_an_error(
    tmp_path: Path, keys: dict[str, Any], status: int, error: str | None
) -> None:
    assert answer_error(status, 0, flow_of(setting(**keys)), tmp_path) == error


def test_words_say_how_it_is_answered() -> None:
    told = str(setting(status=413, early=True, delay="20 ms").workload)
    assert told == "upload 1 kB, answered 413 early after 20 ms"
