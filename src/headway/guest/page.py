"""A page in a browser context of its own, loaded for a measurement."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headway.guest.browsercontext import BrowserContext
from headway.guest.computing import Charge, MainThreadTime
from headway.guest.devtools import DevTools, DevToolsError, Message
from headway.guest.gestures import Gesture, User
from headway.guest.recorder import PageRecorder

SETTLE_S = 1.0
"""Between two uses of the browser: what was on its way has arrived then."""

_QUIET_S = 0.5
"""A page has come to rest when so long after its load event nothing was requested or painted."""
_REST_LIMIT_S = 10.0
_POLL_S = 0.05
_QUIC_IDLE_S = 31.0
"""Chromium closes a QUIC connection on which nothing happened for 30 s."""
REVISITED_AFTER_S = 65.0
"""Between visits; by then servers have closed connections that are idle for a minute."""
_TIMINGS = r"""(() => {
  const entries = type => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({type, buffered: true});
    return observer.takeRecords();
  };
  const painted = entries('largest-contentful-paint').at(-1);
  return {
    time_origin_ms: performance.timeOrigin,
    navigation: performance.getEntriesByType('navigation')[0].toJSON(),
    paint: Object.fromEntries(
      performance.getEntriesByType('paint').map(e => [e.name, e.startTime])),
    resources: performance.getEntriesByType('resource').map(e => e.toJSON()),
    lcp_ms: painted?.startTime ?? null,
    lcp_url: painted?.url ?? '',
    long_tasks: entries('longtask').map(e => [e.startTime, e.duration]),
    layout_shifts: entries('layout-shift').map(e => [e.startTime, e.value, e.hadRecentInput]),
    viewport: {width: innerWidth, height: innerHeight, scale: devicePixelRatio},
    seen: [...document.querySelectorAll('html, html *')].flatMap(element => {
      const box = element.getBoundingClientRect();
      const width = Math.min(box.right, innerWidth) - Math.max(box.left, 0);
      const height = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
      const shown = {checkOpacity: true, checkVisibilityCSS: true};
      if (width <= 0 || height <= 0 || !element.checkVisibility(shown)) return [];
      const drawn = getComputedStyle(element).backgroundImage.matchAll(/url\("([^"]*)"\)/g);
      const urls = [...drawn].map(found => found[1]);
      if (element instanceof HTMLImageElement) urls.push(element.currentSrc);
      if (element instanceof HTMLVideoElement) urls.push(element.poster);
      return urls.filter(url => url.startsWith('http')).map(url => [url, width * height]);
    }),
  };
})()"""
"""The browser's own times; and which images are in the window, with as many of its pixels as each has."""


_WATCH = "new PerformanceObserver(() => {}).observe({type: 'longtask'})"
"""Chromium takes note of a script's task only if somebody has asked before that script begins."""


@dataclass(frozen=True)
class PageOrders:
    """What is loaded, and how.

    Attributes:
        url: the page.
        visits: URLs that were visited before, their connections being closed since.
        limit_s: when a load is given up.
        width: of the viewport, CSS pixels.
        height: of the viewport, CSS pixels.
        scale: device pixels per CSS pixel.
        mobile: whether the device is a mobile one, with touch.
        user_agent: what it calls itself; the browser's own if empty.
        frame_side: the longer side of kept frames, pixels; 0 keeps none.
        gestures: what a user does on it, in the order of time.
        charges: what resources cost the main thread, by URL.
        revisits: whether no content is taken from the cache, and connections are left to be closed by their server.
    """

    url: str
    visits: tuple[str, ...]
    limit_s: float
    width: int
    height: int
    scale: float
    mobile: bool
    user_agent: str
    frame_side: int
    revisits: bool = False
    gestures: tuple[Gesture, ...] = ()
    charges: Mapping[str, Charge] = field(default_factory=dict)

    @classmethod
    def read(cls, raw: Message) -> PageOrders:
        """Orders from what a file has of them."""
        made = tuple(Gesture(**gesture) for gesture in raw.get("gestures", ()))
        charges = {url: Charge.read(value) for url, value in raw.get("charges", {}).items()}
        return cls(**{**raw, "gestures": made, "charges": charges})


