"""dash.js in Chromium: sessions come over the version that was asked for, are equal for equal seeds, and fail in words."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headway.columns import OF_THE_MACHINE, Record
from headway.contract.program import Program
from headway.guest.loadfiles import SESSION_FILE
from headway.lab import run as lab_run
from headway.study.network import CLIENT
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

LADDER = ["0.3 Mbit/s", "0.8 Mbit/s", "2 Mbit/s"]
KILL = "sleep {0}; pkill -KILL -o -f chromium-headless-shell"


def setting(
    protocol: str = "h2", workload: dict[str, Any] | None = None, **keys: Any
) -> dict[str, Any]:
    video = {"kind": "video", "ladder": LADDER, "segment": "2 s", "duration": "20 s"}
    return {
        "protocol": protocol,
        "client": {"program": "dash.js"},
        "workload": video | (workload or {}),
        "path": {"rtt": "40 ms", "rate": "3 Mbit/s", "queue": "40 kB"},
    } | keys


def session(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / SESSION_FILE).read_text().splitlines()]


@pytest.mark.parametrize(
    ("protocol", "program"),
    [("h1", "dash.js"), ("h2", "dash.js-4.2.1"), ("h3", "dash.js")],
)
def test_a_video_is_played_to_its_end(
    run_setting: RunSetting, tmp_path: Path, protocol: str, program: str
) -> None:
    record = run_setting(
        setting(protocol, {"rule": "dynamic", "audio": "64 kbit/s"}, client={"program": program})
    )
    assert record.error is None
    assert record.video_played_share == pytest.approx(1, abs=0.01)
    assert record.video_stalls == 0
    assert max(record.video_rungs) == 2, "2 Mbit/s and the sound fit into 3 Mbit/s"
    told = session(tmp_path / "run")
    assert told[0]["version"] == ("4.2.1" if "4" in program else "5.2.1")
    # No connection was there before, and the first response takes three round trips, two of QUIC.
    assert record.ttfb_s == pytest.approx(0.08 if protocol == "h3" else 0.12, abs=0.02)
    videos = [one for one in told if one["what"] == "resource" and "/video-2/" in one["url"]]
    sizes = {one["bytes"] for one in videos if one["url"].endswith(".m4s")}
    assert sizes == {500_000}


def test_it_plays_without_tls(run_setting: RunSetting, tmp_path: Path) -> None:
    record = run_setting(setting("h1", tls=False))
    assert record.error is None and record.tls_s is None
    assert record.video_played_share == pytest.approx(1, abs=0.01)
    (first, *_) = (one for one in session(tmp_path / "run") if one["what"] == "resource")
    assert first["url"].startswith("http://")
    assert first["connect_ms"] == pytest.approx(40, abs=2)


@pytest.mark.parametrize("program", ["dash.js", "dash.js-4.2.1"])
def test_either_version_tells_its_state_in_header_fields_of_all_that_it_fetches(
    run_setting: RunSetting, tmp_path: Path, program: str
) -> None:
    telling = {"cmcd": True, "audio": "64 kbit/s", "duration": "8 s", "buffer": "4 s"}
    programs = {"client": {"program": program}, "server": {"program": "nginx"}}
    record = run_setting(setting(workload=telling, **programs))
    assert record.error is None and len(record.video_rungs) >= 4
    log = (tmp_path / "run/server-access.jsonl").read_text()
    heard = [json.loads(line) for line in log.splitlines()]
    assert len(heard) >= 4 + 4 + 3, "pictures, sound, initialisations and the MPD"
    assert all("sid=" in str(one["cmcd"]) for one in heard)
    assert record.bytes == sum(one["bytes"] for one in heard)


def test_equal_seeds_are_equal_sessions(run_setting: RunSetting, tmp_path: Path) -> None:
    wanted = setting(
        "h3", {"rule": "dynamic"}, path={"rtt": "40 ms", "rate": "2 Mbit/s", "loss": "1 %"}
    )
    one, other = (run_setting(wanted, name=name) for name in ("one", "other"))
    assert one.error is None and len(one.video_rungs) >= 10
    assert session(tmp_path / "one") == session(tmp_path / "other")
    left_out = {"run_id", *OF_THE_MACHINE}
    assert one.model_dump(exclude=left_out) == other.model_dump(exclude=left_out)


def test_a_path_below_the_lowest_rate_stalls_and_is_a_row(run_setting: RunSetting) -> None:
    slow = {"rtt": "40 ms", "rate": "0.2 Mbit/s", "queue": "40 kB"}
    record = run_setting(setting(workload={"rule": "bola", "watch": "30 s"}, path=slow))
    assert (record.error, record.status) == (None, "ok")
    assert record.video_stalls >= 2 and record.video_stalled_s > 5
    assert record.virtual_s == pytest.approx(31, abs=0.1)


def test_a_player_that_dies_is_a_failed_run_whose_events_are_kept(
    run_setting: RunSetting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordered = lab_run.orders_for

    def killing(*of: Any) -> Any:
        orders = ordered(*of)
        killer = Program("killer", CLIENT, ("sh", "-c", KILL.format(5)))
        *services, client = orders.programs
        return replace(orders, programs=(*services, killer, client))

    monkeypatch.setattr(lab_run, "orders_for", killing)
    record = run_setting(setting())
    assert record.status == "failed"
    assert record.error is not None
    assert record.error.startswith("dash.js: the browser is gone (killed by SIGKILL) (")
    assert any(one["what"] == "loaded" for one in session(tmp_path / "run"))


def broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: Callable[[Path], None]) -> None:
    """Have the server's files of a video changed."""
    made = lab_run.video_files

    def copied(video: Any) -> Path:
        copy = tmp_path / f"{made(video).name}-broken"
        shutil.copytree(made(video), copy)
        change(copy)
        return copy

    monkeypatch.setattr(lab_run, "video_files", copied)
    # What is served is kept by the name of its parts.
    monkeypatch.setattr("headway.lab.bodies.cache_directory", lambda: tmp_path / "cache")


def without_a_segment(video: Path) -> None:
    for file in video.glob("video-*/4.m4s"):
        file.unlink()


def with_a_broken_mpd(video: Path) -> None:
    (video / "video.mpd").write_text("<MPD><Period>", encoding="utf-8")


def without_a_codec(video: Path) -> None:
    file = video / "video.mpd"
    text = file.read_text(encoding="utf-8").replace("avc1.64", "hvc1.64")
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_a_segment, r"/4\.m4s"),
        (with_a_broken_mpd, "dash.js: .*MPD"),
        (without_a_codec, "dash.js: No streams to play"),
    ],
)
def test_what_the_server_lacks_is_told_in_a_line(
    run_setting: RunSetting,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], None],
    message: str,
) -> None:
    broken(monkeypatch, tmp_path, change)
    record: Record = run_setting(setting())
    assert record.status == "failed"
    assert record.error is not None and "\n" not in record.error
    assert re.search(message, record.error)
