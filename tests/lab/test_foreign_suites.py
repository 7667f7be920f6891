"""CPython's and Go's own tests, in a lab in virtual time and on this machine: each test ends alike in both.

Their packages come from the image's suite. Both run in one root tree, as root with the same capabilities, in a network of
their own. Tests that end otherwise in a lab are named, with the reason, in `suites.csv`; nothing else may.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.program import Program
from headway.image.layers import layer_names
from headway.image.treeprogram import python_version
from headway.lab.cores import available_cores
from headway.lab.machine import Machine, SharedDirectory
from headway.lab.ready import ready_image
from headway.study.units import Duration
from tests.lab.debian import tree_with

pytestmark = pytest.mark.lab

DIFFERENCES = Path(__file__).with_name("suites.csv")
SHARED = "lab/extras/suite"
"""Where both see the directory with what is to be run, from their roots."""
LIMIT_S = 3600
"""Of the lab's time, and of this machine's: some tests wait for what a busy machine delays."""
MOST_CPU = Duration(1800 * 10**9)
MEMORY_MIB = 3072
WITHOUT = ",".join(f"-{name}" for name in ("sys_time", "sys_boot", "sys_module", "mknod"))
"""Capabilities that no test needs, and by which one could change this machine."""
ENVIRONMENT = {
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TMPDIR": "/tmp",
}
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
WHOLE = "(whole)"
"""Stands for a part that ended without saying what came of its tests."""

Outcomes = Mapping[str, str]


@dataclass(frozen=True)
class Suite:
    """A program's own tests.

    Attributes:
        packages: Debian's, that bring them to an image with this root tree.
        parts: what of them is tried, one by one.
        argv: what runs a part.
        read: what came of each test, out of what that printed.
        prepare: makes in a directory what a part needs, with the root tree.
    """

    packages: Callable[[Path], tuple[str, ...]]
    parts: tuple[str, ...]
    argv: Callable[[str], tuple[str, ...]]
    read: Callable[[str], Outcomes]
    prepare: Callable[[Path, str, Path], object]


def python_argv(part: str) -> tuple[str, ...]:
    # Its own messages go elsewhere, so that the document alone is read.
    return sh(f"python3 -m test --junit-xml /tmp/result.xml -v {part} >&2; cat /tmp/result.xml")


def python_read(printed: str) -> Outcomes:
    outcomes: dict[str, str] = {}
    for case in ElementTree.fromstring(printed).iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        outcome = PASSED if not kinds else SKIPPED if kinds == {"skipped"} else FAILED
        # Subtests of a test share its name.
        name = case.attrib["name"]
        outcomes[name] = outcome if outcomes.get(name) != FAILED else FAILED
    return outcomes


def go_argv(part: str) -> tuple[str, ...]:
    return sh(f"cd /usr/lib/go/src/{part} && exec /{SHARED}/suite.test -test.short -test.v")


def go_read(printed: str) -> Outcomes:
    found = re.findall(r"^\s*--- (PASS|FAIL|SKIP): (\S+)", printed, re.MULTILINE)
    words = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}
    return {name: words[word] for word, name in found}


def go_prepare(tree: Path, part: str, directory: Path) -> None:
    command = sh(f"cd /usr/lib/go/src && go test -c -o /{SHARED}/suite.test {part}")
    more = {
        "CGO_ENABLED": "0",
        "GOCACHE": "/tmp/gocache",
        "GOFLAGS": "-p=1",
        "GOTOOLCHAIN": "local",
    }
    done = on_this_machine(tree, command, directory, more)
    assert done.returncode == 0, done.stderr


def sh(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


SUITES = {
    "cpython": Suite(
        packages=lambda root: (f"libpython{python_version(root)}-testsuite",),
        parts=(
            *(
                "test_asyncio.test_events",
                "test_asyncio.test_subprocess",
                "test_asyncio.test_streams",
            ),
            *(
                "-u walltime test_eintr",
                "test_epoll",
                "test_faulthandler",
                "test_fcntl",
                "test_fork1",
            ),
            *(
                "test_ftplib",
                "test_httpservers",
                "test_imaplib",
                "test_mmap",
                "test_os",
                "test_poll",
            ),
            *("test_poplib", "test_posix", "test_pty", "test_resource", "test_select"),
            *("test_selectors", "test_signal", "test_smtplib", "test_socket", "test_ssl"),
            *(
                "test_subprocess",
                "test_thread",
                "test_threading",
                "test_threadsignals",
                "test_time",
            ),
        ),
        argv=python_argv,
        read=python_read,
        prepare=lambda *_: None,
    ),
    "go": Suite(
        packages=lambda _: ("golang-go", "golang-src"),
        parts=("net", "net/http", "os/exec", "os/signal", "sync", "syscall", "time"),
        argv=go_argv,
        read=go_read,
        prepare=go_prepare,
    ),
}


@dataclass(frozen=True)
class Difference:
    """A test that ends otherwise in a lab.

    Attributes:
        suite: whose.
        part: of the suite.
        test: its name, or a pattern of names.
        lab: what comes of it in a lab.
        host: what comes of it here.
        why: the reason.
    """

    suite: str
    part: str
    test: str
    lab: str
    host: str
    why: str


def differences() -> Iterator[Difference]:
    with DIFFERENCES.open(encoding="utf-8", newline="") as file:
        yield from (Difference(**row) for row in csv.DictReader(file))


def test_every_named_difference_is_of_a_part_and_has_a_reason() -> None:
    for one in differences():
        assert one.part in SUITES[one.suite].parts
        assert {one.lab, one.host} <= {PASSED, FAILED, SKIPPED} and one.lab != one.host
        assert len(one.why) > 10


@pytest.mark.nightly
@pytest.mark.skipif(os.geteuid() != 0, reason="both runs are of root, as labs are: needs root")
@pytest.mark.parametrize(
    ("suite", "part"), [(name, part) for name, suite in SUITES.items() for part in suite.parts]
)
def test_each_test_ends_in_a_lab_as_it_does_here(
    suite: str, part: str, machine: Machine, tmp_path: Path
) -> None:
    tried = SUITES[suite]
    image = ready_image(layers=layer_names())
    tree = tree_with(tried.packages(image.root), image)
    shared = tmp_path / "shared"
    shared.mkdir()
    tried.prepare(tree, part, shared)
    lab = in_a_lab(tried, part, machine, tree, shared, tmp_path / "lab")
    done = on_this_machine(tree, tried.argv(part), shared, {})
    host = outcomes_of(tried, done.stdout)
    assert PASSED in host.values(), done.stderr[-3000:]
    # A test that fails here says nothing of labs, and one that is skipped only if it fails there.
    differ = {
        name: (lab.get(name, lab.get(WHOLE, SKIPPED)), outcome)
        for name, outcome in host.items()
        if (outcome == PASSED and lab.get(name) != PASSED)
        or (outcome == SKIPPED and lab.get(name) == FAILED)
    }
    named = [one for one in differences() if (one.suite, one.part) == (suite, part)]
    unnamed = {
        name: both
        for name, both in differ.items()
        if not any(fnmatchcase(name, one.test) and (one.lab, one.host) == both for one in named)
    }
    assert unnamed == {}
    # On a machine that lacks what a lab lacks, too, both are skipped.
    vain = [
        one.test
        for one in named
        if not any(fnmatchcase(name, one.test) for name in differ)
        and any(out == one.host for name, out in host.items() if fnmatchcase(name, one.test))
    ]
    assert vain == [], "these end alike by now"


def outcomes_of(suite: Suite, printed: str) -> Outcomes:
    try:
        return suite.read(printed) or {WHOLE: FAILED}
    except ElementTree.ParseError:
        return {WHOLE: FAILED}


def in_a_lab(
    suite: Suite, part: str, machine: Machine, tree: Path, shared: Path, directory: Path
) -> Outcomes:
    """What came of each test of a part in a lab in virtual time."""
    booted = replace(machine, image=replace(ready_image(layers=()), root=tree))
    # As on this machine, where another mount shows the same directory.
    words = ("setpriv", f"--bounding-set={WITHOUT}", *suite.argv(part))
    argv = (*sh('mkdir -p /tmp/here && cd /tmp/here && exec "$@"'), "sh", *words)
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("suite", "client", argv, ENVIRONMENT),),
        limit_ns=LIMIT_S * 10**9,
    )
    outcome = booted.boot(
        orders,
        directory,
        seed=1,
        cpu=available_cores()[0],
        cpu_limit=MOST_CPU,
        memory_mib=MEMORY_MIB,
        shown={SHARED.removeprefix("lab/"): SharedDirectory(shared)},
    )
    printed = (directory / "suite.out").read_text(encoding="utf-8", errors="replace")
    outcomes = outcomes_of(suite, printed)
    return {**outcomes, WHOLE: FAILED} if outcome.reason else outcomes


_HERE = r"""
set -e
tree=$1; shared=$2; shift 2
mount --bind "$tree" "$tree"
mount -o remount,bind,ro "$tree"
mount -t tmpfs tmpfs "$tree/lab"
mkdir -p "$tree/$SHARED"
mount --bind "$shared" "$tree/$SHARED"
mount -t proc proc "$tree/proc"
mount -t tmpfs tmpfs "$tree/tmp"
chmod 1777 "$tree/tmp"
mount --rbind /dev "$tree/dev"
mkdir "$tree/tmp/here"
ip link set lo up
# Not in its place: the first process of a namespace has no usual signals, and orphans become its children.
setpriv --bounding-set="$WITHOUT" chroot "$tree" env -i "$@"
exit
"""


def on_this_machine(
    tree: Path, argv: tuple[str, ...], shared: Path, more: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command in a root tree, with mounts, processes, names and network of its own."""
    words = [f"{name}={value}" for name, value in {**ENVIRONMENT, **more}.items()]
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--uts"]
    command += ["sh", "-c", _HERE, "sh", str(tree), str(shared), *words]
    command += [*sh('cd /tmp/here && exec "$@"'), "sh", *argv]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "SHARED": SHARED, "WITHOUT": WITHOUT},
    )
