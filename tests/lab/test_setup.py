"""The agent sets a network up by netlink as the programs `ip` and `tc` would from the same lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.lab.machine import Machine

pytestmark = pytest.mark.lab

PAIRS = tuple(
    f"link add {name} netns host address 02:00:00:00:00:0{number} type veth "
    f"peer name peer-{name} netns peer address 02:00:00:00:01:0{number}"
    for number, name in enumerate(("one", "two", "three", "four", "five", "six"))
)
IP = (
    *(f"link set {name} up" for name in ("two", "three", "four", "five", "six")),
    "link set one txqueuelen 77 up",
    "addr add 10.0.0.1/24 dev one",
    "addr add 10.1.0.1/32 dev lo",
    "addr add 10.2.0.1/24 dev two",
    "addr del 10.2.0.1/24 dev two",
    "neigh add 10.0.0.2 lladdr 02:00:00:00:01:00 dev one nud permanent",
    "route add default via 10.0.0.2 initcwnd 20 congctl bbr",
    "route add 10.3.0.0/24 dev two",
    "route add 10.4.0.0/24 via 10.0.0.2",
    "route replace 10.0.0.0/24 dev one src 10.0.0.1 initcwnd 4",
    "route add local default dev lo table 102",
)
TC = (
    "qdisc add dev one root handle 1: htb default 1",
    "class add dev one parent 1: classid 1:1 htb rate 1234567bit burst 3 cburst 3 quantum 1514",
    "qdisc add dev one parent 1:1 handle 10: fq_codel limit 99 memory_limit 299772 noecn",
    "qdisc add dev two root handle 1: htb default 1",
    "class add dev two parent 1: classid 1:1 "
    "htb rate 40000000000bit burst 5000 cburst 5000 quantum 1514",
    "qdisc add dev two parent 1:1 handle 10: bfifo limit 125000",
    "class change dev two parent 1: classid 1:1 htb rate 8000000bit burst 1 cburst 1 quantum 1514",
    "qdisc add dev three root handle 1: netem limit 1000000 delay 49999999ns 5000001ns "
    "distribution normal rate 100gbit loss gemodel 1.2345678% 25.0000000% duplicate 1% "
    "corrupt 0.5% reorder 33.3% seed 18446744073709551615",
    "qdisc add dev four root handle 1: netem limit 1000000 delay 50000000ns loss random 4% seed 7",
    "qdisc change dev four root handle 1: "
    "netem limit 1000000 delay 50000000ns loss random 100% seed 8",
    "qdisc add dev five root handle 1: codel limit 83 noecn",
    "qdisc add dev six root handle 1: pfifo limit 1000000",
    "qdisc del dev six root",
    "qdisc add dev six root handle 1: pfifo limit 12",
)
SHOW = """
import os, socket, struct, subprocess
print(os.getpid(), flush=True)
def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3:]
def shaping(kind, index):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        body = struct.pack("=B3xiIII", 0, index, 0, 0, 0)
        netlink.send(struct.pack("=IHHII", 36, kind, 0x301, 0, 0) + body)
        while True:
            data = netlink.recv(1 << 16)
            while data:
                length, answer = struct.unpack_from("=IH", data)
                if answer == 3:
                    return
                handles = struct.unpack_from("=iII", data, 20)
                found = dict(attributes(data[36:length]))
                print(*handles, found[1], found.get(2, b"").hex(), flush=True)
                data = data[(length + 3) & ~3:]
for index, name in sorted(socket.if_nameindex()):
    print(name, flush=True)
    shaping(38, index)
    shaping(42, index)
for words in ("-d addr", "route show table all", "neigh"):
    subprocess.run(["ip", *words.split()], check=True)
"""
FOR_THE_PROGRAMS = {"ip": "link show dev lo", "tc": "qdisc show dev lo"}
"""Lines that only the programs understand: with one, all that it comes with are theirs."""


def test_netlink_makes_what_the_programs_make(machine: Machine, tmp_path: Path) -> None:
    quiet = {"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"}
    shown, pids = [], []
    for name, first in (("netlink", {}), ("programs", FOR_THE_PROGRAMS)):
        ip, tc = ((first[program],) if first else () for program in ("ip", "tc"))
        orders = Orders(
            namespaces=(
                Namespace("host", sysctls=quiet, ip=(*ip, *IP), tc=(*tc, *TC)),
                Namespace("peer", sysctls=quiet),
            ),
            ip=(*ip, *PAIRS),
            programs=(Program("show", "host", ("python3", "-ISc", SHOW)),),
        )
        outcome = machine.boot(orders, tmp_path / name, seed=1)
        assert outcome.status == "ok", outcome.reason
        assert outcome.ended[0].exit_status == 0, (tmp_path / name / "show.err").read_text()
        pid, _, rest = (tmp_path / name / "show.out").read_text().partition("\n")
        pids.append(int(pid))
        shown.append(rest)
    assert pids[1] - pids[0] == 3  # ip twice and tc: without them, no program was started
    assert shown[0] == shown[1]
    for word in ("netem", "fq_codel", "qlen 77", "congctl bbr", "PERMANENT"):
        assert word in shown[0]
