"""Which tests a change asks for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import changed
from tests.changed import asked_for, changed_since, crate_uses, crates_asked_for
from tests.imports import REPOSITORY


def files(*names: str) -> frozenset[Path]:
    found = frozenset(REPOSITORY / name for name in names)
    assert all(file.exists() for file in found), names
    return found


def asked(*names: str) -> set[str]:
    return {file.name for file in asked_for(files(*names))}


def test_a_change_asks_for_what_imports_it_directly_or_through_others() -> None:
    found = asked("src/headway/analysis/estimate_text.py")
    # The first imports it; the second the page of results, whose sentences are made with it.
    assert {"test_written.py", "test_results_page.py"} <= found
    assert not {"test_pcapng.py", "test_crates.py", "test_units.py"} & found


def test_what_is_found_without_its_name_counts_as_imported() -> None:
    assert "test_programs_clients.py" in asked("src/headway/programs/curl.py")
    assert "test_report_figures.py" not in asked("src/headway/programs/curl.py")
    assert {"test_figures.py", "test_cli.py"} <= asked("src/headway/report/figures/bursts.py")
    assert "test_cli.py" in asked("src/headway/instruments/census/cli.py")


def test_data_are_their_packages() -> None:
    assert "test_study.py" in asked("src/headway/study/builtin/quickstart.toml")
    assert "test_study.py" in asked("src/headway/instruments/controllers/studies/controllers.toml")


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("docs/glossary.md", "test_glossary.py"),
        ("docs/satellite.md", "test_docs.py"),
        ("native/wire/Cargo.toml", "test_crates.py"),
        ("native/knobs.json", "test_native_knobs.py"),
        ("tests/unit/orders.json", "test_same_orders.py"),
        ("tests/lab/stressors.csv", "test_stressors.py"),
        ("tests/unit/made_results.py", "test_claims.py"),
        ("tests/conftest.py", "test_units.py"),
        ("src/headway/errors.py", "test_layout.py"),
    ],
)
def test_files_that_tests_read_count(name: str, test: str) -> None:
    assert test in asked(name)


def test_nothing_changed_asks_for_nothing() -> None:
    assert asked() == set()
    assert crates_asked_for(frozenset()) == []


def test_crates_are_tested_with_those_that_depend_on_them() -> None:
    assert crates_asked_for(files("native/server/src/main.rs")) == ["-p", "headway-server"]
    found = crates_asked_for(files("native/congestion/src/usage.rs"))
    assert {"headway-congestion", "headway-quic", "headway-http", "headway-server"} <= set(found)
    assert "headway-sockopt" not in found
    assert crates_asked_for(files("native/knobs.json", "native/server/src/main.rs")) == [
        "--workspace"
    ]
    assert crates_asked_for(files("README.md")) == []
    assert len(crate_uses()) > 10


def test_what_is_not_committed_and_new_files_are_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> None:
        own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *own, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "--initial-branch=main")
    for name in ("stays", "edited", "removed", "committed"):
        (tmp_path / name).write_text("before\n")
    git("add", "-A")
    git("commit", "-m", "before")
    git("checkout", "-b", "branch")
    (tmp_path / "committed").write_text("after\n")
    git("commit", "-am", "after")
    (tmp_path / "edited").write_text("after\n")
    (tmp_path / "removed").unlink()
    (tmp_path / "new").write_text("after\n")
    monkeypatch.setattr(changed, "REPOSITORY", tmp_path)
    assert {file.name for file in changed_since("main")} == {
        "edited",
        "removed",
        "new",
        "committed",
    }


def test_the_command_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert changed.main(["--base", "HEAD", "--list"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    assert " files changed: " in first
    assert all((REPOSITORY / name).exists() for name in others)


def test_a_commit_that_is_none_is_refused_in_a_line() -> None:
    with pytest.raises(SystemExit, match=r"there is no commit nowhere; BASE=COMMIT names one"):
        changed.main(["--base", "nowhere", "--list"])
