"""Uploads: what studies may ask, what servers are told, and what is wrong with an answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.programs.base import Listener, Server, Started
from headway.programs.client import answer_error
from headway.programs.registry import SERVERS
from headway.programs.uploads import UPSTREAM
from headway.study.application import Application
from headway.study.capture import Capture
from headway.study.host import Host, Protocol
from headway.study.network import SERVER
from headway.study.setting import Setting
from tests.deployed import flow_of
from tests.unit.test_programs_servers import ADDRESS

UPLOAD: dict[str, Any] = {"protocol": "h3", "workload": {"kind": "upload", "size": "1 MB"}}


def served(server: Server, *, uploads: bool) -> Started:
    listener = Listener(
        SERVER,
        ADDRESS,
        server.protocols,
        tls=True,
        application=Application("upload") if uploads else None,
    )
    return server.serve(listener, Host(program="any"), Capture())


@pytest.mark.parametrize("name", ["nginx", "caddy", "haproxy"])
def test_servers_without_a_sink_get_an_upstream(name: str) -> None:
    taking = served(SERVERS[name], uploads=True)
    assert any("--sink" in program.argv for program in taking.programs)
    assert any(UPSTREAM in content for content in taking.files.values())
    usual = served(SERVERS[name], uploads=False)
    assert not any("--sink" in program.argv for program in usual.programs)
    assert not any(UPSTREAM in content for content in usual.files.values())


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (200, "1000000\n", None),
        (200, "999999\n", "999999 of 1000000 bytes came"),
        (200, "<html>", "the server does not report how many of 1000000 bytes came"),
        (200, None, "the server does not report how many of 1000000 bytes came"),
        (405, None, "the server answered with status 405: it takes no POST"),
        (413, None, "the server answered with status 413: the content is too much for it"),
    ],
)
def test_what_is_wrong_with_an_answer(
    tmp_path: Path, status: int, answer: str | None, expected: str | None
) -> None:
    if answer is not None:
        (tmp_path / "answers").mkdir()
        (tmp_path / "answers" / "upload").write_text(answer)
    flow = flow_of(Setting.model_validate(UPLOAD))
    assert answer_error(status, 0, flow, tmp_path) == expected


def test_an_upload_is_no_download() -> None:
    workload = Setting.model_validate(UPLOAD).workload
    assert (str(workload), workload.uploads, workload.payload.body) == ("upload 1 MB", True, None)
    assert Setting.model_validate(UPLOAD).served_sizes == (1_000_000,)
    assert Setting.model_validate(UPLOAD).protocol is Protocol.H3
