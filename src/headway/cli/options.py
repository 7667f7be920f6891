"""Options that several commands have: said once, in classes whose attributes they are."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from headway.cli import suggest
from headway.errors import WrongInputError
from headway.study.gc_pause import loading

# What studies consist of takes a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from headway.records.store import Start
    from headway.study.experiment import Study

_OFFLINE = "HEADWAY_OFFLINE"

StudyName = Annotated[
    str,
    typer.Argument(
        help="A study file, or the name of a built-in study.",
        metavar="STUDY",
        autocompletion=suggest.studies,
    ),
]
ResultsDirectory = Annotated[
    Path,
    typer.Argument(
        help="Directory of a study's results.",
        metavar="RESULTS",
        autocompletion=suggest.directories,
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Take the study's short form.")]
Programs = Annotated[
    Path | None,
    typer.Option(
        help="File of your own programs; default: programs.toml beside the study.",
        metavar="FILE",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.", metavar="N")]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Run this many labs at a time; default: one per core.", metavar="N"),
]

Cores = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "--cores",
        min=1,
        help="Cores, each with one lab at a time; default: those of this machine.",
        metavar="N",
    ),
]


def _stay_offline(asked: bool) -> None:
    """What a command carries out looks at the environment, and so does what it starts."""
    if asked:
        os.environ[_OFFLINE] = "1"


Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Download nothing; fail if something is missing (HEADWAY_OFFLINE=1 does the same).",
        callback=_stay_offline,
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with the results that the directory holds.")
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Remove the results that the directory holds.")
]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Options that say what of a study is meant, with which programs."""

    quick: Quick = False
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Take only this experiment; may be given several times.",
            metavar="EXPERIMENT",
            autocompletion=suggest.experiments,
        ),
    ] = None
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Change a key of the study, for example server.congestion_control=bbr; may be "
            "given several times.",
            metavar="KEY=VALUE",
            autocompletion=suggest.changes,
        ),
    ] = None
    programs: Programs = None

    def load(self, study: str, *, both: bool = False) -> Study:
        """The study of this name or file, or some of its experiments, changed.

        Args:
            study: its name or file.
            both: whether its other form, if it has one, is validated, too.

        Raises:
            WrongInputError: the study, an option's value or the file of programs is not right.
        """
        with loading():
            from headway.cli.changes import parsed_changes
            from headway.study.load import load_study
            from headway.study.outsidefile import read_programs

        declared = None if self.programs is None else read_programs(self.programs)
        others = parsed_changes(self.changes or ())
        loaded = load_study(study, quick=self.quick, both=both, programs=declared, changes=others)
        return loaded.only(self.only) if self.only else loaded


@dataclass(frozen=True, kw_only=True)
class Execution(Choice):
    """Options that say how a study is carried out, and what counts as a failure."""

    out: Annotated[
        Path | None,
        typer.Option(help="Directory for the results; default: results/NAME.", metavar="DIRECTORY"),
    ] = None
    jobs: Jobs = None
    resume: Resume = False
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Go on, and repeat the runs that failed or timed out."),
    ] = False
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going", help="Go on even if every run of a contender fails."),
    ] = False
    replace: Replace = False
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Run the labs on the workers of this Dask scheduler, for example "
            "tcp://host:8786 or its file scheduler.json; 'local' starts workers on this machine.",
            metavar="ADDRESS",
        ),
    ] = None
    allow_failures: Annotated[
        bool,
        typer.Option("--allow-failures", help="Exit with status 0 even if runs failed."),
    ] = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Exit with status 1 if the runs contradict a published value, or a claim does not hold or is undecided.",
        ),
    ] = False
    offline: Offline = False


def beginning(*, resume: bool, replace: bool) -> Start:
    """What to do with results that are there.

    Raises:
        WrongInputError: both are asked for.
    """
    from headway.records.store import Start

    if resume and replace:
        raise WrongInputError(
            "one goes on with the results, the other removes them", where="--resume --replace"
        )
    if resume:
        return Start.RESUME
    return Start.REPLACE if replace else Start.NEW


def with_options(options: type[Choice]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose parameter ``options`` is made of options of the command line.

    Args:
        options: the class of the parameter, whose attributes become the options.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = {
            name: parameter
            for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
            if name != "options"
        }

        kinds = get_type_hints(options, include_extras=True)
        parameters = [*own.values(), *_parameters(options, kinds)]

        def expanded(*words: Any, **given: Any) -> None:
            given |= zip(own, words, strict=False)
            kept = {name: given.pop(name) for name in own if name in given}
            command(**kept, options=options(**given))

        expanded.__doc__ = command.__doc__
        expanded.__annotations__ = {
            parameter.name: parameter.annotation for parameter in parameters
        }
        expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return expanded

    return decorate


def _parameters(options: type[Choice], kinds: dict[str, Any]) -> Sequence[inspect.Parameter]:
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=kinds[field.name],
        )
        for field in fields(options)
    ]
