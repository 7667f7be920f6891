"""`headway schema`: what editors need to complete, explain and check a file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headway.errors import WrongInputError
from headway.terminal import say


class File(StrEnum):
    """Files that people write."""

    STUDY = "study"
    PROGRAMS = "programs"


def schema(
    file: Annotated[
        File, typer.Argument(help="A study file, or a file programs.toml.", metavar="FILE")
    ] = File.STUDY,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write, for example study.schema.json.", metavar="FILE"
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of study files, for editors.

    `#:schema ./study.schema.json` in the first line of a TOML file names it to taplo and to the
    editors that use taplo.
    """
    import json

    from headway.planning.keyrules import all_rules_of_keys
    from headway.study.schema import programs_schema, study_schema

    made = study_schema(all_rules_of_keys()) if file is File.STUDY else programs_schema()
    text = json.dumps(made, indent=1, ensure_ascii=False)
    if out is None:
        say(text)
        return
    try:
        out.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise WrongInputError(error.strerror or str(error), where=f"--out {out}") from error
