"""The modules that run inside a lab, compiled by the lab's own Python."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial
from pathlib import Path

from headway.cache import EntryDirectory, cache_directory, digest
from headway.errors import HeadwayError
from headway.image.image import Image
from headway.image.process import scrubbed_environment
from headway.image.treeprogram import compile_command, python_version

_SOURCES = Path(__file__).parents[1]
_PACKAGES = ("contract", "guest", "aioquic")
_MOUNTED_AT = "/lab/code"


def compiled_guest_code(image: Image, sources: Path = _SOURCES) -> Path:
    """The directory that a lab mounts at ``/lab/code``: the packages it needs, compiled.

    Made when first asked for, and again when a module or the lab's Python changes.

    Args:
        image: the image whose Python runs the modules.
        sources: where the packages are.

    Returns:
        A directory in the cache that holds ``headway/PACKAGE/*.py`` and their ``__pycache__``.

    Raises:
        HeadwayError: a module does not compile.
    """
    contents = {
        f"{package}/{file.name}": file.read_bytes()
        for package in _PACKAGES
        for file in sorted((sources / package).glob("*.py"))
    }
    version = python_version(image.root)
    key = digest(version, *(part for entry in contents.items() for part in entry))
    store = EntryDirectory(cache_directory() / "guest")
    directory = store.entry(key)
    if directory.is_dir():
        return directory
    with store.locked():
        if not directory.is_dir():
            store.make(key, partial(_compile, image.root, contents))
    return directory


def _compile(root: Path, contents: dict[str, bytes], directory: Path) -> None:
    top = directory / "headway"
    for name, content in contents.items():
        file = top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    done = subprocess.run(
        compile_command(root, directory, _MOUNTED_AT),
        env=scrubbed_environment(),
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    if done.returncode != 0:
        shutil.rmtree(top)
        raise HeadwayError(
            f"the guest's modules do not compile: {(done.stdout + done.stderr).strip()}"
        )
