"""A study whose labs are replaced, and which can be made to kill itself at a chosen moment.

    python -m tests.stub_lab MOMENT NUMBER SIGNAL LOG run STUDY --out DIR ...

carries out a command of Headway, and sends itself SIGNAL at the NUMBER-th time that MOMENT comes; with a MOMENT `never` it ends as it would, report and all. Every run that is carried out adds its seed and its directory's name to the file LOG.

    python -m tests.stub_lab --serve

carries out such commands one after the other (`Loaded`), each in a process that is forked when everything is loaded: that
alone takes two seconds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headway import cli
from headway.campaign import local, session
from headway.campaign.executor import Keep
from headway.columns import Record
from headway.contract.orders import Orders
from headway.contract.outcome import Body, Ended, Outcome
from headway.durable import write_atomically
from headway.image import Image, ImageInfo, KernelInfo, NativeInfo, RootInfo
from headway.lab import run
from headway.lab.machine import Machine, WrittenOrders
from headway.records import journal, store
from headway.report import Report
from headway.selftest.check import Check
from headway.study.path import Path as NetworkPath

_VERSION = {"--http1.1": "1.1", "--http2": "2", "--http3-only": "3"}
_SHA256 = "of whatever body was asked for"
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def stub_image(nginx: str = "1.30.6") -> Image:
    """An image that boots nothing."""
    kernel = KernelInfo(
        key="k",
        version="7.2",
        package="linux",
        suite="s",
        mirror="m",
        patches=(),
        compiler="gcc 12",
        built=_NOW,
    )
    packages = {"nginx": nginx, "curl": "8.22"}
    root = RootInfo(key="r", suite="s", mirror="m", asked=(), packages=packages, built=_NOW)
    native = NativeInfo(key="n", version="0.1.0+n", programs=(), built=_NOW)
    info = ImageInfo(kernel, root, native)
    native_place = Path(__file__).with_name("stub_native")
    return Image(Path(), Path("linux"), Path("tree"), native_place, "image-key", info)


@dataclass(frozen=True)
class StubMachine(Machine):
    """Answers at once what curl would have printed."""

    carried_out: Callable[[str], None] = field(default=lambda _: None)
    fails: Callable[[str], str | None] = field(default=lambda _: None)
    takes: Callable[[str, int], float] = field(default=lambda _, size: 0.1 + size / 1e6)
    fresh: bool = True

    def boot(self, orders: Orders | WrittenOrders, directory: Path, **_: Any) -> Outcome:
        """See `Machine.boot`."""
        assert isinstance(orders, Orders)
        # A run's directory does not exist, or was made for it alone.
        directory.mkdir(parents=True, exist_ok=not self.fresh)
        self.carried_out(directory.name)
        argv = orders.programs[-1].argv
        if reason := self.fails(directory.name):
            return Outcome("failed", reason, 0, "")
        size = int(argv[-1].rsplit("/", 1)[1].split(".")[0])
        total_s = self.takes(directory.name, size)
        printed = {
            "urlnum": 0,
            "exitcode": 0,
            "errormsg": None,
            "num_connects": 1,
            "response_code": 200,
            "http_version": next(_VERSION[word] for word in argv if word in _VERSION),
            "size_download": size,
            "time_connect": 0.02,
            "time_appconnect": 0.04,
            "time_starttransfer": 0.06,
            "time_total": total_s,
        }
        (directory / "curl.out").write_text(json.dumps(printed))
        ended = Ended("curl", 0, round(total_s * 1e9), "client")
        bodies = tuple(Body(file.namespace, file.path, size, _SHA256) for file in orders.bodies)
        return Outcome("ok", None, ended.at_ns, "7.2", (ended,), bodies=bodies)


def keeping(kept: list[Record]) -> Keep:
    """What an executor gives records to that are only collected."""

    def keep(records: Sequence[Record]) -> bool:
        kept.extend(records)
        return True

    return keep


def stub_check(*, passed: bool = True) -> Check:
    """A check of a path."""
    return Check("rtt", "the path", 1.0, 1.0 if passed else 2.0, 1.0, 1.0, "ms", "")


def replace_bodies(patch: pytest.MonkeyPatch) -> None:
    """Let servers have no bodies, and clients of `StubMachine` receive what they asked for."""
    patch.setattr(run, "served_bodies", lambda *_: Path())
    patch.setattr(run, "body_sha256", lambda _: _SHA256)


def replace_labs(
    patch: pytest.MonkeyPatch,
    log: Callable[[str], None] = lambda _: None,
    image: Image | None = None,
    paths: Callable[[Sequence[NetworkPath]], None] = lambda _: None,
    check_passes: bool = True,
    fails: Callable[[str], str | None] = lambda _: None,
    takes: Callable[[str, int], float] = lambda _, size: 0.1 + size / 1e6,
) -> None:
    """Let studies of this process run without labs, without a self-test and without bodies.

    Args:
        patch: undoes it.
        log: is told the name of every run that is carried out.
        image: that labs would boot.
        paths: is told the paths of every self-test.
        check_passes: whether self-tests do.
        fails: from a run's name to the reason for which it fails, if it does.
        takes: from a run's name and the size of its body to the time that it takes, seconds.
    """
    machine = StubMachine(stub_image(), Path(), carried_out=log, fails=fails, takes=takes)
    patch.setattr(session, "ready_image", lambda **_: image or stub_image())
    patch.setattr(session, "ready_machine", lambda _: machine)
    patch.setattr(session, "body_file", lambda _: None)
    replace_bodies(patch)
    patch.setattr(session, "learn", lambda _runs, _records: None)

    def check(
        _: object, asked: Sequence[NetworkPath], on_path: Callable[[bool], None], **__: object
    ) -> tuple[Check, ...]:
        paths(asked)
        for _path in asked:
            on_path(check_passes)
        return tuple(stub_check(passed=check_passes) for _path in asked)

    patch.setattr(local.LocalExecutor, "check", check)


@dataclass
class _Fate:
    """Sends this process a signal at the chosen moment."""

    moment: str
    number: int
    signal: signal.Signals
    seen: Counter[str] = field(default_factory=Counter)

    def comes(self, moment: str) -> bool:
        """Whether this is it."""
        self.seen[moment] += 1
        return moment == self.moment and self.seen[moment] == self.number

    def at(self, moment: str) -> None:
        """A moment comes."""
        if self.comes(moment):
            os.kill(os.getpid(), self.signal)


def _arm(patch: pytest.MonkeyPatch, fate: _Fate) -> None:
    add, write, check = journal.Journal.add, write_atomically, local.LocalExecutor.check

    def dying_add(self: journal.Journal, lines: Sequence[bytes]) -> None:
        # One by one: how many come at a time is up to how busy the machine is.
        for line in lines:
            if fate.comes("half a record"):
                os.write(self._file, line[: len(line) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            add(self, [line])
            fate.at("record")

    def dying_write(file: Path, data: bytes) -> None:
        if fate.comes(file.name):
            (file.parent / f".{file.name}.half.partial").write_bytes(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        write(file, data)

    def dying_check(*words: Any, **named: Any) -> Any:
        fate.at("self-test")
        return check(*words, **named)

    patch.setattr(journal.Journal, "add", dying_add)
    patch.setattr(store, "write_atomically", dying_write)
    patch.setattr(local.LocalExecutor, "check", dying_check)


class Loaded:
    """Carries out commands of this module in processes that have nothing to load."""

    def __enter__(self) -> Loaded:
        served = [sys.executable, "-m", "tests.stub_lab", "--serve"]
        self._process = subprocess.Popen(
            served, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, *words: str, said: Path) -> int:
        """The exit status of a command, negative if a signal ended it; `said` is given its standard error."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps([str(said), *words]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def serve() -> None:
    """Carry out what lines of standard input ask for; in each process that is forked, what one does."""
    for line in sys.stdin:
        said, *words = json.loads(line)
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), sys.stderr.fileno())
            sys.argv[1:] = words
            return main()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def main() -> None:
    """Carry out a command, and perhaps die."""
    moment, number, name, log, *words = sys.argv[1:]
    fate = _Fate(moment, int(number), signal.Signals[name])

    def carried_out(name: str) -> None:
        with Path(log).open("a") as file:
            file.write(f"{name}\n")
        fate.at("run")

    patch = pytest.MonkeyPatch()
    replace_labs(patch, carried_out)
    _arm(patch, fate)
    if moment == "report":
        patch.setattr(Report, "write", lambda *_: fate.at(moment))
    elif moment != "never":
        # Statistics and figures take seconds, which nothing is learnt from here.
        for shown in ("_show", "_show_part"):
            patch.setattr(f"headway.cli.study.{shown}", lambda *_, **__: None)
    sys.argv[1:] = words
    cli.main()


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
