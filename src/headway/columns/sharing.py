"""Columns of flows that share a path."""

from __future__ import annotations

from headway.columns.column import Better, Columns, Of, column, given, metric


class Sharing(Columns):
    """How the flows of a run shared its path; null for a flow alone."""

    flows: int | None = column("Number of flows that compete.")
    jain_index: float | None = metric(
        "Jain's index of the flows' `common_mbit` (Jain, Chiu and Hawe 1984): 1 if all are equal, 1 over their "
        "number if one has everything.",
        "Jain's fairness index",
        better=Better.MORE,
        of=Of.COMPETING,
    )
    common_s: float | None = column(
        "How long all flows were there at once: from the start of the last to the end of the first."
    )


class OneFlow(Columns):
    """One of the flows that share a path, beside what a run by itself would have."""

    flow: str = given("Its name in the study file; of several of that name, with its number.")
    client_host: str = given("Name of its client's host.")
    server_host: str = given("Name of its server's host.")
    start_s: float = given("When its client starts, from the start of the workload.")
    common_mbit: float | None = column(
        "Its goodput while all flows of the run were there (`common_s`), Mbit/s."
    )
    share: float | None = column("`common_mbit` over the sum of that of all flows.")
    disturbed_by: str | None = column("The flow that failed beside it, if one did.")
