"""Who decides how important responses are: the browser, or a server that knows what it asks for."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import Endpoint
from headway.programs.headway_server import BROWSER_DECIDES

_KNOB, _SCHEDULER = "priorities", "scheduler"
_WITHOUT_CLASSES = ("round-robin", "batched-round-robin:")


def check_priorities(end: Endpoint, *, pages: bool) -> None:
    """Check that a server that decides can tell what is asked for, and has no other order to follow.

    Raises:
        WrongInputError: it cannot, or has.
    """
    decides = end.asked.knobs.get(_KNOB, BROWSER_DECIDES)
    if decides == BROWSER_DECIDES or all(knob.name != _KNOB for knob in end.adapter.knobs):
        return
    where = f"{end.where}.knobs"
    if _SCHEDULER in end.asked.knobs:
        raise WrongInputError(
            f"priorities = {decides!r} says the order, too: leave out the scheduler",
            where=f"{where}.{_SCHEDULER}",
        )
    if not pages and not decides.startswith(_WITHOUT_CLASSES):
        raise WrongInputError(
            f"{decides!r} goes by what a browser says that it asks for (sec-fetch-dest): it is for pages",
            where=f"{where}.{_KNOB}",
        )
