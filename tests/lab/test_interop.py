"""Interoperability in labs: cheap pairs, and programs that do nothing, hang, refuse, or keep their keys to themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.image import ImageOptions, find
from headway.instruments.interop.brought import replaced
from headway.instruments.interop.case import EndpointRole
from headway.instruments.interop.catalogue import known_cases, known_stacks
from headway.instruments.interop.compliance import wrong_answer
from headway.instruments.interop.conduct import Conduct
from headway.instruments.interop.matrix import Logs, Matrix, carry_out
from headway.instruments.interop.results import result_json
from headway.instruments.interop.stack import Stack
from headway.instruments.interop.stackpair import StackPair
from headway.instruments.interop.verdict import CaseResult, CaseVerdict
from headway.lab.machine import Machine
from tests.lab.conftest import brought

pytestmark = pytest.mark.lab

CASES, STACKS = known_cases(), known_stacks()
Judge = Callable[..., CaseVerdict]


@pytest.fixture
def judge(machine: Machine, tmp_path: Path) -> Judge:
    """Carry out a client and a server, by name or as stacks, in a case."""

    def judged(client: str | Stack, server: str | Stack, case: str, seed: int = 1) -> CaseVerdict:
        ends = [STACKS[end] if isinstance(end, str) else end for end in (client, server)]
        pairing = StackPair.of(*ends, CASES[case])
        assert not pairing.obstacle
        return Conduct(machine).carry_out(pairing, seed, tmp_path / "run")

    return judged


def stack(directory: Path, script: str, name: str = "made") -> Stack:
    """A stack whose endpoint is a script."""
    place = directory / name
    place.mkdir()
    (place / "run_endpoint.sh").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    return replaced(f"{name}={place}", "--replace")


@pytest.mark.parametrize(
    ("client", "server", "case"),
    [
        ("ngtcp2", "nginx", "handshake"),
        ("aioquic", "nginx", "chacha20"),
        ("aioquic", "haproxy", "retry"),
        ("headway", "ngtcp2", "longrtt"),
        ("ngtcp2", "headway", "zerortt"),
        ("headway", "nginx", "resumption"),
        ("headway", "headway", "rebind-port"),
        ("headway", "headway", "rebind-addr"),
        ("headway", "headway", "ecn"),
        ("ngtcp2", "headway", "keyupdate"),
        ("headway", "headway", "amplificationlimit"),
        ("headway", "caddy", "ipv6"),
        ("ngtcp2", "ngtcp2", "v2"),
        ("ngtcp2", "ngtcp2", "connectionmigration"),
        ("curl", "envoy", "http3"),
        ("chromium", "nginx", "http3"),
        ("headway", "headway", "handshakeloss"),
        ("headway", "headway", "transfercorruption"),
    ],
)
def test_these_work_with_each_other(client: str, server: str, case: str, judge: Judge) -> None:
    verdict = judge(client, server, case)
    assert verdict.result is CaseResult.SUCCEEDED, verdict.reason


@pytest.mark.parametrize(
    ("client", "server", "case", "reason"),
    [
        ("ngtcp2", "nginx", "ecn", None),
        ("curl", "nginx", "rebind-port", "nginx"),
    ],
)
def test_what_they_cannot_is_told(
    client: str, server: str, case: str, reason: str | None, judge: Judge
) -> None:
    pairing = StackPair.of(STACKS[client], STACKS[server], CASES[case])
    if reason is None:
        assert pairing.obstacle == "nginx does not play ecn as a server"
        return
    verdict = judge(client, server, case)
    assert verdict.result is CaseResult.FAILED
    assert "sent its last packet" in verdict.reason or "CONNECTION_CLOSE" in verdict.reason


@pytest.mark.parametrize(
    ("script", "result", "reason"),
    [
        ("exit 0", CaseResult.FAILED, "the file did not arrive"),
        (
            "exit 127",
            CaseResult.UNSUPPORTED,
            "made answers 127 as a client: it does not know handshake",
        ),
        ("exit 3", CaseResult.FAILED, "made ended with exit status 3"),
        ("echo not today >&2; exit 1", CaseResult.FAILED, 'exit status 1 ("not today")'),
        ("sleep 1000", CaseResult.FAILED, "made had not ended after 60 s of virtual time"),
        ("kill -SEGV $$", CaseResult.FAILED, "made ended with exit status 139"),
        (
            'for u in $REQUESTS; do head -c 1024 /dev/zero >"/downloads/${u##*/}"; done',
            CaseResult.FAILED,
            "arrived with other content",
        ),
    ],
)
def test_a_client_that_does_not_play_is_found_out(
    script: str, result: CaseResult, reason: str, judge: Judge, tmp_path: Path
) -> None:
    verdict = judge(stack(tmp_path, script), "nginx", "handshake")
    assert (verdict.result, reason in verdict.reason) == (result, True), verdict.reason


@pytest.mark.parametrize(
    ("script", "result", "reason"),
    [
        ("exit 0", CaseResult.FAILED, "made as a server ended early"),
        ("exit 127", CaseResult.UNSUPPORTED, "made answers 127 as a server"),
        ("sleep 1000", CaseResult.FAILED, "did not open udp:10.0.2.2:443 within 20 s"),
        (
            "exec python3 -c 'import socket, time; s = socket.socket(type=socket.SOCK_DGRAM); "
            's.bind(("", 443)); time.sleep(1000)\'',
            CaseResult.FAILED,
            "the server sent no packet of QUIC",
        ),
    ],
)
def test_a_server_that_does_not_play_is_found_out(
    script: str, result: CaseResult, reason: str, judge: Judge, tmp_path: Path
) -> None:
    verdict = judge("curl", stack(tmp_path, script), "http3")
    assert (verdict.result, reason in verdict.reason) == (result, True), verdict.reason


def test_captures_without_keys_are_told(judge: Judge, tmp_path: Path) -> None:
    own = (STACKS["headway"].directory or Path()) / "run_endpoint.sh"
    text = own.read_text(encoding="utf-8").partition("\n")[2]
    secretive = stack(tmp_path, "unset SSLKEYLOGFILE\n" + text, "secretive")
    assert secretive.directory
    (secretive.directory / "stack.toml").write_text('alpn = ["h3"]\n', encoding="utf-8")
    secretive = replaced(f"secretive={secretive.directory}", "--replace")
    assert judge(secretive, secretive, "http3").result is CaseResult.SUCCEEDED
    verdict = judge(secretive, secretive, "rebind-port")
    assert verdict.result is CaseResult.UNSUPPORTED
    assert "neither endpoint wrote TLS secrets" in verdict.reason


def test_a_packet_that_corruption_makes_a_retry_ends_no_connection(judge: Judge) -> None:
    """With this seed a packet of the client comes to the server with the type of a Retry."""
    verdict = judge("headway", "headway", "handshakecorruption", seed=7)
    assert verdict.result is CaseResult.SUCCEEDED, verdict.reason


def test_corrupted_packets_arrive(judge: Judge, tmp_path: Path) -> None:
    verdict = judge("headway", "headway", "transfercorruption", seed=3)
    assert verdict.result is CaseResult.SUCCEEDED, verdict.reason
    outcome = json.loads((tmp_path / "run" / "outcome.json").read_text(encoding="utf-8"))
    for passed in outcome["passed"].values():
        assert 0.01 < passed["met"] / passed["packets"] < 0.035
    kept = (tmp_path / "run" / "packets-down.jsonl").read_text(encoding="utf-8").splitlines()
    spoilt = [json.loads(line)["bytes"] for line in kept if json.loads(line)["met"]]
    assert spoilt
    from headway.lab.pcapng import read_pcapng

    came = {frame[14:].hex() for _, frame in read_pcapng(tmp_path / "run/sim/trace_node_left.pcap")}
    # As many as were spoilt reached the client, none as it was sent.
    assert not came.intersection(spoilt)
    assert all(any(_differs_in_a_byte(data, frame) for frame in came) for data in spoilt[:5])


def _differs_in_a_byte(sent: str, came: str) -> bool:
    """Whether two packets are the same but for a byte of the content, its checksum, and what routers change."""
    first, second = bytes.fromhex(sent), bytes.fromhex(came)
    if len(first) != len(second):
        return False
    places = [at for at, (a, b) in enumerate(zip(first[28:], second[28:], strict=True)) if a != b]
    return len(places) == 1 and places[0] < 51


@pytest.mark.parametrize("name", sorted(STACKS))
def test_every_stack_answers_127_to_what_it_cannot_know(name: str, machine: Machine) -> None:
    extras = {extra: brought(extra) for extra in STACKS[name].extras}
    for found in extras.values():
        if not isinstance(found, Path):
            pytest.skip(str(found))
    shown = {name: place for name, place in extras.items() if isinstance(place, Path)}
    equipped = Machine(machine.image, machine.code, {**machine.extras, **shown})
    for role in sorted(STACKS[name].roles):
        assert wrong_answer(equipped, STACKS[name], role) == ""


def test_a_stack_that_passes_whatever_it_is_asked_is_told(machine: Machine, tmp_path: Path) -> None:
    text = wrong_answer(machine, stack(tmp_path, "exit 0"), EndpointRole.CLIENT)
    assert "made as a client ends with exit status 0" in text
    assert "does not end" in wrong_answer(
        machine, stack(tmp_path, "sleep 1000", "sleeper"), EndpointRole.SERVER
    )


def test_an_endpoint_with_a_root_tree_of_its_own(
    judge: Judge, machine: Machine, tmp_path: Path
) -> None:
    image = find(ImageOptions.from_environment(), {"ngtcp2"})
    if image is None:
        pytest.skip("`headway image build ngtcp2` fetches it")
    tree = tmp_path / "tree"
    for name in ("bin", "lib", "lib64", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64"):
        _copied(image.root, tree, name)
    script = (STACKS["curl"].directory or Path()) / "run_endpoint.sh"
    text = script.read_text(encoding="utf-8").replace('[ "$ALPN" = h3 ]', "true")
    (tree / "run_endpoint.sh").write_text(text, encoding="utf-8")
    (tree / "run_endpoint.sh").chmod(0o755)
    own = replaced(f"own={tree}", "--replace")
    assert own.directory is None
    verdict = judge(own, "nginx", "http3")
    assert verdict.result is CaseResult.SUCCEEDED, verdict.reason


def _copied(root: Path, tree: Path, name: str) -> None:
    """Copy what curl and the shell need of a directory of the image."""
    import shutil

    source, target = root / name, tree / name
    if source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(source.readlink())
        return
    wanted = (
        "curl",
        "sh",
        "dash",
        "mkdir",
        "ln",
        "rm",
        "chmod",
        "dirname",
        "ld-linux-x86-64.so.2",
        "x86_64-linux-gnu",
    )
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name not in wanted:
            continue
        if entry.is_dir():
            shutil.copytree(
                entry, target / entry.name, symlinks=True, ignore_dangling_symlinks=True
            )
        else:
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)


def test_two_matrices_are_equal_byte_for_byte(machine: Machine, tmp_path: Path) -> None:
    stacks = [STACKS["headway"], STACKS["ngtcp2"]]
    cases = [CASES[name] for name in ("handshake", "retry", "handshakeloss", "transferloss")]
    matrix = Matrix(stacks, stacks, cases, [1, 2])

    def result(name: str, jobs: int) -> str:
        cells = carry_out(matrix, machine, Logs(tmp_path / name), jobs, lambda *_: None)
        return result_json(matrix, cells, "logs")

    assert result("first", 2) == result("second", 1)
    left = sorted(entry.name for entry in (tmp_path / "first/headway_headway/retry/1").iterdir())
    assert left == ["output.txt"]
