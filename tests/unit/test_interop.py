"""The interop instrument without a lab: what is drawn, who can play what, results, and messages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.instruments.interop.brought import replaced
from headway.instruments.interop.case import H3, HQ, EndpointRole
from headway.instruments.interop.catalogue import chosen_cases, known_cases, known_stacks
from headway.instruments.interop.matrix import Matrix, MatrixCell
from headway.instruments.interop.network import laid, scenario_path
from headway.instruments.interop.page import page
from headway.instruments.interop.results import details, result_json
from headway.instruments.interop.scenario import SPOILT_BYTES, RandomFate, Scenario, drawn
from headway.instruments.interop.stack import Stack, declared
from headway.instruments.interop.stackpair import StackPair
from headway.instruments.interop.userprograms import command, declared_stacks, placeholders
from headway.instruments.interop.verdict import CaseResult, CaseVerdict
from headway.study.family import Family
from headway.study.fault import FaultKind
from headway.study.path import Way
from headway.study.units import Duration

CASES, STACKS = known_cases(), known_stacks()
MINUTE = Duration(60 * 10**9)
TESTS = "H DC LR C20 M S R Z 3 B U E A L1 L2 C1 C2 6 V2 BP BA CM G C"
"""Abbreviations of the runner's tests and measurements, in the order of its matrix."""


def test_all_cases_of_the_runner_are_there_in_its_order() -> None:
    abbreviations = [case.abbreviation for case in CASES.values()]
    assert sorted(abbreviations) == sorted(TESTS.split())
    assert len(set(abbreviations)) == 24
    assert [case.name for case in chosen_cases([], "")][:3] == ["handshake", "transfer", "longrtt"]
    assert not any(case.measures for case in chosen_cases([], ""))
    assert [case.name for case in chosen_cases(["onlyMeasurements"], "")] == [
        "goodput",
        "crosstraffic",
    ]
    assert [case.name for case in chosen_cases(["E", "retry", "ecn"], "")] == ["ecn", "retry"]


@pytest.mark.parametrize("kind", [FaultKind.LOSE, FaultKind.CORRUPT])
def test_what_befalls_packets_is_drawn_by_the_seed(kind: FaultKind) -> None:
    fate = RandomFate(kind, 0.3)
    first, again = drawn(fate, Way.UP, 7), drawn(fate, Way.UP, 7)
    assert first == again
    assert first != drawn(fate, Way.DOWN, 7)
    assert first != drawn(fate, Way.UP, 8)
    share = len(first.packets) / 40_000
    # Independent draws of 0.3 of which a fourth in a row passes: 0.3 (1 - 0.3^3) / (1 - 0.3^4) of all packets.
    assert share == pytest.approx(0.3 * (1 - 0.027) / (1 - 0.0081), abs=0.01)
    rows = "".join("x" if number in set(first.packets) else "." for number in range(1, 20_001))
    assert max(map(len, re.findall("x+", rows))) == 3
    if kind is FaultKind.CORRUPT:
        assert len(first.flips) == len(first.packets)
        assert {place for place, _ in first.flips} == set(range(SPOILT_BYTES))
        assert all(0 < bits < 256 for _, bits in first.flips)


def test_a_list_of_lost_packets_is_of_one_direction() -> None:
    scenario = CASES["amplificationlimit"].scenario
    up = scenario.packet_fault(Way.UP, 1)
    assert up is not None
    assert up.packets == (2, 3, 4, 5, 6, 7)
    assert scenario.packet_fault(Way.DOWN, 1) is None


def test_paths_are_what_the_runner_says() -> None:
    path = scenario_path(CASES["blackhole"].scenario, MINUTE)
    windows = path.links[0].down.blackouts
    assert [(window.start.s, window.end.s) for window in windows][:2] == [(5, 7), (12, 14)]
    nat = scenario_path(CASES["rebind-addr"].scenario, MINUTE).links[0].nat
    assert nat is not None
    assert [str(rebinding) for rebinding in nat.rebindings][:2] == [
        "address at 1 s",
        "address at 6 s",
    ]
    assert scenario_path(Scenario(), MINUTE).rtt.s == 0.03


def test_hosts_of_both_families_have_addresses_of_both() -> None:
    network = laid(CASES["connectionmigration"].scenario, 1, MINUTE)
    assert set(network.servers) == {Family.IPV4, Family.IPV6}
    for space in network.namespaces:
        text = "\n".join(space.ip)
        assert ("addr add 10." in text) and ("addr add fd00:" in text)
        assert not any("disable_ipv6" in name for name in space.sysctls)
        assert len(set(space.ip)) == len(space.ip)
    only = laid(Scenario(), 1, MINUTE)
    assert all("disable_ipv6" in "".join(space.sysctls) for space in only.namespaces)


