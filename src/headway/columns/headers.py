"""Columns of what header fields took."""

from __future__ import annotations

from headway.columns.column import Columns, column


class HeaderFields(Columns):
    """What header fields took, as far as Headway's own programs tell."""

    fields_raw_down_bytes: int | None = column(
        "Names and values of the header fields that headway-server sent, in bytes, before "
        "compression; null with another server, for `h1`, and where nothing but the static tables"
        " was to be used."
    )
    fields_sent_down_bytes: int | None = column(
        "What was on the wire for them: field blocks, and QPACK's streams (insertions, and their "
        "acknowledgments)."
    )
    fields_raw_up_bytes: int | None = column(
        "The same as `fields_raw_down_bytes` of what it received."
    )
    fields_sent_up_bytes: int | None = column(
        "The same as `fields_sent_down_bytes` of what it received."
    )
    table_blocked: int | None = column(
        "Requests, and responses if the client is headway-client, whose fields had to wait for "
        "insertions into QPACK's dynamic table that had not come; 0 for `h2`. Browsers do not "
        "report it."
    )
    table_blocked_s: float | None = column(
        "How long those waited, the sum of all, even if they waited at the same time."
    )
