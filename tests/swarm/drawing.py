"""Whole settings, drawn by a seed: the tables of a study with one cell, one contender and one run.

Each part of a setting is there or not by a coin of its own, so that every two parts meet in some seeds. Values are those that users
write, and their extremes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

Tables = dict[str, Any]
_SITE = "sander-19"
_RATES = ("500 kbit/s", "2 Mbit/s", "10 Mbit/s", "50 Mbit/s", "300 Mbit/s")
_RTTS = ("2 ms", "20 ms", "60 ms", "150 ms", "600 ms")
_SIZES = ("1 B", "2 kB", "30 kB", "200 kB", "700 kB")
_CONTROLS = ("cubic", "reno", "bbr")
_CLIENTS = {
    "h1": ("curl", "wget", "headway-client"),
    "h2": ("curl", "headway-client", "wget2"),
    "h3": ("curl", "headway-client", "ngtcp2", "aioquic"),
}
_SERVERS = {
    "h1": ("nginx", "headway-server", "haproxy", "envoy", "caddy"),
    "h2": ("nginx", "headway-server", "haproxy", "envoy", "caddy"),
    "h3": ("nginx", "headway-server", "ngtcp2", "aioquic", "caddy", "nginx-1.26"),
}


def drawn(seed: int) -> Tables:
    """The tables of a study.

    Args:
        seed: equal seeds draw equal studies.
    """
    random = Random(f"swarm {seed}")
    protocol = random.choice(("h1", "h2", "h3"))
    tables: Tables = {
        "name": f"swarm-{seed}",
        "seed": seed,
        "protocol": protocol,
        "client": {"program": random.choice(_CLIENTS[protocol])},
        "server": {"program": random.choice(_SERVERS[protocol])},
        "path": _path(random),
        "limits": {"virtual": "120 s", "cpu": "60 s"},
    }
    random.choice(_WORKLOADS)(random, tables)
    for part, chance in _PARTS.items():
        if random.random() < chance:
            part(random, tables)
    return tables


def _path(random: Random, *, plain: bool = False) -> Tables:
    path: Tables = {"rate": random.choice(_RATES), "rtt": random.choice(_RTTS)}
    if not plain:
        for disturb in random.sample(_DISTURBANCES, random.choice((0, 0, 1, 1, 2, 3))):
            disturb(random, path)
    return path


def _some(random: Random, path: Tables) -> Tables:
    """Both directions of a path, or one of them."""
    return random.choice((path, path.setdefault("down", {}), path.setdefault("up", {})))


def _loss(random: Random, path: Tables) -> None:
    burst = {"mean": random.choice(("0.5 %", "3 %")), "burst": random.choice((2, 5))}
    _some(random, path)["loss"] = random.choice(("0.1 %", "1 %", "5 %", burst))


def _jitter(random: Random, path: Tables) -> None:
    path["jitter"] = random.choice(("1 ms", "10 ms"))
    path["jitter_distribution"] = random.choice(("uniform", "normal"))
    path["jitter_reorders"] = random.random() < 0.5


def _queue(random: Random, path: Tables) -> None:
    size = random.choice(("0.5 BDP", "1 BDP", "4 BDP", "20 packets", "64 kB"))
    discipline = random.choice(("droptail", "codel", "fq_codel", "cake", "red", "pie", "fq_pie"))
    path["queue"] = {"size": size, "discipline": discipline}


def _rates_over_time(random: Random, path: Tables) -> None:
    steps = [{"at": "0 s", "rate": "8 Mbit/s"}, {"at": "300 ms", "rate": random.choice(_RATES)}]
    varying = {"low": "2 Mbit/s", "high": "9 Mbit/s", "every": "50 ms"}
    _some(random, path)["rate"] = random.choice(({"steps": steps, "repeat": "1 s"}, varying))


def _changes(random: Random, path: Tables) -> None:
    path["changes"] = [{"at": "200 ms", "loss": "2 %", "delay": random.choice(("5 ms", "80 ms"))}]


def _blackout(random: Random, path: Tables) -> None:
    start_ms = random.choice((0, 100, 400))
    _some(random, path)["blackouts"] = [[f"{start_ms} ms", f"{start_ms + 250} ms"]]


def _contacts(random: Random, path: Tables) -> None:
    plan: Tables = {"spans": [["0 s", "300 ms"], ["400 ms", "900 ms"]], "repeat": "1 s"}
    way = _some(random, path)
    if random.random() < 0.5:
        plan["meanwhile"] = "kept"
        way |= {"rate": random.choice(_RATES), "queue": random.choice(("20 kB", "200 kB"))}
    way["contacts"] = plan


_SHARES = ("reordering", "duplication", "corruption")


def _share(random: Random, path: Tables) -> None:
    _some(random, path)[random.choice(_SHARES)] = random.choice(("0.1 %", "2 %"))


def _mtu(random: Random, path: Tables) -> None:
    path["mtu"] = random.choice(("1300 B", "1450 B", {"size": "1400 B", "icmp": False}))


def _tunnel(random: Random, path: Tables) -> None:
    path["tunnel"] = random.choice(("wireguard", "gre", "60 B"))


def _policer(random: Random, path: Tables) -> None:
    _some(random, path)["policer"] = {
        "rate": "3 Mbit/s",
        "burst": random.choice(("10 kB", "60 kB")),
    }


def _udp(random: Random, path: Tables) -> None:
    path["udp"] = random.choice(
        ("blocked", "rejected", {"loss": "5 %"}, {"rate": "1 Mbit/s", "burst": "30 kB"})
    )


def _numbers(random: Random, path: Tables) -> None:
    _some(random, path)["drop_packets"] = sorted(random.sample(range(1, 60), 3))


def _nat(random: Random, path: Tables) -> None:
    path["nat"] = random.choice((True, {"rebindings": ["300 ms"]}, {"udp_idle": "30 s"}))


_DISTURBANCES: tuple[Callable[[Random, Tables], None], ...] = (
    *(_loss, _jitter, _queue, _rates_over_time, _changes, _blackout, _share, _share),
    *(_mtu, _tunnel, _policer, _udp, _numbers, _nat, _contacts),
)


def _download(random: Random, tables: Tables) -> None:
    tables["workload"] = {"kind": "download", "size": random.choice(_SIZES)}


def _parallel(random: Random, tables: Tables) -> None:
    count = random.choice((1, 2, 7, 40))
    tables["workload"] = {"kind": "parallel", "size": random.choice(_SIZES[:4]), "count": count}


def _upload(random: Random, tables: Tables) -> None:
    tables["workload"] = {"kind": "upload", "size": random.choice(_SIZES)}
    tables["server"] = {"program": "headway-server"}


def _requests(random: Random, tables: Tables) -> None:
    tables["workload"] = {
        "kind": "requests",
        "count": random.choice((1, 20, 60)),
        "down": random.choice(("100 B", "20 kB")),
        "users": random.choice((1, 4)),
    }
    tables["client"] = {"program": "headway-client"}
    tables["server"] = {"program": "headway-server"}


def _stream(random: Random, tables: Tables) -> None:
    tables["workload"] = {
        "kind": "stream",
        "size": "400 B",
        "count": random.choice((5, 30)),
        "interval": random.choice(("20 ms", "100 ms")),
        "streams": random.choice((1, 3)),
    }
    tables["client"] = {"program": "headway-client"}
    tables["server"] = {"program": "headway-server"}


def _messages(random: Random, tables: Tables) -> None:
    tables["workload"] = {
        "kind": "messages",
        "carrier": random.choice(("lengths", "websocket", "grpc")),
        "up": "200 B",
        "down": "1 kB",
        "count": random.choice((3, 25)),
        "interval": "30 ms",
    }
    tables["client"] = {"program": "headway-client"}
    tables["server"] = {"program": "headway-server"}


def _bulk(random: Random, tables: Tables) -> None:
    amount = random.choice(({"duration": "1500 ms"}, {"size": "600 kB"}))
    direction = random.choice(("download", "upload"))
    tables["protocol"] = random.choice(("tcp", "quic"))
    tables["workload"] = {"kind": "bulk", "direction": direction, **amount}
    tables["client"] = tables["server"] = {"program": "headway-perf"}


def _call(random: Random, tables: Tables) -> None:
    tables["protocol"] = "udp"
    tables["workload"] = {"kind": "call", "rate": "300 kbit/s", "duration": "2 s"}
    tables["client"] = tables["server"] = {"program": "headway-call"}


def _migration(random: Random, tables: Tables) -> None:
    tables["workload"] = {"kind": "migration", "size": "500 kB", "after": "100 kB"}
    if random.random() < 0.4:
        tables["workload"]["second_path"] = _path(random, plain=True)


def _page(random: Random, tables: Tables) -> None:
    tables["workload"] = {"kind": "page", "site": _SITE, "frames": False}
    tables["client"] = {"program": "chromium"}


_WORKLOADS: tuple[Callable[[Random, Tables], None], ...] = (
    *([_download] * 10),
    *([_parallel] * 3),
    *(_upload, _upload, _requests, _stream, _messages, _bulk, _bulk, _call),
    *(_migration, _migration, _page),
)


def _controls(random: Random, tables: Tables) -> None:
    control = random.choice(_CONTROLS)
    for end in random.choice((("server",), ("client",), ("server", "client"))):
        tables[end] = {**tables[end], "congestion_control": control}


def _window(random: Random, tables: Tables) -> None:
    tables["server"] = {**tables["server"], "initial_window": random.choice((2, 4, 32))}


def _proxy(random: Random, tables: Tables) -> None:
    upstream: Tables = {"protocol": random.choice(("h1", "h2"))}
    if random.random() < 0.6:
        upstream["path"] = _path(random, plain=random.random() < 0.5)
    tables["proxy"] = {
        "program": random.choice(("nginx", "envoy", "haproxy")),
        "upstream": upstream,
    }


def _hops(random: Random, tables: Tables) -> None:
    names = ("one", "two", "three")[: random.choice((1, 2, 3))]
    tables["hops"] = [{"name": name, "path": _path(random, plain=True)} for name in names]
    if random.random() < 0.4:
        control = {"congestion_control": random.choice(_CONTROLS)}
        tables["hops"][0]["tcp_pep"] = {"program": "headway-tcp-pep", "upstream": control}
        tables["hops"][0]["quic_pep"] = {"program": "headway-quic-pep", "upstream": control}


def _flows(random: Random, tables: Tables) -> None:
    flows: Tables = {"first": {}, "second": {"start": random.choice(("0 s", "200 ms"))}}
    if random.random() < 0.5:
        flows["second"]["server"] = {"congestion_control": random.choice(_CONTROLS)}
    if random.random() < 0.3:
        flows["second"]["access"] = {"rtt": "10 ms"}
    if random.random() < 0.3:
        flows["first"]["count"] = 2
    tables["flows"] = flows


def _dns(random: Random, tables: Tables) -> None:
    tables["dns"] = random.choice(
        ({}, {"path": _path(random, plain=True)}, {"transport": "tcp", "delay": "20 ms"})
    )
    places = [hop["name"] for hop in tables.get("hops", ())]
    places += ["clients", "servers"] if "flows" in tables else []
    if places and random.random() < 0.5:
        tables["dns"] = {**tables["dns"], "at": random.choice(places)}


def _dual_stack(random: Random, tables: Tables) -> None:
    tables["dual_stack"] = random.choice(({}, {"path": _path(random)}))


def _discovery(random: Random, tables: Tables) -> None:
    tables["discovery"] = {}


def _control(random: Random, tables: Tables) -> None:
    tables["control"] = {"pings": random.choice((1, 10))}


def _fault(random: Random, tables: Tables) -> None:
    kind = random.choice(("lose", "duplicate", "delay", "corrupt"))
    way = random.choice(("up", "down"))
    by = " by 50 ms" if kind == "delay" else ""
    tables["fault"] = f"{kind} {way} {random.choice((1, 2, 3, 8))}{by}"


def _chain(random: Random, tables: Tables) -> None:
    tables["certificate_chain"] = random.choice(("3 kB", "12 kB"))


def _ipv6(random: Random, tables: Tables) -> None:
    tables["family"] = "ipv6"


def _processor(random: Random, tables: Tables) -> None:
    end = random.choice(("client", "server"))
    tables[end] = {**tables[end], "kernel": {"processor": random.choice(("moto-g", "desktop"))}}


def _clear(random: Random, tables: Tables) -> None:
    tables["tls"] = False


def _capture(random: Random, tables: Tables) -> None:
    tables["capture"] = random.choice(({"packets": True}, {"qlog": True}, {"pacing": True}))


def _variation(random: Random, tables: Tables) -> None:
    tables["variation"] = "none"


def _offload(random: Random, tables: Tables) -> None:
    tables["offload"] = True


def _network(random: Random, tables: Tables) -> None:
    """More hosts and links beside the path, or instead of it, and sometimes a way that is stated."""
    first, last = ("clients", "servers") if "flows" in tables else ("client", "server")
    pairs = [(first, "x"), ("y", "x"), ("y", last), *random.sample([(last, "x"), ("y", first)], 1)]
    tables["hosts"] = {"x": {}, "y": {}}
    if random.random() < 0.4:
        control = {"congestion_control": random.choice(_CONTROLS)}
        pep = {"program": "headway-tcp-pep", "upstream": control}
        tables["hosts"][random.choice("xy")] = {"tcp_pep": pep}
    tables["links"] = [
        {"name": f"link-{number}", "between": list(ends), "path": _path(random, plain=True)}
        for number, ends in enumerate(pairs)
    ]
    chain = {"hops", "proxy", "origins"} & tables.keys()
    if not chain and random.random() < 0.5:
        del tables["path"]
    ways = random.choice(([], ["x"], ["y"], ["x", "y"], ["link-1"]))
    if "flows" in tables:
        tables["flows"]["first"]["via"] = ways
    else:
        tables["via"] = ways


def _routing(random: Random, tables: Tables) -> None:
    """Two relays whose links have contacts, which packets follow."""
    first, last = ("clients", "servers") if "flows" in tables else ("client", "server")
    pairs = [(first, "x"), ("x", "one"), ("one", "y"), ("two", "x"), ("two", "y"), ("y", last)]
    tables["hosts"] = {name: {} for name in ("x", "y", "one", "two")}
    tables["links"] = [
        {"name": f"link-{number}", "between": list(ends), "path": _path(random, plain=True)}
        for number, ends in enumerate(pairs)
    ]
    for number in (1, random.choice((3, 4))):
        _contacts(random, tables["links"][number]["path"])
    tables["routing"] = "contacts"
    for flow in (tables, *tables.get("flows", {}).values()):
        flow.pop("via", None)
    if "dns" in tables and random.random() < 0.5:
        tables["dns"] = {**tables["dns"], "at": random.choice(("x", "one", "y"))}
    if not {"hops", "proxy", "origins"} & tables.keys():
        tables.pop("path", None)


_PARTS: dict[Callable[[Random, Tables], None], float] = {
    **dict.fromkeys((_controls, _window, _capture, _variation), 0.3),
    **dict.fromkeys((_proxy, _hops, _flows, _dns, _ipv6, _control), 0.15),
    **dict.fromkeys((_dual_stack, _fault, _chain, _processor, _clear), 0.1),
    **dict.fromkeys((_discovery, _offload), 0.05),
    _network: 0.2,
    _routing: 0.1,
}
