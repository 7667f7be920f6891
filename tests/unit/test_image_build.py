from __future__ import annotations

import io
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from headway.errors import HeadwayError
from headway.image import (
    Image,
    ImageOptions,
    PlainProgress,
    SilentProgress,
    builder,
    compiled_guest_code,
    composed,
    display,
    find,
    guestcode,
    prerequisites,
    remove,
    status,
)
from headway.image.apt import PackageVersion, PrivateApt
from headway.image.builder import build
from headway.image.display import RichProgress
from headway.image.image import Layout
from headway.image.kernel import KernelSource
from headway.image.keys import OWN_PROGRAMS, KernelInputs, LayerInputs, NativeInputs
from headway.image.parallel import together
from headway.image.process import Runner, RunningTools, scrubbed_environment
from headway.image.unpacked import versions
from tests.made_toolchain import of_this_machine

OPTIONS = ImageOptions(mirror="http://mirror.test/debian")
NATIVE = NativeInputs(
    Path("/native"),
    (
        ("Cargo.toml", b'[workspace.package]\nversion = "0.1.0"\n'),
        ("agent/src/main.rs", b""),
        ("hello/src/main.rs", b""),
    ),
    b"recipe",
)


class Recorded(SilentProgress):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.noted = threading.Event()

    def note(self, message: str) -> None:
        self.notes.append(message)
        self.noted.set()


def fill(tree: Path, status: str, files: dict[str, str]) -> None:
    """Make a tree of files, with a status of its packages."""
    for name, content in {"var/lib/dpkg/status": f"Package: {status}\n", **files}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(content)


class Fakes:
    """Stands in for everything that needs a network or a compiler."""

    def __init__(self) -> None:
        self.kernels = self.roots = self.natives = 0
        self.while_compiling: Callable[[], None] = lambda: None
        self.while_unpacking: Callable[[], object] = lambda: None
        self.in_every_part: Callable[[], object] = lambda: None
        self.layers: list[str] = []
        self.version = "8.22.0-1"

    def build_root(
        self, chosen: object, inputs: object, toolchain: object, directory: Path, *_: object
    ) -> dict[str, str]:
        self.roots += 1
        self.in_every_part()
        self.while_unpacking()
        fill(directory / "tree", f"curl {self.version}", {"bin/curl": self.version, "both": "root"})
        (directory / "tree" / "sbin").symlink_to("bin")
        return {"curl": self.version}

    def build_layer(
        self, chosen: object, inputs: LayerInputs, root: Path, directory: Path, *_: object
    ) -> dict[str, str]:
        self.layers.append(inputs.name)
        self.in_every_part()
        fill(directory / "tree", inputs.name, {f"bin/{inputs.name}": "", "both": inputs.name})
        return dict.fromkeys(inputs.programs, "1")

    def build_kernel(
        self, source: object, inputs: object, toolchain: object, directory: Path, *_: object
    ) -> str:
        self.kernels += 1
        self.in_every_part()
        (directory / "half").touch()
        self.while_compiling()
        (directory / "linux").write_text("kernel")
        return "7.2.12-1"

    def build_native(
        self,
        inputs: object,
        programs: list[str],
        rust: object,
        target: object,
        directory: Path,
        *_: object,
    ) -> None:
        self.natives += 1
        self.in_every_part()
        for name in programs:
            (directory / name).write_text("program")


def cache_libraries(tree: Path, _: Runner) -> None:
    (tree / "etc").mkdir(exist_ok=True)
    (tree / "etc" / "ld.so.cache").write_text(str(sorted(tree.glob("bin/*"))))


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    fakes = Fakes()
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    monkeypatch.setattr(builder, "ensure", lambda *_: None)
    monkeypatch.setattr(PrivateApt, "update", lambda *_: None)
    monkeypatch.setattr(
        builder, "find_source", lambda apts, _: KernelSource(next(apts), "linux-source-7.2")
    )
    monkeypatch.setattr(builder, "select", lambda *_: [])
    monkeypatch.setattr(builder, "build_root", fakes.build_root)
    monkeypatch.setattr(builder, "build_layer", fakes.build_layer)
    monkeypatch.setattr(composed, "cache_libraries", cache_libraries)
    monkeypatch.setattr(builder, "build_kernel", fakes.build_kernel)
    monkeypatch.setattr(builder, "build_native", fakes.build_native)
    monkeypatch.setattr(NativeInputs, "of_package", lambda: NATIVE)
    monkeypatch.setattr(Layout, "brought", lambda _: of_this_machine(tmp_path / "toolchain"))
    return fakes


