"""Studies that cannot mean anything: where each is refused, and in which words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headway.campaign.feasibility import checked_plan
from headway.errors import WrongInputError
from headway.study.load import Source, load_study, parse_study

BASE = 'name = "s"\n[workload]\nsize = "1 MB"\n'
SATELLITE = (
    'name = "s"\n[path.satellite]\nforward = { bandwidth = "50 MHz" }\n'
    'return = { bandwidth = "20 MHz" }\n'
)
OF_PAGE = 'name = "s"\nserver.program = "headway-server"\nclient.program = "chromium"\n'
OF_KEPLER = OF_PAGE + '[workload]\nkind = "page"\nsite = "kepler"\n'
LEVELS = BASE + '[axes]\npath.rtt = ["1 ms", "2 ms"]\n[[exclude]]\n'
PUBLISHED = BASE + '[[published]]\ncontender = "h2"\nvalue = 1\nsource = "x"\n'
SECOND = (
    'name = "s"\nprotocol = "h3"\n[workload]\nkind = "migration"\nsize = "1 MB"\nafter = "500 kB"\n'
    '[workload.second_path]\nrtt = "10 ms"\n'
)
UPLOAD = (
    'name = "s"\nserver.program = "headway-server"\n[workload]\nkind = "upload"\nsize = "1 MB"\n'
)
DUAL_STACK_PAGE = (
    'name = "s"\ndual_stack = {}\nserver.program = "headway-server"\nclient.program = "chromium"\n'
    '[workload]\nkind = "page"\nsite = "sander-01"\n'
)
UNKNOWN = "unknown key; did you mean 'program'?"


REFUSED = [
    (
        'name = "s"\nprotocol = "h1"\ncertificate_chain = "1 kB"',
        "3: certificate_chain: a chain of certificates has 2.5 kB to 60 kB",
    ),
    (
        'name = "s"\nprotocol = "h1"\ntls = false\ncertificate_chain = "5 kB"',
        "4: certificate_chain: certificates need tls = true",
    ),
    (BASE + '[proxy]\nprogra_ = "envoy"', f"5: proxy.progra_: {UNKNOWN}"),
    (
        BASE + '[contenders]\na = { proxy = { progra_ = "envoy" } }',
        f"5: contenders.a.proxy.progra_: {UNKNOWN}",
    ),
    (BASE + '[axes]\nproxy.progra_ = ["x"]', f"5: axes.proxy.progra_: {UNKNOWN}"),
    (
        BASE + '[experiments.x.proxy]\nprogra_ = "x"',
        f"5: experiments.x.proxy.progra_: {UNKNOWN}",
    ),
    (LEVELS + "path.rtt = true", "7: exclude.path.rtt: true is not a value of path.rtt"),
    (
        LEVELS + 'path.rtt = ["1 ms", "500 foo"]',
        "7: exclude.path.rtt: '500 foo' is not a value of path.rtt; values: 1 ms, 2 ms",
    ),
    (
        LEVELS + 'path.rtt = "1 ms"\ncontender = "h9"',
        "8: exclude.contender: 'h9' is not a value of contender; values: h2",
    ),
    (PUBLISHED + "where = true", "8: published.where: must be a table"),
    (BASE + "[[cells]]\n", "4: cells: a cell needs at least one value"),
    (
        BASE + '[axes]\npath.loss = ["1 %", "1.0 %"]',
        "5: axes.path.loss: '1 %' and '1.0 %' are the same",
    ),
    (
        BASE + '[axes]\npath.loss = ["1 %", { mean = "1 %" }]',
        "5: axes.path.loss: '1 %' and {'mean': '1 %'} are the same",
    ),
    (
        BASE + '[path]\nloss = { mean = "60 %", burst = 1 }',
        "5: path.loss: with bursts of 1 packets the mean loss is 50 % at most",
    ),
    (
        BASE + '[path]\nloss = { mean = "70 %", burst = 2 }',
        "5: path.loss: with bursts of 2 packets the mean loss is 66.6667 % at most",
    ),
    (
        BASE + '[path]\nrtt = "10 ms"\nqueue = "1 BDP"',
        "6: path.queue: a queue in BDP needs a rate",
    ),
    (
        BASE + '[path]\nrate = "1 Mbit/s"\nqueue = "1 BDP"',
        "6: path.queue: a queue in BDP needs an RTT",
    ),
    (
        BASE + '[path]\nqueue = "1.5 packets"',
        "5: path.queue.packets: must be a whole number, not 1.5",
    ),
    (
        'metrics = ["fcp_s"]\n' + BASE,
        "1: metrics: fcp_s is not measured here: it is of pages; of 24 known, the nearest: ttfb_s, ",
    ),
    (
        'metrics = ["inp_ms"]\n' + OF_KEPLER,
        "1: metrics: inp_ms is not measured here: it takes a click or a key, workload.interactions; of ",
    ),
    ('metrics = ["inp_s"]\n' + OF_KEPLER, "1: metrics: 'inp_s' is no metric: it is inp_ms here"),
    (
        'metrics = ["fid"]\n' + OF_KEPLER,
        "1: metrics: 'fid' is no metric: First Input Delay has gone",
    ),
    (
        'metrics = ["performance-score"]\n' + OF_KEPLER,
        "1: metrics: 'performance-score' is no metric: Headway has no score",
    ),
    (
        OF_KEPLER + 'interactions = [{ at = "1 s", click = "a", key = "b" }]',
        '7: workload.interactions: is one thing: "click", "key" or "scroll"',
    ),
    (
        OF_KEPLER + 'interactions = [{ at = "1 s", key = "Entr" }]',
        "7: workload.interactions.key: is a character, or one of ArrowDown, ",
    ),
    (OF_KEPLER + 'interactions = [{ at = "9 h", scroll = 5 }]', "workload"),
    (
        BASE + '[path]\nlatency = "30 ms"',
        "5: path.latency: unknown key; did you mean 'rtt' or 'delay'?",
    ),
    (
        BASE + "[path]\nburst = 5",
        '5: path.burst: unknown key; write loss = { mean = "2 %", burst = 5 }',
    ),
    (BASE + "[path]\nzzz = 5", "5: path.zzz: unknown key; there are access, blackouts, changes, "),
    (
        BASE + '[path]\nudp = { zzz = "1" }',
        "5: path.udp.zzz: unknown key; there are burst, end, longest, loss, rate, start, verdict",
    ),
    (BASE + "[path.down.udp]\nlos = 1", "5: path.down.udp.los: unknown key; did you mean 'loss'?"),
    (BASE + "[path.mtu]\nbytes = 1", "5: path.mtu.bytes: unknown key; did you mean 'size'?"),
    (
        BASE + "[[path.links]]\nudp.zzz = 1",
        "5: path.links.udp.zzz: unknown key; there are burst, ",
    ),
    (
        BASE + '[path]\ntunnel = "wiregard"',
        "5: path.tunnel.kind: 'wiregard' is not one of ipip, gre, vxlan, wireguard; did you mean 'wireguard'?",
    ),
    (
        BASE + '[path]\ntunnel = "2 kB"',
        "5: path.tunnel.overhead: an overhead is 1 B to 924 B, not 2 kB",
    ),
    (
        BASE + "[path]\ntunnel = {}",
        '5: path.tunnel: a tunnel is "ipip", "gre", "vxlan", "wireguard", or',
    ),
    (
        BASE + "[path]\ntunnel = 60",
        '5: path.tunnel: 60 has no unit; write "60 B"',
    ),
    (
        BASE + "[path]\ntunnel = true",
        '5: path.tunnel: a tunnel is "ipip", "gre", "vxlan", "wireguard", or its overhead: "60 B"; false is none',
    ),
    (
        BASE + '[path]\nnat = "yes"',
        '5: path.nat: a NAT is true, false, or a table: { rebindings = ["2 s"] }',
    ),
    (
        BASE + '[path]\ntunnel = { overhead = "9 B", over = "ipv6" }',
        "5: path.tunnel.over: an overhead of bytes has its outer header in it; leave out over",
    ),
    (
        BASE + '[path]\nmtu = "600 B"\ntunnel = "wireguard"',
        "5: path.mtu: the tunnel leaves packets of 540 B; they have 576 B to 1500 B",
    ),
    (
        BASE + '[path]\nmtu = "1600 B"',
        "5: path.mtu: hosts send packets of up to 1500 B: leave out mtu",
    ),
    (
        'family = "ipv6"\n' + BASE + '[path]\ntunnel = "300 B"',
        "6: path.tunnel: every link carries 1280 B of IPv6 (RFC 8200), not 1.2 kB only",
    ),
    (
        "offload = true\n" + BASE + '[path]\ntunnel = "gre"',
        "6: path.tunnel: packets of up to 64 kB cross the path: leave out offload",
    ),
    (
        BASE + 'kind = "migration"',
        '2: workload: an address changes "after" so many bytes or "at" a time: state one',
    ),
    (
        SECOND + "[flows.a]",
        "workload.kind: a migration is not for flows that compete",
    ),
    (
        SECOND.replace("10 ms", "1 s") + 'nat = true\ntunnel = "2 kB"',
        "workload.second_path.tunnel.overhead: ",
    ),
    (
        SECOND + '[client]\nprogram = "ngtcp2"\n[contenders]\nh3 = {}',
        "7: workload.second_path: ngtcp2 cannot migrate to an interface that it is told; these clients can: curl, headway-client",
    ),
    (
        SECOND.replace("rtt", "latency"),
        "8: workload.second_path.latency: unknown key; did you mean 'rtt' or 'delay'?",
    ),
    (
        BASE + '[path.nat]\nrebind = ["1 s"]',
        "5: path.nat.rebind: unknown key; did you mean 'rebindings'?",
    ),
    (
        BASE + '[path.nat]\nudp_idle = "500 ms"',
        "5: path.nat.udp_idle: a NAT counts whole seconds, 1 s to 2000000 s, not 500 ms",
    ),
    (
        BASE + '[path.nat]\nrebindings = ["2 s", "1 s"]',
        "5: path.nat.rebindings: the times of the rebindings must increase",
    ),
    (
        BASE + '[path.nat]\nrebindings = [{ at = "2 s", what = "host" }]',
        "5: path.nat.rebindings.what: 'host' is not one of port, address",
    ),
    (
        'family = "ipv6"\n' + BASE + "[path]\nnat = true",
        '6: path.nat: a NAT translates IPv4: leave out family = "ipv6"',
    ),
    (
        BASE + "[dual_stack.path]\nnat = true",
        "5: dual_stack.path.nat: a NAT translates IPv4: leave out dual_stack, or the NAT",
    ),
    (
        BASE + "[path]\nnat = true\n[dual_stack]",
        "5: path.nat: a NAT translates IPv4: leave out dual_stack, or the NAT",
    ),
    (
        BASE + '[dual_stack.path]\nmtu = "600 B"',
        "5: dual_stack.path.mtu: every link carries 1280 B of IPv6 (RFC 8200), not 600 B only",
    ),
    (
        'family = "ipv6"\n' + BASE + "[dns.path]\nnat = true",
        '6: dns.path.nat: a NAT translates IPv4: leave out family = "ipv6"',
    ),
    (
        'family = "ipv6"\n' + BASE + '[[hops]]\nname = "gw"\npath.nat = true',
        '7: hops.gw.path.nat: a NAT translates IPv4: leave out family = "ipv6"',
    ),
    (
        'family = "ipv6"\n' + BASE + '[proxy]\nprogram = "nginx"\nupstream.path.nat = true',
        '7: proxy.upstream.path.nat: a NAT translates IPv4: leave out family = "ipv6"',
    ),
    (
        "offload = true\n" + SECOND + 'tunnel = "gre"',
        "workload.second_path.tunnel: packets of up to 64 kB cross the path: leave out offload",
    ),
    (
        BASE + '[path]\nrtt = "9 ms"\nrepetitions = 5',
        "6: path.repetitions: unknown key; 'repetitions' stands before the first table",
    ),
    ('rtt = "30 ms"\n' + BASE, "1: rtt: unknown key; did you mean 'path.rtt'?"),
    (
        BASE + '[path]\nrate = "1 Mbit/s"\nrtt = "9 ms"\nqueue = "1 bdp"',
        "7: path.queue: 'bdp' is not a unit of queues; write \"1 BDP\"",
    ),
    (
        BASE + '[path]\nrate = { trace = "nothere.trace" }',
        "5: path.rate.trace: nothere.trace: no such trace file",
    ),
    (
        'name = "s"\n[workload]\nkind = "page"\nsite = "kepler"\nzzz = "1 MB"',
        "5: workload.zzz: unknown key; there are alt_svc, cache, computing, connections, device, ",
    ),
    (
        'metrics = ["queue_delay_ms"]\n' + BASE,
        "1: metrics: queue_delay_ms is not measured here: it takes a link towards the client whose rate is "
        "constant; of 24 known, the nearest: ",
    ),
    (
        'name = "s"\nprotocol = "h3"\nmetrics = ["out_of_order_segments"]',
        "3: metrics: out_of_order_segments is not measured here: it takes a client that speaks TCP; ",
    ),
    (
        'metrics = ["goodput_mbit"]\n' + UPLOAD + "status = 413",
        "1: metrics: goodput_mbit is not measured here: it takes a server that takes the content of an upload",
    ),
    (
        'metrics = ["total_s", "content_sent_bytes"]\nprotocol = "h3"\n' + UPLOAD,
        "1: metrics: content_sent_bytes is not measured here: curl counts what is in a buffer of its own over h3",
    ),
    (
        'metrics = ["content_sent_bytes"]\nprotocol = "h3"\nclient.program = "aioquic"\n' + UPLOAD,
        "1: metrics: content_sent_bytes is not measured here: aioquic does not count what it sends",
    ),
    (
        'metrics = ["fallback_s"]\n' + DUAL_STACK_PAGE,
        '1: metrics: fallback_s is not measured here: chromium tells it with client.knobs.net_log = "counts" only',
    ),
    ('comparisons = [["h2", "h2"]]\n' + BASE, "1: comparisons: 'h2' is compared with itself"),
    ('comparisons = [["h3", "h1"]]\n' + BASE, "1: comparisons: 'h3' is not a contender"),
    ('baseline = ""\n' + BASE, "1: baseline: is empty; leave it out"),
    (
        'name = "s"\nworkload.size = "1.5 B"',
        "2: workload.size: a size is a whole number of bytes, but this is 1.5 B",
    ),
    (
        'name = "s"\nworkload.size = "4294967296 kB"',
        "2: workload.size: a size cannot be above 100 GB",
    ),
    (BASE + '[path]\nrtt = "366000 s"', "5: path.rtt: a duration cannot be above 100000 s"),
    (BASE + '[path]\nrtt = "1e308 ms"', "5: path.rtt: a duration cannot be above 100000 s"),
    (BASE + '[path]\nrate = "1e30 Mbit/s"', "5: path.rate: a rate cannot be above 1000 Gbit/s"),
    (
        BASE + '[path]\nrtt = "60 min"',
        "5: path.rtt: an RTT of 3600 s in all is beyond limits.virtual (600 s)",
    ),
    (
        'name = "s"\nworkload = { kind = "bulk", size = "1 MB" }\n'
        '[axes]\nprotocol = ["tcp", "quic"]\n[capture]\nbodies = true',
        "6: capture.bodies: bulk flows have no bodies: capture.bodies is for downloads",
    ),
    (
        "repetitions = 1000000000\n" + BASE,
        "1: repetitions: 1,000,000,000 runs, which is about 16 years of one lab",
    ),
    (SATELLITE + "orbit = {}", "5: path.satellite.orbit: says nothing; orbits by name"),
    (
        SATELLITE + 'delay = "1 s"\nattenuation = {}',
        "6: path.satellite.attenuation: { } is not a number of decibels",
    ),
    (
        BASE + '[path]\nrate = "1 Mbit/s"\n[[path.links]]\nrtt = "1 ms"',
        "5: path.rate: cannot stand beside links; state it for one of them",
    ),
    (
        BASE + '[[path.links]]\nrtt = "1 ms"\n[[path.links]]\nrate = "foo"',
        "7: path.links.rate: 'foo' is not a number with a unit",
    ),
    (BASE + '[server]\nprogram = "ngnix"', "5: server.program: no server program 'ngnix'"),
    (
        'name = "s"\n[client]\nprogram = "chromium"\n[server]\nprogram = "headway-server"\n'
        '[workload]\nkind = "page"\nsite = "sander-99"',
        "8: workload.site: sander-99: no such site",
    ),
    ('name = "s"\nworkload.kind = "page"', "2: workload.site: is missing"),
    (BASE + '[path]\nrtt = "40,5 ms"', 'write a decimal point, as "40.5 ms"'),
    (
        BASE + "[path]\nburst = 5",
        '5: path.burst: unknown key; write loss = { mean = "2 %", burst = 5 }',
    ),
    (BASE + "[path]\nbdp = 1", '5: path.bdp: unknown key; write queue = "1 BDP"'),
    (
        BASE + '[path]\nrate = "1 Mbps"',
        "'Mbps' is not a unit of rate; write \"1 Mbit/s\"",
    ),
    ('latency = "3 ms"\n' + BASE, "1: latency: unknown key; did you mean 'path.rtt'?"),
    ('protocol = "http3"\n' + BASE, "1: protocol: 'http3' is not one of h1, h2, h3"),
    (BASE + '[netem]\ndelay = "3 ms"', "4: netem: unknown key; did you mean 'path'?"),
    ('server = "nginx"\n' + BASE, '1: server: must be a table; write server.program = "nginx"'),
    ('path = "4g-good"\n' + BASE, '1: path: must be a table; write path.profile = "4g-good"'),
    (BASE + '[server]\nprogram = "apache"', "; a file programs.toml adds a program of your own"),
    (BASE + '[client]\nprogram = "chrome"', "'chrome'; did you mean 'chromium'? Known: aioquic, "),
    ("repetitions = 2026-01-01\n" + BASE, "must be a whole number, not 2026-01-01"),
    (BASE + '[path]\nrate = "1 bit/s"', "5: path.rate: lets 75 B pass until limits.virtual"),
    (
        BASE + '[path]\nrtt = "1 ms"\n[path.up]\nrate = "1 bit/s"\n[path.down]\nrate = "10 bit/s"',
        "lets 750 B pass until limits.virtual",
    ),
    (BASE + 'server = "nginx"', 'write server.program = "nginx" before the first table'),
    (BASE + 'protocol = "h3"', "'protocol' stands before the first table"),
    (BASE + '[path]\nblackouts = ["2 s", "3 s"]', 'as [["2 s", "2.5 s"]]'),
    (BASE + '[hops]\nname = "a"', "4: hops: must be a list of tables: write [[hops]]"),
    (BASE + '[[flows]]\nstart = "1 s"', "must be a table: write [flows.NAME], not [[flows]]"),
    (BASE + '[[server]]\nprogram = "nginx"', "must be a table: write [server], not [[server]]"),
    (
        BASE + '[axes]\nprotocol = ["h2", "h3"]\n[[exclude]]\nprotocol = "h2"',
        "exclude.protocol: protocol names the contenders here: write contender",
    ),
    (BASE + "[options]\nvus = 10", "4: options: unknown key"),
    (BASE + '[path]\ncongestion_control = "bbr"', "did you mean 'server.congestion_control'?"),
    (BASE + "[path]\nlimit = 3", "did you mean 'queue'?"),
    ("repetitions = 1.5\n" + BASE, "1: repetitions: must be a whole number, not 1.5"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_cannot_be_meant_is_refused_with_its_line_and_key(text: str, message: str) -> None:
    with pytest.raises(WrongInputError) as caught:
        checked_plan(parse_study(Source("s.toml", text, Path())), "s.toml")
    said = str(caught.value)
    assert message in said and re.match(r"s\.toml:\d+: ", said), said


@pytest.mark.parametrize(
    "text",
    [
        'metrics = ["goodput_mbit"]\n' + UPLOAD,
        'metrics = ["goodput_mbit"]\naxes.workload.status = [200, 413]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\naxes.protocol = ["h2", "h3"]\n' + UPLOAD,
        'metrics = ["content_sent_bytes"]\nprotocol = "h3"\nclient.program = "headway-client"\n'
        + UPLOAD,
        'metrics = ["fallback_s"]\nclient.knobs.net_log = "counts"\n' + DUAL_STACK_PAGE,
    ],
)
def test_metrics_that_some_run_has_are_not_refused(text: str) -> None:
    assert checked_plan(parse_study(Source("s.toml", text, Path())), "s.toml")


def test_a_byte_order_mark_is_no_part_of_a_study(tmp_path: Path) -> None:
    file = tmp_path / "windows.toml"
    file.write_text(BASE, encoding="utf-8-sig")
    assert load_study(str(file)).name == "s"
