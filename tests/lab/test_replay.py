"""Recorded exchanges reach a client as they were recorded, from every server over every protocol."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from headway.contract.program import Program
from headway.lab.assemble import orders_for
from headway.lab.machine import Machine
from headway.lab.meter import Meter
from headway.lab.run import booting
from headway.planning.deploy import deploy
from headway.programs.registry import SERVERS
from headway.sites.site import Header
from headway.study.network import CLIENT
from headway.study.setting import Setting
from tests.lab.sites import HTML, PAGE, archive, exchange

pytestmark = pytest.mark.lab

TEXT = "text/plain"
LONG = bytes(range(256)) * 400
ETAG = ("etag", '"v1"')
COOKIES = (("set-cookie", "a=1; Path=/"), ("set-cookie", "b=2; Path=/"), ("set-cookie", "c=3"))
GZIP = ("content-encoding", "gzip")
VERSIONS = {"h1": "--http1.1", "h2": "--http2", "h3": "--http3-only"}
REPLAYING = [
    (server.name, str(protocol))
    for server in SERVERS.values()
    if server.replays
    for protocol in sorted(server.protocols)
]


@dataclass(frozen=True)
class Case:
    """A request, and what has to come: content-length beside these fields, but for 304."""

    path: str
    status: int
    headers: tuple[Header, ...] = ()
    body: bytes = b""
    request: tuple[str, ...] = ()


CASES = (
    Case("", 200, (("content-type", HTML),), b"<!doctype html>"),
    Case("cookies", 200, (("content-type", TEXT), *COOKIES), b"three"),
    Case("squeezed", 200, (("content-type", TEXT), GZIP), gzip.compress(LONG, mtime=0)),
    Case("chunked", 200, (("content-type", TEXT),), b"Wikipedia in chunks"),
    Case("old", 301, (("content-type", TEXT), ("location", "/new")), b"moved"),
    Case("lost", 404, (("content-type", TEXT),), b"not recorded\n"),
    Case("long?v=2", 200, (("content-type", TEXT), ETAG), LONG),
    Case("long?v=2&more", 200, (("content-type", TEXT), ETAG), LONG),
    Case("long?v=2", 304, (ETAG,), request=("If-None-Match", '"v1"')),
    Case(
        "long?v=2",
        206,
        (("content-type", TEXT), ETAG, ("content-range", f"bytes 5-9/{len(LONG)}")),
        LONG[5:10],
        ("Range", "bytes=5-9"),
    ),
    Case(
        "long?v=2",
        416,
        (("content-range", f"bytes */{len(LONG)}"),),
        request=("Range", "bytes=999999-"),
    ),
)


def site(directory: Path) -> str:
    """An archive in which one body is as a server sent it in chunks."""
    whole = [case for case in CASES if case.status in (200, 301) and case.path != "chunked"]
    recorded = {case.path: case for case in whole if "more" not in case.path}
    file = archive(
        directory,
        *(
            exchange(PAGE + path, "", case.body, *case.headers, status=case.status)
            for path, case in recorded.items()
        ),
    )
    chunks = b"4\r\nWiki\r\nf\r\npedia in chunks\r\n0\r\n\r\n"
    fields = [("Content-Type", TEXT), ("Transfer-Encoding", "chunked")]
    with Path(file).open("ab") as stream:
        writer = WARCWriter(stream, gzip=True, warc_version="WARC/1.1")
        head = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
        record = writer.create_warc_record(
            f"{PAGE}chunked", "response", payload=io.BytesIO(chunks), http_headers=head
        )
        writer.write_record(record)
    return file


def asking(protocol: str, address: str) -> Program:
    """Asks for all cases one after the other, with fields and bodies in files by number."""
    common = f"curl -sk {VERSIONS[protocol]} --resolve a.test:443:{address}"
    lines = []
    for number, case in enumerate(CASES):
        field = f"-H '{case.request[0]}: {case.request[1]}'" if case.request else ""
        files = f"-D $RUN_DIRECTORY/{number}.fields -o $RUN_DIRECTORY/{number}.body"
        lines.append(f"{common} {field} {files} '{PAGE}{case.path}'")
    return Program("curl", CLIENT, ("sh", "-ec", "\n".join(lines)))


@pytest.mark.parametrize(("server", "protocol"), REPLAYING)
def test_exchanges_are_replayed_as_recorded(
    machine: Machine, tmp_path: Path, server: str, protocol: str
) -> None:
    setting = Setting.model_validate(
        {
            "protocol": protocol,
            "workload": {"kind": "page", "site": site(tmp_path), "alt_svc": False},
            "client": {"program": "chromium"},
            "server": {"program": server},
        }
    )
    deployment = deploy(setting, 1)
    orders = orders_for(deployment)
    services = tuple(program for program in orders.programs if program.namespace != CLIENT)
    programs = (*services, asking(protocol, deployment.legs[0].right_address))
    directory = tmp_path / "run"
    outcome = booting(deployment, machine, Meter(), None, None)(
        replace(orders, programs=programs), directory
    )
    assert outcome.status == "ok", outcome.reason
    assert [ended.exit_status for ended in outcome.ended] == [0]
    for number, case in enumerate(CASES):
        assert answer(directory, number) == expected(case), case


def answer(directory: Path, number: int) -> tuple[int, list[Header], bytes]:
    """Status, fields and content; without what HTTP/1.1 says of its connection."""
    start, *lines = (directory / f"{number}.fields").read_text().splitlines()
    fields = [line.split(": ", 1) for line in lines if line]
    body = directory / f"{number}.body"
    return (
        int(start.split()[1]),
        sorted((name.lower(), value) for name, value in fields if name.lower() != "connection"),
        body.read_bytes() if body.exists() else b"",
    )


def expected(case: Case) -> tuple[int, list[Header], bytes]:
    length = () if case.status == 304 else (("content-length", str(len(case.body))),)
    return case.status, sorted((*case.headers, *length)), case.body
