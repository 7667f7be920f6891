"""What held a page load back: whose connections count, which is the main one, and what all share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.columns import MainConnection, TransferLimits
from headway.contract.samples import TcpInfo
from headway.diagnosis.limits import limits_of
from headway.diagnosis.mainconnection import find_main, main_connection_of
from headway.diagnosis.rampup import ramp_up_of
from headway.diagnosis.segment import SegmentSamples, observe
from headway.diagnosis.transfer import PageSpans, TimeSpan, Transfer, union
from tests.unit.made_samples import SEGMENT, rows_of, segment, tcp, write_chain, write_samples

CAUSES = [name for name in TransferLimits.model_fields if name.endswith("_s")]
PAGE = Transfer(0.25, 1.05, (SEGMENT,), page=PageSpans(0.0, ()))
"""Eleven samples, 100 ms apart; what the client has at 0.25 s left the server at 0.2 s."""
SLOW = range(0, 220, 20)
"""Packets until each sample: 2.4 of 10 Mbit/s."""
FULL = range(0, 913, 83)
"""As many as the path can carry."""

Course = dict[int, TcpInfo]
"""A connection's state at the samples at which there was one, by their number."""


def course(first: int, last: int = 10, **fields: int) -> Course:
    """A connection between two samples: of a full window, two packets on in each of them."""
    return {
        index: tcp(**{"data_segs_out": 2 * (index - first + 1), **fields})
        for index in range(first, last + 1)
    }


def page(
    directory: Path, *courses: Course, of: Transfer = PAGE, packets: Sequence[int] = SLOW
) -> list[SegmentSamples]:
    """The segments of a load with these connections."""
    states = [[one[index] for one in courses if index in one] for index in range(11)]
    write_samples(directory, rows_of(packets, states))
    return observe(directory, of)


def seconds(found: TransferLimits | MainConnection) -> dict[str, float]:
    """The causes that took time."""
    values = {name.removeprefix("main_"): value for name, value in found}
    return {name: round(values[name], 6) for name in CAUSES if values.get(name)}


def test_a_connection_of_an_earlier_load_is_none_of_the_page(tmp_path: Path) -> None:
    left = course(0, total_retrans=7, ca_state=3, peer_port=39999)
    own = course(1, total_retrans=2)
    segments = page(tmp_path, left, own)
    found = limits_of(segments, PAGE)
    assert seconds(found) == {"handshake_s": 0.25, "cwnd_s": 0.8}
    assert found.retransmits == 2
    download = replace(PAGE, page=None)
    assert limits_of(observe(tmp_path, download), download).retransmits == 9


def test_what_a_proxys_lasting_connection_did_before_does_not_count(tmp_path: Path) -> None:
    near, far = segment("proxy", "client", 0.0), segment("server", "proxy", 0.05)
    lasting = [[tcp(total_retrans=5 + (index > 3), total_rto=1)] for index in range(11)]
    own = [[tcp(total_retrans=1)] if index else [] for index in range(11)]
    rows = {"proxy": rows_of(SLOW, own), "server": rows_of(SLOW, lasting)}
    write_chain(tmp_path, rows)
    transfer = replace(PAGE, segments=(near, far))
    found = limits_of(observe(tmp_path, transfer), transfer)
    assert (found.retransmits, found.timeouts) == (2, 0)


def test_the_same_ports_at_two_addresses_are_two_connections(tmp_path: Path) -> None:
    one = course(1, total_retrans=1)
    other = {
        index: info._replace(local_address="10.200.0.2", total_retrans=2)
        for index, info in one.items()
    }
    assert limits_of(page(tmp_path, one, other), PAGE).retransmits == 3


def test_counts_end_with_the_last_byte(tmp_path: Path) -> None:
    """It comes at 0.45 s; a favicon is asked for later, over other connections, too."""
    transfer = replace(PAGE, end_s=0.45)
    own = {
        index: info._replace(total_retrans=index, total_rto=index > 7)
        for index, info in course(1).items()
    }
    segments = page(tmp_path, own, course(7, total_retrans=9, peer_port=40001), of=transfer)
    found = limits_of(segments, transfer)
    assert (found.retransmits, found.timeouts) == (5, 0)
    main = main_connection_of(segments, transfer)
    assert (main.main_retransmits, main.main_timeouts) == (5, 0)


def test_a_connection_without_data_holds_nothing_back(tmp_path: Path) -> None:
    """Of two that send, only the one whose window is full is waited for."""
    held = course(1)
    free = course(1, notsent_bytes=0, unacked=2, peer_port=40001)
    assert seconds(limits_of(page(tmp_path, held, free), PAGE)) == {
        "handshake_s": 0.25,
        "cwnd_s": 0.8,
    }


