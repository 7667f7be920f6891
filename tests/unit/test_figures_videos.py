"""Videos over time: segments over the link's rate, and the buffer with stalls under them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.columns.videosegment import FetchedSegment
from headway.diagnosis.playback import Playback
from headway.programs.measurement import PlayedPace, PlayedStall
from headway.report.chosen import ChosenRun
from headway.report.evidence import RunEvidence, VideoStory
from headway.report.figures.livelevels import latencies, levels
from headway.report.figures.segments import KIND
from headway.report.sheet import Area, Line
from headway.report.theme import BLUE, FASTER, GREY, RED, SLOWER
from tests.unit import made_results as made
from tests.unit.drawn import drawn, subject, texts, within


def fetched(
    number: int, rung: int, asked_s: float, last_byte_s: float, before_s: float, after_s: float
) -> FetchedSegment:
    return FetchedSegment(
        number=number,
        rung=rung,
        rate_mbit=1.0 + rung,
        bytes=1,
        asked_s=asked_s,
        last_byte_s=last_byte_s,
        buffer_before_s=before_s,
        buffer_after_s=after_s,
        throughput_mbit=50.0,
        stalled_s=0.0,
        repeated=False,
    )


# The picture appears after a second, and stands still from the third second to the fourth.
PLAYBACK = Playback(
    ladder_mbit=(1.0, 2.0),
    segment_s=2.0,
    start_s=1.0,
    end_s=8.0,
    stalls=(PlayedStall(3.0, 1.0),),
    rates=((0.0, 2.0), (4.0, 100.0)),
    segments=(fetched(0, 0, 0, 1, 0, 2), fetched(1, 1, 1, 4, 2, 2)),
)


def story(flow: str = "", playback: Playback = PLAYBACK) -> VideoStory:
    return VideoStory(ChosenRun("r-1", "h3", "loss 1 %", "8 s", "seed 1"), flow, playback)


def test_segments_stand_over_the_links_rate_and_stalls_under_them() -> None:
    of = subject(
        made.runs({"h2": [1.0], "h3": [1.0]}), evidence=RunEvidence(videos=(story(), story("tv")))
    )
    picture = drawn(KIND, of)
    assert "h3, tv: 2 segments of 1.50 Mbit/s, stalled for 1.00 s" in picture.said
    for sheet in (picture.wide, picture.narrow):
        assert sheet and within(sheet)
        assert {"h3", "h3, tv", "buffer [s]", "segments, link [Mbit/s]"} <= set(texts(sheet))
    fills = [shape.fill for shape in picture.wide.shapes if isinstance(shape, Area)]
    assert {SLOWER[3], FASTER[3], RED} <= set(fills)
    (link, *_) = (s for s in picture.wide.shapes if isinstance(s, Line) and s.colour is GREY)
    # Steps, cut off above the highest rung that was fetched.
    (slow, until, jump, end) = link.runs[0]
    assert slow[1] == until[1] > jump[1] == end[1] and until[0] == jump[0]
    (buffer, *_) = (s for s in picture.wide.shapes if isinstance(s, Line) and s.colour is BLUE)
    heights = [y for _, y in buffer.runs[0]]
    empty = max(heights)
    # Nothing; a segment; two seconds later nothing until the next one; and nothing again at the end.
    assert [height == empty for height in heights] == [
        True,
        True,
        False,
        False,
        True,
        True,
        False,
        True,
        True,
    ]
    assert picture.data().height == 4


def test_a_live_videos_latency_is_drawn_and_what_its_chunks_fill() -> None:
    """Two chunks are there at the start, the third comes when they were played, the fourth two and a half seconds late."""
    paces = (PlayedPace(1.0, 3.5, 1.0), PlayedPace(2.5, 3.5, 0.0), PlayedPace(5.0, 6.0, 1.25))
    came = fetched(0, 0, 0, 5, 0, 0.5).model_copy(update={"chunks_s": (1.0, 1.0, 2.0, 5.0)})
    live = replace(PLAYBACK, segments=(came,), end_s=5.4, paces=paces, source_s=-2.5)
    late = [latency_s for _, latency_s in latencies(live)]
    assert late == pytest.approx([3.5, 3.5, 6.0, 5.9])
    found = dict(levels(live))
    # Of two at a moment, the one right after it.
    assert found == pytest.approx({1.0: 1.0, 2.0: 0.5, 2.5: 0.0, 5.0: 0.5, 5.4: 0.0})
    of = subject(made.runs({"h3": [1.0]}), evidence=RunEvidence(videos=(story("", live),)))
    picture = drawn(KIND, of)
    assert picture.data().write_csv().count("\n") == 2
    for sheet in (picture.wide, picture.narrow):
        assert sheet and within(sheet)
        assert "buffer, latency [s]" in texts(sheet)


def test_a_live_videos_buffer_is_what_was_made_after_what_is_seen() -> None:
    """The viewer skips the first segment, another quality takes the second one's place, and a player may tell no chunks."""
    paces = (PlayedPace(1.0, 3.5, 1.0),)
    chunks = {"chunks_s": (1.0, 2.0)}
    second = fetched(1, 0, 0, 2, 0, 0.5).model_copy(update=chunks)
    again = fetched(1, 1, 2, 3, 0, 0).model_copy(update={"chunks_s": (3.0, 3.0)})
    third = fetched(2, 0, 3, 4, 0, 0.5)
    live = replace(PLAYBACK, segments=(second, again, third), end_s=5.0, paces=paces, source_s=-4.0)
    # Seen is what was made 3.5 s before; the chunks reach to -1, 0 and 0 s, the third segment to 2 s.
    expected = {1.0: 1.5, 2.0: 1.5, 3.0: 0.5, 4.0: 1.5, 5.0: 0.5}
    assert dict(levels(live)) == pytest.approx(expected)


def test_videos_of_which_nothing_came_are_not_drawn() -> None:
    nothing = Playback((1.0,), 2.0, None, 8.0, (), (), ())
    of = subject(made.runs({"h2": [1.0]}), evidence=RunEvidence(videos=(story("", nothing),)))
    assert KIND.draw(of) is None
