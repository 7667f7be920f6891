"""Keeps what a browser tells of a page load, and knows whether the load is still under way."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import TextIO

from headway.guest.devtools import Message
from headway.guest.loadfiles import EVENTS_FILE, FRAMES_DIRECTORY, FRAMES_FILE

_KEPT = ("Network.", "Page.loadEventFired", "Page.domContentEventFired")
_BEGUN = "Network.requestWillBeSent"
_ENDED = ("Network.loadingFinished", "Network.loadingFailed")


class PageRecorder:
    """Takes note of a page's events, and writes them into a directory while there is one.

    Attributes:
        is_loaded: whether the load event was fired since `begin`.
    """

    def __init__(self) -> None:
        self.is_loaded = False
        self._pending: set[str] = set()
        self._changed_s = 0.0
        self._directory = Path()
        self._events: FileIO | None = None
        self._frames: TextIO | None = None
        self._frame_count = 0

    @contextmanager
    def writing(self, directory: Path) -> Iterator[None]:
        """Have events and frames in a directory."""
        self._directory = directory
        (directory / FRAMES_DIRECTORY).mkdir()
        try:
            with (
                (directory / EVENTS_FILE).open("wb", buffering=0) as self._events,
                (directory / FRAMES_FILE).open("w", buffering=1) as self._frames,
            ):
                yield
        finally:
            self._events = self._frames = None

    def begin(self) -> None:
        """A page is about to be loaded."""
        self.is_loaded = False
        self._pending.clear()

    def stir(self) -> None:
        """The page was given something to do, so it may not be at rest."""
        self._changed_s = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether there are requests without an end."""
        return bool(self._pending)

    @property
    def quiet_s(self) -> float:
        """How long nothing has been requested, received or painted."""
        return time.monotonic() - self._changed_s

    def hear(self, message: Message, raw: bytes) -> None:
        """Take note of an event, given parsed and as it came."""
        method, params = message["method"], message.get("params", {})
        if not method.startswith(_KEPT):
            return
        self._changed_s = time.monotonic()
        if self._events:
            self._events.write(raw + b"\n")
        if method == "Page.loadEventFired":
            self.is_loaded = True
        elif method == _BEGUN:
            self._pending.add(params["requestId"])
        elif method in _ENDED:
            self._pending.discard(params["requestId"])

    def keep_frame(self, shown: Message) -> None:
        """Keep what was painted: parameters of Page.screencastFrame."""
        self._changed_s = time.monotonic()
        if self._frames is None:
            return
        self._frame_count += 1
        file = f"{FRAMES_DIRECTORY}/{self._frame_count:04d}.png"
        (self._directory / file).write_bytes(base64.b64decode(shown["data"]))
        line = {"at_s": shown["metadata"]["timestamp"], "file": file}
        self._frames.write(json.dumps(line) + "\n")
