"""The choice of cases and senders, and verdicts."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.instruments.conformance.case import CaseFamily
from headway.instruments.conformance.cases.newreno import UnusedWindow
from headway.instruments.conformance.catalogue import chosen_cases, known_cases
from headway.instruments.conformance.page import page
from headway.instruments.conformance.results import result_json
from headway.instruments.conformance.scenario import SenderScenario
from headway.instruments.conformance.scenarios import BURST_OF_LOSSES, ONE_LOSS, OUTAGE
from headway.instruments.conformance.senders import PROTOCOLS, senders
from headway.instruments.conformance.verdict import (
    CheckedNumber,
    ConformanceResult,
    ConformanceVerdict,
    Examination,
    concluded,
)

OWN = """
from headway.instruments.conformance.case import CaseFamily, ConformanceCase
from headway.instruments.conformance.scenario import SenderScenario


class Mine(ConformanceCase):
    name = "mine"
    family = CaseFamily.CUBIC
    source = "nowhere"
    description = "The window is there."
    scenario = SenderScenario(rate_mbit=10, rtt_ms=20, queue_bdp=1, seconds=1)

    def check(self, course, examination):
        examination.measure("window", course.window_at(0.5), low=1.0, unit="bytes")


CASES = (Mine(),)
"""


def test_every_case_states_what_it_is_about() -> None:
    cases = known_cases()
    assert len(cases) == len({case.description for case in cases.values()})
    for name, case in cases.items():
        assert name.startswith(case.family.value.rstrip("+"))
        assert case.source
        assert case.description.endswith(".")
        assert case.scenario.tables()["path"]["rate"]


def test_cases_are_chosen_by_family_name_and_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN, encoding="utf-8")
    names = [case.name for case in chosen_cases(["cubic-decrease", str(file)], "--cases")]
    assert names == ["cubic-decrease", "mine"]
    of_family = chosen_cases(["newreno"], "--cases")
    assert {case.family for case in of_family} == {CaseFamily.NEWRENO}
    assert len(chosen_cases([], "--cases")) == len(known_cases())


def test_an_unknown_case_is_refused_with_the_nearest() -> None:
    with pytest.raises(WrongInputError, match="cubic-decrease"):
        chosen_cases(["cubic-decreas"], "--cases")


def test_senders_have_the_controller_of_a_family() -> None:
    quic, tcp = senders(["headway-server"], PROTOCOLS, "")
    assert [sender.controller(CaseFamily.BBR) for sender in (quic, tcp)] == ["bbr3", "bbr"]
    case = known_cases()["cubic-decrease"]
    assert quic.host(case) == {
        "program": "headway-server",
        "congestion_control": {"quic": "cubic"},
        "knobs": {"slow_start": "classic"},
    }
    assert tcp.host(case) == {"program": "headway-server", "congestion_control": {"tcp": "cubic"}}


def test_a_program_without_a_familys_controller_is_not_tried() -> None:
    (caddy,) = senders(["caddy"], ["h3"], "")
    assert "none of cubic" in caddy.obstacle(known_cases()["cubic-decrease"])


@pytest.mark.parametrize("value", [0.4, 0.6, math.nan])
def test_numbers_out_of_their_range_fail(value: float) -> None:
    assert not CheckedNumber("ratio", value, 0.45, 0.55).passes


def test_a_check_that_measures_nothing_fails() -> None:
    assert concluded(Examination())[0] is ConformanceResult.FAILED


def test_results_are_json_and_a_page() -> None:
    case = known_cases()["cubic-decrease"]
    number = CheckedNumber("ratio", math.nan, 0.65, 0.75)
    verdict = ConformanceVerdict(
        case.name, "a & b", ConformanceResult.FAILED, str(number), (number,), "qlog", "a.svg"
    )
    document = json.loads(result_json([case], [verdict], 1))
    assert document["verdicts"][0]["numbers"][0]["value"] is None
    assert document["counts"] == {"a & b": {"pass": 0, "fail": 1, "not applicable": 0}}
    text = page([case], [verdict], 1)
    assert "a &amp; b" in text
    assert 'src="a.svg"' in text


class Unpaced(UnusedWindow):
    scenario = replace(UnusedWindow.scenario, server={"knobs": {"pacing": "off"}})


def test_what_a_scenario_asks_of_the_server_is_asked_beside_what_its_family_does() -> None:
    (quic,) = senders(["headway-server"], ["h3"], "")
    assert quic.host(Unpaced())["knobs"] == {"pacing": "off", "slow_start": "classic"}


@pytest.mark.parametrize("other", [BURST_OF_LOSSES, OUTAGE])
def test_losses_of_one_of_many_and_of_all_packets_meet_the_same_path(other: SenderScenario) -> None:
    """Which of them there are is all that differs, and slow start ends before the link is full."""
    first, second = (dict(one.tables()["path"]) for one in (ONE_LOSS, other))
    assert first.pop("down")["drop_packets"] == second.pop("down")["drop_packets"]
    assert first == second
    (last,) = ONE_LOSS.lost_packets
    assert other.lost_packets == (last,)
    assert last * 1514 < (1 + ONE_LOSS.queue_bdp) * ONE_LOSS.bdp_bytes


def test_losses_meet_a_transfer_that_is_under_way() -> None:
    frames_a_second = ONE_LOSS.rate_bytes_s / 1514
    for scenario in (ONE_LOSS, BURST_OF_LOSSES):
        ((begin_us, end_us),) = scenario.tables()["path"]["down"]["blackouts"]
        begin_s, end_s = (int(text.removesuffix(" us")) / 1e6 for text in (begin_us, end_us))
        assert end_s + 5 * scenario.rtt_s < scenario.seconds
        packets = (end_s - begin_s) * frames_a_second
        assert packets == pytest.approx(2.2 if scenario is ONE_LOSS else 11, rel=0.1)
