"""Chromium, the headless shell: pages over HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from typing_extensions import override

from headway.columns.page import PageMetrics
from headway.contract.orders import Ended, Program
from headway.guest.browser import DONE, GO, READY, Configuration
from headway.guest.loadfiles import NET_LOG_FILE
from headway.guest.page import PageOrders
from headway.pages.families import attempts, family_of
from headway.pages.har import make_har
from headway.pages.load import LOAD_FILE, PageLoad, read_load
from headway.pages.lookups import addressed_s, lookups
from headway.pages.metrics import page_metrics
from headway.pages.spoken import missing_error, protocol_error, sharing_error
from headway.pages.traffic import third_parties
from headway.programs.base import (
    KEY_PIN_FILE,
    SECRETS_FILE,
    Adjustment,
    Client,
    Flow,
    Knob,
    Started,
)
from headway.programs.client import hosts_files, resolver_files
from headway.programs.measurement import Measurement, Tried, Visit
from headway.programs.origins import named_addresses, origin_addresses
from headway.sites.finding import find_outline
from headway.sites.screen import SCREENS
from headway.study.discovery import Means
from headway.study.dns import RecordType
from headway.study.family import HostAddress
from headway.study.host import HTTP, Host, Protocol
from headway.study.workload import Cache, Connections, Page

_CONFIGURATION_FILE = "configuration.json"
_DRIVER = ("python3", "-B", "-m", "headway.guest.browser")
_LOAD = """
echo "$RUN_DIRECTORY" >"$1"
# A load that was given up may still end.
until [ "$answer" = "$RUN_DIRECTORY" ]; do read -r answer <"$2" || exit; done
"""
_PREPARED_WITHIN_NS = 120 * 10**9
"""The browser's start, and that the connections of a visit are closed."""
HAR_FILE = "load.har"
_CAPTURE_MODES = {"on": "Everything", "counts": "Default"}
"""What is logged of contents, by the knob for the log."""
_OF_LOG = frozenset({"fallback_s", "hol_bytes", "hol_s"})
"""Metrics that are measured from the log."""
_FRAME_INTERVAL_NS = 16_666_000
"""Chromium paints at multiples of this; 500 of them are whole ticks of the kernel, too."""
_NO_PORT = 1
"""At which no host of a page is asked."""
_NOWHERE = "/.well-known/headway"
"""A path that no site has."""
_FRAME_SIDE = 400
"""Pixels to which WebPageTest's and browsertime's tools, too, reduce frames (visualmetrics.py, --full)."""

_VERSION = {
    Protocol.H1: ("--disable-quic", "--disable-http2"),
    Protocol.H2: ("--disable-quic",),
    Protocol.H3: ("--enable-quic",),
}
_SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    # Fewer processes start faster, and hand less over to each other.
    "--in-process-gpu",
    # Nor does a frame of another site have a process, which the page would have to wait for.
    "--disable-site-isolation-trials",
    "--no-first-run",
    "--no-proxy-server",
    # Nothing but the page uses the network.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-breakpad",
)


