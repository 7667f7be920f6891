"""Live videos: what studies may ask, what the client is told, and what is made of a session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import checked_plan
from headway.diagnosis.metrics.video import _video
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.videos import played, source_of
from headway.study.load import Source, parse_study
from headway.study.video import QualityRule, Video
from tests.deployed import flow_of
from tests.unit.test_videos import native, setting

LIVE = {"live": {}, "duration": "40 s"}
SERVED = {"server": {"program": "headway-server"}}


@pytest.mark.parametrize("server", ["headway-server", "nginx", "caddy", "haproxy", "envoy"])
@pytest.mark.parametrize("client", ["headway-client", "dash.js", "dash.js-4.2.1"])
def test_programs_that_can(server: str, client: str) -> None:
    names = {"client": {"program": client}, "server": {"program": server}}
    check_programs(deploy(setting(LIVE, **names)))


def test_its_rule_and_start_are_its_own() -> None:
    video = Video.model_validate(LIVE)
    assert (video.rule, str(video.first_level)) == (QualityRule.THROUGHPUT, "500 ms")
    assert Video().rule is QualityRule.BOLA
    assert "live" not in Video().model_dump()
    assert str(video).endswith("by throughput, live in chunks of 500 ms, 3 s behind")


def test_the_client_knows_chunks_and_where_it_joins() -> None:
    (flow,) = deploy(setting(LIVE, **SERVED)).flows
    assert flow_of(setting(LIVE, **SERVED)).urls == ("https://server.test/",)
    assert setting(LIVE, **SERVED).served_sizes == ()
    told = json.loads(flow.client.start(flow.asked).files["/run/client-video"])
    assert told["rungs"][0]["paths"] == ["/live/127160"]
    live = told["live"]
    assert 0 <= live.pop("joins_s") < 4
    assert live == {"chunk_s": 0.5, "latency_s": 3, "catch_up": 0.05}


def test_viewers_join_at_any_time() -> None:
    flows = (replace(flow_of(setting(LIVE, **SERVED)), seed=seed) for seed in range(200))
    joins = [-3 - (source_of(flow, Video.model_validate(LIVE)) or 0) for flow in flows]
    assert len(set(joins)) == 200
    assert 0 <= min(joins) < 0.2 and 3.8 < max(joins) < 4
    assert sum(joins) / 200 == pytest.approx(2, abs=0.3)


class Finished:
    def __init__(self, *paces: dict[str, float], **changed: Any) -> None:
        session = native(0, paces=paces, ended_s=20.0, **changed)
        session.segments[0].chunks_s = (0.5, 1.0, 1.52, 2.03)
        video = played(session, Video(), [0.25], source_s=-0.5)
        self.measured = type("Measured", (), {"video": video})()


def test_latency_changes_evenly_between_changes_of_the_rate() -> None:
    finished = Finished(
        {"at_s": 1.0, "latency_s": 4.0, "rate": 1.0},
        {"at_s": 3.0, "latency_s": 4.0, "rate": 1.1},
        {"at_s": 8.0, "latency_s": 3.5, "rate": 0.0},
        {"at_s": 10.0, "latency_s": 5.5, "rate": 1.005},
    )
    made = _video(finished)  # type: ignore[arg-type]
    # The second picture stood still for 2 s, which are none of the mean's 17.
    areas = 2 * 4 + 5 * 3.75 + 10 * (5.5 + 5.45) / 2
    assert made["video_latency_s"] == pytest.approx(areas / 17)
    assert made["video_latency_worst_s"] == 5.5
    assert made["video_rate_changed_share"] == pytest.approx(5 / 17)
    # Made at 0.5, 1.5, 2.5 and 3.5 s, the first of them before the picture appeared.
    assert made["video_chunk_delay_s"] == pytest.approx((1.0 - 1.5 + 1.52 - 2.5 + 2.03 - 3.5) / 3)


def test_other_videos_have_no_latency() -> None:
    made = _video(Finished())  # type: ignore[arg-type]
    assert not any(name.startswith("video_latency") for name in made)


def test_it_has_metrics_of_its_own() -> None:
    text = 'name = "x"\nmetrics = ["video_latency_s"]\n'
    text += "client.program = 'headway-client'\nserver.program = 'headway-server'\n"
    text += "[workload]\nkind = 'video'\nlive = {}\n"
    assert checked_plan(parse_study(Source("x.toml", text, Path())), "x.toml")
