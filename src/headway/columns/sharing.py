"""Columns of flows that share a path."""

from __future__ import annotations

from headway.columns.column import (
    HIGHER_LOWER,
    MORE_LESS_EVEN,
    Better,
    Columns,
    Needs,
    Of,
    column,
    given,
    metric,
)


class Sharing(Columns):
    """How the flows of a run shared its path, those in the background left out; null for a flow alone."""

    flows: int | None = column("Number of flows that compete, those in the background included.")
    common_s: float | None = column(
        "How long all flows were there at once: from the start of the last to the end of the first."
    )
    jain_index: float | None = metric(
        "Jain's index of the flows' `common_mbit` (Jain, Chiu and Hawe 1984): 1 if all are equal, 1 over their "
        "number if one has everything.",
        "Jain's fairness index",
        better=Better.MORE,
        of=Of.COMPETING,
        words=("fairer", "less fair"),
    )
    first_ratio: float | None = metric(
        "Mean `common_mbit` of the flows of the name that the study has first, over that of the others: 1 if they "
        "are treated alike. If all have one name: of the first of them.",
        "goodput of the first flow over the others'",
        of=Of.COMPETING,
        words=MORE_LESS_EVEN,
        best=1.0,
    )
    first_mbit: float | None = metric(
        "Mean `common_mbit` of the same flows.",
        "goodput of the first flow",
        better=Better.MORE,
        of=Of.FOREGROUND,
        words=HIGHER_LOWER,
    )
    others_mbit: float | None = metric(
        "Mean `common_mbit` of the other flows.",
        "goodput of the other flows",
        better=Better.MORE,
        of=Of.COMPETING,
        words=HIGHER_LOWER,
    )
    least_fair_share: float | None = metric(
        "The least `fair_share` of all flows.",
        "least share of the fair rate",
        better=Better.MORE,
        of=Of.FOREGROUND,
        words=HIGHER_LOWER,
        needs=Needs.CONSTANT_RATE,
    )
    videos_bitrate_mbit: float | None = metric(
        "Of flows of which some play videos: mean of their `video_bitrate_mbit`, those in the background left out.",
        "bitrate of the videos",
        better=Better.MORE,
        of=Of.COMPETING_VIDEOS,
        words=HIGHER_LOWER,
    )
    videos_worst_mbit: float | None = metric(
        "The least of these.",
        "bitrate of the worst video",
        better=Better.MORE,
        of=Of.COMPETING_VIDEOS,
        words=HIGHER_LOWER,
    )
    videos_first_ratio: float | None = metric(
        "Mean `video_bitrate_mbit` of the videos of the name that the study has first, over that of the others; if all "
        "have one name, of the first of them. Null if no segment of those came.",
        "bitrate of the first video over the others'",
        of=Of.COMPETING_VIDEOS,
        words=MORE_LESS_EVEN,
        best=1.0,
    )
    videos_jain_index: float | None = metric(
        "Jain's index of their `video_bitrate_mbit`: how fairly quality is shared.",
        "Jain's fairness index of the videos' bitrates",
        better=Better.MORE,
        of=Of.COMPETING_VIDEOS,
        words=("fairer", "less fair"),
    )
    videos_stalled_s: float | None = metric(
        "Sum of their `video_stalled_s`.",
        "stalled time of the videos",
        of=Of.COMPETING_VIDEOS,
    )
    videos_start_s: float | None = metric(
        "Mean of their `video_start_s`; null if a picture never appeared.",
        "start-up delay of the videos",
        of=Of.COMPETING_VIDEOS,
    )
    evened_s: float | None = metric(
        "From the start of the last flow until, for a second, each flow had at least 80 % of an equal share (for two "
        "flows delta-fair with a delta of 0.2: Bansal et al. 2001; RFC 5166, section 2.6). Null if they never had.",
        "time until shares are even",
        of=Of.COMPETING,
    )


class OneFlow(Columns):
    """One of the flows that share a path, beside what a run by itself would have."""

    flow: str = given("Its name in the study file; of several of that name, with its number.")
    named: str = given("Its name in the study file.")
    background: bool = given("Whether it is only there to load the path.")
    client_host: str = given("Name of its client's host.")
    server_host: str = given("Name of its server's host.")
    start_s: float = given("When its client starts, from the start of the workload.")
    end_s: float | None = column(
        "When its client is ended, as the study asks, from the start of the workload."
    )
    common_mbit: float | None = column(
        "Its goodput while all flows were there (`common_s`), Mbit/s. If its client does not report what it got over "
        "time: what the last device before its host sent it then, less the headers of full packets (1448 bytes of "
        "1514, 1428 over IPv6)."
    )
    share: float | None = column("`common_mbit` over the sum of that of all flows.")
    fair_mbit: float | None = column(
        "Its max-min fair goodput (Bertsekas and Gallager): of the links' rates, less the headers of full packets, "
        "with all flows that are not in the background there, Mbit/s. Null if a link's rate changes."
    )
    fair_share: float | None = column("`common_mbit` over `fair_mbit`.")
    completion_p50_s: float | None = column(
        "Of a flow that is several transfers (arrivals, on-off): median of the time from a transfer's start to its "
        "last byte."
    )
    completion_p95_s: float | None = column("95th percentile of the same.")
    disturbed_by: str | None = column("The flow that failed beside it, if one did.")
