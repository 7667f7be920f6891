"""Scripts from npm: pinned, fetched by npm, put into the tree with their licence."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from headway.errors import HeadwayError, WrongInputError
from headway.image.keys import all_layers
from headway.image.modules import Module, install_module, parse_modules
from headway.image.process import Runner

HASH = f"sha512-{'A' * 86}=="


def test_modules_are_pinned() -> None:
    found = parse_modules(f"# all\n\nplayer@1.2.3 {HASH} dist/player.js  # plays\n")
    assert found == (Module("player", "1.2.3", HASH, "dist/player.js"),)
    assert found[0].guest_file == "/usr/share/javascript/player-1.2.3/player.js"


@pytest.mark.parametrize(
    "line", ["player@1.2.3", f"player {HASH} a.js", f"player@1.2 {HASH} a.txt"]
)
def test_a_line_that_pins_nothing_is_named(line: str) -> None:
    with pytest.raises(WrongInputError, match=r"line 2 of the list of modules: .*NAME@VERSION"):
        parse_modules(f"\n{line}\n")


def test_each_player_has_a_layer() -> None:
    assert all_layers()["dash.js"].programs == {"dashjs@5.2.1"}
    assert all_layers()["dash.js-4.2.1"].programs == {"dashjs@4.2.1"}


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """An npm that has one package; its archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in {
            "dist/player.js": b"play()",
            "LICENSE.md": b"BSD",
            "index.js": b"-",
        }.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    packed = tmp_path / "packed.tgz"
    packed.write_bytes(data.getvalue())
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "npm").write_text(
        '#!/bin/sh\n[ "$2" = player@1.2.3 ] || { echo "npm error code E404"; exit 1; }\n'
        f'cp {packed} "$5/player-1.2.3.tgz"\n'
    )
    (tools / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return data.getvalue()


def install(tmp_path: Path, version: str, integrity: str) -> Path:
    tree = tmp_path / "tree"
    module = Module("player", version, integrity, "dist/player.js")
    runner = Runner(tmp_path / "npm.log")
    install_module(module, tree, tmp_path / "scratch", runner, lambda _: None)
    return tree / "usr/share/javascript/player-1.2.3"


def test_the_tree_gets_file_and_licence(tmp_path: Path, npm: bytes) -> None:
    hashed = base64.b64encode(hashlib.sha512(npm).digest()).decode()
    place = install(tmp_path, "1.2.3", f"sha512-{hashed}")
    assert {one.name: one.read_text() for one in place.iterdir()} == {
        "player.js": "play()",
        "LICENSE.md": "BSD",
    }
    assert not (tmp_path / "scratch").exists()


def test_another_archive_than_the_pinned_one_is_refused(tmp_path: Path, npm: bytes) -> None:
    with pytest.raises(HeadwayError, match=r"player@1\.2\.3 is not what it was"):
        install(tmp_path, "1.2.3", HASH)


def test_a_registry_without_it_is_named(tmp_path: Path, npm: bytes) -> None:
    with pytest.raises(HeadwayError, match="registry that npm is configured with"):
        install(tmp_path, "9.9.9", HASH)
