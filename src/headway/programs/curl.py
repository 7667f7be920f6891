"""curl: HTTP/1.1, HTTP/2 and HTTP/3."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headway.guest.orders import Ended, Program
from headway.programs.base import (
    CA_FILE,
    CLIENT,
    SECRETS_FILE,
    SERVER_NAME,
    Adjustment,
    Client,
    Measurement,
    Started,
    body_files,
    port,
    urls,
)
from headway.study.model import Protocol, Setting
from headway.study.workload import Download, Migration, Parallel

_VERSION_OPTION = {
    Protocol.H1: "--http1.1",
    Protocol.H2: "--http2",
    Protocol.H3: "--http3-only",
}
_VERSION_SEEN = {Protocol.H1: "1.1", Protocol.H2: "2", Protocol.H3: "3"}


class Curl(Client):
    """curl: one request, or several at once."""

    name = "curl"
    package = "curl"
    protocols = frozenset(Protocol)
    workloads = (Download, Parallel, Migration)
    quic_congestion_controls = ("cubic",)
    adjustments = (
        Adjustment("curl", "--resolve", "the server", "no time is spent on name resolution"),
        Adjustment(
            "curl",
            "--retry",
            "5, when the address changes",
            "curl starts again from the beginning, after its own pause of 1 s",
        ),
    )

    def start(self, setting: Setting, address: str) -> Started:
        """See `Client.start`."""
        argv = [
            "curl",
            "--silent",
            "--show-error",
            "--no-progress-meter",
            _VERSION_OPTION[setting.protocol],
            "--cacert",
            CA_FILE,
            "--resolve",
            f"{SERVER_NAME}:{port(setting)}:{address}",
            "--write-out",
            "%{json}\\n",
        ]
        if isinstance(setting.workload, Migration):
            argv += ["--retry", "5", "--retry-all-errors"]
        if setting.workload.requests > 1:
            argv += ["--parallel", "--parallel-max", str(setting.workload.requests)]
        bodies = body_files(setting)
        targets = bodies or ("/dev/null",) * setting.workload.requests
        for url, target in zip(urls(setting), targets, strict=True):
            argv += ["--output", target, url]
        env = {"SSLKEYLOGFILE": f"/lab/run/{SECRETS_FILE}"} if setting.capture.packets else {}
        return Started((Program(self.name, CLIENT, tuple(argv), env),), bodies=bodies)

    def measure(self, setting: Setting, directory: Path, ended: Ended) -> Measurement:
        """See `Client.measure`."""
        try:
            lines = (directory / "curl.out").read_text().splitlines()
            seen = [json.loads(line) for line in lines]
        except (FileNotFoundError, json.JSONDecodeError):
            seen = []
        if len(seen) < setting.workload.requests:
            return Measurement(error="curl printed no result")
        seen.sort(key=lambda one: one["urlnum"])
        for one in seen:
            if error := _error(one, setting):
                return Measurement(error=error)
        # For HTTP/3, curl's connect time is that of a UDP socket, which says nothing.
        connected = "time_appconnect" if setting.protocol is Protocol.H3 else "time_connect"
        # A transfer that joins a connection has none of its own; the first one made it.
        return Measurement(
            connect_s=max(one[connected] for one in seen),
            tls_s=max(one["time_appconnect"] for one in seen) if setting.tls else None,
            ttfb_s=min(one["time_starttransfer"] for one in seen),
            total_s=max(one["time_total"] for one in seen),
            bytes=sum(one["size_download"] for one in seen),
            each_s=tuple(one["time_total"] for one in seen),
        )


def _error(seen: dict[str, Any], setting: Setting) -> str | None:
    if seen["exitcode"] != 0:
        return f"curl: {seen['errormsg']} (exit status {seen['exitcode']})"
    if seen["response_code"] != 200:
        return f"the server answered with status {seen['response_code']}"
    if seen["http_version"] != _VERSION_SEEN[setting.protocol]:
        return f"HTTP/{seen['http_version']} was spoken, not {setting.protocol}"
    if seen["size_download"] != int(setting.workload.size):
        return f"{seen['size_download']} bytes came of {int(setting.workload.size)}"
    return None
