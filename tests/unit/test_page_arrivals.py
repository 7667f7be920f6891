"""When a page's content came: at the times at which the path carried it, as late as the browser allows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headway.pages.arrivals import Carried, with_arrivals
from headway.pages.load import PageLoad, read_load
from headway.pages.resource import Chunk
from headway.report.chosen import ChosenRun
from headway.report.evidence import evidence_of
from tests.unit.made_loads import Recording, load, resource, told
from tests.unit.made_samples import rows_of, transfer, write_samples


def steady(until_ms: int, rate: int, step_ms: int = 10) -> Carried:
    """A path that carries so many bytes in each millisecond."""
    return [(float(at), float(at * rate)) for at in range(0, until_ms + 1, step_ms)]


def came(of: PageLoad, place: int, until_ms: float) -> int:
    return sum(one.encoded_bytes for one in of.resources[place].chunks if one.at_ms <= until_ms)


def test_what_is_told_at_its_end_came_while_the_path_carried_it() -> None:
    """A font of 80 kB is told at its end; between, a script of 10 kB came when it was told."""
    font = resource(response_start_ms=100.0, ended_ms=1000.0, body_bytes=80_000)
    chunks = tuple(Chunk(500.0 + 10 * n, 1000) for n in range(1, 11))
    script = resource(response_start_ms=500.0, ended_ms=600.0, body_bytes=10_000, chunks=chunks)
    shown = with_arrivals(load(font, script), steady(1000, 100)[10:])
    assert [came(shown, 0, at) for at in (100, 500, 600, 800, 1000)] == [
        0,
        40_000,
        40_000,
        60_000,
        80_000,
    ]
    assert [came(shown, 1, at) for at in (500, 550, 600)] == [0, 5_000, 10_000]


def test_headers_are_not_content() -> None:
    """The path carries a quarter more than the content."""
    shown = with_arrivals(
        load(resource(response_start_ms=0.0, ended_ms=1000.0, body_bytes=80_000)), steady(1000, 100)
    )
    assert came(shown, 0, 500) == 40_000


def test_what_the_path_carried_after_the_last_content_counts_for_nothing() -> None:
    page = load(resource(response_start_ms=0.0, ended_ms=500.0, body_bytes=50_000))
    assert with_arrivals(page, steady(9000, 100)) == with_arrivals(page, steady(500, 100))


def test_a_load_of_which_nothing_was_sampled_stays_as_it_is() -> None:
    page = load(resource(), resource(body_bytes=0, chunks=()))
    for carried in ((), [(0.0, 5.0)], [(0.0, 0.0), (300.0, 0.0)]):
        assert with_arrivals(page, carried) is page
    assert with_arrivals(load(), steady(100, 1)) == load()


def test_shown_loads_have_their_content_when_the_path_carried_it(tmp_path: Path) -> None:
    """A font that is told at 900 ms; a packet in each 100 ms, of which the load began after two."""
    directory = tmp_path / "artifacts" / "r"
    directory.mkdir(parents=True)
    recording = Recording()
    recording.sent("1", "https://a.test/f.ttf", 10.0)
    recording.received("1", 100.0)
    recording.data("1", 900.0, 8000, 8000)
    recording.finished("1", 900.0, 8100)
    recording.write(directory, told())
    asked = ChosenRun("r", "h2", "", "", "")
    (bare,) = evidence_of(tmp_path, [asked]).pages
    assert bare.load == read_load(directory)
    assert [came(bare.load, 0, at) for at in (501, 899, 901)] == [0, 0, 8000]
    write_samples(directory, rows_of([0, 0, 0, 0, *range(1, 9), 8, 8]))
    replace(transfer(), began_s=0.2).save(directory)
    (story,) = evidence_of(tmp_path, [asked]).pages
    assert [came(story.load, 0, at) for at in (101, 501, 901)] == [0, 4000, 8000]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 900), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 9000)))
        ),
        max_size=6,
    ),
    st.lists(st.integers(0, 20_000), min_size=1, max_size=40),
)
def test_every_byte_comes_once_not_before_its_response_nor_after_it_was_told(
    resources: list[tuple[int, list[tuple[int, int]]]], amounts: list[int]
) -> None:
    page = load(
        *(
            resource(
                response_start_ms=float(begun),
                ended_ms=1500.0,
                body_bytes=sum(count for _, count in told_at),
                chunks=tuple(
                    Chunk(float(begun + later), count) for later, count in sorted(told_at)
                ),
            )
            for begun, told_at in resources
        )
    )
    carried = [(30.0 * n, float(sum(amounts[:n]))) for n in range(len(amounts) + 1)]
    for before, after in zip(page.resources, with_arrivals(page, carried).resources, strict=True):
        assert sum(one.encoded_bytes for one in after.chunks) == before.body_bytes
        assert all(one.at_ms >= (before.response_start_ms or 0.0) for one in after.chunks)
        assert list(after.chunks) == sorted(after.chunks)
        for at_ms in range(0, 1501, 50):
            earlier = sum(one.encoded_bytes for one in before.chunks if one.at_ms <= at_ms)
            assert sum(one.encoded_bytes for one in after.chunks if one.at_ms <= at_ms) >= earlier
