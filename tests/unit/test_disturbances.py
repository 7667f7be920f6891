"""What paths name to disturb packets, and what is told of it if no packet met it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.analysis.disturbances import unmet
from headway.campaign.feasibility import all_remarks
from headway.columns import Record
from headway.contract.counts import Counts
from headway.diagnosis.disturbances import Named, named_disturbances
from headway.planning.idle import idle_parts
from headway.planning.ineffective_settings import vain
from headway.planning.runs import Run, plan
from headway.report.tables.disturbances import (
    disturbances_frame,
    disturbances_table,
    disturbances_warning,
)
from headway.study.load import load_study
from headway.study.setting import Setting
from tests.unit.made_results import experiments, results, run

COUNTS = [name for name in Record.model_fields if name.endswith(("_down", "_up"))]


def named(**path: Any) -> tuple[str, ...]:
    return named_of(Setting.model_validate({"path": path}))


def named_of(setting: Setting) -> tuple[str, ...]:
    return named_disturbances(setting.network.crossed, [setting.protocol])


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ({"rtt": "20 ms"}, ()),
        ({"rtt": "20 ms", "jitter": "5 ms"}, ()),
        ({"rtt": "20 ms", "jitter_reorders": True}, ()),
        ({"loss": "0 %"}, ()),
        ({"loss": "1 %"}, ("loss down: 1 %", "loss up: 1 %")),
        ({"up": {"loss": {"mean": "1 %", "burst": 5}}}, ("loss up: 1 % in bursts of 5",)),
        ({"down": {"changes": [{"at": "1 s", "loss": "2 %"}]}}, ("loss down: 2 %",)),
        (
            {"down": {"loss": "1 %", "changes": [{"at": "1 s", "loss": "2 %"}]}},
            ("loss down: 1 % then 2 %",),
        ),
        ({"down": {"blackouts": [["1 s", "2 s"]]}}, ("blackout down: 1 s to 2 s",)),
        ({"down": {"drop_packets": [5, 7]}}, ("named drops down: 5, 7",)),
        (
            {"down": {"delay": "20 ms", "jitter": "5 ms", "jitter_reorders": True}},
            ("reordering down: jitter 5 ms",),
        ),
        ({"down": {"delay": "20 ms", "reordering": "3 %"}}, ("reordering down: 3 %",)),
        ({"down": {"duplication": "1 %"}}, ("duplication down: 1 %",)),
        ({"down": {"corruption": "1 %"}}, ("corruption down: 1 %",)),
        (
            {"links": [{"down": {"loss": "1 %"}}, {"down": {"loss": "2 %"}}]},
            ("loss down: 1 %, 2 %",),
        ),
    ],
    ids=str,
)
def test_what_a_path_names(path: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert named(**path) == expected
    for text in expected:
        assert str(Named.parse(text)) == text
        assert Named.parse(text).column in COUNTS


def test_outages_of_a_satellite_are_not_named() -> None:
    fades = [{"at": "2 s", "attenuation": "50 dB"}, {"at": "4 s", "attenuation": "5 dB"}]
    carrier = {"bandwidth": "20 MHz", "snr": "12 dB"}
    satellite = {
        **{"forward": carrier, "return": {**carrier, "attenuation": "0 dB"}},
        **{"delay": "20 ms", "attenuation": fades},
    }
    setting = Setting.model_validate(
        {"path": {"satellite": satellite, "down": {"blackouts": [["9 s", "10 s"]]}}}
    )
    assert len(setting.path.links[0].down.blackouts) == 2
    assert named_of(setting) == ("blackout down: 9 s to 10 s",)


def test_counts_add_up() -> None:
    assert Counts.total([Counts(lost=1, marked=2), Counts(lost=3)]) == Counts(lost=4, marked=2)
    assert Counts.total([]) == Counts()


def told(disturbance: str, **found: int) -> dict[str, Any]:
    """Columns of a run whose path names this, and that counted these."""
    return {"disturbances": (disturbance,), **dict.fromkeys(COUNTS, 0), **found}


REORDERING = "reordering down: jitter 10 ms"


def test_what_no_run_met_is_told_at_the_top() -> None:
    rows = [run(one, seed, 1.0, **told(REORDERING)) for one in ("h2", "h3") for seed in (1, 2)]
    found = results(rows)
    (one,) = unmet(found)
    assert str(one) == (
        "reordering towards the client (jitter 10 ms) took place in none of 4 runs: packets are "
        "reordered if they follow one another within the jitter, or the delay that some of them "
        "skip; transfer more."
    )
    assert disturbances_warning((one,)).startswith(
        "Disturbances that did not take place. Reordering towards the client (jitter 10 ms) "
    )


def test_what_some_run_met_is_not_told() -> None:
    rows = [
        run("h2", 1, 1.0, **told(REORDERING, reordered_down=3)),
        run("h2", 2, 1.0, **told(REORDERING)),
        run("h3", 1, 1.0, **told(REORDERING, reordered_down=1)),
    ]
    assert unmet(results(rows)) == ()
    assert disturbances_warning(()) == ""


@pytest.mark.parametrize(
    ("told_of", "met"),
    [
        (("udp down: blocked", "udp up: blocked"), "udp_stopped_up"),
        (("udp down: rejected from 1 ms", "udp up: rejected from 1 ms"), "udp_stopped_up"),
        (("policer down: 1 Mbit/s, 30 kB", "policer up: 1 Mbit/s, 30 kB"), "policed_down"),
    ],
)
def test_what_stops_one_way_took_place(told_of: tuple[str, str], met: str) -> None:
    """Blocked one way, nothing comes the other way; what answers a flow that a policer cuts down is small."""
    counts = dict.fromkeys(COUNTS, 0)
    rows = [run("h3", 1, 1.0, disturbances=told_of, **counts | {met: 4})]
    assert unmet(results(rows)) == ()
    rows = [run("h3", 1, 1.0, disturbances=told_of, **counts)]
    assert len(unmet(results(rows))) == 2


@pytest.mark.parametrize(
    "told_of",
    [
        ("udp down: blocked", "udp up: blocked from 5 s"),
        ("udp down: 5 % lost", "udp up: 5 % lost"),
        ("loss down: 1 %", "loss up: 1 %"),
    ],
)
def test_what_each_way_states_for_itself_is_told(told_of: tuple[str, str]) -> None:
    counts = dict.fromkeys(COUNTS, 0) | {"udp_stopped_down": 4, "lost_down": 4}
    rows = [run("h3", 1, 1.0, disturbances=told_of, **counts)]
    (one,) = unmet(results(rows))
    assert str(one.named) == told_of[1]


def test_each_value_and_each_contender_is_told() -> None:
    rows = [
        run("h2", 1, 1.0, cell="a", **told("loss down: 1 %", lost_down=3)),
        run("h3", 1, 1.0, cell="a", **told("loss down: 1 %")),
        run("h2", 1, 1.0, cell="b", **told("loss down: 0.1 %")),
        run("h3", 1, 1.0, cell="b", **told("loss down: 0.1 %")),
    ]
    texts = [str(one).split(":")[0] for one in unmet(results(rows))]
    assert texts == [
        "loss towards the client (1 %) took place in none of 1 run of h3",
        "loss towards the client (0.1 %) took place in none of 2 runs",
    ]


def test_what_depends_on_no_chance_is_told_of_each_cell() -> None:
    late = "blackout down: 5 s to 6 s"
    rows = [
        run("h2", 1, 9.0, cell="long", **told(late, blacked_out_down=3)),
        run("h2", 1, 1.0, cell="short", **told(late)),
    ]
    (one,) = unmet(results(rows))
    assert "(5 s to 6 s) took place in none of 1 run in 1 cell: nothing was sent" in str(one)


def test_experiments_are_told_apart_and_runs_that_did_not_count_say_nothing() -> None:
    known = {"lost_down": 1}
    rows = [
        run("h2", 1, 1.0, experiment="one", **told("loss down: 1 %", **known)),
        run("h2", 1, 1.0, experiment="two", **told("loss down: 1 %")),
        run("h2", 2, None, experiment="three", disturbances=("loss down: 1 %",)),
    ]
    found = results(rows, experiments({"name": "one"}, {"name": "two"}, {"name": "three"}))
    assert [one.experiment for one in unmet(found)] == ["two"]
    assert str(unmet(found)[0]).startswith("two: loss towards the client (1 %) took place in none")


def test_the_table_has_what_no_packet_met_first() -> None:
    rows = [
        run("h2", seed, 1.0, **told("loss up: 1 %", lost_up=met)) for seed, met in ((1, 0), (2, 4))
    ]
    rows += [run("h3", 1, 1.0, **told("loss up: 1 %"))]
    frame = disturbances_frame(results(rows))
    table = disturbances_table(frame, {"cell": ""})
    assert [group[0][1:] for group in table.rows] == [
        ("h3", "loss", "server", "1 %", "1", "0", "0"),
        ("h2", "loss", "server", "1 %", "2", "1", "2.00"),
    ]
    assert disturbances_frame(results([run("h2", 1, 1.0)])).is_empty()


def planned(experiment: str, **path: Any) -> Run:
    setting = Setting.model_validate({"path": path, "limits": {"virtual": "60 s"}})
    return Run("run", "study", experiment, "cell", "h2", 1, 1, setting)


def test_what_cannot_take_place_is_told_beforehand() -> None:
    keeps = planned("one", rtt="20 ms", jitter="5 ms")
    still = planned("one", rtt="20 ms", jitter_reorders=True)
    moves = planned("one", rtt="20 ms", jitter="5 ms", jitter_reorders=True)
    late = planned("two", down={"blackouts": [["1 s", "2 s"], ["60 s", "61 s"]]})
    assert vain([keeps, moves, still]) == ()
    assert vain([keeps, still]) == (
        "one: jitter_reorders reorders nothing, because no path with it has jitter",
    )
    assert vain([late, late]) == (
        "two: the blackout from 60 s begins after the runs, which end at 60 s (limits.virtual)",
    )


def schedule(*steps: tuple[str, str]) -> dict[str, Any]:
    return {"rate": {"steps": [{"at": at, "rate": rate} for at, rate in steps]}}


SATELLITE = {
    "delay": [{"at": "0 s", "delay": "250 ms"}, {"at": "90 s", "delay": "251 ms"}],
    "forward": {"bandwidth": "50 MHz"},
    "return": {"bandwidth": "20 MHz"},
}
"""Its course is an orbit's, or long enough for all runs of a study."""

