"""Two builds compared: the first packet that differs, what is said of times, and what fails."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
import typer
from rich.console import Console

from headway.contract.orders import Namespace, Orders
from headway.contract.text import dump
from headway.diagnosis.packet import SeenPacket
from headway.instruments.check.builds import StudySource, study_of, used_programs
from headway.instruments.check.cli import check
from headway.instruments.check.firstpacket import first_difference
from headway.instruments.check.reports import CheckReport
from headway.instruments.check.summary import print_check
from headway.instruments.check.verdict import (
    CheckedCell,
    CheckOutcome,
    FailedAlike,
    FailedPair,
    Side,
    judge_builds,
)
from headway.lab.pcapng import to_pcapng
from tests.unit.made_results import results, runs
from tests.unit.test_pcapng import pcap

CLIENT, SERVER = b"\x0a\x00\x00\x01", b"\x0a\x00\x02\x02"
MS = 10**6


def frame(source: bytes, carried: bytes, protocol: int) -> bytes:
    target = SERVER if source == CLIENT else CLIENT
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(carried), 0, 0, 64, protocol, 0)
    return bytes(12) + b"\x08\x00" + header + source + target + carried


def quic(source: bytes, size: int, first: int = 0x40, filler: bytes = b"\0") -> bytes:
    ports = (40000, 443) if source == CLIENT else (443, 40000)
    return frame(
        source, struct.pack("!HHHHB", *ports, 8 + size, 0, first) + filler * (size - 1), 17
    )


def tcp(source: bytes, sequence: int, data: bytes = b"", window: int = 1000) -> bytes:
    header = struct.pack("!HHIIBBHHH", 443, 40000, sequence, 7, 0x50, 0x18, window, 0, 0)
    return frame(source, header + data, 6)


Packets = Sequence[tuple[int, bytes]]


def run(directory: Path, packets: Packets) -> Path:
    """What a run leaves whose server saw these packets, at milliseconds."""
    directory.mkdir(parents=True)
    (directory / "x.pcap").write_bytes(pcap([(at_ns, one) for at_ns, one in packets]))
    to_pcapng(directory / "x.pcap", (), directory / "server.pcapng")
    namespaces = (
        Namespace("client", ip=("addr add 10.0.0.1/24 dev client-up",)),
        Namespace("server", ip=("addr add 10.0.2.2/24 dev server-down",)),
    )
    (directory / "orders.json").write_text(dump(Orders(namespaces)))
    return directory


BURST = [(10 * MS, quic(CLIENT, 1200, 0xC3)), *((20 * MS, quic(SERVER, 1252)) for _ in range(3))]
ANSWER = (60 * MS, quic(CLIENT, 40))


@pytest.mark.parametrize(
    ("base", "head", "number", "words"),
    [
        (
            [*BURST, ANSWER],
            [*BURST, (20 * MS, quic(SERVER, 1252)), ANSWER],
            5,
            "the head sends QUIC 1-RTT of 1252 bytes, server to client, 4 in a row; "
            "the base's next packet is 40.000 ms later, QUIC 1-RTT of 40 bytes, client to server",
        ),
        (
            [*BURST, ANSWER],
            BURST,
            5,
            "the base sends QUIC 1-RTT of 40 bytes, client to server; the head sends nothing more",
        ),
        (
            [*BURST, ANSWER],
            [*BURST, (61 * MS, ANSWER[1])],
            5,
            "QUIC 1-RTT of 40 bytes, client to server; the head sends it 1.000 ms later",
        ),
        (
            [*BURST, ANSWER],
            [*BURST, (60 * MS, quic(CLIENT, 43))],
            5,
            "QUIC 1-RTT of 43 bytes, client to server; UDP payload 43 against 40",
        ),
        (
            BURST,
            [(10 * MS, quic(CLIENT, 1200, 0xE3)), *BURST[1:]],
            1,
            "QUIC Handshake of 1200 bytes, client to server; kind QUIC Handshake against QUIC Initial",
        ),
        (
            [(MS, tcp(SERVER, 5, b"abc"))],
            [(MS, tcp(SERVER, 5, b"abc", 900))],
            1,
            "TCP PSH ACK with 3 bytes, server to client; window 900 against 1000",
        ),
        (
            [(MS, tcp(SERVER, 5, b"abc"))],
            [(MS, tcp(SERVER, 5, b"abd"))],
            1,
            "TCP PSH ACK with 3 bytes, server to client; bytes from 42 of the packet on",
        ),
        (
            [(MS, tcp(SERVER, 5))],
            [(MS - 256, tcp(SERVER, 5))],
            1,
            "TCP PSH ACK with no data, server to client; the head sends it 256 ns earlier",
        ),
        (
            [(MS, quic(CLIENT, 9)), ANSWER],
            [(MS + 256, quic(CLIENT, 9)), (60 * MS, quic(CLIENT, 41))],
            2,
            "QUIC 1-RTT of 41 bytes, client to server; UDP payload 41 against 40 (smaller differences "
            "from 1.000 ms on)",
        ),
    ],
)
def test_the_first_packet_that_differs_is_named(
    tmp_path: Path, base: Packets, head: Packets, number: int, words: str
) -> None:
    found = first_difference(run(tmp_path / "base", base), run(tmp_path / "head", head))
    assert found
    assert (found.host, found.number, found.words) == ("server", number, words)


def test_equal_captures_do_not_differ(tmp_path: Path) -> None:
    assert first_difference(run(tmp_path / "one", BURST), run(tmp_path / "other", BURST)) is None


def test_packets_that_are_neither_tcp_nor_udp_are_told_by_size() -> None:
    assert SeenPacket(0, frame(CLIENT, bytes(64), 1)).words == "packet of 84 bytes"


BASE = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]


def judged(
    head: Sequence[float | None], base: Sequence[float | None] = BASE, cell: str = "cell"
) -> CheckedCell:
    """A contender's times with both builds, by seed."""
    (one,) = judge_builds(
        *(
            Side(results(runs({"h3": times}, cell=cell)), Path("nowhere"))
            for times in (list(base), list(head))
        )
    )
    return one


