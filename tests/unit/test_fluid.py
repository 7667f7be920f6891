"""What comes before what is seen: the closed form beside a transfer byte by byte, and loads that tell it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from headway.pages.fluid import Response, one_by_one, shared
from headway.pages.load import SeenWindow, read_load
from headway.pages.metrics import page_metrics
from tests.unit.made_loads import ORIGIN_MS, Recording, load, resource

SITE = "https://a.test"
PRIORITIES = {"": "VeryHigh", "a.css": "VeryHigh", "b.png": "Low"}


def byte_by_byte(responses: Sequence[Response], rest: float) -> float:
    """The same as `shared` of a server that sends a byte of each response in turn."""
    left = [int(response.size) for response in responses]
    whens: list[list[int]] = [[] for _ in left]
    blocking = {place for place, one in enumerate(responses) if one.blocks}
    sent = rendering = 0
    while any(left):
        waiting = any(left[place] for place in blocking)
        turn = [n for n, rest in enumerate(left) if rest and not (waiting and responses[n].late)]
        for place in turn:
            sent, left[place] = sent + 1, left[place] - 1
            whens[place].append(sent)
        if waiting:
            rendering = sent
    seen = [
        (one.seen, fmean(max(rendering, when) for when in own))
        for one, own in zip(responses, whens, strict=True)
    ]
    whole = [*seen, (rest, rendering)]
    return sum(weight * wait for weight, wait in whole) / sum(weight for weight, _ in whole)


A_RESPONSE = st.builds(
    Response, st.integers(200, 900), st.integers(0, 3), st.booleans(), st.booleans()
).filter(lambda one: not (one.blocks and one.late))


@given(st.lists(A_RESPONSE, min_size=1, max_size=6), st.integers(1, 5))
def test_shared_is_as_a_byte_of_each_in_turn(responses: list[Response], rest: int) -> None:
    """But for whose turn is first, and for the parts in which a response is seen."""
    told = shared(responses, rest)
    assert told == pytest.approx(byte_by_byte(responses, rest), abs=len(responses) + 2)


def test_one_by_one() -> None:
    """Half of the first, and the first and half of the second, by what they have of the window."""
    responses = [Response(100, 3), Response(40, 1), Response(1000, 0)]
    assert one_by_one(responses) == (3 * 50 + 1 * 120) / 4
    # Text is there when nothing blocks rendering any more, and no image before.
    blocked = [Response(60, blocks=True), Response(40, 1)]
    assert one_by_one(blocked, rest=3) == (3 * 60 + 80) / 4
    assert one_by_one(list(reversed(blocked)), rest=3) == 100
    # What is asked for late is behind all that blocks, whatever its class.
    font = Response(500, late=True)
    assert one_by_one([font, *blocked], rest=3) == (3 * 60 + 580) / 4
    assert one_by_one([Response(5, 0)]) is None
    assert shared([Response(5, 0)]) is None


def test_sharing_keeps_small_ones_from_waiting_for_a_large_one() -> None:
    large, small = Response(1000, 0), Response(10, 1)
    assert one_by_one([large, small]) == 1005
    assert shared([large, small]) == 10
    # What blocks waits for what is beside it, but not for what is asked for later.
    style = Response(300, blocks=True)
    assert shared([style, large], rest=1) == 600
    assert shared([style, Response(1000, late=True)], rest=1) == 300
    # And has a large one that was first wait for all that comes beside it.
    first = [Response(1000, 1), *[Response(1000, 0)] * 9]
    assert (one_by_one(first), shared(first)) == (500, 5000)


@given(st.integers(1, 50), st.integers(1, 8))
def test_equal_responses_have_half_of_all_before_them_either_way(size: int, count: int) -> None:
    same = [Response(size, 1)] * count
    half = size * count / 2
    assert one_by_one(same) == pytest.approx(half)
    assert shared(same) == pytest.approx(half)


def a_load(directory: Path, told: dict[str, Any]) -> None:
    """A document and a style sheet that block, and a large image; half of the frame is white."""
    made = Recording()
    blocking = {"a.css": "Blocking"}
    for number, (name, size) in enumerate([("", 1000), ("b.png", 3000), ("a.css", 400)]):
        more = {"renderBlockingBehavior": blocking.get(name, "NonBlocking")}
        made.sent(str(number), f"{SITE}/{name}", 10.0 * number, **more)
        made.events[-1]["params"]["request"]["initialPriority"] = PRIORITIES[name]
        made.received(str(number), 50.0 + number)
        made.data(str(number), 60.0 + number, size, size)
        made.finished(str(number), 70.0 + number, size + 100)
    frame = Image.new("RGB", (10, 10), "white")
    frame.paste("navy", (0, 0, 10, 5))
    frame.save(directory / "1.png")
    shown = {"at_s": ORIGIN_MS / 1e3 + 1, "file": "1.png"}
    (directory / "frames.jsonl").write_text(json.dumps(shown) + "\n")
    viewport = {"width": 100, "height": 10, "scale": 1}
    times = {"navigation": {"loadEventStart": 100.0}, "paint": {"first-contentful-paint": 80.0}}
    window = {"viewport": viewport, "url": f"{SITE}/"}
    made.write(directory, {"time_origin_ms": ORIGIN_MS, **times, **window, **told})


def test_a_load_tells_what_is_seen(tmp_path: Path) -> None:
    """An image in two places has both; what did not come from the network, and fragments, change nothing."""
    shown = [[f"{SITE}/b.png#icon", 200.0], [f"{SITE}/b.png", 100.0], ["data:,", 99.0]]
    a_load(tmp_path, {"seen": shown})
    read = read_load(tmp_path)
    assert read.window == SeenWindow(1000, {f"{SITE}/b.png": 300.0, "data:,": 99.0})
    metrics = page_metrics(read)
    assert (metrics.seen_images, metrics.seen_image_bytes) == (1, 3000)
    # Of 1000 pixels 500 are coloured: 300 are the image's, and 200 there with document and style sheet.
    assert metrics.ordered_bytes == (300 * (1400 + 1500) + 200 * 1400) / 500
    # Shared, these are there when the image has 1000, too; then its 2000 others come alone.
    rendered = 1000 + 400 + 1000
    image = rendered / 3 + 2 / 3 * (rendered + 1000)
    assert metrics.shared_bytes == pytest.approx((300 * image + 200 * rendered) / 500, rel=1e-3)


def test_loads_that_do_not_tell_what_is_seen_have_none_of_it(tmp_path: Path) -> None:
    a_load(tmp_path, {})
    for one in (read_load(tmp_path), load(resource())):
        metrics = page_metrics(one)
        assert metrics.seen_images is metrics.ordered_bytes is metrics.shared_bytes is None