class Chromium(Client):
    """Chromium's headless shell, one page in a browser context of its own."""

    name = "chromium"
    package = "chromium-headless-shell"
    protocols = HTTP
    workloads = (Page,)
    discovers_by = frozenset({Means.ALT_SVC})
    chooses_family = True
    asks_for = frozenset({RecordType.A, RecordType.AAAA})
    memory_mib = 2048
    start_grid_ns = 500 * _FRAME_INTERVAL_NS
    quic_congestion_controls = ("cubic",)
    knobs = (
        Knob(
            "net_log",
            "off",
            "keep Chromium's log of its network events; counts: only what is measured from it",
            ("on", "counts", "off"),
        ),
        Knob(
            "quic_connection_options",
            "",
            "options that QUIC asks the server for, such as B2ON or IW50; Google's servers and Envoy know them",
        ),
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
        logged = self.knob("net_log", host) != "off"
        return (
            ""
            if logged or metric not in _OF_LOG
            else 'tells it with client.knobs.net_log = "counts" only'
        )

    @override
    def start(self, flow: Flow) -> Started:
        page, own = _page(flow), f"/run/browser/{flow.namespace}"
        addresses = origin_addresses(page, flow.address, flow.elsewhere, flow.origins_from)
        configuration = Configuration(
            argv=self._command(flow, addresses),
            trusted_key=KEY_PIN_FILE,
            page=PageOrders(
                url=_url(page, flow),
                visits=_visits(page, flow),
                revisits=bool(flow.discovery),
                limit_s=flow.limit.s,
                frame_side=_FRAME_SIDE if page.frames else 0,
                **asdict(SCREENS[page.device]),
            ),
        )
        driver = Program(
            f"{flow.namespace}-{self.name}",
            flow.namespace,
            (*_DRIVER, f"{own}/{_CONFIGURATION_FILE}"),
            {"PYTHONPATH": "/lab/code", **self._environment(flow)},
            service=True,
            listens=(f"{own}/{READY}",),
            ready_within_ns=flow.limit.ns + _PREPARED_WITHIN_NS * _preparations(flow),
            # Its log is whole only if Chromium itself ends it.
            finishes=self.knob("net_log", flow.host) != "off",
        )
        argv = ("sh", "-c", _LOAD, "sh", f"{own}/{GO}", f"{own}/{DONE}")
        load = Program(self.name, flow.namespace, argv)
        file = json.dumps(asdict(configuration, dict_factory=_said))
        files = {f"{own}/{_CONFIGURATION_FILE}": file, **resolver_files(flow.resolver)}
        if flow.other_address and not flow.resolver:
            files |= hosts_files(named_addresses(flow))
        return Started((driver, load), files)

    @override
    def measure(self, flow: Flow, directory: Path, ended: Ended) -> Measurement:
        if not (directory / LOAD_FILE).exists():
            return Measurement(error="chromium reported nothing about the page")
        load = read_load(directory)
        metrics, tried = page_metrics(load), _tried(load, flow) if flow.other_address else ()
        if flow.resolver:
            metrics = metrics.model_copy(update=asdict(lookups(load)))
        if flow.elsewhere:
            metrics = _with_third_parties(metrics, load, flow)
        if self.knob("net_log", flow.host) == "counts":
            (directory / NET_LOG_FILE).unlink(missing_ok=True)
        (directory / HAR_FILE).write_text(json.dumps(make_har(load)), encoding="utf-8")
        error = load.error
        if not flow.discovery:
            error = error or protocol_error(load, str(flow.protocol), _spoken_elsewhere(flow))
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
            page=metrics,
            visit=_visit(load),
        )

    def _command(self, flow: Flow, addresses: dict[str, HostAddress]) -> tuple[str, ...]:
        argv = [
            "/usr/lib/chromium/chromium-headless-shell",
            *_SWITCHES,
            *(_unforced(flow, addresses) if flow.discovery else _forced(flow, addresses)),
            f"--user-data-dir=/tmp/chromium-{flow.namespace}",
            *(() if flow.resolver or flow.other_address else _told(named_addresses(flow))),
        ]
        if options := self.knob("quic_connection_options", flow.host):
            argv.append(f"--quic-connection-options={options}")
        if mode := _CAPTURE_MODES.get(self.knob("net_log", flow.host)):
            argv += [f"--log-net-log=/lab/run/{NET_LOG_FILE}", f"--net-log-capture-mode={mode}"]
        return tuple(argv)

    def _environment(self, flow: Flow) -> dict[str, str]:
        if not flow.capture.keeps_secrets:
            return {}
        return {"SSLKEYLOGFILE": f"/lab/run/{SECRETS_FILE}"}


def _told(names: Mapping[str, tuple[HostAddress, ...]]) -> tuple[str, ...]:
    """Tells addresses of hosts; others are not to be asked for, and not to be waited for."""
    rules = ", ".join(f"MAP {name} {addresses[0].in_url}" for name, addresses in names.items())
    return (f"--host-resolver-rules={rules}, MAP * ~NOTFOUND",)


def _forced(flow: Flow, hosts: Iterable[str]) -> tuple[str, ...]:
    return (*_VERSION[flow.protocol], *_forced_quic(flow, hosts))


def _unforced(flow: Flow, hosts: Iterable[str]) -> tuple[str, ...]:
    """Chromium as it ships, but that it trusts the lab's authority over QUIC: hosts that it is forced to use QUIC with on any port it trusts on all (``ProofVerifierChromium``)."""
    trusted = ",".join(f"{host}:{_NO_PORT}" for host in hosts)
    return (f"--origin-to-force-quic-on={trusted}",)


def _forced_quic(flow: Flow, hosts: Iterable[str]) -> tuple[str, ...]:
    """Where QUIC is used without asking: with all hosts that speak HTTP/3."""
    if flow.protocol is not Protocol.H3:
        return ()
    spoken = _spoken_elsewhere(flow)
    if not spoken:
        return ("--origin-to-force-quic-on=*",)
    quic = [host for host in hosts if spoken.get(host, "h3") == "h3"]
    return (f"--origin-to-force-quic-on={','.join(f'{host}:{flow.port}' for host in quic)}",)


def _with_third_parties(metrics: PageMetrics, load: PageLoad, flow: Flow) -> PageMetrics:
    groups = (group for group in flow.elsewhere if group.third_party)
    came = third_parties(load, {host for group in groups for host in group.hosts})
    told = {"third_party_objects": came.objects, "third_party_bytes": came.content_bytes}
    return metrics.model_copy(update=told)


def _spoken_elsewhere(flow: Flow) -> dict[str, str]:
    """What hosts speak that have servers of their own."""
    return {host: str(group.protocol) for group in flow.elsewhere for host in group.hosts}


def _said(values: list[tuple[str, Any]]) -> dict[str, Any]:
    """A configuration's values but for those that are usual, as they were before there were others."""
    return {name: value for name, value in values if (name, value) != ("revisits", False)}


def _tried(load: PageLoad, flow: Flow) -> tuple[Tried, ...]:
    return tuple(Tried(str(one.family), one.at_s) for one in attempts(load, flow.addresses))


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


def _url(page: Page, flow: Flow) -> str:
    """The page's URL; without TLS, its path at the same host."""
    url = find_outline(page.site).page
    return url if flow.tls else url.replace("https:", "http:", 1)
