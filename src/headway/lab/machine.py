"""The machine: boots the lab kernel once, with a clock, a core, and limits."""

from __future__ import annotations

import os
import resource
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING
from typing import Protocol as Interface

from headway.contract.names import CAPTURE_BUFFER_MIB, NATIVE_DIRECTORY, ORDERS_FILE, OUTCOME_FILE
from headway.contract.outcome import Outcome
from headway.contract.text import dump
from headway.errors import HeadwayError
from headway.lab.cancel import Cancellation, Cancelled
from headway.lab.guard import DEFAULT_CPU_LIMIT, Guard, LabLimits
from headway.lab.memory import MEMORY_VARIABLE, LabMemory, lab_memory
from headway.lab.meter import Meter
from headway.lab.orphans import adopt_orphans, end_orphans
from headway.lab.outcomes import outcome_of
from headway.lab.quota import Quota
from headway.lab.spoilt import check_there
from headway.lab.usage import usage_of
from headway.study.clock import Clock
from headway.study.units import Duration

if TYPE_CHECKING:
    from headway.contract.orders import Orders

CONSOLE_FILE = "console.log"
LAB_EPOCH_S = 1_767_225_600
"""The lab's clock always starts at 2026-01-01 00:00 UTC, so that runs do not depend on the date."""

_NO_SPACE_BYTES = 65_536
_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
"""A lab dies with the thread that started it, whatever kills that."""
_STACK_BYTES = 8 * 2**20
_FEWEST_FILES = 256
"""Of the host, that a lab has to be able to open: with fewer its programs fail, and are blamed for it."""
_REWRITTEN = (
    # C libraries, by the names of their files: glibc's, older ones, musl
    *("libc.so.6", "libc-2.*", "libpthread-2.*", "ld-musl-x86_64.so.1"),
    # Static programs
    *("headway-*", "caddy", "quic-go-client"),
)
"""Files in whose code the lab kernel may replace calls (patch 0020): nothing reads, copies or changes that."""
_OWN_TIMES = "own-times,"
"""As hostfs of the lab kernel knows it (patch 0012)."""
_OWN_PROGRAMS = PurePath(NATIVE_DIRECTORY).name

_CLOCK_ARGUMENTS = {
    Clock.VIRTUAL: ["time-travel=inf-cpu", f"time-travel-start={LAB_EPOCH_S}000000000"],
    Clock.CPU: ["time-travel", f"time-travel-start={LAB_EPOCH_S}000000000"],
    Clock.REAL: [],
}


@dataclass(frozen=True)
class SharedDirectory:
    """A directory of the host that a lab sees, read-only.

    It sees names, contents and whether a file may be executed. All else that a host knows of its
    files is made up by the lab's kernel, in the same way on any.

    Attributes:
        directory: where it is.
        own_times: its files had their times before they came to this machine, and a lab sees those,
            too: a program may judge by them what was compiled from what.
    """

    directory: Path
    own_times: bool = False


class BootImage(Interface):
    """What a machine needs of an image."""

    @property
    def kernel(self) -> Path:
        """The lab kernel."""

    @property
    def root(self) -> Path:
        """The guest's root tree."""

    @property
    def native(self) -> Path:
        """Directory of Headway's own programs."""


@dataclass(frozen=True)
class WrittenOrders:
    """Orders as a lab reads them, and what of them concerns the machine.

    Attributes:
        text: the orders.
        captures: how many devices are captured.
        limit_ns: how long the lab may take, of its own time.
        directory: that of the first round, below the run's.
    """

    text: str
    captures: int
    limit_ns: int
    directory: str

    @classmethod
    def of(cls, orders: Orders) -> WrittenOrders:
        """These orders, written."""
        return cls(dump(orders), len(orders.captures), orders.limit_ns, orders.rounds[0].directory)


