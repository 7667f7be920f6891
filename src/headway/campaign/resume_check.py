"""Comparison of a study with the existing results that it would resume: whether both fit into one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headway.columns import Record
from headway.errors import WrongInputError
from headway.planning.runs import Run
from headway.records.manifest import Manifest
from headway.records.runkey import run_key
from headway.study.repetitions import Repetitions
from headway.study.units import Ratio

_DESCRIPTIVE = frozenset(
    {"question", "baseline", "comparisons", "compare", "metrics", "published", "claims", "grid"}
)
"""What an experiment says about its runs, but that no run depends on."""
_BUILD = "build of "
_REPETITIONS, _EXCLUDE, _CONTENDERS = "repetitions", "exclude", "contenders"
_LOOKS = "looks"
_SHOWN_CHARACTERS = 60
_MEANS = "--replace starts afresh, another --out leaves them"

Difference = tuple[str, Any, Any]
"""What differs, in words, and its two values."""


@dataclass(frozen=True)
class GoingOn:
    """Results that are there, and a study that is to go on with them.

    Attributes:
        before: the manifest of the results.
        now: the manifest that the study would have if it were started now.
        where: the results directory.
    """

    before: Manifest
    now: Manifest
    where: str

    def check_same_tools(self) -> None:
        """Check that both are of one study, Headway and lab image.

        Programs that only one of them names do not matter: the other has no runs of them.

        Raises:
            WrongInputError: they are not; names what differs.
        """
        for difference in _tool_differences(self.before, self.now):
            raise self._another(difference)

    def check_comparable(self) -> None:
        """Check that both are of one study, Headway and lab image, but for programs from outside.

        Results that go on may stay if another of Headway's own programs has changed, or a report. What is blamed on a
        build may owe nothing else to either, so here all of both has to be the same.

        Raises:
            WrongInputError: they are not; names what differs.
        """
        triples = _tool_differences(self.before, self.now)
        tools = (triple for triple in triples if not triple[0].startswith(_BUILD))
        for difference in (*tools, *_whole_differences(self.before, self.now), *self._changes()):
            raise WrongInputError(
                f"is of another {difference[0]}: {_shown(difference[1])} there, "
                f"{_shown(difference[2])} now; nothing can be compared with it",
                where=self.where,
            )

    def check_all_planned(self, records: Iterable[Record], runs: Sequence[Run]) -> None:
        """Check that all runs that are there are still part of the study.

        Args:
            records: of the runs that are there.
            runs: all of the study's.

        Raises:
            WrongInputError: some are not; says what the study lacks.
        """
        planned = {run.run_id for run in runs}
        if foreign := [record.run_id for record in records if record.run_id not in planned]:
            raise self._too_many(foreign)

    def check_same_looks(self) -> None:
        """Check that repetitions which go on until intervals are narrow would have come at least as far as they have.

        Raises:
            WrongInputError: cells might have stopped sooner, or at another look.
        """
        for change in self._changes():
            if _is_of_looks(*change):
                raise self._another(change)

    def check_same_runs(self, records: Iterable[Record], runs: Sequence[Run]) -> None:
        """Check that the study would carry out the runs that stay as they were carried out.

        Args:
            records: of the runs that stay, all of which are planned.
            runs: all of the study's.

        Raises:
            WrongInputError: one has another setting or seed now; names what differs.
        """
        planned = {run.run_id: run for run in runs}
        for record in records:
            if record.setting_key != run_key(planned[record.run_id]):
                raise self._another(self._changed(record.run_id))

    @property
    def is_same_study(self) -> bool:
        """Whether both studies have the same runs, by their files."""
        return not any(_study_differences(self.before, self.now))

    def _another(self, difference: Difference) -> WrongInputError:
        name, old, new = difference
        return WrongInputError(
            f"holds results of another {name}: {_shown(old)} there, {_shown(new)} now; {_MEANS}",
            where=self.where,
        )

    def _too_many(self, foreign: list[str]) -> WrongInputError:
        cells = "set of cells", _first_cell(self.before), _first_cell(self.now)
        name, old, new = next(self._changes(), cells)
        return WrongInputError(
            f"holds runs that are no part of the study ({len(foreign)}, such as {min(foreign)}), "
            f"and a study that is resumed may grow, but not shrink: {name}, "
            f"{_shown(old)} there, {_shown(new)} now; {_MEANS}",
            where=self.where,
        )

    def _changed(self, run_id: str) -> Difference:
        """What of the study makes a run another one, as far as its file tells."""
        for name, old, new in self._changes():
            return f"setting, {name}", old, new
        return f"setting or recording, {run_id}", "one", "another"

    def _changes(self) -> Iterator[Difference]:
        """Differences of the study file that do more than add runs."""
        for difference in _study_differences(self.before, self.now):
            if not _has_grown(*difference):
                yield difference


def _tool_differences(before: Manifest, now: Manifest) -> Iterator[Difference]:
    triples = (
        ("version of Headway", before.headway, now.headway),
        ("study", before.study.name, now.study.name),
        ("lab image (kernel)", before.kernel, now.kernel),
        # Own programs have versions, which are compared for those that runs use.
        ("lab image (image)", before.image_base or before.image, now.image_base or now.image),
        # Results of before it was noted stay what they were.
        ("lab image (agent)", before.agent, now.agent if before.agent else ""),
        *((f"layer {name}", key, now.layers.get(name)) for name, key in before.layers.items()),
        *(
            (_version_of(program, now), before.versions[program], version)
            for program, version in now.versions.items()
            if program in before.versions
        ),
    )
    yield from ((name, old or None, new) for name, old, new in triples if old != new)


def _whole_differences(before: Manifest, now: Manifest) -> Iterator[Difference]:
    """What differs of Headway and its lab image, whether or not a run is known to depend on it."""
    for name, old, new in (
        ("lab image", before.image, now.image),
        ("source of Headway", before.source, now.source),
    ):
        if old != new:
            yield name, old or None, new or None


def _version_of(program: str, manifest: Manifest) -> str:
    """What a program's version is a part of: those from outside are no part of the image."""
    outside = {directory.rpartition("-")[0] for directory in manifest.outside}
    if program in manifest.outside or program in outside:
        return f"{_BUILD}{program}"
    return f"lab image (version of {program})"


