"""Changes of a direction's properties at times that a study states."""

from __future__ import annotations

from collections.abc import Sequence

from headway.study.base_model import Part, wrong
from headway.study.loss import Loss
from headway.study.units import Duration, Rate


class Change(Part):
    """From ``at`` on, these properties of a direction are different."""

    at: Duration
    rate: Rate | None = None
    delay: Duration | None = None
    jitter: Duration | None = None
    loss: Loss | None = None


def check_changes(changes: Sequence[Change]) -> None:
    """Check that changes are in order, and that each value is the only one of its time.

    Raises:
        ValueError: they are not in order.
        PydanticCustomError: two of them give a value of the same property at the same time.
    """
    times = [change.at for change in changes]
    if times != sorted(times):
        raise ValueError("the times of the changes must increase")
    stated: set[tuple[Duration, str]] = set()
    for change in changes:
        own = {(change.at, name) for name, value in change if name != "at" and value is not None}
        for at, name in sorted(own & stated):
            raise wrong("changes", f"two of them give a {name} at {at}: leave one out")
        stated |= own
