"""What programs do to the files of a run's directory ends their own run only, whichever file it is."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from headway.columns import Record
from headway.contract.orders import Orders
from headway.contract.outcome import Outcome
from headway.lab.leftovers import keep_plain_files
from headway.lab.machine import CONSOLE_FILE, Machine, WrittenOrders
from headway.lab.outcomes import outcome_of
from headway.lab.run import carry_out
from headway.planning.runs import Run
from headway.records.record import make_record
from headway.study.outsidefile import read_programs
from headway.study.setting import Setting
from tests.lab.conftest import equipped

pytestmark = pytest.mark.lab

DRAWS = 150
SPOILT = "a program has spoilt the run's directory: "
TOO_LARGE = "own made files of 1,048,576 MiB in the run's directory ("


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        file.unlink()
        make(file)

    return damage


def rewritten(content: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        file.write_bytes(content(file.read_bytes()))

    return damage


def nested(directory: Path) -> None:
    for _ in range(100):
        directory.mkdir()
        directory /= "d"


def every_number(content: bytes) -> bytes:
    return b"".join(b"9" if one in b"0123456789" else bytes([one]) for one in content)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "removed": Path.unlink,
    "directory": replaced(Path.mkdir),
    "fifo": replaced(os.mkfifo),
    "link": replaced(lambda file: file.symlink_to("/etc/passwd")),
    "link to itself": replaced(lambda file: file.symlink_to(file.name)),
    "nested": replaced(nested),
    "empty": rewritten(lambda _: b""),
    "huge": lambda file: os.truncate(file, 2**40),
    "forbidden": lambda file: file.chmod(0),
    "no text": rewritten(lambda content: b"\xff\xfe" + content),
    "zeros": rewritten(lambda content: bytes(len(content))),
    "twice": rewritten(lambda content: content * 2),
    "cut": rewritten(lambda content: content[: len(content) // 2]),
    "a list": rewritten(lambda _: b"[]\n"),
    "an object": rewritten(lambda _: b"{}\n"),
    "deep": rewritten(lambda _: b"[" * 100_000),
    "nines": rewritten(every_number),
    "long": rewritten(lambda content: content.replace(b"1", b"1" * 40)),
    "infinite": rewritten(lambda content: content.replace(b":0", b":1e999")),
    "half a character": rewritten(lambda content: content.replace(b'":"', b'":"\\ud800')),
}


@dataclass(frozen=True)
class Damaging(Machine):
    """Puts what a lab left into place, and damages it as a program in the lab could."""

    left: Path = Path()
    damage: Callable[[Path], None] = Path.touch

    def boot(self, orders: Orders | WrittenOrders, directory: Path, **_: Any) -> Outcome:
        """See `Machine.boot`."""
        assert isinstance(orders, Orders)
        shutil.copytree(self.left, directory)
        self.damage(directory)
        file = directory / orders.rounds[0].directory / "outcome.json"
        return outcome_of(file, directory / CONSOLE_FILE, 0, None)


@dataclass(frozen=True)
class Kept:
    """A run, and what its lab left before the host changed anything.

    Attributes:
        run: the run.
        machine: that booted it.
        directory: what was left.
    """

    run: Run
    machine: Machine
    directory: Path

    def damaged(self, damage: Callable[[Path], None], name: str) -> Record:
        """The record after a damage; what is left then does not stop a report either."""
        machine = Damaging(
            self.machine.image,
            self.machine.code,
            self.machine.extras,
            left=self.directory,
            damage=damage,
        )
        where = self.directory.parent / name
        result = carry_out(self.run, machine, where)
        return make_record(self.run, result, where)


@dataclass(frozen=True)
class Keeping(Machine):
    """Keeps what a lab left."""

    kept: Path = Path()

    def boot(self, orders: Orders | WrittenOrders, directory: Path, **options: Any) -> Outcome:
        """See `Machine.boot`."""
        outcome = super().boot(orders, directory, **options)
        shutil.copytree(directory, self.kept)
        return outcome


CLIENT = """\
[client.own]
argv = ["curl", "-s", "{options}", "--cacert", "{ca}", "-w", "%{{json}}\\n", "-o", "{output}", "{url}"]
protocols = ["h1", "h2", "h3"]
options = { h1 = ["--http1.1"], h2 = ["--http2"], h3 = ["--http3-only"] }
result = "curl"
"""


@pytest.fixture(scope="module")
def kept(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Of a download over HTTP/3 of which everything is kept."""
    place = tmp_path_factory.mktemp("spoilt")
    (place / "programs.toml").write_text(CLIENT)
    setting = Setting.model_validate(
        {
            "protocol": "h3",
            "path": {"rate": "10 Mbit/s", "rtt": "40 ms", "loss": "1 %"},
            "workload": {"size": "200 kB"},
            "server": {"program": "headway-server"},
            "client": {"program": "own"},
            "capture": {"packets": True, "qlog": True, "bodies": True},
        }
    ).model_copy(update={"programs": read_programs(place / "programs.toml")})
    run = Run("run", "test", "", "cell", "h3", 1, 1, setting)
    booting = equipped(machine, setting)
    keeping = Keeping(booting.image, booting.code, booting.extras, kept=place / "kept")
    result = carry_out(run, keeping, place / "run")
    record = make_record(run, result, place / "run")
    assert record.status == "ok", record.error
    return Kept(run, booting, place / "kept")


