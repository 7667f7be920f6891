"""The built-in study of Kosek et al. 2022: its grid, its hosts, and what was published."""

from __future__ import annotations

import pytest

from headway.planning.runs import Run, plan
from headway.records.archived_study import archived_study
from headway.study.bulk import Bulk
from headway.study.experiment import Study
from tests.builtin_studies import builtin_study


@pytest.fixture(scope="module")
def study() -> Study:
    return builtin_study("kosek2022")


@pytest.fixture(scope="module")
def runs(study: Study) -> list[Run]:
    return list(plan(study))


def goodput(runs: list[Run]) -> list[Run]:
    return [run for run in runs if run.experiment == "goodput"]


def test_the_goodput_grid_is_the_papers(runs: list[Run]) -> None:
    """2 orbits, 4 losses, 4 configurations, 100 repetitions."""
    assert len(goodput(runs)) == 2 * 4 * 4 * 100
    losses = {
        run.setting.network.flows[0].paths[2].links[0].down.loss.mean for run in goodput(runs)
    }
    assert losses == {0, 0.0001, 0.001, 0.01}


def test_the_hosts_are_the_papers(runs: list[Run]) -> None:
    names = {tuple(node.name for node in run.deployment.nodes) for run in runs if run.rep == 1}
    between = ("proxy-st", "terminal", "satellite", "gateway", "proxy-gw")
    assert names == {("client", *between, "server")}


@pytest.mark.parametrize(("orbit", "satellite_ms", "all_ms"), [("geo", 500, 580), ("leo", 32, 112)])
def test_delays_and_windows_are_where_the_paper_has_them(
    runs: list[Run], orbit: str, satellite_ms: float, all_ms: float
) -> None:
    by_contender = {
        run.contender: run.deployment
        for run in goodput(runs)
        if run.cell == f"goodput-profile_{orbit}-loss_0pct" and run.rep == 1
    }
    for plain in ("QUIC", "TCP"):
        (segment,) = by_contender[plain].only.segments
        assert segment.path.rtt.ms == all_ms
        split = by_contender[f"{plain}-PEP"]
        assert [segment.path.rtt.ms for segment in split.only.segments] == [0, satellite_ms, 80]
        towards_client = split.setting.middleboxes[-1].quic_pep
        assert towards_client is not None
        assert towards_client.towards_client.initial_window.quic == 100
        assert str(towards_client.towards_client.congestion_control) == "reno"


def test_published_values_stand_beside_ours(study: Study) -> None:
    published = {one.name: one.published for one in study.experiments}
    # Seconds, configurations, orbits, losses.
    assert len(published["goodput"]) == 30 * 4 * 2 * 4
    assert {(value.statistic, value.origin) for value in published["goodput"]} == {
        ("mean", "first byte")
    }
    # Table II: metrics, protocols, orbits, losses.
    assert len(published["pages"]) == 3 * 4 * 2 * 4
    assert {(value.unit, value.statistic) for value in published["pages"]} == {("ms", "median")}
    loads = [value.n for value in published["pages"] if value.n is not None]
    assert (len(loads), min(loads), max(loads)) == (96, 73, 100)


def test_runs_last_for_what_was_published(study: Study, runs: list[Run]) -> None:
    (experiment,) = [one for one in study.experiments if one.name == "goodput"]
    last_s = max(value.to.s for value in experiment.published if value.to)
    for run in goodput(runs):
        assert isinstance(run.setting.workload, Bulk)
        assert run.setting.workload.duration is not None
        # A first byte takes two round trips.
        assert run.setting.workload.duration.s > last_s + 2 * 0.58 + 1


def test_the_link_of_the_test_bed_is_that_of_its_files(runs: list[Run]) -> None:
    """14.8 Mbaud and the 194 bytes of waveform 12 in its bursts; QPSK 1/4 in 47.2 MHz; 30 ms more there and back."""
    run = next(
        run
        for run in runs
        if run.cell == "testbed-profile_leo-loss_1pct" and run.contender == "QUIC"
    )
    link = run.setting.network.flows[0].paths[2].links[0]
    assert run.deployment.only.segments[0].path.rtt.ms == 112 + 30
    assert link.down.access is not None
    assert link.up.access is not None
    assert link.down.first_rate is not None
    assert link.down.first_rate.mbit == pytest.approx(18.88, abs=0.01)
    assert (link.down.access.frame, link.up.access.frame) == (2031, 225)
    assert {str(way.access.lost) for way in (link.down, link.up) if way.access} == {"frames"}
    assert link.up.access.demand is not None
    assert link.up.access.demand.latency_superframes == 23
    assert link.down.loss.mean == link.up.loss.mean == 0.01


def test_the_short_form_has_every_experiment_but_those_that_take_causes_away(study: Study) -> None:
    quick = list(plan(builtin_study("kosek2022", quick=True)))
    names = {experiment.name for experiment in study.experiments}
    assert {name for name in names if name.startswith("cause-")} == names - {
        run.experiment for run in quick
    }
    assert len(quick) < len(list(plan(study))) / 10


def test_published_values_of_cells_that_the_short_form_lacks_stand_beside_nothing() -> None:
    told = archived_study(builtin_study("kosek2022", quick=True))
    published = {one.name: one.published for one in told.experiments}
    assert all(value.cell for value in published["goodput"])
    assert {
        value.where["hops.terminal.path.loss"] for value in published["pages"] if value.cell
    } == {
        "0 %",
        "1 %",
    }
