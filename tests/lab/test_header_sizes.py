"""What header fields of a size take on the wire, by captures: all of it in HTTP/1.1, next to nothing in a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.lab.pcapng import read_pcapng
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

COUNT = 100
HEADER_BYTES = 1000
FIELDS = 4
"""A field has 250 bytes at most."""
TABLES = {"hpack_capacity": "4096", "qpack_capacity": "4096", "qpack_blocked_streams": "100"}
_ETHERNET = 14


def wire_bytes(capture: Path) -> dict[bool, int]:
    """IP packets' bytes from the client, and to it, without those of pure acknowledgments of TCP."""
    frames = [frame for _, frame in read_pcapng(capture) if frame[12:14] == b"\x08\x00"]
    client = frames[0][26:30]
    sums = {True: 0, False: 0}
    for frame in frames:
        packet = frame[_ETHERNET:]
        length = int.from_bytes(packet[2:4], "big")
        if length > 60 or packet[9] != 6:
            sums[packet[12:16] == client] += length
    return sums


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize(
    ("values", "tables"), [("constant", True), ("constant", False), ("changing", True)]
)
def test_fields_take_what_versions_and_tables_let_them(
    run_setting: RunSetting, tmp_path: Path, protocol: str, values: str, tables: bool
) -> None:
    took = {}
    for size in (0, HEADER_BYTES):
        workload = {"kind": "requests", "count": COUNT, "users": 1, "down": "100 B"}
        if size:
            header = {"header_up": f"{size} B", "header_down": f"{size} B"}
            workload |= {**header, "header_values": values}
        knobs = TABLES if tables and protocol != "h1" else {}
        raw = {
            "protocol": protocol,
            "client": {"program": "headway-client", "knobs": knobs},
            "server": {"program": "headway-server", "knobs": knobs},
            "workload": workload,
            "path": {"rtt": "10 ms"},
            "capture": {"packets": True},
        }
        record = run_setting(raw, name=f"with-{size}")
        assert record.error is None
        took[size] = wire_bytes(tmp_path / f"with-{size}" / "client.pcapng")
    for up in (True, False):
        each = (took[HEADER_BYTES][up] - took[0][up]) / COUNT
        if protocol == "h1":
            assert each == HEADER_BYTES + FIELDS * len(": \r\n")
        elif values == "constant" and tables:
            # An index a field, and the fields themselves: into the table, and perhaps once beside it (RFC 9204, 2.1.2).
            assert FIELDS <= each <= FIELDS * 2 + 2.2 * HEADER_BYTES / COUNT
        else:
            assert each == pytest.approx(HEADER_BYTES, rel=0.05)


MOST_HEADER_BYTES = 8000


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize("server", ["nginx", "nginx-1.26", "caddy", "haproxy"])
def test_servers_before_an_application_pass_the_largest_header_sections_on(
    run_setting: RunSetting, tmp_path: Path, server: str, protocol: str
) -> None:
    size = f"{MOST_HEADER_BYTES} B"
    workload = {"kind": "requests", "count": 10, "users": 1, "down": "100 B"}
    raw = {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": {"program": server},
        "workload": {**workload, "header_up": size, "header_down": size},
        "path": {"rtt": "10 ms"},
        "capture": {"packets": True},
    }
    record = run_setting(raw)
    assert record.error is None
    took = wire_bytes(tmp_path / "run" / "client.pcapng")
    if protocol == "h1":
        assert all(took[up] >= 10 * MOST_HEADER_BYTES for up in (True, False))


@pytest.mark.parametrize("proxy", ["nginx", "haproxy", "envoy"])
def test_proxies_pass_the_largest_header_sections_on(run_setting: RunSetting, proxy: str) -> None:
    size = f"{MOST_HEADER_BYTES} B"
    workload = {"kind": "requests", "count": 10, "users": 1, "down": "100 B"}
    raw = {
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "proxy": {"program": proxy},
        "workload": {**workload, "header_up": size, "header_down": size},
    }
    assert run_setting(raw).error is None
