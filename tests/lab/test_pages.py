"""Pages in Chromium: the same picture over every protocol, what fails and why, what is repeatable."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from headway.columns import Record
from headway.contract.orders import Orders
from headway.contract.program import Program
from headway.lab.batch import carry_out_together
from headway.lab.machine import Machine
from headway.lab.run import orders_for
from headway.pages.load import PageLoad, read_load
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.sites.finding import find_site
from headway.sites.warc import write_archive
from headway.study.network import CLIENT, SERVER
from headway.study.setting import Setting
from tests.lab import sites
from tests.lab.sites import HTML, PAGE, SVG

pytestmark = pytest.mark.lab

RTT_S = 0.1
MS = 0.001
OBJECTS = 10

Change = Callable[[Orders], Orders]
Loaded = list[tuple[Record, Path]]


@pytest.fixture
def load(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Loaded]:
    """Load a page once for every seed in one boot, whose orders may be changed."""

    def carry(
        raw: dict[str, Any],
        seeds: Sequence[int] = (1,),
        name: str = "run",
        change: Change = lambda orders: orders,
    ) -> Loaded:
        setting = Setting.model_validate(raw)
        with monkeypatch.context() as patch:
            patch.setattr("headway.lab.batch.orders_for", lambda *words: change(orders_for(*words)))
            runs = [
                Run(f"{name}-{rep}", "test", "", "cell", "contender", rep, seed, setting)
                for rep, seed in enumerate(seeds, 1)
            ]
            directories = [tmp_path / run.run_id for run in runs]
            done = carry_out_together(runs, machine, directories)
            return [(make_record(run, result, where), where) for run, where, result in done]

    return carry


def page(
    site: str, protocol: str = "h2", server: str = "headway-server", **more: Any
) -> dict[str, Any]:
    workload = {"kind": "page", "site": site, **more.pop("workload", {})}
    path = {"rate": "10 Mbit/s", "rtt": f"{RTT_S * 1000:g} ms", **more.pop("path", {})}
    return {
        "protocol": protocol,
        "workload": workload,
        "path": path,
        "client": {"program": "chromium", "knobs": more.pop("client", {})},
        "server": {"program": server, "knobs": more.pop("knobs", {})},
        **more,
    }


def last_frame(loaded: PageLoad) -> bytes:
    with Image.open(loaded.frames[-1].file) as image:
        return image.convert("RGB").tobytes()


def test_a_page_looks_the_same_over_all_protocols(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    """Of both servers, at one address or several; every resource is seen, and its protocol."""
    site = sites.two_hosts(tmp_path)
    pictures = set()
    for protocol, identifier in (("h1", "http/1.1"), ("h2", "h2"), ("h3", "h3")):
        for server, origins in (("nginx", "own-addresses"), ("headway-server", "one-address")):
            raw = page(site, protocol, server, workload={"origins": origins})
            ((record, directory),) = load(raw, name=f"{protocol}-{server}")
            assert record.error is None
            loaded = read_load(directory)
            assert len(loaded.resources) == OBJECTS
            assert {resource.protocol for resource in loaded.resources} == {identifier}
            addresses = {one.remote_address for one in loaded.resources if one.remote_address}
            assert len(addresses) == (2 if origins == "own-addresses" else 1)
            har = json.loads((directory / "load.har").read_text())
            assert len(har["log"]["entries"]) == OBJECTS
            pictures.add(last_frame(loaded))
    assert len(pictures) == 1
    assert len(set(pictures.pop())) > 2


@pytest.mark.parametrize(
    ("browser", "came", "hop_ms"),
    [
        ("h1", ("http/1.1", "http/1.1"), 0),
        ("h2", ("h2", "http/1.1"), 0),
        ("h2", ("h2", "http/1.1"), 20),
        ("h3", ("h3", "http/1.1"), 0),
    ],
)
def test_a_host_elsewhere_speaks_what_it_can_behind_its_own_path(
    load: Callable[..., Loaded], tmp_path: Path, browser: str, came: tuple[str, str], hop_ms: int
) -> None:
    """Another server, 40 ms farther: every resource comes from there, and its handshakes take 40 ms longer each way."""
    elsewhere = {
        "hosts": ["b.test"],
        "protocol": "h1",
        "server": {"program": "headway-server"},
        "path": {"rtt": "40 ms"},
        "third_party": True,
    }
    raw = page(sites.two_hosts(tmp_path), browser, "nginx", origins={"b": elsewhere})
    raw |= {"path": {"rtt": f"{RTT_S * 1000:g} ms"}, "capture": {"packets": True}}
    if hop_ms:
        raw["hops"] = [{"name": "isp", "path": {"rtt": f"{hop_ms} ms"}}]
    ((record, directory),) = load(raw)
    # Packets of both servers cross the path.
    assert (record.error, record.validation) == (None, "passed")
    loaded = read_load(directory)
    by_host = {"a.test": came[0], "b.test": came[1]}
    assert {(one.host, one.protocol) for one in loaded.resources} == set(by_host.items())
    assert record.third_party_objects == 2
    assert record.h1_objects == (OBJECTS if browser == "h1" else 2)
    assert record.elsewhere == "b h1 headway-server +40 ms"
    har = json.loads((directory / "load.har").read_text())
    (first,) = [
        entry["timings"]["connect"]
        for entry in har["log"]["entries"]
        if entry["request"]["url"] == "https://b.test/frame"
    ]
    # TCP's handshake, and TLS's: a round trip each, over all paths on the way.
    assert first * MS == pytest.approx(2 * (RTT_S + hop_ms * MS + 0.04), abs=MS)


def test_hosts_speak_what_they_were_recorded_over(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    site = find_site(sites.two_hosts(tmp_path))
    spoke = {"a.test": "h3", "b.test": "h2"}
    exchanges = tuple(replace(one, protocol=spoke[one.host]) for one in site.exchanges)
    recorded = tmp_path / "recorded.warc.gz"
    write_archive(replace(site, exchanges=exchanges), recorded)
    raw = page(str(recorded), "h3", workload={"versions": "recorded"})
    ((record, directory),) = load(raw)
    assert record.error is None
    came = {(one.host, one.protocol) for one in read_load(directory).resources}
    assert came == set(spoke.items())
    assert (record.h2_objects, record.h3_objects) == (2, OBJECTS - 2)
    assert record.third_party_objects == 0


@pytest.mark.parametrize(("site", "images"), [("sander-19", 6), ("sander-20", 6)])
def test_speed_index_is_what_stands_before_what_is_seen(
    load: Callable[..., Loaded], site: str, images: int
) -> None:
    """At 1 Mbit/s, where the transfer is all that counts: two round trips and the fluid model's bytes, give or take
    a fifth, in order and shared. The images in the window are those that the page has above the fold."""
    path = {"rate": "1 Mbit/s", "rtt": "20 ms", "queue": "60 kB"}
    for order, column in (("chrome", "ordered_bytes"), ("round-robin", "shared_bytes")):
        raw = page(site, "h3", path=path, knobs={"priorities": order})
        ((record, _),) = load(raw, name=f"{site}-{order}")
        assert record.error is None
        assert record.seen_images == images
        content_rate = 0.95 * 1e6 / 8  # what packets carry of it
        told = 2 * 20 * MS + getattr(record, column) / content_rate
        assert record.speed_index_s == pytest.approx(told, rel=0.2)


@pytest.mark.parametrize(("protocol", "knob"), [("h2", "hpack_capacity"), ("h3", "qpack_capacity")])
def test_fields_of_pages_are_compressed_with_tables(
    load: Callable[..., Loaded], protocol: str, knob: str
) -> None:
    """Unless a study says otherwise; what the server sends is counted, and what it receives."""
    records = []
    for number, knobs in enumerate(({}, {knob: "0"})):
        raw = page("objects-20x5kB", protocol, workload={"frames": False}, knobs=knobs)
        # Runs that share a server have what their own connections took.
        (first, _), (second, _) = load(raw, (1, 2), name=f"{protocol}-{number}")
        assert first.error is second.error is None
        assert first.table_blocked == 0
        assert first.fields_raw_up_bytes == second.fields_raw_up_bytes
        assert first.fields_sent_down_bytes == second.fields_sent_down_bytes
        records.append(first)
    table, static = records
    assert table.fields_raw_down_bytes == static.fields_raw_down_bytes
    assert table.fields_raw_up_bytes == static.fields_raw_up_bytes
    assert table.fields_sent_down_bytes < static.fields_sent_down_bytes
    # HPACK's decoder has a table whatever the server sends with; QPACK's has none.
    if protocol == "h3":
        assert table.fields_sent_up_bytes < static.fields_sent_up_bytes / 2
    else:
        assert table.fields_sent_up_bytes == static.fields_sent_up_bytes


def test_what_came_over_another_protocol_fails_the_run(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    """The second host speaks HTTP/1.1 only, to which a browser falls back."""
    site = sites.two_hosts(tmp_path)

    def old_second_host(orders: Orders) -> Orders:
        server, *client = orders.programs
        second = "--listen=10.200.0.2:443"
        main = replace(server, argv=tuple(word for word in server.argv if word != second))
        other = replace(
            server,
            name="server-old",
            argv=tuple(
                {"--protocols=h2": "--protocols=h1"}.get(word, word)
                for word in server.argv
                if not word.startswith("--listen") or word == second
            ),
        )
        return replace(orders, programs=(main, other, *client))

    raw = page(site, workload={"origins": "own-addresses", "frames": False})
    first, second = load(raw, (1, 1), change=old_second_host)
    for record, directory in (first, second):
        assert record.status == "failed"
        expected = "chromium: https://b.test/frame was loaded over http/1.1 instead of h2"
        assert record.error == expected
        assert (directory / "load.har").exists()


KILL = "sleep 0.3; [ -e /tmp/killed ] || { touch /tmp/killed; pkill -KILL -o -f chromium-headless-shell; }"


def test_a_killed_browser_is_a_failed_run_and_the_next_has_another(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    def killing(orders: Orders) -> Orders:
        killer = Program("killer", CLIENT, ("sh", "-c", KILL))
        *services, client = orders.programs
        return replace(orders, programs=(*services, killer, client))

    site = sites.two_hosts(tmp_path)
    (killed, directory), (following, after) = load(page(site), (1, 2), change=killing)
    assert killed.status == "failed"
    assert killed.error == "chromium: the browser is gone (killed by SIGKILL)"
    assert read_load(directory).error == "the browser is gone (killed by SIGKILL)"
    assert following.error is None
    assert len(read_load(after).resources) == OBJECTS


def test_a_page_that_never_ends_is_given_up_at_the_limit(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    """Nothing arrives after 0.35 s; the next load begins with a path of its own, and ends as this."""
    raw = page(sites.two_hosts(tmp_path), "h3", path={"blackouts": [["0.35 s", "60 s"]]})
    loads = load(raw | {"limits": {"virtual": "4 s"}}, (1, 2))
    for record, directory in loads:
        assert record.status == "timeout"
        assert record.error == "the limit of 4 s was reached"
        assert record.virtual_s == pytest.approx(4, abs=0.1)
        assert record.onload_s is None
        given_up = read_load(directory)
        assert given_up.resources[0].status == 200
        assert any(one.ended_ms is None for one in given_up.resources)


def test_a_document_that_breaks_off_is_not_waited_for(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    """Chromium gives the connection up, after the first packets of a document of half a second."""
    body = "<!doctype html><p>" + "word " * 100_000
    raw = page(
        sites.archive(tmp_path, sites.exchange(PAGE, HTML, body)),
        "h3",
        path={"blackouts": [["0.5 s", "600 s"]]},
    )
    ((record, directory),) = load(raw)
    assert record.status == "failed"
    assert record.error == "chromium: the document broke off: net::ERR_QUIC_PROTOCOL_ERROR"
    assert read_load(directory).resources[0].status == 200
    assert record.virtual_s < 60


def test_what_a_page_lacks_does_not_fail_it(load: Callable[..., Loaded], tmp_path: Path) -> None:
    body = "<!doctype html><img src=/missing.svg><img src=https://elsewhere.test/x.svg>"
    site = sites.archive(tmp_path, sites.exchange(PAGE, HTML, body))
    ((record, directory),) = load(page(site))
    assert record.error is None
    _, missing, elsewhere = read_load(directory).resources[:3]
    assert (missing.status, missing.error) == (404, None)
    assert (elsewhere.status, elsewhere.error) == (None, "net::ERR_NAME_NOT_RESOLVED")


def test_urls_are_replayed_as_the_browser_asks_for_them(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    """They may have been written otherwise by what recorded them."""
    names = ("a b", "bücher", "c|d", "e^f", "{g}", "h%7Ei", "j?k=l m&n=|ü")
    images = "".join(f'<img src="/{name}">' for name in names)
    recorded = (sites.exchange(f"{PAGE}{name}", SVG, sites.picture("red")) for name in names)
    site = sites.archive(tmp_path, sites.exchange(PAGE, HTML, images), *recorded)
    ((record, directory),) = load(page(site))
    assert record.error is None
    asked = [one for one in read_load(directory).resources if not one.url.endswith("favicon.ico")]
    assert [one.status for one in asked] == [200] * (1 + len(names))


@pytest.mark.parametrize("protocol", ["h1", "h3"])
def test_equal_boots_give_equal_loads(
    load: Callable[..., Loaded], tmp_path: Path, protocol: str
) -> None:
    """Down to every event of the browser, also of the second load."""
    raw = page(sites.two_hosts(tmp_path), protocol, path={"loss": "2 %"}, client={"net_log": "on"})
    first, second = (load(raw, (1, 2), name=name) for name in ("first", "second"))
    for (one, directory), (same, elsewhere) in zip(first, second, strict=True):
        assert one.error is None
        assert (one.onload_s, one.speed_index_s) == (same.onload_s, same.speed_index_s)
        events = [(where / "cdp.jsonl").read_bytes() for where in (directory, elsewhere)]
        assert events[0] == events[1]
        assert json.loads((directory / "net-log.json").read_text())["events"]


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_loads_in_one_boot_are_as_those_in_their_own(
    load: Callable[..., Loaded], tmp_path: Path, protocol: str
) -> None:
    """Within a few milliseconds (docs/determinism.md tells why); a cache, a connection or a ticket
    that one load left to the next would save a round trip of 40 ms and more.
    """
    raw = page(sites.two_hosts(tmp_path), protocol, path={"rate": "1 Gbit/s"})
    loads = load(raw, (1, 2), name="shared") + load(raw, (2,), name="own")
    onload_s = [record.onload_s or 0 for record, _ in loads]
    assert max(onload_s) - min(onload_s) < 10 * MS


def test_a_device_has_its_screen_and_its_name(load: Callable[..., Loaded], tmp_path: Path) -> None:
    body = "<!doctype html><meta name=viewport content=width=device-width><img src=/x.svg>"
    site = sites.archive(
        tmp_path,
        sites.exchange(PAGE, HTML, body),
        sites.exchange(f"{PAGE}x.svg", SVG, sites.picture("red")),
    )
    ((_, directory),) = load(page(site, workload={"device": "iphone-6"}))
    told = json.loads((directory / "load.json").read_text())
    assert told["viewport"] == {"width": 375, "height": 667, "scale": 2}
    for resource in read_load(directory).resources[:2]:
        assert "iPhone" in dict(resource.request_headers)["user-agent"]


def test_a_warm_cache_leaves_little_to_load(load: Callable[..., Loaded], tmp_path: Path) -> None:
    """What may be kept is not asked for again; the page itself comes over a new connection."""
    site = sites.two_hosts(tmp_path)
    for protocol in ("h1", "h2", "h3"):
        ((record, directory),) = load(
            page(site, protocol, workload={"cache": "warm"}), name=protocol
        )
        assert record.error is None
        document, *others = read_load(directory).resources
        assert not document.from_cache
        assert document.timing.connect is not None
        assert not any(resource.connection_id for resource in others if not resource.from_cache)
        assert sum(resource.from_cache for resource in others) >= OBJECTS - 2


@pytest.mark.parametrize(
    ("protocol", "early_data", "round_trips"),
    [("h2", "on", 3), ("h3", "off", 2), ("h3", "on", 1)],
)
def test_tickets_save_a_round_trip_where_early_data_are_taken(
    load: Callable[..., Loaded], tmp_path: Path, protocol: str, early_data: str, round_trips: int
) -> None:
    """Chromium sends early data over QUIC only; over TCP a ticket saves the certificate alone."""
    raw = page(
        sites.two_hosts(tmp_path),
        protocol,
        workload={"cache": "tickets"},
        knobs={"early_data": early_data},
    )
    ((record, directory),) = load(raw)
    resources = read_load(directory).resources
    assert len(resources) == OBJECTS
    assert not any(resource.from_cache for resource in resources)
    assert record.response_start_s == pytest.approx(round_trips * RTT_S, abs=5 * MS)


def test_the_browser_has_its_keys_written_with_captures(
    load: Callable[..., Loaded], tmp_path: Path
) -> None:
    raw = page(sites.two_hosts(tmp_path), "h3") | {"capture": {"packets": True}}
    ((record, directory),) = load(raw)
    assert record.error is None
    secrets = (directory / "tls-secrets.txt").read_text()
    assert "CLIENT_TRAFFIC_SECRET_0" in secrets
    assert (directory / f"{CLIENT}.pcapng").stat().st_size > 100_000
    assert (directory / f"{SERVER}.pcapng").stat().st_size > 100_000


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize("server", ["headway-server", "nginx"])
def test_hosts_of_one_certificate_share_a_connection(
    load: Callable[..., Loaded], tmp_path: Path, protocol: str, server: str
) -> None:
    """Frames of another site, too, and fonts of another host."""
    for site, objects in ((sites.two_hosts(tmp_path), OBJECTS), ("sander-21", 129)):
        counts = {}
        for connections in ("per-host", "one"):
            workload = {"connections": connections, "frames": False}
            raw = page(site, protocol, server, workload=workload)
            ((record, directory),) = load(raw, name=f"{Path(site).name}-{protocol}-{connections}")
            assert record.error is None
            counts[connections] = record.connections
            loaded = read_load(directory)
            assert sum(one.status == 200 for one in loaded.resources) == objects
            if server == "headway-server":
                # A line for each connection: as the server saw them, which the browser may not tell.
                told = (directory / "server-headers.jsonl").read_text().splitlines()
                assert len(told) == record.connections
        assert counts["one"] == 1
        assert counts["per-host"] is not None
        assert counts["per-host"] > 1
