"""Chromium, the headless shell: pages over HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from headway.columns.page import PageMetrics
from headway.contract.outcome import Ended
from headway.guest.browser import Configuration
from headway.guest.computing import SWITCH, Charge
from headway.guest.gestures import Gesture
from headway.guest.loadfiles import NET_LOG_FILE
from headway.guest.page import PageOrders
from headway.overriding import override
from headway.pages.families import attempts, family_of
from headway.pages.har import make_har
from headway.pages.load import LOAD_FILE, PageLoad, read_load
from headway.pages.load_check import missing_error, protocol_error, sharing_error
from headway.pages.lookups import addressed_s, lookups
from headway.pages.traffic import third_parties
from headway.programs.base import (
    KEY_PIN_FILE,
    Adjustment,
    Flow,
    Knob,
    Started,
)
from headway.programs.browser import BROWSER_PACKAGE, QUIC_OPTIONS, HeadlessShell, spoken_elsewhere
from headway.programs.costs import page_costs
from headway.programs.measurement import Measurement, Tried, Visit
from headway.programs.origins import origin_addresses
from headway.sites.finding import find_outline
from headway.sites.screen import SCREENS
from headway.study.discovery import Means
from headway.study.dns import RecordType
from headway.study.host import Host, Protocol
from headway.study.interaction import KEY_CODES, PageInteraction
from headway.study.workload import Cache, Connections, Page

HAR_FILE = "load.har"
_OF_LOG = frozenset({"fallback_s", "hol_bytes", "hol_s"})
"""Metrics that are measured from the log."""
_NOWHERE = "/.well-known/headway"
"""A path that no site has."""
_FRAME_SIDE = 400
"""Pixels to which WebPageTest's and browsertime's tools, too, reduce frames (visualmetrics.py, --full)."""


class Chromium(HeadlessShell):
    """Chromium's headless shell, one page in a browser context of its own."""

    name = "chromium"
    package = BROWSER_PACKAGE
    workloads = (Page,)
    discovers_by = frozenset({Means.ALT_SVC})
    chooses_family = True
    asks_for = frozenset({RecordType.A, RecordType.AAAA})
    knobs = (
        Knob(
            "net_log",
            "off",
            "keep Chromium's log of its network events; counts: only what is measured from it",
            ("on", "counts", "off"),
        ),
        QUIC_OPTIONS,
    )
    adjustments = (
        Adjustment(
            "chromium",
            "QUIC",
            "forced for h3, off for h1 and h2",
            "with a private authority it would never switch by Alt-Svc; every resource's protocol is checked",
        ),
        Adjustment(
            "chromium",
            "host resolver",
            "all hosts of a page are at the server's addresses, unless the study has [dns]",
            "no time is spent on name resolution",
        ),
        Adjustment(
            "chromium",
            "certificate errors",
            "ignored for the lab's key",
            "one certificate serves all hosts, under none of their names unless they share a connection",
        ),
    )

    @override
    def untold(self, metric: str, host: Host, protocol: Protocol) -> str:
        logged = self.net_log(host) != "off"
        return (
            ""
            if logged or metric not in _OF_LOG
            else 'tells it with client.knobs.net_log = "counts" only'
        )

    @override
    def start(self, flow: Flow) -> Started:
        page = _page(flow)
        hosts = origin_addresses(page, flow.address, flow.elsewhere, flow.origins_from)
        orders = PageOrders(
            url=_url(page, flow),
            visits=_visits(page, flow),
            revisits=bool(flow.discovery),
            limit_s=flow.limit.s,
            frame_side=_FRAME_SIDE if page.frames else 0,
            gestures=tuple(map(_gesture, page.interactions)),
            charges={
                _loaded(url, flow): Charge(**asdict(cost)) for url, cost in page_costs(page).items()
            },
            **asdict(SCREENS[page.device]),
        )
        configuration = Configuration(
            argv=(SWITCH,) if page.computing else (), trusted_key=KEY_PIN_FILE, page=orders
        )
        return self.driven(flow, hosts, configuration, _preparations(flow))

    @override
    def net_log(self, host: Host) -> str:
        return self.knob("net_log", host)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        if not (directory / LOAD_FILE).exists():
            return Measurement(error="chromium reported nothing about the page")
        # Frames are compared with numpy and Pillow, which those who only plan need not wait for.
        from headway.pages.metrics import page_metrics

        load = read_load(directory)
        metrics, tried = page_metrics(load), _tried(load, flow) if flow.other_address else ()
        if flow.resolver:
            metrics = metrics.model_copy(update=asdict(lookups(load)))
        if flow.elsewhere:
            metrics = _with_third_parties(metrics, load, flow)
        if self.net_log(flow.host) == "counts":
            (directory / NET_LOG_FILE).unlink(missing_ok=True)
        (directory / HAR_FILE).write_text(json.dumps(make_har(load)), encoding="utf-8")
        error = load.error
        if not flow.discovery:
            error = error or protocol_error(load, str(flow.protocol), spoken_elsewhere(flow))
        if not error and _page(flow).connections is Connections.ONE:
            error = sharing_error(load)
        error = error or missing_error(load)
        if error:
            return Measurement(error=f"chromium: {error}")
        return Measurement(
            dns_s=addressed_s(load) if flow.resolver else None,
            tried=tried,
            won=family_of(load) if flow.other_address else None,
            ttfb_s=metrics.response_start_s,
            total_s=metrics.plt_s,
            bytes=metrics.page_bytes,
            elsewhere_bytes=third_parties(load, spoken_elsewhere(flow).keys()).content_bytes,
            page=metrics,
            visit=_visit(load),
        )


