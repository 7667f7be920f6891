"""The machine: limits, failures as rows, isolation."""

from __future__ import annotations

import os
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from headway.contract.orders import Namespace, Orders
from headway.contract.outcome import Outcome
from headway.contract.program import Program
from headway.lab.machine import CONSOLE_FILE, Machine, SharedDirectory
from headway.lab.orphans import adopt_orphans
from headway.study.units import Duration
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

QUICK = Duration(120 * 10**9)


def boot(
    machine: Machine, directory: Path, script: str, *, limit_s: float = 60, cpu: Duration = QUICK
) -> Outcome:
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("script", "client", ("sh", "-c", script)),),
        limit_ns=int(limit_s * 1e9),
    )
    return machine.boot(orders, directory, seed=1, cpu_limit=cpu)


def said(directory: Path) -> str:
    return (directory / "script.out").read_text()


def test_a_program_runs_and_its_output_is_kept(machine: Machine, tmp_path: Path) -> None:
    outcome = boot(machine, tmp_path, "echo hello; exit 3")
    assert outcome.status == "ok"
    assert outcome.ended[0].exit_status == 3
    assert said(tmp_path) == "hello\n"


@pytest.mark.parametrize(
    ("script", "cpu_s"), [("sleep 1 & sleep 2 & exit", 120), ("while :; do (:); done", 1)]
)
def test_a_lab_leaves_no_process(machine: Machine, tmp_path: Path, script: str, cpu_s: int) -> None:
    """Nor one that ended and waits for its parent: the first process of a container may not be that parent."""
    adopt_orphans()
    before = Counter(children())
    boot(machine, tmp_path, script, cpu=Duration(cpu_s * 10**9))
    assert Counter(children()) == before


def children() -> Iterator[str]:
    """Names of this process' children, dead ones among them."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # others end meanwhile
            name, _, rest = file.read_text(encoding="utf-8").rpartition(")")
            if int(rest.split()[1]) == os.getpid():
                yield name


def test_a_directory_is_shown_wherever_its_name_begins(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name may count from the working directory, as those of results do."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "file").write_text("shown")
    orders = Orders(
        namespaces=(Namespace("client"),),
        programs=(Program("script", "client", ("cat", "/lab/www/file")),),
        limit_ns=10**9,
    )
    shown = {"www": SharedDirectory(Path("served"))}
    machine.boot(orders, Path("run"), seed=1, shown=shown)
    assert said(tmp_path / "run") == "shown"


def test_a_program_has_its_files_in_dev(machine: Machine, tmp_path: Path) -> None:
    """As shells open them for `<( )`, and programs that log to a standard output by name."""
    boot(
        machine,
        tmp_path,
        "for file in stdin fd/0; do echo $file | cat /dev/$file; done; echo out >>/dev/stdout",
    )
    assert said(tmp_path) == "stdin\nfd/0\nout\n"


def test_a_stack_without_a_limit_changes_nothing(machine: Machine, tmp_path: Path) -> None:
    """With one, the host's libraries would be where the lab's programs have their memory."""
    script = "cat /proc/self/maps /proc/meminfo"
    before = resource.getrlimit(resource.RLIMIT_STACK)
    if before[1] != resource.RLIM_INFINITY:
        pytest.skip("this user may not have a stack without a limit")
    boot(machine, tmp_path / "bounded", script)
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, before[1]))
    try:
        boot(machine, tmp_path / "unlimited", script)
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)
    assert "[kernel]" in said(tmp_path / "unlimited")
    assert said(tmp_path / "unlimited") == said(tmp_path / "bounded")


def test_a_lab_has_its_files_open_before_its_starter_looks(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a lab is at its end before whoever started it has done anything else."""

    def ended() -> None:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)

    script = (
        "ls /bin/* | head -n 100 | while read file; do sleep 1 <$file || echo $file & done; sleep 2"
    )
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr("headway.lab.machine.adopt_orphans", ended)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    try:
        boot(machine, tmp_path, script)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert said(tmp_path) == ""


def test_an_hour_of_the_labs_time_takes_no_hour(machine: Machine, tmp_path: Path) -> None:
    outcome = boot(machine, tmp_path, "sleep 3600", limit_s=7200)
    assert outcome.status == "ok"
    assert outcome.duration_ns == pytest.approx(3600e9, rel=1e-6)


def test_a_workload_ends_at_its_virtual_limit(machine: Machine, tmp_path: Path) -> None:
    outcome = boot(machine, tmp_path, "sleep 100", limit_s=5)
    assert outcome.status == "timeout"
    assert outcome.reason == "the limit of 5 s was reached"
    assert outcome.duration_ns == pytest.approx(5e9, rel=1e-3)


def test_a_lab_that_hangs_is_ended_at_the_limit_of_processor_time(
    machine: Machine, tmp_path: Path
) -> None:
    # Busy forever: in virtual time the clock then stands still.
    outcome = boot(machine, tmp_path, "while :; do :; done", cpu=Duration(2 * 10**9))
    assert outcome.status == "timeout"
    assert "2 s of processor time" in (outcome.reason or "")


