"""Head-of-line blocking: what is computed from logs is what a client counts on the same packets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.pages.headofline import StreamFrame, held_back
from headway.pages.netlog import quic_sessions
from headway.planning.runs import Run
from headway.programs.headway_client import REPORT
from headway.records.record import make_record
from headway.study.setting import Setting

pytestmark = pytest.mark.lab

PATH = {"rate": "5 Mbit/s", "rtt": "60 ms", "loss": "3 %"}


def run_of(raw: dict[str, Any], seed: int = 1) -> Run:
    setting = Setting.model_validate({"protocol": "h3", "path": PATH, **raw})
    return Run(f"run-{seed}", "test", "", "cell", "contender", seed, seed, setting)


def frames_in_qlog(directory: Path) -> list[StreamFrame]:
    """Content of responses, as a client's own log has it."""
    (log,) = (directory / "qlog" / "client").iterdir()
    found = []
    for line in log.read_text().split("\n"):
        event = json.loads(line.strip("\x1e")) if line.strip("\x1e") else {}
        if event.get("name") == "transport:packet_received":
            found += [
                StreamFrame(event["time"], one["stream_id"], one["offset"], one["length"])
                for one in event["data"]["frames"]
                if one["frame_type"] == "stream" and one["stream_id"] % 4 == 0
            ]
    return found


@pytest.mark.parametrize("order", ["round-robin", "batched-round-robin:10"])
def test_the_same_bytes_as_headway_client_counts(
    machine: Machine, tmp_path: Path, order: str
) -> None:
    raw = {
        "workload": {"kind": "parallel", "size": "100 kB", "count": 10},
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server", "knobs": {"priorities": order}},
        "capture": {"qlog": True},
    }
    result = carry_out(run_of(raw), machine, tmp_path / "run")
    assert result.measured[0].error is None
    told = json.loads((tmp_path / "run" / REPORT).read_text())["requests"]
    counted = [one["head_of_line"]["blocked_bytes"] for one in told]
    found = frames_in_qlog(tmp_path / "run")
    assert held_back(found).stream_bytes == sum(counted) > 0
    by_stream = {one.stream for one in found}
    each = [held_back([one for one in found if one.stream == stream]) for stream in by_stream]
    assert sorted(one.stream_bytes for one in each) == sorted(counted)


def packets_in_qlog(directory: Path) -> dict[int, list[StreamFrame]]:
    """What a server put into each of its 1-RTT packets, by its own log; a packet number is used once."""
    logs = [file for file in (directory / "qlog" / "server").iterdir() if file.stat().st_size]
    (log,) = logs
    found: dict[int, list[StreamFrame]] = {}
    for line in log.read_text().split("\n"):
        event = json.loads(line.strip("\x1e")) if line.strip("\x1e") else {}
        if event.get("name") != "transport:packet_sent":
            continue
        header = event["data"]["header"]
        if header["packet_type"] == "1RTT":
            assert header["packet_number"] not in found
            found[header["packet_number"]] = [
                StreamFrame(event["time"], one["stream_id"], one["offset"], one["length"])
                for one in event["data"]["frames"]
                if one["frame_type"] == "stream"
            ]
    return found


def test_a_page_counts_what_the_server_put_into_the_packets_that_came(
    machine: Machine, tmp_path: Path
) -> None:
    """Chromium's log says which packets came and what was in them; the server's, what it had put there."""
    raw = {
        "workload": {"kind": "page", "site": "sander-11", "connections": "one", "frames": False},
        "client": {"program": "chromium", "knobs": {"net_log": "on"}},
        "server": {"program": "headway-server", "knobs": {"priorities": "round-robin"}},
        "capture": {"qlog": True},
    }
    run, directory = run_of(raw), tmp_path / "run"
    record = make_record(run, carry_out(run, machine, directory), directory)
    assert record.error is None
    sessions = quic_sessions(directory / "net-log.json", 0.0, float("inf"))
    (session,) = (one for one in sessions if one.frames)
    sent = packets_in_qlog(directory)
    assert session.numbers < set(sent)  # some were lost
    # The path keeps their order.
    came = [frame for number in sorted(session.numbers) for frame in sent[number]]
    assert [one[1:] for one in came] == [one[1:] for one in session.frames]
    assert record.hol_bytes == held_back(came).stream_bytes > 0
    assert record.hol_connection_bytes == held_back(came).connection_bytes


def test_pages_tell_what_was_held_back(machine: Machine, tmp_path: Path) -> None:
    """Of each of the loads that share a log, of which nothing is kept but the counts; without loss, nothing."""

    def loaded(path: dict[str, str], seeds: tuple[int, ...], name: str) -> list[Record]:
        raw = {
            "workload": {
                "kind": "page",
                "site": "sander-11",
                "connections": "one",
                "frames": False,
            },
            "path": path,
            "client": {"program": "chromium", "knobs": {"net_log": "counts"}},
            "server": {"program": "headway-server", "knobs": {"priorities": "round-robin"}},
        }
        runs = [run_of(raw, seed) for seed in seeds]
        where = [tmp_path / f"{name}-{seed}" for seed in seeds]
        done = carry_out_together(runs, machine, where)
        records = [make_record(run, result, directory) for run, directory, result in done]
        assert not [one for one in where if (one / "net-log.json").exists()]
        return records

    first, second = loaded(PATH, (1, 2), "lossy")
    assert first.error is second.error is None
    assert first.hol_bytes
    assert first.hol_bytes != second.hol_bytes
    for record in (first, second):
        assert record.hol_bytes is not None
        assert record.hol_connection_bytes is not None
        assert record.page_bytes is not None
        assert 0 < record.hol_bytes <= record.hol_connection_bytes < record.page_bytes
        assert record.hol_s
        assert record.hol_gap_packets
    (clean,) = loaded({**PATH, "loss": "0 %", "queue": "1 MB"}, (1,), "clean")
    assert (clean.hol_bytes, clean.hol_s) == (0, 0)