class BrowserTab:
    """A page that is ready to be loaded.

    Its context has no cache, connections, cookies or tickets but those of the visit, if there was
    one. All its frames are told of, and its workers.
    """

    def __init__(self, devtools: DevTools, orders: PageOrders) -> None:
        self._devtools = devtools
        self._orders = orders
        self._recorder = PageRecorder()
        self._document = ""
        devtools.on_event = self._on_event
        self._context = BrowserContext(devtools, orders.width, orders.height)
        self._session = self._context.session
        self._listen(self._session)
        self._call("Page.enable")
        self._pretend()
        self._user = User(devtools, self._session, orders.gestures, (orders.width, orders.height))
        self._thread = MainThreadTime(devtools, self._session, orders.charges)
        if orders.visits:
            self._visit()

    def load(self, directory: Path) -> Message:
        """Load the page, with its events and frames in a directory; returns its timings.

        Raises:
            DevToolsError: it could not be loaded in time, or the browser is gone.
        """
        with self._recorder.writing(directory):
            if side := self._orders.frame_side:
                size = {"maxWidth": side, "maxHeight": side}
                self._call("Page.startScreencast", {"format": "png", "everyNthFrame": 1, **size})
            self._user.begin()
            self._navigate(self._orders.url)
            self._await_gestures()
            kept = self._orders.url in self._orders.visits and not self._orders.revisits
            return {**self._timings(), **self._interactions(), "cached": kept}

    def close(self) -> None:
        """End its connections and forget its cache."""
        self._devtools.forget()
        self._context.close()

    def _call(
        self, method: str, params: Message | None = None, limit_s: float | None = None
    ) -> Message:
        limit_s = self._orders.limit_s if limit_s is None else limit_s
        return self._devtools.call(method, params, self._session, limit_s)

    def _listen(self, session: str) -> None:
        """Have a session tell its events, and stop its frames and workers until they do, too."""
        sizes = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}
        children = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        self._devtools.send("Network.enable", sizes, session)
        self._devtools.send("Target.setAutoAttach", children, session)
        if self._orders.revisits:
            self._devtools.send("Network.setCacheDisabled", {"cacheDisabled": True}, session)
        if agent := self._orders.user_agent:
            self._devtools.send("Emulation.setUserAgentOverride", {"userAgent": agent}, session)

    def _pretend(self) -> None:
        orders = self._orders
        metrics = {
            "width": orders.width,
            "height": orders.height,
            "deviceScaleFactor": orders.scale,
            "mobile": orders.mobile,
        }
        self._call("Emulation.setDeviceMetricsOverride", metrics)
        self._call("Emulation.setTouchEmulationEnabled", {"enabled": orders.mobile})

    def _on_event(self, message: Message, raw: bytes) -> None:
        method, params = message["method"], message.get("params", {})
        match method:
            case "Page.screencastFrame":
                shown = {"sessionId": params["sessionId"]}
                self._devtools.send("Page.screencastFrameAck", shown, self._session)
                self._recorder.keep_frame(params)
            case "Page.javascriptDialogOpening":  # nobody is there to close it
                self._devtools.send("Page.handleJavaScriptDialog", {"accept": True}, self._session)
            case "Target.attachedToTarget" if "sessionId" in message:
                self._listen(params["sessionId"])
                self._devtools.send("Runtime.runIfWaitingForDebugger", {}, params["sessionId"])
            case "Debugger.paused":
                self._recorder.stir()
                self._thread.hold(params)
            case "Page.frameNavigated":
                self._on_document(params["frame"])
            case "Inspector.targetCrashed" if message.get("sessionId") == self._session:
                raise DevToolsError("the page's process crashed")
            case _:
                self._recorder.hear(message, raw)
                if method == "Network.loadingFailed" and not params["canceled"]:
                    self._check_document(params)

    def _on_document(self, frame: Message) -> None:
        """There is a document, of which nothing has run yet but what came with its head."""
        self._thread.open_frame(frame["id"])
        if "parentId" in frame:
            return
        if self._user.made:
            raise DevToolsError(f"what the user did left the page for {frame['url']}")
        self._devtools.send("Runtime.evaluate", {"expression": _WATCH}, self._session)

    def _check_document(self, failed: Message) -> None:
        """A page of which the document broke off would never be loaded."""
        if failed["requestId"] == self._document:
            raise DevToolsError(f"the document broke off: {failed['errorText']}")

    def _navigate(self, url: str) -> None:
        """Go to a page, until it has come to rest."""
        limit_s = self._orders.limit_s
        until = time.monotonic() + limit_s
        self._recorder.begin()
        self._thread.begin()
        answer = self._call("Page.navigate", {"url": url})
        self._document = answer.get("loaderId", "")
        if error := answer.get("errorText"):
            raise DevToolsError(f"{url}: {error}")
        if not self._devtools.pump(until - time.monotonic(), lambda: self._recorder.is_loaded):
            raise DevToolsError(f"the page was not loaded within {limit_s:g} s")
        self._rest()

    def _rest(self) -> None:
        """Wait until nothing was requested, received or painted for a while."""
        give_up = time.monotonic() + _REST_LIMIT_S
        while (quiet_s := self._recorder.quiet_s) < _QUIET_S or self._recorder.is_busy:
            if time.monotonic() > give_up:
                return
            self._devtools.pump(max(_QUIET_S - quiet_s, _POLL_S))

    def _await_gestures(self) -> None:
        """Wait until the user has done all, and the page has come to rest after it."""
        if not self._user.is_done:
            self._devtools.pump(self._orders.limit_s, lambda: self._user.is_done)
            self._recorder.stir()
            self._rest()

    def _interactions(self) -> Message:
        if not self._orders.gestures:
            return {}
        frame = self._call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        return {"gestures": self._user.made, "events": self._user.heard(frame)}

    def _visit(self) -> None:
        """Fill the cache and get tickets, then have the browser close its connections."""
        for url in self._orders.visits:
            self._navigate(url)
            if self._orders.revisits:
                self._call("Page.navigate", {"url": "about:blank"})
                self._devtools.pump(REVISITED_AFTER_S)
        if not self._orders.revisits:
            self._leave()

    def _leave(self) -> None:
        """Have the browser close its connections."""
        self._call("Page.navigate", {"url": "about:blank"})
        self._devtools.pump(SETTLE_S)
        # To a browser, another address is another network: it closes its TCP connections.
        device = next(name for _, name in socket.if_nameindex() if name != "lo")
        for verb in ("add", "del"):
            subprocess.run(["ip", "address", verb, "192.0.2.1/32", "dev", device], check=True)
            self._devtools.pump(SETTLE_S)
        self._devtools.pump(_QUIC_IDLE_S)

    def _timings(self) -> Message:
        asked = {"expression": _TIMINGS, "returnByValue": True}
        result = self._call("Runtime.evaluate", asked)
        if "exceptionDetails" in result:
            raise DevToolsError(f"the page's timings: {result['exceptionDetails']['text']}")
        value: Message = result["result"]["value"]
        return value
