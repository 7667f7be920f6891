"""Videos that compete: how fairly they share quality."""

from __future__ import annotations

import pytest

from headway.columns.record import FlowRecord
from headway.records.videos import videos_together
from tests.unit import made_results as made


def flow(name: str, named: str, mbit: float | None, *, background: bool = False) -> FlowRecord:
    row = made.run("a", 1, 1.0)
    if mbit is not None:
        row |= {"video_bitrate_mbit": mbit, "video_stalled_s": 0.5, "video_loaded_share": 0.1}
    ends = {"client_host": "c", "server_host": "s", "start_s": 0.0}
    return FlowRecord.model_validate(
        row | ends | {"flow": name, "named": named, "background": background}
    )


def test_quality_is_shared_by_the_first_name_and_the_others() -> None:
    found = videos_together([flow("a", "a", 3.0), flow("b", "b", 1.0), flow("bulk", "bulk", None)])
    assert found["videos_bitrate_mbit"] == 2
    assert (found["videos_worst_mbit"], found["videos_first_ratio"]) == (1, 3)
    assert found["videos_jain_index"] == pytest.approx(16 / (2 * 10))
    assert found["videos_stalled_s"] == 1


def test_a_video_that_starves_counts_as_one_of_no_rate() -> None:
    starved, other = flow("a", "a", 0.0), flow("b", "b", 4.0)
    found = videos_together([starved, other])
    assert (found["videos_bitrate_mbit"], found["videos_worst_mbit"]) == (2, 0)
    assert (found["videos_first_ratio"], found["videos_jain_index"]) == (0, 0.5)
    assert videos_together([other, starved])["videos_first_ratio"] is None
    both = videos_together([starved, flow("b", "b", 0.0)])
    assert (both["videos_first_ratio"], both["videos_jain_index"]) == (None, None)


def test_of_one_name_the_first_video_stands_against_the_others() -> None:
    found = videos_together([flow("a-1", "a", 3.0), flow("a-2", "a", 1.0), flow("a-3", "a", 2.0)])
    assert found["videos_first_ratio"] == 2


def test_one_video_shares_with_nobody() -> None:
    found = videos_together([flow("a", "a", 3.0), flow("b", "b", 9.0, background=True)])
    assert (found["videos_bitrate_mbit"], found["videos_jain_index"]) == (3, None)
    assert found["videos_first_ratio"] is None
    assert videos_together([flow("a", "a", None)]) == {}


def starting(name: str, start_s: float | None, *, background: bool = False) -> FlowRecord:
    return flow(name, name, 1.0, background=background).model_copy(
        update={"video_start_s": start_s}
    )


@pytest.mark.parametrize(
    ("starts", "mean"),
    [((1.0, 3.0), 2.0), ((1.5,), 1.5), ((1.0, None), None), ((None, None), None)],
)
def test_the_start_of_several_is_their_mean_if_all_began(
    starts: tuple[float | None, ...], mean: float | None
) -> None:
    flows = [starting(f"v{place}", start) for place, start in enumerate(starts)]
    assert videos_together(flows)["videos_start_s"] == mean


def test_a_video_in_the_background_does_not_count_for_the_start() -> None:
    flows = [starting("a", 1.0), starting("b", 9.0, background=True)]
    assert videos_together(flows)["videos_start_s"] == 1.0
