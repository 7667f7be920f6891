"""The axes of neighbours: what each changes, and that it changes nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from headway.nearby.axis import NearbyLevel, known_axes
from headway.nearby.origin import OriginCell
from headway.nearby.trial import Present, Trial, Unable, planned, trials_around
from headway.study.experiment import Study
from headway.study.load import study_from
from headway.study.path import Path
from headway.study.queue import Discipline, Queue
from headway.study.setting import Setting

OWN = {
    "repetitions": 10,
    "client": {"program": "headway-client"},
    "server": {"program": "headway-server"},
    "path": {"rate": "10 Mbit/s", "rtt": "60 ms", "loss": "1 %", "queue": "2 BDP"},
    "workload": {"size": "1 MB"},
    "contenders": {"h2": {"protocol": "h2"}, "h3": {"protocol": "h3"}},
}


class Everything(Present):
    """A machine that lacks nothing."""

    def lacks(self, runs: Any) -> str:
        return ""


def study(**changes: Any) -> Study:
    return study_from({"name": "made", **OWN, **changes})


def origin(made: Study, cell: int = 0) -> OriginCell:
    (experiment,) = made.experiments
    coordinates = list(experiment.grid())[cell]
    names = tuple(experiment.contenders)
    return OriginCell(experiment, "cell", coordinates, cell, names, names[0])


def around(**changes: Any) -> dict[str, list[Trial]]:
    made = study(**changes)
    able, _ = trials_around(origin(made), made, Everything())
    found: dict[str, list[Trial]] = {}
    for trial in able:
        found.setdefault(trial.axis.name, []).append(trial)
    return found


def unable(**changes: Any) -> list[Unable]:
    made = study(**changes)
    return trials_around(origin(made), made, Everything())[1]


def path(trial: Trial) -> Path:
    return trial.settings["h3"].path


def test_each_axis_has_a_name_and_a_place_of_its_own() -> None:
    axes = known_axes()
    assert len({axis.name for axis in axes}) == len({axis.place for axis in axes}) == len(axes)
    assert all(axis.varies for axis in axes)


def test_a_neighbour_changes_what_its_axis_reads_and_no_other_of_the_path() -> None:
    paths = {
        "RTT",
        "rate",
        "changing rate",
        "queue",
        "discipline",
        "bursts",
        "direction of losses",
        "loss",
    }
    by_name = {axis.name: axis for axis in known_axes()}
    own = origin(study()).setting
    for name, trials in around().items():
        for trial in trials if name in paths else ():
            changed = trial.settings["h2"]
            assert by_name[name].reads(changed) != by_name[name].reads(own), trial.name
            # A queue in bandwidth-delay products, and whether a rate changes, follow from no other axis here.
            for other in paths - {name}:
                read = by_name[other].reads
                assert rounded(read(changed)) == rounded(read(own)), (trial.name, other)


def rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


def test_the_path_is_scaled_exactly() -> None:
    found = around()
    twice, half = found["RTT"]
    assert path(twice).rtt.ms == 120 and path(half).rtt.ms == 30
    assert twice.level.label == "at an RTT of 120 ms"
    more, less = (path(one).links[0] for one in found["rate"])
    assert more.down.first_rate == 20_000_000 and less.up.first_rate == 5_000_000
    sizes = {one.level.number: path(one).links[0].down.queue.bdp for one in found["queue"]}
    assert sizes == {1.0: 1.0, 0.25: 0.25, 4.0: 4.0, 0.5: 0.5}
    (bursts,) = found["bursts"]
    loss = path(bursts).links[0].down.loss
    assert (float(loss.mean), loss.burst) == (0.01, 5)
    down, up = (path(one).links[0] for one in found["direction of losses"])
    assert down.down.loss.mean and not down.up.loss.mean
    assert up.up.loss.mean and not up.down.loss.mean
    double, single = (path(one).links[0].up.loss.mean for one in found["loss"])
    assert (float(double), float(single)) == (0.02, 0.005)


def test_a_rate_that_changes_has_a_constant_neighbour_and_the_other_way_round() -> None:
    varying = {"low": "5 Mbit/s", "high": "15 Mbit/s", "every": "1 s"}
    changing = around(path={"rate": varying, "rtt": "60 ms", "queue": "30 kB"})
    (constant,) = changing["constant rate"]
    assert path(constant).links[0].down.first_rate == 10_000_000
    assert path(constant).links[0].down.queue.size == 30_000
    (varied,) = around()["changing rate"]
    rate = path(varied).links[0].down.rate
    assert rate is not None and rate.model_dump(mode="json") == {
        "low": "5 Mbit/s",
        "high": "15 Mbit/s",
        "every": "1 s",
    }
    steps = {
        "steps": [{"at": "0 s", "rate": "4 Mbit/s"}, {"at": "1 s", "rate": "16 Mbit/s"}],
        "repeat": "4 s",
    }
    (steady,) = around(path={"rate": steps, "rtt": "60 ms"})["constant rate"]
    assert path(steady).links[0].down.first_rate == 13_000_000


@pytest.mark.parametrize(
    ("axis", "changes"),
    [
        ("RTT", {"axes": {"path.rtt": ["20 ms", "60 ms"]}}),
        ("bursts", {"axes": {"path.loss": ["1 %", {"mean": "1 %", "burst": 3}]}}),
        ("controller", {"axes": {"server.congestion_control": ["cubic", "bbr"]}}),
        ("size", {"axes": {"workload.size": ["1 MB", "2 MB"]}}),
        (
            "server",
            {"contenders": {"a": {}, "b": {"server": {"program": "nginx"}}}, "protocol": "h2"},
        ),
    ],
)
def test_what_the_study_varies_itself_is_no_neighbour(axis: str, changes: dict[str, Any]) -> None:
    assert axis in around() and axis not in around(**changes)


@pytest.mark.parametrize("discipline", [*Discipline])
def test_a_queue_that_is_managed_by_stated_times_has_neighbours(discipline: Discipline) -> None:
    plain = Queue.model_validate({"drain": "50 ms", "discipline": discipline})
    own = {name: str(2 * value.ms) + " ms" for name, value in plain.times.items()}
    stated = {"drain": "50 ms", "discipline": str(discipline), **own}
    found = around(path=OWN["path"] | {"queue": stated})
    (other,) = found["discipline"]
    wanted = Discipline.DROPTAIL if discipline is not Discipline.DROPTAIL else Discipline.FQ_CODEL
    assert path(other).links[0].down.queue == plain.model_copy(update={"discipline": wanted})
    assert all(
        path(trial).links[0].down.queue.stated_times.keys() == own.keys()
        for trial in found["queue"]
    )
    assert all(path(trial).links[0].down.queue.drain is None for trial in found["queue"])


def test_loss_that_only_some_cells_have_leaves_its_bursts_to_be_tried() -> None:
    made = study(axes={"path.loss": ["0 %", "1 %"]})
    able, _ = trials_around(origin(made, 1), made, Everything())
    assert "bursts" in {trial.axis.name for trial in able}


def test_what_programs_cannot_do_is_named_with_its_reason() -> None:
    found = {one.trial.level.label: one.reason for one in unable(server={"program": "nginx"})}
    assert "nginx's QUIC has cubic, not bbr" in found["with BBR"]
    assert all(one.trial.axis.name != "server" for one in unable())


def test_both_contenders_get_a_controller_and_only_quic_its_knobs() -> None:
    found = around()
    bbr = next(one for one in found["controller"] if one.level.label == "with BBR")
    assert {str(one.server.congestion_control) for one in bbr.settings.values()} == {"bbr"}
    (unpaced,) = found["QUIC pacing"]
    assert unpaced.settings["h3"].server.knobs == {"pacing": "off"}
    assert unpaced.settings["h2"] == origin(study()).settings["h2"]
    (paced,) = found["TCP pacing"]
    assert str(paced.settings["h2"].server.kernel.qdisc) == "fq"
    assert paced.settings["h3"] == origin(study()).settings["h3"]


def test_a_flow_begins_beside_every_contender_and_only_loads_the_path() -> None:
    (beside,) = around()["flow beside"]
    own = origin(study()).settings
    for name, setting in beside.settings.items():
        flows = setting.flows
        assert set(flows) == {"own", "other"}
        assert flows["own"].protocol == own[name].protocol
        assert flows["own"].workload == own[name].workload
        assert not flows["own"].background and flows["other"].background
    assert beside.changed == {"h2", "h3"}


def test_what_a_flow_beside_leaves_unmeasured_is_told() -> None:
    found = {one.trial.axis.name: one.reason for one in unable(metrics=["ttfb_s"])}
    assert found["flow beside"] == "ttfb_s is not measured there"
    assert "flow beside" not in {one.trial.axis.name for one in unable()}
    both = around(metrics=["ttfb_s", "total_s"])
    assert [trial.measures for trial in both["flow beside"]] == [{"total_s"}]
    assert {trial.measures for trial in both["RTT"]} == {frozenset({"ttfb_s", "total_s"})}


def test_tls_is_older_over_tcp_alone_and_where_the_server_has_it() -> None:
    (older,) = around(server={"program": "nginx"})["TLS"]
    assert older.settings["h2"].server.knobs == {"tls": "1.2"}
    assert older.changed == {"h2"}
    found = {one.trial.axis.name: one.reason for one in unable(server={"program": "caddy"})}
    assert "has no knob" in found["TLS"] or "tls" in found["TLS"]
    assert "TLS" not in around(
        protocol="h1", tls=False, contenders={"a": {}, "b": {"offload": True}}
    )


def test_what_changes_neither_of_two_contenders_does_not_concern_them() -> None:
    three = {"h1": {"protocol": "h1"}, "h2": {"protocol": "h2"}, "h3": {"protocol": "h3"}}
    found = around(contenders=three)
    (unpaced,) = found["QUIC pacing"]
    assert unpaced.changed == {"h3"}
    assert unpaced.concerns("h3", "h2") and not unpaced.concerns("h1", "h2")
    assert all(trial.concerns("h1", "h2") for trial in (*found["seeds"], *found["RTT"]))


def test_a_drawn_path_has_no_neighbours_of_its_own() -> None:
    found = around(path={"profile": "4g-good"})
    assert not found.keys() & {"RTT", "rate", "queue", "loss", "bursts"}
    assert "controller" in found


def test_a_program_without_the_knob_that_tells_contenders_apart_is_no_neighbour() -> None:
    knobs = {"paced": {}, "unpaced": {"server": {"knobs": {"pacing": "off"}}}}
    found = around(protocol="h3", contenders=knobs)
    assert "server" not in found and "client" in found


def test_another_program_keeps_the_knobs_that_it_has() -> None:
    host = {"program": "headway-server", "knobs": {"retry": "on", "scheduler": "sequential"}}
    found = around(protocol="h3", contenders={"h3": {}}, server=host)["server"]
    knobs = {trial.level.label: trial.settings["h3"].server.knobs for trial in found}
    assert knobs["from nginx (without scheduler)"] == {"retry": "on"}
    assert knobs["from caddy (without retry, scheduler)"] == {}


def test_a_knob_may_be_stated_as_a_number() -> None:
    host = {"program": "headway-server", "knobs": {"max_udp_payload": 1200}}
    found = around(protocol="h3", contenders={"h3": {}}, server=host)["server"]
    assert "from nginx (without max_udp_payload)" in {trial.level.label for trial in found}


def test_a_program_without_one_of_two_knobs_that_tell_contenders_apart_is_no_neighbour() -> None:
    def both(group: str) -> dict[str, Any]:
        knobs = {"knobs": {"key_exchange": group}}
        return {"client": knobs, "server": knobs}

    names = {group: both(group) for group in ("x25519", "secp256r1")}
    clients = {trial.level.label for trial in around(protocol="h3", contenders=names)["client"]}
    assert "with curl as the client" in clients
    assert "with aioquic as the client" not in clients


def test_flows_that_compete_have_neighbours_that_reach_them() -> None:
    flow = {"protocol": "tcp", "workload": {"kind": "bulk", "duration": "5 s"}}
    perf = {"program": "headway-perf"}
    flows = {name: {**flow, "client": perf, "server": perf} for name in ("first", "second")}
    contenders = {"one": {}, "other": {"flows": {"second": {"start": "1 s"}}}}
    found = around(
        flows=flows,
        client=perf,
        server=perf,
        contenders=contenders,
        workload={"kind": "bulk", "duration": "5 s"},
        protocol="tcp",
    )
    assert "size" not in found
    for trial in (trial for trials in found.values() for trial in trials):
        if trial.axis.name in ("controller", "server", "client", "processor"):
            flows_there = trial.settings["one"].flows
            assert flows_there != trial.origin.settings["one"].flows, trial.name


def test_every_neighbour_can_be_planned_and_has_a_name_of_its_own() -> None:
    made = study()
    able, _ = trials_around(origin(made), made, Everything())
    runs = planned(made, [(trial, 7) for trial in able])
    assert len(runs) == 2 * 7 * len(able)
    assert len({run.run_id for run in runs}) == len(runs)
    assert min(run.seed for run in runs) == made.seed + 10


def test_pages_videos_and_calls_have_neighbours() -> None:
    live = {
        "kind": "video",
        "duration": "30 s",
        "segment": "2 s",
        "live": {"chunk": "500 ms", "latency": "2 s"},
    }
    latency = around(workload=live, path={"rate": "5 Mbit/s", "rtt": "100 ms"})["latency"][0]
    assert latency.level.label == "at a latency of 6 s"
    calls = {"kind": "requests", "count": 100, "down": "5 kB", "per_second": 70}
    found = around(workload=calls)
    assert [one.level.number for one in found["load"]] == [35, 10]
    assert int(found["size"][0].settings["h2"].workload.down) == 1700


def test_a_level_is_the_same_by_its_label() -> None:
    def change(raw: dict[str, Any], _: Setting) -> dict[str, Any]:
        return raw

    assert NearbyLevel("a", change) == NearbyLevel("a", lambda raw, _: raw)
