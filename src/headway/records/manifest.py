"""The manifest: all that is known of a study's results beside its runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer, ValidationError

from headway.errors import WrongInputError
from headway.foreign.documents import json_value
from headway.programs.base import Adjustment
from headway.selftest.check import Check
from headway.study.adjusting import AdjustedTogether
from headway.study.claim import Claim
from headway.study.fault import FaultSweep
from headway.study.levels import LevelComparison
from headway.study.neighbourhood import Neighbourhood
from headway.study.population import Population
from headway.study.published import USUAL_METRIC, Explanation, Published
from headway.study.repetitions import ONCE, Repetitions

MANIFEST_FILE = "manifest.json"
VERSION = 1
_AGAIN = "carry out the study again, with --replace"


class _Archived(BaseModel):
    """A part of the manifest; what is not known is empty, and what other versions tell stays."""

    model_config = ConfigDict(extra="allow", frozen=True)


class ArchivedPublished(Published):
    """A published value, and the name of its cell; empty if the experiment has none like it."""

    cell: str = ""


class ArchivedCell(_Archived):
    """A cell of an experiment: its name and its coordinates."""

    name: str
    at: dict[str, Any]


class ArchivedExperiment(_Archived):
    """An experiment with everything that is usual filled in, and its cells in the study's order.

    Attributes:
        name: empty if the study is a single experiment.
        question: what it asks.
        repetitions: how often each run is repeated.
        looks: after how many repetitions results are looked at, if they go on until intervals are narrow.
        contenders: settings of each, in the study's order.
        baseline: contender that others are compared with.
        comparisons: contender and against.
        compare: an axis whose levels are compared, each contender with itself; None if no axis is.
        metrics: columns that contenders are compared by, the most important first.
        axes, cells, exclude, conditions: as the study has them.
        faults: which packets meet a fault, one by one.
        population: of which its sites are a sample; None if they are none.
        published: values to stand beside ours.
        explains: whose missed published values its runs explain; None if no other experiment's.
        claims: sentences to be judged by our runs.
        grid: its cells.
    """

    name: str = ""
    question: str = ""
    repetitions: Repetitions = ONCE
    looks: tuple[int, ...] = ()
    contenders: dict[str, dict[str, Any]] = {}
    baseline: str | None = None
    comparisons: tuple[tuple[str, str], ...] = ()
    compare: LevelComparison | None = None
    metrics: tuple[str, ...] = (USUAL_METRIC,)
    axes: dict[str, Any] = {}
    cells: tuple[dict[str, Any], ...] = ()
    exclude: tuple[dict[str, Any], ...] = ()
    published: tuple[ArchivedPublished, ...] = ()
    explains: Explanation | None = None
    claims: tuple[Claim, ...] = ()
    faults: FaultSweep | None = None
    population: Population | None = None
    conditions: dict[str, Any] = {}
    grid: tuple[ArchivedCell, ...] = ()

    @property
    def number_of_looks(self) -> int:
        """How often results were looked at, to stop or to go on; once if their number was fixed."""
        return len(self.looks) or 1

    @property
    def coordinates(self) -> dict[str, dict[str, Any]]:
        """Those of its cells by name, in the study's order."""
        return {cell.name: cell.at for cell in self.grid}


