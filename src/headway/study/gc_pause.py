"""Many objects that last, and modules, made without looking for garbage among them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lasting_objects() -> Iterator[None]:
    """Pause the search for cycles, of which settings and runs have none.

    Otherwise Python searches all that there are again and again while a large grid is made, which
    takes as long as making it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def loading() -> Iterator[None]:
    """Load modules without looking for garbage among what they define: it lasts as long as the process.

    Otherwise Python does so again and again, which takes a tenth of the time; and later, too, with all that there is.
    """
    with lasting_objects():
        yield
        gc.freeze()
