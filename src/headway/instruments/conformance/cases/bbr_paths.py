"""BBR on paths that aggregate, change, police and reorder: example test cases of draft-ietf-ccwg-bbr."""

from __future__ import annotations

import numpy as np

from headway.instruments.conformance.bbrphases import (
    PACING_MARGIN,
    bdp_bytes,
    capacity_bytes_s,
    cruising_bytes_s,
    pacing_at,
    state_at,
    state_begins,
)
from headway.instruments.conformance.cases.bbr_startup import BbrCase
from headway.instruments.conformance.course import SenderCourse
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.verdict import Examination, Mark, NotApplicableError
from headway.overriding import override

_AGGREGATION = {"kernel": {"coalescing": "10 ms"}}
"""Acknowledgments wait for each other at the sender's host."""
MIN_PIPE_PACKETS = 4
"""BBR.MinPipeCwnd."""
_STEP_S = 6.0
_TENFOLD = 10.0


class StartupAggregation(BbrCase):
    """Startup where acknowledgments come in bursts."""

    name = "bbr-startup-aggregation"
    source = "draft-ietf-ccwg-bbr, Achieving Expected STARTUP Bandwidth on a Link With Aggregation"
    description = "Where acknowledgments come in bursts, Startup finds the rate all the same, with a window of more than two products."
    scenario = SenderScenario(rate_mbit=20, rtt_ms=20, queue_bdp=4, seconds=3, server=_AGGREGATION)

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        drain_s = state_begins(course, "drain")
        estimate = cruising_bytes_s(course, drain_s, drain_s + 1.5) / PACING_MARGIN
        examination.measure(
            "estimate over the link's rate",
            estimate / capacity_bytes_s(course, self.scenario),
            0.95,
            1.1,
        )
        product = bdp_bytes(course, self.scenario)
        window = course.window_at(np.nextafter(drain_s, 0.0)) / product
        examination.measure("window over what the path holds", window, low=2.0)
        examination.level("two products", 0.0, drain_s, 2 * product)
        examination.span_s = (0.0, drain_s + 0.8)


class CruiseAggregation(BbrCase):
    """Cruising where acknowledgments come in bursts."""

    name = "bbr-cruise-aggregation"
    source = "draft-ietf-ccwg-bbr, Achieving Expected Cruise Bandwidth on a Link With Aggregation"
    description = "Where acknowledgments come in bursts, the window has room for them in addition, and the link stays full."
    scenario = SenderScenario(rate_mbit=20, rtt_ms=20, queue_bdp=4, seconds=6, server=_AGGREGATION)

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s = 2.0, min(4.9, float(course.at_s[-1]))
        estimate = cruising_bytes_s(course, begin_s, end_s) / PACING_MARGIN
        examination.measure(
            "estimate over the link's rate",
            estimate / capacity_bytes_s(course, self.scenario),
            0.95,
            1.1,
        )
        product = bdp_bytes(course, self.scenario)
        here = course.between(begin_s, end_s)
        examination.measure(
            "window over what the path holds", float(np.median(here.window_bytes)) / product, 2.05
        )
        examination.measure(
            "time of the transfer over that at the link's rate",
            (float(course.at_s[-1]) - 0.2) / self.scenario.seconds,
            high=1.12,
        )
        examination.level("two products", begin_s, end_s, 2 * product)


