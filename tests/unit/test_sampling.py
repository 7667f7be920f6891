from __future__ import annotations

import itertools

from headway.contract.samples import next_sample_ns


def test_samples_are_dense_at_the_start_and_sparse_in_long_runs() -> None:
    at_ns, times = 0, [0]
    while at_ns < 100 * 10**9:
        at_ns = next_sample_ns(at_ns, 100_000_000)
        times.append(at_ns)
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps == sorted(gaps)
    assert gaps[0] == 10_000_000
    asked = [gap for at_ns, gap in zip(times, gaps, strict=False) if 5e9 < at_ns < 20e9]
    assert set(asked) == {100_000_000}
    assert all(
        gap <= max(at_ns // 200, 100_000_000) for at_ns, gap in zip(times, gaps, strict=False)
    )
    assert len(times) < 1200
