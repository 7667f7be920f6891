"""Bulk flows over time: what was received, how soon the path was full, and ratios of two contenders."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis.goodput import FlowRun, Received, ratios_over_time
from headway.columns import RampUp
from headway.diagnosis.goodput import received_bytes
from headway.diagnosis.rampup import bottleneck, path_filled_s, ramp_up_of
from headway.diagnosis.segment import observe
from headway.diagnosis.transfer import SampledSegment, Transfer
from headway.programs.measurement import BulkFlow
from headway.study.published import RunInterval, TimeOrigin
from tests.unit.made_samples import SEGMENT, rows_of, tcp, transfer, write_chain, write_samples

FULL = round(10e6 / 8 * 0.1 * 1448 / 1514)
"""What a path of 10 Mbit/s carries of payload in 100 ms: 119,551 bytes."""


def grown(directory: Path, of: Transfer, received: Sequence[int]) -> RampUp:
    return ramp_up_of(observe(directory, of), of, received)


def flow(*amounts: int, start_s: float = 0.0, interval_s: float = 0.1) -> BulkFlow:
    return BulkFlow(start_s, interval_s, amounts)


@pytest.mark.parametrize(
    ("flows", "received"),
    [
        ([], ()),
        ([flow(0, 0)], ()),
        ([flow(0, 10, 0, 5, 0)], (0, 10, 0, 5)),
        ([flow(10, 20, start_s=2.56e-7)], (10, 20)),
        ([flow(10, 20), flow(1, 2, start_s=0.2)], (10, 20, 1, 2)),
        ([flow(100, 200, start_s=0.025)], (75, 175, 50)),
        ([flow(100, 40, interval_s=0.2)], (50, 50, 20, 20)),
        ([flow(1, 1, 1, 1, interval_s=0.05)], (2, 2)),
    ],
)
def test_bytes_of_all_flows_in_tenths_of_a_second(
    flows: list[BulkFlow], received: tuple[int, ...]
) -> None:
    assert received_bytes(flows, began_s=0) == received


def test_what_the_client_did_before_it_began_does_not_count() -> None:
    assert received_bytes([flow(10, 20, start_s=0.731)], began_s=0.731) == (10, 20)
    assert received_bytes([flow(9, start_s=0.6), flow(1, start_s=0.5)], began_s=0.5) == (1, 9)


@given(
    st.lists(
        st.builds(
            BulkFlow,
            start_s=st.floats(0, 20),
            interval_s=st.sampled_from((0.01, 0.1, 0.25, 1.0)),
            bytes=st.lists(st.integers(0, 10**7), max_size=20).map(tuple),
        ),
        max_size=4,
    )
)
def test_no_byte_is_lost_or_made(flows: list[BulkFlow]) -> None:
    received = received_bytes(flows, min((one.start_s for one in flows), default=0))
    assert sum(received) == sum(sum(one.bytes) for one in flows)
    assert all(amount >= 0 for amount in received)


@pytest.mark.parametrize(
    ("received", "at_s"),
    [
        ([FULL] * 5, 0.0),
        ([FULL] * 4, None),
        ([0, 0, 0, *[FULL] * 5], 0.3),
        ([0, FULL // 2 + 1, *[FULL] * 9], 0.1),  # 4.5 of 5 are 90 %
        ([0, FULL // 2 - 1, *[FULL] * 9], 0.2),
        ([round(0.89 * FULL)] * 20, None),
        ([0, 0, 0, 0, 10 * FULL] * 5, None),  # came at once what had waited
        ([], None),
    ],
)
def test_when_the_path_was_full(received: list[int], at_s: float | None) -> None:
    assert path_filled_s(received, rate_mbit=10) == at_s


def test_slow_start_ends_with_the_first_sample_outside_of_it(tmp_path: Path) -> None:
    states = [tcp(ssthresh=0x7FFFFFFF), tcp(ssthresh=99), tcp(), tcp(ca_state=3)]
    shown = [states[(index > 2) + (index > 4) + (index > 8)] for index in range(11)]
    write_samples(tmp_path, rows_of(range(0, 220, 20), [[info] for info in shown]))
    assert grown(tmp_path, transfer(), [FULL] * 9) == RampUp(ramp_s=0.0, slow_start_s=0.5)


def test_repairing_a_loss_ends_slow_start(tmp_path: Path) -> None:
    states = [tcp(ssthresh=0x7FFFFFFF, ca_state=3 * (index > 6)) for index in range(11)]
    write_samples(tmp_path, rows_of(range(0, 220, 20), [[info] for info in states]))
    assert grown(tmp_path, transfer(), ()).slow_start_s == 0.7


def test_slow_start_begins_with_the_client(tmp_path: Path) -> None:
    states = [tcp(ssthresh=0x7FFFFFFF, ca_state=3 * (index > 6)) for index in range(11)]
    write_samples(tmp_path, rows_of(range(0, 220, 20), [[info] for info in states]))
    late = replace(transfer(), began_s=0.2)
    assert grown(tmp_path, late, [FULL] * 9) == RampUp(ramp_s=0.0, slow_start_s=0.5)


def test_without_the_senders_word_the_end_of_slow_start_is_unknown(tmp_path: Path) -> None:
    write_samples(tmp_path, rows_of(range(0, 220, 20)))
    assert grown(tmp_path, transfer(), ()) == RampUp(ramp_s=None, slow_start_s=None)


def test_of_a_chain_the_sender_at_the_bottleneck_counts(tmp_path: Path) -> None:
    near = SampledSegment("pep", "client", "queue-pep", ("loss-pep",), None, 0.0, 0.0)
    far = SampledSegment("server", "pep", "queue", ("loss",), rate_mbit=10, rtt_s=0.1, delay_s=0.05)
    slow = [[tcp(ssthresh=0x7FFFFFFF if index < 6 else 9)] for index in range(11)]
    idle = [[tcp(ssthresh=9)] for _ in range(11)]
    packets = range(0, 220, 20)
    write_chain(tmp_path, {"pep": rows_of(packets, idle), "server": rows_of(packets, slow)})
    found = grown(tmp_path, Transfer(0.25, 1.05, (near, far)), [0, *[FULL] * 8])
    assert found == RampUp(ramp_s=0.1, slow_start_s=0.6)


def test_the_bottleneck_is_the_hop_with_the_least_rate() -> None:
    fast = SampledSegment("a", "b", "queue", ("loss",), rate_mbit=100, rtt_s=0.1, delay_s=0.05)
    endless = SampledSegment("b", "c", "queue", ("loss",), rate_mbit=None, rtt_s=0.1, delay_s=0.05)
    assert bottleneck([endless, fast, SEGMENT]) == (2, SEGMENT)
    assert bottleneck([endless, endless]) == (0, endless)


def received(*runs: tuple[int, ...], seeds: tuple[int, ...] = ()) -> Received:
    """Runs with these bytes, in kilobytes; seeds from 1 unless given."""
    found = seeds or tuple(range(1, len(runs) + 1))
    return Received.of(
        FlowRun(seed, seed, tuple(1000 * amount for amount in run))
        for seed, run in zip(found, runs, strict=True)
    )


def test_goodput_is_the_mean_over_runs() -> None:
    """25 kB in 100 ms are 2 Mbit/s; the second run ends after two intervals."""
    flows = received((0, 25, 50), (0, 75))
    assert flows.goodput_mbit.tolist() == pytest.approx([0.0, 4.0, 2.0])


def flow_run(*amounts: int, first_byte_s: float | None, end_s: float | None) -> FlowRun:
    """Kilobytes in each 100 ms."""
    return FlowRun(1, 1, tuple(1000 * amount for amount in amounts), first_byte_s, end_s)


def test_goodput_of_an_interval_begins_at_the_first_byte() -> None:
    """25 kB in 100 ms are 2 Mbit/s; nothing came before the first byte or after the end."""
    run = flow_run(0, 10, 25, 25, 5, first_byte_s=0.16, end_s=0.42)
    for from_s, to_s, mbit in ((0, 0.04, 2.0), (0.04, 0.24, 2.0), (0, 0.26, 2.0)):
        span = RunInterval(from_s, to_s, TimeOrigin.FIRST_BYTE)
        assert run.goodput_mbit(span) == pytest.approx(mbit)
    assert run.goodput_mbit(RunInterval(0.1, 0.16, TimeOrigin.START)) == 0
    assert run.goodput_mbit(RunInterval(0, 0.27, TimeOrigin.FIRST_BYTE)) is None
    assert run.goodput_mbit(RunInterval(0, 0.43, TimeOrigin.START)) is None


def test_silence_to_the_end_is_goodput_of_zero() -> None:
    run = flow_run(0, 25, first_byte_s=0.1, end_s=15.0)
    assert run.goodput_mbit(RunInterval(1.0, 14.9, TimeOrigin.FIRST_BYTE)) == 0
    assert (
        flow_run(first_byte_s=None, end_s=15.0).goodput_mbit(RunInterval(1, 2, TimeOrigin.START))
        == 0
    )
    assert run.goodput_mbit(RunInterval(0, 15.0, TimeOrigin.START)) == pytest.approx(2.0 / 150)


def test_runs_that_did_not_last_so_long_are_left_out() -> None:
    runs = [
        flow_run(25, 25, first_byte_s=0.0, end_s=end_s) for end_s in (0.2, 0.1999999, 0.1, None)
    ]
    goodput = Received.of(runs).goodput_in(RunInterval(0, 0.2, TimeOrigin.START))
    assert goodput.values == pytest.approx((2.0, 2.0))


def test_a_ratio_is_that_of_the_means_of_what_came_so_far() -> None:
    one, other = received((0, 10, 30), (0, 30, 10)), received((0, 0, 10), (0, 10, 0))
    values = ratios_over_time(one, other).values
    assert math.isnan(values[0])
    assert values[1:].tolist() == [4.0, 4.0]


def test_a_contender_that_ended_stays_where_it_was() -> None:
    values = ratios_over_time(received((80,)), received((20, 20, 20, 20))).values
    assert values.tolist() == [4.0, 2.0, pytest.approx(4 / 3), 1.0]


def test_a_single_run_has_a_ratio_and_no_band() -> None:
    ratios = ratios_over_time(received((1, 1)), received((1, 1), (1, 1)))
    assert ratios.values.tolist() == [1.0, 1.0]
    assert np.isnan(ratios.low).all() and np.isnan(ratios.high).all()


VARIED = ((5, 1, 9), (2, 7, 1), (4, 4, 4), (9, 1, 3))


def test_runs_are_resampled_by_seed() -> None:
    """Each run received twice what its pair did: the band has no width, since luck is shared."""
    twice = tuple(tuple(2 * amount for amount in run) for run in VARIED)
    paired = ratios_over_time(received(*twice), received(*VARIED))
    assert paired.low == pytest.approx([2.0] * 3) and paired.high == pytest.approx([2.0] * 3)
    apart = ratios_over_time(received(*twice, seeds=(5, 6, 7, 8)), received(*VARIED))
    assert (apart.low < 1.9).all() and (apart.high > 2.1).all()


@given(st.permutations(range(4)))
def test_the_order_of_runs_is_nothing_to_a_band(order: list[int]) -> None:
    other = received((1, 1, 1), (2, 1, 2), (3, 3, 3), (1, 1, 4))
    seeds = tuple(place + 1 for place in order)
    shuffled = received(*(VARIED[place] for place in order), seeds=seeds)
    one, two = ratios_over_time(shuffled, other), ratios_over_time(received(*VARIED), other)
    assert np.array_equal(one.low, two.low) and np.array_equal(one.high, two.high)
    assert (one.low <= one.values).all() and (one.values <= one.high).all()


def test_no_band_where_a_resample_has_no_denominator() -> None:
    ratios = ratios_over_time(received((1, 1), (1, 1)), received((0, 1), (1, 1)))
    assert ratios.values.tolist() == [2.0, pytest.approx(4 / 3)]
    assert math.isnan(ratios.high[0]) and ratios.high[1] == 2.0
