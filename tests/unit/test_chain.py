"""Chains of hops between client and server: the format, what acts, and what the lab is told."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from headway.campaign.feasibility import checked_plan
from headway.campaign.work import kind_of
from headway.cli.plan_tables import print_plan
from headway.contract.orders import Orders
from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.diagnosis.series import read_series
from headway.diagnosis.transfer import Transfer, transfer_of
from headway.errors import WrongInputError
from headway.lab.network import layout_of
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.planning.deployment import Role
from headway.planning.runs import Run, plan
from headway.programs.base import (
    Client,
    Flow,
    Knob,
    Listener,
    Origin,
    Server,
    Started,
)
from headway.programs.measurement import BulkFlow, Measurement
from headway.programs.pep import Interception, QuicPep, TcpPep
from headway.programs.registry import CLIENTS, QUIC_PEPS, SERVERS, TCP_PEPS
from headway.records.conditions import conditions
from headway.study.bulk import Bulk
from headway.study.capture import Capture
from headway.study.experiment import Study
from headway.study.hop import Pep
from headway.study.host import Host, Protocol
from headway.study.load import Source, load_study, parse_study
from headway.study.setting import Setting
from tests.deployed import orders_of

CHAIN = Path(__file__).with_name("satellite_chain.toml")
BULK = frozenset({Protocol.TCP, Protocol.QUIC})


class Perf(Client):
    name, package, protocols, workloads = "headway-perf", "headway", BULK, (Bulk,)

    def start(self, flow: Flow) -> Started:
        return Started((Program("perf", flow.namespace, ("perf", flow.address)),))

    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        return Measurement()


class PerfServer(Server):
    name, package, protocols = "headway-perf", "headway", BULK
    quic_congestion_controls = ("cubic", "reno")
    sets_quic_initial_window = True

    def serve(self, listener: Listener, host: Host, capture: Capture) -> Started:
        argv = ("serve", listener.address, *listener.protocols)
        return Started((Program("server", listener.namespace, argv, service=True),))


class Quic(QuicPep):
    name, package = "headway-quic-pep", "headway"
    quic_congestion_controls = ("cubic", "reno")
    sets_quic_initial_window = True
    side_knobs = frozenset({"ack_frequency"})
    knobs = (
        Knob("mode", "default", "", ("default", "h3-capable")),
        Knob("ack_frequency", "2", ""),
    )

    def split(self, listener: Listener, behind: Origin, pep: Pep, capture: Capture) -> Started:
        sides = [
            f"{self.quic_congestion_control(side)} {side.initial_window.quic} "
            f"{self.knob('ack_frequency', side)}"
            for side in (pep.towards_client, pep.towards_server)
        ]
        argv = ("split", listener.address, f"{behind.address}:{behind.port}", *sides)
        return Started((Program(listener.namespace, listener.namespace, argv, service=True),))


class Tcp(TcpPep):
    name, package = "headway-tcp-pep", "headway"

    def intercept(self, interception: Interception, pep: Pep, capture: Capture) -> Started:
        argv = ("intercept", str(interception.port))
        place = interception.namespace
        return Started((Program(place, place, argv, service=True),))


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for known, adapter in (
        (CLIENTS, Perf()),
        (SERVERS, PerfServer()),
        (QUIC_PEPS, Quic()),
        (TCP_PEPS, Tcp()),
    ):
        monkeypatch.setitem(known, adapter.name, adapter)


@pytest.fixture
def by_contender() -> dict[str, Run]:
    """A run of each contender of the study, over GEO without loss."""
    runs = plan(load_study(str(CHAIN)))
    cell = "delay_250ms-loss_0pct"
    return {run.contender: run for run in runs if run.cell == cell and run.rep == 1}


def orders(run: Run) -> Orders:
    return orders_of(run.setting, run.seed)


def argv(ordered: Orders) -> dict[str, tuple[str, ...]]:
    return {program.name: program.argv for program in ordered.programs}


def test_a_study_of_peps_can_be_planned() -> None:
    study = load_study(str(CHAIN))
    runs = checked_plan(study, CHAIN.name)
    assert len(runs) == 2 * 4 * 4 * 100
    said = io.StringIO()
    print_plan(Console(file=said, width=200), study, runs, labs=2)
    assert re.search(r"satellite-chain +8 +4 +100 +3200", said.getvalue())
    assert re.search(r"hops.terminal.path.delay +250 ms, 16 ms", said.getvalue())
    assert re.search(r"contender +QUIC, QUIC-PEP, TCP, TCP-PEP", said.getvalue())


def test_a_pep_acts_on_its_transport_unless_it_is_bypassed(by_contender: dict[str, Run]) -> None:
    acting = {name: run.deployment.only.proxies for name, run in by_contender.items()}
    assert acting["QUIC"] == acting["TCP"] == ()
    for name, role in (("QUIC-PEP", Role.QUIC_PEP), ("TCP-PEP", Role.TCP_PEP)):
        assert [(one.name, one.role) for one in acting[name]] == [
            ("proxy-st", role),
            ("proxy-gw", role),
        ]


def test_connections_cross_the_paths_between_their_ends(by_contender: dict[str, Run]) -> None:
    crossed = {
        name: [segment.path.rtt.ms for segment in deploy(run.setting).only.segments]
        for name, run in by_contender.items()
    }
    assert crossed["TCP"] == [580]
    assert crossed["TCP-PEP"] == [0, 500, 80]


def test_quic_peps_are_connected_to_one_after_the_other(by_contender: dict[str, Run]) -> None:
    run = by_contender["QUIC-PEP"]
    legs = run.deployment.legs
    told = argv(orders(run))
    first, second, server = (legs[number].right_address for number in (0, 4, 5))
    assert told["perf"] == ("perf", first)
    assert told["proxy-st"] == ("split", first, f"{second}:443", "cubic None 2", "reno 100 2")
    assert told["proxy-gw"] == ("split", second, f"{server}:443", "reno 100 2", "cubic None 2")
    assert told["server"] == ("serve", server, "quic")
    assert [*told] == ["server", "proxy-gw", "proxy-st", "perf"]


def test_tcp_peps_intercept_what_is_meant_for_the_server(by_contender: dict[str, Run]) -> None:
    run = by_contender["TCP-PEP"]
    network = layout_of(run.deployment)
    told = argv(orders(run))
    assert told["perf"] == ("perf", run.deployment.legs[-1].right_address)
    assert told["proxy-st"] == told["proxy-gw"] == ("intercept", "443")
    (pep,) = (one for one in network.namespaces if one.name == "proxy-st")
    assert pep.sysctls["net.ipv4.ip_forward"] == "1"
    assert pep.sysctls["net.ipv4.tcp_congestion_control"] == "cubic"
    rules = [line for line in pep.ip if line.startswith("rule add")]
    assert rules == [
        "rule add iif proxy-st-down ipproto tcp dport 443 table 102",
        "rule add iif proxy-st-up ipproto tcp sport 443 table 102",
    ]
    # NewReno and 100 segments towards the satellite only.
    special = [line for line in pep.ip if "initcwnd 100 congctl reno" in line]
    assert special and all(line.startswith(("route add", "route replace")) for line in special)
    assert all("proxy-st-down" not in line for line in special)


def test_bypassed_hosts_route(by_contender: dict[str, Run]) -> None:
    network = layout_of(by_contender["TCP"].deployment)
    for one in network.namespaces[1:-1]:
        assert one.sysctls["net.ipv4.ip_forward"] == "1"
        assert not any("rule add" in line for line in one.ip)


def test_only_paths_have_links(by_contender: dict[str, Run]) -> None:
    names = [one.name for one in layout_of(by_contender["TCP"].deployment).namespaces]
    assert names == [
        *("client", "proxy-st", "terminal", "link0a", "link0b", "satellite", "gateway"),
        *("proxy-gw", "link1a", "link1b", "server"),
    ]


def test_the_record_tells_the_whole_path_and_who_splits(by_contender: dict[str, Run]) -> None:
    pep, none = conditions(by_contender["QUIC-PEP"]), conditions(by_contender["QUIC"])
    assert pep["proxy"] == "headway-quic-pep, headway-quic-pep"
    assert pep["proxy_cc"] == "cubic, reno"
    assert "proxy" not in none
    for row in (pep, none):
        assert (row["rtt_ms"], row["rate_mbit"], row["rate_up_mbit"]) == (580, 20, 8)
        assert (row["workload"], row["size_bytes"], row["server_iw"]) == (
            "bulk download 15 s",
            None,
            10,
        )
        # One BDP of the link with the queue, not of the whole way.
        assert row["queue_bytes"] == 20e6 * 0.5 / 8


def test_hops_of_a_transfer_are_between_senders(by_contender: dict[str, Run]) -> None:
    segments = transfer_of(deploy(by_contender["QUIC-PEP"].setting).only, Measurement()).segments
    assert [(segment.sender, segment.receiver) for segment in segments] == [
        ("proxy-st", "client"),
        ("proxy-gw", "proxy-st"),
        ("server", "proxy-gw"),
    ]
    assert [segment.rate_mbit for segment in segments] == [None, 20, None]
    assert [segment.queue_device for segment in segments] == [
        "proxy-st-down",
        "link0b-down",
        "link1b-down",
    ]
    assert [round(segment.delay_s, 6) for segment in segments] == [0, 0.25, 0.29]


def test_flows_are_kept(by_contender: dict[str, Run], tmp_path: Path) -> None:
    flows = (BulkFlow(0.0, 0.1, (0, 12_000)), BulkFlow(0.5, 0.1, (1_000,)))
    transfer = transfer_of(by_contender["TCP"].deployment.only, Measurement(flows=flows))
    transfer.save(tmp_path)
    assert Transfer.load(tmp_path) == transfer
    assert read_series(tmp_path).flows == flows


def test_kinds_of_runs_are_told_apart(by_contender: dict[str, Run]) -> None:
    assert kind_of(by_contender["QUIC"].deployment) == "headway-perf quic headway-perf"
    assert kind_of(by_contender["TCP-PEP"].deployment) == (
        "headway-perf tcp headway-tcp-pep, headway-tcp-pep tcp headway-perf"
    )


BASE = """\
name = "s"
[[hops]]
name = "inner"
path.rtt = "10 ms"
quic_pep.initial_window = 20
[[hops]]
name = "gateway"
[hops.path]
rtt = "20 ms"
"""


def parse(text: str) -> Study:
    return parse_study(Source("s.toml", text, Path()))


def test_hops_are_in_the_order_of_the_file_whatever_refers_to_them() -> None:
    text = BASE + '[axes]\nhops.gateway.path.loss = ["1 %"]\nhops.inner.path.loss = ["2 %"]\n'
    (run,) = plan(parse(text + "[contenders.a.hops.gateway.path]\nrate = '1 Mbit/s'"))
    inner, gateway = run.setting.middleboxes
    assert (inner.name, gateway.name) == ("inner", "gateway")
    assert gateway.path.links[0].down.loss.mean == 0.01
    assert gateway.path.links[0].down.first_rate == 10**6
    assert inner.path.links[0].down.loss.mean == 0.02


def test_a_pep_without_a_program_is_there_for_those_who_name_it() -> None:
    named = '[contenders]\na = {}\nb = { hops.inner.quic_pep.program = "x" }'
    found = {run.contender: run.setting.hops["inner"].quic_pep for run in plan(parse(BASE + named))}
    assert found["a"] is None
    assert found["b"] == Pep(program="x", initial_window=20)


def test_experiments_refine_hops_and_quick_forms_do() -> None:
    text = BASE + "[experiments.far.hops.gateway]\npath.rtt = '1 s'\n[experiments.near]\n"
    text += "[quick.experiments.far.hops.gateway]\npath.rtt = '2 s'\n"
    for quick, rtt in ((False, 1.0), (True, 2.0)):
        study = parse_study(Source("s.toml", text, Path()), quick=quick)
        found = {run.experiment: run.setting.hops["gateway"].path.rtt.s for run in plan(study)}
        assert found == {"far": rtt, "near": 0.02}


def test_the_sides_of_a_pep_refine_it() -> None:
    pep = Pep.model_validate(
        {
            "program": "x",
            "congestion_control": "bbr",
            "knobs": {"a": "1", "b": "2"},
            "upstream": {"initial_window": 100, "knobs": {"b": "3"}},
        }
    )
    assert pep.towards_client == Host.model_validate(
        {"program": "x", "congestion_control": "bbr", "knobs": {"a": "1", "b": "2"}}
    )
    assert pep.towards_server == Host.model_validate(
        {
            "program": "x",
            "congestion_control": "bbr",
            "initial_window": 100,
            "knobs": {"a": "1", "b": "3"},
        }
    )


def test_programs_of_hops_are_checked() -> None:
    pep = {"program": "headway-quic-pep", "upstream": {"congestion_control": "bbr"}}
    setting = Setting.model_validate({"protocol": "h3", "hops": [{"name": "a", "quic_pep": pep}]})
    with pytest.raises(WrongInputError) as refused:
        check_programs(deploy(setting))
    assert refused.value.where == "hops.a.quic_pep.congestion_control"


def test_a_single_proxy_is_a_chain_of_one() -> None:
    raw = {"protocol": "h3", "proxy": {"program": "envoy", "upstream": {"protocol": "h2"}}}
    setting = Setting.model_validate(raw)
    flow = deploy(setting).only
    (proxy,) = flow.proxies
    assert (proxy.name, proxy.role, proxy.position) == ("proxy", Role.REVERSE_PROXY, 1)
    assert [segment.protocol for segment in flow.segments] == ["h3", "h2"]
    assert setting.model_dump(exclude_defaults=True).keys() == {"protocol", "proxy"}


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"duration": "15 s"}, "bulk download 15 s"),
        ({"size": "1 MB", "direction": "upload"}, "bulk upload 1 MB"),
        ({"duration": "20 s", "starts": ["0 s", "5 s"]}, "bulk download 2 x 20 s"),
    ],
)
def test_bulk_flows(raw: dict[str, Any], text: str) -> None:
    setting = Setting.model_validate({"protocol": "quic", "workload": {"kind": "bulk", **raw}})
    assert str(setting.workload) == text
    assert setting.served_sizes == ()
    assert setting.workload.requests == len(raw.get("starts", [0]))
