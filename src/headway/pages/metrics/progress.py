"""Visual metrics, from the frames that were painted."""

from __future__ import annotations

from collections.abc import Mapping

from headway.pages.load import PageLoad
from headway.pages.metrics.measure import measure, seconds


@measure
def _progress(load: PageLoad) -> Mapping[str, float | str | None]:
    """What its frames show."""
    # Imported here because numpy takes a while to load, and only pages need it.
    from headway.pages.visual import visual_progress

    progress = visual_progress(load.load_frames)
    return {
        "speed_index_s": seconds(progress.speed_index_ms),
        "fvc_s": seconds(progress.first_change_ms),
        "lvc_s": seconds(progress.last_change_ms),
        "vc85_s": seconds(progress.complete_ms(0.85)),
        "vc95_s": seconds(progress.complete_ms(0.95)),
        "vc99_s": seconds(progress.complete_ms(0.99)),
        "visual_problem": progress.problem,
    }
