"""The licences of the crates that Headway's own programs are linked with."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.errors import HeadwayError
from headway.image.image import Layout
from headway.image.process import user_environment

_NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "UNLICENSE*", "NOTICE*")
_TARGET = "x86_64-unknown-linux-gnu"


def licences(layout: Layout) -> str:
    """Each crate with its licence and the texts that it brings, as one document.

    Raises:
        HeadwayError: a crate names no licence, or the toolchain is not there.
    """
    told = _metadata(layout)
    linked = set(_linked(told))
    crates = [one for one in told["packages"] if one["id"] in linked and one["source"]]
    return "\n".join(_described(crate) for crate in sorted(crates, key=_order))


def _metadata(layout: Layout) -> dict[str, Any]:
    toolchain = layout.brought()
    if toolchain is None:
        raise HeadwayError("no toolchain: `headway image build` brings it")
    asked = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={_TARGET}"]
    done = subprocess.run(
        asked,
        cwd=layout.native_inputs.directory,
        env=toolchain.environment(user_environment()),
        check=True,
        capture_output=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _linked(told: dict[str, Any]) -> Iterator[str]:
    """Ids of all crates that the programs need to run: neither for tests nor for compiling others."""
    needs = {node["id"]: node["deps"] for node in told["resolve"]["nodes"]}
    ahead, seen = list(told["workspace_members"]), set()
    while ahead:
        package = ahead.pop()
        if package in seen:
            continue
        seen.add(package)
        yield package
        ahead += [
            need["pkg"]
            for need in needs[package]
            if any(kind["kind"] is None for kind in need["dep_kinds"])
        ]


def _described(crate: dict[str, Any]) -> str:
    if not crate["license"] and not crate["license_file"]:
        raise HeadwayError(f"the crate {crate['name']} names no licence")
    directory = Path(crate["manifest_path"]).parent
    files = sorted({file for name in _NAMES for file in directory.glob(name) if file.is_file()})
    texts = "".join(f"\n--- {file.name}\n\n{file.read_text('utf-8').strip()}\n" for file in files)
    heading = f"{crate['name']} {crate['version']}: {crate['license'] or crate['license_file']}"
    return f"{'=' * 80}\n{heading}\n{texts}"


def _order(crate: dict[str, Any]) -> tuple[str, str]:
    return crate["name"], crate["version"]