def test_nothing_is_found_before_a_build(fakes: Fakes) -> None:
    assert find(OPTIONS) is None
    assert remove(OPTIONS) == 0


def test_build_is_found_again(fakes: Fakes) -> None:
    image = build(OPTIONS)
    assert find(OPTIONS) == image == build(OPTIONS)
    assert (fakes.kernels, fakes.roots, fakes.natives) == (1, 1, 1)
    assert image.kernel.is_file()
    assert image.root.is_dir()
    assert [program.name for program in image.native.iterdir()] == ["headway-agent"]
    assert image.info.kernel_version == "7.2.12-1"
    assert image.info.kernel.compiler == "gcc 12.2.0-14, binutils 2.40-2"
    assert image.info.packages == {"curl": "8.22.0-1"}
    assert image.info.versions == {
        "curl": "8.22.0-1",
        "headway-agent": f"{NATIVE.version} (rustc 1.85.0)",
    }


def test_other_options_are_another_image(fakes: Fakes) -> None:
    image = build(OPTIONS)
    other = ImageOptions(mirror=OPTIONS.mirror, suite="trixie")
    assert find(other) is None
    assert build(other).key != image.key


def test_kernel_and_root_tree_are_cached_apart(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = build(OPTIONS)
    monkeypatch.setattr(KernelInputs, "of_package", lambda: KernelInputs((), ()))
    assert find(OPTIONS) is None
    after = build(OPTIONS)
    assert (fakes.kernels, fakes.roots) == (2, 1)
    assert before.root == after.root
    assert before.key != after.key
    assert status(OPTIONS).other == (before.kernel.parent.name,)
    remove(OPTIONS, only_others=True)
    assert status(OPTIONS).other == ()
    assert find(OPTIONS) == after


def test_own_programs_are_cached_apart(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    before = build(OPTIONS)
    changed = replace(NATIVE, sources=(*NATIVE.sources, ("http/src/new.rs", b"")))
    monkeypatch.setattr(NativeInputs, "of_package", lambda: changed)
    assert find(OPTIONS) is None
    assert "Headway's agent" in status(OPTIONS).missing
    after = build(OPTIONS)
    assert (fakes.kernels, fakes.roots, fakes.natives) == (1, 1, 2)
    # A study that uses none of them can be resumed.
    assert before.base == after.base
    assert before.key != after.key
    assert before.info.versions != after.info.versions
    # Labs may still be running from them.
    assert before.native.is_dir()


def test_own_programs_are_compiled_when_they_are_asked_for(fakes: Fakes) -> None:
    alone = build(OPTIONS)
    assert (fakes.natives, status(OPTIONS).programs) == (1, None)
    assert find(OPTIONS, [OWN_PROGRAMS]) is None
    image = build(OPTIONS, layers=[OWN_PROGRAMS])
    assert (fakes.kernels, fakes.roots, fakes.natives) == (1, 1, 2)
    assert image.info.native.programs == ("headway-agent", "headway-hello")
    assert (image.key, image.base, image.layers) == (alone.key, alone.base, {})
    assert find(OPTIONS) == alone, "labs that need none of them see the same, whatever is there"
    for name in image.info.native.programs:
        assert (image.native / name).is_file()


def test_old_own_programs_are_forgotten(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for number in range(12):
        changed = replace(NATIVE, recipe=bytes(number))
        monkeypatch.setattr(NativeInputs, "of_package", lambda changed=changed: changed)
        image = build(OPTIONS)
        os.utime(image.native.parent / "info.json", (number, number))
        made.append(image.native)
    assert [native.is_dir() for native in made] == [False, False] + [True] * 10


def test_interrupted_build_leaves_no_half_image(fakes: Fakes, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    fakes.while_compiling = interrupt
    with pytest.raises(KeyboardInterrupt):
        build(OPTIONS)
    assert find(OPTIONS) is None
    assert not list(tmp_path.rglob("half"))
    fakes.while_compiling = lambda: None
    assert build(OPTIONS) == find(OPTIONS)
    assert (fakes.kernels, fakes.roots) == (2, 1)


def test_parts_are_made_at_the_same_time(fakes: Fakes) -> None:
    # Each waits until all three are under way, and breaks if they are not.
    fakes.in_every_part = threading.Barrier(3, timeout=10).wait
    assert build(OPTIONS) == find(OPTIONS)


def test_part_that_fails_leaves_the_others_whole(fakes: Fakes) -> None:
    progress = Recorded()

    def fail() -> None:
        raise HeadwayError("compiling the kernel failed: no")

    fakes.while_compiling = fail
    # The root tree is not done before it is said that the kernel failed.
    fakes.while_unpacking = lambda: progress.noted.wait(10)
    with pytest.raises(HeadwayError, match="compiling the kernel failed: no"):
        build(OPTIONS, progress)
    assert progress.notes == [
        "compiling the kernel failed: no; the rest goes on, and need not be made again"
    ]
    found = status(OPTIONS)
    assert found.missing == ("kernel",)
    fakes.while_compiling = lambda: None
    build(OPTIONS)
    assert (fakes.kernels, fakes.roots, fakes.natives) == (2, 1, 1)


def test_entry_without_description_is_made_again(fakes: Fakes) -> None:
    image = build(OPTIONS)
    (image.kernel.parent / "info.json").unlink()
    assert find(OPTIONS) is None
    assert build(OPTIONS).kernel == image.kernel
    assert fakes.kernels == 2


def test_second_build_waits_and_then_hits(fakes: Fakes) -> None:
    second, results = Recorded(), []

    def compiling() -> None:
        thread.start()
        assert second.noted.wait(10)

    thread = threading.Thread(target=lambda: results.append(build(OPTIONS, second)))
    fakes.while_compiling = compiling
    image = build(OPTIONS)
    thread.join(10)
    assert results == [image]
    assert fakes.kernels == 1
    assert second.notes == ["another build is under way; waiting for it to end"]


def test_remove(fakes: Fakes) -> None:
    build(OPTIONS)
    assert remove(OPTIONS) > 0
    found = status(OPTIONS)
    everything = ("kernel", "root tree", "Headway's agent")
    assert (found.image, found.missing, found.size_bytes) == (None, everything, 0)


def test_missing_tools_are_named_with_their_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = [
        prerequisites.Prerequisite(package, lambda: False) for package in ("xz", "flex", "xz")
    ]
    monkeypatch.setattr(prerequisites, "_become_root", lambda: None)
    expected = "apt-get install --yes --no-install-recommends flex xz$"
    with pytest.raises(HeadwayError, match=expected):
        prerequisites.ensure(lacking, Runner(tmp_path / "log"), SilentProgress())


def test_nothing_is_installed_when_nothing_is_missing(tmp_path: Path) -> None:
    there = prerequisites.Prerequisite("it", lambda: True)
    prerequisites.ensure([there], Runner(tmp_path / "log"), SilentProgress())
    assert not (tmp_path / "log").exists()


def test_failed_tool_is_one_line_with_its_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "it.log"
    script = "echo fine; echo 'a.c:1: error: no'; echo 'make: *** [a.o] Error 1'; exit 2"
    with pytest.raises(HeadwayError) as failure:
        Runner(log).run(["sh", "-c", script], purpose="compiling", environment={})
    assert str(failure.value) == f"compiling failed: a.c:1: error: no (log: {log})"
    assert "fine" in log.read_text()


def test_what_a_tool_says_of_itself_goes_first(tmp_path: Path) -> None:
    script = "echo 'WARNING: it failed once'; echo 'ERROR: no such thing'; exit 1"
    with pytest.raises(HeadwayError, match="asking failed: no such thing"):
        Runner(tmp_path / "log").run(["sh", "-c", script], purpose="asking", environment={})


def test_tool_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match=r"unpacking failed: .*no-such-tool"):
        Runner(tmp_path / "log").run(
            ["no-such-tool"], purpose="unpacking", environment=scrubbed_environment()
        )


def test_interrupted_tool_ends_with_its_children(tmp_path: Path) -> None:
    children: list[int] = []

    def interrupt(line: str) -> None:
        children.append(os.pidfd_open(int(line)))
        raise KeyboardInterrupt

    script = "sleep 600 & echo $!; wait"
    with pytest.raises(KeyboardInterrupt):
        Runner(tmp_path / "log").run(
            ["sh", "-c", script],
            purpose="waiting",
            environment=scrubbed_environment(),
            on_line=interrupt,
        )
    # Readable once the process has ended.
    assert select.select(children, [], [], 10)[0] == children
    os.close(children[0])


def test_tools_of_all_threads_end_together(tmp_path: Path) -> None:
    running, children = RunningTools(), queue.Queue[int]()
    runner = Runner(tmp_path / "log", running=running)

    def wait(on_line: Callable[[str], None] | None = None) -> None:
        with pytest.raises(HeadwayError, match="waiting failed"):
            runner.run(
                ["sh", "-c", "sleep 600 & echo $!; wait"],
                purpose="waiting",
                environment=scrubbed_environment(),
                on_line=on_line,
            )

    def tell() -> None:
        wait(lambda line: children.put(os.pidfd_open(int(line))))

    def interrupt() -> None:
        for _ in range(2):
            begun.append(children.get(timeout=10))
        raise KeyboardInterrupt

    begun: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        together([tell, tell, interrupt], running.end, lambda _: None)
    for child in begun:
        assert select.select([child], [], [], 10)[0] == [child]
        os.close(child)
    # What would be started now ends at once.
    wait()


def test_builds_do_not_see_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARCH", "CFLAGS", "KBUILD_OUTPUT", "MAKEFLAGS"):
        monkeypatch.setenv(name, "x")
    assert set(scrubbed_environment(A="b")) <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "A"}


def test_package_file_names() -> None:
    assert PackageVersion("tar", "1:2.0+b1", "amd64").file_name == "tar_1%3a2.0+b1_amd64.deb"


def test_versions_are_read_from_the_status(tmp_path: Path) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(
        "Package: b\nVersion: 1:2\nStatus: install ok unpacked\n\nPackage: a\nVersion: 3\n"
    )
    assert versions(tmp_path) == {"a": "3", "b": "1:2"}


def test_plain_progress_is_a_line_for_each_tenth() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.step("compiling")
    for percent in range(0, 101, 5):
        progress.advance(percent / 100)
    lines = stream.getvalue().splitlines()
    assert lines[0].endswith("s] compiling")
    assert 9 <= len(lines) <= 12


def test_parts_have_steps_of_their_own() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream)
    with progress.part() as kernel, progress.part() as root:
        kernel.step("compiling")
        root.step("downloading")
        kernel.advance(0.5)
    lines = stream.getvalue().splitlines()
    assert [line.split("] ")[1] for line in lines] == ["compiling", "downloading", "compiling: 50%"]


def test_bars_of_parts_stand_together() -> None:
    stream = io.StringIO()
    with RichProgress(stream) as progress:
        progress.step("installing gcc")
        with progress.part() as kernel, progress.part() as root:
            kernel.step("compiling")
            root.step("downloading")
            kernel.advance(0.5)
    lines = stream.getvalue().splitlines()
    assert [line.split(" ")[0] for line in lines if line] == [
        "installing",
        "compiling",
        "downloading",
    ]


@pytest.fixture
def with_host_python(
    fakes: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Image, Path]:
    def command(root: Path, directory: Path, shown_as: str) -> list[str]:
        return [sys.executable, "-m", "compileall", "-q", str(directory)]

    monkeypatch.setattr(guestcode, "compile_command", command)
    image = build(OPTIONS)
    (image.root / "usr/bin").mkdir(parents=True)
    (image.root / "usr/bin/python3").symlink_to("python3.14")
    sources = tmp_path / "sources"
    (sources / "guest").mkdir(parents=True)
    (sources / "guest/agent.py").write_text("ANSWER = 42\n")
    return image, sources


def test_guest_code_is_compiled_once(with_host_python: tuple[Image, Path]) -> None:
    image, sources = with_host_python
    first = compiled_guest_code(image, sources)
    assert list((first / "headway/guest/__pycache__").glob("agent.*.pyc"))
    made = (first / "headway/guest/agent.py").stat().st_ino
    assert compiled_guest_code(image, sources) == first
    assert (first / "headway/guest/agent.py").stat().st_ino == made
    run = [sys.executable, "-S", "-c", "from headway.guest.agent import ANSWER; print(ANSWER)"]
    assert subprocess.check_output(run, cwd=first, env={}, text=True) == "42\n"


def test_guest_code_follows_its_sources(with_host_python: tuple[Image, Path]) -> None:
    image, sources = with_host_python
    first = compiled_guest_code(image, sources)
    (sources / "guest/agent.py").write_text("ANSWER = 43\n")
    assert compiled_guest_code(image, sources) != first


def test_guest_code_that_does_not_compile(with_host_python: tuple[Image, Path]) -> None:
    image, sources = with_host_python
    (sources / "guest/agent.py").write_text("def\n")
    with pytest.raises(HeadwayError, match="do not compile"):
        compiled_guest_code(image, sources)


def test_notes_are_shown_as_they_are() -> None:
    """Neither are brackets taken for markup, nor numbers coloured."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard")
    display._Steps(Progress(console=console)).note("[bold]12 files[/bold] of '/tmp/a'")
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "[bold]12 files[/bold] of '/tmp/a'\n"
