"""Costs of resources on the main thread, from a browser's trace of a load.

The format is that of Chromium's trace events; names of events are those that its developer tools show. Times are those
that the thread had the processor, where the trace has them: other programs of the machine do not count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headway.sites.cost import ThreadCost

CATEGORIES = ("devtools.timeline", "v8", "disabled-by-default-devtools.timeline", "__metadata")

_MAIN = "CrRendererMain"
_EVALUATES = frozenset({"EvaluateScript", "EvaluateModule", "v8.evaluateModule"})
_COMPILES = frozenset({"v8.compile", "v8.compileModule"})
_RENDERS = frozenset({"UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize", "Commit"})
_PARSES = {"ParseHTML": "beginData", "ParseAuthorStyleSheet": "data"}
_CALLS = "FunctionCall"

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Trace:
    """What a trace tells.

    Attributes:
        costs: of resources, by their URLs without fragments.
        beside_ms: what scripts took on threads beside the main one: of workers.
    """

    costs: Mapping[str, ThreadCost]
    beside_ms: float = 0.0

    @classmethod
    def of(cls, events: Iterable[Event]) -> Trace:
        """What the events of a trace tell."""
        every = list(events)
        main = {
            (event["pid"], event["tid"])
            for event in every
            if event["name"] == "thread_name" and event["args"].get("name") == _MAIN
        }
        page = next((event["args"]["data"]["url"] for event in every if _is_page(event)), "")
        tally, beside_ms = _Ledger(page.partition("#")[0]), 0.0
        for thread, spans in _spans(every).items():
            if thread in main:
                tally.add(spans)
            else:
                beside_ms += math.fsum(
                    span.lasts_ms for span in spans if span.event["name"] in _EVALUATES
                )
        return cls(tally.costs(), beside_ms)


@dataclass
class _Span:
    """What a thread did for a while, and what within it is told of by itself."""

    event: Event
    begins_ms: float
    ends_ms: float
    lasts_ms: float
    within: list[_Span] = field(default_factory=list)

    @property
    def own_ms(self) -> float:
        """Without what is told of by itself."""
        return max(0.0, self.lasts_ms - math.fsum(span.lasts_ms for span in self.within))


def _spans(events: Iterable[Event]) -> dict[tuple[int, int], list[_Span]]:
    """The spans of each thread that are within no other, in the order of time."""
    tops: defaultdict[tuple[int, int], list[_Span]] = defaultdict(list)
    open_spans: defaultdict[tuple[int, int], list[_Span]] = defaultdict(list)
    known = _EVALUATES | _COMPILES | _RENDERS | _PARSES.keys() | {_CALLS}
    for event in sorted(events, key=lambda event: (event.get("ts", 0), -event.get("dur", 0))):
        if event.get("ph") != "X" or event["name"] not in known:
            continue
        thread, begins_ms = (event["pid"], event["tid"]), event["ts"] / 1e3
        span = _Span(
            event,
            begins_ms,
            begins_ms + event.get("dur", 0) / 1e3,
            event.get("tdur", event.get("dur", 0)) / 1e3,
        )
        above = open_spans[thread]
        while above and above[-1].ends_ms <= begins_ms:
            above.pop()
        (above[-1].within if above else tops[thread]).append(span)
        above.append(span)
    return tops


def _is_page(event: Event) -> bool:
    data = event.get("args", {}).get("data", {})
    return event["name"] == "CommitLoad" and bool(data.get("isMainFrame")) and "url" in data


class _Ledger:
    """Adds up what resources cost; what nobody is named for is the page's."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._evaluations: defaultdict[str, list[float]] = defaultdict(list)
        self._compiled: defaultdict[str, float] = defaultdict(float)
        self._evaluated_ms: dict[str, float] = {}
        self._later: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
        self._work: defaultdict[str, float] = defaultdict(float)

    def add(self, spans: Iterable[_Span]) -> None:
        """Take what a thread did."""
        for span in spans:
            name = span.event["name"]
            if name in _EVALUATES:
                self._evaluate(span)
            elif name in _COMPILES:
                self._compiled[_url(span.event)] += span.lasts_ms
            elif name == _CALLS:
                self._call(span)
            else:
                place = _PARSES.get(name)
                url = _url(span.event, place) if place else ""
                self._work[url or self._page] += span.own_ms
                self.add(span.within)

    def _evaluate(self, span: _Span) -> None:
        """A script, with all that happens within it; the compilation that came before is its own."""
        url = _url(span.event)
        self._evaluations[url].append(span.lasts_ms + self._compiled.pop(url, 0.0))
        self._evaluated_ms[url] = span.ends_ms

    def _call(self, span: _Span) -> None:
        url = _url(span.event)
        if (after_ms := self._evaluated_ms.get(url)) is not None:
            self._later[url].append((span.begins_ms - after_ms, span.lasts_ms))
        else:
            self._work[self._page] += span.lasts_ms

    def costs(self) -> dict[str, ThreadCost]:
        """By URL; of those that are requested."""
        urls = {*self._evaluations, *self._later, *self._work}
        return {
            url: ThreadCost(
                tuple(self._evaluations.get(url, ())),
                tuple(self._later.get(url, ())),
                self._work.get(url, 0.0),
            )
            for url in sorted(urls)
            if url.startswith(("http:", "https:"))
        }


def _url(event: Event, place: str = "data") -> str:
    data = event.get("args", {}).get(place, {})
    url = data.get("url") or data.get("styleSheetUrl") or event.get("args", {}).get("fileName", "")
    return str(url).partition("#")[0]