def _study_differences(before: Manifest, now: Manifest) -> Iterator[Difference]:
    """Keys of the study file at which two manifests differ, and their values."""
    for key, old, new in _walk(_by_name(before.study.plain()), _by_name(now.study.plain())):
        yield _as_written(key), old, new


def _has_grown(key: str, old: Any, new: Any) -> bool:
    """Whether a difference adds runs and changes none."""
    *tables, last = key.split(".")
    if last == _REPETITIONS:
        return _has_more(Repetitions.model_validate(old), Repetitions.model_validate(new))
    if tables[-1:] == [_REPETITIONS]:
        return last != "until" or Ratio.parse(new) < Ratio.parse(old)
    if last == _LOOKS:
        return not old or not new or _goes_on(old, new)
    if isinstance(old, list) and isinstance(new, list):
        less, more = (new, old) if last == _EXCLUDE else (old, new)
        return all(value in more for value in less)
    return old is None and tables[-1:] == [_CONTENDERS]


def _is_of_looks(key: str, old: Any, new: Any) -> bool:
    """Whether a difference is one of when repetitions end; of two numbers the runs tell themselves."""
    *tables, last = key.split(".")
    if last == _REPETITIONS:
        return isinstance(old, dict) or isinstance(new, dict)
    return last == _LOOKS or tables[-1:] == [_REPETITIONS]


def _has_more(old: Repetitions, new: Repetitions) -> bool:
    """Whether what has all repetitions of one has enough for the other, one of which is a number of them."""
    return old.most <= new.looks()[0] if new.until else old.most <= new.most


def _goes_on(old: Sequence[int], new: Sequence[int]) -> bool:
    """Whether looks are those of before, and come after the last one.

    A group of contenders stops no sooner then, for of more looks each allows less error.
    """
    *before, last = old
    return len(old) <= len(new) and before == list(new[: len(before)]) and last <= new[len(before)]


def _as_written(key: str) -> str:
    """A key of the model as the study file has it."""
    return ".".join(part for part in key.split(".") if part not in ("experiments", "conditions"))


def _first_cell(manifest: Manifest) -> str:
    return next(iter(manifest.cells), "none")


def _by_name(study: dict[str, Any]) -> dict[str, Any]:
    """A study's runs alone, with its experiments by their names."""
    experiments = {
        experiment.get("name", ""): {
            key: value for key, value in experiment.items() if key not in _DESCRIPTIVE
        }
        for experiment in study.get("experiments", ())
    }
    # An experiment without a name is the study itself.
    unnamed = experiments.pop("", {})
    return {"seed": study.get("seed")} | (
        {"experiments": experiments} if experiments else {**unnamed, "name": ""}
    )


def _walk(old: Any, new: Any, key: str = "") -> Iterator[Difference]:
    """Dotted keys at which two values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*new, *(name for name in old if name not in new)]:
            inner = f"{key}.{name}" if key else name
            yield from _walk(old.get(name), new.get(name), inner)
    elif old != new:
        yield key, old, new


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "none"
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}\u2026"
