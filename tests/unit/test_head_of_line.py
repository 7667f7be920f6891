"""Head-of-line blocking: sequences of frames whose held-back bytes are known, and Chromium's log of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.pages.headofline import HeldBack, StreamFrame, held_back
from headway.pages.metrics import page_metrics
from headway.pages.netlog import quic_sessions
from tests.unit.made_loads import load, resource

ORIGIN_MS = 1_000_000.0


def frames(*told: tuple[float, int, int, int]) -> list[StreamFrame]:
    return [StreamFrame(*one) for one in told]


A_LOSS = frames(
    (0, 0, 0, 1000),
    # Stream 0 lacks 1000 to 2000: what comes of it waits, and over TCP all else would.
    (10, 0, 2000, 1000),
    (11, 4, 0, 500),
    (12, 0, 3000, 1000),
    # Came already, in part.
    (13, 0, 2500, 2000),
    # Stream 4 gets a gap, too, and fills it.
    (14, 4, 600, 100),
    (20, 4, 500, 100),
    (30, 0, 1000, 1000),
    (40, 4, 700, 300),
)


def test_bytes_behind_a_gap_of_their_stream_are_held_back() -> None:
    assert held_back(A_LOSS) == HeldBack(
        # 1000, 1000 and 500 of stream 0; 100 of stream 4.
        stream_bytes=2600,
        # 500 more, of stream 4 before it had a gap; what fills a gap is not held back.
        connection_bytes=3100,
        held_ms=20,
    )


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ((), HeldBack()),
        (frames((0, 0, 0, 10), (1, 4, 0, 10), (2, 0, 10, 0)), HeldBack()),
        # A frame that fills a gap and goes beyond it.
        (frames((0, 0, 100, 100), (5, 0, 0, 300)), HeldBack(100, 100, 5)),
        # Two gaps; the second is filled first, which frees nothing.
        (
            frames((0, 0, 10, 10), (1, 0, 30, 10), (2, 0, 20, 10), (8, 0, 0, 10)),
            HeldBack(30, 30, 8),
        ),
        # A gap that is never filled has no end.
        (frames((0, 0, 10, 10)), HeldBack(10, 10, 0)),
    ],
)
def test_gaps(told: Iterable[StreamFrame], expected: HeldBack) -> None:
    assert held_back(told) == expected


@given(st.permutations(range(12)), st.lists(st.integers(0, 11), max_size=8))
def test_every_byte_is_new_once(order: list[int], again: list[int]) -> None:
    """Whatever comes twice: bytes held back are those of pieces that came before one in front of them."""
    told = [StreamFrame(0, 0, 10 * piece, 10) for piece in [*order, *again]]
    late = [n for n, piece in enumerate(order) if set(range(piece)) - set(order[:n])]
    assert held_back(told).stream_bytes == 10 * len(late)


TYPES = {
    "QUIC_SESSION": 7,
    "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED": 8,
    "QUIC_SESSION_STREAM_FRAME_RECEIVED": 9,
}


def event(kind: int, source: int, at_ms: float, phase: int = 0, **params: Any) -> str:
    """A line as Chromium writes it: keys in order, times as text."""
    told = {
        "params": params,
        "phase": phase,
        "source": {"id": source, "type": 13},
        "time": str(int(at_ms)),
        "type": kind,
    }
    return json.dumps(told, separators=(",", ":"))


def packet(source: int, at_ms: float, number: int, form: str = "SHORT") -> str:
    form = f"IETF_QUIC_{form}_HEADER_PACKET"
    return event(8, source, at_ms, packet_number=number, header_format=form)


def net_log(directory: Path, *events: str) -> Path:
    constants = json.dumps({"logEventTypes": TYPES, "timeTickOffset": ORIGIN_MS})
    file = directory / "net-log.json"
    body = ",\n".join(events)
    file.write_text(
        f'{{"constants":{constants},\n"events": [\n{body}],\n"polledData": [{{}}]\n}}\n'
    )
    return file


def test_a_log_tells_of_the_connections_of_one_load(tmp_path: Path) -> None:
    def received(source: int, at_ms: float, stream: int, offset: int) -> str:
        return event(9, source, at_ms, stream_id=stream, offset=offset, length=100, fin=False)

    log = net_log(
        tmp_path,
        event(7, 1, 100, 1),
        received(1, 110, 0, 500),
        event(7, 2, 5000, 1),
        packet(2, 5100, 9, "LONG"),
        *(packet(2, 5110 + number, number) for number in (0, 1, 4, 6)),
        received(2, 5200, 0, 100),
        event(3, 2, 5201),
        received(2, 5250, 0, 0),
        event(7, 3, 9000, 1),
    )
    (session,) = quic_sessions(log, ORIGIN_MS + 4000, ORIGIN_MS + 8000)
    assert session.began_ms == ORIGIN_MS + 5000
    assert session.longest_gap == 2
    metrics = page_metrics(load(resource(), time_origin_ms=ORIGIN_MS + 5000, net_log=log))
    assert (metrics.hol_bytes, metrics.hol_s, metrics.hol_connection_bytes) == (100, 0.05, 100)
    assert metrics.hol_gap_packets == 2


def test_loads_that_share_a_log_read_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = net_log(tmp_path, event(7, 1, 100, 1), packet(1, 110, 0), event(7, 2, 5000, 1))
    another = tmp_path / "another.json"
    another.hardlink_to(log)
    first = quic_sessions(log, ORIGIN_MS, ORIGIN_MS + 1000)
    monkeypatch.setattr(
        "headway.pages.netlog._events", lambda *_: pytest.fail("the log was read again")
    )
    second = quic_sessions(another, ORIGIN_MS + 4000, ORIGIN_MS + 8000)
    assert [session.began_ms - ORIGIN_MS for session in (*first, *second)] == [100, 5000]


def test_a_log_that_has_changed_is_read_again(tmp_path: Path) -> None:
    log = net_log(tmp_path, event(7, 1, 100, 1))
    assert len(quic_sessions(log, ORIGIN_MS, ORIGIN_MS + 1000)) == 1
    net_log(tmp_path, event(7, 1, 100, 1), event(7, 2, 200, 1))
    assert len(quic_sessions(log, ORIGIN_MS, ORIGIN_MS + 1000)) == 2


def test_without_a_log_nothing_is_told(tmp_path: Path) -> None:
    for log in (None, net_log(tmp_path, event(7, 1, 5000, 1))):
        metrics = page_metrics(load(resource(), time_origin_ms=ORIGIN_MS + 5000, net_log=log))
        assert metrics.hol_bytes is metrics.hol_s is metrics.hol_gap_packets is None