def pair(client: Stack, server: Stack, case: str) -> StackPair:
    return StackPair.of(client, server, CASES[case])


CONTRACT = Stack("contract")
OF_HTTP3 = Stack("of-http3", alpn=(H3,))
OF_BOTH = Stack("of-both", alpn=(HQ, H3))


@pytest.mark.parametrize(
    ("client", "server", "case", "alpn", "words"),
    [
        (CONTRACT, CONTRACT, "transfer", HQ, ("transfer", "transfer")),
        (CONTRACT, CONTRACT, "keyupdate", HQ, ("keyupdate", "transfer")),
        (CONTRACT, CONTRACT, "handshakeloss", HQ, ("multiconnect", "multiconnect")),
        (CONTRACT, CONTRACT, "connectionmigration", HQ, ("transfer", "connectionmigration")),
        (CONTRACT, CONTRACT, "http3", H3, ("http3", "http3")),
        (OF_BOTH, OF_BOTH, "transfer", HQ, ("transfer", "transfer")),
        (OF_HTTP3, OF_BOTH, "transfer", H3, ("transfer", "transfer")),
        (OF_HTTP3, CONTRACT, "transfer", H3, ("transfer", "http3")),
        (CONTRACT, OF_HTTP3, "rebind-port", H3, ("http3", "transfer")),
        (OF_HTTP3, CONTRACT, "retry", "", ("", "")),
    ],
)
def test_a_pair_speaks_what_both_do(
    client: Stack, server: Stack, case: str, alpn: str, words: tuple[str, str]
) -> None:
    pairing = pair(client, server, case)
    assert pairing.alpn == alpn
    assert (pairing.told(EndpointRole.CLIENT), pairing.told(EndpointRole.SERVER)) == words
    assert bool(pairing.obstacle) is not bool(alpn)


def test_who_does_not_play_a_case_is_named() -> None:
    nobody = Stack("nobody", alpn=(H3,), cases={EndpointRole.SERVER: frozenset()})
    assert pair(OF_HTTP3, nobody, "retry").obstacle == "nobody does not play retry as a server"
    assert (
        "of-http3 speaks h3 here, and contract hq-interop"
        in pair(OF_HTTP3, CONTRACT, "retry").obstacle
    )


def test_every_stack_declares_roles_and_cases_that_its_script_knows() -> None:
    assert {"nginx", "haproxy", "ngtcp2", "aioquic", "quic-go", "headway"} <= STACKS.keys()
    words = {case.told(role) for case in CASES.values() for role in EndpointRole}
    for stack in STACKS.values():
        assert stack.roles
        assert stack.url.startswith("https://")
        for role, cases in stack.cases.items():
            assert role in stack.roles
            assert cases <= words, stack.name


CASE_FILE = """
from headway.instruments.interop.case import InteropCase

class Mine(InteropCase):
    name = "mine"
    abbreviation = "X"
    description = "What I want to know."
    sizes = (10,)
    client_name = server_name = "transfer"

CASE = Mine()
"""


def test_a_case_of_ones_own_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(CASE_FILE, encoding="utf-8")
    (case,) = chosen_cases([str(file)], "--test")
    assert (case.name, case.told(EndpointRole.SERVER)) == ("mine", "transfer")
    assert case.files(3) == case.files(3) != case.files(4)


def test_a_directory_with_an_endpoint_is_a_stack(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"empty directory"):
        replaced(f"mine={tmp_path}", "--replace")
    (tmp_path / "run_endpoint.sh").write_text("exit 127\n", encoding="utf-8")
    stack = replaced(f"mine={tmp_path}", "--replace")
    assert (stack.name, stack.directory, stack.roles) == ("mine", tmp_path, frozenset(EndpointRole))
    (tmp_path / "stack.toml").write_text('roles = ["referee"]\n', encoding="utf-8")
    with pytest.raises(WrongInputError, match="referee"):
        declared(tmp_path)
    (tmp_path / "stack.toml").unlink()
    (tmp_path / "usr").mkdir()
    tree = replaced(f"mine={tmp_path}", "--replace")
    assert tree.directory is None
    assert tree.brought[EndpointRole.CLIENT].argv == ("/run_endpoint.sh",)