def drawn(kept: Kept) -> list[tuple[str, str]]:
    """Files and damages: each file and each damage comes, the pairs are the same in every run."""
    files = sorted(
        str(one.relative_to(kept.directory)) for one in kept.directory.rglob("*") if one.is_file()
    )
    pairs = [(file, damage) for file in files for damage in DAMAGES]
    random.Random(63).shuffle(pairs)
    return pairs


def damaged(file: str, damage: str, directory: Path) -> None:
    DAMAGES[damage](directory / file)


def reason(damage: str) -> str:
    """How the error begins of a run of which a needed file is damaged."""
    return TOO_LARGE if damage == "huge" else SPOILT


def test_a_damage_of_any_file_fails_that_run_or_none(kept: Kept) -> None:
    """Some files matter to no measurement, or only to a part of it; nothing else may be raised."""
    failed: dict[str, str | None] = {}
    for number, (file, damage) in enumerate(drawn(kept)[:DRAWS]):
        record = kept.damaged(partial(damaged, file, damage), f"draw-{number}")
        assert record.status in ("ok", "failed"), (file, damage)
        if record.status == "failed":
            failed[f"{file}: {damage}"] = record.error
    assert all(failed.values())
    assert sum((error or "").startswith(SPOILT) for error in failed.values()) > DRAWS / 10


@pytest.mark.parametrize("damage", ["removed", "directory", "fifo", "link", "huge", "nested"])
def test_the_console_is_needed(kept: Kept, damage: str) -> None:
    record = kept.damaged(lambda where: DAMAGES[damage](where / CONSOLE_FILE), f"console-{damage}")
    assert record.status == "failed"
    assert (record.error or "").startswith(reason(damage))


@pytest.mark.parametrize("damage", sorted(DAMAGES.keys() - {"removed", "forbidden"}))
def test_the_outcome_is_needed(kept: Kept, damage: str) -> None:
    name = f"outcome-{damage}".replace(" ", "-")
    record = kept.damaged(lambda where: DAMAGES[damage](where / "outcome.json"), name)
    if damage in ("fifo", "link", "link to itself"):  # is not kept
        assert (record.error or "").startswith("the lab ended with status 0")
    elif damage not in ("half a character", "infinite", "long", "nines"):
        assert (record.error or "").startswith(reason(damage))


def test_a_host_that_is_full_is_not_the_programs_fault(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("headway.records.record.keep_departures", full)
    with pytest.raises(OSError, match="No space left"):
        kept.damaged(keep_plain_files, "full")