FADE = [{"at": "61 s", "attenuation": "9 dB"}]


@pytest.mark.parametrize(
    ("path", "what"),
    [
        (schedule(("0 s", "9 Mbit/s"), ("60 s", "1 Mbit/s")), "step"),
        ({"rtt": "20 ms", "changes": [{"at": "61 s", "loss": "1 %"}]}, "change"),
        (schedule(("0 s", "9 Mbit/s"), ("1 s", "9 Mbit/s")), "schedule"),
        ({"rate": {"low": "9 Mbit/s", "high": "9 Mbit/s", "every": "1 s"}}, "draw"),
        ({"rtt": "20 ms", "jitter_distribution": "normal"}, "jitter_distribution"),
        ({"udp": {"verdict": "blocked", "start": "60 s"}}, "UDP"),
        ({"down": {"ecn": {"ce": "ect1", "start": "61 s"}}}, "ECN"),
        ({"satellite": {**SATELLITE, "attenuation": FADE}}, "attenuation"),
        ({"loss": "1 %", "changes": [{"at": "1 s", "loss": "1 %"}]}, "nothing"),
        ({"changes": [{"at": "1 s", "loss": "1 %"}, {"at": "2 s", "loss": "0 %"}]}, ""),
        ({"rate": "9 Mbit/s"}, ""),
        (schedule(("0 s", "9 Mbit/s"), ("1 s", "8 Mbit/s")), ""),
        ({"satellite": SATELLITE}, ""),
    ],
)
def test_a_course_that_changes_nothing_is_noted(path: dict[str, Any], what: str) -> None:
    notes = vain([planned("", **path)])
    assert len(notes) == bool(what)
    assert all(what in note for note in notes)


