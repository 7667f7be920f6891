"""Clients of one's own that speak another version than a study asks for, or ask somebody else, have failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.columns import Record
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PROGRAMS = """
[server.both]
argv = ["./both.sh", "{address}:{port}", "{certificate}", "{key}", "{root}"]
protocols = ["h2", "h3"]

[client.mine]
argv = ["sh", "{files}/mine.sh", "{ca}", "{url}"]
protocols = ["h2", "h3"]
mount = ["mine.sh"]
"""
NGINX = """#!/bin/sh
mkdir -p /run/own
cat >/run/own.conf <<C
daemon off; user root; worker_processes 1; pid /run/own.pid;
events { worker_connections 256; }
http {
  access_log off; error_log stderr;
  client_body_temp_path /run/own/b; proxy_temp_path /run/own/p; fastcgi_temp_path /run/own/f;
  uwsgi_temp_path /run/own/u; scgi_temp_path /run/own/s;
  server {
    listen $1 ssl; listen $1 quic reuseport; http2 on;
    ssl_certificate $2; ssl_certificate_key $3; root $4;
  }
}
C
exec nginx -c /run/own.conf -e stderr
"""
FORGETS = 'exec curl -s --cacert "$1" -o /dev/null "$2"\n'
ASKS = 'exec curl -s --http3-only --cacert "$1" -o /dev/null "$2"\n'
FALLS_BACK = f"""curl -s -m 0.3 --http3-only --cacert "$1" -o /dev/null "$2" && exit 0
{FORGETS}"""
HAS_IT_ALREADY = "sleep 0.2\n"


def run_mine(run_setting: RunSetting, place: Path, script: str, protocol: str) -> Record:
    place.joinpath("both.sh").write_text(NGINX)
    place.joinpath("both.sh").chmod(0o755)
    place.joinpath("mine.sh").write_text(script)
    file = place / "programs.toml"
    file.write_text(PROGRAMS)
    setting = Setting.model_validate(
        {
            "protocol": protocol,
            "server": {"program": "both"},
            "client": {"program": "mine"},
            "path": {"rate": "10 Mbit/s", "rtt": "60 ms"},
            "workload": {"size": "300 kB"},
        }
    )
    return run_setting(setting.model_copy(update={"programs": read_programs(file)}))


@pytest.mark.parametrize(
    ("script", "protocol", "error"),
    [
        (FORGETS, "h3", "asked for h3, but no UDP packet came from the server; "),
        (FALLS_BACK, "h3", "asked for h3, but only "),
        (ASKS, "h2", "asked for h2, but no TCP packet came from the server; "),
        (HAS_IT_ALREADY, "h3", "mine says that it got 300,000 bytes, but no UDP packet came"),
    ],
    ids=["forgets", "falls-back", "asks-for-another", "has-it-already"],
)
def test_another_version_than_was_asked_for_is_a_failed_run(
    run_setting: RunSetting, tmp_path: Path, script: str, protocol: str, error: str
) -> None:
    record = run_mine(run_setting, tmp_path, script, protocol)
    assert record.status == "failed"
    assert (record.error or "").startswith(error)


def test_what_was_asked_for_is_seen(run_setting: RunSetting, tmp_path: Path) -> None:
    record = run_mine(run_setting, tmp_path, ASKS, "h3")
    assert record.status == "ok"
    down, up = record.udp_packets_down or 0, record.udp_packets_up or 0
    assert down >= 300_000 / 1472
    assert up > 2
    assert (record.tcp_packets_down, record.tcp_packets_up) == (0, 0)


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_every_segment_of_a_chain_is_seen(
    run_setting: RunSetting, protocol: str, family: str
) -> None:
    proxies = {
        "quic_pep": {"program": "headway-quic-pep"},
        "tcp_pep": {"program": "headway-tcp-pep"},
    }
    record = run_setting(
        {
            "protocol": protocol,
            "family": family,
            "client": {"program": "headway-client"},
            "server": {"program": "headway-server"},
            "hops": [{"name": "pep", "path": {"rtt": "20 ms"}, **proxies}],
            "path": {"rtt": "20 ms"},
            "workload": {"size": "300 kB"},
        }
    )
    assert record.error is None
    counts = (record.tcp_packets_down, record.udp_packets_down)
    asked, other = counts if protocol == "h2" else reversed(counts)
    assert asked is not None and asked >= 300_000 / 1500
    assert other == 0