@dataclass(frozen=True)
class Machine:
    """How labs are booted.

    Attributes:
        image: kernel, root tree and Headway's own programs.
        code: the guest's modules, compiled for the guest.
        extras: directories of optional programs by their names; a lab sees those that it is shown.
        memory_mib: memory of the guest, beside the buffers of its captures; only what it touches is
            resident on the host, in blocks of 2 MiB.
    """

    image: BootImage
    code: Path
    extras: Mapping[str, Path] = field(default_factory=dict)
    memory_mib: int = 512

    def boot(
        self,
        orders: Orders | WrittenOrders,
        directory: Path,
        *,
        seed: int,
        clock: Clock = Clock.VIRTUAL,
        cpu_limit: Duration = DEFAULT_CPU_LIMIT,
        cpu: int | None = None,
        virtual_tsc: bool = False,
        rewrite_calls: bool = True,
        interactive: bool = False,
        cancellation: Cancellation | None = None,
        meter: Meter | None = None,
        memory_mib: int | None = None,
        shown: Mapping[str, SharedDirectory] | None = None,
        quota: Quota | None = None,
    ) -> Outcome:
        """Boot a lab, carry out orders, and power it off.

        Args:
            orders: what the lab does.
            directory: the run's directory; everything the lab writes is there.
            seed: seed of the lab's entropy.
            clock: how its time passes.
            cpu_limit: after this much processor time the lab is ended.
            cpu: the core that the lab is pinned to; any if None.
            virtual_tsc: in virtual time, the processor's time stamp counter counts that, too; every
                reading costs as much as a system call, and others 10 % more.
            rewrite_calls: in virtual time, the kernel replaces calls that repeat in code of the C
                library and of Headway's own programs, which makes them several times as fast.
            interactive: connect the terminal to the lab's console.
            cancellation: ends the lab when it is turned on.
            meter: is told what processor time the lab took.
            memory_mib: memory of this lab's guest, if not the machine's.
            shown: what the lab sees of the host beside the image, the guest's modules and its own
                directory, by the name below ``/lab``.
            quota: how much it may write into its directory; None for as much as there is room.

        Returns:
            The outcome of the first round; one with status ``failed`` or ``timeout`` and a reason if
            the lab itself did not end well. Its console is kept in ``console.log``.

        Raises:
            Cancelled: the cancellation was turned on.
            HeadwayError: the directory has no space left.
        """
        if not isinstance(orders, WrittenOrders):
            orders = WrittenOrders.of(orders)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ORDERS_FILE).write_text(orders.text, encoding="utf-8")
        shown = {f"extras/{_OWN_PROGRAMS}": SharedDirectory(self.image.native), **(shown or {})}
        memory_mib = (memory_mib or self.memory_mib) + CAPTURE_BUFFER_MIB * orders.captures
        memory_mib += memory_mib % 2  # it comes in blocks of 2 MiB
        with self._stage(directory, shown) as stage:
            options = _time_options(clock, virtual_tsc=virtual_tsc, rewrite_calls=rewrite_calls)
            command = self._command(memory_mib, seed, options, shown)
            lasts = Duration(orders.limit_ns)
            limits = LabLimits.of(cpu_limit, clock, lasts=lasts, interactive=interactive)
            with (
                (directory / CONSOLE_FILE).open("wb") as console,
                lab_memory(cpu, memory_mib) as memory,
            ):
                with pinned(cpu):
                    process = subprocess.Popen(
                        [*_limited(), *_DIES_WITH_US, *command],
                        cwd=stage,
                        env=_environment(stage, memory),
                        pass_fds=(memory.descriptor,),
                        # What the lab makes is to have the modes that its programs ask for.
                        umask=0o022,
                        stdin=None if interactive else subprocess.DEVNULL,
                        stdout=None if interactive else console,
                        stderr=console,
                        start_new_session=not interactive,
                    )
                excess = None if quota is None else partial(quota.excess, directory)
                exceeded = _wait(process, limits, excess, cancellation, meter or Meter())
                memory.reusable = process.returncode == 0
        check_there(directory)
        file = directory / orders.directory / OUTCOME_FILE
        outcome = outcome_of(file, directory / CONSOLE_FILE, process.returncode, exceeded)
        if not (exceeded or file.exists()):
            _check_image(self.image)
        if outcome.status == "failed":
            _check_space(directory)
        return outcome

    @contextmanager
    def _stage(self, directory: Path, shown: Mapping[str, SharedDirectory]) -> Iterator[Path]:
        """A directory with short names for everything that the kernel shows to the guest.

        It is the kernel's working directory, and names on its command line are relative to it:
        they may hold no spaces, and should be the same in every run. It stands beside the run's
        directory, since programs that could change it could write wherever its user can.
        """
        stage = directory.resolve().with_name(f".{directory.name}.lab")
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(mode=0o700)
        (stage / "extras").mkdir()
        for name, target in (
            ("root", self.image.root),
            ("code", self.code),
            ("run", directory.resolve()),
            *((name, shared_directory.directory) for name, shared_directory in shown.items()),
        ):
            (stage / name).symlink_to(target.absolute())
        try:
            yield stage
        finally:
            shutil.rmtree(stage, ignore_errors=True)

    def _command(
        self,
        memory_mib: int,
        seed: int,
        options: tuple[str, ...],
        shown: Mapping[str, SharedDirectory],
    ) -> list[str]:
        return [
            str(self.image.kernel),
            f"mem={memory_mib}M",
            "rootfstype=hostfs",
            "hostfs=/proc/self/cwd",
            "rootflags=root/.",
            "ro",
            "norandmaps",
            # Every sample of TCP's sockets walks through their whole table.
            "thash_entries=512",
            "seccomp=on",
            f"entropy-seed={seed}",
            "uml_dir=./",
            "con=null",
            "con0=fd:0,fd:1",
            "quiet",
            "panic=-1",
            *options,
            "init=/lab/init",
            "--",
            *(f"{name}={name}/." for name in ("code", "run")),
            *(
                f"{name}={_OWN_TIMES if shared_directory.own_times else ''}{name}/."
                for name, shared_directory in shown.items()
            ),
        ]