def test_a_change_to_what_one_value_of_an_axis_has_is_none_to_note() -> None:
    changes = [{"at": "1 s", "loss": "1 %"}]
    assert not vain([planned("", loss=loss, changes=changes) for loss in ("0 %", "1 %")])


def of_protocols(*protocols: str, **server: Any) -> list[Run]:
    settings = [
        Setting.model_validate({"protocol": protocol, "server": server}) for protocol in protocols
    ]
    return [
        Run("run", "study", "", "cell", protocol, 1, 1, setting)
        for protocol, setting in zip(protocols, settings, strict=True)
    ]


@pytest.mark.parametrize("key", ["congestion_control", "initial_window"])
def test_what_is_asked_of_a_transport_that_no_run_has_is_noted(key: str) -> None:
    value = {"congestion_control": "cubic", "initial_window": 20}[key]
    of_quic = {"program": "headway-server", key: {"quic": value}}
    assert not any(idle_parts(of_protocols("h2", "h3", **of_quic)))
    assert not any(idle_parts(of_protocols("h2", program="headway-server", **{key: value})))
    (note,) = idle_parts(of_protocols("h1", "h2", **of_quic))
    assert note.startswith(f"server.{key}.quic ")


def test_plan_and_run_remark_on_what_cannot_take_place(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        'name = "late"\nprotocol = "h2"\nrepetitions = 5\nworkload.size = "10 kB"\n'
        'limits.virtual = "60 s"\npath.rtt = "20 ms"\npath.rate = "10 Mbit/s"\n'
        'path.blackouts = [["90 s", "91 s"]]\n'
    )
    study = load_study(str(file))
    (told,) = (text for text in all_remarks(study, plan(study)) if "blackout" in text)
    assert told.startswith("the blackout from 90 s begins after the runs")
