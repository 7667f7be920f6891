"""Single faults: how a study names them, which runs follow, and what they cost."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis import analyse
from headway.analysis.faultcosts import sweeps
from headway.analysis.faultsentences import fault_sentences
from headway.analysis.result_loading import StudyResults
from headway.campaign.stages import Stages
from headway.columns import Record, polars_schema
from headway.contract.faults import KeptPacket
from headway.diagnosis.fault import compared
from headway.instruments.check.faultcheck import judge_faults
from headway.instruments.check.reports import CheckReport
from headway.instruments.check.verdict import Side, judge_builds
from headway.planning.runs import Run, plan
from headway.records.archived_study import archived_study
from headway.records.manifest import Manifest
from headway.records.runkey import run_key
from headway.report.ledger import ledger
from headway.report.tables.faults import faults_frame, faults_table, sweeps_table
from headway.study.experiment import Study
from headway.study.fault import Fault, FaultKind, FaultSweep, tolerated
from headway.study.load import study_from
from headway.study.path import Way
from headway.study.setting import Setting
from headway.study.units import Duration

TABLES: dict[str, Any] = {
    "name": "faulty",
    "repetitions": 2,
    "axes": {"protocol": ["h2", "h3"]},
    "path": {"rate": "10 Mbit/s", "rtt": "100 ms"},
    "workload": {"size": "30 kB"},
    "faults": {"packets": "1-3", "direction": "down"},
}

numbers = st.lists(st.integers(1, 3000), min_size=1, max_size=3, unique=True).map(tuple)
spans = st.integers(1, 10**7).map(lambda us: Duration(us * 1000))


@st.composite
def faults(draw: st.DrawFn) -> Fault:
    kind = draw(st.sampled_from(FaultKind))
    own: dict[FaultKind, dict[str, Any]] = {
        FaultKind.DELAY: {"delay": draw(spans)},
        FaultKind.REORDER: {"delay": draw(spans), "behind": draw(st.integers(1, 1000))},
        FaultKind.BLACKOUT: {"lasts": draw(spans)},
    }
    way, link = draw(st.sampled_from(Way)), draw(st.integers(1, 4))
    return Fault(kind=kind, direction=way, packets=draw(numbers), link=link, **own.get(kind, {}))


@given(fault=faults())
def test_a_fault_is_read_as_it_is_written(fault: Fault) -> None:
    again = Fault.model_validate(str(fault))
    assert str(again) == str(fault)
    assert (again.span, again.passed_by) == (fault.span, fault.passed_by)
    assert str(Fault.model_validate(str(fault.none))) == str(fault.none)


def test_a_tolerance_is_in_rtts_or_a_time() -> None:
    assert tolerated("1.5 RTT", Duration(100)) == 150
    assert tolerated("2 ms", Duration(100)) == 2_000_000


def test_a_sweep_tries_each_packet_and_none() -> None:
    told = [str(one) for one in FaultSweep.model_validate({"packets": "2-3"}).faults()]
    assert told == ["none", "lose up 2", "lose up 3", "lose down 2", "lose down 3"]
    pairs = FaultSweep.model_validate({"packets": "1-3", "pairs": True, "direction": "down"})
    assert [str(one) for one in pairs.faults()][1:] == [
        "lose down 1+2",
        "lose down 1+3",
        "lose down 2+3",
    ]


def record(run: Run, total_s: float | None, **told: Any) -> Record:
    base: dict[str, Any] = {
        "run_id": run.run_id,
        "study": run.study,
        "experiment": run.experiment,
        "cell": run.cell,
        "contender": run.contender,
        "protocol": str(run.setting.protocol),
        "tls": True,
        "client": "curl",
        "server": "nginx",
        "client_cc": "cubic",
        "server_cc": "cubic",
        "rate_mbit": 10.0,
        "rate_up_mbit": 10.0,
        "rtt_ms": 100.0,
        "loss_pct": 0.0,
        "loss_up_pct": 0.0,
        "workload": "download 30 kB",
        "rep": run.rep,
        "seed": run.seed,
        "clock": "virtual",
        "setting_key": run_key(run),
        "fault": str(run.setting.fault),
        "status": "failed" if total_s is None else "ok",
        "error": "it died" if total_s is None else None,
        "total_s": total_s,
    }
    return Record(**base, **told)


def made() -> tuple[Study, list[Record]]:
    """h2 has two packets and loses a second with the first; h3 has three and dies of the third."""
    study = study_from(TABLES)
    records = []
    for run in plan(study):
        fault, h3 = run.setting.fault, run.contender == "h3"
        assert fault
        number = max(fault.packets, default=0)
        if number > (3 if h3 else 2):
            continue
        cost = {1: 1.0, 2: 0.1 * run.rep}.get(number, 0.0)
        total = None if h3 and number == 3 else 1.0 + run.rep + cost
        carried = f"packet {number}" if number else None
        told = {"fault_carried": carried, "fault_at_s": 0.1 if number else None}
        counts = {"packets_down": 3 if h3 else 2, "packets_up": 1, "handshake_packets_down": 1}
        records.append(record(run, total, **told, **counts, handshake_packets_up=0))
    return study, records


def results() -> StudyResults:
    study, records = made()
    rows = [one.model_dump(mode="json") for one in records]
    runs = pl.DataFrame(rows, schema=polars_schema(), orient="row")
    return StudyResults(runs, Manifest(study=archived_study(study)))


def test_packets_that_a_transfer_does_not_have_are_not_tried() -> None:
    study, records = made()
    stages = Stages.of(study, plan(study))
    assert {str(run.setting.fault) for run in stages.certain} == {"none"}
    known = [one for one in records if one.fault == "none"]
    come = {(run.contender, str(run.setting.fault)) for run in stages.that_come(known)}
    assert come == {
        *(("h2", f"lose down {number}") for number in (1, 2)),
        *(("h3", f"lose down {number}") for number in (1, 2, 3)),
    }
    assert stages.that_come([]) == []


def test_a_handshakes_packets_end_with_it() -> None:
    study = study_from({**TABLES, "faults": {"packets": "handshake"}})
    runs = plan(study)
    known = [
        record(
            run, 1.0, packets_up=9, packets_down=9, handshake_packets_up=2, handshake_packets_down=1
        )
        for run in Stages.of(study, runs).certain
    ]
    come = Stages.of(study, runs).that_come(known)
    assert {str(run.setting.fault) for run in come} == {"lose up 1", "lose up 2", "lose down 1"}


def test_contenders_are_compared_without_a_fault() -> None:
    found = analyse(results())
    assert [cell.name for cell in found.cells] == ["fault_none"]
    assert {side.contender: side.runs for cell in found.cells for side in cell.sides} == {
        "h2": 2,
        "h3": 2,
    }
    assert found.titles["fault_losedown3"] == "lose down 3"


def test_a_fault_costs_what_its_run_takes_more_than_that_of_its_seed_without() -> None:
    found = {one.contender: one for one in sweeps(analyse(results()))}
    h2, h3 = found["h2"], found["h3"]
    assert [one.median for one in h2.costs] == pytest.approx([1.0, 0.15])
    assert h2.worst is h2.costs[0]
    assert h2.packets == {Way.UP: 1, Way.DOWN: 2}
    assert h2.expected(0.01) == pytest.approx(0.01 * 0.99 * 1.15)
    assert [one.failed for one in h3.costs] == [0, 0, 2]
    assert math.isinf(h3.costs[2].median)
    assert h3.mean == pytest.approx(0.575)


def test_what_kills_is_said_first_and_by_whom() -> None:
    first, second = fault_sentences(analyse(results()))
    assert first.startswith(
        "h3: too few runs to be sure (2 of each fault; it takes 6): fails if the 3rd packet towards the client is lost (packet 3) (it died). Else 2 packets"
    )
    assert (
        "the worst costs +1.00 s (the 1st packet towards the client is lost (packet 1))" in second
    )


def test_tables_have_the_worst_first_and_the_file_has_all() -> None:
    found = analyse(results())
    (row, other) = sweeps_table(found).rows[0]
    assert row[:7] == ("h2", "2.50", "1", "2", "2", "0", "1.00")
    assert (other[4], other[5]) == ("3", "1")
    worst = faults_table(found).rows[1][0]
    assert worst[1:3] == ("3rd packet towards the client", "packet 3")
    frame = faults_frame([found])
    assert frame.height == 5
    assert frame.filter(pl.col("failed") > 0)["fault"].to_list() == ["lose down 3"]


def digests(*, stray: bool) -> StudyResults:
    """Each packet has a digest; of a program that strays, the first is another where the second is lost."""
    study, records = made()
    told = []
    for one in records:
        number = int(one.fault.split()[-1]) if one.fault and one.fault != "none" else None
        before = (number - 1) if number else None
        own = "000011112222"[: 4 * before][-4:] if number and before else ""
        if stray and before == 1:
            own = "ffff"
        update = {"packets_before": before, "packet_digests": own if number else "000011112222"}
        told.append(one.model_copy(update=update))
    rows = [one.model_dump(mode="json") for one in told]
    runs = pl.DataFrame(rows, schema=polars_schema(), orient="row")
    return StudyResults(runs, Manifest(study=archived_study(study)))


def test_what_was_not_kept_is_not_compared() -> None:
    def packets(way: Way, *times: int, met: int = 0) -> list[tuple[Way, KeptPacket]]:
        return [(way, KeptPacket(n, at, at == met, "00")) for n, at in enumerate(times, 1)]

    def both(*, met: int) -> list[tuple[Way, KeptPacket]]:
        every = packets(Way.UP, 1, 5, 9, met=met) + packets(Way.DOWN, 2, 3, 4)
        return sorted(every, key=lambda entry: entry[1].at_ns)

    whole = {Way.UP: 3, Way.DOWN: 3}
    chain = compared(both(met=0), whole)["packet_digests"]
    assert len(chain) == 6 * 4
    told = compared(both(met=9), whole)
    assert told == {"packets_before": 5, "packet_digests": chain[16:20]}
    # Of more packets towards the client than were kept, those after the third are not known.
    more = {Way.UP: 3, Way.DOWN: 7}
    assert compared(both(met=9), more) == {}
    assert compared(both(met=0), more)["packet_digests"] == chain[:16]


def test_a_program_that_does_not_do_the_same_each_time_is_told() -> None:
    assert {one.strayed for one in sweeps(analyse(digests(stray=False)))} == {0}
    strays = analyse(digests(stray=True))
    assert {one.strayed for one in sweeps(strays)} == {1}
    assert all("It does not repeat exactly" in one for one in fault_sentences(strays))
    assert "It does not" not in "".join(fault_sentences(analyse(digests(stray=False))))


def test_the_page_of_a_study_with_faults_has_its_sweeps_and_who_dies() -> None:
    page = ledger(results(), [[analyse(results())]])
    assert "| h2 | 2.50 | 1 | 2 | 2 | 0 | 1.00 |" in page
    assert "- h3: the 3rd packet towards the client (packet 3): it died." in page


def test_a_study_without_faults_has_none(tmp_path: Path) -> None:
    tables = {key: value for key, value in TABLES.items() if key != "faults"}
    study = study_from(tables)
    assert all(run.setting.fault is None for run in plan(study))
    assert "fault" not in Setting().model_dump(mode="json")


def with_h3(total_s: float | None) -> StudyResults:
    """As `results`, but h3's second packet lost takes so long; None if it then dies."""
    one = results()
    here = (pl.col("contender") == "h3") & (pl.col("fault") == "lose down 2")
    dies = total_s is None
    changed = one.runs.with_columns(
        pl.when(here).then(pl.lit(total_s)).otherwise(pl.col("total_s")).alias("total_s"),
        pl.when(here & dies).then(pl.lit("failed")).otherwise(pl.col("status")).alias("status"),
        pl.when(here & dies).then(pl.lit("it died")).otherwise(pl.col("error")).alias("error"),
    )
    return StudyResults(changed, one.manifest)


