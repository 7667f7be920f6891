from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest

from headway.planning.runs import plan
from headway.study.load import Source, parse_study
from headway.study.path import Path as NetworkPath
from headway.study.profiles import Mobile, profiles, realise

STUDY = 'name = "s"\nrepetitions = 3\n[workload]\nsize = "1 MB"\n'


def drawn(name: str, seed: int | None) -> NetworkPath:
    return NetworkPath.model_validate(realise({"path": {"profile": name}}, seed)["path"])


@pytest.mark.parametrize("name", profiles())
def test_every_profile_is_a_path_for_every_seed(name: str) -> None:
    for seed in (None, *range(50)):
        assert drawn(name, seed).profile == name


def test_draws_have_the_published_distribution() -> None:
    profile = profiles()["4g-good"]
    assert isinstance(profile, Mobile)
    paths = [drawn("4g-good", seed) for seed in range(2000)]
    down = [
        math.log(path.links[0].down.first_rate.mbit)
        for path in paths
        if path.links[0].down.first_rate
    ]
    up = [
        math.log(path.links[0].up.first_rate.mbit) for path in paths if path.links[0].up.first_rate
    ]
    rtt = [math.log(path.rtt.ms) for path in paths]
    for values, expected in (
        (down, profile.down_mbit),
        (up, profile.up_mbit),
        (rtt, profile.rtt_ms),
    ):
        # Four standard errors of mean and deviation of 2000 draws.
        assert abs(statistics.fmean(values) - expected.mu) < 4 * expected.sigma / math.sqrt(2000)
        assert abs(statistics.stdev(values) - expected.sigma) < 4 * expected.sigma / math.sqrt(4000)
    assert abs(statistics.correlation(down, up) - profile.correlation) < 0.06


def test_the_median_is_the_same_for_every_seed() -> None:
    assert drawn("4g-good median", 1) == drawn("4g-good median", 2)
    assert drawn("4g-good", 1) != drawn("4g-good", 2)


def test_contenders_of_a_repetition_share_the_draw_and_repetitions_do_not() -> None:
    text = STUDY + '[axes]\nprotocol = ["h2", "h3"]\npath.profile = ["4g-good", "3g-bad", "geo"]'
    rates: dict[tuple[str, int], set[int]] = {}
    for run in plan(parse_study(Source("s.toml", text, Path()))):
        rate = run.setting.path.links[0].down.first_rate
        assert rate is not None
        rates.setdefault((run.cell, run.rep), set()).add(int(rate))
    assert all(len(found) == 1 for found in rates.values())
    assert len({rate for found in rates.values() for rate in found}) == 3 + 3 + 1


@pytest.mark.parametrize(
    ("name", "down_bit_s", "up_bit_s", "rtt_ms"),
    [
        ("lighthouse-slow-4g", 1.6 * 1024 * 1024, 750 * 1024, 150),
        ("lighthouse-dense-4g", 10 * 1024 * 1024, 10 * 1024 * 1024, 40),
        ("wpt-cable", 5e6, 1e6, 28),
        ("wpt-3g-fast", 1.6e6, 768e3, 150),
        ("wpt-dial", 49e3, 30e3, 120),
    ],
)
def test_connections_of_web_tools_have_their_numbers(
    name: str, down_bit_s: float, up_bit_s: float, rtt_ms: float
) -> None:
    (link,) = (path := drawn(name, 7)).links
    assert link.down.first_rate is not None and link.up.first_rate is not None
    assert link.down.first_rate == pytest.approx(down_bit_s, abs=1)
    assert link.up.first_rate == pytest.approx(up_bit_s, abs=1)
    assert path.rtt.ms == rtt_ms
    assert link.down.delay == link.up.delay
    assert (link.down.loss.mean, link.down.queue.bdp) == (0, 1)


def test_a_path_refines_its_profile() -> None:
    raw = {"profile": "geo", "loss": "1 %", "down": {"queue": "2 BDP"}}
    path = NetworkPath.model_validate(realise({"path": raw}, 1)["path"])
    assert path.rtt.ms == 500
    assert path.links[0].down.loss.mean == path.links[0].up.loss.mean == 0.01
    assert path.links[0].down.queue.bdp == 2 and path.links[0].up.queue.bdp == 1


def test_repetitions_share_what_is_not_drawn() -> None:
    for name, drawn_anew in (("4g-good", True), ("4g-good median", False), ("leo-pass", False)):
        text = STUDY + f'[path]\nprofile = "{name}"'
        runs = plan(parse_study(Source("s.toml", text, Path())))
        settings = {id(run.setting) for run in runs if run.contender == runs[0].contender}
        assert len(settings) == (runs[-1].rep if drawn_anew else 1)


@pytest.mark.parametrize("way", ["down", "up"])
def test_a_rate_of_both_ways_replaces_a_profiles_of_each(way: str) -> None:
    """Unless the path states that direction's own."""
    raw = {"profile": "wpt-cable", "rate": "1 Gbit/s", "rtt": "5 ms"}
    path = NetworkPath.model_validate(realise({"path": raw}, None)["path"])
    assert [one.first_rate for one in (path.links[0].down, path.links[0].up)] == [10**9, 10**9]
    assert path.rtt.ms == 5
    raw[way] = {"rate": "3 Mbit/s"}
    link = NetworkPath.model_validate(realise({"path": raw}, None)["path"]).links[0]
    rates = {"down": link.down.first_rate, "up": link.up.first_rate}
    assert rates.pop(way) == 3 * 10**6 and set(rates.values()) == {10**9}


def test_a_delay_replaces_a_profiles_round_trip_time() -> None:
    raw = {"profile": "wpt-cable", "delay": "7 ms"}
    path = NetworkPath.model_validate(realise({"path": raw}, None)["path"])
    assert path.rtt.ms == 14 and path.links[0].down.first_rate == 5 * 10**6


def test_an_experiment_replaces_the_rate_of_the_studys_profile() -> None:
    text = STUDY + '[path]\nprofile = "4g-medium"\n[experiments.fast.path]\nrate = "1 Gbit/s"\n'
    rates = {
        run.setting.path.links[0].up.first_rate
        for run in plan(parse_study(Source("s.toml", text, Path())))
    }
    assert rates == {10**9}


@pytest.mark.parametrize("key", ["dns", "dual_stack"])
def test_paths_beside_the_clients_may_be_drawn_of_a_profile(key: str) -> None:
    text = STUDY + f'[client]\nprogram = "headway-client"\n[{key}.path]\nprofile = "4g-medium"\n'
    delays = set()
    for run in plan(parse_study(Source("s.toml", text, Path()))):
        beside = getattr(run.setting, key)
        assert beside and beside.path
        delays.add(beside.path.rtt)
    assert len(delays) == 3
