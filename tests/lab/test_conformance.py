"""Conformance in labs: controllers that pass, the same checks asked of other controllers, and all kinds of evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.campaign.watcher import SilentWatcher
from headway.instruments.conformance.catalogue import chosen_cases
from headway.instruments.conformance.course import CourseSource
from headway.instruments.conformance.results import result_json
from headway.instruments.conformance.senders import senders
from headway.instruments.conformance.session import Session
from headway.instruments.conformance.verdict import ConformanceVerdict

pytestmark = pytest.mark.lab


def tried(
    out: Path, program: str, protocol: str, cases: str, controller: str = ""
) -> dict[str, ConformanceVerdict]:
    """Verdicts on a program, by case."""
    (sender,) = senders([program], [protocol], controller)
    session = Session(out, 1, "headway conformance", SilentWatcher(), jobs=1)
    verdicts = session.carry_out(sender, chosen_cases(cases.split(","), "--cases"))
    return {verdict.case: verdict for verdict in verdicts}


def results(verdicts: dict[str, ConformanceVerdict]) -> list[str]:
    return [verdict.result.value for verdict in verdicts.values()]


BOTH = "newreno-halving,cubic-decrease"


@pytest.mark.parametrize(
    ("protocol", "evidence"), [("h3", CourseSource.QLOG), ("h2", CourseSource.TCP_INFO)]
)
def test_own_quic_and_the_kernels_tcp_pass(
    protocol: str, evidence: CourseSource, tmp_path: Path
) -> None:
    verdicts = tried(tmp_path, "headway-server", protocol, BOTH)
    assert results(verdicts) == ["pass", "pass"]
    for verdict in verdicts.values():
        assert verdict.evidence == evidence
        assert (tmp_path / verdict.picture).read_text().startswith("<svg")


@pytest.mark.parametrize("protocol", ["h3", "h2"])
@pytest.mark.parametrize(
    ("controller", "expected"), [("cubic", ["fail", "pass"]), ("reno", ["pass", "fail"])]
)
def test_another_controller_fails(
    protocol: str, controller: str, expected: list[str], tmp_path: Path
) -> None:
    verdicts = tried(tmp_path, "headway-server", protocol, BOTH, controller)
    assert results(verdicts) == expected


def test_a_program_that_logs_nothing_is_judged_by_its_packets(tmp_path: Path) -> None:
    (verdict,) = tried(tmp_path, "nginx", "h3", "cubic-decrease").values()
    assert (verdict.result.value, verdict.evidence) == ("pass", CourseSource.CAPTURE)


def test_the_reno_of_quic_go_takes_three_tenths(tmp_path: Path) -> None:
    (verdict,) = tried(tmp_path, "caddy", "h3", "newreno-halving").values()
    assert verdict.result.value == "fail"
    assert verdict.numbers[0].value == pytest.approx(0.7, abs=0.01)


def test_bbr_3_probes_the_round_trip_time_and_bbr_1_does_so_otherwise(tmp_path: Path) -> None:
    cases = "bbr-probe-rtt,bbr-startup-plateau"
    assert results(tried(tmp_path / "3", "headway-server", "h3", cases)) == ["pass", "pass"]
    first = tried(tmp_path / "1", "headway-server", "h3", cases, "bbr")
    assert results(first) == ["fail", "fail"]


@pytest.mark.parametrize("protocol", ["h3", "h2"])
def test_marks_cut_as_each_specification_says(protocol: str, tmp_path: Path) -> None:
    cases = "newreno-marks-each-round,cubic-mark,prague-average"
    own = tried(tmp_path / "own", "headway-server", protocol, cases)
    assert results(own) == ["pass", "pass", "pass"]
    cases = "cubic-mark,prague-first-mark"
    reno = tried(tmp_path / "reno", "headway-server", protocol, cases, "reno")
    # Half is less than CUBIC leaves, and what the first mark leaves with Prague.
    assert reno["cubic-mark"].result.value == "fail"
    cubic = tried(tmp_path / "cubic", "headway-server", protocol, cases, "cubic")
    # Without Accurate ECN, for which only Prague asks, TCP does without in that case.
    assert results(cubic) == ["pass", "fail" if protocol == "h3" else "not applicable"]


def test_a_program_without_ecn_is_not_judged_by_marks(tmp_path: Path) -> None:
    (verdict,) = tried(tmp_path, "nginx", "h3", "cubic-mark").values()
    assert verdict.result.value == "not applicable"


@pytest.mark.parametrize(("program", "protocol"), [("headway-server", "h3"), ("nginx", "h3")])
def test_a_flow_has_half_of_a_link_beside_another(
    program: str, protocol: str, tmp_path: Path
) -> None:
    (verdict,) = tried(tmp_path, program, protocol, "cubic-share").values()
    assert verdict.result.value == "pass"


def test_a_program_without_the_controller_is_not_tried(tmp_path: Path) -> None:
    (verdict,) = tried(tmp_path, "caddy", "h3", "cubic-growth").values()
    assert verdict.result.value == "not applicable"
    assert not (tmp_path / "caddy-h3").exists()


def test_two_runs_have_equal_results(tmp_path: Path) -> None:
    texts = [
        result_json(
            chosen_cases(["newreno-growth"], ""),
            list(tried(tmp_path / name, "headway-server", "h3", "newreno-growth").values()),
            1,
        )
        for name in ("first", "second")
    ]
    assert texts[0] == texts[1]
