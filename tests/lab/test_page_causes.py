"""What held page loads back: beside downloads, captures, logs, and physics."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from headway.columns import MainConnection, Record, TransferLimits
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.samples import started_s
from headway.diagnosis.segment import SegmentSamples, observe
from headway.diagnosis.transfer import Transfer
from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.lab.pcapng import read_pcapng
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.study.setting import Setting
from tests.lab import sites
from tests.lab.conftest import RunSetting
from tests.lab.sites import HTML, PAGE

pytestmark = pytest.mark.lab

CAUSES = [name for name in TransferLimits.model_fields if name.endswith("_s")]
MAIN_CAUSES = [
    name
    for name in MainConnection.model_fields
    if name.endswith("_s") and name != "main_slow_start_s"
]
SERVER_MAC = bytes((2, 0, 0, 0, 2, 2))
"""Source of what the server sends on the only wire that is captured at its end."""
LOADS = 3


def page(site: str, protocol: str, server: str = "headway-server", **more: Any) -> dict[str, Any]:
    path = {"rate": "10 Mbit/s", "rtt": "100 ms", **more.pop("path", {})}
    host = {"program": server, **more.pop("host", {})}
    return {
        "protocol": protocol,
        "workload": {"kind": "page", "site": site, "frames": False},
        "path": path,
        "client": {"program": "chromium"},
        "server": host,
        **more,
    }


@pytest.fixture
def load_together(machine: Machine, tmp_path: Path) -> Callable[..., list[tuple[Record, Path]]]:
    """Load a page several times in one lab."""

    def carry(raw: dict[str, Any], name: str) -> list[tuple[Record, Path]]:
        setting = Setting.model_validate(raw)
        runs = [
            Run(f"{name}-{rep}", "test", "", "cell", "contender", rep, rep, setting)
            for rep in range(1, LOADS + 1)
        ]
        directories = [tmp_path / run.run_id for run in runs]
        done = carry_out_together(runs, machine, directories)
        return [(make_record(run, result, where), where) for run, where, result in done]

    return carry


def observed(directory: Path) -> tuple[SegmentSamples, Transfer]:
    """The only segment of a load, until its last byte."""
    transfer = Transfer.load(directory)
    assert transfer.end_s is not None
    (segment,) = observe(directory, transfer)
    return segment.until(transfer.end_s), transfer


def seconds(record: Record, names: Sequence[str]) -> dict[str, float]:
    return {name: getattr(record, name) or 0.0 for name in names}


PROTOCOLS = [
    ("h1", "headway-server", "tcp_info"),
    ("h2", "headway-server", "tcp_info"),
    ("h3", "headway-server", "qlog"),
    ("h1", "nginx", "tcp_info"),
    ("h2", "nginx", "tcp_info"),
    ("h3", "nginx", "counters"),
]


@pytest.mark.parametrize(("protocol", "server", "source"), PROTOCOLS)
def test_every_load_of_a_lab_has_its_own_connections_and_causes(
    load_together: Callable[..., list[tuple[Record, Path]]],
    protocol: str,
    server: str,
    source: str,
) -> None:
    raw = page("objects-12x30kB", protocol, server, path={"loss": "2 %"})
    for record, directory in load_together(raw, f"{protocol}-{server}"):
        assert record.error is None
        assert record.limits_source == source
        assert record.handshake_s == pytest.approx(record.response_start_s, abs=1e-6)
        assert sum(seconds(record, CAUSES).values()) == pytest.approx(record.plt_s, abs=1e-6)
        segment, _ = observed(directory)
        states = segment.last_states
        if source == "counters":
            assert (states, record.retransmits, record.main_limited_by) == ({}, None, None)
            continue
        # Of the connections that HTTP/1.1 has opened at once, the last need not get a request.
        unused = len(states) - (record.connections or 0)
        assert unused == 0 or (protocol == "h1" and 0 < unused < len(states))
        assert record.retransmits == sum(state.lost for state in states.values())
        assert record.main_retransmits is not None
        assert record.main_retransmits <= (record.retransmits or 0)
        main = sum(seconds(record, MAIN_CAUSES).values())
        assert main == pytest.approx(record.plt_s, abs=1e-6)
        if record.connections == 1:
            alike = [name.removeprefix("main_") for name in MAIN_CAUSES]
            assert list(seconds(record, alike).values()) == list(
                seconds(record, MAIN_CAUSES).values()
            )
            assert record.main_slow_start_s == record.slow_start_s


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize(("rate", "rtt"), [("10 Mbit/s", "40 ms"), ("100 Mbit/s", "200 ms")])
def test_a_large_document_is_held_back_as_a_download_is(
    run_setting: RunSetting, tmp_path: Path, protocol: str, rate: str, rtt: str
) -> None:
    size = 1_000_000
    body = f"<!doctype html><p>a</p><!--{'x' * size}"[: size - 3] + "-->"
    site = sites.archive(tmp_path, sites.exchange(PAGE, HTML, body))
    raw = page(site, protocol, path={"rate": rate, "rtt": rtt})
    loaded = run_setting(raw, name="page")
    download = {**raw, "workload": {"size": f"{size} B"}, "client": {"program": "headway-client"}}
    downloaded = run_setting(download, name="download")
    assert loaded.error is None
    assert downloaded.error is None
    ours, theirs = seconds(loaded, CAUSES), seconds(downloaded, CAUSES)
    assert loaded.limited_by == downloaded.limited_by
    two_samples_s = 2 * 0.02 * (loaded.plt_s or 0)  # samples are 2 % of the time so far apart
    for name in CAUSES:
        assert ours[name] == pytest.approx(theirs[name], abs=two_samples_s), name


def repetitions(directory: Path) -> Iterator[tuple[float, int]]:
    """Segments that a server sent again: when, from the workload's start, and the client's port."""
    ends: dict[int, int] = {}
    for at_ns, frame in read_pcapng(directory / "server.pcapng"):
        if frame[6:12] != SERVER_MAC:
            continue
        ip = frame[14:]
        tcp = ip[4 * (ip[0] & 15) : int.from_bytes(ip[2:4])]
        port, sequence = int.from_bytes(tcp[2:4]), int.from_bytes(tcp[4:8])
        length = len(tcp) - 4 * (tcp[12] >> 4) + (tcp[13] & 3).bit_count()  # SYN and FIN count
        if not length:
            continue
        if port in ends and (sequence - ends[port]) % 2**32 >= 2**31:
            yield at_ns / 1e9 - started_s(directory), port
        else:
            ends[port] = (sequence + length) % 2**32


@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_retransmissions_of_every_connection_are_those_of_the_capture(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    raw = page("objects-12x30kB", protocol, path={"loss": "4 %"}, capture={"packets": True})
    record = run_setting(raw)
    assert record.error is None
    run = tmp_path / "run"
    segment, _ = observed(run)
    counted = {key[3]: state.lost for key, state in segment.last_states.items()}  # type: ignore[index]
    assert len(counted) == (6 if protocol == "h1" else 1)
    until_s = segment.moments[-1].at_s
    seen = Counter(port for at_s, port in repetitions(run) if at_s <= until_s)
    assert {port: seen[port] for port in counted} == counted
    assert record.retransmits == seen.total() > 5


def assert_sampled_at_once(ended_s: float | None, event_s: float, segment: SegmentSamples) -> None:
    """An end of slow start is that of the first sample after what ended it."""
    samples = [moment.at_s for moment in segment.moments]
    first = bisect_left(samples, event_s)
    assert ended_s is not None
    assert samples[first] - 1e-6 <= ended_s <= samples[first + 1] + 1e-6


def test_slow_start_ends_with_the_first_retransmission(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    path = {"down": {"drop_packets": [60]}, "queue": "1 MB"}
    host = {"congestion_control": "reno"}
    raw = page("objects-12x30kB", "h2", path=path, host=host, capture={"packets": True})
    record = run_setting(raw)
    segment, transfer = observed(tmp_path / "run")
    ((event_s, _),) = repetitions(tmp_path / "run")
    assert record.slow_start_s == record.main_slow_start_s
    assert_sampled_at_once((record.slow_start_s or 0) + transfer.began_s, event_s, segment)
    assert record.retransmits == 1


def test_slow_start_of_quic_ends_with_the_first_lost_packet(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    path = {"down": {"drop_packets": [60]}, "queue": "1 MB"}
    host = {"knobs": {"slow_start": "classic"}}
    raw = page("objects-12x30kB", "h3", path=path, host=host, capture={"qlog": True})
    record = run_setting(raw)
    run = tmp_path / "run"
    segment, transfer = observed(run)
    (log,) = (run / "qlog" / "server").glob("*qlog")
    ((lost_ms, epoch_ms),) = [
        (event["time"], trace.header["common_fields"]["reference_time"])
        for trace in read_traces(log)
        for event in trace.events
        if event["name"].endswith("packet_lost")
    ]
    assert record.retransmits == 1
    event_s = (epoch_ms + lost_ms) / 1e3 - started_s(run)
    assert_sampled_at_once((record.slow_start_s or 0) + transfer.began_s, event_s, segment)


def test_a_page_of_many_rounds_waits_for_its_requests(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """Five documents, each in a frame of the one before: but for the handshake, four round trips."""
    deep = [
        sites.exchange(f"{PAGE}{depth}", HTML, f"<!doctype html><iframe src=/{depth + 1}>")
        for depth in range(1, 4)
    ]
    site = sites.archive(
        tmp_path,
        sites.exchange(PAGE, HTML, "<!doctype html><iframe src=/1>"),
        *deep,
        sites.exchange(f"{PAGE}4", HTML, "<!doctype html><p>a"),
    )
    for protocol, server, _ in PROTOCOLS[1:3] + PROTOCOLS[5:]:
        raw = page(site, protocol, server, path={"rate": "1 Gbit/s"})
        record = run_setting(raw, name=f"{protocol}-{server}")
        assert record.error is None
        assert record.application_s == pytest.approx(0.4, abs=0.02)
