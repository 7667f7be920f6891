from __future__ import annotations

import hashlib
import threading
import zlib
from pathlib import Path

import pytest

from headway.lab.bodies import bodies_directory, body_file, served_bodies


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1])
def test_size_name_and_mode(size: int) -> None:
    path = body_file(size)
    assert path == bodies_directory() / f"{size}.bin"
    assert path.stat().st_size == size
    assert path.stat().st_mode & 0o777 == 0o644


def test_content_is_the_same_everywhere() -> None:
    assert hashlib.sha256(body_file(1000).read_bytes()).hexdigest() == (
        "f67c086fc127fe592fd8465dde87985b541609af833eb59c055db6483f812359"
    )


def test_content_does_not_compress() -> None:
    content = body_file(3 * 2**20).read_bytes()
    assert len(zlib.compress(content, 1)) > 0.99 * len(content)
    assert content[: 2**20] != content[2**20 : 2 * 2**20]


def test_made_once() -> None:
    made = body_file(10).stat().st_ino
    assert body_file(10).stat().st_ino == made


def test_made_by_many_at_once() -> None:
    threads = [threading.Thread(target=body_file, args=(2**21,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in bodies_directory().iterdir()] == [f"{2**21}.bin"]
    assert body_file(2**21).stat().st_size == 2**21


def test_negative_size_is_wrong() -> None:
    with pytest.raises(ValueError, match="-1 bytes"):
        body_file(-1)


def test_what_is_served_is_what_is_asked_for() -> None:
    """And no body that was asked for before."""
    body_file(77)
    served = served_bodies([30, 10, 30])
    assert sorted(one.name for one in served.iterdir()) == ["10.bin", "30.bin"]
    assert (served / "30.bin").samefile(body_file(30))
    assert served_bodies([10, 30]) == served
    assert list(served_bodies([]).iterdir()) == []


def test_many_sizes_have_a_directory_too() -> None:
    sizes = range(1000, 1100)
    assert len(list(served_bodies(sizes).iterdir())) == 100
