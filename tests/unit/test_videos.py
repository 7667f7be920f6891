"""Videos: what studies may ask, what the client is told, and what is made of a session."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from headway.diagnosis.metrics.video import _linear_qoe, _video
from headway.planning.deploy import deploy
from headway.programs.measurement import PlayedVideo
from headway.programs.videos import NativeSession, played, session_error
from headway.study.setting import Setting
from headway.study.video import LADDERS, Video
from tests.deployed import flow_of, orders_of

CLIENT = {"program": "headway-client"}


def setting(workload: dict[str, Any] | None = None, **keys: Any) -> Setting:
    video = {"kind": "video", **(workload or {})}
    return Setting.model_validate({"protocol": "h2", "client": CLIENT, "workload": video} | keys)


def test_segments_have_the_size_of_their_rate() -> None:
    video = Video.model_validate(
        {"ladder": ["1 Mbit/s", "2 Mbit/s"], "segment": "2 s", "duration": "60 s"}
    )
    assert [int(size) for size in video.sizes] == [250_000, 500_000]
    assert len(video.lengths) == 30
    assert (str(video.leaves), str(video.offered_load.sends)) == ("120 s", "60 s")
    assert Video().ladder == LADDERS["perna"] == Video.model_validate({"ladder": "perna"}).ladder


def test_servers_have_a_body_for_each_quality_and_the_client_knows_them() -> None:
    made = setting({"ladder": ["1 Mbit/s", "2 Mbit/s"], "rule": "mpc", "watch": "1 min"})
    assert made.served_sizes == (500_000, 1_000_000)
    assert flow_of(made).urls == ("https://server.test/",)
    (flow,) = deploy(made).flows
    started = flow.client.start(flow.asked)
    (program,) = started.programs
    told = json.loads(started.files["/run/client-video"])
    assert told["rungs"][1] == {"bit_s": 2e6, "paths": ["/1000000.bin"], "bytes": [1_000_000]}
    assert (told["segment_s"], told["segments"]) == (4, 60)
    wanted = {"--video=/run/client-video", "--rule=mpc", "--watch=60.000000000"}
    assert wanted | {"--buffer=30.000000000", "--start-buffer=4.000000000"} <= set(program.argv)


def native(*rungs: int, **changed: Any) -> NativeSession:
    """A session whose segments took a second each, one right after the other."""
    sizes = Video().sizes
    segments = [
        {
            "number": n,
            "rung": rung,
            "requested_s": n,
            "loaded_s": n + 1,
            "bytes": int(sizes[rung]),
            "buffer_s": 3 * n,
            "believed_bit_s": 2e6 if n else None,
        }
        for n, rung in enumerate(rungs)
    ]
    session = {
        "started_s": 1.0,
        "ended_s": 20.0,
        "played_s": 16.0,
        "segments": segments,
        "stalls": [],
    }
    return NativeSession.model_validate(session | changed)


class Finished:
    def __init__(self, video: PlayedVideo | None) -> None:
        self.measured = type("Measured", (), {"video": video})()


def session(*rungs: int, **changed: Any) -> PlayedVideo:
    """The same as its player tells it; responses began a quarter of a second after their requests."""
    return played(native(*rungs, **changed), Video(), [n + 0.25 for n in range(len(rungs))])


def test_metrics_of_a_session() -> None:
    stalls = [{"at_s": 5.0, "lasted_s": 1.0}, {"at_s": 10.0, "lasted_s": 2.0}]
    video = session(0, 2, 2, 1, stalls=stalls)
    made = _video(Finished(video))  # type: ignore[arg-type]
    lowest, second, third = (rate.mbit for rate in Video().ladder[:3])
    assert made["video_start_s"] == 1
    assert (made["video_stalls"], made["video_stalled_s"]) == (2, 3)
    assert made["video_stalled_share"] == pytest.approx(3 / 19)
    assert made["video_first_segment_s"] == 1
    assert made["video_stall_rate"] == pytest.approx(2 / 16)
    assert made["video_waited_share"] == pytest.approx((1 + 3) / 20)
    assert made["video_bitrate_mbit"] == pytest.approx((lowest + 2 * third + second) / 4)
    assert (made["video_up_switches"], made["video_down_switches"]) == (1, 1)
    assert made["video_switched_mbit"] == pytest.approx((third - lowest + third - second) / 2)
    assert made["video_up_mbit"] == pytest.approx(third - lowest)
    assert made["video_down_mbit"] == pytest.approx(third - second)
    assert made["video_repeated_segments"] == 0
    assert made["video_buffer_s"] == pytest.approx(4.5)
    assert made["video_throughput_mbit"] == pytest.approx(4 * made["video_bitrate_mbit"], rel=1e-4)
    assert made["video_played_share"] == pytest.approx(16 / 240)
    assert made["video_loaded_share"] == pytest.approx(4 / 60)
    assert made["video_rungs"] == (0, 2, 2, 1)
    changed = third - lowest + third - second
    waited = 14.931538 * (3 + 1)
    assert made["video_qoe_index"] == pytest.approx(
        (lowest + 2 * third + second - changed - waited) / 4
    )


def test_a_picture_that_never_came() -> None:
    video = session(0, started_s=None, played_s=0.0)
    made = _video(Finished(video))  # type: ignore[arg-type]
    assert made["video_start_s"] is None
    assert made["video_stalled_share"] is None
    assert made["video_stall_rate"] is None
    assert made["video_waited_share"] == 1
    assert _linear_qoe(video) == pytest.approx(0.25432 - 14.931538 * 20)


def test_a_segment_that_is_fetched_again_counts_once_as_fetched() -> None:
    first, second = session(0, 2).segments
    again = dataclasses.replace(second, number=first.number)
    video = dataclasses.replace(session(0, 2), segments=(first, again))
    made = _video(Finished(video))  # type: ignore[arg-type]
    assert made["video_repeated_segments"] == 1
    assert made["video_loaded_share"] == pytest.approx(1 / 60)
    assert made["video_rungs"] == (0, 2)


def test_a_segment_that_is_replaced_is_shown_as_it_came_last() -> None:
    """The second is fetched once more, in a higher quality, after the third."""
    first, low, third, again = session(1, 0, 2, 1).segments
    fetched = (first, low, third, dataclasses.replace(again, number=low.number))
    video = dataclasses.replace(session(1, 0, 2, 1), segments=fetched)
    shown = session(1, 1, 2)
    made, same = (_video(Finished(one)) for one in (video, shown))  # type: ignore[arg-type]
    assert made["video_rungs"] == (1, 0, 2, 1)
    assert (made["video_up_switches"], made["video_down_switches"]) == (1, 0)
    for name in ("video_up_mbit", "video_switched_mbit", "video_qoe_index"):
        assert made[name] == same[name]


def test_nothing_is_measured_without_a_segment() -> None:
    assert _video(Finished(None)) == {}  # type: ignore[arg-type]
    empty = PlayedVideo((1.0,), (4.0,), None, 10, 0, (), ())
    made = _video(Finished(empty))  # type: ignore[arg-type]
    shares = {"video_played_share": 0, "video_loaded_share": 0, "video_waited_share": 1}
    # Of a picture that never moved nobody knows how often it would have stood still.
    assert made == {"video_bitrate_mbit": 0, "video_qoe_index": -10, **shares}


def test_a_segment_of_another_size_is_an_error() -> None:
    told = native(0, 1)
    assert session_error(told, Video()) is None
    told.segments[1].bytes = 7
    assert session_error(told, Video()) == "segment 1: 7 bytes came of 253623"
    assert session_error(None, Video()) == "its report has no session"


def test_a_viewer_who_leaves_amid_a_segment_has_watched(tmp_path: Path) -> None:
    from headway.contract.outcome import Ended
    from headway.programs.headway_client import REPORT

    request = {
        "connected_s": 0.1,
        "secured_s": 0.1,
        "first_byte_s": 0.2,
        "status": 200,
        "error": None,
    }
    whole = {**request, "last_byte_s": 1.0, "bytes": 127_160}
    begun = {**request, "last_byte_s": None, "bytes": 5}
    report = {"ended_s": 60.0, "requests": [whole, begun], "session": native(0).model_dump()}
    (tmp_path / REPORT).write_text(json.dumps(report))
    (flow,) = deploy(setting({"watch": "60 s"})).flows
    ended = Ended("headway-client", 0, 60 * 10**9)
    measured = flow.client.measure(flow.asked, tmp_path, ended)
    assert measured.error is None
    assert measured.video is not None and len(measured.video.segments) == 1
    # Of the segment that did not come nothing counts.
    assert (measured.total_s, measured.bytes) == (1, 127_160)
    nothing = {"segments": [], "started_s": None, "played_s": 0}
    gone = {**report, "requests": [], "session": {**native().model_dump(), **nothing}}
    (tmp_path / REPORT).write_text(json.dumps(gone))
    left = flow.client.measure(flow.asked, tmp_path, ended)
    assert (left.error, left.total_s, left.bytes) == (None, None, None)
    report["requests"] = [whole, {**begun, "status": 404, "error": "status 404"}]
    (tmp_path / REPORT).write_text(json.dumps(report))
    assert flow.client.measure(flow.asked, tmp_path, ended).error == "headway-client: status 404"


def test_players_tell_their_state_where_a_study_asks_for_it() -> None:
    silent, telling = setting(), setting({"cmcd": True}, server={"program": "headway-server"})
    assert "cmcd" not in silent.workload.model_dump()
    (quiet,), (flow,) = deploy(silent, 3).flows, deploy(telling, 3).flows
    assert "--cmcd" not in str(quiet.client.start(quiet.asked).programs[0].argv)
    (named,) = (one for one in flow.client.start(flow.asked).programs[0].argv if "--cmcd" in one)
    (other,) = deploy(telling, 4).flows
    assert named not in other.client.start(other.asked).programs[0].argv
    heard = [word for one in orders_of(telling).programs for word in one.argv]
    assert "--access-log=/lab/run/server-access.jsonl" in heard
    nginx = orders_of(setting({"cmcd": True}, server={"program": "nginx"}))
    assert any(
        "access_log /lab/run/server-access.jsonl players;" in one for one in nginx.files.values()
    )
