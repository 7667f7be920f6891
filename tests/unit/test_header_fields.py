"""Columns of what header fields took: from what headway-server and headway-client tell."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

from headway.columns import HeaderFields, Record
from headway.diagnosis.headers import header_fields
from headway.programs.base import Listener
from headway.programs.headway_server import HeadwayServer
from headway.study.capture import Capture
from headway.study.family import HostAddress
from headway.study.host import Host, Protocol

COUNTS = {
    "began_unix_s": 1000.5,
    "sent_raw_bytes": 30_000,
    "sent_bytes": 9_000,
    "received_raw_bytes": 50_000,
    "received_bytes": 4_000,
    "blocked": 3,
    "blocked_s": 0.25,
}


def told(site: bool, **knobs: str) -> list[str]:
    """What a server is told of header compression."""
    listener = Listener(
        "server", HostAddress("10.0.0.2"), frozenset({Protocol.H3}), tls=True, site=site
    )
    host = Host(program="headway-server", knobs=knobs)
    (program,) = HeadwayServer().serve(listener, host, Capture()).programs
    words = ("--header-counts", "--qpack", "--hpack")
    return [word for word in program.argv if word.startswith(words)]


def test_fields_are_counted_where_they_are_compressed() -> None:
    counts = "--header-counts=/lab/run/server-headers.jsonl"
    # The commands of downloads are what they were.
    assert told(site=False) == []
    assert told(site=True) == [counts]
    assert told(site=False, qpack_capacity="4096") == ["--qpack-capacity=4096", counts]
    assert told(site=True, hpack_capacity="0") == ["--hpack-capacity=0", counts]
    assert told(site=True, hpack_capacity="auto") == [counts]
    assert told(site=False, hpack_capacity="auto") == []


def tell(directory: Path, *began_s: float) -> None:
    """What a server tells of connections that began then."""
    lines = [json.dumps(COUNTS | {"began_unix_s": began}) + "\n" for began in began_s]
    (directory / "server-headers.jsonl").write_text("".join(lines))


def test_columns_are_the_servers_counts(tmp_path: Path) -> None:
    tell(tmp_path, 1000.5)
    assert header_fields(tmp_path, 1000, 1001) == HeaderFields(
        fields_raw_down_bytes=30_000,
        fields_sent_down_bytes=9_000,
        fields_raw_up_bytes=50_000,
        fields_sent_up_bytes=4_000,
        table_blocked=3,
        table_blocked_s=0.25,
    )
    assert HeaderFields.model_fields.keys() <= Record.model_fields.keys()


def test_runs_that_share_a_server_have_connections_of_their_own(tmp_path: Path) -> None:
    tell(tmp_path, 999.9, 1000.1, 1000.2, 1001.1)
    fields = header_fields(tmp_path, 1000, 1001)
    assert (fields.fields_sent_down_bytes, fields.table_blocked) == (18_000, 6)


def test_responses_that_waited_are_the_clients_to_tell(tmp_path: Path) -> None:
    tell(tmp_path, 1000.5)
    waited = {"quic": {"blocked": 2, "blocked_s": 0.5}}
    report = {"connections": [waited, {"quic": None}]}
    (tmp_path / "headway-client.json").write_text(json.dumps(report))
    fields = header_fields(tmp_path, 0, inf)
    assert (fields.table_blocked, fields.table_blocked_s) == (5, 0.75)


def test_a_server_that_told_nothing(tmp_path: Path) -> None:
    assert header_fields(tmp_path, 0, inf) == HeaderFields()
    (tmp_path / "server-headers.jsonl").write_text('{"began_unix_s": 1')
    assert header_fields(tmp_path, 0, inf) == HeaderFields()
