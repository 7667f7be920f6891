from __future__ import annotations

from headway.guest.netlink import TcpInfo
from headway.results.limits import Sample, find_limits


def samples(rates_mbit: list[float], *, backlog: int = 0, drops: int = 0) -> list[Sample]:
    """One sample each 100 ms, at these rates in between."""
    made, sent = [Sample(0, 0, 0, 0, 0, None)], 0.0
    for index, rate in enumerate(rates_mbit, start=1):
        sent += rate * 1e6 / 8 * 0.1
        made.append(Sample(index * 0.1, int(sent), backlog, 0, drops, None))
    return made


def limited(made: list[Sample]) -> str | None:
    end = made[-1].at_s
    return find_limits(made, rate_mbit=10, rtt_s=0.1, start_s=0, end_s=end).limited_by


def test_a_full_link_is_the_limit() -> None:
    assert limited(samples([10] * 20)) == "path"


def test_a_standing_queue_is_the_paths_limit() -> None:
    assert limited(samples([5] * 20, backlog=50_000)) == "path"


def test_a_constant_rate_below_the_paths_is_a_plateau() -> None:
    found = find_limits(samples([5.2] * 40), rate_mbit=10, rtt_s=0.1, start_s=0, end_s=4)
    assert found.limited_by == "plateau"
    assert found.plateau_s is not None and found.plateau_s > 3


def test_a_rate_that_doubles_is_growth() -> None:
    assert limited(samples([0.1 * 1.3**i for i in range(16)])) == "growth"


def test_after_a_loss_a_slow_rate_is_recovery() -> None:
    assert limited(samples([1] * 20, drops=3)) == "loss"


def test_a_receive_window_that_held_the_server_is_named() -> None:
    def tcp(limited_us: int) -> TcpInfo:
        fields = dict.fromkeys(TcpInfo._fields, 0) | {"local_port": 443, "cwnd": 10}
        return TcpInfo(**fields | {"rwnd_limited_us": limited_us})

    made = [Sample(i * 0.1, i * 60_000, 0, 0, 0, tcp(90_000 * i)) for i in range(20)]
    assert limited(made) == "receive window"


def test_no_samples_tell_nothing() -> None:
    assert find_limits([], rate_mbit=10, rtt_s=0.1, start_s=0, end_s=1).limited_by is None