class ArchivedStudy(_Archived):
    """A study as its file has it."""

    name: str = ""
    question: str = ""
    seed: int = 1
    adjust: AdjustedTogether = AdjustedTogether.METRIC
    nearby: Neighbourhood | None = None
    experiments: tuple[ArchivedExperiment, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return self.model_dump(mode="json", exclude_unset=True)


def _measured(raw: Any) -> Any:
    """A check without its verdict, which follows from its numbers."""
    return (
        {key: value for key, value in raw.items() if key != "passed"}
        if isinstance(raw, dict)
        else raw
    )


class Manifest(_Archived):
    """Where results come from.

    Attributes:
        version: of this document.
        headway: version of Headway.
        source: a key of Headway's Python source, which may change while the version stays.
        command: what makes these results again.
        created: when they were begun.
        study: the study.
        cells: what differs from the usual, by cell and contender, in the first repetition.
        runs: how many there are, at most.
        complete: whether all of them were done that the study has; None if nothing tells.
        seeds: of all runs.
        versions: of all programs.
        outside: of programs from outside, what their file says and the hashes of all that they consist of.
        settings: what adapters set in programs, and why.
        kernel: the lab's.
        hosts: what hosts' kernels were set to, by what the runs' columns say of them.
        rewrite_calls: whether the lab's kernel was allowed to replace calls that repeat; both if runs differ.
        image: the key of the lab image: kernel, root tree and Headway's own programs. Earlier ones had the layers in it.
        image_base: the key of kernel and root tree alone.
        agent: a key of the program that lays paths and carries out orders in every lab. Earlier ones do not have it.
        layers: the keys of the layers on it that the runs' programs need, by name.
        host: this machine.
        notes: what a reader must know and might overlook.
        of_short_form: those of them that follow from the study's short form, which whoever asked for it expects.
        self_test: checks of the emulation.
        self_tested_paths: keys of the paths that were checked.
        machines: that carried out runs, beside this one.
    """

    version: int = VERSION
    headway: str = ""
    source: str = ""
    command: str = ""
    created: str = ""
    study: ArchivedStudy = ArchivedStudy()
    cells: dict[str, dict[str, Any]] = {}
    runs: int = 0
    complete: bool | None = None
    seeds: tuple[int, ...] = ()
    versions: dict[str, str] = {}
    outside: dict[str, dict[str, Any]] = {}
    settings: tuple[Adjustment, ...] = ()
    kernel: str = ""
    hosts: dict[str, dict[str, str]] = {}
    rewrite_calls: tuple[bool, ...] = ()
    image: str = ""
    image_base: str = ""
    agent: str = ""
    layers: dict[str, str] = {}
    host: dict[str, Any] = {}
    notes: tuple[str, ...] = ()
    of_short_form: tuple[str, ...] = ()
    self_test: tuple[
        Annotated[
            Check, BeforeValidator(_measured), PlainSerializer(lambda check: check.as_json())
        ],
        ...,
    ] = ()
    self_tested_paths: tuple[str, ...] = ()
    machines: tuple[dict[str, Any], ...] = ()

    @property
    def alarms(self) -> tuple[str, ...]:
        """The notes that do not follow from the study's short form."""
        return tuple(note for note in self.notes if note not in self.of_short_form)

    @property
    def may_end_sooner(self) -> bool:
        """Whether fewer runs than planned may be all: where results are looked at, or faults have no packet to meet."""
        return any(experiment.looks or experiment.faults for experiment in self.study.experiments)

    @property
    def warning(self) -> str:
        """What a reader must know before anything else: checks of the emulation that failed."""
        failed = [f"{test.name} ({test.path})" for test in self.self_test if not test.passed]
        if not failed:
            return ""
        return (
            f"The emulation failed its own test: {'; '.join(failed)}. Do not rely on the results."
        )

    def text(self) -> str:
        """The document."""
        plain = self.model_dump(mode="json", exclude_unset=True)
        return json.dumps({"version": self.version, **plain}, indent=1, ensure_ascii=False)


def read_manifest(directory: Path) -> Manifest | None:
    """The manifest of a results directory; None if it has none.

    Raises:
        WrongInputError: it is damaged, or of another version.
    """
    file = directory / MANIFEST_FILE
    try:
        return manifest_from(json_value(file.read_bytes()), str(file))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(file)) from None
    except ValueError as error:
        raise WrongInputError(f"is damaged: {error}; {_AGAIN}", where=str(file)) from None


def manifest_from(raw: Any, where: str = MANIFEST_FILE) -> Manifest:
    """The manifest of a JSON value.

    Raises:
        WrongInputError: it is none, or one of another version.
    """
    version = raw.get("version", VERSION) if isinstance(raw, dict) else VERSION
    if version != VERSION:
        raise WrongInputError(
            f"is of version {version}, and this Headway reads version {VERSION}: use the Headway "
            f"that made it ({raw.get('headway', 'unknown')}), or carry out the study again",
            where=where,
        )
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        is_other = first["type"] == "model_type"
        text = "it is no JSON object" if is_other else first["msg"].removeprefix("Value error, ")
        reason = f"{where}: {place}" if place else where
        raise WrongInputError(f"is damaged: {text}; {_AGAIN}", where=reason) from None
