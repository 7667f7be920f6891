"""dash.js plays live video: files whose chunks come as a source makes them, as far behind it as is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.columns import OF_THE_MACHINE, Record
from headway.diagnosis.playback import PLAYBACK, Playback
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, SEGMENT_S, CHUNK_S, LATENCY_S = 0.04, 2.0, 0.5, 2.0
CHUNKS = round(SEGMENT_S / CHUNK_S)
SMALL = ["18 kbit/s"]
"""A chunk of it is a packet, and has room for a picture."""
JAVASCRIPT_S = 5e-3
"""Until a page has heard of what came."""


def setting(protocol: str, workload: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    live = {"chunk": f"{CHUNK_S} s", "latency": f"{LATENCY_S} s", "catch_up": "0 %"}
    video = {"kind": "video", "duration": "20 s", "segment": f"{SEGMENT_S} s", "live": live}
    asked = {
        "protocol": protocol,
        "client": {"program": "dash.js"},
        "server": {"program": "headway-server"},
        "workload": video | {"ladder": SMALL, "rule": "lowest"} | (workload or {}),
        "path": {"rtt": f"{RTT_S} s"},
    }
    return asked | keys


def joins_s(directory: Path) -> float:
    """How far the source was in its first segment when what the viewer aims at was made."""
    orders = json.loads((directory / "orders.json").read_text(encoding="utf-8"))
    (player,) = (
        told["player"]
        for text in orders["files"].values()
        if "player" in (told := json.loads(text))
    )
    return float(player["behind_s"]) - LATENCY_S


def late_s(playback: Playback, number: int, chunk: int) -> float:
    """From when the source had made a chunk of a segment until it had come; both from 0."""
    assert playback.source_s is not None
    made_s = playback.source_s + number * SEGMENT_S + (chunk + 1) * CHUNK_S
    return playback.segments[number].chunks_s[chunk] - made_s


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_chunks_come_as_they_are_made_and_it_stays_as_far_behind(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    record = run_setting(setting(protocol))
    assert record.error is None and record.video_stalls == 0
    played = PLAYBACK.load(tmp_path / "run")
    # The MPD says it in whole milliseconds.
    assert played.source_s == pytest.approx(-LATENCY_S - joins_s(tmp_path / "run"), abs=1e-3)
    assert [one.number for one in played.segments] == list(range(10))
    others = [
        late_s(played, number, chunk) for number in range(3, 10) for chunk in range(1, CHUNKS)
    ]
    assert others == pytest.approx([RTT_S / 2] * len(others), abs=JAVASCRIPT_S)
    assert all(late_s(played, number, 0) >= RTT_S / 2 for number in range(10))
    # It goes where it is to be once it knows the MPD, and stands there until the picture appears.
    assert record.video_start_s is not None and record.video_latency_s is not None
    assert LATENCY_S < record.video_latency_s < LATENCY_S + record.video_start_s
    assert record.video_latency_worst_s == pytest.approx(record.video_latency_s, abs=0.01)
    assert record.video_loaded_share == 1


def test_both_players_choose_alike_and_are_as_far_behind(run_setting: RunSetting) -> None:
    """On a path without loss; dash.js begins later, by the MPD and the initialisation.

    Over TCP it may believe in a multiple of the link's rate after the first segment, and stall.
    """
    ladder = ["0.3 Mbit/s", "1 Mbit/s", "2 Mbit/s", "9 Mbit/s"]
    workload = {"ladder": ladder, "rule": "throughput", "duration": "30 s"}
    path = {"rtt": f"{RTT_S} s", "rate": "3.5 Mbit/s", "queue": "60 kB"}
    both: list[Record] = []
    for client in ("dash.js", "headway-client"):
        asked = setting("h3", workload, path=path, client={"program": client})
        both.append(run_setting(asked, name=client))
        assert both[-1].error is None and both[-1].video_stalls == 0
    rungs = [record.video_rungs for record in both]
    assert rungs[0] is not None and rungs[1] is not None
    assert rungs[0][4:] == rungs[1][4:] == (2,) * 11
    apart_s = [(record.video_latency_s or 0) - LATENCY_S for record in both]
    assert all(0 < one < 0.7 for one in apart_s), apart_s


@pytest.mark.parametrize("program", ["dash.js", "dash.js-4.2.1"])
def test_lolp_chooses_as_no_other_and_l2a_plays(run_setting: RunSetting, program: str) -> None:
    """On this path L2A chooses what throughput does."""
    ladder = ["0.3 Mbit/s", "1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]
    path = {"rtt": f"{RTT_S} s", "rate": "6 Mbit/s", "queue": "60 kB"}
    rungs = {}
    for rule in ("throughput", "lol+", "l2a"):
        asked = setting("h3", {"ladder": ladder, "rule": rule}, path=path)
        record = run_setting(asked | {"client": {"program": program}}, name=rule)
        assert record.error is None and record.video_latency_s is not None
        rungs[rule] = record.video_rungs
    assert rungs["lol+"] != rungs["throughput"]
    assert rungs["l2a"] and len(rungs["l2a"]) == 10


@pytest.mark.parametrize("program", ["dash.js", "dash.js-4.2.1"])
@pytest.mark.parametrize("catch_up", [0.0, 0.1])
def test_the_rate_of_playback_differs_by_no_more_than_is_asked_for(
    run_setting: RunSetting, tmp_path: Path, program: str, catch_up: float
) -> None:
    live = {"chunk": f"{CHUNK_S} s", "latency": f"{LATENCY_S} s", "catch_up": f"{catch_up:.0%}"}
    record = run_setting(setting("h2", {"live": live}, client={"program": program}))
    assert record.error is None
    rates = [pace.rate for pace in PLAYBACK.load(tmp_path / "run").paces if pace.rate]
    assert max(abs(rate - 1) for rate in rates) <= catch_up
    # The picture is late by a part of the start-up delay, which is caught up with. 4.2.1 makes no change below 2 %.
    assert (record.video_rate_changed_share or 0) > 0 if catch_up else set(rates) == {1.0}


@pytest.mark.parametrize("server", ["nginx", "caddy", "haproxy", "envoy"])
def test_a_server_before_the_source_has_its_files_too(run_setting: RunSetting, server: str) -> None:
    record = run_setting(setting("h2", server={"program": server}))
    assert record.error is None and record.video_stalls == 0
    assert record.video_loaded_share == 1


def test_equal_seeds_are_equal_sessions(run_setting: RunSetting) -> None:
    asked = setting("h3", {"duration": "8 s"})
    one, other = (run_setting(asked, name=name) for name in ("one", "other"))
    left_out = {"run_id", *OF_THE_MACHINE}
    assert one.error is None
    assert one.model_dump(exclude=left_out) == other.model_dump(exclude=left_out)
