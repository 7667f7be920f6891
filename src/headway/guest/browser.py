"""Drives Chromium in a lab: one page load whenever it is told to, all in one browser.

Runs as a service of the client's host. A line with a directory, written to the FIFO ``go``, asks for
a load whose files shall be there; a line in the FIFO ``done`` tells that they are. The browser's start
and a fresh context, which are no part of a load, come before it.

Usage: ``browser.py CONFIGURATION.json``; the configuration is a `Configuration`.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from headway.guest.devtools import DevTools, DevToolsError, Message

GO, DONE = "/run/browser/go", "/run/browser/done"
LOAD_FILE, EVENTS_FILE, FRAMES_FILE, FRAMES_DIRECTORY = (
    "load.json",
    "cdp.jsonl",
    "frames.jsonl",
    "frames",
)

_QUIET_S = 0.5
"""A page has come to rest when so long after its load event nothing was requested or painted."""
_REST_LIMIT_S = 10.0
_SETTLE_S = 1.0
"""Between two uses of the browser. What was on its way has arrived then; and of a page that is closed,
Chromium awaits the process by looking after 1, 2, 4 to 256 ms, in which it starts no other."""
_KEPT = ("Network.", "Page.loadEventFired", "Page.lifecycleEvent", "Page.domContentEventFired")
_TIMINGS = """(async () => ({
  time_origin_ms: performance.timeOrigin,
  navigation: performance.getEntriesByType('navigation')[0].toJSON(),
  paint: Object.fromEntries(performance.getEntriesByType('paint').map(e => [e.name, e.startTime])),
  resources: performance.getEntriesByType('resource').map(e => e.toJSON()),
  lcp_ms: await new Promise(resolve => {
    new PerformanceObserver(list => resolve(list.getEntries().at(-1).startTime))
      .observe({type: 'largest-contentful-paint', buffered: true});
    setTimeout(() => resolve(null), 0);
  }),
}))()"""


@dataclass(frozen=True)
class Configuration:
    """What is loaded, and how.

    Attributes:
        argv: the browser's command line.
        trusted_key: file with the hash of the public key that is trusted whatever its certificate says.
        url: the page.
        warm: whether the page is loaded once before, so that its resources are in the cache.
        limit_s: when a load is given up.
        width: of the viewport, CSS pixels.
        height: of the viewport.
        scale: device pixels per CSS pixel.
        mobile: whether the device is a mobile one, with touch.
        user_agent: what it calls itself; the browser's own if empty.
        frame_width: width of the kept frames, pixels; 0 keeps none.
    """

    argv: tuple[str, ...]
    trusted_key: str
    url: str
    warm: bool
    limit_s: float
    width: int
    height: int
    scale: float
    mobile: bool
    user_agent: str
    frame_width: int


class Page:
    """A page in a browser context of its own: no cache, no connections, no cookies."""

    def __init__(self, browser: Browser, configuration: Configuration) -> None:
        self._devtools = browser.devtools
        self._configuration = configuration
        self._loaded = False
        self._pending: set[str] = set()
        self._last_change = 0.0
        self._events: BinaryIO | None = None
        self._frames: TextIO | None = None
        self._frame_count = 0
        self._directory = Path()
        browser.page = self
        self._context = self._devtools.call("Target.createBrowserContext")["browserContextId"]
        target = {
            "url": "about:blank",
            "browserContextId": self._context,
            "width": configuration.width,
            "height": configuration.height,
        }
        target_id = self._devtools.call("Target.createTarget", target)["targetId"]
        attached = self._devtools.call(
            "Target.attachToTarget", {"targetId": target_id, "flatten": True}
        )
        self._session: str = attached["sessionId"]
        self._configure()
        if configuration.warm:
            self._visit()

    def load(self, directory: Path) -> Message:
        """Load the page, with its events and frames in a directory; returns its timings."""
        self._directory = directory
        with (
            (directory / EVENTS_FILE).open("wb") as self._events,
            (directory / FRAMES_FILE).open("w") as self._frames,
        ):
            try:
                if self._configuration.frame_width:
                    (directory / FRAMES_DIRECTORY).mkdir()
                    self._cast()
                self._navigate()
                timings = self._evaluate(_TIMINGS)
            finally:
                self._events = self._frames = None
        return timings

    def close(self) -> None:
        """End its connections and forget its cache."""
        self._devtools.call("Target.disposeBrowserContext", {"browserContextId": self._context})

    def on_event(self, message: Message, raw: bytes) -> None:
        """Take note of an event."""
        method, params = message["method"], message.get("params", {})
        if method == "Page.screencastFrame":
            self._keep_frame(params)
            return
        if not method.startswith(_KEPT):
            return
        if self._events:
            self._events.write(raw + b"\n")
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Network.requestWillBeSent":
            self._pending.add(params["requestId"])
        elif method in ("Network.loadingFinished", "Network.loadingFailed"):
            self._pending.discard(params["requestId"])
        self._last_change = time.monotonic()

    def _call(self, method: str, params: Message | None = None) -> Message:
        return self._devtools.call(method, params, self._session)

    def _configure(self) -> None:
        wanted = self._configuration
        self._call("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
        self._call("Page.enable")
        metrics = {
            "width": wanted.width,
            "height": wanted.height,
            "deviceScaleFactor": wanted.scale,
            "mobile": wanted.mobile,
        }
        self._call("Emulation.setDeviceMetricsOverride", metrics)
        self._call("Emulation.setTouchEmulationEnabled", {"enabled": wanted.mobile})
        if wanted.user_agent:
            self._call("Emulation.setUserAgentOverride", {"userAgent": wanted.user_agent})

    def _cast(self) -> None:
        wanted = self._configuration
        size = {"maxWidth": wanted.frame_width, "maxHeight": wanted.frame_width * 4}
        self._call("Page.startScreencast", {"format": "png", "everyNthFrame": 1, **size})

    def _navigate(self) -> None:
        """Go to the page, until it has come to rest."""
        self._loaded = False
        self._pending.clear()
        limit_s = self._configuration.limit_s
        answer = self._call("Page.navigate", {"url": self._configuration.url})
        if error := answer.get("errorText"):
            raise DevToolsError(f"{self._configuration.url}: {error}")
        if not self._devtools.pump(limit_s, lambda: self._loaded):
            raise DevToolsError(f"the page was not loaded within {limit_s:g} s")
        give_up = time.monotonic() + _REST_LIMIT_S
        while (quiet_s := time.monotonic() - self._last_change) < _QUIET_S or self._pending:
            if time.monotonic() > give_up:
                return
            self._devtools.pump(max(_QUIET_S - quiet_s, 0.05))

    def _visit(self) -> None:
        """Fill the cache, then have the browser close its connections."""
        self._navigate()
        self._call("Page.navigate", {"url": "about:blank"})
        self._devtools.pump(_SETTLE_S)
        # To a browser, another address is another network: it closes what it had over the old one.
        for verb in ("add", "del"):
            subprocess.run(["ip", "address", verb, "192.0.2.1/32", "dev", "client-up"], check=True)
            self._devtools.pump(1)

    def _evaluate(self, expression: str) -> Message:
        result = self._call(
            "Runtime.evaluate",
            {"expression": expression, "awaitPromise": True, "returnByValue": True},
        )
        if "exceptionDetails" in result:
            raise DevToolsError(f"the page's timings: {result['exceptionDetails']['text']}")
        value: Message = result["result"]["value"]
        return value

    def _keep_frame(self, params: Message) -> None:
        self._devtools.send(
            "Page.screencastFrameAck", {"sessionId": params["sessionId"]}, self._session
        )
        self._last_change = time.monotonic()
        if self._frames is None:
            return
        self._frame_count += 1
        file = f"{FRAMES_DIRECTORY}/{self._frame_count:04d}.png"
        (self._directory / file).write_bytes(base64.b64decode(params["data"]))
        line = {"at_s": params["metadata"]["timestamp"], "file": file}
        self._frames.write(json.dumps(line) + "\n")


class Browser:
    """A running Chromium, and the page that it shows."""

    def __init__(self, configuration: Configuration) -> None:
        trusted = Path(configuration.trusted_key).read_text()
        argv = (*configuration.argv, f"--ignore-certificate-errors-spki-list={trusted}")
        commands, to_browser = os.pipe()
        from_browser, messages = os.pipe()
        self._pid = os.posix_spawn(
            argv[0],
            argv,
            os.environ,
            # Chromium expects its ends at 3 and 4, which may be in use here.
            file_actions=[
                (os.POSIX_SPAWN_DUP2, commands, 103),
                (os.POSIX_SPAWN_DUP2, messages, 104),
                (os.POSIX_SPAWN_DUP2, 103, 3),
                (os.POSIX_SPAWN_DUP2, 104, 4),
                (os.POSIX_SPAWN_CLOSE, 103),
                (os.POSIX_SPAWN_CLOSE, 104),
            ],
            setsid=True,
        )
        os.close(commands)
        os.close(messages)
        self.page: Page | None = None
        self.devtools = DevTools(from_browser, to_browser, self._on_event)
        self._descriptors = (from_browser, to_browser)

    def end(self) -> str:
        """End it, if it has not ended, and all its processes; tells how it ended."""
        os.killpg(self._pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        for descriptor in self._descriptors:
            os.close(descriptor)
        return f"killed by {signal.Signals(-status).name}" if status < 0 else f"status {status}"

    def _on_event(self, message: Message, raw: bytes) -> None:
        if self.page:
            self.page.on_event(message, raw)


class Driver:
    """Carries out loads one after the other; a browser that dies is started again."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._browser: Browser | None = None
        self._page: Page | None = None

    def prepare(self) -> str | None:
        """Have a browser with a fresh page; returns why that failed."""
        try:
            self._browser = self._browser or Browser(self._configuration)
            self._page = Page(self._browser, self._configuration)
            self._browser.devtools.pump(_SETTLE_S)
        except DevToolsError as error:
            return self._given_up(error)
        return None

    def load(self, directory: Path) -> None:
        """Load the page into a directory; what went wrong is told in its ``load.json``."""
        timings: dict[str, Any] = {}
        error = None if self._page else self.prepare()
        try:
            if self._page and self._browser:
                timings = self._page.load(directory)
                self._page.close()
                self._browser.devtools.pump(_SETTLE_S)
        except DevToolsError as reason:
            error = self._given_up(reason)
        self._page = None
        told = {"error": error, "url": self._configuration.url, **timings}
        (directory / LOAD_FILE).write_text(json.dumps(told))

    def close(self) -> None:
        """Have the browser end, and write what it has yet to write."""
        if self._browser:
            with contextlib.suppress(DevToolsError):
                self._browser.devtools.call("Browser.close")
                self._browser.devtools.pump(_REST_LIMIT_S)

    def _given_up(self, error: DevToolsError) -> str:
        """Why; the next load gets another browser."""
        how = self._browser.end() if self._browser else ""
        self._browser = self._page = None
        return f"{error} ({how})" if "is gone" in str(error) else str(error)


def main() -> None:
    """Serve loads until told to end."""
    configuration = Configuration(**json.loads(Path(sys.argv[1]).read_text()))
    driver = Driver(configuration)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        driver.prepare()
        for fifo in (DONE, GO):
            os.mkfifo(fifo)
        # Opened both ways, so that neither end waits for the other to open it.
        with open(GO, "r+b", buffering=0) as go, open(DONE, "r+b", buffering=0) as done:
            while True:
                driver.load(Path(go.readline().decode().strip()))
                driver.prepare()
                done.write(b"done\n")
    finally:
        driver.close()


if __name__ == "__main__":
    main()