def _with_third_parties(metrics: PageMetrics, load: PageLoad, flow: Flow) -> PageMetrics:
    groups = (group for group in flow.elsewhere if group.third_party)
    came = third_parties(load, {host for group in groups for host in group.hosts})
    numbers = {"third_party_objects": came.objects, "third_party_bytes": came.content_bytes}
    return metrics.model_copy(update=numbers)


def _tried(load: PageLoad, flow: Flow) -> tuple[Tried, ...]:
    return tuple(
        Tried(str(attempt.family), attempt.at_s) for attempt in attempts(load, flow.addresses)
    )


def _visit(load: PageLoad) -> Visit:
    ms = 1e-3
    awaited = [
        (resource.sent_ms * ms, resource.ended_ms * ms)
        for resource in load.resources
        if resource.from_network and resource.ended_ms is not None
    ]
    return Visit(load.time_origin_ms * ms, (load.connect_start_ms or 0.0) * ms, tuple(awaited))


def _page(flow: Flow) -> Page:
    assert isinstance(flow.workload, Page)
    return flow.workload


def _preparations(flow: Flow) -> int:
    """How often a page is loaded before the load that counts, itself among them."""
    return flow.discovery.visit if flow.discovery else 1


def _visits(page: Page, flow: Flow) -> tuple[str, ...]:
    """What the browser visits before the load.

    For tickets alone, it asks every host for something that is not there, which costs next to nothing.
    """
    if flow.discovery:
        return (_url(page, flow),) * (flow.discovery.visit - 1)
    match page.cache:
        case Cache.COLD:
            return ()
        case Cache.WARM:
            return (_url(page, flow),)
        case Cache.TICKETS:
            return tuple(f"https://{host}{_NOWHERE}" for host in find_outline(page.site).hosts)


def _gesture(interaction: PageInteraction) -> Gesture:
    kind, what = interaction.told
    if kind != "key":
        return Gesture(interaction.at.s, kind, what)
    code = KEY_CODES.get(what)
    writes = {"Enter": "\r"}.get(what, what if code is None else "")
    return Gesture(interaction.at.s, kind, what, code or ord(what.upper()), writes)


def _url(page: Page, flow: Flow) -> str:
    """The page's URL; without TLS, its path at the same host."""
    return _loaded(find_outline(page.site).page, flow)


def _loaded(url: str, flow: Flow) -> str:
    return url if flow.tls else url.replace("https:", "http:", 1)
