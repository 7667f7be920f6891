"""Metrics of a page load, by hand."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.pages.byteindex import byte_index_ms
from headway.pages.load import Chunk
from headway.pages.load_check import protocol_error
from headway.pages.metrics import page_metrics
from headway.pages.traffic import Amount, traffic_of
from tests.unit.made_frames import save_frames, striped
from tests.unit.made_loads import load, resource


def test_byte_index_is_the_area_above_the_curve_of_bytes() -> None:
    chunks = Chunk(100, 250), Chunk(300, 750)
    # all is missing for 100 ms, three quarters for 200 ms
    assert byte_index_ms(load(resource(body_bytes=1000, chunks=chunks))) == 250


def test_byte_index_counts_what_the_page_took_from_the_network() -> None:
    late = resource(started_ms=1001, ended_ms=9000)
    cached = resource(from_cache=True, ended_ms=50)
    assert byte_index_ms(load(resource(ended_ms=200), resource(ended_ms=400), late, cached)) == 300
    assert byte_index_ms(load(late, onload_ms=None)) == 9000
    assert byte_index_ms(load(cached)) is None
    assert byte_index_ms(load()) is None


@given(st.lists(st.tuples(st.floats(0, 1e5), st.integers(1, 10**6)), min_size=1, max_size=30))
def test_byte_index_is_an_integral(arrivals: list[tuple[float, int]]) -> None:
    chunks = tuple(Chunk(*arrival) for arrival in sorted(arrivals))
    total = sum(chunk.encoded_bytes for chunk in chunks)
    area, missing, since_ms = 0.0, total, 0.0
    for chunk in chunks:
        area += (chunk.at_ms - since_ms) * missing / total
        missing -= chunk.encoded_bytes
        since_ms = chunk.at_ms
    index_ms = byte_index_ms(load(resource(body_bytes=total, chunks=chunks)))
    assert index_ms == pytest.approx(area)


def test_traffic_of_two_connections_and_three_hosts() -> None:
    seen = traffic_of(
        load(
            resource("https://a.test/", body_bytes=100),
            resource("https://a.test/1", body_bytes=200, status=404),
            resource("https://b.test/2", body_bytes=0, status=304),
            resource("https://c.test/3", body_bytes=700, connection_id=9, protocol="h3"),
            resource("https://d.test/4", from_cache=True, connection_id=None),
            resource("https://e.test/5", status=None, protocol=None, connection_id=None),
            resource("https://f.test/6", started_ms=2000),
        )
    )
    assert seen.total == Amount(4, 1000)
    assert seen.cached == 1
    assert (seen.connections, seen.domains) == (2, 3)
    assert seen.by_protocol == {"h2": Amount(3, 300), "h3": Amount(1, 700)}
    assert seen.by_connection == {7: Amount(3, 300), 9: Amount(1, 700)}
    assert seen.largest_object_share == 0.75
    assert seen.largest_byte_share == 0.7


def test_no_traffic_has_no_shares() -> None:
    seen = traffic_of(load())
    assert (seen.total, seen.connections, seen.domains) == (Amount(0, 0), 0, 0)
    assert (seen.largest_object_share, seen.largest_byte_share) == (None, None)


def test_protocol_error_names_the_first_resource_over_another_protocol() -> None:
    good, other = resource("https://a.test/"), resource("https://b.test/i.png", protocol="http/1.1")
    assert protocol_error(load(good), "h2") is None
    assert protocol_error(load(good, other, other), "h2") == (
        "https://b.test/i.png was loaded over http/1.1 instead of h2"
    )
    assert protocol_error(load(other), "h1") is None
    assert protocol_error(load(good), "h3") == "https://a.test/ was loaded over h2 instead of h3"
    unknown = resource("https://a.test/", protocol=None)
    assert protocol_error(load(unknown), "h3") == (
        "https://a.test/ was loaded over an unknown protocol instead of h3"
    )


def test_protocol_of_what_no_server_answered_does_not_count() -> None:
    cached = resource(protocol="http/1.1", from_cache=True)
    refused = resource(protocol=None, status=None)
    assert protocol_error(load(cached, refused), "h2") is None


@pytest.mark.parametrize("more", [{"status": 304}, {"status": 404}, {"started_ms": 5000.0}])
def test_protocol_of_every_answer_counts(more: dict[str, Any]) -> None:
    assert protocol_error(load(resource(protocol="http/1.1", **more)), "h2") is not None


def test_all_metrics_of_a_load(tmp_path: Path) -> None:
    frames = save_frames(tmp_path, [(500, striped(0)), (1000, striped(10)), (2000, striped(20))])
    metrics = page_metrics(load(resource(), resource(connection_id=8), frames=frames))
    assert metrics.connect_start_s == 0.001
    assert metrics.response_start_s == 0.1
    assert metrics.fcp_s == 0.32
    assert metrics.lcp_s == 0.45
    assert metrics.dcl_s == 0.7
    assert metrics.onload_s == 1
    assert metrics.plt_s == 0.99
    assert metrics.speed_index_s == 1.5
    assert (metrics.fvc_s, metrics.lvc_s) == (1, 2)
    assert (metrics.vc85_s, metrics.vc95_s, metrics.vc99_s) == (2, 2, 2)
    assert metrics.byte_index_s == 0.2
    assert (metrics.objects, metrics.connections, metrics.domains) == (2, 2, 1)
    assert metrics.page_bytes == 2000
    assert metrics.largest_share == metrics.largest_byte_share == 0.5
    assert metrics.visual_problem is None


def test_a_load_that_failed_has_the_metrics_that_it_came_to() -> None:
    nothing = dict.fromkeys(("fcp_ms", "lcp_ms", "dcl_ms", "onload_ms", "plt_ms"))
    metrics = page_metrics(load(resource(), error="given up", **nothing))
    assert metrics.response_start_s == 0.1
    assert metrics.objects == 1
    assert metrics.byte_index_s == 0.2
    missing = metrics.fcp_s, metrics.lcp_s, metrics.dcl_s, metrics.onload_s, metrics.plt_s
    assert set(missing) == {None}
    visual = metrics.speed_index_s, metrics.vc85_s, metrics.vc95_s, metrics.vc99_s
    assert set(visual) == {None}
    assert metrics.visual_problem == "no frame was recorded"
