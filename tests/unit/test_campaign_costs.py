"""What runs cost: learnt from runs, and said of runs to come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.campaign import costs
from headway.campaign.costs import Cost, CostModel, Measured, fit, learn, learnt, read_own, taken_by
from headway.campaign.estimate import Estimator
from headway.campaign.work import Work, WorkOfBoots, expected_virtual_s, expected_work, kind_of
from headway.columns import Record
from headway.contract.outcome import Outcome
from headway.lab.run import Result
from headway.planning.boots import boots
from headway.planning.deploy import deploy
from headway.planning.runs import Run, plan
from headway.programs.measurement import Measurement
from headway.records.conditions import conditions
from headway.records.record import make_record
from headway.study.load import load_study, study_from
from headway.study.setting import Setting

TRUE = Cost(fixed_s=0.3, per_request_s=0.01, per_mb_s=0.06, per_virtual_s=0.004)
GUESS = Cost(fixed_s=0.2, per_request_s=0.0, per_mb_s=0.1, per_virtual_s=0.01)
WORK = [
    Work(1, 0.001, 0.1),
    Work(1, 1, 1.5),
    Work(20, 10, 9),
    Work(1, 10, 30),
    Work(5, 1, 140),
    Work(1, 0.1, 0.5),
]
RUNS = plan(load_study("quickstart"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def measured(cost: Cost, runs: int) -> Measured:
    found = Measured()
    for number in range(runs):
        work = WORK[number % len(WORK)]
        found = found.with_lab(work, cost.processor_s(work), GUESS.processor_s(work))
    return found


def record_of(run: Run, directory: Path, cost: Cost) -> Record:
    """A record of a run that cost this much, on a machine so busy that it took ten times as long."""
    work = expected_work(run.deployment)
    measurement = Measurement(total_s=work.virtual_s, bytes=int(run.setting.workload.size))
    processor_s = cost.processor_s(work)
    outcome = Outcome("ok", None, round(work.virtual_s * 1e9), "7")
    result = Result(outcome, (measurement,), 10 * processor_s, processor_s)
    return make_record(run, result, directory)


def test_many_runs_tell_their_cost() -> None:
    found = fit(measured(TRUE, 600), Cost(fixed_s=1, per_request_s=1, per_mb_s=1, per_virtual_s=1))
    assert found.parts == pytest.approx(TRUE.parts, rel=0.05)


def test_few_runs_leave_the_prior_as_it_is() -> None:
    assert fit(Measured(), TRUE).parts == pytest.approx(TRUE.parts)


def test_a_cost_is_never_negative() -> None:
    misleading = Measured().with_lab(Work(1, 10, 1), 0.1, 1).with_lab(Work(1, 0.001, 1), 5.0, 1)
    assert min(fit(misleading, TRUE).parts) >= 0


def test_old_runs_count_less() -> None:
    found = measured(TRUE, 5000)
    assert found.labs < 2001
    slower = TRUE.slower(2)
    for number in range(12000):
        work = WORK[number % len(WORK)]
        found = found.with_lab(work, slower.processor_s(work), GUESS.processor_s(work))
    assert fit(found, TRUE).parts == pytest.approx(slower.parts, rel=0.05)


def test_a_kind_never_measured_costs_what_the_machine_makes_of_its_shipped_cost() -> None:
    shipped = {"curl h2 nginx": TRUE, "curl h3 nginx": TRUE.slower(3)}
    model = CostModel({"curl h2 nginx": measured(TRUE.slower(2), 600)}, shipped)
    assert model.cost("curl h3 nginx").parts == pytest.approx(TRUE.slower(6).parts, rel=0.01)
    assert model.cost("wget2 h2 nginx").parts == pytest.approx(TRUE.slower(2).parts, rel=0.01)


def test_a_kind_that_never_shipped_costs_what_kinds_like_it_do() -> None:
    """Not a browser's, and not what a proxy adds: these made flows of two own ends thirty times too dear."""
    like = {"curl h2 headway-server": 0.03, "headway-client h2 nginx": 0.05}
    unlike = {"chromium h2 headway-server": 3.0, "headway-client h2 envoy h3 nginx": 0.5}
    shipped = {
        kind: Cost(fixed_s=0.1, per_request_s=0, per_mb_s=per_mb, per_virtual_s=0)
        for kind, per_mb in (like | unlike).items()
    }
    cost = CostModel({}, shipped).cost("headway-client h2 headway-server")
    assert cost.per_mb_s == 0.05
    assert CostModel({}, shipped).cost("headway-client, curl h2 headway-server").per_mb_s == 0.03


