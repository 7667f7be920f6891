"""Videos of users: both players play the same MPD, cut by times and unevenly, with the sizes of its files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from headway.guest.loadfiles import SESSION_FILE
from headway.lab.videofiles import made_video
from headway.study.units import Duration, Rate
from headway.videos.boxes import widened
from headway.videos.content import Content
from tests.lab.conftest import RunSetting
from tests.made_film import mpd, pictures

pytestmark = pytest.mark.lab

SECOND = 10**9
COUNT = 8
CONTENT = Content((Rate(300_000), Rate(800_000), Rate(2_000_000)), Duration(2 * SECOND), COUNT)


def a_users_film(directory: Path) -> Path:
    """Made by ffmpeg, with names by time, an MPD of its own hand, and segments that grow."""
    made = made_video(CONTENT)
    ticks = 10_000
    for rung, name in enumerate(CONTENT.names):
        (directory / name).mkdir(parents=True)
        shutil.copy(made / name / "init.mp4", directory / name / "head.mp4")
        for number in range(COUNT):
            data = (made / name / f"{number + 1}.m4s").read_bytes()
            more = 1000 * (rung + 1) * number
            grown = widened(data, len(data) + more) + bytes(more)
            (directory / name / f"t{number * ticks}.m4s").write_bytes(grown)
    cut = (
        '<SegmentTemplate timescale="5000" initialization="$RepresentationID$/head.mp4"'
        ' media="$RepresentationID$/t$Time$.m4s"><SegmentTimeline>'
        f'<S t="0" d="{ticks}" r="{COUNT - 1}"/></SegmentTimeline></SegmentTemplate>'
    )
    codecs = _codecs(made / "video.mpd")
    told = [
        f'<Representation id="{name}" bandwidth="{int(rate)}" codecs="{codecs[name]}"/>'
        for name, rate in zip(CONTENT.names, CONTENT.ladder, strict=True)
    ]
    file = directory / "film.mpd"
    file.write_text(mpd(pictures(*told, cut=cut), f"PT{2 * COUNT}S", minBufferTime="PT2S"))
    return file


def _codecs(file: Path) -> dict[str, str]:
    listed = ElementTree.parse(file).iterfind(".//{*}Representation")
    return {str(one.get("id")): str(one.get("codecs")) for one in listed}


def setting(film: Path, client: str, protocol: str, server: str = "nginx") -> dict[str, Any]:
    return {
        "protocol": protocol,
        "client": {"program": client},
        "server": {"program": server},
        "workload": {"kind": "video", "mpd": str(film), "rule": "throughput", "buffer": "8 s"},
        "path": {"rtt": "40 ms", "rate": "3 Mbit/s", "queue": "40 kB"},
    }


@pytest.mark.parametrize(
    ("protocol", "server"), [("h2", "nginx"), ("h3", "headway-server"), ("h1", "caddy")]
)
def test_both_players_fetch_every_segment_with_the_size_of_its_file(
    run_setting: RunSetting, tmp_path: Path, protocol: str, server: str
) -> None:
    film = a_users_film(tmp_path / "film")
    rungs = []
    for client in ("headway-client", "dash.js"):
        record = run_setting(setting(film, client, protocol, server), name=client)
        assert record.error is None
        assert record.video_played_share == pytest.approx(1, abs=0.01)
        assert (record.video_loaded_share, record.video_stalls) == (1, 0)
        assert len(record.video_rungs) == COUNT
        rungs.append(record.video_rungs)
        played = json.loads((tmp_path / client / "playback.json").read_text())
        sizes = [
            (film.parent / CONTENT.names[one["rung"]] / f"t{one['number'] * 10_000}.m4s").stat().st_size
            for one in played["segments"]
        ]  # fmt: skip
        assert [one["bytes"] for one in played["segments"]] == sizes
        assert [one["number"] for one in played["segments"]] == list(range(COUNT))
    # 2 Mbit/s fit into 3, for either.
    assert rungs[0][3:] == rungs[1][3:] == (2,) * (COUNT - 3)
    told = [json.loads(line) for line in (tmp_path / "dash.js" / SESSION_FILE).read_text().splitlines()]  # fmt: skip
    assert any(one["what"] == "resource" and one["url"].endswith("/film.mpd") for one in told)
