"""Recording a page with a Chromium of this machine."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from headway.errors import HeadwayError, WrongInputError
from headway.guest.devtools import (
    BrowserProcess,
    DevTools,
    DevToolsError,
    Message,
    spawn_browser,
)
from headway.sites.access import NO_DETOURS, Access
from headway.sites.capture import NetworkLog
from headway.sites.captured import Captured, RecordedFile
from headway.sites.screen import Screen
from headway.sites.tracing import CATEGORIES, Trace

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
"""Programs that can record, in the order in which they are looked for."""

_BODIES_BYTES = 1 << 30
_IDLE_S = 2.0
_LIMIT_S = 60.0
_TRACE_LIMIT_S = 20.0
_LOADED = "Page.loadEventFired"
_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
)


def find_browser(given: Path | None = None) -> Path:
    """The browser that records.

    Args:
        given: by the user; None to look for one in ``PATH``.

    Raises:
        WrongInputError: it is not there, or there is none.
    """
    for name in (str(given),) if given else BROWSERS:
        if path := shutil.which(name):
            return Path(path)
    if given:
        raise WrongInputError("no such program", where=f"--browser {given}")
    raise WrongInputError(
        f"recording a URL needs Chromium, and none of {', '.join(BROWSERS)} is in PATH; "
        "--browser names another one"
    )


def record_page(
    url: str, screen: Screen, browser: Path, access: Access = NO_DETOURS
) -> RecordedFile:
    """Load a page with an empty cache, and keep all that it takes.

    The page has loaded when its load event has fired and nothing has been under way for two
    seconds; after a minute, what has come by then is kept.

    Args:
        url: of the page, as it is to be replayed.
        screen: what the browser pretends to have.
        browser: the program.
        access: where hosts are, and whether their certificates matter.

    Raises:
        HeadwayError: the browser ends or fails, or the page cannot be reached.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        log = NetworkLog()
        try:
            with _running(browser, Path(profile), access.flags()) as process:
                session = _Session(process, log)
                is_whole = session.load(access.loaded(url), screen)
                trace = Trace.of(session.traced)
        except DevToolsError as error:
            raise HeadwayError(f"{url}: {error}{access.hint(str(error))}") from error
    return RecordedFile(
        tuple(_costed(log.captured(), trace)),
        name=(urlsplit(url).hostname or "site").replace(".", "-"),
        description=f"Recorded from {access.described(url)} with Chromium.",
        notes=(
            *_notes(trace),
            *(() if is_whole else (f"it was still loading after {_LIMIT_S:g} s",)),
        ),
    )


def _costed(captured: Iterable[Captured], trace: Trace) -> Iterator[Captured]:
    """Each with what it cost the main thread: the first at its URL. A script that was redirected has the URL of its request."""
    costs = dict(trace.costs)
    for exchange in captured:
        yield replace(exchange, cost=costs.pop(exchange.url, None))


def _notes(trace: Trace) -> tuple[str, ...]:
    if not trace.beside_ms:
        return ()
    return (f"workers took {trace.beside_ms:.0f} ms on threads of their own, which is not kept",)


@contextmanager
def _running(browser: Path, profile: Path, flags: tuple[str, ...]) -> Iterator[BrowserProcess]:
    """A browser, ended in the end."""
    argv = [str(browser), *_FLAGS, *flags, f"--user-data-dir={profile}"]
    if os.geteuid() == 0:  # it refuses to sandbox root
        argv.append("--no-sandbox")
    process = spawn_browser([*argv, "about:blank"], quiet=True)
    try:
        yield process
    finally:
        process.kill()


class _Session:
    """A page of the browser, and the frames and workers in processes of their own below it.

    Attributes:
        traced: the browser's trace of the load, once it is over.
    """

    def __init__(self, process: BrowserProcess, log: NetworkLog) -> None:
        self._devtools = DevTools(process.messages, process.commands, self._on_event)
        self._log = log
        self._loaded = self._is_traced = False
        self.traced: list[Message] = []
        self._id = ""
        target = self._devtools.call("Target.createTarget", {"url": "about:blank"})
        attached = self._devtools.call(
            "Target.attachToTarget", {"targetId": target["targetId"], "flatten": True}
        )
        self._id = attached["sessionId"]

    def load(self, url: str, screen: Screen) -> bool:
        """Load a page into the log; returns whether it came to rest in time."""
        self._listen(self._id)
        self._call("Page.enable")
        self._call("Network.setBypassServiceWorker", {"bypass": True})
        self._pretend(screen)
        config = {"includedCategories": list(CATEGORIES), "recordMode": "recordAsMuchAsPossible"}
        self._devtools.call(
            "Tracing.start", {"traceConfig": config, "transferMode": "ReportEvents"}
        )
        answer = self._call("Page.navigate", {"url": url})
        if error := answer.get("errorText"):
            raise DevToolsError(f"cannot be loaded: {error}")
        is_whole = self._come_to_rest()
        self._devtools.call("Tracing.end")
        self._devtools.pump(_TRACE_LIMIT_S, lambda: self._is_traced)
        return is_whole

    def _call(self, method: str, params: Message | None = None) -> Message:
        return self._devtools.call(method, params, self._id)

    def _listen(self, session: str) -> None:
        """Have a session tell its events, and stop its frames and workers until we listen."""
        sizes = {"maxTotalBufferSize": _BODIES_BYTES, "maxResourceBufferSize": _BODIES_BYTES}
        children = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        self._devtools.send("Network.enable", sizes, session)
        self._devtools.send("Target.setAutoAttach", children, session)

    def _pretend(self, screen: Screen) -> None:
        metrics = {
            "width": screen.width,
            "height": screen.height,
            "deviceScaleFactor": screen.scale,
            "mobile": screen.mobile,
        }
        self._call("Emulation.setDeviceMetricsOverride", metrics)
        self._call("Emulation.setTouchEmulationEnabled", {"enabled": screen.mobile})
        # A headless browser says so, and some sites refuse it.
        own = self._devtools.call("Browser.getVersion")["userAgent"].replace("Headless", "")
        agent = {"userAgent": screen.user_agent or own}
        self._call("Emulation.setUserAgentOverride", agent)

    def _come_to_rest(self) -> bool:
        """Fetch bodies as they become complete, until nothing more comes."""
        give_up_s = time.monotonic() + _LIMIT_S
        while (left_s := give_up_s - time.monotonic()) > 0:
            while self._log.complete:
                self._fetch(*self._log.complete.popleft())
            if not self._loaded or self._log.under_way:
                self._devtools.pump(min(left_s, _IDLE_S), lambda: bool(self._log.complete))
            elif not self._devtools.pump(_IDLE_S, self._is_busy):
                return True
        return False

    def _is_busy(self) -> bool:
        return bool(self._log.under_way or self._log.complete)

    def _fetch(self, session: str, number: str) -> None:
        with suppress(DevToolsError):  # it has no body, or the page has been left since
            answer = self._devtools.call("Network.getResponseBody", {"requestId": number}, session)
            self._log.add_body(number, answer)

    def _on_event(self, message: Message, _: bytes) -> None:
        self._log.hear(message)
        if message["method"] == "Tracing.dataCollected":
            self.traced += message["params"]["value"]
        elif message["method"] == "Tracing.tracingComplete":
            self._is_traced = True
        elif message["method"] == _LOADED and message.get("sessionId") == self._id:
            self._loaded = True
        elif message["method"] == "Target.attachedToTarget" and "sessionId" in message:
            child = message["params"]["sessionId"]
            self._listen(child)
            self._devtools.send("Runtime.runIfWaitingForDebugger", {}, child)
