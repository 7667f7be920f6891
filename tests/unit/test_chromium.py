"""Chromium: how it is started, what it is asked for, and which of its loads share a boot."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from headway.contract.names import OUTCOME_FILE
from headway.contract.orders import Change, Orders, Round
from headway.contract.outcome import Ended, Outcome
from headway.contract.program import Program
from headway.contract.text import dump, load
from headway.guest.devtools import DevTools, DevToolsError
from headway.guest.loadfiles import EVENTS_FILE, LOAD_FILE
from headway.guest.recorder import PageRecorder
from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.lab.network import layout_of
from headway.planning.boots import REPETITIONS_OF_A_BOOT, boots
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.planning.runs import Run
from headway.programs.registry import CLIENTS
from headway.sites.site import Exchange, Site
from headway.sites.warc import write_archive
from headway.study.family import HostAddress
from headway.study.network import CLIENT, SERVER
from headway.study.setting import Setting
from tests.deployed import flow_of, orders_of
from tests.stub_lab import stub_image

HOSTS = ("a.test", "b.test", "c.test")
ADDRESS = HostAddress("10.0.2.2")
OK = Ended("chromium", 0, 10**9)


@pytest.fixture
def site(tmp_path: Path) -> str:
    """An archive of a page with resources of two other hosts."""
    html = (("content-type", "text/html"),)
    exchanges = (Exchange("GET", f"https://{host}/", 200, html, b"<p>") for host in HOSTS)
    file = tmp_path / "three.warc.gz"
    write_archive(Site("three", "https://a.test/", tuple(exchanges)), file)
    return str(file)


def setting(site: str, protocol: str = "h2", **more: Any) -> Setting:
    workload = {"kind": "page", "site": site, **more.pop("workload", {})}
    raw = {
        "protocol": protocol,
        "workload": workload,
        "client": {"program": "chromium", "knobs": more.pop("knobs", {})},
        "path": {"rate": "10 Mbit/s", "rtt": "100 ms"},
    }
    return Setting.model_validate(raw | more)


def configuration(of: Setting) -> dict[str, Any]:
    """What the driver is told."""
    (text,) = CLIENTS["chromium"].start(flow_of(of, ADDRESS)).files.values()
    told: dict[str, Any] = json.loads(text)
    return told


def argv(of: Setting) -> list[str]:
    command: list[str] = configuration(of)["argv"]
    return command


# The command line


@pytest.mark.parametrize(
    ("protocol", "has", "lacks"),
    [
        ("h1", {"--disable-quic", "--disable-http2"}, "--enable-quic"),
        ("h2", {"--disable-quic"}, "--disable-http2"),
        ("h3", {"--enable-quic", "--origin-to-force-quic-on=*"}, "--disable-quic"),
    ],
)
def test_the_protocol_is_forced(site: str, protocol: str, has: set[str], lacks: str) -> None:
    command = argv(setting(site, protocol))
    assert has <= set(command)
    assert lacks not in command


def rules(of: Setting) -> str:
    start = "--host-resolver-rules="
    return next(word.removeprefix(start) for word in argv(of) if word.startswith(start))


def test_no_name_is_resolved_but_those_of_the_page(site: str) -> None:
    mapped = ", ".join(f"MAP {host} {ADDRESS}" for host in HOSTS)
    assert rules(setting(site)) == f"{mapped}, MAP * ~NOTFOUND"


def test_hosts_have_addresses_of_their_own_at_which_the_server_listens(site: str) -> None:
    of = setting(site, workload={"origins": "own-addresses"}, server={"program": "headway-server"})
    own = [f"10.200.0.{number}" for number in (1, 2, 3)]
    mapped = ", ".join(f"MAP {host} {at}" for host, at in zip(HOSTS, own, strict=True))
    assert rules(of) == f"{mapped}, MAP * ~NOTFOUND"
    orders = orders_of(of)
    server = next(ns for ns in orders.namespaces if ns.name == SERVER)
    assert {f"addr add {address}/32 dev lo" for address in own} <= set(server.ip)
    assert {f"--listen={address}:443" for address in own} <= set(orders.programs[0].argv)


def test_without_tls_the_page_is_asked_for_in_the_clear(site: str) -> None:
    assert configuration(setting(site))["page"]["url"] == "https://a.test/"
    clear = configuration(setting(site, "h1", tls=False))
    assert clear["page"]["url"] == "http://a.test/"


@pytest.mark.parametrize(
    ("cache", "visits"),
    [
        ("cold", []),
        ("warm", ["https://a.test/"]),
        ("tickets", ["https://a.test/.well-known/headway"]),
    ],
)
def test_what_the_browser_has_visited(site: str, cache: str, visits: list[str]) -> None:
    page = configuration(setting(site, workload={"cache": cache}))["page"]
    assert [url for url in page["visits"] if "a.test" in url] == visits


SAFARI = (
    "like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 Mobile/15E148 "
    "Safari/604.1"
)
"""How Safari of iOS 12 goes on, behind the device and its system."""


@pytest.mark.parametrize(
    ("device", "screen", "name"),
    [
        ("desktop", (1366, 768, 1, False), ""),
        ("ipad", (768, 1024, 2, True), f"Mozilla/5.0 (iPad; CPU OS 12_5 {SAFARI}"),
        ("iphone-6", (375, 667, 2, True), f"Mozilla/5.0 (iPhone; CPU iPhone OS 12_5 {SAFARI}"),
    ],
)
def test_a_device_is_a_screen_and_a_name(
    site: str, device: str, screen: tuple[Any, ...], name: str
) -> None:
    page = configuration(setting(site, workload={"device": device}))["page"]
    assert tuple(page[key] for key in ("width", "height", "scale", "mobile")) == screen
    assert page["user_agent"] == name


def test_frames_and_the_net_log_are_kept_on_request(site: str) -> None:
    assert configuration(setting(site))["page"]["frame_side"] > 0
    assert configuration(setting(site, workload={"frames": False}))["page"]["frame_side"] == 0
    usual, logged = (setting(site, knobs=knobs) for knobs in ({}, {"net_log": "on"}))
    assert not any(word.startswith("--log-net-log") for word in argv(usual))
    assert "--log-net-log=/lab/run/net-log.json" in argv(logged)
    drivers = [
        CLIENTS["chromium"].start(flow_of(of, ADDRESS)).programs[0] for of in (usual, logged)
    ]
    assert [driver.finishes for driver in drivers] == [False, True]


def test_keys_are_written_with_captures_only(site: str) -> None:
    usual, captured = (setting(site, capture={"packets": packets}) for packets in (False, True))
    assert "SSLKEYLOGFILE" not in CLIENTS["chromium"].start(flow_of(usual, ADDRESS)).programs[0].env
    driver = CLIENTS["chromium"].start(flow_of(captured, ADDRESS)).programs[0]
    assert driver.env["SSLKEYLOGFILE"] == "/lab/run/tls-secrets.txt"


def test_loads_start_where_frames_and_ticks_do(site: str) -> None:
    """Frames are 16.666 ms apart, ticks of the kernel 1 ms."""
    of = setting(site)
    orders = orders_of(of)
    assert orders.start_grid_ns % 16_666_000 == 0
    assert orders.start_grid_ns % 1_000_000 == 0


# What came of it


def test_a_browser_that_left_nothing_has_failed(site: str, tmp_path: Path) -> None:
    measured = CLIENTS["chromium"].measure(flow_of(setting(site)), tmp_path, OK)
    assert measured.error == "chromium reported nothing about the page"


def test_a_failed_load_tells_why_and_leaves_what_came(site: str, tmp_path: Path) -> None:
    told = {"error": "the browser is gone (killed by SIGKILL)", "url": "https://a.test/"}
    (tmp_path / LOAD_FILE).write_text(json.dumps(told))
    measured = CLIENTS["chromium"].measure(flow_of(setting(site)), tmp_path, OK)
    assert measured.error == f"chromium: {told['error']}"
    har = json.loads((tmp_path / "load.har").read_text())
    assert har["log"]["pages"][0]["comment"] == told["error"]


def test_requests_are_under_way_until_they_end(tmp_path: Path) -> None:
    recorder = PageRecorder()
    recorder.begin()

    def hear(method: str, **params: Any) -> None:
        message = {"method": method, "params": params}
        recorder.hear(message, json.dumps(message).encode())

    with recorder.writing(tmp_path):
        for number in ("1", "2"):
            hear("Network.requestWillBeSent", requestId=number)
        hear("Network.requestWillBeSent", requestId="1")  # a redirect
        hear("Network.loadingFinished", requestId="1")
        hear("Page.loadEventFired")
        hear("DOM.documentUpdated")
        assert recorder.is_loaded and recorder.is_busy
        hear("Network.loadingFailed", requestId="2")
        assert not recorder.is_busy
    hear("Network.requestWillBeSent", requestId="3")
    assert len((tmp_path / EVENTS_FILE).read_text().splitlines()) == 6


# The DevTools protocol


@dataclass
class Pipes:
    """Both ends of a connection to a browser."""

    events: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        from_browser, self.say = os.pipe()
        self.hear, to_browser = os.pipe()
        self.devtools = DevTools(
            from_browser, to_browser, lambda message, _: self.events.append(message["method"])
        )

    def tell(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            os.write(self.say, json.dumps(message).encode() + b"\0")


def test_an_answer_is_told_from_events_and_from_other_answers() -> None:
    pipes = Pipes()
    assert pipes.devtools.send("Page.enable") == 1
    pipes.tell({"method": "A"}, {"id": 1, "result": {}}, {"id": 2, "result": {"x": 7}})
    assert pipes.devtools.call("Page.navigate", limit_s=1) == {"x": 7}
    assert pipes.events == ["A"]
    sent = os.read(pipes.hear, 4096).split(b"\0")
    assert [json.loads(one)["method"] for one in sent[:-1]] == ["Page.enable", "Page.navigate"]


def test_a_message_may_come_in_pieces() -> None:
    pipes = Pipes()
    raw = json.dumps({"id": 1, "result": {"long": "x" * 100}}).encode() + b"\0"
    os.write(pipes.say, raw[:50])
    assert not pipes.devtools.pump(0.01)
    os.write(pipes.say, raw[50:])
    assert pipes.devtools.call("Page.enable")["long"] == "x" * 100


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([{"id": 1, "error": {"message": "no such frame"}}], "Page.navigate: no such frame"),
        ([], r"Page.navigate was not answered within 0.01 s"),
    ],
)
def test_a_command_may_fail(answers: list[dict[str, Any]], error: str) -> None:
    pipes = Pipes()
    pipes.tell(*answers)
    with pytest.raises(DevToolsError, match=error) as caught:
        pipes.devtools.call("Page.navigate", limit_s=0.01)
    assert not caught.value.is_end


@pytest.mark.parametrize("end", ["say", "hear"])
def test_a_browser_that_is_gone_is_noticed(end: str) -> None:
    pipes = Pipes()
    os.close(getattr(pipes, end))
    with pytest.raises(DevToolsError, match="the browser is gone") as caught:
        pipes.devtools.call("Page.navigate", limit_s=1)
    assert caught.value.is_end


# What is refused


def test_other_servers_give_tickets(site: str) -> None:
    tickets: dict[str, Any] = {"workload": {"cache": "tickets"}}
    check_programs(deploy(setting(site, **tickets, server={"program": "headway-server"})))


# Which loads share a boot


def runs(of: Setting, count: int, contender: str = "h2") -> list[Run]:
    return [
        Run(f"{contender}-{rep:03d}", "s", "", "cell", contender, rep, rep, of)
        for rep in range(1, count + 1)
    ]


def test_repetitions_share_a_boot_up_to_a_number(site: str) -> None:
    first, second = runs(setting(site), 12), runs(setting(site, "h3"), 12, "h3")
    interleaved = [run for pair in zip(first, second, strict=True) for run in pair]
    grouped = boots(interleaved)
    assert [len(boot.runs) for boot in grouped] == [REPETITIONS_OF_A_BOOT] * 2 + [2, 2]
    assert grouped[0].runs == tuple(first[:REPETITIONS_OF_A_BOOT])
    assert [boot.runs[0].contender for boot in grouped] == ["h2", "h3", "h2", "h3"]
    assert sorted(run.run_id for boot in grouped for run in boot.served) == sorted(
        run.run_id for run in interleaved
    )


@pytest.mark.parametrize(
    ("more", "shares"),
    [
        ({}, True),
        ({"path": {"rate": "9 Mbit/s", "blackouts": [["1 s", "2 s"]], "loss": "1 %"}}, True),
        ({"path": {"drop_packets": [3]}}, False),
        ({"capture": {"packets": True}}, False),
        ({"capture": {"qlog": True}}, False),
        ({"control": {"pings": 3}}, False),
        ({"proxy": {"program": "envoy"}}, False),
    ],
)
def test_what_outlasts_a_load_is_not_shared(site: str, more: dict[str, Any], shares: bool) -> None:
    of = setting(site, **more)
    assert of.may_share_a_boot is shares
    assert len(boots(runs(of, 3))) == (1 if shares else 3)


def test_downloads_share_nothing() -> None:
    of = Setting.model_validate({"workload": {"size": "1 kB"}})
    assert [len(boot.runs) for boot in boots(runs(of, 3))] == [1, 1, 1]


def test_rounds_are_read_as_they_were_written() -> None:
    program = Program("p", CLIENT, ("true",), ready_within_ns=7)
    change = Change(5, "link0a", "qdisc change dev x root netem loss 1%")
    rounds = (
        Round("one", {"link0a": ("qdisc del dev x root", "qdisc add dev x root netem")}, (change,)),
        Round("two"),
    )
    orders = Orders(namespaces=(), programs=(program,), rounds=rounds, start_grid_ns=11)
    assert load(Orders, dump(orders)) == orders


# A lab that ends early


@dataclass(frozen=True)
class ShortLived(Machine):
    """Ends after so many rounds; keeps the orders of every boot."""

    rounds: int = 2
    booted: list[Orders] = field(default_factory=list)
    cpu_limits_s: list[float] = field(default_factory=list)

    def boot(self, orders: Orders, directory: Path, **how: Any) -> Outcome:
        """See `Machine.boot`."""
        self.booted.append(orders)
        self.cpu_limits_s.append(how["cpu_limit"].s)
        directory.mkdir()
        (directory / "console.log").write_text(f"boot {len(self.booted)}")
        outcome = Outcome("ok", None, 10**9, "7", (OK,))
        for one in orders.rounds[: self.rounds]:
            place = directory / one.directory
            place.mkdir(exist_ok=True)
            (place / OUTCOME_FILE).write_text(dump(outcome))
        return outcome


def carried_out(
    machine: Machine, runs: Sequence[Run], where: Callable[[Run], Path]
) -> list[tuple[str, str]]:
    """Names of the runs, and the console of the boot that they were in."""
    done = carry_out_together(runs, machine, [where(run) for run in runs])
    return [(run.run_id, (place / "console.log").read_text()) for run, place, _ in done]


@pytest.mark.parametrize(
    ("lasts", "of_boots"),
    [(5, [1] * 5), (2, [1, 1, 2, 2, 3]), (1, [1, 2, 3, 4, 5])],
)
def test_what_a_lab_did_not_come_to_is_done_in_another(
    site: str, tmp_path: Path, lasts: int, of_boots: list[int]
) -> None:
    machine = ShortLived(stub_image(), Path(), Path(), rounds=lasts)
    five = runs(setting(site), 5)
    directory = tmp_path / "runs"
    directory.mkdir()
    done = carried_out(machine, five, lambda run: directory / run.run_id)
    expected = [(run.run_id, f"boot {number}") for run, number in zip(five, of_boots, strict=True)]
    assert done == expected
    assert sorted(path.name for path in directory.iterdir()) == [run.run_id for run in five]
    ordered = [len(orders.rounds) for orders in machine.booted]
    assert ordered == [5 - of_boots.index(number) for number in sorted(set(of_boots))]
    limit_s = five[0].setting.limits.cpu.s
    assert machine.cpu_limits_s == [limit_s * count for count in ordered]


def test_every_round_has_the_path_of_its_own_seed(site: str, tmp_path: Path) -> None:
    machine = ShortLived(stub_image(), Path(), Path(), rounds=2)
    lossy = {"rate": "1 Mbit/s", "loss": "1 %", "blackouts": [["1 s", "2 s"]]}
    two = runs(setting(site, path=lossy), 2)
    carried_out(machine, two, lambda run: tmp_path / run.run_id)
    (orders,) = machine.booted
    networks = [layout_of(deploy(run.setting, run.seed)) for run in two]
    for one, network in zip(orders.rounds, networks, strict=True):
        assert one.tc == network.renewal
        assert one.changes == network.changes
    assert orders.rounds[0].tc != orders.rounds[1].tc
    for lines in orders.rounds[0].tc.values():
        removed = [line.split()[3] for line in lines if line.startswith("qdisc del")]
        added = [
            line.split()[3] for line in lines if line.startswith("qdisc add") and "root" in line
        ]
        assert removed == added != []