def scaled(factor: float) -> list[float]:
    return [factor * value for value in BASE]


@pytest.mark.parametrize(
    ("head", "outcome", "fails"),
    [
        (BASE, CheckOutcome.SAME, False),
        (scaled(1.001), CheckOutcome.EQUAL, False),
        (scaled(0.9), CheckOutcome.FASTER, False),
        (scaled(1.03), CheckOutcome.SLOWER, False),
        (scaled(1.07), CheckOutcome.SLOWER, True),
        ([*scaled(1.2)[:4], *scaled(0.8)[4:]], CheckOutcome.UNDECIDED, False),
        ([None, *BASE[1:]], CheckOutcome.FAILED, True),
        ([None] * 8, CheckOutcome.FAILED, True),
    ],
)
def test_what_is_said_of_times_and_what_fails(
    head: list[float | None], outcome: CheckOutcome, fails: bool
) -> None:
    one = judged(head)
    assert one.outcome is outcome
    assert one.fails(0.05) == fails


def test_what_neither_has_measured_fails() -> None:
    one = judged([None] * 8, [None] * 8)
    assert (one.outcome, one.fails(0.05)) == (CheckOutcome.UNMEASURED, True)


def failing(*seeds: int) -> list[float | None]:
    """A build whose runs with these seeds fail."""
    return [None if seed in seeds else value for seed, value in enumerate(BASE, start=1)]


@pytest.mark.parametrize(
    ("base", "head", "outcome"),
    [
        (failing(1), BASE, CheckOutcome.SAME),
        (failing(1, 2), failing(1), CheckOutcome.SAME),
        (failing(1), failing(1), CheckOutcome.SAME),
        (failing(1), failing(2), CheckOutcome.FAILED),
        (failing(1, 2, 3), failing(4, 5, 6), CheckOutcome.FAILED),
        (failing(1, 2, 3), failing(3, 4), CheckOutcome.FAILED),
    ],
)
def test_runs_are_judged_by_pairs_and_every_pair_with_a_failed_run_is_listed(
    base: list[float | None], head: list[float | None], outcome: CheckOutcome
) -> None:
    one = judged(head, base)
    assert one.outcome is outcome
    assert one.fails(0.05) == (outcome is CheckOutcome.FAILED)
    wrong = [seed for seed in range(1, 9) if base[seed - 1] is None or head[seed - 1] is None]
    assert [pair.seed for pair in one.failures] == wrong
    report = CheckReport("made", [one], 0.05)
    console = Console(width=80, record=True, file=io.StringIO())
    print_check(console, report)
    told = [int(seed) for alike in one.failed_alike for seed in numbers(str(alike))]
    assert sorted(told) == wrong
    for text in (report.markdown(), console.export_text()):
        assert all(str(alike) in " ".join(text.split()) for alike in one.failed_alike)


