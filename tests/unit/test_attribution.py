"""Chains of senders: which of them held a transfer back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.columns import TransferLimits
from headway.contract.samples import TcpInfo
from headway.diagnosis.limits import limits_of
from headway.diagnosis.segment import observe
from headway.diagnosis.series import read_series
from headway.diagnosis.transfer import SampledSegment, Transfer
from headway.programs.measurement import BulkFlow
from tests.unit.made_samples import Row, counters, rows_of, segment, tcp, write_chain

NEAR = segment("pep", "client", 0.0)
FAR = segment("server", "pep", 0.2)
"""What the server sends arrives at the client 200 ms later, through a PEP one cable away from it."""
CAUSES = [name for name in TransferLimits.model_fields if name.endswith("_s")]

WAITING = tcp(notsent_bytes=0, unacked=3)
GROWING = tcp(ssthresh=99)
HELD = tcp()
REPAIRING = tcp(ca_state=3)


def sending(*states: TcpInfo, backlog: int = 0) -> list[Row]:
    """Eleven samples, 100 ms apart, with these states of a connection, the last one repeated."""
    shown = [states[min(index, len(states) - 1)] for index in range(11)]
    found = [[info._replace(data_segs_out=20 * index)] for index, info in enumerate(shown)]
    return rows_of([20 * index for index in range(11)], found, backlog=backlog)


def limited(
    directory: Path,
    rows: Mapping[str, Sequence[Row]],
    segments: tuple[SampledSegment, ...] = (NEAR, FAR),
    start_s: float = 0.2,
    end_s: float = 1.0,
    flows: tuple[BulkFlow, ...] = (),
) -> TransferLimits:
    write_chain(directory, rows)
    transfer = Transfer(start_s, end_s, segments, flows)
    transfer.save(directory)
    return limits_of(observe(directory, transfer), transfer)


def seconds(found: TransferLimits) -> dict[str, float]:
    """The causes that took time."""
    return {name: round(getattr(found, name), 6) for name in CAUSES if getattr(found, name)}


def test_a_sender_that_waits_passes_the_question_on(tmp_path: Path) -> None:
    found = limited(tmp_path, {"pep": sending(WAITING), "server": sending(HELD)})
    assert seconds(found) == {"handshake_s": 0.2, "cwnd_s": 0.8}
    assert (found.limited_by, found.limited_section) == ("congestion window", "server > pep")


def test_a_sender_that_does_not_wait_answers_it(tmp_path: Path) -> None:
    found = limited(tmp_path, {"pep": sending(HELD), "server": sending(REPAIRING)})
    assert seconds(found) == {"handshake_s": 0.2, "cwnd_s": 0.8}
    assert found.limited_section == "pep > client"


def test_the_last_sender_has_nobody_to_wait_for(tmp_path: Path) -> None:
    found = limited(tmp_path, {"pep": sending(WAITING), "server": sending(WAITING)})
    assert seconds(found) == {"handshake_s": 0.2, "application_s": 0.8}
    assert (found.limited_by, found.limited_section) == ("application", "server > pep")


def test_the_question_goes_up_a_chain_to_the_first_that_does_not_wait(tmp_path: Path) -> None:
    rows = {
        "pep": sending(WAITING),
        "gateway": sending(HELD, backlog=9000),
        "server": sending(REPAIRING),
    }
    segments = (NEAR, segment("gateway", "pep", 0.1), segment("server", "gateway", 0.2))
    found = limited(tmp_path, rows, segments)
    assert seconds(found) == {"handshake_s": 0.2, "path_s": 0.8}
    assert (found.limited_by, found.limited_section) == ("path", "gateway > pep")
    assert read_series(tmp_path).limiting == 1


def test_each_moment_is_asked_by_itself(tmp_path: Path) -> None:
    """The PEP's window is full until 0.5 s, so that the interval after that is still the window's."""
    rows = {"pep": sending(*[HELD] * 6, WAITING), "server": sending(GROWING)}
    found = limited(tmp_path, rows, end_s=0.9)
    assert seconds(found) == {"handshake_s": 0.2, "cwnd_s": 0.4, "growth_s": 0.3}
    assert (found.limited_by, found.limited_section) == ("congestion window", "pep > client")


def test_senders_are_asked_about_the_time_when_they_sent_what_arrives(tmp_path: Path) -> None:
    """The server's slow start ends at 0.5 s, which the client notices 200 ms later."""
    rows = {"pep": sending(WAITING), "server": sending(*[GROWING] * 5, REPAIRING)}
    assert seconds(limited(tmp_path, rows)) == {
        "handshake_s": 0.2,
        "growth_s": 0.4,
        "recovery_s": 0.4,
    }


