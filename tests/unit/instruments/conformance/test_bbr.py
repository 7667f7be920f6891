"""Cases of BBR against made courses: states, pacing rates and windows of a sender that conforms, and of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.cases import bbr_paths as paths
from headway.instruments.conformance.cases import bbr_probing as probing
from headway.instruments.conformance.cases import bbr_startup as startup
from headway.instruments.conformance.catalogue import known_cases
from headway.instruments.conformance.course import EnteredState, SenderCourse
from headway.instruments.conformance.verdict import NotApplicableError
from tests.unit.instruments.conformance.judging import result
from tests.unit.instruments.conformance.made_courses import PACKET, course, without_states

RTT_S = 0.06
FRAME = PACKET / 1514


@dataclass(frozen=True)
class MadeBbr:
    """A sender of BBR version 3 on a path of 20 Mbit/s and 60 ms, each of whose numbers may be another one."""

    rate_mbit: float = 20 * FRAME
    startup_gain: float = 2.77
    drain_gain: float = 0.5
    up_gain: float = 1.25
    down_gain: float = 0.9
    up_rounds: float = 3.2
    plateau_rounds: float = 3.5
    drain_s: float = 0.1
    drain_leaves: float = 1.0
    down_leaves: float = 1.0
    probe_rtt_s: float = 5.2
    probe_rtt_lasts_s: float = 0.25
    probe_rtt_window: float = 0.5
    after_probe_rtt: str = "probe_bw"

    @property
    def bdp(self) -> float:
        return self.rate_mbit * 1e6 / 8 * RTT_S / PACKET

    @property
    def drain_begin_s(self) -> float:
        return 0.5 + self.plateau_rounds * RTT_S

    @property
    def probe_bw_s(self) -> float:
        return self.drain_begin_s + self.drain_s

    def gain(self, at: float) -> float:
        if at < self.drain_begin_s:
            return self.startup_gain if at >= 0.5 else 1.0
        if at < self.probe_bw_s:
            return self.drain_gain
        up_ends_s = 3.0 + self.up_rounds * RTT_S
        if 3.0 <= at < up_ends_s:
            return self.up_gain
        return self.down_gain if up_ends_s <= at < up_ends_s + 0.4 else 1.0

    def flight(self, at: float) -> float:
        if at < self.drain_begin_s:
            return 2 * self.bdp
        if at < self.probe_bw_s:
            share = (at - self.drain_begin_s) / self.drain_s
            return self.bdp * (2 + (self.drain_leaves - 2) * share)
        up_ends_s = 3.0 + self.up_rounds * RTT_S
        if up_ends_s <= at < up_ends_s + 0.4:
            return self.bdp * (1.8 + (self.down_leaves - 1.8) * (at - up_ends_s) / 0.4)
        return self.bdp

    def window(self, at: float) -> float:
        ends_s = self.probe_rtt_s + self.probe_rtt_lasts_s
        return self.bdp * (self.probe_rtt_window if self.probe_rtt_s <= at < ends_s else 2.0)

    def course(self) -> SenderCourse:
        return course(
            self.window,
            flight=self.flight,
            seconds=11.0,
            rtt_s=RTT_S,
            pacing_mbit=lambda at: 0.99 * self.rate_mbit * self.gain(at),
            states=(
                (0.03, "startup"),
                (self.drain_begin_s, "drain"),
                (self.probe_bw_s, "probe_bw"),
                (self.probe_rtt_s, "probe_rtt"),
                (self.probe_rtt_s + self.probe_rtt_lasts_s, self.after_probe_rtt),
            ),
        )


@pytest.mark.parametrize(
    "case",
    [
        startup.StartupPlateau(),
        startup.DrainInflight(),
        probing.ProbeUpPlateau(),
        probing.ProbeDownInflight(),
        probing.ProbeRtt(),
    ],
    ids=lambda case: case.name,
)
def test_a_sender_as_the_draft_has_it_passes(case: ConformanceCase) -> None:
    assert result(case, MadeBbr().course()) == "pass"


@pytest.mark.parametrize(
    ("case", "other"),
    [
        (startup.StartupPlateau(), MadeBbr(startup_gain=2.0)),
        (startup.StartupPlateau(), MadeBbr(rate_mbit=24 * FRAME)),
        (startup.StartupPlateau(), MadeBbr(plateau_rounds=9.0)),
        (startup.DrainInflight(), MadeBbr(drain_gain=0.35)),
        (startup.DrainInflight(), MadeBbr(drain_leaves=1.5)),
        (startup.DrainInflight(), MadeBbr(drain_s=0.6)),
        (probing.ProbeUpPlateau(), MadeBbr(up_gain=1.4)),
        (probing.ProbeUpPlateau(), MadeBbr(up_rounds=1.0)),
        (probing.ProbeUpPlateau(), MadeBbr(up_rounds=9.0)),
        (probing.ProbeUpPlateau(), MadeBbr(down_gain=1.0)),
        (probing.ProbeDownInflight(), MadeBbr(down_gain=0.75)),
        (probing.ProbeDownInflight(), MadeBbr(down_leaves=1.4)),
        (probing.ProbeRtt(), MadeBbr(probe_rtt_s=10.1)),
        (probing.ProbeRtt(), MadeBbr(probe_rtt_window=0.04)),
        (probing.ProbeRtt(), MadeBbr(probe_rtt_lasts_s=0.9)),
        (probing.ProbeRtt(), MadeBbr(after_probe_rtt="startup")),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_sender_with_another_number_fails(case: ConformanceCase, other: MadeBbr) -> None:
    try:
        assert result(case, other.course()) == "fail"
    except NotApplicableError as error:
        # Without a phase that goes down there is none to judge, which is no pass either.
        pytest.fail(str(error))


@pytest.mark.parametrize(
    "case",
    [case for case in known_cases().values() if case.family is CaseFamily.BBR],
    ids=lambda case: case.name,
)
def test_a_program_that_names_no_states_is_not_judged(case: ConformanceCase) -> None:
    with pytest.raises(NotApplicableError, match="names none"):
        result(case, without_states(MadeBbr().course()))


def limited(
    states: tuple[tuple[float, str], ...], losses_s: tuple[float, ...] = ()
) -> SenderCourse:
    """A sender whose application limits it, with some states."""
    return course(
        lambda _: 300.0,
        flight=lambda _: 50.0,
        seconds=14.0,
        rtt_s=0.1,
        pacing_mbit=lambda _: 20.0,
        states=states,
        losses_s=losses_s,
    )


STAYS = ((0.1, "startup"),)
LEAVES = ((0.1, "startup"), (1.0, "drain"), (1.1, "probe_bw"))
RETURNS = ((0.1, "startup"), (5.2, "probe_rtt"), (5.6, "startup"))
MOVES_ON = ((0.1, "startup"), (5.2, "probe_rtt"), (5.6, "probe_bw"))
LOSSES = (2.2, 2.21, 2.22)


@pytest.mark.parametrize(
    ("case", "states", "losses_s", "expected"),
    [
        (startup.ApplicationLimitedStartup(), STAYS, (), "pass"),
        (startup.ApplicationLimitedStartup(), LEAVES, (), "fail"),
        (startup.ProbeRttInStartup(), RETURNS, (), "pass"),
        (startup.ProbeRttInStartup(), MOVES_ON, (), "fail"),
        (startup.StartupLoss(), ((0.1, "startup"), (2.4, "drain")), LOSSES, "pass"),
        (startup.StartupLoss(), ((0.1, "startup"), (4.4, "drain")), LOSSES, "fail"),
        (startup.StartupLoss(), STAYS, LOSSES, "fail"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_application_limited_senders(
    case: ConformanceCase,
    states: tuple[tuple[float, str], ...],
    losses_s: tuple[float, ...],
    expected: str,
) -> None:
    assert result(case, limited(states, losses_s)) == expected


Pacing = Callable[[float], float]
BETWEEN = ((0.03, "startup"), (0.7, "drain"), (0.8, "probe_bw"))


def paced(
    pacing_mbit: Pacing,
    *,
    seconds: float = 12.0,
    window: Callable[[float], float] = lambda _: 300.0,
    losses_s: tuple[float, ...] = (),
    states: tuple[tuple[float, str], ...] = BETWEEN,
    rtt_s: float = 0.04,
) -> SenderCourse:
    return course(
        window,
        seconds=seconds,
        rtt_s=rtt_s,
        pacing_mbit=pacing_mbit,
        states=states,
        losses_s=losses_s,
    )


@pytest.mark.parametrize(("reached_s", "expected"), [(8.0, "pass"), (11.8, "fail")])
def test_a_rate_that_rises(reached_s: float, expected: str) -> None:
    rising = paced(lambda at: (40 if at > reached_s else 4) * FRAME)
    assert result(paths.RateUp(), rising) == expected


@pytest.mark.parametrize(
    ("pacing", "expected"),
    [
        (lambda at: (40 if at < 3.1 else 12 if at < 8 else 3.96) * FRAME, "pass"),
        (lambda at: (40 if at < 3.1 else 30 if at < 8 else 3.96) * FRAME, "fail"),
        (lambda at: (40 if at < 3.1 else 12) * FRAME, "fail"),
    ],
    ids=["adapts", "too slowly", "never"],
)
def test_a_rate_that_falls(pacing: Pacing, expected: str) -> None:
    falling = paced(pacing, seconds=18.0, losses_s=(3.1,))
    assert result(paths.RateDown(), falling) == expected


@pytest.mark.parametrize(("lost", "expected"), [(0.0, "pass"), (0.2, "fail")])
def test_a_policer(lost: float, expected: str) -> None:
    sent = paths.TokenBucket.scenario.rate_bytes_s * paths.TokenBucket.scenario.seconds / PACKET
    losses = tuple(9.0 + n * 1e-4 for n in range(round(sent / 2 * lost)))
    assert (
        result(paths.TokenBucket(), paced(lambda _: 8.0, seconds=16.0, losses_s=losses)) == expected
    )


@pytest.mark.parametrize(
    ("window", "mbit", "expected"),
    [(4.0, 0.99, "pass"), (2.0, 0.99, "fail"), (4.0, 1.3, "fail")],
)
def test_a_path_that_holds_less_than_a_packet(window: float, mbit: float, expected: str) -> None:
    small = paced(lambda _: mbit * FRAME, window=lambda _: window, rtt_s=0.05)
    assert result(paths.SubPacketProduct(), small) == expected


@pytest.mark.parametrize(
    ("window", "expected"), [(200.0, "pass"), (110.0, "fail"), (300.0, "fail")]
)
def test_a_spurious_recovery(window: float, expected: str) -> None:
    spurious = paced(
        lambda _: 19.0, window=lambda at: 200.0 if at < 2.05 else window, losses_s=(2.0,)
    )
    assert result(paths.SpuriousRecovery(), spurious) == expected


@pytest.mark.parametrize(("window", "expected"), [(200.0, "pass"), (100.0, "fail")])
def test_a_spurious_timeout(window: float, expected: str) -> None:
    silent = paced(lambda _: 19.0, window=lambda at: 200.0 if at < 3.2 else window)
    assert result(paths.SpuriousTimeout(), silent) == expected


@pytest.mark.parametrize(
    ("mbit", "products", "expected"),
    [(19.8, 3.0, "pass"), (12.0, 3.0, "fail"), (19.8, 1.5, "fail")],
)
@pytest.mark.parametrize(
    "case", [paths.StartupAggregation(), paths.CruiseAggregation()], ids=lambda case: case.name
)
def test_bursts_of_acknowledgments(
    case: ConformanceCase, mbit: float, products: float, expected: str
) -> None:
    product = 20e6 / 8 * FRAME * 0.02 / PACKET
    bursty = paced(
        lambda _: mbit * FRAME, window=lambda _: products * product, seconds=6.2, rtt_s=0.03
    )
    assert result(case, bursty) == expected


@pytest.mark.parametrize(("rounds", "expected"), [(3.5, "pass"), (7.0, "fail")])
def test_drain_ends_after_three_rounds(rounds: float, expected: str) -> None:
    ends_s = 0.85 + rounds * 0.1
    full = paced(
        lambda _: 10.0, states=((0.03, "startup"), (0.85, "drain"), (ends_s, "probe_bw")), rtt_s=0.1
    )
    assert result(startup.DrainRounds(), full) == expected


def probing_with_losses(rounds: float, *, down: bool) -> SenderCourse:
    """A sender that probes up at 3 s and at 6 s, for some rounds of 60 ms, and meets losses."""

    def gain(at: float) -> float:
        for begin_s in (3.0, 6.0):
            ends_s = begin_s + rounds * 0.06
            if begin_s <= at < ends_s:
                return 1.25
            if down and ends_s <= at < ends_s + 0.1:
                return 0.9
        return 1.0

    return paced(lambda at: 19 * gain(at), losses_s=(3.05, 6.05), rtt_s=0.06)


@pytest.mark.parametrize(
    ("rounds", "down", "expected"), [(1.5, True, "pass"), (4.5, True, "fail"), (1.5, False, "fail")]
)
def test_losses_end_probing(rounds: float, down: bool, expected: str) -> None:
    assert result(probing.ProbeUpLoss(), probing_with_losses(rounds, down=down)) == expected


@pytest.mark.parametrize(("rounds", "expected"), [(2.0, "pass"), (6.0, "fail")])
def test_losses_end_probing_where_the_application_limits(rounds: float, expected: str) -> None:
    probes = probing_with_losses(rounds, down=True)
    assert result(probing.ProbeUpLossLimited(), probes) == expected


@pytest.mark.parametrize(("probe_s", "expected"), [(20.0, "pass"), (12.1, "fail")])
def test_idle_times_take_the_place_of_probe_rtt(probe_s: float, expected: str) -> None:
    idle = paced(lambda _: 19.0, seconds=24.0)
    flight = idle.in_flight_bytes.copy()
    flight[(idle.at_s > 4) & (idle.at_s < 12)] = 0.0
    states = (*idle.states, EnteredState(probe_s, "probe_rtt"))
    idle = replace(idle, in_flight_bytes=flight, states=states)
    assert result(probing.ProbeRttSkipped(), idle) == expected


@pytest.mark.parametrize(
    ("lasts_s", "rounds", "expected"), [(2.2, 1.0, "pass"), (0.3, 1.0, "fail"), (2.2, 9.0, "fail")]
)
def test_going_down_ends_with_the_wait_for_a_probe(
    lasts_s: float, rounds: float, expected: str
) -> None:
    ends_s = 4.0 + lasts_s

    def gain(at: float) -> float:
        if 3.6 <= at < 4.0 or ends_s + rounds * 0.06 <= at < ends_s + rounds * 0.06 + 0.3:
            return 1.25
        return 0.9 if 4.0 <= at < ends_s else 1.0

    slow = paced(lambda at: 19 * gain(at), rtt_s=0.06)
    assert result(probing.ProbeDownTime(), slow) == expected


def pausing(*, falls: bool = False, gain: float = 1.25, again: bool = True) -> SenderCourse:
    """A sender that pauses at 3.8 s, and probes up from 4.1 s on, a round trip after it goes on; and once more later."""
    probes = (4.1, 7.0) if again else (4.1, 14.5)

    def rate(at: float) -> float:
        here = 19 * (0.8 if falls and 4.5 < at < 6.9 else 1.0)
        return here * (gain if any(begin <= at < begin + 0.4 for begin in probes) else 1.0)

    pausing = paced(rate, seconds=16.0, rtt_s=0.1)
    flight = pausing.in_flight_bytes.copy()
    flight[(pausing.at_s > 3.8) & (pausing.at_s < 4.0)] = 0.0
    return replace(pausing, in_flight_bytes=flight)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (pausing(), "pass"),
        (pausing(falls=True), "fail"),
        (pausing(gain=1.15), "fail"),
        (pausing(again=False), "fail"),
    ],
    ids=["as the draft has it", "lower estimate", "lower gain", "never again"],
)
def test_a_pause_before_a_probe(made: SenderCourse, expected: str) -> None:
    assert result(probing.PauseInRefill(), made) == expected


def test_a_pause_at_another_time_is_not_judged() -> None:
    elsewhere = paced(pausing_never, seconds=16.0, rtt_s=0.1)
    with pytest.raises(NotApplicableError, match="no pause"):
        result(probing.PauseInRefill(), elsewhere)


def pausing_never(at: float) -> float:
    return 19 * (1.25 if 4.1 <= at < 4.5 or 7.0 <= at < 7.4 else 1.0)
