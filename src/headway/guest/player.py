"""A page that plays a video by dash.js."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from headway.guest.browsercontext import BrowserContext
from headway.guest.dashpage import PAGE, SCRIPT, START, TELL
from headway.guest.devtools import DevTools, DevToolsError, Message
from headway.guest.loadfiles import SESSION_FILE

_WIDTH, _HEIGHT = 1366, 768
_GRACE_S = 5.0
"""Between the end of a session, and that the page has told of it."""


@dataclass(frozen=True)
class PlayerOrders:
    """What is played, and how.

    Attributes:
        url: of the page: it comes from nowhere, and its origin is the server's.
        script: the file with dash.js.
        mpd: the MPD's URL; in that of live video the page says when its source began, in the place of ``BEGINS``.
        behind_s: of live video, how long before the session its source began; None of other video.
        rungs: names of the representations, the lowest rate first.
        settings: of dash.js.
        watch_s: when the viewer leaves.
        limit_s: when commands to the browser are given up.
    """

    url: str
    script: str
    mpd: str
    rungs: tuple[str, ...]
    settings: Message
    watch_s: float
    limit_s: float
    behind_s: float | None = None


class PlayerTab:
    """A page with a player that is ready to play."""

    def __init__(self, devtools: DevTools, orders: PlayerOrders) -> None:
        self._devtools = devtools
        self._orders = orders
        self._told: FileIO | None = None
        self._is_there = self._is_over = False
        devtools.on_event = self._on_event
        self._context = BrowserContext(devtools, _WIDTH, _HEIGHT)
        self._session = self._context.session
        self._call("Page.enable")
        self._call("Runtime.enable")
        self._call("Runtime.addBinding", {"name": TELL})
        self._fill()
        self._evaluate(Path(orders.script).read_text(encoding="utf-8"))
        self._evaluate(SCRIPT)

    def load(self, directory: Path) -> Message:
        """Play the video, with what the page tells in a directory; returns nothing more.

        Raises:
            DevToolsError: the player did not end in time, or the browser is gone.
        """
        orders = self._orders
        started = {
            "mpd": orders.mpd,
            "rungs": orders.rungs,
            "settings": orders.settings,
            "watch_s": orders.watch_s,
            "behind_s": orders.behind_s,
        }
        with (directory / SESSION_FILE).open("wb", buffering=0) as self._told:
            until = time.monotonic() + orders.watch_s + _GRACE_S
            self._evaluate(f"{START}({json.dumps(started)})")
            if not self._devtools.pump(until - time.monotonic(), lambda: self._is_over):
                raise DevToolsError(f"the player went on after {orders.watch_s:g} s")
        self._told = None
        return {}

    def close(self) -> None:
        """End its connections and forget its cache."""
        self._context.close()

    def _call(self, method: str, params: Message | None = None) -> Message:
        return self._devtools.call(method, params, self._session, self._orders.limit_s)

    def _fill(self) -> None:
        """Have the page there without asking the server, which is not to have a connection yet."""
        self._call("Fetch.enable", {"patterns": [{"urlPattern": self._orders.url}]})
        self._call("Page.navigate", {"url": self._orders.url})
        if not self._devtools.pump(self._orders.limit_s, lambda: self._is_there):
            raise DevToolsError("the player's page was not loaded")
        self._call("Fetch.disable")

    def _evaluate(self, script: str) -> None:
        result = self._call("Runtime.evaluate", {"expression": script})
        if "exceptionDetails" in result:
            raise DevToolsError(f"the player: {_what(result['exceptionDetails'])}")

    def _on_event(self, message: Message, _: bytes) -> None:
        method, params = message["method"], message.get("params", {})
        match method:
            case "Runtime.bindingCalled":
                self._hear(params["payload"])
            case "Runtime.exceptionThrown":
                self._hear(
                    json.dumps({"what": "exception", "error": _what(params["exceptionDetails"])})
                )
            case "Fetch.requestPaused":
                self._devtools.send("Fetch.fulfillRequest", _page(params), self._session)
            case "Page.loadEventFired":
                self._is_there = True
            case "Inspector.targetCrashed" if message.get("sessionId") == self._session:
                raise DevToolsError("the player's process crashed")

    def _hear(self, text: str) -> None:
        if self._told:
            self._told.write(text.encode() + b"\n")
        self._is_over = self._is_over or json.loads(text)["what"] == "end"


def _page(paused: Message) -> Message:
    return {
        "requestId": paused["requestId"],
        "responseCode": 200,
        "responseHeaders": [{"name": "Content-Type", "value": "text/html"}],
        "body": base64.b64encode(PAGE.encode()).decode(),
    }


def _what(details: Message) -> str:
    """The first line of an exception."""
    value = details.get("exception", {}).get("description") or details["text"]
    return str(value).splitlines()[0]
