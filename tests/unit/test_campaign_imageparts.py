"""An image's parts on their way from one machine's cache to another's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.imageparts import ImagePart, _part, pack
from headway.image.outsidefiles import outside_files
from headway.image.outsideroot import outside_root
from headway.study.outsidefile import read_programs

INFO = {"key": "r", "packages": {"nginx": "1.30.6"}, "built": "2026-01-01", "mirror": "here"}


def make_entry(cache: Path, name: str = "root-r", **changes: object) -> Path:
    """A root tree with what is hard to move: links, an empty directory, read-only directories."""
    entry = cache / "image" / name
    tree = entry / "tree"
    (tree / "usr" / "bin").mkdir(parents=True)
    (tree / "proc").mkdir()
    (tree / "usr" / "bin" / "nginx").write_bytes(bytes(range(256)) * 500)
    (tree / "usr" / "bin" / "nginx").chmod(0o755)
    (tree / "bin").symlink_to("/usr/bin")
    (tree / "usr" / "bin" / "other").hardlink_to(tree / "usr" / "bin" / "nginx")
    (tree / "usr" / "bin").chmod(0o555)
    (entry / "info.json").write_text(json.dumps(INFO | changes))
    return entry


def use_cache(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(cache))


def send(part: ImagePart, archive: Path, chunk_bytes: int = 1000) -> int:
    """Pack a part as a client does; returns the number of chunks."""
    chunks: list[bytes] = []
    entry = part.place()
    assert entry
    pack(entry, chunk_bytes, chunks.append)
    assert all(len(chunk) == chunk_bytes for chunk in chunks[:-1])
    archive.write_bytes(b"".join(chunks))
    return len(chunks)


def test_a_part_arrives_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_cache(monkeypatch, tmp_path / "client")
    part = _part("image", make_entry(tmp_path / "client"))
    assert send(part, tmp_path / "archive") > 100
    use_cache(monkeypatch, tmp_path / "worker")
    assert part.place() is None
    part.unpack(tmp_path / "archive")
    place = part.place()
    assert place is not None and place.is_relative_to(tmp_path / "worker")
    tree = place / "tree"
    assert (tree / "usr/bin/nginx").read_bytes() == bytes(range(256)) * 500
    assert (tree / "usr/bin/nginx").stat().st_mode & 0o777 == 0o755
    assert (tree / "usr/bin").stat().st_mode & 0o777 == 0o555
    assert str((tree / "bin").readlink()) == "/usr/bin"
    assert (tree / "usr/bin/other").samefile(tree / "usr/bin/nginx")
    assert (tree / "proc").is_dir()


def test_a_machine_uses_its_own_part_if_it_is_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = _part("image", make_entry(tmp_path / "client"))
    own = make_entry(tmp_path / "worker", built="2026-02-02", mirror="there")
    use_cache(monkeypatch, tmp_path / "worker")
    assert part.place() == own


def test_a_part_with_other_versions_is_received_beside_the_own_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_cache(monkeypatch, tmp_path / "client")
    part = _part("image", make_entry(tmp_path / "client"))
    send(part, tmp_path / "archive")
    own = make_entry(tmp_path / "worker", packages={"nginx": "1.29.0"})
    use_cache(monkeypatch, tmp_path / "worker")
    assert part.place() is None
    part.unpack(tmp_path / "archive")
    assert part.place() == own.with_name(part.received_name)
    assert json.loads((own / "info.json").read_text())["packages"] == {"nginx": "1.29.0"}


def test_an_archive_that_was_cut_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_cache(monkeypatch, tmp_path / "client")
    part = _part("image", make_entry(tmp_path / "client"))
    send(part, tmp_path / "archive")
    archive = (tmp_path / "archive").read_bytes()
    (tmp_path / "archive").write_bytes(archive[: len(archive) // 2])
    use_cache(monkeypatch, tmp_path / "worker")
    with pytest.raises(Exception, match="end of data"):
        part.unpack(tmp_path / "archive")
    assert part.place() is None
    assert not list((tmp_path / "worker" / "image").glob("root*"))


def test_a_program_from_outside_arrives_and_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker has not the files that it was read from."""
    (tmp_path / "own").write_text("#!/bin/sh\n")
    (tmp_path / "own").chmod(0o755)
    file = tmp_path / "programs.toml"
    file.write_text('[server.own]\nargv = ["./own"]\nprotocols = ["h1"]\n')
    (program,) = read_programs(file)
    use_cache(monkeypatch, tmp_path / "client")
    part = _part("outside", outside_files(program).parent)
    send(part, tmp_path / "archive")
    (tmp_path / "own").unlink()
    use_cache(monkeypatch, tmp_path / "worker")
    assert part.place() is None
    part.unpack(tmp_path / "archive")
    assert (outside_files(program) / "own").read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize("declared", ['image = "tree"', 'packages = ["own"]'])
def test_a_root_tree_arrives_and_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, declared: str
) -> None:
    """Wherever the worker gets its own packages from."""
    (tmp_path / "tree" / "bin").mkdir(parents=True)
    (tmp_path / "tree" / "bin" / "own").write_text("own")
    (tmp_path / "tree" / "sbin").symlink_to("/bin")
    file = tmp_path / "programs.toml"
    file.write_text(f'[server.own]\nargv = ["own"]\nprotocols = ["h1"]\n{declared}\n')
    (program,) = read_programs(file)
    use_cache(monkeypatch, tmp_path / "client")
    if program.declared.packages:
        monkeypatch.setattr("headway.image.outsideroot._of_packages", unpacked_packages)
    part = _part("roots", outside_root(program).parent)
    send(part, tmp_path / "archive")
    shutil.rmtree(tmp_path / "tree")
    monkeypatch.undo()
    use_cache(monkeypatch, tmp_path / "worker")
    monkeypatch.setenv("HEADWAY_MIRROR", "file:/nowhere")
    part.unpack(tmp_path / "archive")
    root = outside_root(program)
    assert (root / "bin" / "own").read_text() == "own"
    assert (root / "sbin").readlink() == Path("/bin")


def unpacked_packages(*told: Any) -> dict[str, str]:
    """As if they had been fetched."""
    tree = told[-1] / "tree"
    (tree / "bin").mkdir()
    (tree / "bin" / "own").write_text("own")
    (tree / "sbin").symlink_to("/bin")
    return {"own": "1"}
