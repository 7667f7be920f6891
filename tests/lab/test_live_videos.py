"""Live videos: latency is what arithmetic makes of path, chunks and stalls, and is caught up with as a curve says."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from headway.columns import OF_THE_MACHINE
from headway.diagnosis.playback import PLAYBACK, Playback
from headway.lab.pcapng import read_pcapng
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, SEGMENT_S, CHUNK_S, LATENCY_S = 0.04, 4.0, 0.5, 3.0
ONE_WAY_S = RTT_S / 2
SMALL = ["16 kbit/s"]
"""A chunk of it is a packet."""
LEAST = ["1.6 kbit/s"]
"""What was made of it when the viewer joins is a packet or two."""
FULL = 1514
"""Bytes of a full packet of TCP with its Ethernet header."""


def setting(
    protocol: str,
    live: dict[str, Any] | None = None,
    path: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
    **keys: Any,
) -> dict[str, Any]:
    video = {"kind": "video", "duration": "40 s", "ladder": SMALL, "rule": "lowest"}
    return {
        "protocol": protocol,
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "workload": video | {"live": live or {}} | (workload or {}),
        "path": {"rtt": f"{RTT_S} s"} | (path or {}),
    } | keys


def joins_s(directory: Path) -> float:
    """How far the source was in the first segment, by what the client was told."""
    orders = json.loads((directory / "orders.json").read_text(encoding="utf-8"))
    told = json.loads(orders["files"]["/run/client-video"])
    return float(told["live"]["joins_s"])


def made_s(directory: Path, number: int, chunk: int) -> float:
    """When the source had made a chunk of a segment; both from 0."""
    return number * SEGMENT_S + (chunk + 1) * CHUNK_S - LATENCY_S - joins_s(directory)


def playback(directory: Path) -> Playback:
    return PLAYBACK.load(directory)


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_latency_is_what_is_aimed_at_and_the_start(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    record = run_setting(setting(protocol, {"catch_up": "0 %"}, None, {"ladder": LEAST}))
    assert record.error is None and record.video_stalls == 0
    # A viewer who joins at the end of a segment needs the next one, too.
    more = joins_s(tmp_path / "run") + CHUNK_S > SEGMENT_S
    round_trips = (2 if protocol == "h3" else 3) + more
    assert record.video_start_s == pytest.approx(round_trips * RTT_S, abs=1e-3)
    assert record.video_latency_s == pytest.approx(LATENCY_S + record.video_start_s, abs=1e-3)
    assert record.video_latency_worst_s == pytest.approx(record.video_latency_s, abs=1e-6)
    assert record.video_rate_changed_share == 0
    # Nine segments and what is left of the first, all of it while the source makes it.
    shown_s = 40 - joins_s(tmp_path / "run")
    assert record.video_played_share == pytest.approx(shown_s / 40, abs=1e-6)
    assert record.video_loaded_share == 1


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_chunks_come_as_they_are_made(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    """The first of a segment takes a round trip, because it is asked for when it is there; others come by themselves."""
    record = run_setting(setting(protocol, capture={"packets": True}))
    assert record.error is None
    late = [
        came_s - made_s(tmp_path / "run", one.number, chunk)
        for one in playback(tmp_path / "run").segments[3:]
        for chunk, came_s in enumerate(one.chunks_s)
    ]
    chunks = round(SEGMENT_S / CHUNK_S)
    assert late == pytest.approx([RTT_S, *[ONE_WAY_S] * (chunks - 1)] * 7, abs=1e-3)
    assert record.video_chunk_delay_s == pytest.approx(sum(late) / len(late), abs=1e-3)
    # A chunk is a packet of 1000 bytes and more, as the wire has it.
    frames = read_pcapng(tmp_path / "run" / "client.pcapng")
    big = [at_ns for at_ns, frame in frames if 1000 < len(frame) < FULL][-2 * chunks :]
    apart_s = [(after - before) / 1e9 for before, after in pairwise(big)]
    first, second = CHUNK_S + ONE_WAY_S, CHUNK_S - ONE_WAY_S
    whole = [CHUNK_S] * (chunks - 2)
    assert apart_s == pytest.approx([second, *whole, first, second, *whole], abs=1e-3)


def recovered_s(moments: Playback, late_s: float) -> float:
    """When latency was no more than that above the aim, after the last stall."""
    stall_s = moments.stalls[-1].at_s
    ends = [*(pace.at_s for pace in moments.paces[1:]), moments.end_s]
    for pace, end_s in zip(moments.paces, ends, strict=True):
        after_s = pace.latency_s + (end_s - pace.at_s) * (1 - pace.rate)
        if pace.at_s > stall_s and pace.rate and after_s <= LATENCY_S + late_s:
            return pace.at_s + (pace.latency_s - LATENCY_S - late_s) / (pace.rate - 1)
    raise AssertionError("it does not recover")


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_stall_is_latency_that_is_caught_up_with(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    """Far from the aim the rate is the greatest; near to it, the curve is a hyperbolic tangent."""
    path = {"blackouts": [["20 s", "24 s"]]}
    most = 0.2
    record = run_setting(setting(protocol, {"catch_up": "20 %"}, path, {"duration": "80 s"}))
    assert record.error is None and record.video_stalls == 1
    moments = playback(tmp_path / "run")
    (stall,) = moments.stalls
    stands = next(pace for pace in moments.paces if not pace.rate)
    assert stands.latency_s == pytest.approx(LATENCY_S, abs=0.02), "it had been caught up with"
    assert record.video_latency_worst_s == pytest.approx(
        stands.latency_s + stall.lasted_s, abs=1e-3
    )
    high, low = (record.video_latency_worst_s - LATENCY_S), 0.1
    steep = 2.5
    whole_s = math.log(math.sinh(steep * high) / math.sinh(steep * low)) / (steep * most)
    took_s = recovered_s(moments, low) - stall.at_s - stall.lasted_s
    # The rate is thought about four times a second, and the buffer recovers first.
    assert took_s == pytest.approx(whole_s, abs=0.5)
    assert took_s > (high - low) / most


def test_equal_seeds_are_equal_sessions_and_others_join_elsewhere(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    ladder = ["0.3 Mbit/s", "1 Mbit/s", "2 Mbit/s"]
    workload = {"ladder": ladder, "rule": "throughput"}
    wanted = setting("h3", None, {"rate": "3 Mbit/s", "loss": "1 %"}, workload)
    one, other = (run_setting(wanted, name=name) for name in ("one", "other"))
    third = run_setting(wanted, name="third", seed=2)
    assert one.error is None and third.error is None
    left_out = {"run_id", *OF_THE_MACHINE}
    assert one.model_dump(exclude=left_out) == other.model_dump(exclude=left_out)
    assert joins_s(tmp_path / "one") == joins_s(tmp_path / "other") != joins_s(tmp_path / "third")


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_throughput_is_the_links_and_not_the_sources(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    """A segment of 1 Mbit/s comes in its four seconds, whatever the link: its chunks say what that carries."""
    workload = {"ladder": ["1 Mbit/s", "5 Mbit/s"], "rule": "lowest"}
    wanted = setting(protocol, None, {"rate": "4 Mbit/s", "queue": "60 kB"}, workload)
    record = run_setting(wanted)
    assert record.error is None and record.video_stalls == 0
    believed = playback(tmp_path / "run").segments[-1].believed_mbit
    assert believed == pytest.approx(4 * 1448 / FULL, rel=0.05)


def test_chunks_of_a_few_packets_tell_of_the_link_too(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """Over TCP they come in TLS records, which are smaller than such a chunk."""
    workload = {"ladder": ["0.25 Mbit/s", "5 Mbit/s"], "rule": "lowest"}
    wanted = setting("h2", None, {"rate": "4 Mbit/s", "queue": "60 kB"}, workload)
    record = run_setting(wanted)
    assert record.error is None
    believed = playback(tmp_path / "run").segments[-1].believed_mbit
    assert believed == pytest.approx(4 * 1448 / FULL, rel=0.1)


@pytest.mark.parametrize("server", ["nginx", "caddy", "haproxy", "envoy"])
def test_a_server_before_the_source_passes_chunks_on_as_they_come(
    run_setting: RunSetting, server: str
) -> None:
    """nginx does, too, although its proxy_buffering is on."""
    record = run_setting(setting("h2", server={"program": server}))
    assert record.error is None and record.video_stalls == 0
    # The first of eight takes a whole round trip.
    assert record.video_chunk_delay_s == pytest.approx(ONE_WAY_S * 9 / 8, abs=1e-3)


def test_servers_hear_that_it_is_live_and_how_fast_it_is_played(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    record = run_setting(setting("h3", {"catch_up": "10 %"}, None, {"cmcd": True}))
    assert record.error is None
    log = (tmp_path / "run" / "server-access.jsonl").read_text(encoding="utf-8")
    told = [str(json.loads(line)["cmcd"]) for line in log.splitlines()]
    assert len(told) == 10
    assert all("st=l" in one for one in told)
    # The picture is late by the start, so it is played faster.
    assert any("pr=1.0" in one for one in told)
