"""Columns of streams, whose messages an application makes over time; the client measures them."""

from __future__ import annotations

from typing import Any

from headway.columns.column import Columns, Of, column, metric


def _of_streams(meaning: str, label: str) -> Any:
    return metric(meaning, label, of=Of.STREAMS)


def _of_messages(meaning: str, label: str) -> Any:
    return metric(meaning, label, of=Of.MESSAGES)


class StreamDelays(Columns):
    """How late messages of streams came; null without any."""

    stream_delay_mean_ms: float | None = _of_streams(
        "Of streams, as all that follow, and of answers to messages: from when the application made a message to its last "
        "byte at the client, the mean over the messages of all streams of a run.",
        "mean delay of messages",
    )
    stream_delay_p50_ms: float | None = _of_streams(
        "The same: half of the messages took no longer.", "median delay of messages"
    )
    stream_delay_p95_ms: float | None = _of_streams("The same for 95 %.", "delay of messages, 95 %")
    stream_delay_p99_ms: float | None = _of_streams("The same for 99 %.", "delay of messages, 99 %")
    stream_delay_max_ms: float | None = _of_streams("The longest.", "longest delay of messages")
    up_delay_p50_ms: float | None = _of_messages(
        "Of messages both ways, as the three that follow: from when the client made a message to its last byte at the "
        "server, which half of them did not exceed.",
        "median delay of messages to the server",
    )
    up_delay_p95_ms: float | None = _of_messages(
        "The same for 95 %.", "delay of messages to the server, 95 %"
    )
    up_delay_p99_ms: float | None = _of_messages(
        "The same for 99 %.", "delay of messages to the server, 99 %"
    )
    up_delay_max_ms: float | None = _of_messages(
        "The longest.", "longest delay of messages to the server"
    )
    unanswered_pct: float | None = metric(
        "Of messages both ways with a deadline: how many of a hundred, of those that were made and of those that no longer "
        "were, had no answer by then.",
        "messages without an answer",
        of=Of.MESSAGES,
        words=("fewer", "more"),
    )
    stream_stalls: float | None = metric(
        "How often a stream stalled: a message was still missing when the next one was due, too. A message is due its "
        "stream's least delay after it was made. Stalls of a stream that overlap are one.",
        "stalls of streams",
        of=Of.STREAMS,
        words=("fewer", "more"),
    )
    stream_stalled_ms: float | None = _of_streams(
        "How long the stalls took together: each from when its first message was due until its last one came.",
        "stalled time of streams",
    )
    first_message_s: float | None = _of_streams(
        "From when a stream was to be asked for until its first message had come, handshakes included; the mean of the "
        "streams.",
        "time to the first message",
    )
    stream_delays_ms: tuple[float, ...] = column(
        "The delay of every message, one stream after the other, to the microsecond; empty without streams.",
        default=(),
    )
