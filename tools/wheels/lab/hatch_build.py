"""The wheel of `headway-lab` is for x86-64 Linux: its programs need no library of the machine."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LinuxOnly(BuildHookInterface[Any]):
    """Names the platforms."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64"
