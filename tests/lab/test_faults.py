"""Single faults take place as they are stated, to the packet, as captures at both ends show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.campaign.session import conduct
from headway.campaign.task import Task
from headway.campaign.watcher import SilentWatcher
from headway.columns import OF_THE_MACHINE, Record, Status
from headway.diagnosis.fault import carried_packets
from headway.lab.pcapng import read_pcapng
from headway.records.store import Start, Store
from headway.study.load import study_from
from headway.study.path import Way
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

DELAY_NS = 10_000_000
CLOSE_NS = 20_000
"""A process on the way reads the clock now and then, which takes time."""
_ETHERNET = 14
_PAYLOAD = 49
"""Of a TCP packet with time stamps, as `_from_server` has it."""
NUMBER = 7
"""Of a packet among others on their way to the client."""


def setting(fault: str, **changes: Any) -> dict[str, Any]:
    return {
        "protocol": "h1",
        "path": {"rtt": "20 ms"},
        "workload": {"size": "30 kB"},
        "capture": {"packets": True},
        "fault": fault,
        **changes,
    }


@pytest.fixture
def carried_out(run_setting: RunSetting, tmp_path: Path) -> Any:
    def carry(fault: str, **changes: Any) -> tuple[Record, list[Any], list[Any]]:
        record = run_setting(setting(fault, **changes), name="run")
        assert record.status is Status.OK, record.error
        return record, *_from_server(tmp_path / "run")

    return carry


def _from_server(run_directory: Path) -> tuple[list[Any], list[Any]]:
    every = {
        host: list(read_pcapng(run_directory / f"{host}.pcapng")) for host in ("server", "client")
    }
    # The server's packets are those that its own device has as their source.
    own = next(frame[6:12] for _, frame in every["server"] if frame[_ETHERNET + 33] & 0x12 == 0x12)
    address = next(f[26:30] for _, f in every["server"] if f[6:12] == own)

    def plain(frame: bytes) -> bytes:
        return frame[14:22] + frame[23:24] + frame[26:]

    sent, received = (
        [(at, plain(frame)) for at, frame in every[host] if frame[26:30] == address]
        for host in ("server", "client")
    )
    # What leaves when the workload has ended does not come any more.
    ended = received[-1][0] - DELAY_NS + CLOSE_NS
    return [one for one in sent if one[0] < ended], received


def test_nothing_happens_and_packets_are_counted(carried_out: Any) -> None:
    record, sent, received = carried_out("none")
    assert [packet for _, packet in sent] == [packet for _, packet in received]
    assert (record.packets_down, record.fault_met, record.fault) == (len(sent), 0, "none")
    assert all(
        abs(b - a - DELAY_NS) < CLOSE_NS for (a, _), (b, _) in zip(sent, received, strict=True)
    )


def test_one_packet_is_lost(carried_out: Any) -> None:
    record, sent, received = carried_out(f"lose down {NUMBER}")
    lost = sent[NUMBER - 1]
    assert [p for _, p in received] == [p for _, p in sent[: NUMBER - 1] + sent[NUMBER:]]
    assert record.fault_met == 1
    assert record.fault_at_s is not None and record.fault_bytes == int.from_bytes(lost[1][2:4])


def test_one_packet_comes_twice(carried_out: Any) -> None:
    _, sent, received = carried_out(f"duplicate down {NUMBER}")
    plain = [packet for _, packet in sent]
    assert [p for _, p in received] == [*plain[:NUMBER], *plain[NUMBER - 1 :]]


def test_one_packet_is_late(carried_out: Any) -> None:
    _, sent, received = carried_out(f"delay down {NUMBER} by 30 ms")
    at, packet = sent[NUMBER - 1]
    arrived = next(time for time, one in received if one == packet)
    assert abs(arrived - at - DELAY_NS - 30_000_000) < CLOSE_NS


def test_one_packet_is_overtaken(carried_out: Any) -> None:
    _, sent, received = carried_out(f"reorder down {NUMBER} behind 2")
    place = [packet for _, packet in received].index(sent[NUMBER - 1][1])
    assert place == NUMBER - 1 + 2


def test_one_packet_is_corrupted_and_accepted_by_tcp(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    record = run_setting(setting(f"corrupt down {NUMBER}"), name="run")
    sent, received = _from_server(tmp_path / "run")
    (_, one), (_, other) = sent[NUMBER - 1], received[NUMBER - 1]
    bits = [(a ^ b).bit_count() for a, b in zip(one[_PAYLOAD:], other[_PAYLOAD:], strict=True)]
    assert sum(bits) == 1
    # Its checksum was right, so that TLS met it.
    assert record.status is Status.FAILED
    assert record.fault_met == 1


def test_a_corrupted_datagram_is_as_good_as_lost_to_quic(run_setting: RunSetting) -> None:
    lost = run_setting(setting("lose down 9", protocol="h3"), name="lost")
    corrupt = run_setting(setting("corrupt down 9", protocol="h3"), name="corrupt")
    assert (lost.fault_met, corrupt.fault_met) == (1, 1)
    assert corrupt.total_s == pytest.approx(lost.total_s, abs=1e-3)


def test_one_packet_is_marked_if_its_sender_can_ecn(carried_out: Any) -> None:
    able = {"kernel": {"sysctls": {"net.ipv4.tcp_ecn": 1}}}
    record, sent, received = carried_out(f"mark down {NUMBER}", client=able, server=able)
    marks = [packet[1] & 3 for _, packet in received]
    assert marks[NUMBER - 1] == 3 and marks.count(3) == 1
    assert record.fault_met == 1
    assert sent[NUMBER - 1][1][1] & 3 == 2


def test_a_packet_that_cannot_be_marked_does_not_meet_it(run_setting: RunSetting) -> None:
    assert run_setting(setting("mark down 1"), name="run").fault_met == 0


def test_a_blackout_begins_with_a_packet(run_setting: RunSetting, tmp_path: Path) -> None:
    record = run_setting(setting(f"blackout down {NUMBER} for 5 ms"), name="run")
    sent, received = _from_server(tmp_path / "run")
    began = sent[NUMBER - 1][0]
    black = [packet for at, packet in sent if began <= at < began + 5_000_000]
    assert len(black) == record.fault_met
    assert len(received) == len(sent) - len(black)


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_packets_are_told_by_what_they_carry(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    record = run_setting(setting("none", protocol=protocol), name="run")
    found = carried_packets(tmp_path / "run")
    assert len(found) == (record.packets_up or 0) + (record.packets_down or 0)
    told = [one.words for one in found]
    first = "Initial: CRYPTO (ClientHello)" if protocol == "h3" else "SYN"
    assert told[0].startswith(first)
    assert any("ServerHello" in words for words in told)
    assert (
        any("STREAM 0 FIN" in words for words in told)
        if protocol == "h3"
        else any(words == "encrypted" for words in told)
    )
    assert 0 < (record.handshake_packets_up or 0) < (record.packets_up or 0)


def without_faults(protocol: str) -> dict[str, Any]:
    raw = setting("none", protocol=protocol)
    del raw["fault"]
    return raw


def test_captured_packets_are_told_alike(run_setting: RunSetting, tmp_path: Path) -> None:
    run_setting(setting("none", protocol="h2"), name="kept")
    run_setting(without_faults("h2"), name="captured")
    kept, captured = (carried_packets(tmp_path / name) for name in ("kept", "captured"))
    for way in Way:
        told = [
            # The connection's end may come when the faults' packets are no longer kept.
            [one.words for one in found if one.way is way and not one.words.endswith("ACK")]
            for found in (kept, captured)
        ]
        assert told[0] and told[0] == told[1]


def test_captured_packets_of_quic_are_opened(run_setting: RunSetting, tmp_path: Path) -> None:
    run_setting(without_faults("h3"), name="run")
    found = carried_packets(tmp_path / "run")
    assert found[0].words.startswith("Initial: CRYPTO (ClientHello)")
    assert found[0].at_s < 0.01
    assert any("STREAM 0 FIN" in one.words for one in found if one.way is Way.DOWN)


def test_a_repeated_hello_is_answered_at_once(run_setting: RunSetting, tmp_path: Path) -> None:
    """RFC 9002, section 6.2.3; the server's own probe timeout is a second."""
    own = {"program": "headway-server"}
    path = {"rate": "10 Mbit/s", "rtt": "100 ms"}
    raw = setting("lose down 2", protocol="h3", server=own, path=path)
    record = run_setting(raw, name="run")
    assert "ServerHello" in (record.fault_carried or "")
    found = carried_packets(tmp_path / "run")
    hellos = [
        one.at_s for one in found if one.way is Way.UP and one.words.startswith("Initial: CRYPTO")
    ]
    answers = [one for one in found if one.way is Way.DOWN and one.at_s > hellos[-1] > 0.2]
    assert answers[0].at_s - hellos[-1] == pytest.approx(0.05, abs=2e-3)
    assert "ServerHello" in answers[0].words
    # All that was sent, though probes hold less than the packets before.
    assert sum("Handshake: CRYPTO" in one.words for one in answers) >= 3
    assert answers[0].at_s == pytest.approx(answers[4].at_s, abs=1e-6)


