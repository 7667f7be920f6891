"""Keys that a study states where no run has what they act on."""

from typing import Any

import pytest

from headway.planning.idle_keys import idle_keys
from headway.planning.runs import Run
from headway.study.setting import Setting

OWN = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
PERF = {"client": {"program": "headway-perf"}, "server": {"program": "headway-perf"}}
BULK = {"protocol": "tcp", "workload": {"kind": "bulk", "size": "1 MB"}, **PERF}
CORES = {"client": {"kernel": {"processor": {"cores": 2}}}}
SLOW = {"client": {"kernel": {"processor": {"profile": "desktop", "cores": 2}}}}


def planned(**setting: Any) -> Run:
    return Run("run", "study", "", "cell", "one", 1, 1, Setting.model_validate(setting))


def requests(users: int) -> dict[str, Any]:
    return {**OWN, "workload": {"kind": "requests", "count": 5, "down": "3 kB", "users": users}}


@pytest.mark.parametrize(
    ("idle", "acting", "keys"),
    [
        (
            {**OWN, "dns": {"silent": True, "delay": "3 ms", "drops": ["A"]}},
            {**OWN, "dns": {"delay": "3 ms", "drops": ["A"]}},
            ["dns.delay", "dns.drops"],
        ),
        (
            {**OWN, "dns": {"unknown": True, "ttl": "9 s", "cname": ["a.test"]}},
            {**OWN, "dns": {"ttl": "9 s", "cname": ["a.test"]}},
            ["dns.cname"],
        ),
        ({"clock": "cpu", "rewrite_calls": False}, {"rewrite_calls": False}, ["rewrite_calls"]),
        (
            {**BULK, "certificate_chain": "7 kB"},
            {**BULK, "protocol": "quic", "certificate_chain": "7 kB"},
            ["certificate_chain"],
        ),
        (
            {"protocol": "h1", "tls": False, "capture": {"secrets": True}},
            {"protocol": "h1", "capture": {"secrets": True}},
            ["capture.secrets"],
        ),
        (CORES, SLOW, ["client.kernel.processor.cores"]),
        (requests(9), requests(5), ["workload.users"]),
    ],
)
def test_a_key_without_what_it_acts_on_is_noted(
    idle: dict[str, Any], acting: dict[str, Any], keys: list[str]
) -> None:
    assert [note.split()[0] for note in idle_keys([planned(**idle)])] == keys
    if keys != ["workload.users"] and acting is not SLOW:
        assert not list(idle_keys([planned(**idle), planned(**acting)]))
    assert not list(idle_keys([planned(**acting)]))
