"""What links count of their packets is what captures at both ends show, to the packet."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.contract.counts import Counts
from headway.contract.outcome import Outcome
from headway.contract.text import load
from headway.diagnosis.samples import read_samples
from headway.lab.pcapng import read_pcapng
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

ENDS = {"down": ("server", "client"), "up": ("client", "server")}
FROM = {"client": 1, "server": 2}
"""Last byte of the hardware address of a wire's end, and of the first and last wire's other end."""
DELAY_NS = 10_000_000
"""Of every path, one way."""
ROUTERS = 2
"""Of a link."""


@dataclass
class Seen:
    """What captures show of one direction.

    Attributes:
        sent: packets that were sent until the workload's end.
        missing: those that never arrived.
        copies: packets that arrived once more.
        reordered: packets that arrived after one that was sent later (RFC 4737, 3.3).
        damaged: packets that arrived and were not sent like that.
        marked: packets that arrived with "Congestion Experienced" and were sent without.
    """

    sent: int = 0
    missing: int = 0
    copies: int = 0
    reordered: int = 0
    damaged: int = 0
    marked: int = 0


def frames(run_directory: Path, host: str) -> list[tuple[int, bytes]]:
    return list(read_pcapng(run_directory / f"{host}.pcapng"))


def sent_by(host: str, found: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Of a capture on a host's own device, what it sent: no frame is damaged there."""
    return ((at, frame) for at, frame in found if frame[11] == FROM[host])


def as_sent(frame: bytes, host: str, links: int, routers: int) -> bytes:
    """An arriving frame as it was when it was sent, if it is sound; else something that was not."""
    header = frame[14:34]
    total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, 20, 2))
    sound = (total >> 16) + (total & 0xFFFF) == 0xFFFF
    ends, wire = ((1, 2), 0) if host == "client" else ((2, 1), 2 * links)
    hardware = b"".join(bytes([2, 0, 0, 0, wire, end]) for end in ends) + b"\x08\x00"
    if not sound or frame[:14] != hardware:
        return frame
    return ip_packet(frame, frame[22] + routers)


def ip_packet(frame: bytes, ttl: int) -> bytes:
    """Without what changes on the way: hardware addresses, header checksum and ECN; the TTL as given."""
    ip = frame[14:]
    return bytes([ip[0], ip[1] & ~3]) + ip[2:8] + bytes([ttl]) + ip[9:10] + ip[12:]


def seen(run_directory: Path, way: str, until_ns: int, links: int, routers: int) -> Seen:
    sender, receiver = ENDS[way]
    found = Seen()
    waiting: defaultdict[bytes, deque[tuple[int, int]]] = defaultdict(deque)
    known: dict[bytes, tuple[int, int]] = {}
    for number, (at, frame) in enumerate(sent_by(sender, frames(run_directory, sender))):
        if at <= until_ns:
            found.sent += 1
            waiting[ip_packet(frame, frame[22])].append((number, frame[15] & 3))
    highest = -1
    mine = {frame for _, frame in sent_by(receiver, frames(run_directory, receiver))}
    for at, frame in frames(run_directory, receiver):
        if frame in mine:
            continue
        packet = as_sent(frame, receiver, links, routers)
        if places := waiting[packet]:
            number, ecn = known[packet] = places.popleft()
            found.marked += (frame[15] & 3) == 3 != ecn
        elif packet in known:
            number, _ = known[packet]
            found.copies += 1
        else:
            # It cannot be found among what was sent until the end, but when it was sent.
            found.damaged += at - DELAY_NS <= until_ns
            continue
        # Order shows when packets leave; all else befalls them when they come.
        found.reordered += at <= until_ns and number < highest
        highest = max(highest, number)
    found.missing = sum(map(len, waiting.values()))
    return found


def compared(
    run_setting: RunSetting, run_directory: Path, path: dict[str, Any], **others: Any
) -> tuple[Record, Seen, Seen]:
    """A download over a path, and what captures show of it, down and up."""
    raw = {
        "protocol": "h2",
        "workload": {"kind": "download", "size": "1 MB"},
        "path": path if "links" in path else {"rtt": "20 ms", **path},
        "capture": {"packets": True},
        **others,
    }
    record = run_setting(raw)
    outcome = load(Outcome, (run_directory / "outcome.json").read_text())
    until_ns = round(read_samples(run_directory).epoch_s * 1e9) + outcome.duration_ns
    links = len(path.get("links", [path]))
    found = []
    for way in ("down", "up"):
        # A trace's process routes once more.
        routers = ROUTERS * links + ("trace" in path.get(way, {}).get("rate", ""))
        found.append(seen(run_directory, way, until_ns, links, routers))
    down, up = found
    assert down.sent > 500 and up.sent > 100
    return record, down, up


def counts(record: Record) -> dict[str, int]:
    """The counts that are not zero."""
    names = (f"{field.name}_{way}" for field in fields(Counts) for way in ENDS)
    # A NAT maps connections that go up, and drops what comes down to none.
    told = {name: getattr(record, name) for name in names if name in Record.model_fields}
    return {name: count for name, count in told.items() if count}