def test_records_teach_this_machine(tmp_path: Path, cache: Path) -> None:
    records = [record_of(run, tmp_path, TRUE.slower(4)) for run in RUNS]
    learn(RUNS, taken_by(records[:90]))
    learn(RUNS, taken_by(records[90:]))
    own = read_own()
    assert sum(one.labs for one in own.values()) == len(RUNS)
    assert set(own) == {f"curl {protocol} nginx" for protocol in ("h1", "h2", "h3")}
    told = Estimator(2, CostModel.of_machine()).of(RUNS)
    assert told.labs_measured == len(RUNS)
    assert told.unmeasured == ()
    taken_s = sum(record.processor_s or 0 for record in records)
    assert told.processor_s == pytest.approx(taken_s, rel=0.1)
    assert told.wall_s == pytest.approx((told.processor_s + 4) / 2)
    assert told.basis == "360 labs of this machine"
    (cache / "costs.json").write_text('{"curl h2')
    assert read_own() == {}


def test_failed_and_real_time_runs_teach_nothing(tmp_path: Path) -> None:
    record = record_of(RUNS[0], tmp_path, TRUE)
    learn(RUNS, taken_by([record.model_copy(update={"status": "failed"})]))
    learn(RUNS, taken_by([record.model_copy(update={"clock": "real"})]))
    learn(RUNS, taken_by([record.model_copy(update={"same_as": "another", "processor_s": 0.0})]))
    assert read_own() == {}


def test_every_kind_of_shipped_costs_is_one_that_settings_have() -> None:
    proxied = Setting.model_validate(
        {"protocol": "h3", "proxy": {"program": "envoy", "upstream": {"protocol": "h2"}}}
    )
    assert kind_of(deploy(proxied)) == "curl h3 envoy h2 nginx"
    assert kind_of(deploy(Setting(protocol="h1", tls=False))) == "curl h1 cleartext nginx"  # type: ignore[arg-type]
    assert kind_of(deploy(Setting())) in costs.read_shipped()


PERF = {"client": {"program": "headway-perf"}, "server": {"program": "headway-perf"}}
BULK = {"protocol": "tcp", "workload": {"kind": "bulk", "duration": "1 s"}}
CALL = {"client": {"program": "headway-call"}, "server": {"program": "headway-call"}}


@pytest.mark.parametrize(
    "told",
    [
        {
            "protocol": "udp",
            "workload": {"kind": "call", "rate": "1 Mbit/s", "duration": "1 s"},
            **CALL,
        },
        {"proxy": {"program": "envoy"}},
        {"flows": {"a": {"protocol": "h2", "count": 2}, "b": {"protocol": "h3"}}},
        {"flows": {"a": {"protocol": "h2"}, "b": {**BULK, **PERF}}},
    ],
)
def test_what_a_run_teaches_is_looked_up_by_runs_like_it(told: dict[str, Any], cache: Path) -> None:
    path = {"rate": "10 Mbit/s", "rtt": "20 ms"}
    (run,) = plan(study_from({"name": "s", "path": path, "contenders": {"c": told}}))
    columns = conditions(run) | {"status": "ok", "processor_s": 1.0}
    learn([run], taken_by([Record(**columns, setting_key="")]))
    assert kind_of(run.deployment) in read_own()


@pytest.mark.parametrize(
    ("path", "size", "low_s", "high_s"),
    [
        ({"rate": "10 Mbit/s", "rtt": "100 ms"}, "10 MiB", 9, 10),
        ({"rate": "10 Mbit/s", "rtt": "100 ms", "loss": "4 %"}, "10 MiB", 60, 200),
        ({"rtt": "100 ms"}, "1 MB", 0.5, 2),
        ({"rtt": "100 ms"}, "0 B", 0.2, 0.4),
    ],
)
def test_a_run_lasts_about_as_long_as_its_path_lets_it(
    path: dict[str, str], size: str, low_s: float, high_s: float
) -> None:
    assert low_s <= expected_virtual_s(deploy(alone(path, size))) <= high_s


@pytest.mark.parametrize(
    ("path", "low_s", "high_s"),
    [
        ({"rate": "10 Mbit/s", "up": {"rate": "1 Mbit/s"}, "rtt": "20 ms"}, 8, 9),
        ({"rate": "1 Mbit/s", "up": {"rate": "10 Mbit/s"}, "rtt": "20 ms"}, 0.8, 1.2),
        ({"rate": "10 Mbit/s", "down": {"loss": "4 %"}, "rtt": "100 ms"}, 0.8, 1.6),
        ({"rate": "10 Mbit/s", "up": {"loss": "4 %"}, "rtt": "100 ms"}, 8, 20),
    ],
)
def test_an_upload_lasts_as_long_as_the_way_up_lets_it(
    path: dict[str, Any], low_s: float, high_s: float
) -> None:
    upload = {"kind": "upload", "size": "1 MB"}
    of = Setting.model_validate({"protocol": "h2", "path": path, "workload": upload})
    assert low_s <= expected_virtual_s(deploy(of)) <= high_s


