"""Videos of users in studies: where their MPD is sought, what the players are told, and what is refused before anything runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import checked_plan
from headway.errors import WrongInputError
from headway.lab.videofiles import needed_videos, video_files
from headway.planning.deploy import deploy
from headway.planning.runs import Run
from headway.programs.registry import CLIENTS
from headway.programs.videos import NativeSession, session_error
from headway.records.runkey import run_key
from headway.study.load import load_study
from headway.study.mpd import film_at
from headway.study.setting import Setting
from headway.study.video import Video
from tests.deployed import flow_of
from tests.made_film import FILES, TEMPLATE, USUAL, mpd, pictures, quality, write_film

BASE = """
name = "film"
question = "Does it look better?"
repetitions = 2
axes.protocol = ["h1", "h2"]
client.program = "{client}"
[workload]
kind = "video"
mpd = "film/film.mpd"
"""


def planned(directory: Path, client: str = "headway-client", more: str = "") -> tuple[Run, ...]:
    file = directory / "study.toml"
    file.write_text(BASE.format(client=client) + more, encoding="utf-8")
    return checked_plan(load_study(str(file)), str(file))


def setting(mpd: Path, client: str = "headway-client", **workload: Any) -> Setting:
    video = {"kind": "video", "mpd": str(mpd), "rule": "throughput", **workload}
    return Setting.model_validate(
        {"protocol": "h2", "client": {"program": client}, "workload": video}
    )


def test_the_mpd_says_what_a_ladder_would_and_stands_beside_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_film(tmp_path / "film", USUAL.replace("PT6S", "PT5S"))
    monkeypatch.chdir("/")
    video = planned(tmp_path)[0].setting.workload
    assert isinstance(video, Video)
    assert ([int(rate) for rate in video.ladder], video.pictures) == ([8000, 16000], None)
    assert (str(video.segment), str(video.duration), len(video.lengths)) == ("2 s", "5 s", 3)
    assert str(video.leaves) == "10 s"
    assert (video.size(1, 2), video.payload.bodies) == (4003, ())


def test_sizes_of_the_pictures_are_known_if_the_mpd_says_them(tmp_path: Path) -> None:
    sides = ((320, 180), (640, 360))
    told = [
        quality(name, rate, width=str(width), height=str(height))
        for name, rate, (width, height) in zip(("low", "high"), (8000, 16000), sides, strict=True)
    ]
    video = setting(write_film(tmp_path, mpd(pictures(*told)))).workload
    assert isinstance(video, Video) and video.pictures == ("320x180", "640x360")
    assert video.is_h264
    told[1] = told[1].replace("avc1.64001f", "vp09.00.10.08")
    other = setting(write_film(tmp_path / "other", mpd(pictures(*told)))).workload
    assert isinstance(other, Video) and not other.is_h264


def test_headway_client_is_told_of_every_file(tmp_path: Path) -> None:
    made = setting(write_film(tmp_path, USUAL.replace("PT6S", "PT5S")))
    (flow,) = deploy(made).flows
    told = json.loads(flow.client.start(flow.asked).files["/run/client-video"])
    place = film_at(str(tmp_path / "film.mpd")).place
    assert (told["segment_s"], told["segments"]) == ([2, 2, 1], 3)
    assert told["rungs"][1] == {
        "bit_s": 16000,
        "paths": [f"/{place}/high/{number}.m4s" for number in (1, 2, 3)],
        "bytes": [4001, 4002, 4003],
    }
    session = {"started_s": 1, "ended_s": 9, "played_s": 4, "stalls": []}
    came = {"number": 1, "rung": 1, "requested_s": 0, "loaded_s": 1, "bytes": 4002}
    segment = {**came, "buffer_s": 0, "believed_bit_s": None}
    video = made.workload
    assert isinstance(video, Video)
    whole = NativeSession.model_validate(session | {"segments": [segment]})
    assert session_error(whole, video) is None
    whole.segments[0].bytes = 4001
    assert session_error(whole, video) == "segment 1: 4001 bytes came of 4002"


def test_dash_js_is_told_the_mpd_and_the_names_of_its_qualities(tmp_path: Path) -> None:
    made = setting(write_film(tmp_path), "dash.js")
    (text,) = CLIENTS["dash.js"].start(flow_of(made)).files.values()
    player = json.loads(text)["player"]
    film = film_at(str(tmp_path / "film.mpd"))
    assert player["mpd"] == f"https://server.test/{film.place}/film.mpd"
    assert player["rungs"] == ["low", "high"]


@pytest.mark.parametrize("client", ["headway-client", "dash.js"])
def test_servers_have_a_copy_of_what_the_mpd_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    file = write_film(tmp_path / "film", files=FILES | {"notes.txt": 5})
    (film,) = needed_videos(deploy(setting(file, client)))
    copy = video_files(film)
    names = {str(one.relative_to(copy)) for one in copy.rglob("*") if one.is_file()}
    assert names == {"film.mpd", *FILES}
    assert (copy / "high/2.m4s").read_bytes() == (tmp_path / "film/high/2.m4s").read_bytes()
    (tmp_path / "film/high/2.m4s").write_bytes(b"y" * FILES["high/2.m4s"])
    assert (copy / "high/2.m4s").read_bytes()[:1] == b"x", "what is served does not change"
    assert video_files(film) != copy
    (tmp_path / "film/high/2.m4s").write_bytes(b"z")
    with pytest.raises(WrongInputError, match=r"high/2\.m4s has changed meanwhile; begin again"):
        video_files(film)


def test_a_run_is_another_one_if_the_film_is(tmp_path: Path) -> None:
    files = FILES | {"high/3.m4s": 9}
    keys = []
    for name, wanted in (("one", FILES), ("equal", FILES), ("other", files)):
        write_film(tmp_path / name / "film", files=wanted)
        keys.append(run_key(planned(tmp_path / name)[0]))
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('buffer = "3 s"', "buffer: two segments or more: 4 s"),
    ],
)
def test_what_the_mpd_says_is_not_said_again(tmp_path: Path, more: str, message: str) -> None:
    write_film(tmp_path / "film")
    with pytest.raises(WrongInputError, match=rf"study\.toml:\d+: workload\.{message}"):
        planned(tmp_path, more=more)


def test_a_broken_mpd_and_a_missing_segment_are_told_with_line_and_key(tmp_path: Path) -> None:
    film = write_film(tmp_path / "film", "<MPD><Period>")
    wanted = (
        rf"study\.toml:9: workload\.mpd: {film}: an MPD of DASH that is damaged: no element found"
    )
    with pytest.raises(WrongInputError, match=wanted):
        planned(tmp_path)
    write_film(tmp_path / "film", USUAL.replace("PT6S", "PT7S"))
    with pytest.raises(WrongInputError, match=r"mpd: .*film\.mpd: there is no file low/4\.m4s"):
        planned(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("avc1.64001f", "hvc1.1.6.L93"), r"'low' is hvc1\.1\.6\.L93, which .* does not decode; it has avc1"),
        (("video/mp4", "video/mp2t"), "files of 'low' are video/mp2t; Chromium plays video/mp4"),
    ],
)  # fmt: skip
def test_what_the_browser_does_not_decode_is_refused_for_dash_js_alone(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    write_film(tmp_path / "film", USUAL.replace(*change))
    assert planned(tmp_path)
    with pytest.raises(WrongInputError, match=rf"study\.toml:9: workload\.mpd: .*{message}"):
        planned(tmp_path, "dash.js")


def test_an_mpd_may_be_an_axis(tmp_path: Path) -> None:
    for name, length in (("short", "PT4S"), ("long", "PT6S")):
        write_film(tmp_path / name, USUAL.replace("PT6S", length))
    file = tmp_path / "study.toml"
    text = BASE.format(client="headway-client").replace('mpd = "film/film.mpd"', "")
    file.write_text(
        text.replace("axes.protocol", 'axes.workload.mpd = ["short/film.mpd", "long/film.mpd"]\naxes.protocol')
    )  # fmt: skip
    runs = checked_plan(load_study(str(file)), str(file))
    lengths = {len(run.setting.workload.lengths) for run in runs if isinstance(run.setting.workload, Video)}  # fmt: skip
    assert lengths == {2, 3}


def test_a_film_with_a_template_for_each_quality_is_played_as_well(tmp_path: Path) -> None:
    each = [quality(name, rate, TEMPLATE) for name, rate in (("low", 8000), ("high", 16000))]
    made = setting(write_film(tmp_path, mpd(pictures(*each, cut=""))))
    assert isinstance(made.workload, Video) and made.workload.size(0, 0) == 2001
