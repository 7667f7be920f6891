"""Part of a wheel of Headway: the sources of its own programs, which are compiled where `headway-lab` is not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeSources(BuildHookInterface[Any]):
    """Adds ``native/`` as ``headway/native``. An editable installation has it beside ``src/``."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        root = Path(self.root, "native")
        for parent, directories, names in os.walk(root):
            directories[:] = [name for name in directories if name != "target" and name[0] != "."]
            for file in (Path(parent, name) for name in names if name[0] != "."):
                build_data["force_include"][str(file)] = f"headway/native/{file.relative_to(root)}"
