"""The reading of captures held against Wireshark's, where that is installed: packet numbers and frames of every datagram."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from headway.instruments.interop.catalogue import known_cases, known_stacks
from headway.instruments.interop.conduct import Conduct
from headway.instruments.interop.connection import key_log
from headway.instruments.interop.datagram import datagrams
from headway.instruments.interop.stackpair import StackPair
from headway.instruments.interop.trace import CapturedQuic
from headway.instruments.interop.verdict import CaseResult
from headway.lab.machine import Machine
from headway.lab.pcapng import read_pcapng

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed"),
]

SERVERS = frozenset({"10.0.2.2", "fd00:0:0:2::2"})
Content = tuple[tuple[int, ...], tuple[int, ...]]
"""Packet numbers of a datagram, and types of its frames without PADDING."""


@pytest.mark.parametrize(
    ("client", "server", "case"),
    [
        ("ngtcp2", "ngtcp2", "keyupdate"),
        ("aioquic", "nginx", "chacha20"),
        ("headway", "headway", "zerortt"),
        ("ngtcp2", "headway", "rebind-port"),
    ],
)
def test_wireshark_reads_the_same(
    client: str, server: str, case: str, machine: Machine, tmp_path: Path
) -> None:
    stacks = known_stacks()
    pairing = StackPair.of(stacks[client], stacks[server], known_cases()[case])
    verdict = Conduct(machine).carry_out(pairing, 1, tmp_path / "run")
    assert verdict.result is CaseResult.SUCCEEDED, verdict.reason
    secrets = (tmp_path / "run/client/keys.log").read_text(encoding="ascii")
    for side in ("left", "right"):
        capture = tmp_path / f"run/sim/trace_node_{side}.pcap"
        ours, theirs = read_here(capture, secrets), read_by_wireshark(capture)
        assert sum(ours.values()) > 10
        # It may lack the keys of what came before the packet that tells them.
        differing = ours - theirs
        opened = {at for (at, content), count in theirs.items() if content[1] and count}
        assert not [difference for difference in differing if difference[0] in opened]
        assert differing.total() <= 0.01 * ours.total()


def read_here(capture: Path, secrets: str) -> Counter[tuple[int, Content]]:
    trace = CapturedQuic.read(datagrams(read_pcapng(capture), SERVERS), key_log(secrets))
    numbers: dict[int, list[int]] = {}
    frames: dict[int, list[int]] = {}
    times = {id(packet.datagram): packet.at_ns for packet in trace.packets}
    for packet in trace.packets:
        if packet.opened:
            numbers.setdefault(id(packet.datagram), []).append(packet.opened.number)
            kinds = [frame.kind for frame in packet.frames]
            frames.setdefault(id(packet.datagram), []).extend(kinds)
    return Counter(
        (at, (tuple(sorted(numbers.get(key, []))), tuple(sorted(frames.get(key, [])))))
        for key, at in times.items()
    )


def read_by_wireshark(capture: Path) -> Counter[tuple[int, Content]]:
    command = [
        "tshark",
        "-r",
        str(capture),
        "-d",
        "udp.port==443,quic",
        "-Y",
        "quic",
        "-T",
        "fields",
    ]
    fields = ["-e", "frame.time_epoch", "-e", "quic.packet_number", "-e", "quic.frame_type"]
    done = subprocess.run(
        [*command, *fields, "--disable-protocol", "http3"],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    read: Counter[tuple[int, Content]] = Counter()
    for line in done.stdout.splitlines():
        time, numbers, kinds = line.split("\t")
        seconds, _, fraction = time.partition(".")
        at_ns = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        frames = (int(kind, 0) for kind in kinds.split(",") if kind)
        content = (
            tuple(sorted(int(number) for number in numbers.split(",") if number)),
            tuple(sorted(kind for kind in frames if kind)),
        )
        read[at_ns, content] += 1
    return read