def test_a_page_without_data_anywhere_waits_for_its_application(tmp_path: Path) -> None:
    waiting = [course(1, notsent_bytes=0, unacked=0, peer_port=port) for port in (40000, 40001)]
    found = limits_of(page(tmp_path, *waiting), PAGE)
    assert seconds(found) == {"handshake_s": 0.25, "application_s": 0.8}


def test_the_main_connection_is_judged_alone(tmp_path: Path) -> None:
    """It is done before 0.5 s, when another one goes on filling the path."""
    states = course(1)
    done = {
        index: info if index < 5 else states[4]._replace(unacked=0, notsent_bytes=0)
        for index, info in states.items()
    }
    other = course(4, peer_port=40001, total_retrans=3, ca_state=3)
    segments = page(tmp_path, done, other, packets=FULL)
    assert seconds(limits_of(segments, PAGE)) == {"handshake_s": 0.25, "path_s": 0.8}
    main = main_connection_of(segments, PAGE)
    assert main.main_limited_by == "application"
    # Data were on the way until the sample at 0.5 s, which is 0.55 s at the client.
    assert seconds(main) == {"handshake_s": 0.25, "path_s": 0.3, "application_s": 0.5}
    assert (main.main_retransmits, main.main_slow_start_s) == (0, 0.3)


def test_slow_start_of_all_ends_with_the_first_connections(tmp_path: Path) -> None:
    main = {
        index: tcp(ssthresh=0x7FFFFFFF, ca_state=3 * (index > 6), data_segs_out=index)
        for index in range(1, 11)
    }
    other = {
        index: tcp(ssthresh=99, cwnd=10, ca_state=3 * (index > 4), peer_port=40001)
        for index in range(2, 11)
    }
    segments = page(tmp_path, main, other)
    assert ramp_up_of(segments, PAGE).slow_start_s == 0.5
    assert main_connection_of(segments, PAGE).main_slow_start_s == 0.7
    early = replace(PAGE, end_s=0.4)
    assert main_connection_of(segments, early).main_slow_start_s is None


@pytest.mark.parametrize(
    ("first", "connect_s", "chosen"),
    [
        ((1, 4), 0.05, 40000),  # the second comes after the document
        ((1, 2), 0.15, 40001),  # the first carried a redirect
        ((1, 2), 0.05, 40000),  # the second is spare
        ((1, 2), 0.24, 40001),  # the document came over a connection that was there
        ((5, 6), 0.3, 40000),  # samples are too sparse
    ],
)
def test_the_main_connection_is_the_documents(
    tmp_path: Path, first: tuple[int, int], connect_s: float, chosen: int
) -> None:
    of = replace(PAGE, page=PageSpans(connect_s, ()))
    ports = zip(first, (40000, 40001), strict=True)
    segments = page(tmp_path, *(course(at, peer_port=port) for at, port in ports), of=of)
    key = find_main(segments[0], of)
    assert isinstance(key, tuple)
    assert key[3] == chosen


def test_counters_alone_tell_of_no_main_connection(tmp_path: Path) -> None:
    segments = page(tmp_path)
    assert main_connection_of(segments, PAGE) == MainConnection()
    assert limits_of(segments, PAGE).limits_source == "counters"


def test_by_counters_a_server_that_was_asked_for_nothing_waits_for_its_application(
    tmp_path: Path,
) -> None:
    """The browser asks at 0.15 s and has all at 0.55 s; a round trip is 0.1 s."""
    asking = replace(PAGE, page=PageSpans(0.0, (TimeSpan(0.15, 0.55), TimeSpan(0.2, 0.5))))
    found = limits_of(page(tmp_path, of=asking), asking)
    assert found.application_s == pytest.approx(0.5)
    assert found.handshake_s == 0.25
    assert sum(seconds(found).values()) == pytest.approx(1.05)


def test_a_page_is_kept_with_its_transfer(tmp_path: Path) -> None:
    transfer = replace(PAGE, page=PageSpans(0.01, (TimeSpan(0.1, 0.3), TimeSpan(0.2, 0.4))))
    transfer.save(tmp_path)
    assert Transfer.load(tmp_path) == transfer


SPANS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 9)).map(lambda at: TimeSpan(at[0], at[0] + at[1]))
)


@given(SPANS)
def test_a_union_covers_the_same_in_pieces_apart(spans: list[TimeSpan]) -> None:
    found = union(spans)
    covered = {
        point / 2 for span in spans for point in range(2 * int(span[0]), 2 * int(span[1]) + 1)
    }
    assert covered == {
        point / 2 for span in found for point in range(2 * int(span[0]), 2 * int(span[1]) + 1)
    }
    assert all(one.end_s < other.begin_s for one, other in pairwise(found))
