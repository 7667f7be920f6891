"""Has a page's main thread take the time that its scripts, style sheets and documents cost.

Computing takes no virtual time in a lab, so a thread that is to take some has to wait, and as nothing else of it: what
others do goes on. A script is held before its first statement. Style sheets and documents, and later calls into a script,
have the thread wait in a task of its own: `Atomics.wait`, which V8 lets main threads do if it is asked by a native function.
No wait costs the processor anything.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from headway.guest.devtools import DevTools, Message

SWITCH = "--js-flags=--allow-natives-syntax"
"""Lets scripts name V8's native functions."""
_WORLD = "headway"
_WAIT = """%SetAllowAtomicsWait(true);
const cell = new Int32Array(new WebAssembly.Memory({initial: 1, maximum: 1, shared: true}).buffer);
const wait = ms => Atomics.wait(cell, 0, 0, ms);"""
_LATER = "(() => {{ {wait} setTimeout(wait, 0, {ms}); }})()"
_RENDERING = """(() => {{
  {wait}
  const costs = new Map(Object.entries({costs}));
  const charge = url => {{
    const ms = costs.get(url);
    costs.delete(url);
    if (ms) wait(ms);
  }};
  const document_came = () => charge(location.href.split('#')[0]);
  const sheets_came = () => {{
    for (const sheet of document.styleSheets) if (sheet.href) charge(sheet.href);
  }};
  document.addEventListener('load', event => {{
    if (event.target instanceof HTMLLinkElement) charge(event.target.href);
  }}, true);
  document.addEventListener('readystatechange', document_came);
  requestAnimationFrame(() => {{
    sheets_came();
    document_came();
  }});
}})()"""
"""A style sheet costs when it has come, a document before its first frame, or when it is parsed if that is sooner.

The first frame shows what has come, and browsers differ in whether its event comes before: so that frame asks for itself.
"""


@dataclass(frozen=True)
class Charge:
    """What a resource costs the main thread, in milliseconds of virtual time; see `headway.sites.cost.ThreadCost`."""

    evaluations_ms: tuple[float, ...] = ()
    later_ms: tuple[tuple[float, float], ...] = ()
    work_ms: float = 0.0

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Charge:
        """A charge from what a file has of it."""
        later = tuple((after_ms, lasts_ms) for after_ms, lasts_ms in raw["later_ms"])
        return cls(tuple(raw["evaluations_ms"]), later, raw["work_ms"])


class MainThreadTime:
    """Charges a page for what it evaluates; to be told of the debugger's events.

    Attributes:
        held_ms: for how long scripts were held, since `begin`.
    """

    def __init__(self, devtools: DevTools, session: str, charges: Mapping[str, Charge]) -> None:
        self._devtools = devtools
        self._session = session
        self._charges = charges
        self._due: dict[str, deque[float]] = {}
        self.held_ms = 0.0
        if charges:
            self._prepare()

    def begin(self) -> None:
        """A navigation begins: nothing has been evaluated."""
        self._due = {url: deque(charge.evaluations_ms) for url, charge in self._charges.items()}
        self.held_ms = 0.0

    def open_frame(self, frame: str) -> None:
        """A frame has another document: have it run scripts at once, although it may have none itself."""
        if self._charges:
            world = {"frameId": frame, "worldName": _WORLD}
            self._devtools.send("Page.createIsolatedWorld", world, self._session)

    def hold(self, paused: Message) -> None:
        """A script is about to begin, and the thread does nothing else until it may."""
        url = str((paused.get("data") or {}).get("url", "")).partition("#")[0]
        due = self._due.get(url)
        lasts_ms = due.popleft() if due else 0.0
        if not lasts_ms:
            self._resume()
            return
        self.held_ms += lasts_ms
        ends_s = time.monotonic() + lasts_ms / 1e3
        self._devtools.at(ends_s, self._resume)
        if not due:
            self._plan(self._charges[url], ends_s)

    def _prepare(self) -> None:
        works = {url: charge.work_ms for url, charge in self._charges.items() if charge.work_ms}
        script = _RENDERING.format(wait=_WAIT, costs=json.dumps(works))
        self._call("Debugger.enable")
        self._call(
            "Debugger.setInstrumentationBreakpoint", {"instrumentation": "beforeScriptExecution"}
        )
        if works:
            self._call(
                "Page.addScriptToEvaluateOnNewDocument", {"source": script, "worldName": _WORLD}
            )

    def _plan(self, charge: Charge, ended_s: float) -> None:
        """Have the thread called later, as long after the script as it was."""
        for after_ms, lasts_ms in charge.later_ms:
            self._devtools.at(ended_s + after_ms / 1e3, partial(self._busy, lasts_ms))

    def _busy(self, lasts_ms: float) -> None:
        expression = _LATER.format(wait=_WAIT, ms=lasts_ms)
        self._devtools.send("Runtime.evaluate", {"expression": expression}, self._session)

    def _resume(self) -> None:
        self._devtools.send("Debugger.resume", {}, self._session)

    def _call(self, method: str, params: Message | None = None) -> None:
        self._devtools.call(method, params, self._session)
