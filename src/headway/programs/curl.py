"""curl: HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

import json
from pathlib import Path

from headway.guest.orders import Program
from headway.programs.base import (
    CLIENT,
    SECRETS_FILE,
    SERVER_NAME,
    Adjustment,
    Client,
    Measurement,
    Started,
    port,
    url,
)
from headway.study.model import Protocol, Setting

_VERSION_OPTION = {
    Protocol.H1: "--http1.1",
    Protocol.H2: "--http2",
    Protocol.H3: "--http3-only",
}
_VERSION_SEEN = {Protocol.H1: "1.1", Protocol.H2: "2", Protocol.H3: "3"}


class Curl(Client):
    """curl, one request."""

    name = "curl"
    package = "curl"
    protocols = frozenset(Protocol)
    quic_congestion_control = "cubic"
    adjustments = (
        Adjustment("curl", "--resolve", "the server", "no time is spent on name resolution"),
    )

    def start(self, setting: Setting, address: str) -> Started:
        """See `Client.start`."""
        argv = (
            "curl",
            "--silent",
            "--show-error",
            "--no-progress-meter",
            _VERSION_OPTION[setting.protocol],
            "--cacert",
            "/lab/pki/ca.pem",
            "--resolve",
            f"{SERVER_NAME}:{port(setting)}:{address}",
            "--output",
            "/dev/null",
            "--write-out",
            "%{json}",
            url(setting),
        )
        env = {"SSLKEYLOGFILE": f"/lab/run/{SECRETS_FILE}"} if setting.capture.packets else {}
        return Started(Program(self.name, CLIENT, argv, env))

    def measure(self, setting: Setting, run_directory: Path) -> Measurement:
        """See `Client.measure`."""
        try:
            seen = json.loads((run_directory / "curl.out").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return Measurement(error="curl printed no result")
        if seen["exitcode"] != 0:
            return Measurement(error=f"curl: {seen['errormsg']} (exit status {seen['exitcode']})")
        if seen["response_code"] != 200:
            return Measurement(error=f"the server answered with status {seen['response_code']}")
        if seen["http_version"] != _VERSION_SEEN[setting.protocol]:
            return Measurement(
                error=f"HTTP/{seen['http_version']} was spoken, not {setting.protocol}"
            )
        if seen["size_download"] != int(setting.workload.size):
            return Measurement(
                error=f"{seen['size_download']} bytes came of {int(setting.workload.size)}"
            )
        # For HTTP/3, curl's connect time is that of a UDP socket, which says nothing.
        connected = "time_appconnect" if setting.protocol is Protocol.H3 else "time_connect"
        return Measurement(
            connect_s=seen[connected],
            tls_s=seen["time_appconnect"] if setting.tls else None,
            ttfb_s=seen["time_starttransfer"],
            total_s=seen["time_total"],
            bytes=seen["size_download"],
        )
