"""Differences taken apart: shares of made causes, and the contenders between two others."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.instruments.ablation.document import DifferencePart, WhyAnswer
from headway.instruments.ablation.drawing import waterfall
from headway.instruments.ablation.game import (
    MOST_EXACT,
    Causes,
    Logs,
    interactions,
    orders,
    sets_of,
    shares,
)
from headway.instruments.ablation.hybrids import END, ComparedPair
from headway.instruments.ablation.session import pair_of
from headway.instruments.corpus.catalogue import corpus_names
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.report.encoded import encoded
from headway.report.figures.kind import NARROW
from headway.study.load import study_from
from tests.unit.test_cli import run

NAMES = ("round trips of the handshake", "congestion control", "pacing", "flow-control windows")
OWN: dict[str, Any] = {
    "name": "made",
    "client": {"program": "headway-client"},
    "server": {"program": "headway-server"},
    "path": {"rate": "10 Mbit/s", "rtt": "60 ms", "loss": "1 %"},
    "workload": {"size": "100 kB"},
    "contenders": {"h2": {"protocol": "h2"}, "h3": {"protocol": "h3"}},
}


def measured(
    names: tuple[str, ...],
    effect: Callable[[Causes], float],
    scatter: float,
    chance: random.Random,
    seeds: int = 20,
) -> Logs:
    """Runs of all sets, whose luck seeds have in common in part."""
    luck = {seed: chance.gauss(0, 0.2) for seed in range(seeds)}
    return {
        causes: {seed: effect(causes) + luck[seed] + chance.gauss(0, scatter) for seed in luck}
        for causes in sets_of(names)
    }


def whole(names: tuple[str, ...], logs: Logs) -> list[float]:
    return [logs[frozenset(names)][seed] - logs[Causes()][seed] for seed in logs[Causes()]]


@pytest.mark.parametrize("single", NAMES)
def test_a_single_cause_is_found(single: str) -> None:
    """In more than nine of ten made cases it is the only part that is shown, or the largest by far."""
    chance = random.Random(single)
    right = 0
    for _ in range(40):
        logs = measured(NAMES, lambda causes: -0.2 * (single in causes), 0.05, chance)
        by_name = {share.name: share for share in shares(NAMES, logs)}
        largest = max(by_name.values(), key=lambda share: abs(share.log))
        others = [share for name, share in by_name.items() if name != single]
        right += (
            largest.name == single
            and largest.is_shown
            and all(abs(share.log) < 0.25 * abs(largest.log) for share in others)
        )
    assert right > 36


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_the_parts_sum_to_the_whole(count: int) -> None:
    names = tuple(f"cause {place}" for place in range(count))
    chance = random.Random(count)
    sizes = {name: chance.gauss(0, 0.2) for name in names}

    def effect(causes: Causes) -> float:
        alone = math.fsum(sizes[name] for name in causes)
        return alone + 0.1 * (len(causes) == count) - 0.05 * len(causes) ** 2

    logs = measured(names, effect, 0.02, chance)
    found = shares(names, logs)
    reach = max(share.interval.high - share.interval.low for share in found if share.interval)
    together = math.fsum(share.log for share in found)
    differences = whole(names, logs)
    assert together == pytest.approx(sorted(differences)[len(differences) // 2], abs=reach)
    # Without chance they sum to it exactly.
    exact = measured(names, effect, 0.0, chance)
    assert math.fsum(share.log for share in shares(names, exact)) == pytest.approx(
        effect(frozenset(names)) - effect(Causes())
    )


def test_what_causes_share_is_halved_and_told() -> None:
    names = ("a", "b")
    logs = measured(names, lambda causes: -0.4 * (len(causes) == 2), 0.0, random.Random(1))
    one, other = shares(names, logs)
    assert one.log == pytest.approx(-0.2) and other.log == pytest.approx(-0.2)
    assert (one.first, one.last) == (pytest.approx(0), pytest.approx(-0.4))
    assert interactions(names, logs)["a", "b"] == pytest.approx(-0.4)


def test_of_many_causes_some_orders_are_tried() -> None:
    many = tuple(f"cause {place}" for place in range(8))
    assert len(sets_of(many)) < 2**8 / 2
    assert len(orders(many)) == 12 and all(sorted(order) == sorted(many) for order in orders(many))
    assert len(sets_of(many[:MOST_EXACT])) == 2**MOST_EXACT


def of(contenders: dict[str, Any] | None = None, **changes: Any) -> ComparedPair:
    tables = {**OWN, **({"contenders": contenders} if contenders else {}), **changes}
    return pair_of(study_from(tables), None, None, None, None)


def names_of(pair: ComparedPair) -> set[str]:
    return {cause.name for cause in pair.causes}


def test_of_two_protocols_quic_is_made_like_tcp_step_by_step() -> None:
    pair = of()
    assert names_of(pair) == {NAMES[0], NAMES[1], NAMES[2]}
    server = pair.contenders["with nothing"]["server"]
    assert server["knobs"] == {"retry": "on", "pacing": "off"}
    assert server["congestion_control"] == {"quic": "linux-cubic"}
    assert pair.name_of(frozenset(names_of(pair))) == "h3"
    assert len(pair.contenders) == 2 + 7


def test_a_quic_that_is_like_tcp_already_leaves_the_protocol_alone() -> None:
    like = {
        "protocol": "h3",
        "server": {
            "congestion_control": {"quic": "linux-cubic"},
            "knobs": {"pacing": "off", "retry": "on"},
        },
    }
    pair = of({"h2": {"protocol": "h2"}, "like": like})
    assert not pair.causes and set(pair.contenders) == {"h2", "like"}


def test_every_contender_between_can_be_carried_out() -> None:
    pairs = (
        of(),
        of({"nginx": {"server": {"program": "nginx"}}, "caddy": {"server": {"program": "caddy"}}}),
        of(protocol="h2", server={"program": "nginx"}, client={"program": "curl"}),
        of(workload={"kind": "upload", "size": "100 kB"}),
        of(workload={"kind": "parallel", "size": "10 kB", "count": 10}),
    )
    for pair in pairs:
        experiment = pair.experiment.beside("why", pair.contenders, 6)
        for name in pair.contenders:
            check_programs(deploy(experiment.setting({}, name)))


@pytest.mark.parametrize(
    ("contenders", "cause"),
    [
        ({"a": {}, "b": {"server": {"congestion_control": "bbr"}}}, "congestion control"),
        ({"a": {}, "b": {"server": {"knobs": {"pacing": "off"}}}}, "pacing"),
        ({"a": {}, "b": {"client": {"knobs": {"stream_window": "65536"}}}}, "flow-control windows"),
        ({"a": {}, "b": {"server": {"knobs": {"retry": "on"}}}}, "round trips of the handshake"),
        ({"a": {}, "b": {"path": {"rtt": "90 ms"}}}, "path.rtt"),
        ({"a": {}, "b": {"server": {"initial_window": 32}}}, "initial window"),
        ({"a": {}, "b": {"client": {"kernel": {"processor": "moto-g"}}}}, "processor"),
    ],
)
def test_what_a_study_states_is_a_cause(contenders: dict[str, Any], cause: str) -> None:
    pair = of(contenders, protocol="h3")
    assert names_of(pair) == {cause}
    # Both ends are there already: nothing but them is carried out.
    assert set(pair.contenders) == {"a", "b"}


def test_programs_of_others_are_beside_headways() -> None:
    pair = of(client={"program": "curl"}, server={"program": "nginx"})
    assert pair.is_of_others and END in pair.contenders
    ours = pair.contenders["with nothing"]
    assert ours["server"]["program"] == "headway-server"
    assert ours["client"]["program"] == "headway-client"
    assert pair.contenders["h3"]["server"]["program"] == "nginx"


def test_tcp_against_quic_is_the_same_turned_round() -> None:
    turned = pair_of(study_from(OWN), None, None, "h2", "h3")
    assert turned.is_turned and turned.base == "h2"
    assert names_of(turned) == names_of(of())
    assert turned.contenders.keys() == of().contenders.keys()


def answer(**changes: Any) -> WhyAnswer:
    def part(name: str, log: float, reach: float, *, rest: bool = False) -> DifferencePart:
        return DifferencePart(
            name=name, log=log, low=log - reach, high=log + reach, first=log, last=log, is_rest=rest
        )

    tables: dict[str, Any] = {
        "study": "made",
        "experiment": "",
        "cell": "cell",
        "title": "RTT 60 ms",
        "metric": "total_s",
        "label": "time to the last byte",
        "contender": "h3",
        "against": "h2",
        "whole": part("the whole", -0.2, 0.02),
        "parts": (
            part("pacing", 0.1, 0.02),
            part("congestion control", -0.3, 0.02),
            part("packet size", 0.001, 0.01),
            part("the rest", 0.0, 0.01, rest=True),
        ),
        "seeds": 20,
        "left_out": 0,
        "sets": 8,
    }
    return WhyAnswer(**{**tables, **changes})


def test_the_sentence_names_the_largest_parts_and_what_does_nothing() -> None:
    said = answer().sentence
    assert said.startswith("h3 against h2 at RTT 60 ms, time to the last byte: −18 %")
    assert said.index("congestion control") < said.index("pacing")
    assert said.endswith("Nothing is shown to go with packet size or the rest.")


@pytest.mark.parametrize("width", [1040.0, NARROW])
def test_the_waterfall_stays_on_its_sheet(width: float) -> None:
    picture = waterfall(answer())
    sheet = picture.drawing(width)
    texts = [shape for shape in sheet.shapes if type(shape).__name__ == "Text"]
    assert any("time to the last byte" in shape.text for shape in texts)  # type: ignore[union-attr]
    assert encoded(picture, "csv").decode().count("\n") == 6
    assert b"<svg" in encoded(picture, "svg")


def test_an_experiment_that_is_not_there_is_refused() -> None:
    with pytest.raises(WrongInputError):
        pair_of(study_from(OWN), experiment="x", cell=None, contender=None, against=None)


def test_a_page_keeps_its_browser_and_flows_their_programs() -> None:
    pages = of(
        client={"program": "chromium"},
        server={"program": "nginx"},
        workload={"kind": "page", "site": corpus_names()[0]},
    )
    assert pages.is_of_others
    assert pages.contenders["with nothing"]["client"]["program"] == "chromium"
    assert pages.contenders["with nothing"]["server"]["program"] == "headway-server"
    perf = {"program": "headway-perf"}
    bulk = {"kind": "bulk", "duration": "5 s"}
    flow = {"protocol": "tcp", "client": perf, "server": perf, "workload": bulk}
    later = {"flows": {"second": {"start": "1 s"}}}
    alike = {"first": flow, "second": flow}
    flows = of({"a": {}, "b": later}, flows=alike, protocol="tcp", client={}, server={})
    assert not flows.is_of_others and names_of(flows) == {"flows.second.start"}


def test_quic_of_a_flow_is_made_like_the_tcp_of_the_same_flow() -> None:
    bulk = {"kind": "bulk", "duration": "5 s"}
    perf: dict[str, Any] = {"client": {"program": "headway-perf"}, "workload": bulk}
    beside = perf | {"protocol": "tcp", "server": {"program": "headway-perf"}}
    pair = of(
        {
            name: {"flows": {"first": beside | {"protocol": name}, "second": beside}}
            for name in ("tcp", "quic")
        }
    )
    assert not pair.is_of_others and names_of(pair) == set(NAMES[:3])
    like_tcp = pair.contenders["with nothing"]["flows"]
    assert like_tcp["first"]["protocol"] == "quic" and like_tcp["second"] == beside
    assert like_tcp["first"]["server"]["congestion_control"] == {"quic": "linux-cubic"}
    assert like_tcp["first"]["server"]["knobs"] == {"retry": "on", "pacing": "off"}


def test_a_flow_that_one_contender_has_is_one_cause() -> None:
    perf = {"program": "headway-perf"}
    bulk = {"kind": "bulk", "duration": "5 s"}
    flow = {"protocol": "tcp", "client": perf, "server": perf, "workload": bulk}
    two = {"flows": {"first": flow, "second": flow}}
    pair = of({"alone": {"flows": {"first": flow}}, "beside": two})
    assert names_of(pair) == {"flows.second"}
    assert [len(raw["flows"]) for raw in pair.contenders.values()] == [1, 2]


def test_programs_of_others_in_flows_are_replaced_flow_by_flow() -> None:
    page = {"kind": "page", "site": corpus_names()[0]}
    download = {"protocol": "h2", "server": {"program": "caddy"}, "client": {"program": "curl"}}
    pair = of(
        {
            name: {
                "flows": {
                    "page": {"protocol": name, "workload": page, "client": {"program": "chromium"}},
                    "download": download,
                }
            }
            for name in ("h2", "h3")
        },
        server={"program": "nginx"},
    )
    assert pair.is_of_others and names_of(pair) == set(NAMES[:3])
    ours = pair.contenders["with nothing"]["flows"]
    assert ours["page"]["client"]["program"] == "chromium"
    assert {flow["server"]["program"] for flow in ours.values()} == {"headway-server"}
    assert ours["download"]["client"]["program"] == "headway-client"


def test_what_cannot_be_carried_out_is_said_with_status_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "knob.toml"
    study.write_text(
        'name = "knob"\nprotocol = "h2"\nworkload.size = "10 kB"\nserver.program = "headway-server"\n'
        'contenders = { a = {}, b = { server.knobs.no_such = "1" } }\n'
    )
    assert run(monkeypatch, "why", str(study), "--out", str(tmp_path / "out")) == 2
    error = capsys.readouterr().err
    assert "cannot be taken apart" in error and "no knob 'no_such'" in error
    assert not (tmp_path / "out").exists()


def test_contenders_that_differ_in_nothing_have_no_parts() -> None:
    pair = of({"a": {}, "b": {}}, protocol="h2")
    assert not pair.causes and set(pair.contenders) == {"a", "b"}