PROGRAMS = """
[server.mine]
argv = ["headway-server", "--listen={address}:{port}", "--root={root}", "{options}"]
options.qlog = ["--qlog={qlog}"]
protocols = ["h3"]

[client.mine]
argv = ["curl", "-o", "{output}", "--cacert", "{ca}", "{url}"]
protocols = ["h3"]

[client.blind]
argv = ["curl", "{url}"]
protocols = ["h3"]
"""


def test_programs_of_a_file_play_what_asks_nothing_of_them(tmp_path: Path) -> None:
    file = tmp_path / "programs.toml"
    file.write_text(PROGRAMS, encoding="utf-8")
    stacks = declared_stacks(file)
    assert list(stacks) == ["mine"], "nobody could compare what the other one fetched"
    mine = stacks["mine"]
    played = {
        role: [case.abbreviation for case in CASES.values() if mine.told(case, role)]
        for role in EndpointRole
    }
    assert "DC" in played[EndpointRole.SERVER]
    assert "DC" not in played[EndpointRole.CLIENT], "it fetches one file over a connection"
    assert {"H", "L1"} <= set(played[EndpointRole.CLIENT])
    assert not {"S", "R", "Z", "V2", "C20"} & {
        *played[EndpointRole.SERVER],
        *played[EndpointRole.CLIENT],
    }


def test_the_command_of_a_program_asks_for_each_file(tmp_path: Path) -> None:
    file = tmp_path / "programs.toml"
    file.write_text(PROGRAMS, encoding="utf-8")
    mine = declared_stacks(file)["mine"]
    server = mine.brought[EndpointRole.SERVER].program
    values = placeholders(server, "fd00:0:0:2::2", "server6", 1)
    assert command(server, values, ()) == (
        *("headway-server", "--listen=[fd00:0:0:2::2]:443", "--root=/www", "--qlog=/logs/qlog"),
    )
    client = mine.brought[EndpointRole.CLIENT].program
    first, second = CASES["resumption"].files(1)
    *_, script = command(client, placeholders(client, "10.0.2.2", "server4", 1), (first, second))
    assert script.count(" &&\n") == 1
    assert (
        f"-o /downloads/{first.name} --cacert /certs/ca.pem https://server4:443/{first.name}"
        in script
    )


def cells() -> tuple[Matrix, list[MatrixCell]]:
    matrix = Matrix(
        [OF_BOTH], [CONTRACT], [CASES["handshake"], CASES["retry"], CASES["goodput"]], [1, 2]
    )
    good, bad = (
        CaseVerdict(CaseResult.SUCCEEDED),
        CaseVerdict(CaseResult.FAILED, "no <b>reason</b>"),
    )
    pairs = matrix.pairings
    speeds = [CaseVerdict(CaseResult.SUCCEEDED, f"{speed} kbps") for speed in (9000, 9200)]
    return matrix, [
        MatrixCell(pairs[0], ((1, good), (2, bad))),
        MatrixCell(StackPair.of(OF_HTTP3, CONTRACT, CASES["retry"]), ()),
        MatrixCell(pairs[2], tuple(enumerate(speeds, start=1))),
    ]


def test_results_are_the_runners_and_say_why() -> None:
    matrix, made = cells()
    made[1] = MatrixCell(matrix.pairings[1], ())
    document = json.loads(result_json(matrix, made, "logs"))
    assert document["tests"]["S"] == {"name": "retry", "desc": CASES["retry"].description}
    assert (document["servers"], document["clients"]) == (["contract"], ["of-both"])
    (results,), (measurements,) = document["results"], document["measurements"]
    assert [entry["result"] for entry in results] == ["failed", "unsupported"]
    assert results[0]["failed_seeds"] == {"2": "no <b>reason</b>"}
    assert measurements[0]["details"] == "9100 (± 141) kbps"
    assert result_json(matrix, made, "logs") == result_json(matrix, made, "logs")


def test_a_case_fails_if_it_fails_with_any_seed() -> None:
    _, (failed, unsupported, measured) = cells()
    assert (failed.result, failed.reason, failed.failed_seeds) == (
        CaseResult.FAILED,
        "no <b>reason</b>",
        (2,),
    )
    assert unsupported.result is CaseResult.UNSUPPORTED
    assert "speaks h3" in unsupported.reason
    assert details(measured).startswith("9100")


def test_the_page_needs_no_network_and_escapes_reasons() -> None:
    matrix, made = cells()
    text = page(matrix, made)
    assert not re.search(r"(src|href)=", text)
    assert "no &lt;b&gt;reason&lt;/b&gt;" in text
    assert "headway interop -s contract -c of-both -t handshake --seed 2" in text
    assert 'class="case failed"' in text
