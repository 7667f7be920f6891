"""Controllers of one's own: docs/own-controller.md's steps, carried out in a copy of the source tree."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.image.builder import toolchain
from headway.image.process import user_environment
from headway.study import controllers
from headway.study.host import OF_THE_KERNEL, CongestionControl
from tests.imports import REPOSITORY

PAGE = (REPOSITORY / "docs" / "own-controller.md").read_text(encoding="utf-8")
OWN = re.findall(
    r"`(native/congestion/src/own/\w+\.rs)`[^`]*\n\n```rust\n(.*?)```", PAGE, re.DOTALL
)
NAMES = [Path(file).stem.replace("_", "-") for file, _ in OWN]

STUDY = """name = "own"
protocol = "{protocol}"
workload = {{ kind = "bulk", duration = "1 s" }}

[path]
rtt = "20 ms"
rate = "10 Mbit/s"

[server]
program = "headway-perf"
congestion_control = {{ {transport} = "{name}" }}

[client]
program = "headway-perf"
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source tree in which the page's steps were done: the files, and their names in one list."""
    tree = tmp_path_factory.mktemp("own")
    ignored = shutil.ignore_patterns("target", "__pycache__")
    for directory in ("src", "native"):
        shutil.copytree(REPOSITORY / directory, tree / directory, ignore=ignored, symlinks=True)
    for file, text in OWN:
        (tree / file).write_text(text, encoding="utf-8")
    knobs = tree / "native" / "knobs.json"
    before = knobs.read_text(encoding="utf-8")
    listed = json.loads(before)["quic"][0]["words"]
    words = json.dumps(listed)
    assert before.count(words) == 1
    knobs.write_text(before.replace(words, json.dumps([*listed, *NAMES])), encoding="utf-8")
    return tree


def validated(tree: Path, name: str, protocol: str) -> subprocess.CompletedProcess[str]:
    file = tree / f"{name}-{protocol}.toml"
    file.write_text(
        STUDY.format(name=name, protocol=protocol, transport=protocol), encoding="utf-8"
    )
    return subprocess.run(
        [sys.executable, "-m", "headway", "validate", file.name],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_page_has_one_by_losses_and_one_by_delay() -> None:
    assert NAMES == ["aimd", "delay-target"]
    assert ["WindowLaw for" in OWN[0][1], "Rule for" in OWN[1][1]] == [True, True]


@pytest.mark.parametrize("name", NAMES)
def test_quic_has_them_and_tcp_has_not(tree: Path, name: str) -> None:
    over_quic, over_tcp = (validated(tree, name, protocol) for protocol in ("quic", "tcp"))
    assert over_quic.returncode == 0, over_quic.stderr
    assert over_tcp.returncode == 2
    line = f"{name}-tcp.toml:11: server.congestion_control: "
    assert line in over_tcp.stderr
    assert f"the kernel's TCP has {', '.join(OF_THE_KERNEL)}, not {name}" in over_tcp.stderr


@pytest.mark.nightly
def test_they_compile_and_keep_to_what_is_tried_of_each_controller(tree: Path) -> None:
    """The tests of the crate go through all controllers: windows stay within their bounds, whatever happens."""
    compiled = REPOSITORY / "native" / "target"
    tested = subprocess.run(
        ["cargo", "test", "--locked", "-p", "headway-congestion"],
        cwd=tree / "native",
        env={**toolchain().environment(user_environment()), "CARGO_TARGET_DIR": str(compiled)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_the_kernels_list_is_a_list_of_its_own() -> None:
    assert set(CongestionControl) == {*OF_THE_KERNEL, *controllers.OF_HEADWAYS_QUIC}
    assert "bbr3" not in OF_THE_KERNEL