def test_a_share_of_an_interval_is_passed_on_as_a_share(tmp_path: Path) -> None:
    """For 30 ms of every 100 ms the PEP waits for the client's window, else for the server."""
    near = [WAITING._replace(rwnd_limited_us=30_000 * index) for index in range(11)]
    far = [HELD._replace(sndbuf_limited_us=50_000 * index) for index in range(11)]
    rows = {"pep": sending(*near), "server": sending(*far)}
    assert seconds(limited(tmp_path, rows)) == {
        "handshake_s": 0.2,
        "rwnd_limited_s": 0.24,
        "sndbuf_limited_s": 0.28,
        "cwnd_s": 0.28,
    }


def test_where_a_cause_is_on_two_sections_the_longer_one_is_told(tmp_path: Path) -> None:
    """Held by windows for 0.2 s at the PEP and then 0.6 s at the server."""
    rows = {"pep": sending(*[HELD] * 4, WAITING), "server": sending(HELD)}
    found = limited(tmp_path, rows)
    assert seconds(found) == {"handshake_s": 0.2, "cwnd_s": 0.8}
    assert found.limited_section == "server > pep"


def test_a_handshake_is_on_no_section(tmp_path: Path) -> None:
    rows = {"pep": sending(WAITING), "server": sending(HELD)}
    found = limited(tmp_path, rows, start_s=0.6)
    assert seconds(found) == {"handshake_s": 0.6, "cwnd_s": 0.4}
    assert (found.limited_by, found.limited_section) == ("handshake", None)


def test_what_is_not_known_of_the_sender_behind_stays_with_the_one_that_waits(
    tmp_path: Path,
) -> None:
    """Nothing that the server sent before its first sample can have come before 0.5 s."""
    rows = {"pep": sending(WAITING), "server": sending(HELD)}
    found = limited(tmp_path, rows, (NEAR, replace(FAR, delay_s=0.5)))
    assert seconds(found) == {"handshake_s": 0.2, "application_s": 0.3, "cwnd_s": 0.5}


def test_packets_of_all_sections_are_counted_until_a_flow_is_cut_off(tmp_path: Path) -> None:
    """It ends at 0.8 s; a sample later the PEP has sent more again, and a path lost more."""

    def rows(lost: int, drops: int, packets: int) -> list[Row]:
        late = [index > 8 for index in range(11)]
        states = [
            [tcp(data_segs_out=index, total_retrans=lost + 5 * late[index])] for index in range(11)
        ]
        return [
            (
                index / 10,
                counters(packets * index, drops=1),
                counters(packets * index, drops=drops + late[index]),
                states[index],
            )
            for index in range(11)
        ]

    rows_of_both = {"pep": rows(2, 3, 20), "server": rows(4, 5, 40)}
    cut_off = (BulkFlow(0.0, 0.1, (1448,) * 8),)
    found = limited(tmp_path, rows_of_both, end_s=0.8, flows=cut_off)
    assert (found.retransmits, found.path_drops, found.queue_drops) == (6, 8, 2)
    # 40 frames of 1514 bytes in every 100 ms of 10 Mbit/s.
    assert found.utilisation == pytest.approx(40 * 1514 * 8 / 1e6)
    assert found.limits_source == "tcp_info"


def test_one_sender_that_does_not_tell_leaves_counts_unknown(tmp_path: Path) -> None:
    rows = {"pep": rows_of([20 * index for index in range(11)]), "server": sending(HELD)}
    found = limited(tmp_path, rows)
    assert (found.limits_source, found.retransmits) == ("counters, tcp_info", None)


STATES = st.sampled_from([WAITING, GROWING, HELD, REPAIRING])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(STATES, min_size=11, max_size=11),
    st.lists(STATES, min_size=11, max_size=11),
    st.floats(0.0, 0.3),
    st.floats(0.0, 0.3),
    st.floats(0.7, 1.0),
)
def test_every_second_has_one_cause(
    tmp_path: Path,
    near: list[TcpInfo],
    far: list[TcpInfo],
    delay_s: float,
    start_s: float,
    end_s: float,
) -> None:
    rows = {"pep": sending(*near), "server": sending(*far)}
    segments = (NEAR, replace(FAR, delay_s=delay_s))
    found = limited(tmp_path, rows, segments, start_s=start_s, end_s=end_s)
    assert sum(getattr(found, name) for name in CAUSES) == pytest.approx(end_s)
