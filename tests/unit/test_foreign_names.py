"""Names in files of others: below their root, or refused; nothing beside the root changes."""

from __future__ import annotations

import contextlib
import gzip
import os
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.containers.image import read_image
from headway.containers.paths import resolved
from headway.containers.unpack import unpack
from headway.errors import WrongInputError
from headway.foreign.bounds import Bound
from headway.foreign.names import MOST_NAME_BYTES, below, place_below, plain
from tests.container_images import Entry, Made, link, sha256, tar_of, write_archive

HOSTILE = st.one_of(
    st.sampled_from(
        ["", ".", "..", "...", ".wh.", ".wh..", ".wh...", ".wh....", ".wh..wh..opq", ".wh..wh.plnk"]
    ),
    st.sampled_from(["a", "b", "link", "-rf", " ", "\n", "\x1b[31m", "~", "\udcff", "n" * 300]),
    st.text(st.characters(min_codepoint=1, max_codepoint=0x2FF), max_size=8),
)
PATHS = st.lists(HOSTILE, min_size=1, max_size=5).map("/".join)
ENTRIES = st.builds(
    Entry,
    name=PATHS.filter(lambda name: "\0" not in name),
    content=st.just(b"content"),
    kind=st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE]),
    to=st.one_of(PATHS, st.sampled_from(["/", "..", "../..", "a", "../../precious", "/precious"])),
).map(lambda one: one if one.kind == tarfile.REGTYPE else Entry(one.name, kind=one.kind, to=one.to))


def test_names_that_lead_elsewhere_are_refused() -> None:
    for name in ("", ".", "..", "a/b", "/", "a\0b", "n" * (MOST_NAME_BYTES + 1), "ü" * 128):
        with pytest.raises(WrongInputError):
            plain(name)
    for path in ("..", "a/../b", "a\0", "n" * 300, "/".join("a" * 300), "ab/" * 2000, "\ud800"):
        with pytest.raises(WrongInputError):
            below(path)
    for name in ("...", ".a", "a..", " ", "-", "ü" * 127, "n" * MOST_NAME_BYTES, "\udcff"):
        assert plain(name) == name
        assert below(f"/./{name}//{name}/").parts == (name, name)


@given(PATHS)
def test_a_place_is_below_its_root_or_nowhere(path: str) -> None:
    root = Path("/the/root")
    try:
        place = place_below(root, path)
    except WrongInputError:
        return
    assert os.path.normpath(place) == str(place)
    assert place.is_relative_to(root)
    assert all(len(os.fsencode(part)) <= MOST_NAME_BYTES for part in place.parts)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(ENTRIES, max_size=6), min_size=1, max_size=2))
def test_layers_change_nothing_beside_their_tree(layers: list[list[Entry]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "precious").write_text("precious")
        root = place / "tree"
        root.mkdir()
        image = Made(tuple(map(tuple, layers)))
        with contextlib.suppress(WrongInputError):
            unpack(read_image(write_archive(place / "image.tar", image.saved())), root)
        assert (place / "precious").read_text() == "precious"
        assert sorted(one.name for one in place.iterdir()) == ["image.tar", "precious", "tree"]


@pytest.mark.parametrize("name", [".wh.", ".wh..", ".wh...", "a/.wh...", "a/b/.wh..", "x" * 300])
def test_a_whiteout_of_no_plain_name_removes_nothing(tmp_path: Path, name: str) -> None:
    root = tmp_path / "above" / "tree"
    root.mkdir(parents=True)
    (tmp_path / "above" / "precious").touch()
    made = Made(((Entry("bin/sh"), Entry("a/b/c"), Entry(name)),))
    image = read_image(write_archive(tmp_path / "image.tar", made.saved()))
    with pytest.raises(WrongInputError, match=r"^its layer 1: it holds '"):
        unpack(image, root)
    assert (tmp_path / "above" / "precious").exists()
    assert (root / "bin" / "sh").exists()


@pytest.mark.parametrize(
    "entries",
    [
        (Entry("a"), Entry("a/b")),
        (Entry("a"), Entry("a/.wh.b")),
        (link("a", ""),),
        (link("a", "t" * 5000),),
        (link("a", "/".join("d" * 400)), Entry("a/b")),
        (Entry("/".join("a" * 2000)),),
    ],
    ids=lambda entries: entries[-1].name[:10],
)
def test_layers_that_no_tree_can_follow_are_refused(
    tmp_path: Path, entries: tuple[Entry, ...]
) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    image = read_image(write_archive(tmp_path / "image.tar", Made((entries,)).saved()))
    with pytest.raises(WrongInputError, match=r"^its layer 1"):
        unpack(image, root)


@pytest.mark.parametrize(
    "pax",
    [
        {"path": "a\0b"},
        {"mtime": "1e300"},
        {"mtime": "nan"},
        {"linkpath": "\0"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"},
        {"GNU.sparse.map": "x,y", "GNU.sparse.size": "1"},
        {"size": "99999999999999999999"},
    ],
    ids=str,
)
def test_headers_that_no_engine_writes_are_refused_or_left_aside(
    tmp_path: Path, pax: dict[str, str]
) -> None:
    file = tmp_path / "layer.tar"
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo("a")
        member.pax_headers = pax
        tar.addfile(member)
    layer = file.read_bytes()
    root = tmp_path / "tree"
    root.mkdir()
    made = saved_with(layer, layer)
    try:
        unpack(read_image(write_archive(tmp_path / "image.tar", made)), root)
    except WrongInputError as error:
        assert "\n" not in str(error)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["image.tar", "layer.tar", "tree"]


def saved_with(layer: bytes, packed: bytes) -> dict[str, bytes]:
    """Files of `docker save` with a layer as it is."""
    made = Made(((),))
    config = made.config.replace(sha256(made.tars[0]).encode(), sha256(layer).encode())
    return made.saved() | {"config.json": config, "0/layer.tar": packed}


@pytest.mark.parametrize("entry", [Entry("a"), Entry("./"), Entry("large", bytes(1 << 20))])
def test_a_layer_that_grows_without_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: Entry
) -> None:
    """Of empty files a megabyte has four million, which take 16 GB of a disk."""
    monkeypatch.setattr("headway.containers.unpack.LAYERS", Bound(1 << 20, 2))
    layer = tar_of([entry] * 300)
    made = saved_with(layer, gzip.compress(layer, 1, mtime=0))
    root = tmp_path / "tree"
    root.mkdir()
    with pytest.raises(WrongInputError, match=r"its layer 1: holds more than Headway decodes"):
        unpack(read_image(write_archive(tmp_path / "image.tar", made)), root)


def test_links_lead_to_no_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("/".join("d" * 300))
    with pytest.raises(WrongInputError, match="a path has at most"):
        resolved(tmp_path, "a/b")
