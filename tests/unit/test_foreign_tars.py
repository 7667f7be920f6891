"""Tar archives of others: nothing is written outside the root, whoever unpacks them."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.campaign.imageparts import ImagePart
from headway.campaign.worker import unpack_artifacts
from headway.errors import WrongInputError
from headway.foreign.tars import unpack_tar

Member = tuple[str, bytes, str]
FILE, DIRECTORY, LINK, HARD, FIFO, DEVICE = (
    tarfile.REGTYPE,
    tarfile.DIRTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.FIFOTYPE,
    tarfile.CHRTYPE,
)
OUT = ("out", LINK, "..")
ESCAPES: dict[str, tuple[list[Member], str]] = {
    "up": ([("../escaped", FILE, "")], "it holds '../escaped', which leads out of it"),
    "up again": ([("a/../../escaped", FILE, "")], "which leads out of it"),
    "through a link": ([OUT, ("out/escaped", FILE, "")], "it holds 'out/escaped' behind a link"),
    "in place of a link": ([("f", LINK, "../escaped"), ("f", FILE, "")], "it holds 'f' behind a"),
    "directory behind a link": ([OUT, ("out/escaped", DIRECTORY, "")], "behind a link"),
    "link behind a link": ([OUT, ("out/escaped", LINK, "x")], "behind a link"),
    "hard link up": ([("f", HARD, "../inside"), ("f", FILE, "")], "which leads out of it"),
    "hard link behind a link": ([OUT, ("f", HARD, "out/inside")], "behind a link"),
    "pipe": ([("escaped", FIFO, "")], "it holds 'escaped', which is no file, directory or link"),
    "device": ([("escaped", DEVICE, "")], "which is no file, directory or link"),
    "long": ([("x" * 256, FILE, "")], "a name of 256 bytes"),
}


def archive(members: list[Member], mode: str = "w") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as tar:  # type: ignore[call-overload]
        for name, kind, target in members:
            one = tarfile.TarInfo(name)
            one.type, one.linkname, one.mode = kind, target, 0o4777
            tar.addfile(one)
    return data.getvalue()


def plainly(data: bytes, root: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        unpack_tar(tar, root)


def as_a_part(data: bytes, root: Path) -> None:
    (root.parent / "archive").write_bytes(data)
    ImagePart("image", "root-1", "id").unpack(root.parent / "archive")


@pytest.mark.parametrize("unpacks", [plainly, as_a_part])
@pytest.mark.parametrize("case", ESCAPES)
def test_what_leads_elsewhere_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: str,
    unpacks: Callable[[bytes, Path], None],
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    members, reason = ESCAPES[case]
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "inside").write_text("theirs")
    with pytest.raises(WrongInputError, match=reason.replace(".", r"\.")):
        unpacks(archive(members), root)
    assert not [one for one in tmp_path.rglob("*escaped") if one.exists()]
    assert (tmp_path / "inside").read_text() == "theirs"
    assert not (tmp_path / "cache" / "image" / "root-1-id").exists()


def test_what_is_below_the_root_comes_there_without_its_privileges(tmp_path: Path) -> None:
    members = [("./d", DIRECTORY, ""), ("/d/f", FILE, ""), ("d/l", LINK, "/etc/passwd")]
    plainly(archive([*members, ("d/h", HARD, "d/f")]), tmp_path)
    assert sorted(one.name for one in (tmp_path / "d").iterdir()) == ["f", "h", "l"]
    assert str((tmp_path / "d" / "l").readlink()) == "/etc/passwd"
    assert (tmp_path / "d" / "f").stat().st_mode & 0o7022 == 0
    assert (tmp_path / "d" / "f").samefile(tmp_path / "d" / "h")


def test_names_lose_what_is_skipped_and_so_do_hard_links(tmp_path: Path) -> None:
    data = archive([("a/b/f", FILE, ""), ("a/b/h", HARD, "a/b/f")])
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        unpack_tar(tar, tmp_path, skipped=2)
    assert (tmp_path / "f").samefile(tmp_path / "h")


@pytest.mark.parametrize("kind", [LINK, HARD, FIFO])
def test_what_a_run_left_on_a_worker_is_files(tmp_path: Path, kind: bytes) -> None:
    with pytest.raises(WrongInputError, match="which is no file or directory"):
        unpack_artifacts(archive([("f", FILE, ""), ("x", kind, "f")], "w:gz"), tmp_path)


@pytest.mark.parametrize("name", ["..", "../image", "a/b", ""])
def test_a_part_has_a_plain_name(name: str) -> None:
    for store, entry in ((name, "root-1"), ("image", name)):
        with pytest.raises(WrongInputError, match="leads out"):
            ImagePart(store, entry, "id")