def test_flows_that_share_a_path_last_as_long_as_their_shares_let_them() -> None:
    path = {"rate": "10 Mbit/s", "rtt": "20 ms"}
    flow = {"protocol": "h2", "workload": {"size": "5 MB"}}

    def lasts_s(**flows: object) -> float:
        return expected_virtual_s(deploy(Setting.model_validate({"path": path, "flows": flows})))

    alone_s = lasts_s(one=flow)
    assert alone_s == pytest.approx(expected_virtual_s(deploy(alone(path, "5 MB"))))
    assert lasts_s(one=flow, two=flow) == pytest.approx(2 * alone_s, rel=0.02)
    assert lasts_s(one=flow, two=flow | {"start": "30 s"}) == pytest.approx(
        30 + 2 * alone_s, rel=0.02
    )
    assert lasts_s(one=flow, two=flow | {"end": "3 s"}) == pytest.approx(2 * alone_s, rel=0.02)


def alone(path: dict[str, str], size: str) -> Setting:
    return Setting.model_validate({"path": path, "workload": {"size": size}})


def bulk_run(loss: str) -> list[Run]:
    tables: dict[str, Any] = {
        "name": "bulk",
        "protocol": "tcp",
        "path": {"rate": "1 Gbit/s", "rtt": "100 ms", "loss": loss},
        "workload": {"kind": "bulk", "duration": "120 s"},
        "client": {"program": "headway-perf"},
        "server": {"program": "headway-perf"},
    }
    return list(plan(study_from(tables)))


def test_bulk_flows_for_a_time_carry_what_loss_leaves_them() -> None:
    """By Mathis et al., 1 % over 100 ms leaves 1.4 Mbit/s of 1000: a hundredth of the time, not hours."""
    model = CostModel({}, costs.read_shipped())
    lossy, clean = (Estimator(1, model).of(bulk_run(loss)).processor_s for loss in ("1 %", "0 %"))
    assert lossy < clean / 20


def test_no_number_of_cores_makes_a_study_shorter_than_its_longest_lab() -> None:
    study = study_from({"name": "s", "axes": {"workload.size": ["10 kB", "100 MB"]}})
    model = CostModel({}, costs.read_shipped())
    few, many = (Estimator(labs, model).of(plan(study)) for labs in (1, 10_000))
    assert few.cores_s == many.cores_s == few.wall_s
    assert few.longest_s == many.longest_s == many.wall_s < few.wall_s


def test_an_estimate_says_what_it_rests_on() -> None:
    study = study_from({"name": "s", "axes": {"protocol": ["h2", "h3"]}})
    nothing = Estimator(1, CostModel({}, costs.read_shipped())).of(plan(study))
    assert "this machine has not carried out such runs yet" in nothing.basis
    half = CostModel({"curl h2 nginx": measured(TRUE, 10)}, costs.read_shipped())
    assert Estimator(1, half).of(plan(study)).basis == (
        "10 labs of this machine; for curl h3 nginx figures that come with Headway, "
        "scaled to this machine"
    )


def pages(repetitions: int) -> list[Run]:
    page = {"kind": "page", "site": "objects-20x20kB"}
    tables = {"name": "p", "protocol": "h2", "client": {"program": "chromium"}, "workload": page}
    return list(plan(study_from(tables | {"repetitions": repetitions})))


def test_loads_that_share_a_lab_share_the_cost_of_its_boot(tmp_path: Path) -> None:
    """From a lab with one load and one with ten follows what a study of either kind costs."""
    boot_s, load_s = 2.0, 0.5
    few, many = pages(1), pages(10)
    one = Record(**conditions(few[0]), status="ok", setting_key="", processor_s=boot_s + load_s)
    each_s = boot_s / 10 + load_s
    ten = [one.model_copy(update={"run_id": run.run_id, "processor_s": each_s}) for run in many]
    own: dict[str, Measured] = {}
    for _ in range(50):
        own = learnt(learnt(own, few, taken_by([one])), many, taken_by(ten))
    estimator = Estimator(1, CostModel(own, costs.read_shipped()))
    assert estimator.of(few).processor_s == pytest.approx(boot_s + load_s, rel=0.1)
    assert estimator.of(many).processor_s == pytest.approx(boot_s + 10 * load_s, rel=0.1)


def test_runs_that_are_carried_out_once_for_several_experiments_cost_once() -> None:
    tables = {f"e{number}": {"axes": {"protocol": ["h2", "h3"]}} for number in range(3)}
    runs = plan(study_from({"name": "s", "experiments": tables}))
    estimator = Estimator(1, CostModel({}, costs.read_shipped()))
    told = estimator.of(runs)
    assert (len(runs), told.runs) == (6, 2)
    assert told.processor_s == estimator.of(runs[:2]).processor_s


def test_the_work_of_a_page_is_that_of_its_resources() -> None:
    (boot,) = boots(pages(10))
    kind, work = WorkOfBoots().of(boot)
    assert kind == "chromium h2 nginx"
    # 20 images, and the page itself.
    assert work.requests == 10 * 21
    assert work.megabytes == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"capture": {"packets": True}}, "curl h2 nginx captured"),
        ({"client": {"kernel": {"coalescing": "50 us"}}}, "curl h2 nginx merged"),
    ],
)
def test_what_changes_the_cost_of_packets_is_another_kind(keys: dict[str, Any], kind: str) -> None:
    assert kind_of(deploy(Setting.model_validate(keys))) == kind