def test_a_client_without_keys_says_its_hello_again(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """RFC 9002, section 6.2.3; its own probe timeout is a second. The server answers once, though probes come in pairs."""
    hosts = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
    path = {"rate": "10 Mbit/s", "rtt": "100 ms"}
    record = run_setting(setting("lose down 1", protocol="h3", path=path, **hosts), name="run")
    assert record.status is Status.OK, record.error
    found = carried_packets(tmp_path / "run")
    hellos = [one.at_s for one in found if one.words == "Initial: CRYPTO (ClientHello)"]
    assert hellos == pytest.approx([0.0, 0.1, 0.1], abs=1e-3)
    answers = [one for one in found if one.way is Way.DOWN and "(ServerHello)" in one.words]
    assert [one.at_s for one in answers] == pytest.approx([0.05, 0.15, 0.15], abs=1e-3)
    certificates = [one for one in found if "EncryptedExtensions" in one.words]
    assert len(certificates) <= 3


SWEEP: dict[str, Any] = {
    "name": "sweep",
    "variation": "none",
    "axes": {"protocol": ["h1", "h3"]},
    "path": {"rate": "10 Mbit/s", "rtt": "40 ms"},
    "workload": {"size": "10 kB"},
    "faults": {"packets": "1-200"},
}


def swept(out: Path, tables: dict[str, Any] = SWEEP) -> list[Record]:
    task = Task(study_from(tables), "sweep", out, "", "", Start.RESUME, jobs=1)
    conduct(task, SilentWatcher())
    with Store.open(out, Start.RESUME) as store:
        return list(store.records())


def test_equal_sweeps_are_equal_and_try_each_packet_that_there_is(tmp_path: Path) -> None:
    one, other = (swept(tmp_path / name) for name in ("one", "other"))
    hidden = set(OF_THE_MACHINE)
    assert {r.run_id: r.model_dump(exclude=hidden) for r in one} == {
        r.run_id: r.model_dump(exclude=hidden) for r in other
    }
    for contender in ("h1", "h3"):
        own = [record for record in one if record.contender == contender]
        without = next(record for record in own if record.fault == "none")
        assert len(own) == 1 + (without.packets_up or 0) + (without.packets_down or 0)
        faulted = [record for record in own if record is not without]
        assert all(record.fault_met == 1 for record in faulted)
        assert all(same_before(record, without) for record in faulted)


def same_before(record: Record, without: Record) -> bool:
    """Whether a run had the same packets at the same times up to its fault."""
    digests, end = without.packet_digests or "", 4 * (record.packets_before or 0)
    return record.packet_digests == (digests[end - 4 : end] if end else "")


PLANTED = """\
#!/usr/bin/env python3
import runpy, sys
sys.path.insert(0, "/lab/code")
from aioquic.quic.packet_builder import QuicDeliveryState
from aioquic.quic.stream import QuicStreamSender

whole = QuicStreamSender.on_data_delivery

def forgetful(self, delivery, start, stop, *fin):
    if FORGETS and delivery == QuicDeliveryState.LOST and self._stream_id == STREAM and start >= FIRST:
        return
    whole(self, delivery, start, stop, *fin)

QuicStreamSender.on_data_delivery = forgetful
runpy.run_module(sys.argv.pop(1), run_name="__main__")
"""
"""aioquic, which may never repeat some of what it sends on a stream; CRYPTO has none."""
OWN = """
[server.own]
argv = ["./server", "headway.aioquic.server", "--address={address}", "--certificate={certificate}", \
"--key={key}", "--congestion-control=reno", "--idle-timeout=60", "{root}"]
protocols = ["h3"]
[client.own]
argv = ["./client", "headway.aioquic.client", "--address={address}", "--port={port}", \
"--congestion-control=reno", "--idle-timeout=20", "{url}"]
protocols = ["h3"]
result = "exit"
"""
GATE = """
name = "gate"
protocol = "h3"
variation = "none"
limits = { virtual = "60 s" }
server.program = "own"
client.program = "CLIENT"
path = { rate = "10 Mbit/s", rtt = "40 ms" }
workload.size = "10 kB"
faults = { packets = "1-8" }
"""


def planted(place: Path, name: str, *, stream: str, first: int, forgets: bool) -> None:
    text = PLANTED.replace("FORGETS", str(forgets)).replace("STREAM", stream)
    (place / name).write_text(text.replace("FIRST", str(first)))
    (place / name).chmod(0o755)


def checked(place: Path, client: str, program: str, base: str, head: str) -> Any:
    from headway.instruments.check.builds import StudySource
    from headway.instruments.check.comparison import BuildCheck, carry_out_check

    (place / "programs.toml").write_text(OWN)
    (place / "gate.toml").write_text(GATE.replace("CLIENT", client))
    check = BuildCheck(
        StudySource(str(place / "gate.toml")),
        place / base,
        place / head,
        program,
        place / "out",
        0.01,
        "headway check",
    )
    return carry_out_check(check, SilentWatcher())


def test_a_server_that_never_repeats_a_packet_is_found_and_named(
    tmp_path: Path, machine: Any
) -> None:
    for name, forgets in (("server", False), ("forgetful", True)):
        planted(tmp_path, name, stream="None", first=900, forgets=forgets)
    planted(tmp_path, "client", stream="None", first=0, forgets=False)
    report = checked(tmp_path, "curl", "server.own", "server", "forgetful")
    assert not report.passes
    worst = next(one for one in report.worse if str(one.head.fault) == "lose down 3")
    assert worst.head.carried.startswith("Handshake: CRYPTO (from byte")
    assert {str(one.head.fault) for one in report.worse} <= {"lose down 2", "lose down 3"}
    assert worst.first_packet is not None
    assert "lose down 3 (the 3rd packet towards the client: Handshake" in report.junit()
    assert "❌" in report.markdown()


def test_a_client_that_never_repeats_its_request_is_found(tmp_path: Path, machine: Any) -> None:
    for name, forgets in (("client", False), ("forgetful", True)):
        planted(tmp_path, name, stream="0", first=0, forgets=forgets)
    planted(tmp_path, "server", stream="None", first=0, forgets=False)
    report = checked(tmp_path, "own", "client.own", "client", "forgetful")
    assert report.worse
    assert all("1-RTT" in one.head.carried for one in report.worse)
    assert all(str(one.head.fault).startswith("lose up") for one in report.worse)
