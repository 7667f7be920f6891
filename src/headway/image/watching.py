"""Progress of an image build, and where which of it is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from headway.image.progress import BuildProgress, PlainProgress


@contextmanager
def shown_progress(stream: TextIO | None = None) -> Iterator[BuildProgress]:
    """Progress on a stream (standard error): bars if it is a terminal, else plain lines."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty():
        yield PlainProgress(stream)
        return
    # Loading it takes a while, and most commands find the image in the cache.
    from headway.image.display import RichProgress

    with RichProgress(stream) as progress:
        yield progress