class SubPacketProduct(BbrCase):
    """A path that holds less than a packet."""

    name = "bbr-sub-packet"
    source = "draft-ietf-ccwg-bbr, Correctly Managing Sub-Packet BDPs"
    description = "On a path that holds less than a packet, the window is four packets at least, and the pacing rate the link's."
    scenario = SenderScenario(
        rate_mbit=1, rtt_ms=10, queue_bdp=1, seconds=10, path={"queue": "20 packets"}
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        begin_s = state_begins(course, "probe_bw")
        here = course.between(begin_s, float(course.at_s[-1]))
        least = float(np.nanmin(here.window_bytes)) / course.packet_bytes
        examination.measure("least window", least, MIN_PIPE_PACKETS * 0.95, unit="packets")
        estimate = cruising_bytes_s(course) / PACING_MARGIN
        examination.measure(
            "estimate over the link's rate",
            estimate / capacity_bytes_s(course, self.scenario),
            0.9,
            1.1,
        )
        level = MIN_PIPE_PACKETS * course.packet_bytes
        examination.level("four packets", begin_s, float(course.at_s[-1]), level)


class RateUp(BbrCase):
    """A rate that rises tenfold."""

    name = "bbr-rate-up"
    source = "draft-ietf-ccwg-bbr, Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached"
    description = "When the rate rises tenfold, the sender has all of it within five seconds: a wait for the next probe, and a few rounds."
    scenario = SenderScenario(
        rate_mbit=4,
        rtt_ms=40,
        queue_bdp=10,
        seconds=66,
        down={"changes": [{"at": f"{_STEP_S:g} s", "rate": "40 Mbit/s"}]},
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        wanted = 0.9 * _TENFOLD * capacity_bytes_s(course, self.scenario)
        reached = (course.at_s > _STEP_S) & (course.pacing_bytes_s >= wanted)
        times = course.at_s[reached]
        took_s = float(times[0]) - _STEP_S if len(times) else float("nan")
        examination.measure("until nine tenths of the new rate", took_s, high=5.0, unit="s")
        examination.marks.append(Mark(_STEP_S, "ten times the rate"))
        examination.level(
            "what the path holds",
            _STEP_S,
            float(course.at_s[-1]),
            _TENFOLD * bdp_bytes(course, self.scenario),
        )


class RateDown(BbrCase):
    """A rate that falls to a tenth."""

    name = "bbr-rate-down"
    source = "draft-ietf-ccwg-bbr, Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down"
    description = "When the rate falls to a tenth, the estimate is the new rate within ten seconds."
    scenario = SenderScenario(
        rate_mbit=40,
        rtt_ms=40,
        queue_bdp=1,
        seconds=4.6,
        down={"changes": [{"at": "3 s", "rate": "4 Mbit/s"}]},
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        wanted = capacity_bytes_s(course, self.scenario) / _TENFOLD
        end_s = min(15.0, float(course.at_s[-1]) - 0.3)
        if end_s < 13.0:
            raise NotApplicableError("the transfer ended before ten seconds were over")
        estimate = cruising_bytes_s(course, 13.0, end_s) / PACING_MARGIN
        examination.measure("estimate over the new rate", estimate / wanted, 0.7, 1.15)
        loss_s = course.first_loss_s(3.0)
        if loss_s is None:
            raise NotApplicableError("it declared no packet lost when the rate fell")
        # Each round with too many losses takes three tenths (BBR.Beta).
        later_s = np.linspace(loss_s, loss_s + 6 * course.rtt_at(loss_s), 200)
        least = min(pacing_at(course, at_s) for at_s in later_s.tolist())
        examination.measure(
            "least pacing rate in six round trips over that before",
            least / pacing_at(course, 2.9),
            high=0.5,
        )
        examination.marks.append(Mark(3.0, "a tenth of the rate"))


class TokenBucket(BbrCase):
    """A token bucket."""

    name = "bbr-policer"
    source = "draft-ietf-ccwg-bbr, Handling Token Bucket Policers"
    description = (
        "Behind a policer the sender comes to the rate of the tokens, and loses few packets."
    )
    scenario = SenderScenario(
        rate_mbit=50,
        rtt_ms=60,
        queue_bdp=2,
        seconds=2.4,
        down={"policer": {"rate": "8 Mbit/s", "burst": "60 kB"}},
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        end_s = float(course.at_s[-1])
        size = self.scenario.rate_bytes_s * self.scenario.seconds
        tokens = 8e6 / 8
        examination.measure("mean rate over that of the tokens", size / end_s / tokens, low=0.6)
        begin_s = end_s / 2
        lost = len(course.between(begin_s, end_s).losses_s) * course.packet_bytes
        sent = size / end_s * (end_s - begin_s)
        examination.measure("lost of what was sent, second half", lost / sent, high=0.05)


class SpuriousRecovery(BbrCase):
    """A loss that was none."""

    name = "bbr-spurious-recovery"
    source = "draft-ietf-ccwg-bbr, Handling Spurious Fast Recovery"
    description = "After a packet that was held to be lost and came, state and window are what they were before."
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=3, fault="delay down 3500 by 30 ms"
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        if not len(course.losses_s):
            raise NotApplicableError("it held no packet to be lost, when one came 30 ms late")
        loss_s = float(course.losses_s[0])
        rtt_s = course.rtt_at(loss_s)
        if state_at(course, loss_s - 0.001) != "probe_bw":
            raise NotApplicableError("it was not in ProbeBW when the packet came late")
        before = course.window_at(np.nextafter(loss_s, 0.0))
        after = course.window_at(loss_s + 3 * rtt_s)
        examination.measure(
            "window three round trips after over that before", after / before, 0.98, 1.3
        )
        paced = pacing_at(course, loss_s + 3 * rtt_s) / pacing_at(course, loss_s - 0.001)
        examination.measure("pacing rate over that before", paced, 0.7)
        same = state_at(course, loss_s - 0.001) == state_at(course, loss_s + 2 * rtt_s)
        examination.measure("the same state (1: yes)", float(same), low=1.0)
        examination.level("the window before", loss_s, loss_s + 3 * rtt_s, before)
        examination.span_s = (loss_s - 4 * rtt_s, loss_s + 5 * rtt_s)


class SpuriousTimeout(BbrCase):
    """A silence without losses."""

    name = "bbr-spurious-timeout"
    source = "draft-ietf-ccwg-bbr, Handling Spurious RTO Recovery"
    description = "After a silence in which nothing was lost but acknowledgments, state and window are what they were before."
    scenario = SenderScenario(
        rate_mbit=20, rtt_ms=60, queue_bdp=4, seconds=5, silences_s=((3.0, 3.5),)
    )

    @override
    def measure(self, course: SenderCourse, examination: Examination) -> None:
        begin_s, end_s = self.scenario.silences_s[0]
        before, after = course.window_at(begin_s), course.window_at(end_s + 1.0)
        examination.measure("window a second after over that before", after / before, 0.9)
        back = state_at(course, end_s + 1.0) == state_at(course, begin_s)
        examination.measure("the same state (1: yes)", float(back), low=1.0)
        examination.level("the window before", begin_s, end_s + 1.0, before)
        examination.marks += [Mark(begin_s, "silence"), Mark(end_s, "it ends")]
        examination.span_s = (begin_s - 0.5, end_s + 1.5)


CASES = (
    StartupAggregation(),
    CruiseAggregation(),
    SubPacketProduct(),
    RateUp(),
    RateDown(),
    TokenBucket(),
    SpuriousRecovery(),
    SpuriousTimeout(),
)
