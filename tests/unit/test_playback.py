"""How a video was played beside its path: rows of segments, rates of links, and what models of quality read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.diagnosis.metrics.measure import FinishedRun
from headway.diagnosis.p1203 import P1203_FILE, save_p1203
from headway.diagnosis.playback import PLAYBACK, Playback, playback_of
from headway.diagnosis.reasons import Limit
from headway.diagnosis.segment import SegmentSamples, StateSource, observe
from headway.diagnosis.transfer import Transfer, transfer_of
from headway.lab.linkrates import mean_rate_mbit, rates_towards_client
from headway.planning.deploy import deploy
from headway.programs.measurement import (
    Measurement,
    PlayedPace,
    PlayedSegment,
    PlayedStall,
    PlayedVideo,
)
from headway.records.segments import segment_records
from headway.study.setting import Setting
from tests.unit.made_results import run
from tests.unit.made_samples import SEGMENT, counters, write_samples

LADDER = ("1 Mbit/s", "2 Mbit/s")


def setting(path: dict[str, Any] | None = None, **video: Any) -> Setting:
    workload = {"kind": "video", "ladder": LADDER, "segment": "2 s", "duration": "20 s", **video}
    client = {"program": "headway-client"}
    return Setting.model_validate(
        {"protocol": "h2", "client": client, "workload": workload, "path": path or {}}
    )


def fetched(
    number: int, rung: int, asked_s: float, last_byte_s: float, buffer_s: float
) -> PlayedSegment:
    size = (250_000, 500_000)[rung]
    return PlayedSegment(number, rung, size, asked_s, asked_s + 0.1, last_byte_s, buffer_s, None)


# The picture appears with the first segment after a second, plays its two seconds, and stands still for one.
SESSION = PlayedVideo(
    ladder_mbit=(1.0, 2.0),
    lengths_s=(2.0,) * 10,
    start_s=1.0,
    end_s=8.0,
    played_s=6.0,
    segments=(
        fetched(0, 0, 0.0, 1.0, 0.0),
        fetched(1, 1, 1.0, 4.0, 2.0),
        fetched(2, 0, 4.0, 4.5, 2.0),
    ),
    stalls=(PlayedStall(3.0, 1.0),),
)


def kept(
    path: dict[str, Any] | None = None,
    samples: list[SegmentSamples] | None = None,
    session: PlayedVideo = SESSION,
) -> Playback:
    (flow,) = deploy(setting(path), 7).flows
    measured = Measurement(ttfb_s=0.1, total_s=4.5, video=session)
    transfer = transfer_of(flow, measured)
    finished = FinishedRun(flow, measured, transfer, samples or [], Path())
    found = playback_of(finished)
    assert found
    return found


def test_every_segment_has_its_buffer_before_and_after() -> None:
    rows = kept().segments
    assert [one.buffer_before_s for one in rows] == [0, 2, 2]
    # Of the second, two seconds were played and one was waited.
    assert [one.buffer_after_s for one in rows] == pytest.approx([2, 2, 3.5])
    assert [one.stalled_s for one in rows] == [0, 1, 0]
    assert [one.throughput_mbit for one in rows] == pytest.approx([2, 4 / 3, 4])
    assert [one.rate_mbit for one in rows] == [1, 2, 1]
    assert not any(one.repeated for one in rows)
    assert {one.limited_by for one in rows} == {None}


def test_live_video_is_played_while_it_comes() -> None:
    """The source began three seconds before; the picture, of when half a second was made, appears after a second."""
    paces = (PlayedPace(1.0, 3.5, 1.0), PlayedPace(2.0, 3.5, 1.5), PlayedPace(3.0, 3.0, 1.0))
    fetches = (
        fetched(0, 0, 0.5, 1.0, 0.0),
        fetched(1, 0, 1.0, 3.0, 1.5),
        fetched(0, 1, 3.0, 3.5, 1.0),
    )
    live = replace(SESSION, segments=fetches, stalls=(), paces=paces, source_s=-3.0)
    rows = kept(session=live).segments
    # What is seen was made at -2.5, 0 and 0.5 s; two segments reach to 1 s, and the third takes the first one's place.
    assert [one.buffer_after_s for one in rows] == pytest.approx([1.5, 1.0, 0.5])
    # A player that tells what it has is believed.
    told = replace(live, segments=tuple(replace(one, left_s=0.25) for one in fetches))
    assert {one.buffer_after_s for one in kept(session=told).segments} == {0.25}


def test_the_links_rate_stands_beside_the_throughput() -> None:
    steps = [{"at": "0 s", "rate": "8 Mbit/s"}, {"at": "2 s", "rate": "2 Mbit/s"}]
    found = kept({"rate": {"steps": steps, "repeat": "6 s"}})
    assert found.rates == ((0.0, 8.0), (2.0, 2.0), (6.0, 8.0))
    assert [one.link_mbit for one in found.segments] == pytest.approx([8, (8 + 2 * 2) / 3, 2])
    assert kept().rates == ()
    assert kept().segments[0].link_mbit is None


def test_drawn_rates_are_those_of_the_seed() -> None:
    drawn = setting({"rate": {"low": "1 Mbit/s", "high": "9 Mbit/s", "every": "2 s"}})

    def of(seed: int) -> Any:
        (flow,) = deploy(drawn, seed).flows
        return rates_towards_client(flow.segments[0].legs, seed, drawn.limits.virtual)

    assert of(7) == of(7) != of(8)
    assert [at for at, _ in of(7)[:3]] == [0, 2, 4]
    assert all(1 <= mbit <= 9 for _, mbit in of(7))


def test_opportunities_of_a_trace_are_counted_by_the_second() -> None:
    # Two in the first second, one at its end, which is the second's beginning; then the trace starts again.
    trace = {"trace": "made", "opportunities_ms": [100, 500, 1000]}
    (flow,) = deploy(setting({"down": {"rate": trace}, "up": {"rate": "9 Mbit/s"}}), 1).flows
    steps = rates_towards_client(flow.segments[0].legs, 1, flow.setting.limits.virtual)
    assert [at for at, _ in steps[:3]] == [0, 1, 2]
    assert [mbit for _, mbit in steps[:3]] == pytest.approx([0.024, 0.036, 0.036])


def test_a_mean_rate_is_of_the_time_between() -> None:
    steps = ((0.0, 4.0), (2.0, 8.0))
    assert mean_rate_mbit(steps, 1.0, 3.0) == 6
    assert mean_rate_mbit(steps, 5.0, 6.0) == 8
    assert mean_rate_mbit((), 0.0, 1.0) is None


def test_what_held_a_segment_back_is_told_of_each(tmp_path: Path) -> None:
    """The path is full in the first second and idle in the second one."""
    full = [(at / 10, counters(82 * at, backlog=20_000), counters(82 * at), []) for at in range(11)]
    idle = [(at / 10, counters(820), counters(820), []) for at in range(11, 50)]
    write_samples(tmp_path, [*full, *idle])
    transfer = Transfer(0.1, 4.5, (SEGMENT,))
    transfer.save(tmp_path)
    samples = observe(tmp_path, transfer)
    assert samples[0].evidence is StateSource.COUNTERS
    first, second, _ = kept(samples=samples).segments
    assert (first.limited_by, first.limited_s) == (Limit.PATH, pytest.approx(0.9))
    assert second.limited_by == Limit.APPLICATION


def test_a_campaigns_segments_are_rows(tmp_path: Path) -> None:
    one = Record.model_validate(run("h2", 1, 4.5) | {"run_id": "a"})
    assert list(segment_records(tmp_path, one)) == []
    (tmp_path / "a").mkdir()
    PLAYBACK.save(tmp_path / "a", kept())
    rows = list(segment_records(tmp_path, one))
    assert [row.number for row in rows] == [0, 1, 2]
    assert {(row.run_id, row.contender, row.flow) for row in rows} == {("a", one.contender, None)}


def test_models_of_quality_read_segments_and_waits_in_media_time(tmp_path: Path) -> None:
    save_p1203(tmp_path, kept(), ("640x360", "1280x720"))
    told = json.loads((tmp_path / P1203_FILE).read_text())
    second = told["I13"]["segments"][1]
    assert (second["start"], second["duration"], second["resolution"]) == (2, 2, "1280x720")
    assert second["bitrate"] == 2000
    assert told["I23"]["stalling"] == [[0, 1], [2, 1]]


def test_resolutions_are_known_of_named_ladders_and_of_those_that_state_them() -> None:
    assert setting(ladder="perna").workload.pictures[-1] == "3840x2160"  # type: ignore[union-attr]
    assert setting().workload.pictures is None  # type: ignore[union-attr]
    stated = setting(resolutions=["640x360", "1280x720"]).workload
    assert stated.pictures == ("640x360", "1280x720")  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="one for each of the 2 qualities"):
        setting(resolutions=["640x360"])
    with pytest.raises(ValueError, match="should match pattern"):
        setting(resolutions=["640x360", "big"])