def _check_image(image: BootImage) -> None:
    """Let an image be whole of which a lab crashed."""
    # Most labs answer, and to load this takes longer than to boot one.
    from headway.image.verify import check_after_crash

    check_after_crash(image.kernel)


def _check_space(directory: Path) -> None:
    """Let there be space left where a lab failed, which could not tell: it had nowhere to write that to."""
    if shutil.disk_usage(directory).free < _NO_SPACE_BYTES:
        raise HeadwayError(f"no space left in {directory}")


@contextmanager
def pinned(cpu: int | None) -> Iterator[None]:
    """This thread is on a core, and so are the processes that it starts."""
    if cpu is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        # These cores may have been taken away meanwhile, and the process is there already.
        with suppress(OSError):
            os.sched_setaffinity(0, before)


def _time_options(clock: Clock, *, virtual_tsc: bool, rewrite_calls: bool) -> tuple[str, ...]:
    """What the kernel is told of a clock, and what it may do in it alone."""
    options = (*_CLOCK_ARGUMENTS[clock], *(["virtual-tsc"] if virtual_tsc else []))
    if clock is not Clock.VIRTUAL or not rewrite_calls:
        return options
    return (*options, f"rewrite-calls={','.join(_REWRITTEN)}")


def _limited() -> tuple[str, ...]:
    """What starts a command with limits of its own: of its stack, and of the host's files that it may have open.

    Without a limit of its stack the host has its libraries where the lab's programs have their memory, so that the
    kernel cannot be inside them. Its files are as many as may be, however few this shell's programs may have open: from
    its first instruction on, because on a busy machine a lab is soon further than whoever started it.

    Raises:
        HeadwayError: those are too few.
    """
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    stack = _STACK_BYTES if most == resource.RLIM_INFINITY else min(_STACK_BYTES, most)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if files in range(_FEWEST_FILES):
        raise HeadwayError(
            f"a limit (ulimit -H -n) leaves {files} open files: a lab takes at least {_FEWEST_FILES}"
        )
    open_files = "unlimited" if files == resource.RLIM_INFINITY else files
    return ("prlimit", f"--stack={stack}:", f"--nofile={open_files}:{open_files}", "--")


def _environment(stage: Path, memory: LabMemory) -> dict[str, str]:
    """Nothing of the user's environment reaches the lab."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(stage),
        MEMORY_VARIABLE: str(memory.descriptor),
    }


def _wait(
    process: subprocess.Popen[bytes],
    limits: LabLimits,
    excess: Callable[[], str | None] | None,
    cancellation: Cancellation | None,
    meter: Meter,
) -> str | None:
    """Wait for the lab; end it at a limit, which is returned in words, or when cancelled."""
    adopt_orphans()
    guard = Guard(limits, lambda: usage_of(process.pid), excess=excess)
    # Popen.wait with a limit polls with pauses of up to 50 ms; a pidfd wakes at once.
    ended = os.pidfd_open(process.pid)
    try:
        watched = [ended] if cancellation is None else [ended, cancellation.fileno()]
        while True:
            ready = select.select(watched, [], [], guard.next_look_s)[0]
            if ended in ready:
                return None
            if ready:
                raise Cancelled
            if exceeded := guard.exceeded():
                return exceeded
    finally:
        signal.pidfd_send_signal(ended, signal.SIGKILL)
        os.close(ended)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        end_orphans(process.pid)
        meter.labs_s += used.ru_utime + used.ru_stime