def numbers(sentence: str) -> list[int]:
    """The seeds that a sentence about failures names."""
    subject = re.split(" fails? ", sentence)[0]
    first, *others = map(int, re.findall(r"\d+", subject))
    return [first, *others] if " to " not in subject else list(range(first, others[0] + 1))


@pytest.mark.parametrize(
    ("seeds", "subject"),
    [
        ([3], "seed 3 fails"),
        ([1, 2], "seeds 1 and 2 fail"),
        ([2, 3, 4], "seeds 2 to 4 fail"),
        ([1, 2, 4], "seeds 1, 2 and 4 fail"),
        ([7, 7, 7], "seed 7 fails"),
        ([*range(1, 18, 2)], "9 seeds, of which 1 is the first, fail"),
    ],
)
def test_what_fails_alike_is_told_once(seeds: list[int], subject: str) -> None:
    def alike(*reasons: str) -> FailedAlike:
        chosen = [reasons[number % len(reasons)] for number in range(len(seeds))]
        pairs = zip(seeds, chosen, strict=True)
        return FailedAlike(tuple(FailedPair(seed, None, reason) for seed, reason in pairs))

    assert str(alike("ended")) == f"{subject} with the head only: ended"
    if len(seeds) > 1:
        several = f"{subject} with the head only; seed {seeds[0]}: exit 1"
        assert str(alike("exit 1", "exit 2")) == several


def test_equal_packets_are_not_identical_builds_where_a_pair_failed(tmp_path: Path) -> None:
    sides = []
    for name in ("base", "head"):
        rows = runs({"h3": failing(1)})
        for row in rows:
            if row["status"] == "ok":
                run(tmp_path / name / "artifacts" / row["run_id"], BURST)
        sides.append(Side(results(rows), tmp_path / name))
    (one,) = judge_builds(*sides)
    assert (one.runs, one.differing) == (7, ())
    assert one.outcome is CheckOutcome.SAME


