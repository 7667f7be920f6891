"""Gestures of a user on a page: clicks, keys and scrolling, each at its moment after the navigation.

A gesture is handed to the browser at its moment, whether or not the page's main thread is busy then: how long it waits
there is part of what is measured. Where an element is only that thread can tell, so it is asked for in the second
before, and the last answer counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headway.guest.devtools import DevTools, DevToolsError, Message

_LOOKS_S = tuple(tenth / 10 for tenth in range(10, -1, -1))
"""How long before its moment the page is asked where an element is."""
_WORLD = "headway"
"""Scripts of this world share the page's document, not its variables."""
_LISTEN = """globalThis.heard = [];
new PerformanceObserver(list => heard.push(...list.getEntries())).observe(
  {type: 'event', durationThreshold: 16, buffered: true});
new PerformanceObserver(list => heard.push(...list.getEntries())).observe(
  {type: 'first-input', buffered: true});"""
"""16 ms is the least threshold that there is (Event Timing API, section 3)."""
_HEARD = """heard.map(entry => ({
  name: entry.name, kind: entry.entryType, start_ms: entry.startTime, duration_ms: entry.duration,
  processing_start_ms: entry.processingStart, processing_end_ms: entry.processingEnd,
  interaction: entry.interactionId}))"""
_PLACE = """(selector => {
  const element = document.querySelector(selector);
  if (!element) return {problem: 'no element of the page is'};
  const box = element.getBoundingClientRect();
  if (!box.width || !box.height) return {problem: 'nothing is shown of the element'};
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight)
    return {problem: 'outside the window, scroll there before, is the middle of'};
  const top = document.elementFromPoint(x, y);
  if (top !== element && !element.contains(top)) return {problem: 'something else covers the middle of'};
  return {x, y};
})"""


@dataclass(frozen=True)
class Gesture:
    """One thing that a user does.

    Attributes:
        at_s: when, after the navigation.
        kind: click, key or scroll.
        what: a CSS selector of the element that is clicked, the key's name, or CSS pixels to scroll down.
        code: of a key, its virtual key code.
        text: of a key, what it writes.
    """

    at_s: float
    kind: str
    what: str
    code: int = 0
    text: str = ""


class User:
    """Carries out gestures on a page, one navigation after the other.

    Attributes:
        made: the gestures that were made since `begin`, each with when after the epoch, in the order of time.
    """

    def __init__(
        self, devtools: DevTools, session: str, gestures: Sequence[Gesture], size: tuple[int, int]
    ) -> None:
        self._devtools = devtools
        self._session = session
        self._gestures = gestures
        self._middle = (size[0] / 2, size[1] / 2)
        self._places: dict[Gesture, Message] = {}
        self.made: list[dict[str, Any]] = []
        if gestures:
            script = {"source": _LISTEN, "worldName": _WORLD}
            devtools.send("Page.addScriptToEvaluateOnNewDocument", script, session)

    @property
    def is_done(self) -> bool:
        """Whether all has been done."""
        return len(self.made) == len(self._gestures)

    def begin(self) -> None:
        """The navigation begins now."""
        begins_s = time.monotonic() if self._gestures else 0.0
        for gesture in self._gestures:
            self._plan(gesture, begins_s)

    def heard(self, frame: str) -> list[Message]:
        """The page's events that took 16 ms or more, and its first input.

        Args:
            frame: the page's main frame.
        """
        if not self._gestures:
            return []
        world = {"frameId": frame, "worldName": _WORLD}
        context = self._call("Page.createIsolatedWorld", world)["executionContextId"]
        asked = {"expression": _HEARD, "returnByValue": True, "contextId": context}
        entries: list[Message] = self._call("Runtime.evaluate", asked)["result"]["value"]
        return entries

    def _call(self, method: str, params: Message) -> Message:
        return self._devtools.call(method, params, self._session)

    def _plan(self, gesture: Gesture, begins_s: float) -> None:
        moment_s = begins_s + gesture.at_s
        if gesture.kind == "click":
            for before_s in _LOOKS_S:
                look_s = max(moment_s - before_s, begins_s)
                self._devtools.at(look_s, lambda: self._look_for(gesture))
        self._devtools.at(moment_s, lambda: self._make(gesture))

    def _look_for(self, gesture: Gesture) -> None:
        asked = {"expression": f"{_PLACE}({json.dumps(gesture.what)})", "returnByValue": True}

        def place(answer: Message) -> None:
            result = answer.get("result", {})
            if "exceptionDetails" in result:
                raise DevToolsError(f"{gesture.what!r} is no CSS selector that the browser knows")
            if value := result.get("result", {}).get("value"):
                self._places[gesture] = value

        self._devtools.ask("Runtime.evaluate", asked, self._session, place)

    def _make(self, gesture: Gesture) -> None:
        match gesture.kind:
            case "click":
                self._click(gesture)
            case "key":
                self._press(gesture)
            case _:
                self._send_mouse("mouseWheel", self._middle, deltaX=0, deltaY=float(gesture.what))
        self.made.append({"kind": gesture.kind, "what": gesture.what, "at_s": time.time()})

    def _click(self, gesture: Gesture) -> None:
        place = self._places.get(gesture, {"problem": "the page told nothing of the element"})
        if problem := place.get("problem"):
            raise DevToolsError(f"the click at {gesture.at_s:g} s: {problem} {gesture.what!r}")
        point = place["x"], place["y"]
        self._send_mouse("mouseMoved", point)
        for kind in ("mousePressed", "mouseReleased"):
            self._send_mouse(kind, point, button="left", clickCount=1)

    def _send_mouse(self, kind: str, point: tuple[float, float], **more: Any) -> None:
        params = {"type": kind, "x": point[0], "y": point[1], **more}
        self._devtools.send("Input.dispatchMouseEvent", params, self._session)

    def _press(self, gesture: Gesture) -> None:
        params: Message = {"key": gesture.what, "windowsVirtualKeyCode": gesture.code}
        if gesture.text:
            params["text"] = gesture.text
        for kind in ("keyDown" if gesture.text else "rawKeyDown", "keyUp"):
            self._devtools.send("Input.dispatchKeyEvent", {"type": kind, **params}, self._session)
