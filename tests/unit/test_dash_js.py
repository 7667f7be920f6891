"""dash.js: how it is set, and what is made of what its page tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.contract.outcome import Ended
from headway.errors import WrongInputError
from headway.guest.loadfiles import LOAD_FILE, SESSION_FILE
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.measurement import Measurement, PlayedStall
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from headway.videos.content import Content
from tests.deployed import flow_of

ADDRESS = "10.0.2.2"
OK = Ended("dash.js", 0, 10**9)


def setting(
    program: str = "dash.js", workload: dict[str, Any] | None = None, **keys: Any
) -> Setting:
    video = {"kind": "video", "duration": "60 s", **(workload or {})}
    client = {"program": program, "knobs": keys.pop("knobs", {})}
    raw = {"protocol": "h2", "client": client, "workload": video}
    return Setting.model_validate(raw | keys)


def settings_of(of: Setting) -> dict[str, Any]:
    """What is not as dash.js ships."""
    (text,) = CLIENTS[of.client.program].start(flow_of(of, ADDRESS)).files.values()
    settings: dict[str, Any] = json.loads(text)["player"]["settings"]["streaming"]
    return settings


def test_one_rule_alone_decides_unless_it_is_dynamic() -> None:
    bola = settings_of(setting(workload={"rule": "bola"}))
    active = {name for name, rule in bola["abr"]["rules"].items() if rule["active"]}
    assert active == {"bolaRule"}
    assert not bola["buffer"]["fastSwitchEnabled"]
    older = settings_of(setting("dash.js-4.2.1", {"rule": "bola"}))["abr"]
    assert older["ABRStrategy"] == "abrBola"
    assert set(older["additionalAbrRules"].values()) == {False}
    assert "abr" not in settings_of(setting(workload={"rule": "dynamic"}))


def test_one_of_the_rules_may_have_no_say() -> None:
    without = {"knobs": {"without": "switchHistoryRule"}}
    dynamic = {"rule": "dynamic"}
    newer = settings_of(setting(workload=dynamic, **without))
    assert newer["abr"] == {"rules": {"switchHistoryRule": {"active": False}}}
    older = settings_of(setting("dash.js-4.2.1", dynamic, **without))
    assert older["abr"] == {"additionalAbrRules": {"switchHistoryRule": False}}
    with pytest.raises(WrongInputError, match=r"knobs\.without: rule bola is alone"):
        check_programs(deploy(setting(workload={"rule": "bola"}, **without)))


def test_the_buffer_is_the_workloads_or_its_own() -> None:
    assert settings_of(setting())["buffer"]["bufferTimeDefault"] == 30
    own = settings_of(setting(knobs={"buffers": "own"}, workload={"rule": "dynamic"}))
    assert own["buffer"] == {}


@pytest.mark.parametrize(("program", "mode"), [("dash.js", "headers"), ("dash.js-4.2.1", "header")])
def test_each_version_has_its_own_name_for_cmcd_in_header_fields(program: str, mode: str) -> None:
    assert settings_of(setting(program, {"cmcd": True}))["cmcd"]["mode"] == mode
    assert "cmcd" not in settings_of(setting(program))


def test_a_fixed_quality_is_the_one_that_was_asked_for() -> None:
    for rule, kbit_s in {"lowest": 255, "highest": 14932}.items():
        abr = settings_of(setting(workload={"rule": rule}))["abr"]
        assert abr["initialBitrate"] == {"video": kbit_s}
        assert abr["autoSwitchBitrate"] == {"video": False}


def test_a_player_that_decodes_nothing_may_have_any_picture() -> None:
    check_programs(
        deploy(setting("headway-client", {"ladder": ["1 kbit/s"], "resolutions": ["853x480"]}))
    )


def test_the_page_comes_from_the_servers_origin_and_the_video_from_its_place() -> None:
    of = setting()
    (text,) = CLIENTS["dash.js"].start(flow_of(of, ADDRESS)).files.values()
    player = json.loads(text)["player"]
    place = Content.of(of.workload).place  # type: ignore[arg-type]
    assert player["mpd"] == f"https://server.test/{place}/video.mpd"
    assert player["url"].startswith("https://server.test/")
    assert player["rungs"] == [f"video-{rung}" for rung in range(10)]


def told(
    *events: dict[str, Any], directory: Path, error: str | None = None, of: Setting | None = None
) -> Measurement:
    """What the adapter makes of what the page told."""
    lines = "".join(json.dumps(event) + "\n" for event in events)
    (directory / SESSION_FILE).write_text(lines)
    (directory / LOAD_FILE).write_text(json.dumps({"error": error, "url": ""}))
    return CLIENTS["dash.js"].measure(flow_of(of or setting()), directory, OK)


def segment(number: int, rung: int, asked_ms: float, came_ms: float) -> list[dict[str, Any]]:
    of = {"rung": rung, "number": number, "url": f"https://server.test/{rung}/{number}"}
    timing = {
        "start_ms": asked_ms,
        "end_ms": came_ms,
        "bytes": 500_000,
        "protocol": "h2",
        "is_cached": False,
    }
    marks = {"connect_ms": 20.0, "secured_ms": 40.0, "first_byte_ms": asked_ms + 50}
    return [
        {"what": "request", "at_ms": asked_ms, "buffer_s": 1.0 * number, **of},
        {"what": "loaded", "at_ms": came_ms, "error": None, **of},
        {"what": "resource", "at_ms": came_ms, "url": of["url"], **timing, **marks},
    ]


BEGIN = {"what": "begin", "at_ms": 0.1, "version": "5.2.1", "unix_ms": 1_767_225_601_000.0}
WAITING = {"what": "waiting", "place_s": 0}
PLAYING = {"what": "playing", "place_s": 0}


LIVE = {"live": {"chunk": "1 s", "latency": "2 s"}, "segment": "2 s", "duration": "60 s"}


def test_live_video_has_its_source_in_the_mpds_path() -> None:
    of = setting(workload=LIVE | {"rule": "lol+"}, server={"program": "headway-server"})
    (text,) = CLIENTS["dash.js"].start(flow_of(of, ADDRESS)).files.values()
    player = json.loads(text)["player"]
    source = "live/begins=BEGINS&segment=2.000000000&chunk=1.000000000"
    place = Content.of(of.workload).place  # type: ignore[arg-type]
    assert player["mpd"] == f"https://server.test/{source}/{place}/video.mpd"
    # The viewer joins within a segment.
    assert 2 <= player["behind_s"] < 4
    streaming = player["settings"]["streaming"]
    assert streaming["delay"] == {"liveDelay": 2}
    assert streaming["liveCatchup"]["mode"] == "liveCatchupModeLoLP"
    assert streaming["abr"]["rules"]["loLPRule"] == {"active": True}


def test_a_live_session_has_the_moments_of_chunks_and_changes_of_its_rate(tmp_path: Path) -> None:
    (asked, loaded, resource) = segment(0, 2, 100.0, 2100.0)
    chunks = [
        {"what": "chunk", "at_ms": at_ms, "url": asked["url"], "bytes": 250_000}
        for at_ms in (1100.0, 2099.0)
    ]
    end = {"what": "end", "at_ms": 5000.0, "why": "left", "played_s": 3.0}
    found = told(
        *(BEGIN | {"source_ms": -2500.0}, WAITING | {"at_ms": 10, "rate": 1}, asked, chunks[0]),
        PLAYING | {"at_ms": 1101, "place_s": 1.5, "rate": 1.04},
        *(chunks[1], loaded, resource),
        {"what": "ratechange", "at_ms": 2101, "place_s": 2.54, "rate": 1.0},
        *(WAITING | {"at_ms": 3000, "place_s": 3.439}, end),
        {"what": "ratechange", "at_ms": 3100, "place_s": 3.439, "rate": 1.04},
        directory=tmp_path,
        of=setting(workload=LIVE),
    )
    assert found.video is not None and found.video.source_s == -2.5
    (only,) = found.video.segments
    assert only.chunks_s == pytest.approx((1.1, 2.099))
    paces = [(one.at_s, one.latency_s, one.rate) for one in found.video.paces]
    assert paces == [
        pytest.approx((1.101, 2.101, 1.04)),
        pytest.approx((2.101, 2.061, 1.0)),
        pytest.approx((3.0, 2.061, 0.0)),
    ]


def test_a_session_is_what_the_page_told(tmp_path: Path) -> None:
    end = {"what": "end", "at_ms": 20_000.0, "why": "ended", "played_s": 8.0}
    found = told(
        *(BEGIN, WAITING | {"at_ms": 10}),
        *segment(0, 2, 100.0, 1100.0),
        PLAYING | {"at_ms": 1101},
        *segment(1, 3, 1100.0, 7100.0),
        *(WAITING | {"at_ms": 5100}, PLAYING | {"at_ms": 7110}, end),
        directory=tmp_path,
    )
    assert found.error is None and found.video is not None
    assert found.began_unix_s == 1_767_225_601
    assert found.video.stalls == (PlayedStall(pytest.approx(5.1), pytest.approx(2.01)),)
    assert [one.first_byte_s for one in found.video.segments] == pytest.approx([0.15, 1.15])
    assert (found.connect_s, found.tls_s, found.ttfb_s) == (0.02, 0.04, 0.15)
    assert found.total_s == pytest.approx(7.1) and found.bytes == 1_000_000
    assert (found.video.start_s, found.video.end_s, found.video.played_s) == (1.101, 20, 8)
    assert [one.rung for one in found.video.segments] == [2, 3]
    assert [one.mbit for one in found.video.segments] == pytest.approx([4, 4 / 6])


def test_all_that_came_counts_as_received(tmp_path: Path) -> None:
    end = {"what": "end", "at_ms": 9000.0, "why": "left", "played_s": 4.0}
    more = [
        {
            "what": "resource",
            "is_cached": False,
            "url": f"https://server.test/{name}",
            "protocol": "h2",
            "bytes": size,
            "end_ms": end_ms,
        }
        for name, size, end_ms in (
            ("video.mpd", 1000, 50.0),
            ("audio/1.m4s", 30_000, 1500.0),
            ("9/2.m4s", 7, 1400.0),
        )
    ]
    found = told(*segment(0, 0, 0.0, 1000.0), *more, end, directory=tmp_path)
    assert (found.bytes, found.total_s) == (531_007, 1.5)


def test_a_stall_may_last_to_the_end(tmp_path: Path) -> None:
    end = {"what": "end", "at_ms": 9000.0, "why": "left", "played_s": 4.0}
    found = told(
        *segment(0, 0, 0.0, 1000.0),
        *(PLAYING | {"at_ms": 1000}, WAITING | {"at_ms": 5000}, end),
        directory=tmp_path,
    )
    assert found.video is not None and len(found.video.segments) == 1
    assert found.error is None


@pytest.mark.parametrize(
    ("events", "error", "message"),
    [
        ([BEGIN, {"what": "end", "at_ms": 5.0, "why": "error", "error": "no MPD", "code": 25}], None,
         "dash.js: no MPD"),
        ([BEGIN], None, "dash.js: it did not tell of the session's end"),
        (segment(0, 0, 0.0, 1000.0), "the browser is gone (killed by SIGKILL)",
         "dash.js: the browser is gone (killed by SIGKILL) (1 segments had come by then, the last at 1.000 s)"),
        ([{"what": "resource", "url": "https://server.test/a", "protocol": "http/1.1"},
          {"what": "end", "at_ms": 5.0, "why": "left", "played_s": 0}], None,
         "dash.js: https://server.test/a was loaded over http/1.1 instead of h2"),
        # With CMCD in the query, the browser has another URL than the player.
        ([*segment(0, 0, 0.0, 1000.0)[:2],
          {"what": "end", "at_ms": 2000.0, "why": "left", "played_s": 0}], None,
         "dash.js: the browser did not tell when https://server.test/0/0 came"
         " (1 segments had come by then, the last at 1.000 s)"),
        ([segment(0, 0, 0.0, 1000.0)[1],
          {"what": "end", "at_ms": 2000.0, "why": "left", "played_s": 0}], None,
         "dash.js: it did not tell when it asked for https://server.test/0/0"
         " (1 segments had come by then, the last at 1.000 s)"),
    ],
)  # fmt: skip
def test_what_went_wrong_is_one_line(
    tmp_path: Path, events: list[dict[str, Any]], error: str | None, message: str
) -> None:
    assert told(*events, directory=tmp_path, error=error).error == message


def test_without_files_nothing_was_reported(tmp_path: Path) -> None:
    measured = CLIENTS["dash.js"].measure(flow_of(setting()), tmp_path, OK)
    assert measured.error == "dash.js reported nothing about the video"


def test_what_the_browser_had_in_its_cache_was_not_loaded(tmp_path: Path) -> None:
    end = {"what": "end", "at_ms": 20_000.0, "why": "ended", "played_s": 8.0}
    again = segment(0, 2, 3000.0, 3001.0)
    again[-1]["is_cached"] = True
    found = told(BEGIN, *segment(0, 2, 100.0, 1100.0), *again, end, directory=tmp_path)
    assert found.bytes == 500_000
    assert found.video is not None and len(found.video.segments) == 2