@pytest.mark.parametrize(
    ("path", "column"),
    [
        ({"loss": "2 %"}, "lost"),
        ({"loss": {"mean": "2 %", "burst": 4}}, "lost"),
        ({"blackouts": [["0.1 s", "0.3 s"]]}, "blacked_out"),
        ({"drop_packets": [7, 20, 21]}, "dropped_by_number"),
        ({"links": [{"rtt": "10 ms", "loss": "1 %"}] * 2}, "lost"),
    ],
    ids=str,
)
def test_lost(run_setting: RunSetting, tmp_path: Path, path: dict[str, Any], column: str) -> None:
    record, down, up = compared(run_setting, tmp_path / "run", path)
    assert down.missing and up.missing
    assert counts(record) == {f"{column}_down": down.missing, f"{column}_up": up.missing}
    assert (down.copies, down.reordered, down.damaged) == (0, 0, 0)


def test_blackouts_are_told_from_losses(run_setting: RunSetting, tmp_path: Path) -> None:
    path = {"loss": "2 %", "blackouts": [["0.1 s", "0.3 s"], ["0.2 s", "0.4 s"]]}
    record, down, up = compared(run_setting, tmp_path / "run", path)
    found = counts(record)
    assert set(found) == {"lost_down", "lost_up", "blacked_out_down", "blacked_out_up"}
    assert found["lost_down"] + found["blacked_out_down"] == down.missing
    assert found["lost_up"] + found["blacked_out_up"] == up.missing


@pytest.mark.parametrize(
    "path",
    [
        {"jitter": "5 ms", "jitter_reorders": True},
        {"reordering": "5 %"},
    ],
    ids=str,
)
def test_reordered(run_setting: RunSetting, tmp_path: Path, path: dict[str, Any]) -> None:
    record, down, up = compared(run_setting, tmp_path / "run", path)
    assert down.reordered and up.reordered
    assert counts(record) == {"reordered_down": down.reordered, "reordered_up": up.reordered}
    assert (down.missing, up.missing) == (0, 0)


def test_jitter_that_keeps_order_reorders_nothing(run_setting: RunSetting, tmp_path: Path) -> None:
    record, down, up = compared(run_setting, tmp_path / "run", {"jitter": "5 ms"})
    assert counts(record) == {}
    assert (down.reordered, up.reordered) == (0, 0)


def test_duplicated(run_setting: RunSetting, tmp_path: Path) -> None:
    record, down, up = compared(run_setting, tmp_path / "run", {"duplication": "3 %"})
    assert down.copies and up.copies
    assert counts(record) == {"duplicated_down": down.copies, "duplicated_up": up.copies}


def test_duplicated_and_reordered(run_setting: RunSetting, tmp_path: Path) -> None:
    path = {"duplication": "3 %", "jitter": "5 ms", "jitter_reorders": True}
    record, down, up = compared(run_setting, tmp_path / "run", path)
    assert counts(record) == {
        "duplicated_down": down.copies,
        "duplicated_up": up.copies,
        "reordered_down": down.reordered,
        "reordered_up": up.reordered,
    }


def test_corrupted(run_setting: RunSetting, tmp_path: Path) -> None:
    record, down, up = compared(run_setting, tmp_path / "run", {"corruption": "2 %"})
    assert down.damaged and up.damaged
    assert counts(record) == {"corrupted_down": down.damaged, "corrupted_up": up.damaged}


@pytest.mark.parametrize("discipline", ["droptail", "codel", "fq_codel", "cake", "red"])
def test_dropped_by_queues(run_setting: RunSetting, tmp_path: Path, discipline: str) -> None:
    queue = {"size": "30 kB", "discipline": discipline}
    path = {"rate": "20 Mbit/s", "queue": queue}
    size = {"kind": "download", "size": "2 MB"}
    record, down, _ = compared(run_setting, tmp_path / "run", path, workload=size)
    assert down.missing
    assert counts(record) == {"queue_dropped_down": down.missing}


def test_dropped_by_the_queue_of_a_trace(run_setting: RunSetting, tmp_path: Path) -> None:
    trace = {"trace": "every millisecond", "opportunities_ms": list(range(1, 101))}
    path = {"down": {"rate": trace, "queue": "30 kB"}}
    record, down, _ = compared(run_setting, tmp_path / "run", path)
    assert down.missing
    assert counts(record) == {"queue_dropped_down": down.missing}


def test_marked(run_setting: RunSetting, tmp_path: Path) -> None:
    path = {"rate": "20 Mbit/s", "queue": {"size": "500 kB", "discipline": "cake"}}
    headway = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
    record, down, _ = compared(run_setting, tmp_path / "run", path, protocol="h3", **headway)
    assert down.marked
    assert record.marked_down == down.marked
    assert record.queue_dropped_down == down.missing
