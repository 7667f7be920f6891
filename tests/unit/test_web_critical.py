"""Critical paths of page loads: what the browser had to have before it asked for what came last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.analysis import analyse
from headway.instruments.waterfalls.blocking import blocking_sentences
from headway.instruments.waterfalls.concurrent_resources import came_beside
from headway.instruments.waterfalls.tables import critical_means, critical_table
from headway.pages.critical import PHASES, critical_path, last_before_load, last_before_paint
from headway.pages.load import PageLoad, Resource, Timing, read_load
from headway.pages.metrics import page_metrics
from headway.pages.resource import Chunk, RequestPhase
from tests.unit import made_results as made
from tests.unit.made_loads import Recording, load, resource, told
from tests.unit.test_report_pages import story

PAGE = "https://a.test/"


def asked(name: str, started_ms: float, ended_ms: float, by: str = PAGE, **more: Any) -> Resource:
    """A resource that the parser found, sent 10 ms after the browser asked, its first byte 20 ms early."""
    values = {
        "mime_type": "text/javascript" if name.endswith(".js") else "image/png",
        "initiator_type": "parser",
        "initiator_url": by,
        "timing": Timing(send=RequestPhase(started_ms + 10, started_ms + 10)),
        "response_start_ms": ended_ms - 20,
        **more,
    }
    return resource(f"{PAGE}{name}", started_ms=started_ms, ended_ms=ended_ms, **values)


def page(*resources: Resource, **more: Any) -> PageLoad:
    """A page of which the document takes 30 ms to connect and is there after 100."""
    document = resource(
        PAGE,
        mime_type="text/html",
        initiator_type="other",
        timing=Timing(connect=RequestPhase(0.0, 30.0), send=RequestPhase(30.0, 30.0)),
        response_start_ms=80.0,
        ended_ms=100.0,
    )
    return load(document, *resources, **more)


def names(of: PageLoad, last: Resource | None) -> list[str]:
    assert last is not None
    return [step.resource.url.removeprefix(PAGE) for step in critical_path(of, last)]


def test_a_chain_goes_by_initiators() -> None:
    """A script that a script asks for, and beside it an image that comes earlier."""
    first = asked("a.js", 100, 300)
    second = asked("b.js", 320, 600, by=first.url, initiator_type="script")
    shown = page(first, asked("c.png", 100, 500), second, onload_ms=610.0)
    last = last_before_load(shown)
    assert names(shown, last) == ["", "a.js", "b.js"]
    document, script, called = critical_path(shown, second)
    assert document.phases == (0, 0, 30, 50, 20)
    assert script.phases == (0, 10, 0, 170, 20)
    assert called.phases == (20, 10, 0, 250, 20)


def test_steps_are_one_after_the_other_without_gaps() -> None:
    shown = page(asked("a.js", 90, 300), asked("b.png", 300, 900))
    steps = critical_path(shown, shown.resources[-1])
    assert [(step.from_ms, step.until_ms) for step in steps] == [(0, 90), (90, 300), (300, 900)]
    for step in steps:
        assert len(step.phases) == len(PHASES)
        assert sum(step.phases) == pytest.approx(step.until_ms - step.from_ms)


def test_the_parser_waits_for_scripts_but_not_for_images() -> None:
    """Its tag is in the document, which is long there, when the script has come."""
    shown = page(asked("a.js", 100, 400), asked("b.png", 100, 405), asked("c.png", 406, 700))
    *_, last = critical_path(shown, shown.resources[-1])
    assert last.waited
    assert names(shown, shown.resources[-1]) == ["", "a.js", "c.png"]
    # The preload scanner finds it at once: nobody waits for the script.
    early = page(asked("a.js", 100, 400), asked("c.png", 101, 700))
    assert names(early, early.resources[-1]) == ["", "c.png"]


def test_the_first_paint_waits_for_what_blocks_rendering() -> None:
    blocking = asked("a.css", 100, 290, mime_type="text/css", render_blocking="Blocking")
    other = asked("b.js", 100, 310, render_blocking="PotentiallyBlocking")
    shown = page(blocking, other, fcp_ms=320.0)
    assert last_before_paint(shown) is blocking
    (said,) = blocking_sentences([story(shown)])
    assert said == (
        "h2: 1 resource blocked rendering (a.css). The last to come was a.css (1 kB), asked for after "
        "0.100 s and there after 0.290 s; nothing else came meanwhile. First paint after 0.320 s."
    )
    assert blocking_sentences([story(page(other))]) == (
        "h2: no resource but the page itself blocked rendering. The page (1 kB) was there after "
        "0.100 s; nothing else came meanwhile. First paint after 0.320 s, 0.220 s after "
        "that: by then b.js had come, too.",
    )


def test_what_shared_the_path_with_what_blocked_is_named() -> None:
    """Of what came before it was asked for, or after it had come, nothing counts; small ones are counted together."""
    chunks = (Chunk(50, 90_000), Chunk(150, 200_000), Chunk(200, 110_000), Chunk(201, 400_000))
    font = asked("shop.ttf", 20, 300, mime_type="font/ttf", body_bytes=800_000, chunks=chunks)
    small = [asked(f"{n}.png", 90, 180, body_bytes=2_000) for n in range(3)]
    blocking = asked("last.js", 100, 200, render_blocking="Blocking")
    shown = page(font, *small, blocking, fcp_ms=210.0)
    assert [one.content_bytes for one in came_beside(shown, blocking)] == [
        310_000,
        2000,
        2000,
        2000,
    ]
    (said,) = blocking_sentences([story(shown)])
    assert (
        "there after 0.200 s; meanwhile 310 kB of shop.ttf and 6 kB of 3 other resources came"
        in said
    )


def test_the_table_adds_up_to_the_milestones() -> None:
    shown = page(asked("a.js", 100, 400), asked("c.png", 406, 700), onload_ms=705.0)
    table = critical_table([story(shown)])
    sums = [row for group in table.rows for row in group if row[2] == "all"]
    assert [row[1] for row in sums] == ["FCP", "onLoad"]
    whole = [0.0 if text == "–" else float(text) for text in sums[1][5:-1]]
    assert sum(whole) == 705
    assert sums[1][-1] == "705"


def test_a_load_that_got_nothing_has_no_path() -> None:
    nothing = load(fcp_ms=None, onload_ms=None)
    assert (last_before_paint(nothing), last_before_load(nothing)) == (None, None)
    assert critical_table([story(nothing)]).rows == ()
    assert blocking_sentences([story(nothing)]) == ()


@pytest.mark.parametrize(
    ("initiator", "found"),
    [
        ({"type": "parser", "url": f"{PAGE}#x"}, ("parser", PAGE)),
        (
            {"type": "script", "stack": {"callFrames": [{"url": ""}, {"url": f"{PAGE}a.js"}]}},
            ("script", f"{PAGE}a.js"),
        ),
        ({"type": "other"}, ("other", None)),
        (None, ("", None)),
    ],
)
def test_initiators_are_read_as_the_browser_tells_them(
    tmp_path: Path, initiator: dict[str, Any] | None, found: tuple[str, str | None]
) -> None:
    recording = Recording()
    more = {"initiator": initiator} if initiator else {}
    recording.sent("1", PAGE, 0.0, renderBlockingBehavior="Blocking", **more)
    recording.write(tmp_path, told())
    (one,) = read_load(tmp_path).resources
    assert (one.initiator_type, one.initiator_url) == found
    assert one.render_blocking == "Blocking"


def test_the_phases_of_every_run_add_up_to_its_load_event() -> None:
    first = asked("a.js", 100, 300, render_blocking="Blocking")
    loaded = page(first, asked("c.png", 320, 600, by=first.url), onload_ms=610.0, fcp_ms=305.0)
    seen = page_metrics(loaded)
    phases = [
        getattr(seen, f"critical_{name}_s")
        for name in ("processing", "held", "connect", "wait", "receive")
    ]
    assert phases == pytest.approx([0.03, 0.02, 0.03, 0.47, 0.06])
    assert sum(phases) == pytest.approx(seen.onload_s)
    assert (seen.blocking_objects, seen.blocked_s, seen.blocking_bytes) == (1, 0.3, 1000)
    assert (seen.image_bytes, seen.page_bytes) == (1000, 3000)
    assert seen.blocking_first_share == 1
    told_of_nothing = page_metrics(load(fcp_ms=None, onload_ms=None))
    assert told_of_nothing.critical_wait_s is None
    assert told_of_nothing.blocking_first_share is None


def test_what_blocks_rendering_shares_the_path_with_what_does_not() -> None:
    """Until the script is there, 1000 bytes of it, 1000 of the document and 3000 of an image came."""
    script = asked("a.js", 100, 300, render_blocking="Blocking")
    image = asked(
        "c.png",
        100,
        600,
        body_bytes=5000,
        chunks=(Chunk(150.0, 1000), Chunk(300.0, 2000), Chunk(600.0, 2000)),
    )
    seen = page_metrics(page(script, image, onload_ms=610.0, fcp_ms=305.0))
    assert seen.blocking_first_share == pytest.approx(2000 / 5000)


def test_the_table_of_means_has_every_contender() -> None:
    rows = [
        made.run(
            name,
            seed,
            1.0,
            critical_processing_s=0.0,
            critical_held_s=0.1,
            critical_connect_s=0.2,
            critical_wait_s=wait,
            critical_receive_s=0.0,
            onload_s=0.3 + wait,
            blocked_s=0.25,
        )
        for name, wait in (("h2", 0.4), ("h3", 0.2))
        for seed in (1, 2)
    ]
    results = made.results(rows)
    table = critical_means(results, analyse(results))
    assert table.rows[0] == (
        ("h2", "2", "250", "–", "100", "200", "400", "–", "700"),
        ("h3", "2", "250", "–", "100", "200", "200", "–", "500"),
    )
    without = made.results([made.run("h2", 1, 1.0)])
    assert critical_means(without, analyse(without)).rows == ()