def test_what_is_found_is_told_to_machines_and_people() -> None:
    found = [judged(scaled(1.2), cell="a"), judged(BASE, cell="b"), judged([None] * 8, cell="c")]
    report = CheckReport("made", found, 0.05)
    assert len(report.failing) == 2
    headline = (
        "made: head against base: 1 same times, 1 slower, 1 failed; no captures on both sides; "
        "8 pairs with a failed run"
    )
    assert report.headline == headline
    lines = report.markdown().splitlines()
    assert lines[0] == f"❌ **{headline}**"
    assert lines[4].startswith("| slower ❌ | h3 | 1.00 s | 1.20 s | +20 | +20 to +20 |")
    suite = ElementTree.fromstring(report.junit())[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    assert [len(case.findall("failure")) for case in suite] == [1, 0, 1]
    assert suite[2][0].get("message") == (
        "h3: failed: seeds 1 to 8 fail with the head only: curl exited with 28"
    )
    slower, same = json.loads(report.benchmark())
    assert slower["value"] == pytest.approx(1.62)
    assert (slower["unit"], same["unit"]) == ("s", "s")
    assert (
        "slower: time to the last byte 1.20 s against 1.00 s in the typical pair, +20 %"
        in slower["extra"]
    )


def test_numbers_beside_a_percentage_are_those_that_it_is_of() -> None:
    """Medians double, although every run took 18 % longer than its pair: the slow half of one was longer."""
    base = [0.8, 0.82, 0.81, 0.83, 0.834, 1.6, 1.62, 1.61]
    head = [value * 1.18 for value in base]
    head[4] *= 1.9
    one = judged(head, base)
    assert one.middle is not None
    before, now = one.middle
    assert now / before == pytest.approx(1.18, abs=0.005)
    assert one.comparison.sample and one.comparison.against_sample


def told_flights(packets: int) -> Side:
    rows = runs({"h3": BASE}, cell="a")
    flown = [
        row | {"first_flight_packets": packets, "first_flight_bytes": packets * 1250, "wall_s": 0.5}
        for row in rows
    ]
    return Side(results(flown), Path("nowhere"))


def test_another_initial_window_is_named() -> None:
    found = judge_builds(told_flights(32), told_flights(10))
    report = CheckReport("made", found, 0.05)
    assert "base sent 32 packets in the first flight, head 10" in report.markdown()
    assert (
        "first flight"
        not in CheckReport("made", judge_builds(told_flights(10), told_flights(11)), 0).markdown()
    )
    suite = ElementTree.fromstring(report.junit())[0]
    assert (suite.get("time"), suite[0].get("time")) == ("8.000", "8.000")


def test_a_terminal_gets_a_table_that_fits() -> None:
    found = [judged(scaled(1.2), cell="a"), judged(BASE, cell="b"), judged([None] * 8, cell="c")]
    console = Console(width=80, record=True, file=io.StringIO())
    print_check(console, CheckReport("made", found, 0.05))
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert "|" not in text
    assert text.startswith("FAILED  made: head against base")
    assert "slower !" in text
    assert "+20 to +20" in text
    assert "curl exited with 28" in text


@pytest.mark.parametrize("terminal", [True, False])
def test_a_table_is_for_terminals_and_markdown_for_files(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    report = CheckReport("made", [judged(scaled(1.2), cell="a")], 0.05)
    monkeypatch.setattr("headway.instruments.check.comparison.carry_out_check", lambda *_: report)
    monkeypatch.setattr(
        "headway.instruments.check.cli.output", lambda: Console(force_terminal=terminal, width=80)
    )
    with pytest.raises(typer.Exit):
        check("study.toml", head=Path("nosuch"), out=Path("nosuch"))
    shown = capsys.readouterr().out
    assert ("FAILED" in shown) is terminal
    assert (shown == report.markdown()) is not terminal


PROGRAMS = """
[server.one]
argv = ["./one"]
protocols = ["h3"]
[server.two]
argv = ["./two"]
protocols = ["h3"]
[client.two]
argv = ["curl", "{url}"]
protocols = ["h3"]
"""
STUDY = 'name = "s"\nprotocol = "h3"\nrepetitions = 6\n'


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with programs, and one build more."""
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    for name in ("one", "two", "new"):
        (tmp_path / name).write_text(f"#!/bin/sh\n{name}")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "programs.toml").write_text(PROGRAMS)
    return tmp_path


def source(directory: Path, text: str) -> StudySource:
    (directory / "s.toml").write_text(STUDY + text)
    return StudySource(str(directory / "s.toml"))


BOTH = """
[contenders]
a = { server.program = "one", client.program = "two" }
b = { server.program = "two" }
"""


def test_a_build_takes_its_programs_place_and_packets_are_kept(beside: Path) -> None:
    study = study_of(source(beside, BOTH), beside / "new", "two", "--head")
    files = {one.name: one.files[0].source for one in used_programs(study) if one.files}
    assert files == {"one": beside / "one", "two": beside / "new"}
    (experiment,) = study.experiments
    assert experiment.setting({}, "a").capture.packets


def test_a_file_of_programs_is_a_build_too(beside: Path) -> None:
    (beside / "other").mkdir()
    for name in ("one", "two"):
        (beside / "other" / name).write_text("#!/bin/sh\nnew")
        (beside / "other" / name).chmod(0o755)
    (beside / "other" / "p.toml").write_text(PROGRAMS)
    study = study_of(source(beside, BOTH), beside / "other" / "p.toml", None, "--head")
    assert {one.files[0].source.parent for one in used_programs(study) if one.files} == {
        beside / "other"
    }


def test_a_file_of_all_programs_is_a_build_of_them(beside: Path) -> None:
    assert study_of(source(beside, BOTH), beside / "programs.toml", None, "--head")
