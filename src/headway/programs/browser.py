"""Chromium's headless shell: how it is started and driven, whatever it is there for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from headway.contract.program import Program
from headway.guest.browser import DONE, GO, READY, Configuration
from headway.guest.loadfiles import NET_LOG_FILE
from headway.programs.base import SECRETS_FILE, Client, Flow, Knob, Started
from headway.programs.client import hosts_files, resolver_files
from headway.programs.origins import named_addresses
from headway.study.family import HostAddress
from headway.study.host import HTTP, Host, Protocol

BROWSER_PACKAGE = "chromium-headless-shell"
_CONFIGURATION_FILE = "configuration.json"
_DRIVER = ("python3", "-B", "-m", "headway.guest.browser")
_LOAD = """
echo "$RUN_DIRECTORY" >"$1"
# A load that was given up may still end.
until [ "$answer" = "$RUN_DIRECTORY" ]; do read -r answer <"$2" || exit; done
"""
PREPARED_WITHIN_NS = 120 * 10**9
"""The browser's start, and that the connections of a visit are closed."""
_CAPTURE_MODES = {"on": "Everything", "counts": "Default"}
"""What is logged of contents, by the knob for the log."""
_FRAME_INTERVAL_NS = 16_666_000
"""Chromium paints at multiples of this; 500 of them are whole ticks of the kernel, too."""
_NO_PORT = 1
"""At which no host of a page is asked."""
_USUAL: tuple[tuple[str, Any], ...] = (
    ("revisits", False),
    ("player", None),
    ("gestures", ()),
    ("charges", {}),
)
"""Values of a configuration that it does not state, as it was before there were others."""
QUIC_OPTIONS = Knob(
    "quic_connection_options",
    "",
    "options that QUIC asks the server for, such as B2ON or IW50; Google's servers and Envoy know them",
)

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


class HeadlessShell(Client):
    """A program that is a page in Chromium's headless shell."""

    protocols = HTTP
    memory_mib = 2048
    start_grid_ns = 500 * _FRAME_INTERVAL_NS
    quic_congestion_controls = ("cubic",)

    def driven(
        self, flow: Flow, hosts: Iterable[str], configuration: Configuration, preparations: int = 1
    ) -> Started:
        """The browser with what drives it, which does what its configuration says once the workload begins.

        Args:
            flow: what is asked of it.
            hosts: names that it asks.
            configuration: what it does; its command line is added to the browser's own.
            preparations: how often what is done is done before.
        """
        own = f"/run/browser/{flow.namespace}"
        command = (*self._command(flow, hosts), *configuration.argv)
        stated = asdict(configuration, dict_factory=_stated) | {"argv": command}
        driver = Program(
            f"{flow.namespace}-{self.name}",
            flow.namespace,
            (*_DRIVER, f"{own}/{_CONFIGURATION_FILE}"),
            {"PYTHONPATH": "/lab/code", **_environment(flow)},
            service=True,
            listens=(f"{own}/{READY}",),
            ready_within_ns=flow.limit.ns + PREPARED_WITHIN_NS * preparations,
            # Its log is whole only if Chromium itself ends it.
            finishes=self.net_log(flow.host) != "off",
        )
        argv = ("sh", "-c", _LOAD, "sh", f"{own}/{GO}", f"{own}/{DONE}")
        load = Program(self.name, flow.namespace, argv)
        files = {
            f"{own}/{_CONFIGURATION_FILE}": json.dumps(stated),
            **resolver_files(flow.resolver),
        }
        if flow.other_address and not flow.resolver:
            files |= hosts_files(named_addresses(flow))
        return Started((driver, load), files)

    def net_log(self, host: Host) -> str:
        """Which log of its network events Chromium keeps: on, counts or off."""
        return "off"

    def _command(self, flow: Flow, hosts: Iterable[str]) -> tuple[str, ...]:
        argv = [
            "/usr/lib/chromium/chromium-headless-shell",
            *_SWITCHES,
            *(_unforced(flow, hosts) if flow.discovery else _forced(flow, hosts)),
            f"--user-data-dir=/tmp/chromium-{flow.namespace}",
            *(() if flow.resolver or flow.other_address else _told(named_addresses(flow))),
        ]
        if options := self.knob("quic_connection_options", flow.host):
            argv.append(f"--quic-connection-options={options}")
        if mode := _CAPTURE_MODES.get(self.net_log(flow.host)):
            argv += [f"--log-net-log=/lab/run/{NET_LOG_FILE}", f"--net-log-capture-mode={mode}"]
        return tuple(argv)


def _environment(flow: Flow) -> dict[str, str]:
    if not flow.capture.keeps_secrets:
        return {}
    return {"SSLKEYLOGFILE": f"/lab/run/{SECRETS_FILE}"}


def _stated(values: list[tuple[str, Any]]) -> dict[str, Any]:
    """A configuration's values but for those that are usual."""
    return {name: value for name, value in values if (name, value) not in _USUAL}


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
    spoken = spoken_elsewhere(flow)
    if not spoken:
        return ("--origin-to-force-quic-on=*",)
    quic = [host for host in hosts if spoken.get(host, "h3") == "h3"]
    return (f"--origin-to-force-quic-on={','.join(f'{host}:{flow.port}' for host in quic)}",)


def spoken_elsewhere(flow: Flow) -> dict[str, str]:
    """What hosts speak that have servers of their own."""
    return {host: str(group.protocol) for group in flow.elsewhere for host in group.hosts}
