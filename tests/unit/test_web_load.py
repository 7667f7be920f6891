"""Reading what a page load's files tell."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.pages.events import BrowserClock, resources_of
from headway.pages.load import PageLoad, read_load
from headway.pages.resource import Resource
from tests.unit.made_loads import ORIGIN_MS, ZERO_S, Recording, answer, told

PAGE, STYLE = "https://a.test/", "https://b.test/s.css"


def read(directory: Path, recording: Recording, **navigation: float) -> PageLoad:
    recording.write(directory, told(**navigation))
    return read_load(directory)


def only(directory: Path, recording: Recording) -> Resource:
    (resource,) = read(directory, recording).resources
    return resource


def test_a_page_with_one_more_resource(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 0.5)
    recording.received("1", 100, mimeType="text/html")
    recording.data("1", 130, 600, 0)
    recording.sent("2", STYLE, 140)
    recording.finished("1", 125, 700)
    recording.received("2", 240, connectionId=8, remoteIPAddress="fd00::2", protocol="h3")
    recording.data("2", 250, 300, 0)
    recording.data("2", 300, 100, 300)
    recording.data("2", 301, 0, 100)
    recording.finished("2", 290, 500)
    load = read(
        tmp_path,
        recording,
        domContentLoadedEventStart=310.0,
        loadEventStart=400.0,
        loadEventEnd=500.0,
    )
    assert load.error is None
    assert load.url == PAGE
    times = load.response_start_ms, load.fcp_ms, load.lcp_ms, load.dcl_ms, load.onload_ms
    assert times == (100, 320, 450, 310, 400)
    assert load.connect_start_ms == 1
    assert load.time_origin_ms == ORIGIN_MS
    assert load.plt_ms == pytest.approx(290)
    page, style = load.resources
    assert (page.url, page.mime_type, page.protocol) == (PAGE, "text/html", "h2")
    assert (page.status, page.priority, page.method) == (200, "High", "GET")
    assert (page.connection_id, page.remote_address) == (7, "10.0.0.1:443")
    assert (style.connection_id, style.remote_address) == (8, "fd00::2:443")
    assert page.started_ms == pytest.approx(0.5)
    # what the network saw, not when the renderer heard of it
    assert page.response_start_ms == pytest.approx(100)
    assert page.ended_ms == pytest.approx(125)
    assert (page.encoded_bytes, page.body_bytes, page.decoded_bytes) == (700, 600, 600)
    assert list(page.chunks[0]) == pytest.approx([125, 600])
    assert [chunk.at_ms for chunk in style.chunks] == pytest.approx([250, 290])
    assert [chunk.encoded_bytes for chunk in style.chunks] == [300, 100]


def test_phases_of_a_request(tmp_path: Path) -> None:
    timing = answer(100)["timing"] | {
        "dnsStart": 1,
        "dnsEnd": 2,
        "connectStart": 2,
        "connectEnd": 8,
        "sslStart": 4,
        "sslEnd": 8,
    }
    recording = Recording()
    recording.sent("1", PAGE, 50)
    recording.received("1", 100, timing=timing)
    phases = only(tmp_path, recording).timing
    assert phases.dns == pytest.approx((61, 62))
    assert phases.connect == pytest.approx((62, 68))
    assert phases.tls == pytest.approx((64, 68))
    assert phases.send == pytest.approx((69, 70))


def test_a_redirect_is_a_resource_of_its_own(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", "https://a.test/old#top", 10)
    moved = answer(60, status=301, headers={"Location": "/new"}, encodedDataLength=130)
    recording.sent("1", "https://a.test/new", 70, redirectResponse=moved)
    recording.received("1", 120)
    recording.finished("1", 150, 300)
    old, new = read(tmp_path, recording).resources
    assert (old.url, old.status, old.body_bytes, old.encoded_bytes) == (
        "https://a.test/old",
        301,
        0,
        130,
    )
    assert old.headers == (("location", "/new"),)
    assert old.ended_ms == pytest.approx(61)
    assert (new.url, new.status, new.body_bytes) == ("https://a.test/new", 200, 200)
    assert new.started_ms == pytest.approx(70)


def test_a_validated_copy_has_the_status_that_the_server_sent(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 10)
    recording.add("responseReceivedExtraInfo", requestId="1", statusCode=304)
    recording.received("1", 60, headers={"content-length": "5000"})
    recording.data("1", 70, 5000, 0)
    recording.finished("1", 65, 100)
    copy = only(tmp_path, recording)
    assert (copy.status, copy.from_cache, copy.from_network) == (304, False, True)
    assert (copy.encoded_bytes, copy.body_bytes, copy.decoded_bytes) == (100, 0, 5000)
    assert copy.chunks == ()


@pytest.mark.parametrize("event", [True, False])
def test_from_the_cache(tmp_path: Path, event: bool) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 10)
    if event:
        recording.add("requestServedFromCache", requestId="1")
    recording.received("1", 60, fromDiskCache=not event, connectionId=0, encodedDataLength=0)
    recording.data("1", 70, 5000, 0)
    recording.finished("1", 65, 0)
    stored = only(tmp_path, recording)
    assert stored.from_cache
    assert not stored.from_network
    assert (stored.connection_id, stored.body_bytes, stored.chunks) == (None, 0, ())


def test_content_that_was_coded_comes_as_its_decoded_form_does(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 10)
    recording.received("1", 60, headers={"Content-Encoding": "br"})
    for at_ms, decoded in ((70, 1000), (80, 2000), (90, 1000)):
        recording.data("1", at_ms, decoded, 0)
    recording.finished("1", 95, 1101)
    coded = only(tmp_path, recording)
    assert (coded.body_bytes, coded.decoded_bytes) == (1001, 4000)
    sizes = [chunk.encoded_bytes for chunk in coded.chunks]
    assert sizes == [250, 500, 251]  # rounded down so far: 250.25, 750.75, 1001


def test_frames_of_http_2_are_no_content(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 10)
    recording.received("1", 60, headers={"Content-Length": "1000"})
    recording.data("1", 70, 1000, 1000)
    recording.finished("1", 75, 1118)
    framed = only(tmp_path, recording)
    assert (framed.encoded_bytes, framed.body_bytes) == (1118, 1000)


def test_what_is_no_http_is_left_out(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", "data:image/gif;base64,R0lGODlhAQABAAAAACw=", 10)
    recording.sent("2", "blob:https://a.test/123", 11)
    recording.sent("3", PAGE, 12)
    assert only(tmp_path, recording).url == PAGE


def test_failed_and_unfinished_requests(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 10)
    recording.add("loadingFailed", 40, requestId="1", errorText="net::ERR_CONNECTION_REFUSED")
    recording.sent("2", STYLE, 20)
    recording.received("2", 60)
    recording.data("2", 70, 500, 400)
    recording.sent("3", PAGE, 30)
    recording.add("loadingFailed", 31, requestId="3", errorText="", blockedReason="csp")
    load = read(tmp_path, recording, loadEventStart=100.0)
    refused, cut, blocked = load.resources
    assert refused.error == "net::ERR_CONNECTION_REFUSED"
    assert refused.ended_ms == pytest.approx(40)
    assert (refused.status, refused.protocol, refused.from_network) == (None, None, False)
    assert blocked.error == "csp"
    assert (cut.ended_ms, cut.error) == (None, None)
    assert (cut.encoded_bytes, cut.body_bytes) == (500, 400)
    assert load.plt_ms is None  # one had not ended


def test_page_load_time_is_of_what_was_requested_before_the_load_event(tmp_path: Path) -> None:
    recording = Recording()
    for request, started_ms, ended_ms in (("1", 0, 90), ("2", 50, 130), ("3", 110, 300)):
        recording.sent(request, PAGE, started_ms)
        recording.finished(request, ended_ms, 0)
    load = read(tmp_path, recording, loadEventStart=100.0)
    assert load.plt_ms == pytest.approx(130)
    assert len(load.page_resources) == 2
    never = read(tmp_path, recording, loadEventStart=0.0)
    assert (never.onload_ms, never.plt_ms) == (None, None)
    assert len(never.page_resources) == 3


def test_frames_in_order_of_time_from_navigation_start(tmp_path: Path) -> None:
    lines = [
        {"at_s": ORIGIN_MS / 1e3 + at_ms / 1e3, "file": f"frames/{number}.png"}
        for number, at_ms in enumerate((-33, 383, 366))
    ]
    (tmp_path / "frames.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    frames = read(tmp_path, Recording()).frames
    assert [frame.file.name for frame in frames] == ["0.png", "2.png", "1.png"]
    assert [frame.at_ms for frame in frames] == pytest.approx([-33, 366, 383], abs=0.01)
    assert frames[0].file.parent == tmp_path / "frames"


def test_a_browser_that_was_killed_leaves_what_there_is(tmp_path: Path) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 10)
    recording.received("1", 60)
    recording.write(tmp_path)
    with (tmp_path / "cdp.jsonl").open("a") as file:
        file.write('{"method": "Network.loadingFini')
    load = read_load(tmp_path)
    assert load.error == "the browser left no load.json"
    assert load.url == PAGE
    assert load.time_origin_ms == pytest.approx(ORIGIN_MS + 10)  # the first request's
    (page,) = load.resources
    assert page.started_ms == 0
    assert page.response_start_ms == pytest.approx(50)
    assert (load.onload_ms, load.plt_ms, load.fcp_ms) == (None, None, None)


def test_nothing_but_an_error(tmp_path: Path) -> None:
    (tmp_path / "load.json").write_text(json.dumps({"error": "no answer", "url": PAGE}))
    load = read_load(tmp_path)
    assert (load.error, load.url, load.resources, load.frames) == ("no answer", PAGE, (), ())
    (tmp_path / "load.json").write_text('{"error": nu')
    assert read_load(tmp_path).error == "the browser left load.json unfinished"


@given(
    st.lists(st.tuples(st.floats(1, 1e4), st.integers(0, 10**6)), min_size=1, max_size=20),
    st.integers(0, 10**7),
    st.floats(1, 1e4),
)
def test_chunks_add_up_and_none_comes_after_the_end(
    data: list[tuple[float, int]], body: int, ended_ms: float
) -> None:
    recording = Recording()
    recording.sent("1", PAGE, 0)
    recording.received("1", 50)
    for at_ms, decoded in sorted(data):
        recording.data("1", at_ms, decoded, 0)
    recording.finished("1", ended_ms, 100 + body)
    (page,) = resources_of(recording.events, BrowserClock(ZERO_S, ORIGIN_MS))
    assert sum(chunk.encoded_bytes for chunk in page.chunks) == page.body_bytes == body
    assert all(chunk.encoded_bytes > 0 for chunk in page.chunks)
    assert all(chunk.at_ms <= ended_ms + 1e-6 for chunk in page.chunks)
    assert list(page.chunks) == sorted(page.chunks, key=lambda chunk: chunk.at_ms)
