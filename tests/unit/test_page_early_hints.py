"""What came by Early Hints: the browser tells of it as of its cache, and it counts as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.pages.critical import last_before_paint
from headway.pages.load import PageLoad, read_load
from headway.pages.traffic import Amount, traffic_of
from tests.unit.made_loads import ORIGIN_MS, Recording, told

PAGE, SCRIPT, OTHER = "https://a.test/", "https://a.test/a.js", "https://b.test/b.css"
HINTS_MS, DOCUMENT_MS, ASKED_MS = 100.0, 280.0, 290.0
SIZE = 3000
LINKS = f"<{SCRIPT}>; rel=preload; as=script\n</x.png>; rel=icon, <{OTHER}>; as=style; rel=preload"


def hinted(protocol: str = "h2", links: str = LINKS) -> Recording:
    """A document of 500 bytes after its Early Hints."""
    recording = Recording()
    recording.sent("1", PAGE, 0)
    recording.add("responseReceivedEarlyHints", requestId="1", headers={"link": links})
    recording.received("1", HINTS_MS, protocol=protocol)
    recording.data("1", DOCUMENT_MS, 500, 500)
    recording.finished("1", DOCUMENT_MS, 600)
    return recording


def handed(came_ms: float, from_disk: bool = True) -> dict[str, Any]:
    """A response that the browser has by Early Hints."""
    headers = {"content-length": str(SIZE)}
    return {
        "fromEarlyHints": True,
        "fromDiskCache": from_disk,
        "responseTime": ORIGIN_MS + came_ms,
        "connectionId": 0,
        "encodedDataLength": 0,
        "headers": headers,
    }


def read(directory: Path, recording: Recording, cached: bool = False) -> PageLoad:
    recording.write(directory, told(loadEventStart=1000.0) | {"cached": cached})
    return read_load(directory)


def asked(recording: Recording, url: str, had_ms: float, response: dict[str, Any]) -> None:
    """The page asks for it, and has it then without a byte of the network."""
    recording.sent("2", url, ASKED_MS, renderBlockingBehavior="Blocking")
    recording.received("2", had_ms, **response)
    recording.data("2", had_ms, SIZE, 0)
    recording.finished("2", had_ms, 0)


def test_what_was_there_before_the_document_is_an_object_of_the_page(tmp_path: Path) -> None:
    recording = hinted()
    asked(recording, SCRIPT, ASKED_MS + 1, handed(180))
    load = read(tmp_path, recording)
    traffic = traffic_of(load)
    assert traffic.total == Amount(2, 500 + SIZE)
    assert (traffic.cached, traffic.by_protocol) == (0, {"h2": Amount(2, 500 + SIZE)})
    assert (traffic.connections, traffic.largest_object_share) == (1, 1.0)
    early = load.resources[1]
    assert (early.initiator_type, early.initiator_url) == ("early-hints", PAGE)
    assert (early.started_ms, early.response_start_ms) == pytest.approx((HINTS_MS, 180))
    # The page did not wait for it, but for its document.
    assert early.ended_ms == pytest.approx(DOCUMENT_MS)
    assert last_before_paint(load) is load.resources[0]


@pytest.mark.parametrize("from_disk", [True, False])
def test_what_was_still_on_its_way_ends_when_the_page_has_it(
    tmp_path: Path, from_disk: bool
) -> None:
    recording = hinted()
    asked(recording, SCRIPT, 600, handed(560, from_disk))
    load = read(tmp_path, recording)
    assert traffic_of(load).total == Amount(2, 500 + SIZE)
    assert load.resources[1].ended_ms == pytest.approx(600)
    assert sum(chunk.encoded_bytes for chunk in load.resources[1].chunks) == SIZE


def test_a_host_of_which_all_came_early_has_a_connection(tmp_path: Path) -> None:
    recording = hinted()
    asked(recording, OTHER, ASKED_MS + 1, handed(180))
    assert traffic_of(read(tmp_path, recording)).connections == 2


def test_what_an_earlier_load_left_in_the_cache_is_not_fetched(tmp_path: Path) -> None:
    recording = hinted()
    asked(recording, SCRIPT, ASKED_MS + 1, handed(-5000))
    traffic = traffic_of(read(tmp_path, recording))
    assert (traffic.total, traffic.cached) == (Amount(1, 500), 1)


@pytest.mark.parametrize(("status", "cached"), [(200, False), (304, False), (304, True)])
def test_what_could_not_be_kept_was_fetched_before_too(
    tmp_path: Path, status: int, cached: bool
) -> None:
    """An earlier visit's copy is validated both times."""
    recording = hinted()
    recording.sent("2", SCRIPT, ASKED_MS)
    recording.add("responseReceivedExtraInfo", requestId="2", statusCode=status)
    recording.received("2", 500, headers={"content-length": str(SIZE)})
    recording.data("2", 500, SIZE, 0)
    recording.finished("2", 500, 100 if status == 304 else 100 + SIZE)
    load = read(tmp_path, recording, cached)
    early_bytes = 0 if cached else SIZE
    again_bytes = 0 if status == 304 else SIZE
    assert traffic_of(load).total == Amount(3, 500 + early_bytes + again_bytes)
    assert [resource.status for resource in load.resources] == [200, 304 if cached else 200, status]
    assert [resource.initiator_type for resource in load.resources[1:]] == ["early-hints", ""]


@pytest.mark.parametrize(
    ("protocol", "links"), [("http/1.1", LINKS), ("h2", f"<{SCRIPT}>; rel=preconnect")]
)
def test_what_browsers_do_not_follow_fetches_nothing(
    tmp_path: Path, protocol: str, links: str
) -> None:
    recording = hinted(protocol, links)
    recording.sent("2", SCRIPT, ASKED_MS)
    recording.received("2", 500, protocol=protocol)
    recording.finished("2", 500, 100 + SIZE)
    assert traffic_of(read(tmp_path, recording)).total.objects == 2