@pytest.mark.parametrize(("total_s", "worse"), [(2.65, False), (2.8, True), (None, True)])
def test_a_check_tells_which_packet_costs_a_build_more_than_is_tolerated(
    total_s: float | None, worse: bool
) -> None:
    base = Side(results(), Path("nowhere"))
    head = Side(with_h3(total_s), Path("nowhere"))
    found = judge_faults(base, head)
    assert len(found) == 5
    assert [str(one.head.fault) for one in found if one.fails] == ["lose down 2"] * worse
    report = CheckReport("faulty", judge_builds(base, head), 0.01, found)
    assert report.passes == (not worse)
    assert f"{int(worse)} of 5 faults worse" in report.headline
    suite = ElementTree.fromstring(report.junit())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("7", str(int(worse)))
    assert (
        "h3, lose down 2 (the 2nd packet towards the client: packet 2)" in report.markdown()
    ) == worse


def test_a_fault_that_could_not_happen_is_no_fault_that_was_survived() -> None:
    one = results()
    h2 = pl.col("contender") == "h2"
    first = pl.col("fault") == "lose down 1"
    for here, said in (
        (h2 & first, "To 1 other packet the fault could not happen"),
        (h2, "h2: the fault could happen to none of 2 packets"),
    ):
        at_s = pl.when(here).then(pl.lit(None)).otherwise(pl.col("fault_at_s"))
        changed = StudyResults(one.runs.with_columns(at_s.alias("fault_at_s")), one.manifest)
        told = " ".join(fault_sentences(analyse(changed)))
        assert said in told


@given(fault=faults())
def test_a_fault_of_a_link_that_is_crossed_from_its_other_end_is_of_the_other_way(
    fault: Fault,
) -> None:
    other = fault.turned_around
    assert {fault.direction, other.direction} == {*Way}
    assert other.turned_around == fault
    assert other.model_copy(update={"direction": fault.direction}) == fault