def test_a_panic_has_its_reason_and_log(machine: Machine, tmp_path: Path) -> None:
    orders = Orders(namespaces=(Namespace("client"),), ip=("link add broken type nonsense",))
    outcome = machine.boot(orders, tmp_path, seed=1, cpu_limit=QUICK)
    assert outcome.status == "failed"
    assert "broken type nonsense" in (outcome.reason or "")
    assert "nonsense" in (tmp_path / CONSOLE_FILE).read_text()


def test_running_out_of_memory_is_named(machine: Machine, tmp_path: Path) -> None:
    hog = "x = []\nwhile True: x.append(bytearray(2**24))"
    orders = Orders(
        namespaces=(Namespace("client"),),
        sysctls={"vm.overcommit_memory": "1"},
        programs=(Program("hog", "client", ("python3", "-c", hog)),),
    )
    small = replace(machine, memory_mib=96)
    outcome = small.boot(orders, tmp_path, seed=1, cpu_limit=QUICK)
    assert outcome.status == "failed"
    assert outcome.reason == "the lab ran out of memory, and python3 was killed"
    assert "Out of memory" in (tmp_path / CONSOLE_FILE).read_text()


def test_a_server_that_dies_is_named(run_setting: RunSetting) -> None:
    record = run_setting(
        {
            "server": {"program": "nginx", "knobs": {"ssl_buffer_size": "nonsense"}},
            "path": {"rtt": "10 ms"},
        }
    )
    assert record.status == "failed"
    assert "nginx ended early, with exit status 1" in (record.error or "")
    assert record.total_s is None


def test_a_run_that_is_too_slow_is_a_timeout(run_setting: RunSetting) -> None:
    record = run_setting(
        {
            "path": {"rate": "1 Mbit/s"},
            "workload": {"size": "620 kB"},  # as much as could pass without any header
            "limits": {"virtual": "5 s"},
        }
    )
    assert record.status == "timeout"
    assert "limit of 5 s" in (record.error or "")


@pytest.mark.parametrize(
    "attempt",
    [
        "mkdir -p /tmp/host; python3 -c 'import ctypes; "
        'raise SystemExit(ctypes.CDLL(None).mount(b"none", b"/tmp/host", b"hostfs", 0, b"/"))\'',
        "echo x > /proc/sysrq-trigger",
        "reboot -f",
        'python3 -c \'open("/proc/1/mem", "r+b")\'',
        "test -e /lab/run/.lab",
    ],
)
def test_a_program_cannot_leave_the_lab(machine: Machine, tmp_path: Path, attempt: str) -> None:
    outcome = boot(machine, tmp_path, attempt)
    assert outcome.status == "ok"
    assert outcome.ended[0].exit_status != 0


def test_writes_stay_in_the_lab(machine: Machine, tmp_path: Path) -> None:
    outcome = boot(
        machine, tmp_path, "echo x > /etc/hostname && rm -r /usr/share && cat /etc/hostname"
    )
    assert outcome.ended[0].exit_status == 0
    assert (machine.image.root / "usr" / "share").is_dir()
    assert said(tmp_path) == "x\n"


def test_the_host_network_is_out_of_reach(machine: Machine, tmp_path: Path) -> None:
    boot(machine, tmp_path, "cat /proc/net/dev | tail -n +3 | cut -d: -f1")
    assert said(tmp_path).split() == ["lo"]


@pytest.mark.parametrize(
    ("attempt", "file"),
    [
        ("ln -s $OUTSIDE client.pcapng", "client.pcapng"),
        ("ln -s $OUTSIDE transfer.json", "transfer.json"),
        ("mkfifo transfer.json", "transfer.json"),
        ("mkdir -p qlog/server; ln -s $OUTSIDE qlog/server/log", "qlog/server/log"),
    ],
)
def test_what_a_lab_leaves_leads_nowhere(
    machine: Machine, tmp_path: Path, attempt: str, file: str
) -> None:
    """The host writes files of these names when a run is over."""
    outside = tmp_path / "outside"
    outside.write_text("mine")
    script = f"cd /lab/run; OUTSIDE={outside}; {attempt}; ls -l {file}; mkdir -m 0 shut"
    outcome = boot(machine, tmp_path / "run", script)
    assert outcome.status == "ok"
    assert outcome.ended[0].exit_status == 0
    assert not (tmp_path / "run" / file).is_symlink()
    assert not (tmp_path / "run" / file).exists()
    assert (tmp_path / "run" / "shut").stat().st_mode & 0o700 == 0o700
    assert outside.read_text() == "mine"


def test_no_file_that_a_lab_leaves_runs_with_its_owners_rights(
    machine: Machine, tmp_path: Path
) -> None:
    boot(machine, tmp_path, "cd /lab/run; cp /bin/dash own; chmod 6711 own; chmod 0 script.err")
    assert (tmp_path / "own").stat().st_mode & 0o7777 == 0o711
    assert (tmp_path / "script.err").stat().st_mode & 0o600 == 0o600


def test_the_directory_that_labs_are_shown_things_in_goes_with_them(
    machine: Machine, tmp_path: Path
) -> None:
    boot(machine, tmp_path / "run", "true")
    assert [one.name for one in tmp_path.iterdir()] == ["run"]
